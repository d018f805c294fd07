//! A plugin that tells how it is called: configurations, module metadata, secrets, loans, and its end.

use crate::support::scripted::{HEAD, PROGRAM, Place, at};

#[test]
fn a_provider_is_told_what_the_module_of_an_object_says() {
    let place = Place::new(
        r#"
module "inner" {
  source = "./inner"
}
resource "scripted_thing" "outer" {
  name = "outer"
}
"#,
    );
    place.write(
        "inner/main.tf",
        &HEAD.replace(
            "  required_providers",
            "  provider_meta \"scripted\" {\n    label = \"inner module\"\n  }\n  required_providers",
        ),
    );
    place.write("inner/more.tf", "resource \"scripted_thing\" \"it\" {\n  name = \"it\"\n}\n");
    place.calls(&["get"], "");
    let calls = place.apply("");
    let of = |name: &str, says: &str| {
        for call in ["plan", "apply"] {
            let line = format!("(null): {call} {name}, secret (null), module says {says}");
            at(&calls, &line);
        }
    };
    of("it", "inner module");
    of("outer", "(nothing)");
    let calls = place.calls(&["plan"], "");
    at(&calls, "(null): read it, secret (null), module says inner module");
}

#[test]
fn a_write_only_argument_reaches_the_provider_and_nothing_else() {
    let place = Place::new("resource \"scripted_thing\" \"it\" {\n  secret = \"hush-hush\"\n}\n");
    let calls = place.apply("");
    at(&calls, "(null): plan (null), secret hush-hush, module says (nothing)");
    at(&calls, "(null): apply (null), secret hush-hush, module says (nothing)");
    let state = std::fs::read_to_string(place.path().join("terraform.tfstate")).expect("a state");
    assert!(!state.contains("hush"), "{state}");
    place.calls(&["plan", "-out=saved"], "");
    let (shown, ..) = place.run(&["show", "saved"], "");
    assert!(shown.contains("No changes") && !shown.contains("hush"), "{shown}");
}

#[test]
fn what_is_lent_is_renewed_while_it_is_used_and_closed_then() {
    let place = Place::new(
        "ephemeral \"scripted_loan\" \"it\" {}\nresource \"scripted_thing\" \"it\" {\n  secret = ephemeral.scripted_loan.it.value\n}\n",
    );
    let calls = place.apply("apply=slow:600");
    let renewed = at(&calls, "renewed after first");
    let applied = at(&calls, "(null): apply (null), secret lent, module says (nothing)");
    let closed = calls.iter().rposition(|it| it == "closed after second").expect("it is closed");
    assert!(renewed < applied && applied < closed, "{}", calls.join("\n"));
    assert_eq!(calls.iter().filter(|it| *it == "opened").count(), 2, "{}", calls.join("\n"));
}

#[test]
fn each_provider_instance_has_a_process_with_its_own_arguments_which_ends_after_its_last_step() {
    let place = Place::new(
        r#"
provider "scripted" {
  alias    = "by_name"
  for_each = { short = "s", long = "l" }
  name     = "${each.key} is ${each.value}"
}
resource "scripted_thing" "first" {
  provider = scripted.by_name["short"]
  name     = "first"
}
resource "scripted_thing" "second" {
  provider = scripted.by_name["long"]
  name     = "${scripted_thing.first.made_by}, second"
}
"#,
    );
    let calls = place.apply("");
    let second =
        at(&calls, "long is l: apply short is s, second, secret (null), module says (nothing)");
    // The end of the first is told while the second is still at work, or right after it.
    let end = at(&calls, "short is s ends");
    let other = at(&calls, "long is l ends");
    let first = at(&calls, "short is s: apply first, secret (null), module says (nothing)");
    assert!(first < end && second < other, "{}", calls.join("\n"));
}

/// A place whose first resource is served by one configuration; another one is there for the `rest`.
fn two_configurations(rest: &str) -> Place {
    let first = r#"
provider "scripted" {
  alias = "other"
  name  = "other"
}
resource "scripted_thing" "first" {
  name = "first"
}
"#;
    Place::new(&format!("{first}{rest}"))
}

#[test]
fn a_process_ends_before_the_steps_of_others_do() {
    let place = two_configurations(
        r#"
resource "scripted_thing" "second" {
  provider = scripted.other
  name     = scripted_thing.first.made_by
}
resource "scripted_thing" "third" {
  provider = scripted.other
  name     = "after ${scripted_thing.second.made_by}"
}
"#,
    );
    let calls = place.apply("apply=slow:300");
    let end = at(&calls, "(null) ends");
    let last = at(&calls, "other: apply after other, secret (null), module says (nothing)");
    assert!(end < last, "{}", calls.join("\n"));
}

#[test]
fn in_a_plan_a_process_ends_after_the_last_decision_that_needs_it() {
    let place = two_configurations(
        r#"
resource "scripted_thing" "second" {
  provider = scripted.other
  name     = "after ${scripted_thing.first.made_by}"
}
"#,
    );
    let first = "(null): plan first, secret (null), module says (nothing)";
    let second = "other: plan (unknown), secret (null), module says (nothing)";
    let calls = place.calls(&["plan"], "plan=slow:300");
    let (first, end, second) = (at(&calls, first), at(&calls, "(null) ends"), at(&calls, second));
    assert!(first < end && end < second, "{}", calls.join("\n"));
    assert!(second < at(&calls, "other ends"), "{}", calls.join("\n"));
}

#[test]
fn a_process_whose_plan_is_carried_out_is_kept_for_that() {
    let place = Place::new("resource \"scripted_thing\" \"it\" {}\n");
    let ends = |calls: Vec<String>| calls.iter().filter(|it| it.ends_with(" ends")).count();
    assert_eq!(ends(place.apply("")), 1);
    assert_eq!(ends(place.calls(&["destroy", "-auto-approve"], "")), 1);
}

#[test]
fn arguments_that_were_not_known_are_given_again_when_the_plan_is_carried_out() {
    let place = Place::new(
        r#"
resource "terraform_data" "name" {
  input = "from afar"
}
provider "scripted" {
  name = terraform_data.name.output
}
resource "scripted_thing" "it" {}
"#,
    );
    let calls = place.apply("");
    assert!(at(&calls, "(unknown) is configured") < at(&calls, "from afar is configured"));
    at(&calls, "from afar: apply (null), secret (null), module says (nothing)");
}

#[test]
fn what_a_provider_of_the_old_type_system_makes_of_ignored_arguments_is_ignored() {
    let block = |name: &str, ignored: &str| {
        format!("{HEAD}resource \"scripted_thing\" \"it\" {{\n  name = {name:?}\n{ignored}\n}}\n")
    };
    let place = Place::new("");
    place.write("main.tf", &block("hashed", ""));
    place.apply("");
    for ignored in ["[name]", "all"] {
        let ignored = format!("  lifecycle {{\n    ignore_changes = {ignored}\n  }}");
        place.write("main.tf", &block("other, hashed", &ignored));
        let (text, success, _) = place.run(&["plan", "-detailed-exitcode"], "");
        assert!(success, "{text}");
    }
    place.write("main.tf", &block("other, hashed", ""));
    let (text, _, _) = place.run(&["plan"], "");
    assert!(text.contains("other, hashed once more hashed"), "{text}");
}

#[test]
fn what_was_changed_outside_is_told() {
    let place = Place::new(
        r#"
resource "scripted_thing" "it" {
  name = "restless"
}
resource "scripted_thing" "calm" {
}
"#,
    );
    place.apply("");
    let (text, success, _) = place.run(&["plan", "-refresh-only"], "");
    assert!(success, "{text}");
    assert!(text.contains("scripted_thing.it has changed"), "{text}");
    assert!(text.contains("somebody else"), "{text}");
    assert!(!text.contains("scripted_thing.calm has changed"), "{text}");
}

#[test]
fn a_plugin_that_is_not_what_was_locked_is_not_started() {
    let place = Place::installed("resource \"scripted_thing\" \"it\" {}\n");
    assert!(!place.calls(&["plan", "-out=saved"], "").is_empty());
    let package = format!(
        ".terraform/providers/example.com/test/scripted/1.0.0/{}/{PROGRAM}",
        entail::install::Platform::current()
    );
    let program = place.path().join(package);
    let text = std::fs::read_to_string(&program).expect("the plugin");
    std::fs::write(&program, text + "# and something else\n").expect("it is written");
    for arguments in [&["plan"][..], &["apply", "-auto-approve"], &["apply", "saved"]] {
        let (text, success, calls) = place.run(arguments, "");
        assert!(!success && calls.is_empty(), "{calls:?}\n{text}");
        let plain = text.replace('\n', " ");
        assert!(plain.contains("does not match any of the checksums recorded"), "{text}");
    }
}

#[test]
fn a_saved_plan_is_not_applied_with_other_locks() {
    let place = Place::installed("resource \"scripted_thing\" \"it\" {}\n");
    place.calls(&["plan", "-out=saved"], "");
    let lock = place.path().join(".terraform.lock.hcl");
    let text = std::fs::read_to_string(&lock).expect("a lock file");
    let other = format!("{}=", "A".repeat(43));
    let more = text.replace("hashes = [", &format!("hashes = [\n    \"h1:{other}\","));
    std::fs::write(&lock, more).expect("it is written");
    let (said, success, calls) = place.run(&["apply", "saved"], "");
    assert!(!success && calls.is_empty(), "{calls:?}\n{said}");
    assert!(said.contains("Error: Inconsistent dependency lock file"), "{said}");
    std::fs::write(&lock, text).expect("it is written");
    assert!(!place.calls(&["apply", "saved"], "").is_empty());
}

#[test]
fn problems_of_several_objects_are_told_in_the_order_of_the_objects_whoever_answers_first() {
    let place = Place::new("resource \"scripted_thing\" \"it\" {\n  count = 12\n}\n");
    let (said, success, _) = place.run(&["plan"], "plan=problem");
    let told = said.lines().filter_map(|it| it.trim().strip_prefix("with scripted_thing.it["));
    let keys: Vec<&str> = told.filter_map(|it| it.split_once(']')).map(|it| it.0).collect();
    let expected: Vec<String> = (0..12).map(|it| it.to_string()).collect();
    assert!(!success && keys == expected, "{keys:?}\n{said}");
}

#[test]
fn no_secret_stands_in_logs_output_or_the_text_of_a_crash() {
    let config = r#"
variable "secret" {
  default   = "hush-hush"
  sensitive = true
}
provider "scripted" {
  name = var.secret
}
resource "scripted_thing" "it" {
  name   = var.secret
  secret = var.secret
}
"#;
    for (faults, expected) in [("", true), ("plan=crash-before", false), ("apply=status", false)] {
        let place = Place::new(config);
        let log = place.path().join("log");
        let output = place
            .command(&["apply", "-auto-approve"], faults)
            .env("TF_LOG", "trace")
            .env("TF_LOG_PATH", &log)
            .output()
            .expect("the binary runs");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let logged = std::fs::read_to_string(&log).unwrap_or_default();
        assert_eq!(output.status.success(), expected, "{said}");
        assert!(!said.contains("hush") && !logged.contains("hush"), "{said}\n{logged}");
    }
}

const OBJECT: &str = "resource \"scripted_thing\" \"a\" {\n}\n";

#[test]
fn what_is_started_is_what_was_checked_though_it_is_swapped_meanwhile() {
    // The first start puts another program in its own place, as an attacker would between check and start.
    let swap = format!(
        "if [ -e armed ]; then\n  rm armed\n  find -L .terraform/providers -name {PROGRAM} | while read it; do\n    printf '#!/bin/sh\\ntouch evil\\n' > \"$it.new\" && chmod +x \"$it.new\" && mv \"$it.new\" \"$it\"\n  done\n  touch swapped\nfi"
    );
    let place = Place::installed_with(OBJECT, &swap);
    place.write("armed", "");
    let (text, ..) = place.run(&["plan"], "");
    assert!(!place.path().join("armed").exists(), "it was not started: {text}");
    let (later, success, _) = place.run(&["plan"], "");
    assert!(!success && later.contains("of the checksums recorded"), "{later}");
    assert!(!place.path().join("evil").exists(), "{text}");
}

#[test]
fn a_lock_entry_without_a_usable_checksum_runs_nothing() {
    let place = Place::installed_with(OBJECT, "touch started");
    let lock = place.path().join(".terraform.lock.hcl");
    let text = std::fs::read_to_string(&lock).expect("a lock file");
    let (before, _) = text.split_once("  hashes").expect("it has checksums");
    for hashes in ["", "  hashes = [\"h9:abc=\"]\n", "  hashes = [\"zh:00\"]\n"] {
        std::fs::write(&lock, format!("{before}{hashes}}}\n")).expect("it is written");
        let _ = std::fs::remove_file(place.path().join("started"));
        let (text, success, _) = place.run(&["plan"], "");
        assert!(!success && text.contains("no checksum of"), "{hashes}: {text}");
        assert!(!place.path().join("started").exists(), "{hashes}: {text}");
    }
}

#[test]
fn a_plugin_sees_no_credentials_of_registries_and_nothing_that_steers_the_program() {
    let place = Place::installed_with(OBJECT, "env > environment");
    let output = place
        .command(&["plan"], "")
        .env("TF_TOKEN_example_com", "CANARY")
        .env("ENTAIL_SELF_CHECK", "1")
        .env("ENTAIL_PLUGIN_CACHE", "off")
        .env("AWS_REGION", "kept")
        .output()
        .expect("the binary runs");
    let seen = std::fs::read_to_string(place.path().join("environment")).expect("it was started");
    let foreign = ["CANARY", "ENTAIL_SELF_CHECK", "ENTAIL_PLUGIN_CACHE"];
    assert!(!foreign.iter().any(|it| seen.contains(it)), "{seen}");
    assert!(seen.contains("AWS_REGION=kept"), "{seen}\n{output:?}");
}
