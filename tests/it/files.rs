//! Attacks on files, through the program: nothing overwritten, nothing written outside, nothing lost, and no success where output was.

use std::io::{BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::process::Stdio;

use ed25519_dalek::pkcs8::EncodePrivateKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use pretty_assertions::assert_eq;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::interrupt::{SLOW, interrupted, read_until};
use crate::support::binary;
use crate::support::place::Place;

const ONE: &str = "resource \"terraform_data\" \"a\" {\n}\n";

/// Runs a line of the shell, in which `$E` is the program; its output and exit code.
fn shell(place: &Place, line: &str) -> (String, Option<i32>) {
    let mut process = binary::process("/bin/sh", place.path());
    let output = process.args(["-c", line]).env("E", binary::path()).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (text + &String::from_utf8_lossy(&output.stderr), output.status.code())
}

#[test]
fn a_plan_goes_where_its_name_leads() {
    let place = Place::new(ONE);
    let (text, code) = shell(&place, "$E plan -out=/dev/stdout | cat");
    assert!(code == Some(0) && text.contains("PK\u{3}\u{4}"), "{text}");
    shell(&place, "$E plan -out=/dev/fd/3 3>third >/dev/null && $E show third");
    assert!(std::fs::symlink_metadata("/dev/stdout").expect("it is there").is_symlink());
    assert_eq!(
        shell(&place, "mkfifo pipe; cat pipe >through & $E plan -out=pipe; wait").1,
        Some(0)
    );
    let kind = std::fs::symlink_metadata(place.path().join("pipe")).expect("it is there");
    assert!(kind.file_type().is_fifo());
    place.succeed(&["show", "through"]);
    for name in ["third", "through"] {
        std::fs::remove_file(place.path().join(name)).expect("it is there");
    }
    // Through a redirected output, too, nothing gets another file's name.
    shell(&place, "$E plan -out=/dev/stdout >redirected; echo more >>redirected");
    let bytes = std::fs::read(place.path().join("redirected")).expect("it is read");
    assert!(bytes.windows(4).any(|it| it == b"PK\x03\x04") && bytes.ends_with(b"more\n"));
    assert_eq!(place.hidden(), [""; 0]);
    place.succeed(&["plan", "-out=saved"]);
    let mode = std::fs::metadata(place.path().join("saved")).expect("it is there").permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
}

#[test]
fn looking_at_a_strangers_plan_writes_nothing() {
    let place = Place::new(ONE);
    place.succeed(&["plan", "-out=saved"]);
    let bytes = std::fs::read(place.path().join("saved")).expect("it is read");
    let outside = tempfile::tempdir().expect("a folder");
    let target = outside.path().join("written");
    for name in [format!("tfconfig/{}", target.display()), "tfconfig/../../../written".into()] {
        let mut zip = ZipWriter::new_append(std::io::Cursor::new(bytes.clone())).expect("a plan");
        zip.start_file(name.as_str(), SimpleFileOptions::default()).expect("an entry");
        zip.write_all(b"locals {}\n").expect("it is written");
        let bytes = zip.finish().expect("it is written").into_inner();
        std::fs::write(place.path().join("strange"), bytes).expect("it is written");
        for line in ["show strange", "show -json strange", "why -plan=strange terraform_data.a"] {
            let scratch = tempfile::tempdir().expect("a folder");
            let words: Vec<&str> = line.split(' ').collect();
            let mut command = place.command(&words);
            command.env("TMPDIR", scratch.path()).output().expect("it runs");
            assert_eq!(std::fs::read_dir(scratch.path()).expect("it is read").count(), 0, "{line}");
        }
        assert!(!target.exists());
    }
    let (text, code) = place.run(&["apply", "strange"]);
    assert_eq!(code, Some(0), "a name above the root is that of a module: {text}");
    assert_eq!(std::fs::read_dir(outside.path()).expect("it is read").count(), 0);
}

#[test]
fn only_signed_plans_are_applied_where_that_is_wanted() {
    let place = Place::new(ONE);
    for (name, byte) in [("mine", 1), ("other", 2)] {
        let key = ed25519_dalek::SigningKey::from_bytes(&[byte; 32]);
        place.write(name, &key.to_pkcs8_pem(LineEnding::LF).expect("a key"));
    }
    assert!(place.run(&["plan", "-sign=mine"]).0.contains("Nothing to sign"));
    place.succeed(&["plan", "-out=plain"]);
    place.succeed(&["plan", "-out=signed", "-sign=mine"]);
    place.succeed(&["show", "signed"]);
    for (arguments, wanted) in [
        (&["apply", "-require-signed=mine", "plain"][..], "It has no signature"),
        (&["apply", "-require-signed=other", "signed"], "It is signed by the key SHA256:"),
        (&["apply", "-require-signed", "signed"], "ENTAIL_TRUSTED_KEYS"),
        (&["apply", "-require-signed=mine", "-auto-approve"], "applies saved plans only"),
        (&["apply", "-require-signed=main.tf", "signed"], "holds no key in PEM"),
    ] {
        let (text, code) = place.run(arguments);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(code == Some(1) && text.contains(wanted), "{arguments:?}: {text}");
        assert!(!place.path().join("terraform.tfstate").exists());
    }
    let mut command = place.command(&["apply", "-require-signed", "signed"]);
    let trusted = command.env("ENTAIL_TRUSTED_KEYS", "mine").output().expect("it runs");
    assert!(trusted.status.success());
}

#[test]
fn a_run_that_reads_its_own_state_keeps_its_lock() {
    let config = format!("{}{ONE}", SLOW.replace("DURATION", "4s"))
        + "data \"local_file\" \"own\" {\n  filename = \"terraform.tfstate\"\n}\n\
           resource \"terraform_data\" \"reads\" {\n  input = [length(file(\"terraform.tfstate\")), length(data.local_file.own.content)]\n}\n";
    let place = Place::new(ONE);
    place.succeed(&["apply", "-auto-approve"]);
    place.write("main.tf", &config);
    let mut child = place.start(&["apply", "-auto-approve"]);
    let mut reader = BufReader::new(child.stdout.take().expect("it is piped"));
    read_until(&mut reader, "time_sleep.slow: Creating");
    for other in [&["apply", "-auto-approve"][..], &["state", "rm", "terraform_data.a"]] {
        let (text, code) = place.run(other);
        assert!(code == Some(1) && text.contains("Error acquiring the state lock"), "{text}");
    }
    // Nor does a run without a lock take up the journal of one that lives.
    let (text, code) = place.run(&["state", "rm", "-lock=false", "terraform_data.a"]);
    assert!(code == Some(1) && text.contains("Another run is changing this state"), "{text}");
    reader.read_to_string(&mut String::new()).expect("it is read");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_eq!(place.succeed(&["state", "list"]).lines().count(), 6);
    assert_eq!(place.hidden(), [""; 0]);
}

#[test]
fn a_state_that_somebody_else_has_written_meanwhile_stays_and_so_does_this_runs() {
    let place = Place::new(ONE);
    place.succeed(&["apply", "-auto-approve"]);
    let text = std::fs::read_to_string(place.path().join("terraform.tfstate")).expect("it is read");
    let theirs = text.replace("\"serial\": 1", "\"serial\": 8");
    place.write("theirs", &theirs);
    place.write(
        "main.tf",
        &format!("{ONE}resource \"terraform_data\" \"b\" {{\n  provisioner \"local-exec\" {{\n    command = \"cat theirs > terraform.tfstate\"\n  }}\n}}\n"),
    );
    for name in ["errored.tfstate", "errored-2.tfstate"] {
        let (said, code) = place.run(&["apply", "-auto-approve"]);
        assert_eq!(code, Some(1), "{said}");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("It holds serial 8 of lineage") && said.contains(name), "{said}");
        let now = std::fs::read_to_string(place.path().join("terraform.tfstate"));
        assert_eq!(now.expect("it is read"), theirs);
        let own = std::fs::read_to_string(place.path().join(name)).expect("it is kept");
        assert!(own.contains("\"name\": \"b\""), "{own}");
        let mode = std::fs::metadata(place.path().join(name)).expect("it is there").permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
        assert_eq!(place.hidden(), [""; 0]);
        place.write("terraform.tfstate", &text);
    }
    place.succeed(&["state", "push", "-force", "errored.tfstate"]);
    assert_eq!(place.succeed(&["state", "list"]).lines().count(), 2);
}

#[test]
fn of_two_runs_without_locks_one_is_refused_before_it_begins() {
    let place = Place::new(&SLOW.replace("DURATION", "3s"));
    let mut child = place.start(&["apply", "-auto-approve", "-lock=false"]);
    let mut reader = BufReader::new(child.stdout.take().expect("it is piped"));
    read_until(&mut reader, "time_sleep.slow: Creating");
    for flags in [&["apply", "-auto-approve", "-lock=false"][..], &["apply", "-auto-approve"]] {
        let (text, code) = place.run(flags);
        assert!(code == Some(1) && text.contains("Another run is changing this state"), "{text}");
        assert!(!text.contains("Creating..."), "{text}");
    }
    reader.read_to_string(&mut String::new()).expect("it is read");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_eq!(place.succeed(&["state", "list"]).lines().count(), 3);
}

#[test]
fn output_that_could_not_be_written_is_no_success() {
    let place = Place::new(
        "resource \"terraform_data\" \"a\" {\n  count = 300\n}\noutput \"o\" {\n  value = [for it in range(1000) : format(\"%0400d\", it)]\n}\n",
    );
    place.succeed(&["apply", "-auto-approve"]);
    place.succeed(&["plan", "-out=saved"]);
    for line in [
        "state pull",
        "state list",
        "show -json",
        "show saved",
        "output -json",
        "output",
        "plan",
        "plan -detailed-exitcode",
        "plan -json",
        "validate -json",
        "fmt -check=false -",
        "graph",
        "version",
        "-help",
        "workspace list",
    ] {
        let (text, code) = shell(&place, &format!("echo 'a = 1' | $E {line} >/dev/full"));
        assert_eq!(code, Some(1), "{line}: {text}");
        // Whoever does not want the rest need not be told, and is not taken for having got all.
        let (text, _) = shell(
            &place,
            &format!(
                "{{ echo 'a = 1' | $E {line}; echo $? >code; }} | exec true; sleep 0.1; cat code"
            ),
        );
        assert!(!text.contains("panicked"), "{line}: {text}");
    }
    let (text, _) =
        shell(&place, "{ $E output -json; echo $? >code; } | head -c 10 >/dev/null; cat code");
    assert!(text.ends_with("1\n"), "{text}");
    assert_eq!(shell(&place, "$E output -json >/dev/full").0.matches("No space left").count(), 1);
}

#[test]
fn signals_that_mean_nothing_here_change_nothing() {
    let place = Place::new(&SLOW.replace("DURATION", "1s"));
    let signals = [("time_sleep.slow: Creating", "USR1"), ("Creati", "USR2")];
    let (text, code) = interrupted(&place, &["apply", "-auto-approve"], &signals);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(place.succeed(&["state", "list"]).lines().count(), 3);
}

#[test]
fn a_workspace_that_cannot_be_filled_is_not_made() {
    let place = Place::new(ONE);
    place.write("none", "{}");
    for file in ["missing", "none", "main.tf"] {
        let (text, code) = place.run(&["workspace", "new", &format!("-state={file}"), "x"]);
        assert_eq!(code, Some(1), "{file}: {text}");
        assert_eq!(place.succeed(&["workspace", "list"]).trim(), "* default", "{file}");
    }
}

#[test]
fn workspaces_stay_inside() {
    let place = Place::new(ONE);
    for name in ["..", ".", "a/b", "../x"] {
        for command in ["new", "select", "delete"] {
            let (text, code) = place.run(&["workspace", command, name]);
            assert_eq!(code, Some(1), "{command} {name}: {text}");
        }
        std::fs::create_dir_all(place.path().join(".terraform")).expect("a folder");
        place.write(".terraform/environment", name);
        for line in ["workspace show", "plan", "apply -auto-approve", "state list", "show"] {
            let words: Vec<&str> = line.split(' ').collect();
            let (text, code) = place.run(&words);
            assert!(code == Some(1) && text.contains("Invalid workspace name"), "{line}: {text}");
        }
        std::fs::remove_file(place.path().join(".terraform/environment")).expect("it is there");
        let mut command = place.command(&["plan"]);
        let output = command.env("TF_WORKSPACE", name).stdout(Stdio::null()).output();
        assert_eq!(output.expect("it runs").status.code(), Some(1));
    }
    let entries = std::fs::read_dir(place.path()).expect("it is read").flatten();
    let mut names: Vec<_> = entries.map(|it| it.file_name()).collect();
    names.sort();
    assert_eq!(names, [".terraform", "main.tf"]);
}

#[test]
fn what_may_hold_secrets_is_for_its_owner_alone() {
    let place = Place::new("resource \"terraform_data\" \"a\" {}\noutput \"o\" { value = 1 }\n");
    let run = |words: &str| {
        let arguments: Vec<&str> = words.split(' ').collect();
        let mut command = place.command(&arguments);
        command.env("TF_LOG", "trace").env("TF_LOG_PATH", "log.txt");
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    };
    run("plan -out=saved -json-into=plan.json -junit=plan.xml -markdown=plan.md");
    run("show -html=plan.html saved");
    run("apply -json-into=apply.json saved");
    run("show -html=state.html");
    run("log -html=runs.html");
    run("output -json-into=output.json");
    let mode = |name: &str| {
        std::fs::metadata(place.path().join(name)).expect(name).permissions().mode() & 0o777
    };
    for name in [
        "saved",
        "plan.json",
        "plan.xml",
        "plan.md",
        "plan.html",
        "apply.json",
        "state.html",
        "runs.html",
        "output.json",
        "log.txt",
        "terraform.tfstate",
        "terraform.tfstate.log",
    ] {
        assert_eq!(format!("{:o}", mode(name)), "600", "{name}");
    }
    // A file that is there keeps the mode that it was given.
    let given = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(place.path().join("state.html"), given).expect("it is set");
    run("show -html=state.html");
    assert_eq!(mode("state.html"), 0o640);
}
