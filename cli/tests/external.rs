//! Commands that are programs of their own: found beside this one or on the path, and listed where they are.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Writes a program that says how it was called.
fn program(folder: &Path, name: &str, mode: u32) {
    let path = folder.join(name);
    let text = format!("#!/bin/sh\necho \"{name} in $(basename \"$PWD\"): $*\"\nexit 3\n");
    std::fs::write(&path, text).expect("it is written");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is set");
}

fn run(entail: &Path, folder: &Path, path: &Path, words: &[&str]) -> Output {
    let path = format!("{}:/usr/bin:/bin", path.display());
    let mut command = Command::new(entail);
    command.args(words).current_dir(folder).env("PATH", path);
    command.output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_program_on_the_path_is_a_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let bin = folder.path().join("bin");
    std::fs::create_dir_all(folder.path().join("inner")).expect("it is made");
    std::fs::create_dir_all(&bin).expect("it is made");
    program(&bin, "entail-hello", 0o755);
    program(&bin, "entail-asleep", 0o644);
    program(&bin, "entail-plan", 0o755);
    let entail = Path::new(env!("CARGO_BIN_EXE_entail"));

    let output =
        run(entail, folder.path(), &bin, &["-chdir=inner", "hello", "-x", "a b", "--", "plan"]);
    assert_eq!(text(&output.stdout), "entail-hello in inner: -x a b -- plan\n");
    assert_eq!(output.status.code(), Some(3), "its exit code is that of the command");

    let asleep = run(entail, folder.path(), &bin, &["asleep"]);
    assert!(text(&asleep.stderr).contains("no command named \"asleep\""), "{asleep:?}");
    let own = run(entail, folder.path(), &bin, &["plan", "-help"]);
    assert!(
        text(&own.stdout).contains("Usage: entail [global options] plan"),
        "its own come first"
    );
    for word in ["../bin/entail-hello", "hello.sh", "plugin"] {
        let output = run(entail, folder.path(), &bin, &[word]);
        assert!(text(&output.stderr).contains("no command named"), "{word}: {output:?}");
    }

    let help = text(&run(entail, folder.path(), &bin, &["-help"]).stdout);
    let listed = help.split("Commands of other programs:\n").nth(1).expect("they are listed");
    assert!(listed.contains("  hello\n") && listed.contains("  plan\n"), "{listed}");
    assert!(!listed.contains("asleep"), "{listed}");
}

#[test]
fn a_program_beside_it_comes_before_one_on_the_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let (own, bin) = (folder.path().join("own"), folder.path().join("bin"));
    for it in [&own, &bin] {
        std::fs::create_dir_all(it).expect("it is made");
    }
    let entail = own.join("entail");
    if std::fs::hard_link(env!("CARGO_BIN_EXE_entail"), &entail).is_err() {
        std::fs::copy(env!("CARGO_BIN_EXE_entail"), &entail).expect("a copy");
    }
    program(&bin, "entail-fleet", 0o755);
    let output = run(&entail, folder.path(), &bin, &["fleet", "list"]);
    assert!(text(&output.stdout).ends_with(": list\n"), "{output:?}");
    std::fs::write(own.join("entail-fleet"), "#!/bin/sh\necho beside: $*\n")
        .expect("it is written");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(own.join("entail-fleet"), mode).expect("it is set");
    let output = run(&entail, folder.path(), &bin, &["fleet", "list", "-json"]);
    assert_eq!(text(&output.stdout), "beside: list -json\n");
    assert!(
        text(&run(&entail, folder.path(), &bin, &["-help"]).stdout)
            .contains("  fleet         Asks, judges and runs many stacks\n")
    );
}
