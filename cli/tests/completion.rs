//! Completion in the shells themselves, as far as they are installed.

#![expect(clippy::print_stderr, reason = "a shell that is missing is told")]

use std::path::PathBuf;
use std::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_entail");

const STATE: &str = r#"{"version": 4, "serial": 1, "lineage": "l", "resources": [
  {"mode": "managed", "type": "null_resource", "name": "web", "instances": [{"index_key": "a b"}, {"index_key": "c"}]}]}"#;

/// Runs a script in a shell, in a folder with a state; nothing where there is no such shell.
fn run(shell: &str, name: &str, script: &str) -> Option<String> {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("entail-{shell}-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    std::fs::write(folder.join("terraform.tfstate"), STATE).expect("the folder takes files");
    std::fs::write(folder.join("main.tf"), "variable \"size\" {}\n").expect("it takes more");
    let script = script.replace("PROGRAM", PROGRAM);
    let programs = PathBuf::from(PROGRAM);
    let programs = programs.parent().expect("it lies in a folder").display().to_string();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(shell);
    let output = command
        .args(["-c", &script])
        .current_dir(&folder)
        .env("PATH", path)
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .output();
    std::fs::remove_dir_all(&folder).unwrap_or_default();
    let Ok(output) = output else {
        eprintln!("SKIPPED: there is no {shell} here");
        return None;
    };
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What bash is given, as it splits the line.
fn bash(name: &str, line: &str, words: &str) -> Option<String> {
    let script = format!(
        "source <(PROGRAM completion bash)\nCOMP_LINE={line}; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=(PROGRAM {words}); \
         COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _entail; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    run("bash", name, &script)
}

#[test]
fn bash_completes_commands_values_and_addresses() {
    if let Some(told) = bash("commands", "'entail unt'", "unt") {
        assert_eq!(told, "untaint\n");
    }
    if let Some(told) = bash("values", "'entail why -not=cr'", "why -not = cr") {
        assert_eq!(told, "create\n");
    }
    if let Some(told) = bash("addresses", "'entail taint null_resource.web['", "x") {
        assert_eq!(
            told,
            "null_resource.web\\[\\\"a\\ b\\\"\\]\nnull_resource.web\\[\\\"c\\\"\\]\n"
        );
    }
    if let Some(told) = bash("quoted", "'entail taint '\\''null_resource.web'", "taint x") {
        assert_eq!(
            told,
            "null_resource.web\nnull_resource.web[\"a b\"]\nnull_resource.web[\"c\"]\n"
        );
    }
}

#[test]
fn zsh_completes_commands_and_addresses() {
    // What zsh itself brings for completion is stood in for: it takes the words as they are.
    let script = |words: &str, prefix: &str| {
        format!(
            "compdef() {{ : }}\ncompadd() {{ local name=$@[-1]; print -rl -- ${{(P)name}} }}\nsource <(PROGRAM completion zsh)\n\
             words=(PROGRAM {words}); CURRENT=$#words; PREFIX={prefix}; _entail"
        )
    };
    if let Some(told) = run("zsh", "commands", &script("unt", "unt")) {
        assert_eq!(told, "untaint\n");
    }
    if let Some(told) = run("zsh", "addresses", &script("taint x", "'null_resource.web[\"'")) {
        assert_eq!(told, "null_resource.web[\"a b\"]\nnull_resource.web[\"c\"]\n");
    }
}

#[test]
fn fish_completes_commands_values_and_addresses() {
    let script = |line: &str| format!("PROGRAM completion fish | source; complete -C '{line}'");
    if let Some(told) = run("fish", "commands", &script("entail unt")) {
        assert_eq!(told.split('\t').next(), Some("untaint"));
    }
    if let Some(told) = run("fish", "values", &script("entail why -not=cr")) {
        assert_eq!(told.trim(), "-not=create");
    }
    if let Some(told) = run("fish", "addresses", &script("entail taint null_resource.w")) {
        assert_eq!(told.lines().next().map(str::trim), Some("null_resource.web"));
    }
}
