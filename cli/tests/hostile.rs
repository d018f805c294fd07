//! Text of strangers never steers the terminal: every command is run over names and values that try to.

#![expect(clippy::print_stderr, reason = "the test names a tool that is missing")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use entail::world::terminal::is_hidden;

/// A title, a colour of its own, a C1 sequence, a turned text, a carriage return, and invisible characters.
const EVIL: &str = "\u{1b}]0;PWNED\u{7}\u{1b}[8m\u{9b}31m\u{202e}txt\u{2066}\u{200b}\u{feff}\u{ad}\u{e0041}\rX\u{8}";

/// The same, as the language escapes it.
fn escaped() -> String {
    EVIL.chars().map(|it| format!("\\U{:08x}", u32::from(it))).collect()
}

/// What a folder holds that can be planned and applied.
fn valid() -> Vec<(String, String)> {
    let (raw, escaped) = (EVIL.replace('\r', ""), escaped());
    let main = format!(
        r#"# {raw}
variable "told" {{
  description = "{escaped}"
  default     = "{escaped}"
}}
variable "asked" {{
  type        = string
  description = "a{escaped}b"
}}
locals {{
  evil = "a\n{escaped}\nb"
  idle = "{raw}"
}}
resource "terraform_data" "one" {{
  input = local.evil
  triggers_replace = <<-EOT
    {raw}
    second
  EOT
  provisioner "local-exec" {{
    command = "printf '%s\\n' \"$EVIL\""
    environment = {{ EVIL = "{escaped}" }}
  }}
}}
resource "terraform_data" "each" {{
  for_each = toset(["{escaped}", "plain"])
  input    = {{ "{escaped}" = each.key, list = ["{escaped}", var.asked] }}
}}
module "m" {{
  source = "./m"
  given  = "{escaped}"
}}
output "evil" {{
  description = "{escaped}"
  value       = "{escaped}"
}}
output "many" {{
  value = {{ "{escaped}" = "x\n{escaped}" }}
}}
output "hidden" {{
  value     = "{escaped}"
  sensitive = true
}}
check "c" {{
  assert {{
    condition     = var.told == "nothing"
    error_message = "It is {escaped}."
  }}
}}
"#
    );
    let module = "variable \"given\" {}\nresource \"terraform_data\" \"in\" {\n  input = var.given\n}\noutput \"out\" {\n  value = terraform_data.in.output\n}\n";
    let rules = format!(
        "// @rule own.evil: {raw}\n// @severity high\n// @help {raw}\ndeny(b, \"{raw} {{b}}\") <-- resource(b, \"terraform_data\");\n"
    );
    let tests = format!(
        "run \"one\" {{\n  command = plan\n  variables {{\n    asked = \"{escaped}\"\n  }}\n  assert {{\n    condition     = output.evil == \"x\"\n    error_message = \"{escaped}\"\n  }}\n}}\n"
    );
    [
        ("main.tf", main),
        ("m/main.tf", module.into()),
        ("policies/p.rules", rules),
        ("tests/t.tftest.hcl", tests),
        ("ugly.tf", format!("locals {{\n   ugly={{x=\"{raw}\"}}\n}}\n")),
    ]
    .map(|it| (it.0.to_owned(), it.1))
    .into()
}

fn folder(files: &[(String, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    folder
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
    command.current_dir(folder).env_clear().env("HOME", folder.join(".home"));
    command.env("PATH", std::env::var("PATH").unwrap_or_default());
    command.env("TF_CLI_CONFIG_FILE", "/dev/null");
    command
}

/// A command that asks for the value of a variable, which no other is to do.
const ASKING: &[&str] = &["plan", "-no-color"];

/// Runs a command on pipes, and returns what it printed: both streams, each of which is clean.
#[track_caller]
fn run(folder: &Path, arguments: &[&str], input: &str) -> String {
    let mut command = command(folder);
    if arguments != ASKING {
        command.env("TF_VAR_asked", EVIL);
    }
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    // Who asks nothing may have ended.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("the program ends");
    let mut all = String::new();
    for stream in [output.stdout, output.stderr] {
        let text = String::from_utf8(stream).expect("it is text");
        assert_clean(&text, arguments);
        all.push_str(&text);
    }
    assert!(!all.contains("panicked"), "{arguments:?}: {all}");
    all
}

#[track_caller]
fn assert_clean(text: &str, of: &[&str]) {
    // Tables of commas end their lines as RFC 4180 says.
    let line = text.lines().find(|it| it.contains(is_hidden));
    assert!(line.is_none(), "{of:?} prints {:?}", line.unwrap_or_default());
}

#[test]
fn no_command_passes_on_what_steers_a_terminal() {
    let folder = folder(&valid());
    let at = folder.path();
    let plain = |arguments: &[&str]| run(at, arguments, "");
    plain(&["init"]);
    let planned = plain(&["plan", "-no-color", "-out=p.tfplan"]);
    assert!(planned.contains("␛]0;PWNED␇␛[8m\\u{9b}31m\\u{202e}txt"), "{planned}");
    // A prompt is shown with the description of the variable.
    let asked = run(at, ASKING, "x\n");
    assert!(asked.contains("var.asked\n  a␛]0;PWNED␇"), "{asked}");
    for arguments in [
        "init",
        "get",
        "validate",
        "validate -json",
        "version -json",
        "plan -json",
        "show p.tfplan",
        "show -json p.tfplan",
        "show -markdown p.tfplan",
        "show -page p.tfplan",
        "plan -markdown",
        "plan -compact-warnings",
        "plan -full",
        "policy check",
        "policy check -json",
        "policy check -sarif",
        "policy check -junit",
        "policy check -markdown",
        "policy list",
        "policy list -json",
        "policy lint",
        "policy lint -json",
        "policy docs",
        "policy docs own.evil",
        "policy test",
        "policy test -json",
        "policy fmt -diff -check",
        "apply p.tfplan",
        "apply -auto-approve -json",
        "apply -auto-approve -replace=terraform_data.one",
        "output",
        "output -json",
        "output evil",
        "output many",
        "show",
        "show -json",
        "state list",
        "state show terraform_data.one",
        "state show module.m.terraform_data.in",
        "state pull",
        "graph",
        "graph -json",
        "graph -svg",
        "graph -instances",
        "providers",
        "providers -json",
        "fmt -diff -check",
        "why terraform_data.one",
        "why -json terraform_data.one",
        "why -not=create terraform_data.one",
        "why -policy=own.evil terraform_data.one",
        "facts",
        "facts -json",
        "facts resource",
        "unused",
        "unused -json",
        "log",
        "log -json",
        "log 1",
        "diff p.tfplan p.tfplan",
        "impact terraform_data.one",
        "impact -json terraform_data.one",
        "query resource(n,t)",
        "query -json resource(n,t)",
        "query -csv resource(n,t)",
        "test",
        "test -json",
        "workspace list",
        "taint terraform_data.one",
        "untaint terraform_data.one",
        "refresh",
        "refresh -json",
        "whatif -input=false",
        "minimal",
        "destroy -auto-approve",
    ] {
        let words: Vec<&str> = arguments.split(' ').collect();
        let told = plain(&words);
        if words.contains(&"-json") {
            let document: Result<serde_json::Value, _> = serde_json::from_str(&told);
            let are_lines =
                || told.lines().all(|it| serde_json::from_str::<serde_json::Value>(it).is_ok());
            assert!(document.is_ok() || are_lines(), "{words:?} prints no JSON: {told}");
        }
    }
}

#[test]
fn words_of_the_command_line_are_not_passed_on() {
    let folder = folder(&valid());
    for arguments in [
        vec![EVIL],
        vec!["-chdir", EVIL],
        vec!["plan", EVIL],
        vec!["plan", "-what=\u{1b}]0;x\u{7}"],
        vec!["plan", "-target=\u{1b}]0;x\u{7}"],
        vec!["show", EVIL],
        vec!["state", "show", EVIL],
        vec!["state", "mv", EVIL, "terraform_data.b"],
        vec!["state", "rm", EVIL],
        vec!["taint", EVIL],
        vec!["import", "terraform_data.n", EVIL],
        vec!["workspace", "new", EVIL],
        vec!["workspace", "select", EVIL],
        vec!["force-unlock", "-force", EVIL],
        vec!["output", EVIL],
        vec!["why", EVIL],
        vec!["query", EVIL],
        vec!["facts", EVIL],
        vec!["impact", EVIL],
        vec!["fmt", EVIL],
        vec!["login", EVIL],
        vec!["logout", EVIL],
        vec!["completion", EVIL],
        vec!["policy", "docs", EVIL],
        vec!["init", "-from-module", EVIL],
        vec!["providers", "mirror", EVIL],
    ] {
        run(folder.path(), &arguments, "");
    }
    let evil = format!("\"a{}b\"\n{EVIL}\n", escaped());
    run(folder.path(), &["console"], &evil);
}

#[test]
fn problems_in_what_cannot_be_read_are_clean() {
    let raw = EVIL.replace('\r', "");
    for (name, text) in [
        ("label", format!("module \"a{raw}\" {{\n  source = \"./x\"\n}}\n")),
        (
            "source",
            format!("module \"m\" {{\n  source = \"http://127.0.0.1:1/{}\"\n}}\n", escaped()),
        ),
        ("block", format!("resource \"a\" \"{raw}\" {{ x = nope.{raw} }}\n")),
        ("syntax", format!("locals {{\n  a = \"{raw}\n  b = {raw}\n}}\n")),
        ("reference", format!("output \"o\" {{\n  value = missing.thing # {EVIL}\n}}\n")),
        (
            "provider",
            format!(
                "terraform {{\n  required_providers {{\n    x = {{ source = \"{raw}/y\" }}\n  }}\n}}\n"
            ),
        ),
        ("version", format!("terraform {{\n  required_version = \"{}\"\n}}\n", escaped())),
        ("backend", format!("terraform {{\n  backend \"{raw}\" {{}}\n}}\n")),
        (
            "condition",
            format!(
                "variable \"v\" {{\n  default = \"x\"\n  validation {{\n    condition     = false\n    error_message = \"{}\"\n  }}\n}}\n",
                escaped()
            ),
        ),
    ] {
        let folder = folder(&[("main.tf".to_owned(), text)]);
        for arguments in [
            &["init"][..],
            &["validate"],
            &["validate", "-json"],
            &["plan"],
            &["plan", "-json"],
            &["fmt", "-diff", "-check"],
        ] {
            let mut with_place = vec!["-chdir=."];
            with_place.extend(arguments);
            let told = run(folder.path(), &with_place, "");
            assert!(!told.contains('\u{1b}'), "{name}: {told}");
        }
    }
}

#[test]
fn what_another_program_asks_for_is_exact() {
    let folder = folder(&[(
        "main.tf".to_owned(),
        format!("output \"evil\" {{\n  value = \"{}\"\n}}\n", escaped()),
    )]);
    let at = folder.path();
    run(at, &["apply", "-auto-approve"], "");
    let raw = command(at).args(["output", "-raw", "evil"]).output().expect("it runs");
    assert_eq!(String::from_utf8(raw.stdout).expect("it is text"), EVIL);
    let json = run(at, &["output", "-json", "evil"], "");
    assert_eq!(serde_json::from_str::<String>(&json).expect("it is JSON"), EVIL);
    let ugly = format!("a=\"{}\"\n", EVIL.replace('\r', ""));
    let mut child = command(at)
        .args(["fmt", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    child.stdin.take().expect("a pipe").write_all(ugly.as_bytes()).expect("it reads");
    let formatted = child.wait_with_output().expect("it ends").stdout;
    assert_eq!(String::from_utf8(formatted).expect("it is text"), ugly.replace('=', " = "));
}

/// At a terminal, the only escape sequences are those of this program's own styling.
#[test]
fn at_a_terminal_only_our_own_styling_works() {
    let folder = folder(&valid());
    let program = env!("CARGO_BIN_EXE_entail");
    let (mut styled, name) = (0, "script");
    for arguments in [
        "plan",
        "validate",
        "policy check",
        "apply -auto-approve",
        "output",
        "output -raw evil",
        "show",
        "state pull",
    ] {
        let mut terminal = Command::new(name);
        terminal.args([
            "-qec",
            &format!("stty rows 24 cols 120 -opost; {program} {arguments}"),
            "/dev/null",
        ]);
        terminal
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .env("TERM", "xterm")
            .env("NO_PAGER", "1");
        terminal
            .env("TF_CLI_CONFIG_FILE", "/dev/null")
            .env("TF_VAR_asked", EVIL)
            .env_remove("NO_COLOR");
        let Ok(output) = terminal.output() else {
            eprintln!("SKIPPED: script is not installed (Debian: bsdutils)");
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (rest, count) = without_styles(&text);
        styled += count;
        // The block of what runs is drawn over: it moves the cursor and erases lines.
        let rest = ["\u{1b}[2K", "\u{1b}[1A", "\u{1b}[1B", "\u{1b}[0J", "\r"]
            .iter()
            .fold(rest, |rest, it| rest.replace(it, ""));
        assert_clean(&rest, &[arguments]);
        assert!(!text.contains("\u{1b}[8m") && !text.contains("\u{1b}]0"), "{arguments}: {text:?}");
    }
    assert!(styled > 20, "there is styling: {styled}");
}

/// Takes out the styles that this program has, and counts them.
fn without_styles(text: &str) -> (String, usize) {
    let mut pieces = text.split("\u{1b}[");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    let mut count = 0;
    for piece in pieces {
        let codes = piece.split_once('m').filter(|it| {
            it.0.split(';').all(|it| ["0", "1", "4", "31", "32", "33", "36", "90"].contains(&it))
        });
        match codes {
            Some((_, rest)) => {
                count += 1;
                out.push_str(rest);
            }
            None => {
                out.push_str("\u{1b}[");
                out.push_str(piece);
            }
        }
    }
    (out, count)
}
