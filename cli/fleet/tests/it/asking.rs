//! Questions across stacks: queries, impact, policies and proofs.

use serde_json::{Value as Json, json};

use crate::support::{Fleet, resource, with};

const SETTINGS: &str = r#"
stacks "live" {
  directories = ["live/*"]
  labels      = { env = "prod" }
}
states "old" {
  paths  = ["old/*.tfstate"]
  labels = { env = "test" }
}
"#;

/// A network, an application that reads its outputs and uses its subnet, and an old state that uses the subnet, too.
fn fleet() -> Fleet {
    let fleet = Fleet::new(SETTINGS);
    fleet.write(
        "live/network/main.tf",
        "module \"subnets\" {\n  source  = \"example/subnets/aws\"\n  version = \"1.2.0\"\n}\nresource \"aws_vpc\" \"main\" {}\n",
    );
    fleet.write(
        "live/network/.terraform.lock.hcl",
        "provider \"registry.opentofu.org/hashicorp/aws\" {\n  version = \"5.1.0\"\n}\n",
    );
    fleet.state(
        "live/network/terraform.tfstate",
        "l-network",
        &[
            resource("aws_vpc", "main", json!({"id": "vpc-00000001", "tags": {"team": "net"}})),
            with(
                "aws_subnet",
                "a",
                json!({"id": "subnet-0000001", "vpc_id": "vpc-00000001"}),
                &["aws_vpc.main"],
                &[],
            ),
        ],
    );
    fleet.write(
        "live/app/main.tf",
        r#"terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
  }
}
data "terraform_remote_state" "network" {
  backend = "local"
  config  = { path = "../network/terraform.tfstate" }
}
resource "aws_instance" "web" {
  subnet_id = data.terraform_remote_state.network.outputs.subnet
}
"#,
    );
    fleet.state(
        "live/app/terraform.tfstate",
        "l-app",
        &[
            resource(
                "aws_instance",
                "web",
                json!({"id": "i-000000001", "subnet_id": "subnet-0000001"}),
            ),
            with(
                "aws_eip",
                "ip",
                json!({"id": "eip-00000001", "instance": "i-000000001"}),
                &["aws_instance.web"],
                &[],
            ),
        ],
    );
    fleet.state(
        "old/one.tfstate",
        "l-old",
        &[
            resource(
                "aws_instance",
                "w",
                json!({"id": "i-000000002", "network": [{"subnet": "subnet-0000001"}]}),
            ),
            resource("aws_s3_bucket", "b", json!({"id": "bucket-one-1", "acl": "public-read"})),
        ],
    );
    fleet.run(&["index"]).ok();
    fleet
}

fn rows(fleet: &Fleet, body: &str) -> Json {
    fleet.run(&["query", "-json", body]).json()["rows"].clone()
}

#[test]
fn objects_of_all_stacks_are_asked_in_the_language_of_policies() {
    let fleet = fleet();
    assert_eq!(
        rows(&fleet, "existing(n, \"aws_instance\"), n.subnet_id == s"),
        json!([["aws_instance.web@live/app", "subnet-0000001"]])
    );
    assert_eq!(
        rows(&fleet, "existing(n, t), stack(n, s), label(s, \"env\", \"test\")"),
        json!([
            ["aws_instance.w@old/one", "aws_instance", "old/one"],
            ["aws_s3_bucket.b@old/one", "aws_s3_bucket", "old/one"],
        ])
    );
    assert_eq!(rows(&fleet, "tag(n, k, v)"), json!([["aws_vpc.main@live/network", "team", "net"]]));
    assert_eq!(
        rows(&fleet, "rests_on(n, m)"),
        json!([
            ["aws_eip.ip@live/app", "aws_instance.web@live/app"],
            ["aws_subnet.a@live/network", "aws_vpc.main@live/network"],
        ])
    );
    // A VPC that no other stack uses, by negation.
    assert_eq!(
        rows(&fleet, "existing(n, \"aws_subnet\"), agg c = count() in uses(_, n)"),
        json!([["aws_subnet.a@live/network", 2]])
    );
}

/// A lake as commit 6a79249 has it: its version of the vocabulary, and no tables that came later.
#[test]
fn a_lake_with_former_names_is_asked_and_indexed_again() {
    let fleet = fleet();
    let path = fleet.path("lake/catalogue.json");
    let text = std::fs::read_to_string(&path).expect("a catalogue");
    let mut catalogue: Json = serde_json::from_str(&text).expect("JSON");
    catalogue["vocabulary"] = "1.0".into();
    let files = catalogue["files"].as_object_mut().expect("tables");
    assert!(files.contains_key("rests_on"), "the table keeps its name");
    files.retain(|name, _| !["local_value", "excluded", "untargeted"].contains(&name.as_str()));
    std::fs::write(&path, catalogue.to_string()).expect("it is written");
    let recorded = json!([
        ["aws_eip.ip@live/app", "aws_instance.web@live/app"],
        ["aws_subnet.a@live/network", "aws_vpc.main@live/network"],
    ]);
    for _ in 0..2 {
        assert_eq!(rows(&fleet, "rests_on(n, m)"), recorded);
        assert_eq!(rows(&fleet, "state_depends_on(n, m)"), recorded);
        fleet.run(&["index"]).ok();
    }
}

#[test]
fn facts_across_stacks_are_found() {
    let fleet = fleet();
    assert_eq!(rows(&fleet, "reads_stack(s, t)"), json!([["live/app", "live/network"]]));
    // That of the vocabulary is about nodes, and has a column less.
    let asked = rows(&fleet, "provider_version(n, v)").to_string();
    assert!(asked.contains(r#"["aws_instance.web@live/app","~> 5.0"]"#), "{asked}");
    assert_eq!(
        rows(&fleet, "calls_module(s, m, v)"),
        json!([["live/network", "example/subnets/aws", "1.2.0"]])
    );
    assert_eq!(
        rows(&fleet, "provider_version(s, p, v)"),
        json!([
            ["live/app", "registry.opentofu.org/hashicorp/aws", "~> 5.0"],
            ["live/network", "registry.opentofu.org/hashicorp/aws", "5.1.0"],
        ])
    );
    assert_eq!(
        rows(&fleet, "uses(n, m), stack(n, s), stack(m, t), if s != t"),
        json!([
            ["aws_instance.w@old/one", "aws_subnet.a@live/network", "old/one", "live/network"],
            ["aws_instance.web@live/app", "aws_subnet.a@live/network", "live/app", "live/network"],
        ])
    );
}

#[test]
fn impact_crosses_stacks_both_ways() {
    let fleet = fleet();
    let of = |words: &[&str]| {
        let json = fleet.run(&[&["impact", "-json"], words].concat()).json();
        let all = json["impacted"].as_array().expect("what is touched").clone();
        all.iter()
            .map(|it| format!("{} {}", it["distance"], it["address"].as_str().unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of(&["aws_vpc.main@live/network"]),
        [
            "0 aws_vpc.main@live/network",
            "1 aws_subnet.a@live/network",
            "2 aws_instance.w@old/one",
            "2 aws_instance.web@live/app",
            "3 aws_eip.ip@live/app",
        ]
    );
    assert_eq!(of(&["aws_vpc.main@live/network", "-depth=1"]).len(), 2);
    assert_eq!(
        of(&["-reverse", "aws_instance.web@live/app"]),
        [
            "0 aws_instance.web@live/app",
            "1 aws_subnet.a@live/network",
            "1 data.terraform_remote_state.network@live/app",
            "2 aws_vpc.main@live/network",
        ]
    );
    let wrong = [
        ("aws_vpc.main", "ADDRESS@STACK"),
        ("aws_vpc.main@live/netwrok", "Did you mean `live/network`?"),
        ("aws_vpc.gone@live/network", "holds no aws_vpc.gone"),
    ];
    for (address, part) in wrong {
        let ran = fleet.run(&["impact", address]);
        assert_eq!(ran.code, Some(1));
        let told = ran.err.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "");
        assert!(told.contains(part), "{told}");
    }
}

const POLICY: &str = r#"
// @rule buckets.public: bucket `b` can be read by all
deny(b, "{b} is public") <-- existing(b, "aws_s3_bucket"), b.acl == "public-read";
// @rule stacks.tested: `n` of a test uses `m` of another
warn(n, "{n} uses {m}") <-- uses(n, m), stack(n, s), stack(m, t), label(s, "env", "test"), label(t, "env", "prod");
"#;

#[test]
fn policies_judge_all_stacks_and_verdicts_are_proven() {
    let fleet = fleet();
    fleet.write("rules/own.rules", POLICY);
    let ran = fleet.run(&["policy", "check", "-policy=rules", "-json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let json: Json = serde_json::from_str(&ran.out).expect("JSON");
    let verdicts = json["verdicts"].as_array().expect("verdicts");
    let told: Vec<_> = verdicts
        .iter()
        .map(|it| (it["level"].clone(), it["address"].clone(), it["message"].clone()))
        .collect();
    assert_eq!(
        told,
        [
            (
                json!("deny"),
                json!("aws_s3_bucket.b@old/one"),
                json!("aws_s3_bucket.b@old/one is public")
            ),
            (
                json!("warn"),
                json!("aws_instance.w@old/one"),
                json!("aws_instance.w@old/one uses aws_subnet.a@live/network")
            ),
        ]
    );
    assert_eq!(json["summary"]["resources"], 6);

    let why = fleet
        .run(&["why", "-policy=stacks.tested", "-policies=rules", "aws_instance.w@old/one"])
        .ok();
    for part in [
        "uses(aws_instance.w@old/one, aws_subnet.a@live/network)",
        "old/one.tfstate",
        "rules/own.rules:5",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }
    let ran = fleet.run(&[
        "why",
        "-policy=buckets.public",
        "-policies=rules",
        "aws_vpc.main@live/network",
    ]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(
        ran.out.contains("buckets.public says nothing of aws_vpc.main@live/network"),
        "{}",
        ran.out
    );
}

#[test]
fn places_of_blocks_are_named_with_their_stack() {
    let fleet = fleet();
    fleet.write(
        "rules/own.rules",
        "// @rule vpc.any: `n` is a VPC\nnote(n, \"a VPC\") <-- existing(n, \"aws_vpc\");\n",
    );
    let ran = fleet.run(&["policy", "check", "-policy=rules", "-json"]);
    let json: Json = serde_json::from_str(&ran.out).expect("JSON");
    let it = &json["verdicts"][0];
    assert_eq!((&it["file"], &it["line"]), (&json!("live/network/main.tf"), &json!(5)), "{json}");
}

#[test]
fn what_a_plan_says_is_not_to_be_asked_and_secrets_are_only_possible() {
    let fleet = fleet();
    let ran = fleet.run(&["query", "created(n)"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("`created` says nothing of a fleet"), "{}", ran.err);
    fleet.state(
        "old/two.tfstate",
        "l-two",
        &[with(
            "aws_db_instance",
            "d",
            json!({"id": "db-00000001", "master": "s3cret"}),
            &[],
            &["master"],
        )],
    );
    fleet.run(&["index"]).ok();
    let json = fleet
        .run(&["query", "-json", "existing(n, \"aws_db_instance\"), n.master == \"s3cret\""])
        .json();
    assert_eq!(
        (&json["rows"], &json["possible_rows"]),
        (&json!([]), &json!([["aws_db_instance.d@old/two"]]))
    );
}

#[test]
fn a_query_that_explodes_ends_with_an_error() {
    let fleet = fleet();
    let ran = fleet.run(&[
        "query",
        "-policy-limit=rows=10",
        "existing(a, _), existing(b, _), existing(c, _)",
    ]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("Policies take too much"), "{}", ran.err);
}
