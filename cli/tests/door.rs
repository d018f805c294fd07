//! The door: what the program says of itself, of words that are wrong, and of what is missing.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with a configuration, gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, configuration: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("entail-door-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the folder can be made");
        std::fs::write(path.join("main.tf"), configuration).expect("the folder takes files");
        Folder(path)
    }

    /// Exit code, and all that was said.
    fn told_by(&self, program: &Path, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.0).env_clear();
        let output = command.output().expect("the program starts");
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&said).into_owned())
    }

    fn told(&self, arguments: &[&str]) -> (Option<i32>, String) {
        self.told_by(Path::new(env!("CARGO_BIN_EXE_entail")), arguments)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

/// Runs the program under another name, as one who has linked it.
#[cfg(unix)]
#[test]
fn what_it_says_to_run_has_the_name_it_was_called_by() {
    let folder = Folder::new("name", "module \"m\" {\n  source = \"./m\"\n}\n");
    let name = folder.0.join("tofu");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_entail"), &name).expect("a link");
    let run = |arguments: &[&str]| folder.told_by(&name, arguments).1;
    let version = run(&["version"]);
    assert!(version.starts_with("OpenTofu v1.12.6\non "), "{version}");
    assert!(version.contains("\nby entail v"), "{version}");
    let plan = run(&["plan"]);
    assert!(plan.contains("Run \"tofu init\" to install all modules"), "{plan}");
    assert!(run(&["pln"]).contains("tofu has no command named \"pln\". Did you mean \"plan\"?"));
    assert!(run(&["plan", "-help"]).starts_with("Usage: tofu [global options] plan [options]\n"));
}

/// Other programs look for the sentences that OpenTofu and Terraform begin parts of their output with.
#[cfg(unix)]
#[test]
fn the_name_it_was_called_by_stands_in_its_sentences() {
    let late = "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {\n  for_each = toset([terraform_data.a.id])\n}\n";
    for (program, product) in [("tofu", "OpenTofu"), ("terraform", "Terraform"), ("e", "entail")] {
        let folder = Folder::new(program, "resource \"terraform_data\" \"a\" {}\n");
        let name = folder.0.join(program);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_entail"), &name).expect("a link");
        let run = |arguments: &[&str]| {
            let output = Command::new(&name).args(arguments).current_dir(&folder.0).output();
            let output = output.expect("it runs");
            let text = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let has = |text: String, words: String| assert!(text.contains(&words), "{words:?}: {text}");
        has(run(&["init"]), format!("{product} has been successfully initialized!"));
        let plan = run(&["plan"]);
        has(plan.clone(), format!("{product} will perform the following actions:"));
        has(plan, format!("{product} used the selected providers to generate"));
        std::fs::write(folder.0.join("main.tf"), late).expect("a configuration");
        has(run(&["plan", "-no-color"]), format!("{product} cannot determine the full set of"));
    }
}

#[test]
fn a_plan_shows_every_error_that_validate_does() {
    let wrong =
        "locals {\n  a = nope.b\n}\nresource \"null_resource\" \"a\" {\n  trigers = {}\n}\n";
    let folder = Folder::new("all", wrong);
    for command in ["validate", "plan", "apply"] {
        let (code, err) = folder.told(&[command]);
        assert_eq!(code, Some(1));
        for summary in ["Error: Reference to undeclared resource", "Error: Unsupported argument"] {
            assert_eq!(err.matches(summary).count(), 1, "{command}: {err}");
        }
    }
}

#[test]
fn a_plan_that_is_not_there_is_called_so() {
    let folder = Folder::new("missing", "");
    let said = |arguments: &[&str], words: &str| {
        let (code, err) = folder.told(arguments);
        assert_eq!(code, Some(1), "{err}");
        assert!(err.replace('\n', " ").contains(words), "{err}");
    };
    said(&["apply", "nosuch"], "There is no file \"nosuch\".");
    said(&["apply", "a.b"], "entail apply -target=a.b");
    said(&["show", "nosuch"], "There is no file nosuch.");
    said(&["diff", "a", "nosuch"], "There is no such file.");
}

#[test]
fn a_state_that_cannot_be_read_is_named() {
    let folder = Folder::new("state", "");
    std::fs::write(folder.0.join("terraform.tfstate"), "{").expect("a file");
    for command in [&["plan"][..], &["state", "list"], &["show"]] {
        let (code, err) = folder.told(command);
        assert_eq!(code, Some(1));
        assert!(err.contains("It is the state in terraform.tfstate."), "{err}");
    }
}

#[test]
fn too_many_words_are_answered_with_the_synopsis() {
    let folder = Folder::new("synopsis", "");
    let (_, err) = folder.told(&["state", "mv", "a.b"]);
    let usage = "\nUsage: entail [global options] state mv [options] SOURCE DESTINATION\n";
    assert!(err.contains(usage), "{err}");
    let (_, err) = folder.told(&["plan", "x"]);
    assert!(err.contains("\nUsage: entail [global options] plan [options]\n"), "{err}");
}

#[test]
fn an_approval_that_never_comes_names_the_way_without() {
    let folder = Folder::new("eof", "resource \"terraform_data\" \"a\" {}\n");
    let (code, err) = folder.told(&["apply"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("-auto-approve"), "{err}");
}
