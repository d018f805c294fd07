//! Flags and variables that say how commands speak, and what the state means.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const CONFIG: &str = r#"
resource "null_resource" "a" {}
output "one" { value = 1 }
"#;

const STATE: &str = r#"{
  "version": 4, "terraform_version": "1.5.7", "serial": 1, "lineage": "0b0c9a6e-0f8a-4f6e-9a53-3c2f0f3c1d11", "outputs": {},
  "resources": [{
    "mode": "managed", "type": "null_resource", "name": "a",
    "provider": "provider[\"registry.terraform.io/hashicorp/null\"]",
    "instances": [{"schema_version": 0, "attributes": {"id": "1", "triggers": null}}]
  }], "check_results": null
}"#;

struct Told {
    code: Option<i32>,
    out: String,
    err: String,
}

fn run(folder: &Path, arguments: &[&str], environment: &[(&str, &str)], input: &str) -> Told {
    let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
    let environment: BTreeMap<&str, &str> = environment.iter().copied().collect();
    command.args(arguments).current_dir(folder).env_clear().envs(environment);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(input.as_bytes()).expect("the program reads");
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    let text = |bytes| String::from_utf8(bytes).expect("it is text");
    Told { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn folder(state: Option<&str>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("main.tf"), CONFIG).expect("a file");
    if let Some(state) = state {
        std::fs::write(folder.path().join("terraform.tfstate"), state).expect("a file");
    }
    folder
}

/// The texts of a stream of messages, but for the first, which tells the version.
fn texts(stream: &str) -> Vec<String> {
    let read = |line: &str| -> serde_json::Value { serde_json::from_str(line).expect("a message") };
    let mut messages = stream.lines().map(read);
    assert_eq!(messages.next().expect("a message")["type"], "version");
    messages.map(|it| it["@message"].as_str().expect("a text").to_owned()).collect()
}

#[test]
fn answers_of_the_console_are_messages_in_a_file() {
    let folder = folder(None);
    let told = run(
        folder.path(),
        &["console", "-json-into=told", "-input=false"],
        &[],
        "1 + 1\n\n[\n1]\n",
    );
    assert_eq!((told.code, told.out.as_str()), (Some(0), "2\n\n[\n  1,\n]\n"), "{}", told.err);
    let stream = std::fs::read_to_string(folder.path().join("told")).expect("the file");
    assert_eq!(texts(&stream), ["2", "", "[\n  1,\n]"]);

    let refused = run(folder.path(), &["console", "-json"], &[], "1\n");
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""));
    assert!(refused.err.contains("-json-into=FILE"), "{}", refused.err);
}

#[test]
fn commands_on_locks_and_plugins_speak_to_machines() {
    let folder = folder(Some(STATE));
    let told = run(folder.path(), &["force-unlock", "-json", "-force", "nobody"], &[], "");
    assert_eq!((told.code, told.err.as_str()), (Some(1), ""), "{}", told.out);
    assert!(texts(&told.out)[0].contains("Failed to unlock state"), "{}", told.out);

    std::fs::write(folder.path().join("main.tf"), "resource \"terraform_data\" \"a\" {}\n")
        .expect("a file");
    std::fs::remove_file(folder.path().join("terraform.tfstate")).expect("the state");
    std::fs::create_dir(folder.path().join("there")).expect("a folder");
    let told = run(folder.path(), &["providers", "mirror", "-json", "there"], &[], "");
    let skipped = "Skipping terraform.io/builtin/terraform because it is built in to entail";
    assert_eq!(texts(&told.out), [skipped], "{}", told.err);
    let told = run(folder.path(), &["providers", "lock", "-json-into=told"], &[], "");
    assert!(told.out.contains("Success!"), "{} {}", told.out, told.err);
    let stream = std::fs::read_to_string(folder.path().join("told")).expect("the file");
    let unchanged = "Success! entail has validated the lock file and found no need for changes.";
    assert_eq!(texts(&stream), [unchanged]);
}

#[test]
fn a_state_is_listed_by_its_other_name() {
    let folder = folder(Some(STATE));
    assert_eq!(run(folder.path(), &["state", "ls"], &[], "").out, "null_resource.a\n");
}

#[test]
fn the_providers_of_a_state_can_be_taken_by_their_words() {
    // Its block is gone, so that nothing but the state says whose it is.
    let provider = |environment: &[(&str, &str)]| {
        let folder = folder(Some(STATE));
        std::fs::write(folder.path().join("main.tf"), "").expect("a file");
        let planned = run(folder.path(), &["plan", "-out=p"], environment, "");
        assert_eq!(planned.code, Some(0), "{}", planned.err);
        let shown = run(folder.path(), &["show", "-json", "p"], environment, "").out;
        let shown: serde_json::Value = serde_json::from_str(&shown).expect("a document");
        let name = shown["resource_changes"][0]["provider_name"].as_str();
        name.expect("a name").to_owned()
    };
    assert_eq!(provider(&[]), "registry.opentofu.org/hashicorp/null");
    let as_written = [("OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION", "0")];
    assert_eq!(provider(&as_written), "registry.terraform.io/hashicorp/null");
}

#[test]
fn a_variable_that_has_no_effect_is_told() {
    let folder = folder(None);
    let told = run(folder.path(), &["validate"], &[("TF_WARN_OUTPUT_ERRORS", "1")], "");
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(told.err.contains("TF_WARN_OUTPUT_ERRORS has no effect"), "{}", told.err);
}

#[test]
fn what_a_run_of_a_test_told_with_its_plan_is_not_told_again_when_it_is_carried_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("a file");
    };
    std::fs::create_dir(folder.path().join("m")).expect("a folder");
    write(
        "main.tf",
        "module \"m\" {\n  source = \"./m\"\n}\noutput \"o\" { value = module.m.old }\n",
    );
    write("m/main.tf", "output \"old\" {\n  value      = 1\n  deprecated = \"use new\"\n}\n");
    write("t.tftest.hcl", "run \"a\" {}\n");
    run(folder.path(), &["get"], &[], "");
    let told = run(folder.path(), &["test", "-json"], &[], "");
    assert_eq!(told.code, Some(0), "{}{}", told.out, told.err);
    let warning = "Warning: Value derived from a deprecated source";
    assert_eq!(texts(&told.out).iter().filter(|it| *it == warning).count(), 1, "{}", told.out);
}
