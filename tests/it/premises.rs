//! No provider is called before its configuration is settled, and what is gone is destroyed where it exists.

use std::process::Output;

use serde_json::{Value as Json, json};

use crate::support::scripted::{Place, at};

/// A provider that another object configures, and an object of it.
const CLUSTER: &str = r#"
variable "version_of" {
  default = "1"
}
resource "terraform_data" "network" {
  input = "cluster ${var.version_of}"
}
resource "terraform_data" "cluster" {
  input = terraform_data.network.output
}
provider "scripted" {
  name = terraform_data.cluster.output
}
resource "scripted_thing" "stays" {
  name = "stays"
}
"#;

const GONE: &str = r#"
resource "scripted_thing" "gone" {
  name = "gone"
}
"#;

/// A folder in which a configuration was applied, before a part of it was taken out.
fn applied(config: &str, part: &str) -> Place {
    let place = Place::new(&format!("{config}{part}"));
    place.apply("");
    place.rewrite(config);
    place
}

/// What the plugin was asked about objects, without its configurations and its end.
fn asked(calls: &[String]) -> Vec<&str> {
    let said =
        calls.iter().filter_map(|it| it.strip_suffix(", secret (null), module says (nothing)"));
    let mut said: Vec<&str> = said.collect();
    said.sort_unstable();
    said
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[test]
fn a_gone_object_is_read_once_its_provider_is_configured() {
    let place = applied(CLUSTER, GONE);
    let plan = ["cluster 1: plan stays", "cluster 1: read gone", "cluster 1: read stays"];
    assert_eq!(asked(&place.calls(&["plan"], "")), plan);
    for command in [&["plan", "-refresh-only"][..], &["plan", "-target=scripted_thing.gone"]] {
        let calls = place.calls(command, "");
        assert!(asked(&calls).contains(&"cluster 1: read gone"), "{}", calls.join("\n"));
    }
    let calls = place.apply("");
    at(&calls, "cluster 1: destroy gone, secret (nothing), module says (nothing)");
    let (listed, ..) = place.run(&["state", "list"], "");
    assert!(listed.contains("scripted_thing.stays") && !listed.contains("gone"), "{listed}");
}

#[test]
fn what_is_gone_with_its_whole_provider_block_use_is_destroyed() {
    let without = CLUSTER.split("resource \"scripted_thing\"").next().expect("a beginning");
    let place = applied(without, GONE);
    let (plan, ..) = place.run(&["plan"], "");
    assert!(plan.contains("1 to destroy"), "{plan}");
    let calls = place.calls(&["destroy", "-auto-approve"], "");
    at(&calls, "cluster 1: destroy gone, secret (nothing), module says (nothing)");
}

#[test]
fn nothing_is_refreshed_through_a_provider_whose_configuration_is_not_known() {
    let place = applied(CLUSTER, GONE);
    let calls = place.calls(&["plan", "-var=version_of=2", "-out=saved"], "");
    assert_eq!(asked(&calls), ["(unknown): plan stays"]);
    let (why, ..) = place.run(&["why", "-plan=saved", "scripted_thing.gone"], "");
    let sentence = "scripted_thing.gone is not refreshed and keeps its recorded state";
    assert!(why.contains(sentence), "{why}");
    // What exists is destroyed where it exists, with the configuration from before.
    let calls = place.calls(&["apply", "saved"], "");
    let gone = at(&calls, "cluster 1: destroy gone, secret (nothing), module says (nothing)");
    assert!(calls[..gone].iter().any(|it| it == "cluster 1 is configured"), "{}", calls.join("\n"));
    let (listed, ..) = place.run(&["state", "list"], "");
    assert!(listed.contains("scripted_thing.stays") && !listed.contains("gone"), "{listed}");
}

/// What configured the provider is out of the state and is made again: there is no former configuration to destroy with.
#[test]
fn a_gone_object_waits_for_what_its_provider_is_made_from_again() {
    let place = applied(CLUSTER, GONE);
    let removed = ["state", "rm", "terraform_data.network", "terraform_data.cluster"];
    place.calls(&removed, "");
    let calls = place.calls(&["apply", "-auto-approve"], "");
    at(&calls, "cluster 1: destroy gone, secret (nothing), module says (nothing)");
}

#[test]
fn an_import_waits_until_the_configuration_is_known() {
    let place = applied(CLUSTER, "");
    place.rewrite(&format!(
        "{CLUSTER}{GONE}import {{\n  to = scripted_thing.gone\n  id = \"gone\"\n}}\n"
    ));
    let output = place.command(&["plan", "-var=version_of=2"], "").output().expect("it runs");
    let told = text(&output);
    assert!(!output.status.success() && told.contains("Invalid provider configuration"), "{told}");
}

#[test]
fn a_forgotten_object_asks_no_provider() {
    let place = applied(CLUSTER, GONE);
    let removed =
        "removed {\n  from = scripted_thing.gone\n  lifecycle {\n    destroy = false\n  }\n}\n";
    place.rewrite(&format!("{CLUSTER}{removed}"));
    let calls = place.apply("");
    assert!(!asked(&calls).iter().any(|it| it.contains("gone")), "{}", calls.join("\n"));
    let (listed, ..) = place.run(&["state", "list"], "");
    assert!(!listed.contains("scripted_thing.gone"), "{listed}");
}

#[test]
fn a_destroy_run_opens_what_a_provider_is_configured_with() {
    let config = r#"
ephemeral "scripted_loan" "token" {}
provider "scripted" {
  alias = "with_token"
  name  = ephemeral.scripted_loan.token.value
}
resource "scripted_thing" "it" {
  provider = scripted.with_token
  name     = "it"
}
"#;
    for flags in [&["destroy", "-auto-approve"][..], &["apply", "saved"]] {
        let place = Place::new(config);
        place.apply("");
        place.calls(&["plan", "-destroy", "-out=saved", "-target=scripted_thing.it"], "");
        let calls = place.calls(flags, "");
        at(&calls, "lent: destroy it, secret (nothing), module says (nothing)");
        let (listed, ..) = place.run(&["state", "list"], "");
        assert!(!listed.contains("scripted_thing"), "{listed}");
    }
}

#[test]
fn a_token_that_reads_an_object_is_open_while_that_object_is_destroyed_last() {
    let config = r#"
resource "terraform_data" "account" {
  input = "account"
}
ephemeral "scripted_loan" "token" {
  depends_on = [terraform_data.account]
}
provider "scripted" {
  alias = "with_token"
  name  = ephemeral.scripted_loan.token.value
}
resource "scripted_thing" "it" {
  provider = scripted.with_token
  name     = "it"
  lifecycle {
    create_before_destroy = true
  }
}
"#;
    let place = Place::new(config);
    let calls = place.apply("");
    at(&calls, "lent: apply it, secret (null), module says (nothing)");
    let calls = place.calls(&["destroy", "-auto-approve"], "");
    at(&calls, "lent: destroy it, secret (nothing), module says (nothing)");
    let (listed, ..) = place.run(&["state", "list"], "");
    assert_eq!(listed, "");
}

#[test]
fn a_token_that_the_state_names_is_no_object_that_is_destroyed_last() {
    let token = "ephemeral \"scripted_loan\" \"token\" {}\nprovider \"scripted\" {\n  alias = \"with_token\"\n  name  = ephemeral.scripted_loan.token.value\n}\n";
    let thing = |key: &str, name: &str| {
        format!(
            "resource \"terraform_data\" \"{key}\" {{}}\nresource \"scripted_thing\" \"it\" {{\n  provider   = scripted.with_token\n  name       = \"{name}\"\n  depends_on = [terraform_data.{key}]\n}}\n"
        )
    };
    let place = Place::new(&format!("{token}{}", thing("first", "one")));
    place.apply("");
    let file = place.path().join("terraform.tfstate");
    let state = std::fs::read_to_string(&file).expect("a state");
    let mut state: Json = serde_json::from_str(&state).expect("JSON");
    // As OpenTofu writes it: without our own record, and with the ephemeral resource.
    let object = state.as_object_mut().expect("an object");
    object.remove("entail");
    let resources = object["resources"].as_array_mut().expect("a list");
    let thing_in_state = resources.iter_mut().find(|it| it["type"] == "scripted_thing");
    let instance = &mut thing_in_state.expect("the object")["instances"][0];
    instance["dependencies"] = json!(["ephemeral.scripted_loan.token", "terraform_data.first"]);
    std::fs::write(&file, state.to_string()).expect("it is written");
    place.rewrite(&format!("{token}{}", thing("second", "two")));
    let calls = place.apply("");
    at(&calls, "lent: apply two, secret (null), module says (nothing)");
}

#[test]
fn a_token_that_reads_what_changes_is_opened_as_before_for_what_is_destroyed() {
    let config = r#"
variable "version_of" {
  default = "1"
}
variable "length" {
  default = 8
}
resource "terraform_data" "account" {
  input            = var.length
  triggers_replace = var.version_of
}
ephemeral "random_password" "token" {
  length = terraform_data.account.output
}
provider "scripted" {
  name = "account ${length(ephemeral.random_password.token.result)}"
}
resource "scripted_thing" "stays" {
  name = "stays"
}
"#;
    for changed in ["version_of=2", "length=9"] {
        let place = applied(config, GONE);
        let calls = place.calls(&["apply", "-auto-approve", &format!("-var={changed}")], "");
        at(&calls, "account 8: destroy gone, secret (nothing), module says (nothing)");
        let (listed, ..) = place.run(&["state", "list"], "");
        assert!(listed.contains("scripted_thing.stays") && !listed.contains("gone"), "{listed}");
    }
}

/// A provider is configured by data that reads what changes. Until the data is read again its recorded result holds, so
/// that what is gone is destroyed where it exists: in a destroy run, and after an apply that failed before the read.
#[test]
fn data_that_is_not_read_again_configures_as_before() {
    let config = r#"
variable "version_of" {
  default = "1"
}
resource "terraform_data" "cluster" {
  input            = "cluster"
  triggers_replace = var.version_of
  provisioner "local-exec" {
    command = "test ! -e broken"
  }
}
data "local_file" "name" {
  filename = terraform_data.cluster.output
}
provider "scripted" {
  name = data.local_file.name.content
}
resource "scripted_thing" "stays" {
  name = "stays"
}
"#;
    let place = Place::new(&format!("{config}{GONE}"));
    place.write("cluster", "first");
    place.apply("");
    let destroy = ["destroy", "-auto-approve", "-var=version_of=2", "-target=scripted_thing.stays"];
    at(&place.calls(&destroy, ""), "first: destroy stays, secret (nothing), module says (nothing)");

    place.write("broken", "");
    let (told, succeeded, _) = place.run(&["apply", "-auto-approve", "-var=version_of=2"], "");
    assert!(!succeeded && told.contains("provisioner"), "{told}");
    std::fs::remove_file(place.path().join("broken")).expect("it is there");
    place.rewrite(config);
    let calls = place.calls(&["apply", "-auto-approve", "-var=version_of=2"], "");
    at(&calls, "first: destroy gone, secret (nothing), module says (nothing)");
}

/// Each premise of a provider call is missed: without it the plan is an error, and nothing is done.
#[test]
#[cfg(debug_assertions)]
fn no_call_is_made_without_its_premises() {
    let premises = [
        ("configuration_settled", "was called before its configuration was settled"),
        ("provider_unknown", "was asked what exists, and its configuration is not known"),
    ];
    for (premise, fault) in premises {
        let place = applied(CLUSTER, GONE);
        let mut plan = place.command(&["plan", "-var=version_of=2"], "");
        let output = plan.env("ENTAIL_WITHOUT", premise).output().expect("the binary runs");
        let told = text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!output.status.success() && told.contains(fault), "without {premise}: {told}");
    }
}
