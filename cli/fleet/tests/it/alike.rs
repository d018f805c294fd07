//! A fleet of one stack answers what that stack alone answers.

use std::sync::Arc;

use entail::request::Request;
use entail::workflow::AskedOf;
use entail::workflow::query::{QueryOptions, query};
use entail::world::World;
use entail_cli::run::usual_view;
use entail_cli::ui::Ui;
use serde_json::{Value as Json, json};

use crate::support::{Fleet, Ran};

/// Questions that a state alone can answer.
const OF_STATES: &[&str] = &[
    "existing(n, t)",
    "resource(n, t)",
    "data_source(n, t)",
    "output(o)",
    "output(o), name(o, \"open\"), o.value == v",
    "name(n, x), key(n, k)",
    "module_instance(m)",
    "within(n, m)",
    "module_of(n, m)",
    "provider_of(n, p)",
    "address(n, a)",
    "rests_on(n, m)",
    "tag(n, k, v)",
    "existing(n, t), n.id == v",
    "existing(n, \"test_rule\"), n.ingress[_].ports[_] == p",
    "existing(n, \"test_rule\"), n.ingress[i].ports[p] == 443",
    "existing(n, _), n.tags.team == v",
    "existing(n, _), n.tags[k] == v",
    "existing(n, _), n.nested.deep.er == v",
    "existing(n, _), old(n).size == v",
    "existing(n, _), n.nothing == v",
    "existing(n, t), n.size == s, if s > 3",
    "existing(n, \"test_rule\"), !rests_on(n, _)",
    "existing(n, t), !n.tags.team == \"a\"",
    "existing(n, t), !name(n, \"many\"), !key(n, \"x\")",
    "agg c = count() in existing(_, _)",
    "existing(_, t), agg c = count() in existing(_, t)",
    "agg s = sum(v) in size(_, v)",
    "existing(n, t), existing(m, t), n.size == s, m.size == s, if n != m",
    "existing(n, _), n.network == i, existing(m, _), m.id == i",
    "data_source(d, t), d.value == v",
    "existing(_, \"test_rule\")",
    "existing(_, \"test_none\")",
];

/// Questions whose answers have secrets in them: a fleet has not kept these, so that what they decide is only possible.
const OF_SECRETS: &[&str] = &[
    "output(o), o.value == v",
    "argument(n, x, v)",
    "existing(n, _), state(n)[x] == v",
    "existing(n, t), n.secret == v",
    "existing(n, t), n.secret == \"s3cret\"",
];

/// Questions that a configuration alone can answer.
const OF_CONFIGURATIONS: &[&str] = &[
    "variable(v)",
    "declared_at(n, f, l)",
    "reads(n, m)",
    "reads_at(n, x, m)",
    "depends_on(n, m)",
    "module_call(n, c, s)",
    "module_version(n, c, v)",
    "provider_version(n, v)",
    "depends_on(n, m), reads(m, o)",
    "agg c = count() in reads(_, _)",
];

/// A relation for the queries that add up.
const POLICY: &str = "size(n, v) <-- existing(n, _), n.size == v;\n";

fn object(key: Option<Json>, attributes: Json, rests_on: &[&str]) -> Json {
    let mut object = json!({
        "schema_version": 0,
        "attributes": attributes,
        "sensitive_attributes": [],
        "dependencies": rests_on,
    });
    if let Some(key) = key {
        object["index_key"] = key;
    }
    object
}

fn block(module: Option<&str>, (mode, kind, name): (&str, &str, &str), objects: Json) -> Json {
    let mut block = json!({
        "mode": mode,
        "type": kind,
        "name": name,
        "provider": "provider[\"registry.opentofu.org/example/test\"]",
        "instances": objects,
    });
    if let Some(module) = module {
        block["module"] = json!(module);
    }
    block
}

/// A state with keys, modules, data, outputs, nested values, and a secret.
fn document() -> Json {
    let mut secret = object(None, json!({"id": "db-00000001", "size": 5, "secret": "s3cret"}), &[]);
    secret["sensitive_attributes"] = json!([[{"type": "get_attr", "value": "secret"}]]);
    let ingress = json!([{"ports": [80, 443], "from": "all"}, {"ports": [22]}]);
    let resources = [
        block(
            None,
            ("managed", "test_net", "main"),
            json!([object(None, json!({"id": "net-0000001", "size": 1.5, "nothing": null}), &[])]),
        ),
        block(
            None,
            ("managed", "test_rule", "many"),
            json!([
                object(
                    Some(json!("x")),
                    json!({"id": "rule-000001", "network": "net-0000001", "ingress": ingress,
                           "tags": {"team": "a"}, "size": 4}),
                    &["test_net.main"]
                ),
                object(
                    Some(json!("a.b@c \"d\"")),
                    json!({"id": "rule-000002", "network": "net-0000001", "ingress": [],
                           "tags": {"team": "b", "env": "prod"}, "size": 4, "on": true}),
                    &["test_net.main"]
                ),
            ]),
        ),
        block(
            Some("module.in[0]"),
            ("managed", "test_rule", "deep"),
            json!([
                object(
                    Some(json!(0)),
                    json!({"id": "1", "nested": {"deep": {"er": [1, "x"]}}}),
                    &[]
                ),
                object(Some(json!(1)), json!({"id": "2", "nested": {"deep": {"er": null}}}), &[]),
            ]),
        ),
        block(None, ("managed", "test_db", "d"), json!([secret])),
        block(
            None,
            ("data", "test_read", "r"),
            json!([object(None, json!({"id": "r", "value": {"of": ["net-0000001"]}}), &[])]),
        ),
    ];
    let mut document = crate::support::state("l-one", 4, &resources);
    document["outputs"] = json!({
        "open": {"value": {"a": [1, null]}, "type": ["object", {"a": ["tuple", ["number", "string"]]}]},
        "closed": {"value": "s3cret", "type": "string", "sensitive": true},
    });
    document
}

/// What one stack alone answers.
fn alone(fleet: &Fleet, folder: &str, of: AskedOf, body: &str) -> Json {
    let here = World::of_this_process();
    let root = fleet.path(folder);
    let world = Arc::new(World { cwd: root.clone(), root, ..here });
    let ui = Ui::of_this_process(&usual_view(), &world);
    let policies = entail::operation::policies::PolicyChoice {
        named: vec![fleet.path("rules").display().to_string()],
        none: false,
    };
    let options = QueryOptions { body: body.to_owned(), of, policies, ..QueryOptions::default() };
    let answer = query(&ui.host(&world), &options);
    answer.unwrap_or_else(|problems| panic!("{body}: {problems:?}")).to_json()
}

/// What a fleet of it answers, without the name of its stack.
fn of_fleet(fleet: &Fleet, stack: &str, body: &str) -> Json {
    let ran: Ran = fleet.run(&["query", "-json", "-policy=rules", body]);
    let mut answer = ran.json();
    for rows in ["rows", "possible_rows"] {
        for cell in answer[rows].as_array_mut().into_iter().flatten() {
            without(cell, &format!("@{stack}"));
        }
    }
    answer
}

fn without(cell: &mut Json, end: &str) {
    match cell {
        Json::String(text) => {
            if let Some(bare) = text.strip_suffix(end) {
                *text = bare.to_owned();
            }
        }
        Json::Array(all) => all.iter_mut().for_each(|it| without(it, end)),
        _ => {}
    }
}

/// The rows of an answer, in an order of their own.
fn sorted(answer: &Json) -> Vec<Vec<String>> {
    let rows = |name: &str| {
        let rows = answer[name].as_array().expect("rows");
        let mut rows: Vec<String> = rows.iter().map(Json::to_string).collect();
        rows.sort();
        rows
    };
    vec![vec![answer["columns"].to_string()], rows("rows"), rows("possible_rows")]
}

#[test]
fn a_fleet_of_one_state_answers_as_that_state() {
    let fleet = Fleet::new("states \"all\" {\n  paths = [\"one.tfstate\"]\n}\n");
    fleet.write("one.tfstate", &document().to_string());
    fleet.write("rules/own.rules", POLICY);
    fleet.run(&["index", "-strict"]).ok();
    let mut count = 0;
    for body in OF_STATES {
        let state = AskedOf::State(Some(fleet.path("one.tfstate")));
        let alone = alone(&fleet, "", state, body);
        count += alone["rows"].as_array().map_or(0, Vec::len);
        assert_eq!(sorted(&of_fleet(&fleet, "one", body)), sorted(&alone), "{body}");
    }
    for body in OF_SECRETS {
        let state = AskedOf::State(Some(fleet.path("one.tfstate")));
        let (alone, of_fleet) = (alone(&fleet, "", state, body), of_fleet(&fleet, "one", body));
        let all = |answer: &Json| {
            let mut all = sorted(answer)[1..].concat();
            all.sort();
            all
        };
        assert_eq!(all(&of_fleet), all(&alone), "{body}");
        assert!(!(alone.to_string() + &of_fleet.to_string()).contains("s3cret"), "{body}: {alone}");
        assert!(!sorted(&of_fleet)[2].is_empty(), "{body}: {of_fleet}");
    }
    assert!(count > 100, "{count} rows were compared");
}

#[test]
fn a_fleet_of_one_root_module_answers_as_its_state_and_its_configuration() {
    let fleet = Fleet::new("stacks \"all\" {\n  directories = [\"one\"]\n}\n");
    fleet.write("rules/own.rules", POLICY);
    fleet.write(
        "one/main.tf",
        r#"terraform {
  required_providers {
    test = {
      source  = "example/test"
      version = ">= 1.2.0"
    }
  }
}
variable "size" {
  default = 3
}
resource "test_net" "main" {
  size = var.size
}
resource "test_rule" "many" {
  for_each   = toset(["x", "y"])
  network    = test_net.main.id
  depends_on = [test_net.main]
}
module "in" {
  source = "./in"
  size   = test_net.main.size
}
module "far" {
  source  = "example/far/test"
  version = "1.0.0"
}
output "open" {
  value = module.in.size
}
"#,
    );
    fleet.write(
        "one/in/main.tf",
        "variable \"size\" {}\noutput \"size\" {\n  value = var.size\n}\n",
    );
    fleet.write("one/terraform.tfstate", &document().to_string());
    fleet.run(&["index", "-strict"]).ok();
    let mut count = 0;
    // Variables have addresses, too, and only the configuration has them.
    for body in OF_STATES.iter().filter(|it| **it != "address(n, a)") {
        let state = AskedOf::State(None);
        assert_eq!(
            sorted(&of_fleet(&fleet, "one", body)),
            sorted(&alone(&fleet, "one", state, body)),
            "{body}"
        );
    }
    for body in OF_CONFIGURATIONS {
        let configuration = AskedOf::Configuration(Box::<Request>::default());
        let alone = alone(&fleet, "one", configuration, body);
        count += alone["rows"].as_array().map_or(0, Vec::len);
        assert_eq!(sorted(&of_fleet(&fleet, "one", body)), sorted(&alone), "{body}");
    }
    assert!(count > 20, "{count} rows were compared");
}
