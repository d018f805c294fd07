//! The program as a process: exit codes, streams, and commands that need nothing but a state.

use std::path::PathBuf;
use std::process::{Command, Output};

const STATE: &str = r#"{
  "version": 4, "terraform_version": "1.12.6", "serial": 3, "lineage": "3fd6e2e1-5d1f-4f0c-8d2a-0a5a8f9f2b11",
  "outputs": {"o": {"value": "x", "type": "string"}},
  "resources": [{
    "mode": "managed", "type": "null_resource", "name": "a", "provider": "provider[\"registry.opentofu.org/hashicorp/null\"]",
    "instances": [{"schema_version": 0, "attributes": {"id": "1", "triggers": null}}]
  }],
  "check_results": null
}"#;

/// A folder of its own for each test, gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, state: Option<&str>) -> Folder {
        let path =
            std::env::temp_dir().join(format!("entail-binary-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the folder can be made");
        if let Some(state) = state {
            std::fs::write(path.join("terraform.tfstate"), state).expect("the folder takes files");
        }
        Folder(path)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
        command
            .args(arguments)
            .current_dir(&self.0)
            .env_clear()
            .output()
            .expect("the program starts")
    }

    /// Exit code, standard output, standard error.
    fn told(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = self.run(arguments);
        let text = |bytes| String::from_utf8(bytes).expect("it is text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

#[test]
fn without_a_command_there_is_help_and_exit_code_127() {
    let (code, out, err) = Folder::new("help", None).told(&[]);
    assert_eq!((code, err.as_str()), (Some(127), ""));
    assert!(out.starts_with("Usage: entail [global options] <subcommand> [args]"), "{out}");
}

#[test]
fn an_unknown_flag_is_an_error_with_a_hint_at_the_help() {
    let (code, out, err) = Folder::new("flag", None).told(&["plan", "-foo"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    let expected = "\nError: Failed to parse command-line flags\n\nflag provided but not defined: -foo\n\n\
                    For more help on using this command, run:\n  entail plan -help\n";
    assert_eq!(err, expected);
}

#[test]
fn flags_that_make_no_sense_together_refer_to_the_help_of_their_command() {
    let folder = Folder::new("misuse", Some(STATE));
    for (arguments, command) in [
        (&["output", "-raw"][..], "output"),
        (&["output", "-raw", "-json", "o"], "output"),
        (&["output", "a", "b"], "output"),
        (&["validate", "a", "b"], "validate"),
    ] {
        let (code, _, err) = folder.told(arguments);
        let hint = format!("For more help on using this command, run:\n  entail {command} -help\n");
        assert!(code == Some(1) && err.ends_with(&hint), "{arguments:?}: {err}");
    }
}

#[test]
fn a_folder_that_is_validated_is_named_in_messages() {
    let folder = Folder::new("validate", None);
    std::fs::create_dir(folder.0.join("sub")).expect("the folder takes folders");
    std::fs::write(folder.0.join("sub/main.tf"), "output \"a\" {\n}\n").expect("it is written");
    let (code, _, err) = folder.told(&["validate", "./sub/"]);
    assert!(code == Some(1) && err.contains("on sub/main.tf line 1"), "{err}");
    let (_, _, err) = folder.told(&["validate", "nope"]);
    assert!(err.contains("Module directory nope does not exist or cannot be read."), "{err}");
}

#[test]
fn the_state_is_listed_changed_and_printed() {
    let folder = Folder::new("state", Some(STATE));
    assert_eq!(folder.told(&["state", "list"]).1, "null_resource.a\n");
    assert_eq!(folder.told(&["output", "-raw", "o"]).1, "x");
    let (code, out, err) = folder.told(&["taint", "null_resource.a"]);
    assert_eq!(
        (code, out.as_str(), err.as_str()),
        (Some(0), "Resource instance null_resource.a has been marked as tainted.\n", "")
    );
    assert_eq!(folder.told(&["state", "mv", "null_resource.a", "null_resource.b"]).0, Some(0));
    assert_eq!(folder.told(&["state", "list", "-id=1"]).1, "null_resource.b\n");
    let (_, pulled, _) = folder.told(&["state", "pull"]);
    let state: serde_json::Value = serde_json::from_str(&pulled).expect("it is JSON");
    assert_eq!((pulled.lines().count(), &state["serial"]), (1, &5.into()));
    assert_eq!(folder.told(&["state", "rm", "null_resource.b"]).0, Some(0));
    assert_eq!(folder.told(&["state", "list"]).1, "");
}

#[test]
fn without_a_state_there_is_nothing_to_list() {
    let folder = Folder::new("none", None);
    let (code, _, err) = folder.told(&["state", "list"]);
    assert!(code == Some(1) && err.contains("Error: No state file was found"), "{err}");
    let (code, out, _) = folder.told(&["output"]);
    assert!(code == Some(0) && out.contains("Warning: No outputs found"), "{out}");
    assert_eq!(folder.told(&["output", "-json"]).1, "{}\n");
    assert_eq!(folder.told(&["show"]).1, "No state.\n");
}

#[test]
fn init_tells_of_modules_each_time_and_get_of_what_it_finds_alone() {
    let folder = Folder::new("modules", None);
    std::fs::create_dir(folder.0.join("m")).expect("a folder");
    std::fs::write(folder.0.join("m/main.tf"), "").expect("written");
    std::fs::write(folder.0.join("main.tf"), "module \"m\" {\n  source = \"./m\"\n}\n")
        .expect("written");
    assert_eq!(folder.told(&["get"]), (Some(0), "- m in m\n".into(), String::new()));
    for _ in 0..2 {
        let (code, out, _) = folder.told(&["init"]);
        assert!(code == Some(0) && out.contains("\nInitializing modules...\n"), "{out}");
    }
}

#[test]
fn another_directory_can_be_named() {
    let folder = Folder::new("chdir", None);
    std::fs::create_dir(folder.0.join("sub")).expect("the folder takes folders");
    std::fs::write(folder.0.join("sub/terraform.tfstate"), STATE).expect("the folder takes files");
    assert_eq!(folder.told(&["-chdir=sub", "state", "list"]).1, "null_resource.a\n");
    let (code, _, err) = folder.told(&["-chdir=nope", "state", "list"]);
    assert!(
        code == Some(1) && err.starts_with("Error handling -chdir option: chdir nope:"),
        "{err}"
    );
}

#[test]
fn commands_on_the_state_find_it_where_the_backend_block_says() {
    let folder = Folder::new("backend", None);
    std::fs::write(
        folder.0.join("main.tf"),
        "terraform {\n  backend \"local\" {\n    path = \"elsewhere.tfstate\"\n  }\n}\n",
    )
    .expect("the folder takes files");
    std::fs::write(folder.0.join("elsewhere.tfstate"), STATE).expect("the folder takes files");
    let (code, _, err) = folder.told(&["state", "list"]);
    assert!(code == Some(1) && err.contains("Backend initialization required"), "{err}");
    assert_eq!(folder.told(&["init"]).0, Some(0));
    assert_eq!(folder.told(&["state", "list"]).1, "null_resource.a\n");
    assert_eq!(folder.told(&["output", "-raw", "o"]).1, "x");
    assert!(folder.told(&["show"]).1.contains("# null_resource.a:"));
}

#[test]
fn no_stream_tells_what_is_sensitive() {
    let folder = Folder::new("secrets", None);
    let config = r#"
variable "it" {
  sensitive = true
  default   = "CANARY"
}
terraform {
  required_providers {
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}
locals {
  decoded = provider::terraform::decode_tfvars("x = ${var.it}")
  each    = [for it in ["${var.it}/99"] : cidrhost(it, 1)]
}
resource "terraform_data" "a" {
  input = { decoded = local.decoded, each = local.each, number = parseint(var.it, 10) }
}
"#;
    std::fs::write(folder.0.join("main.tf"), config).expect("the folder takes files");
    for arguments in
        [&["plan", "-no-color"][..], &["plan", "-json"], &["apply", "-auto-approve", "-json"]]
    {
        let (code, out, err) = folder.told(arguments);
        assert_eq!(code, Some(1), "{arguments:?}: {out}{err}");
        assert!(!format!("{out}{err}").contains("CANARY"), "{arguments:?}: {out}{err}");
        assert!(format!("{out}{err}").contains("it is not told"), "{arguments:?}: {out}{err}");
    }
}

#[test]
fn credentials_of_a_module_source_are_not_shown() {
    let folder = Folder::new("credentials", None);
    let config =
        "module \"a\" {\n  source = \"http://me:CANARY@127.0.0.1:1/a.zip?token=CANARY\"\n}\n";
    std::fs::write(folder.0.join("main.tf"), config).expect("the folder takes files");
    for arguments in [
        &["init", "-no-color"][..],
        &["init", "-json"],
        &["get"],
        &["plan", "-json"],
        &["validate"],
    ] {
        let (code, out, err) = folder.told(arguments);
        assert_eq!(code, Some(1), "{arguments:?}: {out}{err}");
        assert!(!format!("{out}{err}").contains("CANARY"), "{arguments:?}: {out}{err}");
        let is_named = matches!(arguments[0], "init" | "get");
        assert!(!is_named || format!("{out}{err}").contains("a.zip"), "{arguments:?}: {out}{err}");
    }
}

#[test]
#[cfg(unix)]
fn a_fifo_in_the_place_of_a_file_is_not_waited_for() {
    for name in
        ["more.tf", "x.auto.tfvars", "terraform.tfvars", ".terraform.lock.hcl", "terraform.tfstate"]
    {
        let folder = Folder::new(&format!("fifo-{}", name.trim_start_matches('.')), None);
        std::fs::write(folder.0.join("main.tf"), "resource \"terraform_data\" \"a\" {\n}\n")
            .expect("the folder takes files");
        let made = Command::new("mkfifo").arg(folder.0.join(name)).status().expect("it runs");
        assert!(made.success());
        let (code, out, err) = folder.told(&["plan", "-no-color"]);
        let told = format!("{out}{err}").split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code, Some(1), "{name}: {told}");
        assert!(told.contains("it is a pipe, not a regular file"), "{name}: {told}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_want_of_memory_or_stack_is_an_error_and_no_crash() {
    let folder = Folder::new("limits", None);
    std::fs::write(folder.0.join("main.tf"), "resource \"terraform_data\" \"a\" {\n}\n")
        .expect("the folder takes files");
    let limited = |limit: &str| {
        let line = format!("{limit}; exec {} plan -no-color", env!("CARGO_BIN_EXE_entail"));
        let mut shell = Command::new("/bin/sh");
        let output = shell.args(["-c", &line]).current_dir(&folder.0).env_clear().output();
        let output = output.expect("a shell runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // The program itself takes 100 MB of addresses where it is built for tests. With so little nothing can be done; with more it rests on how the allocator divides it, and either is well.
    for (memory, may_do) in
        [("150000", false), ("200000", false), ("700000", true), ("1500000", true)]
    {
        let (code, told) = limited(&format!("ulimit -v {memory}"));
        let is_told = code == Some(1) && told.contains("Error: ");
        assert!(
            is_told || (may_do && code == Some(0) && told.is_empty()),
            "{memory}: {code:?} {told}"
        );
        assert!(!told.contains("panicked"), "{memory}: {told}");
    }
    assert_eq!(limited("ulimit -v unlimited").0, Some(0));
    assert_eq!(limited("ulimit -s 128").0, Some(0));
}

#[test]
fn there_is_a_man_page_for_each_command_and_it_has_the_flags_as_they_are_written() {
    let folder = Folder::new("man", None);
    let (code, out, err) = folder.told(&["man", "share/man1"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let page = |name: &str| {
        std::fs::read_to_string(folder.0.join("share/man1").join(name)).unwrap_or_default()
    };
    let listed = std::fs::read_dir(folder.0.join("share/man1")).expect("it is a folder").count();
    assert!(out.starts_with(&format!("{listed} pages are in ")), "{out}");
    // What the overview lists has a page, and its subcommands have theirs. Programs of others, which may lie beside this one, have none.
    let (_, overview, _) = folder.told(&["-help"]);
    let own = overview.split("Commands of other programs:").next().unwrap_or_default();
    let commands = own.lines().filter_map(|it| it.strip_prefix("  ")?.split(' ').next());
    let commands = commands.filter(|it| !it.is_empty() && !it.starts_with('-'));
    let missing: Vec<_> = commands
        .filter(|it| {
            let name = format!("entail-{it}");
            !page(&format!("{name}.1")).contains(&name.replace('-', "\\-"))
        })
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
    assert!(page("entail-state-list.1").starts_with(".ie"));
    assert!(page("entail-plan.1").contains("\\fB\\-exclude\\fR"), "{}", page("entail-plan.1"));
    assert!(!page("entail-plan.1").contains("\\-\\-"));
    assert_eq!(page("entail-man.1"), "");

    std::fs::write(folder.0.join("taken"), "").expect("the folder takes files");
    let (code, _, err) = folder.told(&["man", "taken", "-no-color"]);
    let told = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(code == Some(1) && told.contains("Man page not written"), "{told}");
}

#[test]
fn each_shell_gets_a_script_that_knows_the_commands() {
    let folder = Folder::new("completion", None);
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let (code, out, err) = folder.told(&["completion", shell]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{shell}");
        match shell {
            // They ask with every Tab: `cli/tests/completion.rs` does as they do.
            "bash" | "fish" | "zsh" => {
                assert!(out.contains(&format!(" __complete {shell} ")), "{out}")
            }
            _ => assert!(out.contains("whatif") && out.contains("force-unlock"), "{shell}"),
        }
    }
}
