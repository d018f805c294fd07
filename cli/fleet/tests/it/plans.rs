//! Saved plans in a lake: what is done across stacks, asked before it is done.
#![cfg(unix)]

use serde_json::json;

use crate::real::program;
use crate::support::Fleet;
use crate::trouble::told;

const SETTINGS: &str = r#"
stacks "live" {
  directories = ["live/*"]
  plan        = "next.tfplan"
}
"#;

/// Two stacks with a resource each, applied; of one of them, a plan that changes it and makes another.
fn fleet(program: &std::path::Path) -> Fleet {
    let fleet = Fleet::new(SETTINGS);
    let thing = |name: &str, input: u8| {
        format!("resource \"terraform_data\" \"{name}\" {{\n  input = {input}\n}}\n")
    };
    for stack in ["one", "two"] {
        fleet.write(&format!("live/{stack}/main.tf"), &thing("it", 1));
        entail(&fleet, program, stack, &["init"]);
        entail(&fleet, program, stack, &["apply", "-auto-approve"]);
    }
    fleet.write("live/one/main.tf", &(thing("it", 2) + &thing("more", 3)));
    entail(&fleet, program, "one", &["plan", "-out=next.tfplan"]);
    fleet
}

fn entail(fleet: &Fleet, program: &std::path::Path, stack: &str, words: &[&str]) {
    let output = std::process::Command::new(program)
        .args(words)
        .args(if words[0] == "apply" { &["-no-color"][..] } else { &["-input=false", "-no-color"] })
        .current_dir(fleet.path(&format!("live/{stack}")))
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_saved_plans_do_is_asked_of_all_stacks_together() {
    let Some(program) = program() else { return };
    let fleet = fleet(&program);
    fleet.run(&["index", "-strict"]).ok();
    let asked = |body: &str| fleet.run(&["query", "-json", body]).json()["rows"].clone();
    assert_eq!(
        asked("created(n), planned(n, \"terraform_data\"), stack(n, s)"),
        json!([["terraform_data.more@live/one", "live/one"]])
    );
    assert_eq!(asked("updated(n)"), json!([["terraform_data.it@live/one"]]));
    assert_eq!(asked("changes(n, \"input\")"), json!([["terraform_data.it@live/one"]]));
    assert_eq!(asked("unchanged(n)"), json!([]));
    // What is still to be made is no resource yet.
    assert_eq!(asked("created(n), resource(n, _)"), json!([]));
    fleet.write(
        "rules/none.rules",
        "// @rule fleet.none: `n` is made\ndeny(n, \"not in this week\") <-- created(n);\n",
    );
    let ran = fleet.run(&["policy", "check", "-policy=rules", "-json"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("terraform_data.more@live/one"), "{}", ran.out);
    let why = fleet.run(&["why", "terraform_data.it@live/one"]).ok();
    assert!(why.contains("terraform_data.it"), "{why}");
    assert!(why.contains("main.tf:2"), "{why}");
    let json = fleet.run(&["why", "-json", "terraform_data.more@live/one"]).json();
    assert!(json.to_string().contains("create"), "{json}");
    let ran = fleet.run(&["why", "terraform_data.it@live/two"]);
    assert!(told(&ran).contains("stack `live/two` has none"), "{}", ran.err);
    let ran = fleet.run(&["why", "terraform_data.it@live/three"]);
    assert!(told(&ran).contains("No such stack"), "{}", ran.err);
    let ran = fleet.run(&["query", "action(n, a, r)"]);
    assert!(told(&ran).contains("Ask with `created`"), "{}", ran.err);
}

#[test]
fn a_plan_that_does_not_hold_any_more_is_told_of_and_left_out() {
    let Some(program) = program() else { return };
    let fleet = fleet(&program);
    entail(&fleet, &program, "one", &["apply", "next.tfplan"]);
    let ran = fleet.run(&["index"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(told(&ran).contains("The plan of stack `live/one` is left out"), "{}", ran.err);
    let ran = fleet.run(&["query", "created(n)"]);
    assert!(told(&ran).contains("no stack has a saved plan"), "{}", ran.err);

    fleet.write("live/two/next.tfplan", "no plan");
    let ran = fleet.run(&["index"]);
    assert!(told(&ran).contains("The plan of stack `live/two` is left out"), "{}", ran.err);

    // A new one is read without anything else having changed, and goes with its file.
    std::fs::remove_file(fleet.path("live/two/next.tfplan")).expect("it is there");
    entail(&fleet, &program, "two", &["plan", "-destroy", "-out=next.tfplan"]);
    fleet.run(&["index", "-json"]).ok();
    let asked = || fleet.run(&["query", "-json", "destroyed(n)"]);
    assert_eq!(asked().json()["rows"], json!([["terraform_data.it@live/two"]]));
    std::fs::remove_file(fleet.path("live/two/next.tfplan")).expect("it is there");
    assert_eq!(fleet.run(&["index", "-json"]).json()["changed"], 1);
    assert!(told(&asked()).contains("no stack has a saved plan"));
}
