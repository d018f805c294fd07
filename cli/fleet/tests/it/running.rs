//! `fleet plan` and `fleet apply`, with a program in the place of `entail` that notes how it is called.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value as Json, json};

use crate::support::{Fleet, Ran};

/// Fails where a file `fail` lies, says that something changes where `change` lies, and notes each call.
const PROGRAM: &str = r#"#!/bin/sh
echo "$(basename "$PWD") $1" >> "$CALLS"
if [ -e slow ]; then sleep 5; fi
if [ -e fail ]; then echo "Error: no such thing" >&2; exit 1; fi
case "$1" in
  plan) if [ -e change ]; then echo "Plan: 1 to add, 0 to change, 0 to destroy."; exit 2; fi; echo "No changes. All is well."; exit 0 ;;
  apply) rm -f change; echo "Apply complete! Resources: 1 added, 0 changed, 0 destroyed."; exit 0 ;;
esac
"#;

const SETTINGS: &str = r#"
stacks "base" { directories = ["live/base"] }
stacks "live" {
  directories = ["live/[n-z]*"]
  after       = ["live/base"]
}
"#;

fn fleet() -> Fleet {
    let fleet = Fleet::new(SETTINGS);
    fleet.write("bin/entail", PROGRAM);
    let path = fleet.path("bin/entail");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("it is set");
    for name in ["base", "network", "other"] {
        fleet.write(&format!("live/{name}/main.tf"), "");
    }
    fleet.write(
        "live/web/main.tf",
        "data \"terraform_remote_state\" \"n\" {\n  backend = \"local\"\n  config  = { path = \"../network/terraform.tfstate\" }\n}\n",
    );
    fleet
}

/// The program beside the tests' own is found first; a copy of that lies beside the one that notes.
fn run(fleet: &Fleet, words: &[&str]) -> Ran {
    let own = fleet.path("bin/entail-fleet");
    if !own.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_entail-fleet"), &own).expect("a link");
        std::fs::remove_file(&own).expect("it is there");
        std::fs::copy(env!("CARGO_BIN_EXE_entail-fleet"), &own).expect("a copy");
    }
    let calls = fleet.path("calls");
    loop {
        let output = std::process::Command::new(&own)
            .args(words)
            .current_dir(fleet.root())
            .env("CALLS", &calls)
            .output();
        match output {
            // A child of another test still has the copy open that was just written, until it runs its own program.
            Err(why) if why.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            output => return Ran::of(&output.expect("it starts")),
        }
    }
}

fn calls(fleet: &Fleet) -> Vec<String> {
    let text = std::fs::read_to_string(fleet.path("calls")).unwrap_or_default();
    std::fs::remove_file(fleet.path("calls")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn brief(json: &Json) -> Vec<String> {
    let stacks = json["stacks"].as_array().expect("stacks");
    let text = |it: &Json| it.as_str().unwrap_or("-").to_owned();
    stacks
        .iter()
        .map(|it| {
            format!(
                "{} {} {} {}",
                text(&it["stack"]),
                text(&it["status"]),
                text(&it["because"]),
                it["after"]
            )
        })
        .collect()
}

#[test]
fn stacks_run_in_the_order_in_which_they_rest_on_each_other() {
    let fleet = fleet();
    fleet.write("live/network/change", "");
    let ran = run(&fleet, &["plan", "-json", "-parallelism=1"]);
    assert_eq!(
        brief(&ran.json()),
        [
            "live/base unchanged - []",
            "live/network changed - [\"live/base\"]",
            "live/other unchanged - [\"live/base\"]",
            "live/web unchanged - [\"live/base\",\"live/network\"]",
        ]
    );
    assert_eq!(calls(&fleet), ["base plan", "network plan", "other plan", "web plan"]);
    let ran = run(&fleet, &["plan", "-dry-run"]);
    assert!(ran.ok().contains("live/web      skipped    dry run"));
    assert_eq!(calls(&fleet), [""; 0]);
}

#[test]
fn what_rests_on_a_stack_that_failed_is_skipped_because_of_it() {
    let fleet = fleet();
    fleet.write("live/network/fail", "");
    let ran = run(&fleet, &["plan", "-json"]);
    assert_eq!(ran.code, Some(1));
    let json: Json = serde_json::from_str(&ran.out).expect("JSON");
    let mut stacks = brief(&json);
    stacks.sort();
    assert_eq!(
        stacks,
        [
            "live/base unchanged - []",
            "live/network failed Error: no such thing [\"live/base\"]",
            "live/other unchanged - [\"live/base\"]",
            "live/web skipped live/network [\"live/base\",\"live/network\"]",
        ]
    );
    let junit = run(&fleet, &["plan", "-junit"]).out;
    assert!(
        junit.contains(
            "<testsuite name=\"fleet\" tests=\"4\" skipped=\"1\" failures=\"1\" errors=\"0\">"
        ),
        "{junit}"
    );
    let markdown = run(&fleet, &["plan", "-markdown"]).out;
    assert!(
        markdown.contains("| live/web | skipped | live/network | live/base, live/network |"),
        "{markdown}"
    );
}

#[test]
fn apply_carries_out_what_changes_and_wants_to_be_approved_first() {
    let fleet = fleet();
    fleet.write("live/other/change", "");
    let ran = run(&fleet, &["apply"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("Approval required"), "{}", ran.err);
    let json = run(&fleet, &["apply", "-auto-approve", "-json", "-parallelism=1"]).json();
    assert_eq!(brief(&json)[2], "live/other changed - [\"live/base\"]");
    assert_eq!(
        calls(&fleet),
        ["base plan", "network plan", "other plan", "other apply", "web plan"]
    );
}

#[test]
fn a_run_that_was_killed_is_taken_up_where_it_stopped() {
    let fleet = fleet();
    fleet.write("live/other/slow", "");
    let own = || {
        run(&fleet, &["plan", "-dry-run"]).ok();
        let mut command = std::process::Command::new(fleet.path("bin/entail-fleet"));
        command
            .args(["plan", "-parallelism=1"])
            .current_dir(fleet.root())
            .env("CALLS", fleet.path("calls"));
        command
    };
    let mut child = own().spawn().expect("it starts");
    let begun =
        || std::fs::read_to_string(fleet.path("calls")).unwrap_or_default().contains("other");
    let since = std::time::Instant::now();
    while !begun() && since.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().expect("it runs");
    child.wait().expect("it is over");
    assert_eq!(calls(&fleet), ["base plan", "network plan", "other plan"]);
    std::fs::remove_file(fleet.path("live/other/slow")).expect("it is there");
    // What was changed since is run again, though it was done.
    fleet.write("live/network/more.tf", "locals {\n  a = 1\n}\n");
    let json = run(&fleet, &["plan", "-json", "-parallelism=1"]).json();
    assert_eq!(brief(&json).len(), 4);
    assert_eq!(calls(&fleet), ["network plan", "other plan", "web plan"]);
    run(&fleet, &["plan", "-parallelism=1"]).ok();
    assert_eq!(calls(&fleet).len(), 4, "a run that ended leaves nothing behind");
}

#[test]
fn a_filter_names_stacks_by_what_is_known_of_them() {
    let fleet = fleet();
    fleet.write(
        "fleet.hcl",
        "stacks \"live\" {\n  directories = [\"live/*\"]\n  labels = { env = \"prod\" }\n}\n",
    );
    run(&fleet, &["index"]).ok();
    let json = run(&fleet, &["plan", "-json", "-filter=reads_stack(s, \"live/network\")"]).json();
    assert_eq!(brief(&json), ["live/web unchanged - []"]);
    let ran = run(&fleet, &["plan", "-filter=label(x, \"env\", _)"]);
    assert!(ran.err.contains("has no variable `s`"), "{}", ran.err);
}

#[test]
fn stacks_that_rest_on_each_other_in_a_circle_are_told() {
    let fleet = fleet();
    fleet.write(
        "fleet.hcl",
        "stacks \"a\" {\n  directories = [\"live/base\"]\n  after = [\"live/other\"]\n}\nstacks \"b\" {\n  directories = [\"live/other\"]\n  after = [\"live/base\"]\n}\nstacks \"c\" {\n  directories = [\"live/network\"]\n}\n",
    );
    let ran = run(&fleet, &["plan", "-json"]);
    assert_eq!(ran.code, Some(1));
    let json: Json = serde_json::from_str(&ran.out).expect("JSON");
    let stacks = brief(&json);
    assert!(stacks.contains(&"live/network unchanged - []".to_owned()), "{stacks:?}");
    assert!(
        stacks[0].contains("failed these stacks rest on each other: live/base, live/other"),
        "{stacks:?}"
    );
    assert_eq!(json!(stacks.len()), 3);
}
