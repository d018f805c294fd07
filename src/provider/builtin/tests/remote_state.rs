//! `terraform_remote_state`.

use expect_test::expect;
use serde_json::{Value as Json, json};

use super::support::Probe;

const STATE: &str = r#"{
  "version": 4, "terraform_version": "1.12.0", "serial": 1, "lineage": "x", "resources": [],
  "outputs": {
    "a": {"value": 1.5, "type": "number"},
    "list": {"value": ["x"], "type": ["list", "string"], "sensitive": true},
    "none": {"value": null, "type": "dynamic"}
  }
}"#;

fn outputs(files: &[(&str, &str)], config: Json) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, text).expect("a write");
    }
    let answer =
        Probe::within("terraform", folder.path()).read_data("terraform_remote_state", config);
    answer
        .lines()
        .filter(|it| it.starts_with("outputs") || it.starts_with("error"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn outputs_are_read_with_their_types_over_the_defaults() {
    let config = json!({"backend": "local", "config": {"path": "p.json"}, "defaults": {"a": "default", "b": "default"}});
    expect![[r#"outputs = {a = 1.5, b = "default", list = ["x"], none = null}"#]]
        .assert_eq(&outputs(&[("p.json", STATE)], config));
}

#[test]
fn the_file_follows_from_path_and_workspace() {
    let found = |file: &str, config: Json| outputs(&[(file, STATE)], config).starts_with("outputs");
    assert!(found("terraform.tfstate", json!({"backend": "local"})));
    assert!(found("terraform.tfstate", json!({"backend": "local", "workspace": "default"})));
    assert!(found(
        "terraform.tfstate.d/dev/terraform.tfstate",
        json!({"backend": "local", "workspace": "dev"})
    ));
    assert!(found(
        "w/dev/terraform.tfstate",
        json!({"backend": "local", "workspace": "dev", "config": {"workspace_dir": "w", "path": "x"}})
    ));
    assert!(!found("terraform.tfstate", json!({"backend": "local", "workspace": "dev"})));
}

#[test]
fn what_cannot_be_read_says_why() {
    let told = |files: &[(&str, &str)]| {
        let text = outputs(files, json!({"backend": "local"}));
        text.strip_suffix("\nerror: Unable to read remote state")
            .expect("said once more")
            .to_owned()
    };
    let read = |text: &str| told(&[("terraform.tfstate", text)]);
    assert_eq!(read(""), "error: Unable to find remote state (workspace)");
    assert_eq!(told(&[]), "error: Unable to find remote state (workspace)");
    assert_eq!(read("{"), "error: Unsupported state file format");
    assert_eq!(read(r#"{"version": 99}"#), "error: Unsupported state file format");
}

#[test]
fn the_backend_is_checked_when_it_is_known() {
    let check =
        |config: Json| Probe::new("terraform").validate_data("terraform_remote_state", config);
    assert_eq!(check(json!({"backend": "local", "config": {"path": "x"}, "workspace": "?"})), "");
    assert_eq!(check(json!({"backend": "?", "config": {"nonsense": 1}})), "");
    assert_eq!(check(json!({"backend": "local", "config": "?"})), "");
    assert_eq!(
        check(json!({"backend": "nowhere"})),
        "error: Invalid backend configuration (backend)\n"
    );
    assert_eq!(
        check(json!({"backend": "local", "config": {"nonsense": 1}})),
        "error: Invalid backend configuration (config)\n"
    );
    assert_eq!(
        check(json!({"backend": "local", "config": {"path": ["x"]}})),
        "error: Invalid backend configuration (config)\n"
    );
    assert_eq!(
        check(json!({"backend": "local", "config": "text"})),
        "error: Invalid backend configuration (config)\n"
    );
    assert_eq!(
        check(json!({"backend": "local", "defaults": 5})),
        "error: Invalid default values (defaults)\n"
    );
    assert_eq!(
        check(json!({"backend": "local", "config": {"path": ""}})),
        "error: Invalid local state file path (path)\n"
    );
}
