//! Documents of plans and states, compared with those that the real program prints of the same.
//!
//! `ENTAIL_TOFU` names that program; without it the comparison is left out, and says so.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use expect_test::expect;
use pretty_assertions::assert_eq;
use serde_json::Value as Json;

use super::file::PlanExtras;
use super::json::plan_document;
use super::shape::Schemas;
use super::state_json::state_document;
use super::{
    Action, Change, ChangeList, Details, OutputChange, Plan, Reason, action_tokens,
    reason_of_token, reason_token,
};
use crate::address::{InstanceKey, Provider, ProviderConfig, ProviderInstance};
use crate::backend::seal::Seals;
use crate::config::Config;
use crate::diagnostic::Sources;
use crate::rarely::Rarely;
use crate::request::PlanMode;
use crate::schema::{AttributeSchema, BlockSchema, NestedBlock, Nesting, ProviderSchema, Schema};
use crate::state::{CheckResult, State, names, read};
use crate::value::{Marks, PathStep, Str, Type, Value, json};

fn attributes(list: &[(&str, Type)]) -> BTreeMap<Str, AttributeSchema> {
    list.iter().map(|(name, ty)| (Str::from(*name), AttributeSchema::of(*ty))).collect()
}

fn data_schema() -> Arc<Schema> {
    let any = Type::DYNAMIC;
    let attributes = attributes(&[
        ("id", Type::STRING),
        ("input", any),
        ("output", any),
        ("triggers_replace", any),
    ]);
    let block = BlockSchema { attributes, ..BlockSchema::default() };
    Arc::new(Schema { block, ..Schema::default() })
}

fn schemas() -> Box<Schemas<'static>> {
    let resources = [("terraform_data".into(), data_schema())].into_iter().collect();
    let schema = Arc::new(ProviderSchema { resources, ..ProviderSchema::default() });
    Box::new(move |_| Some(schema.clone()))
}

fn builtin() -> Arc<ProviderInstance> {
    let config = ProviderConfig {
        module: Default::default(),
        provider: Provider::implied("terraform"),
        alias: None,
    };
    Arc::new(ProviderInstance { config, key: InstanceKey::None })
}

fn empty_plan() -> Plan {
    Plan {
        mode: PlanMode::Normal,
        errored: false,
        changes: Default::default(),
        drift: Default::default(),
        outputs: BTreeMap::new(),
        prior_state: State::default(),
        previous_state: State::default(),
        variables: BTreeMap::new(),
        given_variables: BTreeMap::new(),
        targets: Vec::new(),
        excludes: Vec::new(),
        replaces: Vec::new(),
        timestamp: "2024-05-06T07:08:09.5Z".parse().expect("a time"),
        left_out: Vec::new(),
        not_looked_at: Default::default(),
        checks: Vec::new(),
        relevant_attributes: Vec::new(),
        workspace: "default".into(),
    }
}

#[test]
fn an_empty_plan_has_only_what_every_plan_has() {
    expect![[r#"{"format_version":"1.2","terraform_version":"1.12.6","planned_values":{"root_module":{}},"configuration":{"root_module":{}},"timestamp":"2024-05-06T07:08:09Z","errored":false}"#]]
        .assert_eq(&plan_document(&empty_plan(), &Config::default(), &*schemas(), &Sources::default()).expect("it is written"));
}

#[test]
fn an_empty_state_has_only_its_format() {
    assert_eq!(
        state_document(&State::default(), &*schemas()).expect("it is written"),
        "{\"format_version\":\"1.0\"}"
    );
}

#[test]
fn an_unknown_resource_type_is_a_problem() {
    let text = r#"{"version": 4, "resources": [{"mode": "managed", "type": "t", "name": "n", "provider": "provider[\"r.io/x/y\"]", "instances": [{}]}]}"#;
    let state = read::read(text.as_bytes()).expect("it is read").expect("it is there");
    let problem = state_document(&state, &*schemas()).expect_err("there is no schema");
    assert_eq!(
        problem.to_string(),
        "Failed to load plugin schemas: no schema found for t.n (in provider r.io/x/y)"
    );
}

#[test]
fn checks_tell_what_they_belong_to() {
    let check = |kind: &str, address: &str, objects: &[&str]| CheckResult {
        kind: kind.into(),
        config_address: address.into(),
        status: "fail".into(),
        objects: Some(
            objects
                .iter()
                .map(|it| (Str::from(*it), "fail".into(), vec!["b".into(), "a".into()]))
                .collect(),
        ),
    };
    let checks = vec![
        check("var", "var.v", &[]),
        check("resource", "module.m.data.t.n", &["module.m[\"a.b\"].data.t.n[\"k\"]"]),
        check("output", "module.m.output.o", &["module.m[\"a.b\"].output.o"]),
    ];
    let plan = Plan { checks, ..empty_plan() };
    let document = plan_document(&plan, &Config::default(), &*schemas(), &Sources::default())
        .expect("it is written");
    let document: Json = serde_json::from_str(&document).expect("it is JSON");
    expect![[r#"
        [
          {
            "address": {
              "kind": "resource",
              "mode": "data",
              "module": "module.m",
              "name": "n",
              "to_display": "module.m.data.t.n",
              "type": "t"
            },
            "status": "fail",
            "instances": [
              {
                "address": {
                  "instance_key": "k",
                  "module": "module.m[\"a.b\"]",
                  "to_display": "module.m[\"a.b\"].data.t.n[\"k\"]"
                },
                "status": "fail",
                "problems": [
                  {
                    "message": "a"
                  },
                  {
                    "message": "b"
                  }
                ]
              }
            ]
          },
          {
            "address": {
              "kind": "output_value",
              "module": "module.m",
              "name": "o",
              "to_display": "module.m.output.o"
            },
            "status": "fail",
            "instances": [
              {
                "address": {
                  "module": "module.m[\"a.b\"]",
                  "to_display": "module.m[\"a.b\"].output.o"
                },
                "status": "fail",
                "problems": [
                  {
                    "message": "a"
                  },
                  {
                    "message": "b"
                  }
                ]
              }
            ]
          },
          {
            "address": {
              "kind": "var",
              "name": "v",
              "to_display": "var.v"
            },
            "status": "fail"
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&document["checks"]).expect("it is JSON"));
}

#[test]
fn what_the_schema_calls_sensitive_is_shown_as_such() {
    let secret = AttributeSchema { sensitive: true, ..AttributeSchema::of(Type::STRING) };
    let inner = BlockSchema {
        attributes: [(Str::from("secret"), secret)].into(),
        ..BlockSchema::default()
    };
    let block = NestedBlock { nesting: Nesting::List, block: inner, min_items: 0, max_items: 0 };
    let schema = BlockSchema { blocks: [(Str::from("b"), block)].into(), ..BlockSchema::default() };
    let value =
        json::from_json(r#"{"b":[{"secret":"x"},{"secret":null}]}"#, schema.ty()).expect("a value");
    let mut out = crate::state::text::JsonWriter::new(crate::state::text::Layout::Compact);
    super::shape::write_sensitive(&mut out, &crate::schema::mark_sensitive(&value, &schema));
    assert_eq!(out.finish(), r#"{"b":[{"secret":true},{"secret":true}]}"#);
}

#[test]
fn every_action_and_reason_has_a_name_of_its_own() {
    let shown = Action::ALL.iter().filter(|it| **it != Action::Drop);
    let mut names: Vec<_> = shown.map(|it| action_tokens(*it)).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), Action::ALL.len() - 1);
    for reason in Reason::ALL.iter().filter(|it| **it != Reason::Plain) {
        assert_eq!(reason_of_token(reason_token(*reason)), Some(*reason));
    }
    assert_eq!(reason_token(Reason::Plain), "");
    assert_eq!(reason_of_token("because"), None);
}

const BEFORE: &str = r#"
variable "s" {
  default   = "top<secret>"
  sensitive = true
}
resource "terraform_data" "b" {
  count = 2
  input = { list = ["x<", var.s], none = {}, n = count.index, big = 12345678901234567890.5 }
}
module "m" {
  source   = "./m"
  for_each = toset(["x.y", "z"])
  in       = each.key
}
output "o" { value = terraform_data.b[0].output }
output "gone" { value = "x" }
"#;

const AFTER: &str = r#"
variable "s" {
  default   = "top<secret>"
  sensitive = true
}
resource "terraform_data" "b" {
  input            = { list = ["x<", var.s], none = {}, n = 5 }
  triggers_replace = [terraform_data.c.id, 1]
}
resource "terraform_data" "c" {}
resource "terraform_data" "k" {
  for_each = toset(["a", "10", "9"])
  input    = [terraform_data.c.id, "y", {}, null]
}
module "m" {
  source   = "./m"
  for_each = toset(["x.y", "new"])
  in       = each.key
}
output "o" {
  value     = var.s
  sensitive = true
}
output "list" { value = [terraform_data.c.id, 1.50] }
output "number" { value = 1.50 }
output "later" { value = terraform_data.c.id }
output "object" { value = { a = null } }
"#;

const INNER: &str = r#"
variable "in" {}
resource "terraform_data" "inner" { input = var.in }
resource "terraform_data" "again" {
  input = terraform_data.inner.output
  lifecycle {
    postcondition {
      condition     = self.input != "z"
      error_message = "no z"
    }
  }
}
"#;

/// Runs the real program in a folder.
fn run(program: &str, folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .env("TF_IN_AUTOMATION", "1")
        .output()
        .expect("the program starts");
    String::from_utf8(output.stdout).expect("it prints text")
}

#[test]
fn documents_are_those_of_the_real_program() {
    let Ok(program) = std::env::var("ENTAIL_TOFU") else {
        #[expect(clippy::print_stderr, reason = "a test that is left out says so")]
        {
            eprintln!("LEFT OUT: no comparison with the real program; set ENTAIL_TOFU to its path");
        }
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::create_dir(folder.join("m")).expect("a folder");
    std::fs::write(folder.join("m/main.tf"), INNER).expect("it is written");
    std::fs::write(folder.join("main.tf"), BEFORE).expect("it is written");
    run(&program, folder, &["init"]);
    run(&program, folder, &["apply", "-auto-approve"]);
    let theirs = run(&program, folder, &["show", "-json"]);
    let state = read::read(&std::fs::read(folder.join("terraform.tfstate")).expect("it is read"));
    let state = state.expect("it is a state").expect("it is there");
    assert_eq!(
        same_version(&state_document(&state, &*schemas()).expect("it is written")),
        same_version(theirs.trim())
    );

    std::fs::write(folder.join("main.tf"), AFTER).expect("it is written");
    run(&program, folder, &["init"]);
    run(&program, folder, &["plan", "-out=tfplan"]);
    let theirs: Json = serde_json::from_str(&run(&program, folder, &["show", "-json", "tfplan"]))
        .expect("it is JSON");
    let plan = plan_of(&theirs, state);
    // Through a file, so that nothing is lost on the way.
    plan.save(&folder.join("ours"), &PlanExtras::default(), (None, &Seals::default()))
        .expect("it is saved");
    let (plan, _) = Plan::load(&folder.join("ours"), &Seals::default()).expect("it is loaded");
    let ours = plan_document(&plan, &Config::default(), &*schemas(), &Sources::default())
        .expect("it is written");
    let ours: Json = serde_json::from_str(&ours).expect("it is JSON");
    let names =
        |json: &Json| json.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs));
    for name in names(&ours) {
        // The state that their plan holds has moves and known outputs in it already.
        if !["configuration", "prior_state", "terraform_version"].contains(&name.as_str()) {
            let show = |it: &Json| {
                same_version(&serde_json::to_string_pretty(&it[&name]).expect("it is JSON"))
            };
            assert_eq!(show(&ours), show(&theirs), "{name}");
        }
    }
}

fn same_version(text: &str) -> String {
    text.replace("1.12.6-dev", "1.12.6")
}

/// Reads a plan back from its document.
fn plan_of(document: &Json, prior_state: State) -> Plan {
    let changes =
        document["resource_changes"].as_array().expect("changes").iter().map(change_of).collect();
    let outputs = document["output_changes"].as_object().expect("outputs").iter();
    let outputs =
        outputs.map(|(name, it)| (Str::from(name.as_str()), output_of(name, it))).collect();
    let relevant = document["relevant_attributes"].as_array().into_iter().flatten();
    let path = |it: &Json| {
        it.as_array()
            .expect("a path")
            .iter()
            .map(|it| PathStep::attribute(it.as_str().expect("text")))
            .collect()
    };
    Plan {
        changes,
        outputs,
        timestamp: document["timestamp"].as_str().expect("a time").parse().expect("a time"),
        relevant_attributes: relevant
            .map(|it| (text(&it["resource"]).into(), path(&it["attribute"])))
            .collect(),
        variables: [(Str::from("s"), Value::from("top<secret>"))].into(),
        checks: document["checks"].as_array().into_iter().flatten().map(check_of).collect(),
        prior_state,
        ..empty_plan()
    }
}

fn text(json: &Json) -> &str {
    json.as_str().expect("text")
}

fn action_of(change: &Json) -> Action {
    let words: Vec<&str> =
        change["actions"].as_array().expect("actions").iter().map(text).collect();
    *Action::ALL.iter().find(|it| action_tokens(**it) == words).expect("a known action")
}

fn change_of(entry: &Json) -> Change {
    let change = &entry["change"];
    let paths = change["replace_paths"].as_array().into_iter().flatten();
    let previous_address = entry["previous_address"].as_str().and_then(names::instance);
    let details = Details {
        previous_address: previous_address.map(Box::new),
        replace_paths: paths.map(|it| vec![PathStep::attribute(text(&it[0]))]).collect(),
        ..Details::default()
    };
    Change {
        address: names::instance(text(&entry["address"])).expect("an address"),
        deposed: None,
        served_by: builtin(),
        action: action_of(change),
        reason: entry["action_reason"].as_str().and_then(reason_of_token).unwrap_or(Reason::Plain),
        before: value_of(change.get("before"), &Json::Null, &change["before_sensitive"]),
        after: value_of(change.get("after"), &change["after_unknown"], &change["after_sensitive"]),
        details: Rarely::of(details),
    }
}

fn output_of(name: &str, change: &Json) -> OutputChange {
    OutputChange {
        name: name.into(),
        before: value_of(change.get("before"), &Json::Null, &Json::Null),
        after: value_of(change.get("after"), &change["after_unknown"], &Json::Null),
        action: action_of(change),
        sensitive: change["before_sensitive"] == Json::Bool(true),
    }
}

/// Puts a value together from its known part and the two shapes.
fn value_of(known: Option<&Json>, unknown: &Json, sensitive: &Json) -> Value {
    let value = match (unknown, known) {
        (Json::Bool(true), _) => Value::unknown(match sensitive {
            Json::Array(_) => Type::tuple(vec![Type::STRING]),
            Json::Object(_) => Type::object(vec![("x".into(), Type::STRING)]),
            _ => Type::STRING,
        }),
        (_, Some(Json::Array(items))) => {
            let item = |(at, it)| value_of(Some(it), &unknown[at], &sensitive[at]);
            Value::tuple(items.iter().enumerate().map(item).collect())
        }
        (_, Some(Json::Object(members))) => {
            let later = unknown.as_object().into_iter().flatten().map(|it| it.0);
            let names: std::collections::BTreeSet<&String> = members.keys().chain(later).collect();
            let member =
                |name: &String| value_of(members.get(name), &unknown[name], &sensitive[name]);
            Value::object(names.into_iter().map(|it| (Str::from(it.as_str()), member(it))))
        }
        (_, Some(other)) => json::from_json_implied(&other.to_string()).expect("a value"),
        (_, None) => Value::NULL,
    };
    if *sensitive == Json::Bool(true) { value.mark(&Marks::sensitive()) } else { value }
}

fn check_of(entry: &Json) -> CheckResult {
    let messages = |it: &Json| {
        it["problems"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|it| Str::from(text(&it["message"])))
            .collect()
    };
    let object = |it: &Json| {
        (
            Str::from(text(&it["address"]["to_display"])),
            Str::from(text(&it["status"])),
            messages(it),
        )
    };
    CheckResult {
        kind: text(&entry["address"]["kind"]).into(),
        config_address: text(&entry["address"]["to_display"]).into(),
        status: text(&entry["status"]).into(),
        objects: entry["instances"].as_array().map(|it| it.iter().map(object).collect()),
    }
}

#[test]
fn a_sound_plan_has_no_faults_and_an_unsound_one_says_each() {
    let object = |id: &str| Value::object([(Str::from("id"), Value::from(id))]);
    let change = |address: &str, action: Action, before: Value, after: Value| Change {
        address: names::instance(address).expect("an address"),
        deposed: None,
        served_by: builtin(),
        action,
        reason: Reason::Plain,
        before,
        after,
        details: Rarely::default(),
    };
    let sound = ChangeList::from_iter([
        change("data.t.d", Action::Read, Value::NULL, Value::unknown(Type::DYNAMIC)),
        change("t.a", Action::Create, Value::NULL, object("a")),
        change("t.b", Action::Update, object("a"), object("b")),
        change("t.c", Action::Delete, object("a"), Value::NULL),
    ]);
    assert_eq!(super::check::check(&Plan { changes: sound, ..empty_plan() }), Vec::<String>::new());

    let secret = Value::from("x").mark(&Marks::sensitive());
    let output = OutputChange {
        name: "o".into(),
        before: Value::NULL,
        after: secret,
        action: Action::Read,
        sensitive: false,
    };
    let unsound = Plan {
        mode: PlanMode::Destroy,
        changes: ChangeList::from_iter([
            change("t.b", Action::Update, object("a"), Value::NULL),
            change("t.a", Action::NoOp, object("a"), object("b")),
            change("t.a", Action::CreateThenDelete, object("a"), object("b")),
        ]),
        drift: ChangeList::from_iter([change(
            "data.t.d",
            Action::Create,
            Value::NULL,
            object("a"),
        )]),
        outputs: [(Str::from("o"), output)].into(),
        ..empty_plan()
    };
    expect![[r#"
        t.a: stands twice among the changes
        the changes are not in the order of addresses
        t.b: is updated, but a side is missing
        t.a: is kept, but its sides differ
        t.a: must have a key for its old object if it is replaced by making the new one first, and only then
        data.t.d: has drifted, so it was changed, deleted or only moved
        data.t.d: is no current managed object, so it cannot drift
        output.o: an output is only created, updated, deleted or kept
        output.o: holds something sensitive, so it is sensitive
        t.b: Update is not planned in this mode
        t.a: CreateThenDelete is not planned in this mode"#]]
    .assert_eq(&super::check::check(&unsound).join("\n"));
}
