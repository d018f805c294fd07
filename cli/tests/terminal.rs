//! The program at a terminal: `script` (of util-linux) lends it one.

#![expect(clippy::print_stderr, reason = "a tool that is missing is told")]

use std::path::Path;
use std::process::{Command, Stdio};

const CONFIG: &str = r#"
resource "terraform_data" "many" {
  count = 4
  input = "same"
}
resource "terraform_data" "one" {
  input = 1
}
"#;

/// What the program prints at a terminal of 24 lines; nothing where there is no `script`.
fn at_a_terminal(folder: &Path, arguments: &str, environment: &[(&str, &str)]) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_entail");
    let mut command = Command::new("script");
    command.args(["-qec", &format!("stty rows 24 cols 120; {program} {arguments}"), "/dev/null"]);
    command.current_dir(folder).stdin(Stdio::null()).env("TF_CLI_CONFIG_FILE", "/dev/null");
    command.env_remove("NO_PAGER").env_remove("PAGER").env_remove("LESS").env("TERM", "xterm");
    command.envs(environment.iter().copied());
    let Ok(output) = command.output() else {
        eprintln!("skipped: script is not installed (Debian: bsdutils)");
        return None;
    };
    Some(String::from_utf8_lossy(&output.stdout).replace('\r', ""))
}

#[test]
fn a_plan_is_read_at_a_terminal_and_paged() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::write(at.join("main.tf"), CONFIG).expect("a file");
    let pager = [("PAGER", "sed s/^/P:/")];
    let Some(text) = at_a_terminal(at, "plan -no-color", &pager) else { return };
    assert!(text.contains("P:  # 4 × the same change: also terraform_data.many[1]"), "{text}");
    let in_full = at_a_terminal(at, "plan -no-color -full", &[("NO_PAGER", "1")]);
    let in_full = in_full.expect("as before");
    assert!(in_full.contains("\n  # terraform_data.many[3] will be created"), "{in_full}");
    assert!(!in_full.contains("P:") && !in_full.contains("the same change"), "{in_full}");

    // A plan that fits the screen needs no pager, and a pager that is none loses nothing.
    let short = at_a_terminal(at, "plan -no-color -only=delete", &pager).expect("as before");
    assert!(short.contains("\n5 more changes are planned and not shown"), "{short}");
    let lost = at_a_terminal(at, "plan -no-color -full", &[("PAGER", "no-such-pager-at-all")]);
    assert!(lost.expect("as before").contains("# terraform_data.one will be created"));

    let compat = at_a_terminal(at, "plan -no-color -compat=opentofu", &[("NO_PAGER", "1")]);
    assert!(!compat.expect("as before").contains("the same change"));

    // While it is asked, nothing is held back.
    let asked = at_a_terminal(at, "apply -no-color", &pager).expect("as before");
    assert!(asked.contains("\n  # 4 × the same change") && !asked.contains("P:"), "{asked}");
}

#[test]
fn what_runs_stands_below_what_is_done() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::write(at.join("main.tf"), CONFIG).expect("a file");
    let Some(text) = at_a_terminal(at, "apply -no-color -auto-approve", &[]) else { return };
    assert!(text.contains("0 done, 0 running, 5 to go"), "{text}");
    assert!(text.contains("terraform_data.one: Creation complete"), "{text}");
    assert!(!text.contains("terraform_data.one: Creating..."), "{text}");

    // The log knows how long each step took.
    let again = "apply -no-color -auto-approve -replace=terraform_data.one";
    let text = at_a_terminal(at, again, &[]).expect("as before");
    assert!(text.contains("0 done, 0 running, 2 to go"), "{text}");

    // Who cannot see a block that changes gets lines.
    for (arguments, environment) in [
        ("-replace=terraform_data.one", ("TERM", "dumb")),
        ("-replace=terraform_data.one -compat=opentofu", ("TERM", "xterm")),
        ("-replace=terraform_data.one", ("TF_IN_AUTOMATION", "1")),
    ] {
        let command = format!("apply -no-color -auto-approve {arguments}");
        let text = at_a_terminal(at, &command, &[environment]).expect("as before");
        assert!(text.contains("terraform_data.one: Creating..."), "{arguments}: {text}");
        assert!(!text.contains("to go"), "{arguments}: {text}");
    }
}
