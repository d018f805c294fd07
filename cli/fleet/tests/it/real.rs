//! `fleet plan` and `fleet apply` with the real program, where it was built beside this one.
#![cfg(unix)]

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::support::Fleet;

const SETTINGS: &str =
    "stacks \"live\" {\n  directories = [\"live/*\"]\n  variables   = { size = \"3\" }\n}\n";

/// Returns the program `entail` beside `entail-fleet`.
pub fn program() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_BIN_EXE_entail-fleet"));
    let program = own.with_file_name("entail");
    if !program.is_file() {
        writeln!(
            std::io::stderr(),
            "SKIPPED: there is no {}; cargo build -p entail-cli makes it",
            program.display()
        )
        .unwrap_or_default();
        return None;
    }
    Some(program)
}

fn fleet(program: &Path) -> Fleet {
    let fleet = Fleet::new(SETTINGS);
    fleet.write(
        "live/base/main.tf",
        "variable \"size\" {}\nresource \"terraform_data\" \"net\" {\n  input = \"size-${var.size}\"\n}\noutput \"net\" {\n  value = terraform_data.net.output\n}\noutput \"id\" {\n  value = terraform_data.net.id\n}\n",
    );
    fleet.write(
        "live/web/main.tf",
        r#"variable "size" {}
data "terraform_remote_state" "base" {
  backend = "local"
  config  = { path = "../base/terraform.tfstate" }
}
resource "terraform_data" "web" {
  input = [data.terraform_remote_state.base.outputs.net, data.terraform_remote_state.base.outputs.id, var.size]
}
"#,
    );
    for stack in ["base", "web"] {
        let output = std::process::Command::new(program)
            .args(["init", "-input=false", "-no-color"])
            .current_dir(fleet.path(&format!("live/{stack}")))
            .env("TF_CLI_CONFIG_FILE", "/dev/null")
            .output()
            .expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    fleet
}

fn statuses(json: &Json) -> Vec<String> {
    let stacks = json["stacks"].as_array().expect("stacks");
    stacks.iter().map(|it| format!("{} {}", it["stack"], it["status"])).collect()
}

#[test]
fn real_stacks_are_applied_one_after_the_other_and_then_asked() {
    let Some(program) = program() else { return };
    let fleet = fleet(&program);
    let variables = [("TF_CLI_CONFIG_FILE", "/dev/null")];
    let run = |words: &[&str]| fleet.run_with(words, &variables);
    let changed = [r#""live/base" "changed""#, r#""live/web" "changed""#];
    let json = run(&["apply", "-auto-approve", "-json"]).json();
    assert_eq!(statuses(&json), changed, "{json}");
    let json = run(&["plan", "-json"]).json();
    assert_eq!(
        statuses(&json),
        [r#""live/base" "unchanged""#, r#""live/web" "unchanged""#],
        "{json}"
    );
    run(&["index", "-strict"]).ok();
    let asked = |body: &str| run(&["query", "-json", body]).json()["rows"].clone();
    assert_eq!(asked("reads_stack(s, t)"), json!([["live/web", "live/base"]]));
    assert_eq!(
        asked("existing(n, \"terraform_data\"), n.input[_] == \"size-3\""),
        json!([["terraform_data.web@live/web"]])
    );
    let impact = run(&["impact", "-json", "terraform_data.net@live/base"]).json();
    assert!(impact.to_string().contains("terraform_data.web@live/web"), "{impact}");

    // A stack that cannot be planned is told in the words of the program.
    let text = std::fs::read_to_string(fleet.path("live/base/main.tf")).expect("it is there");
    fleet.write("live/base/main.tf", &text.replace("var.size}", "var.nothing}"));
    let ran = run(&["plan", "-json"]);
    assert_eq!(ran.code, Some(1));
    let json: Json = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(statuses(&json), [r#""live/base" "failed""#, r#""live/web" "skipped""#]);
    let because = json["stacks"][0]["because"].as_str().expect("a reason");
    assert!(because.contains("undeclared input variable"), "{because}");
}
