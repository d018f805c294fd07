//! Encryption through whole configurations: nothing that is written tells what it holds, and what is written can be read again.

#![expect(clippy::print_stderr, reason = "a test that is left out says so")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use expect_test::expect;
use serde_json::Value;

use crate::support::binary;
use crate::support::place::Place;

/// What must stand in no file.
const CANARY: &str = "canary-of-the-state";

const MAIN: &str = "variable \"v\" { default = \"canary-of-the-state\" }
resource \"terraform_data\" \"a\" { input = var.v }
output \"v\" { value = terraform_data.a.output }
";

fn passphrase(name: &str, text: &str) -> String {
    format!(
        "key_provider \"pbkdf2\" {name:?} {{\n  passphrase = {text:?}\n  iterations = 200000\n}}\n"
    )
}

fn method(name: &str, key: &str) -> String {
    format!("method \"aes_gcm\" {name:?} {{\n  keys = key_provider.{key}\n}}\n")
}

fn target(name: &str, methods: &[&str]) -> String {
    let mut text = String::new();
    for method in methods.iter().rev() {
        let inner =
            if text.is_empty() { String::new() } else { format!("fallback {{\n{text}}}\n") };
        text = format!("method = method.{method}\n{inner}");
    }
    format!("{name} {{\n{text}}}\n")
}

fn block(parts: &[String]) -> String {
    format!("terraform {{\nencryption {{\n{}}}\n}}\n", parts.concat())
}

const PLAIN: &str = "method \"unencrypted\" \"u\" {}\n";

fn usual() -> Vec<String> {
    vec![
        passphrase("k", "correct horse battery"),
        method("m", "pbkdf2.k"),
        target("state", &["aes_gcm.m"]),
        target("plan", &["aes_gcm.m"]),
    ]
}

/// A folder with a configuration and its encryption, initialised.
fn place(parts: &[String]) -> Place {
    let place = Place::new(MAIN);
    place.write("encryption.tf", &block(parts));
    place.succeed(&["init"]);
    place
}

/// The files in a folder that tell what must not be told.
fn telling(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap_or_default();
            let tells = bytes.windows(CANARY.len()).any(|it| it == CANARY.as_bytes());
            if tells && path.extension().is_none_or(|it| it != "tf") {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

fn is_sealed(place: &Place, file: &str) -> bool {
    let document: Value = serde_json::from_str(&place.text(file)).unwrap_or_default();
    document["encryption_version"] == "v0"
}

#[test]
fn nothing_that_is_written_tells_what_it_holds() {
    let place = place(&usual());
    // While a provisioner runs, the journal lies beside the state; what it copies is looked at as well.
    place.add(
        "resource \"terraform_data\" \"b\" {
  input      = var.v
  depends_on = [terraform_data.a]
  provisioner \"local-exec\" {
    working_dir = abspath(path.root)
    command     = \"for i in $(seq 250); do journal=$(find . -name '*.journal' -size +0); [ -n \\\"$journal\\\" ] && break; sleep 0.02; done; cp $journal seen\"
  }
}
",
    );
    place.succeed(&["apply", "-auto-approve"]);
    assert!(place.text("seen").lines().count() > 1, "{}", place.text("seen"));
    place.succeed(&["plan", "-out=plan", "-var=v=canary-of-the-state-2"]);
    assert!(is_sealed(&place, "plan") && is_sealed(&place, "terraform.tfstate"));
    assert!(place.succeed(&["show", "plan"]).contains(CANARY));
    assert!(place.succeed(&["why", "-plan=plan", "terraform_data.a"]).contains(CANARY));
    place.succeed(&["apply", "plan"]);
    assert!(is_sealed(&place, "terraform.tfstate.backup"));
    place.succeed(&["workspace", "new", "other"]);
    place.succeed(&["apply", "-auto-approve"]);
    assert_eq!(telling(place.path()), Vec::<String>::new());

    assert_eq!(place.succeed(&["output", "-raw", "v"]), CANARY);
    assert!(place.succeed(&["log", "-last"]).contains("terraform_data.b"));
    let pulled = place.succeed(&["state", "pull"]);
    assert!(pulled.contains(CANARY) && pulled.contains("\"serial\""));
    // What was pulled, and what a failed run leaves sealed, can both be pushed.
    place.write("pulled", &pulled);
    place.succeed(&["state", "push", "pulled"]);
    let sealed = place.text("terraform.tfstate.d/other/terraform.tfstate");
    place.write("errored.tfstate", &sealed);
    place.succeed(&["state", "push", "errored.tfstate"]);
    assert_eq!(place.succeed(&["output", "-raw", "v"]), CANARY);
}

#[test]
fn a_plan_warns_of_what_is_not_sealed_and_an_apply_does_not() {
    const WARNED: &str = "Unencrypted method configured";
    let place = place(&[PLAIN.into(), target("state", &["unencrypted.u"])]);
    for words in [&["plan"][..], &["plan", "-out=p"]] {
        assert!(place.succeed(words).contains(WARNED), "{words:?}");
    }
    for words in [&["apply", "p"][..], &["apply", "-auto-approve"], &["destroy", "-auto-approve"]] {
        let told = place.succeed(words);
        assert!(!told.contains(WARNED), "{words:?}: {told}");
    }
}

#[test]
fn what_is_sealed_otherwise_is_sealed_anew() {
    let place = Place::new(MAIN);
    place.succeed(&["init"]);
    place.succeed(&["apply", "-auto-approve"]);
    let key = |name: &str, text: &str| {
        vec![passphrase(name, text), method(name, &format!("pbkdf2.{name}"))]
    };
    let seal = |parts: Vec<Vec<String>>| {
        place.write("encryption.tf", &block(&parts.concat()));
        let (told, code) = place.run(&["apply", "-auto-approve"]);
        (code == Some(0), is_sealed(&place, "terraform.tfstate"), told)
    };
    let one = || key("one", "correct horse battery");
    let two = || key("two", "another staple of mine");
    let plain = || vec![PLAIN.to_owned()];
    let state = |methods: &[&str]| vec![target("state", methods)];

    let refused = seal(vec![one(), state(&["aes_gcm.one"])]);
    assert!(!refused.0 && !refused.1, "{}", refused.2);
    assert!(refused.2.contains("without unencrypted method configured"), "{}", refused.2);

    let into = seal(vec![one(), plain(), state(&["aes_gcm.one", "unencrypted.u"])]);
    assert!(into.0 && into.1, "{}", into.2);
    let rolled = seal(vec![one(), two(), state(&["aes_gcm.two", "aes_gcm.one"])]);
    assert!(rolled.0 && rolled.1, "{}", rolled.2);
    let alone = seal(vec![two(), state(&["aes_gcm.two"])]);
    assert!(alone.0 && alone.1, "{}", alone.2);
    let wrong = seal(vec![key("two", "some other passphrase"), state(&["aes_gcm.two"])]);
    assert!(!wrong.0 && wrong.1, "{}", wrong.2);
    assert!(wrong.2.contains("decryption failed for all provided methods"), "{}", wrong.2);
    let out = seal(vec![two(), plain(), state(&["unencrypted.u", "aes_gcm.two"])]);
    assert!(out.0 && !out.1, "{}", out.2);
}

#[test]
fn a_sealed_state_that_is_cut_off_is_told_and_left_as_it_is() {
    let place = place(&usual());
    place.succeed(&["apply", "-auto-approve"]);
    let path = place.path().join("terraform.tfstate");
    let whole = std::fs::read(&path).expect("a state");
    for (length, word) in
        [(whole.len() / 2, "cut off or damaged"), (whole.len() - 2, "cut off or damaged")]
    {
        std::fs::write(&path, &whole[..length]).expect("a file");
        for words in [&["plan"][..], &["apply", "-auto-approve"], &["state", "list"]] {
            let (told, code) = place.run(words);
            assert_eq!(code, Some(1), "{words:?}: {told}");
            let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.contains(word) && !told.contains(CANARY), "{words:?}: {told}");
        }
        assert_eq!(std::fs::read(&path).expect("a state"), &whole[..length]);
    }
}

#[test]
fn settings_that_make_no_sense_are_told_before_anything_is_read() {
    let short = || passphrase("k", "short");
    let key = || passphrase("k", "correct horse battery");
    let aes = || method("m", "pbkdf2.k");
    let state = || target("state", &["aes_gcm.m"]);
    let chained = |name: &str, other: &str| {
        format!("key_provider \"pbkdf2\" {name:?} {{\n  chain = key_provider.pbkdf2.{other}\n}}\n")
    };
    let cases: [(&str, Vec<String>); 12] = [
        ("short", vec![short(), aes(), state()]),
        ("no key", vec![aes(), state()]),
        ("no method", vec![key(), state()]),
        ("no target's method", vec![key(), aes(), "state {}\n".into()]),
        ("twice", vec![key(), key(), aes(), state()]),
        ("unknown key provider", vec!["key_provider \"x\" \"k\" {}\n".into(), method("m", "x.k"), state()]),
        ("unknown method", vec!["method \"x\" \"m\" {}\n".into(), target("state", &["x.m"])]),
        ("circle", vec![chained("k", "l"), chained("l", "k"), aes(), state()]),
        ("unknown argument", vec![key(), "method \"aes_gcm\" \"m\" {\n  keys = key_provider.pbkdf2.k\n  x = 1\n}\n".into(), state()]),
        ("known later", vec!["key_provider \"pbkdf2\" \"k\" {\n  passphrase = terraform_data.a.id\n}\n".into(), aes(), state()]),
        ("key length", vec!["key_provider \"pbkdf2\" \"k\" {\n  passphrase = \"correct horse battery\"\n  key_length = 20\n}\n".into(), aes(), state()]),
        ("enforced", vec![PLAIN.into(), "state {\n  method = method.unencrypted.u\n  enforced = true\n}\n".into()]),
    ];
    let mut told = String::new();
    for (name, parts) in cases {
        let place = Place::new(MAIN);
        place.write("encryption.tf", &block(&parts));
        let (text, code) = place.run(&["plan", "-no-color"]);
        let heads: Vec<&str> = text.lines().filter(|it| it.starts_with("Error: ")).collect();
        let _ = writeln!(told, "{name} ({}): {}", code.unwrap_or(-1), heads.join(", "));
    }
    expect![[r#"
        short (1): Error: Unable to build encryption key data
        no key (1): Error: Reference to undeclared key provider
        no method (1): Error: Reference to undeclared encryption method
        no target's method (1): Error: Invalid encryption method identifier
        twice (1): Error: Duplicate key_provider
        unknown key provider (1): Error: Error fetching key_provider "x"
        unknown method (1): Error: Error fetching encryption method "x"
        circle (1): Error: Circular reference detected
        unknown argument (1): Error: Unsupported argument
        known later (1): Error: Dynamic value in static context
        key length (1): Error: Invalid method configuration
        enforced (1): Error: Unencrypted method is forbidden
    "#]]
    .assert_eq(&told);
}

#[test]
fn the_environment_is_laid_over_the_configuration() {
    let place = Place::new(MAIN);
    place.write(
        "encryption.tf",
        &block(&[method("m", "pbkdf2.k"), target("state", &["aes_gcm.m"])]),
    );
    let run = |key: Option<String>, arguments: &[&str]| {
        let mut command = place.command(arguments);
        if let Some(key) = key {
            command.env("TF_ENCRYPTION", key);
        }
        let output = command.output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text + &String::from_utf8_lossy(&output.stderr))
    };
    let key = || Some(passphrase("k", "correct horse battery"));
    assert_eq!(run(None, &["init"]).0, Some(1));
    assert_eq!(run(key(), &["init"]).0, Some(0));
    assert_eq!(run(key(), &["apply", "-auto-approve"]).0, Some(0));
    assert!(is_sealed(&place, "terraform.tfstate"));
    let json = r#"{"key_provider": {"pbkdf2": {"k": {"passphrase": "correct horse battery", "iterations": 200000}}}}"#;
    assert_eq!(run(Some(json.into()), &["output", "-raw", "v"]), (Some(0), CANARY.to_owned()));
    let (code, text) = run(Some("state {".into()), &["output"]);
    assert!(code == Some(1) && text.contains("TF_ENCRYPTION line 1"), "{text}");
}

/// A key program that gives one key, and a method that turns bytes round; both tell the folder that they were asked.
const PROGRAM: &str = r#"#!/bin/sh
case $1 in
key)
  echo '{"magic": "OpenTofu-External-Key-Provider", "version": 1}'
  cat >>asked
  key=$(printf %032d 7 | base64)
  echo "{\"keys\": {\"encryption_key\": \"$key\", \"decryption_key\": \"$key\"}, \"meta\": {\"external_data\": {\"n\": 7}}}" ;;
method)
  echo '{"magic": "OpenTofu-External-Encryption-Method", "version": 1}'
  payload=$(sed 's/.*"payload":"\([^"]*\)".*/\1/' | base64 -d | tr 'a-z' 'n-za-m' | base64 | tr -d '\n')
  echo "{\"payload\": \"$payload\"}" ;;
*) echo 'no key today' >&2; exit 3 ;;
esac
"#;

#[test]
fn programs_give_keys_and_seal() {
    let external = |word: &str| {
        format!(
            "key_provider \"external\" \"k\" {{\n  command = [\"sh\", \"program\", {word:?}]\n}}\n"
        )
    };
    let place = Place::new(MAIN);
    place.write("program", PROGRAM);
    let write = |parts: &[String]| place.write("encryption.tf", &block(parts));
    write(&[external("key"), method("m", "external.k"), target("state", &["aes_gcm.m"])]);
    place.succeed(&["init"]);
    place.succeed(&["apply", "-auto-approve"]);
    assert_eq!(place.succeed(&["output", "-raw", "v"]), CANARY);
    assert!(
        place.text("asked").contains("{\"external_data\":{\"n\":7}}"),
        "{}",
        place.text("asked")
    );

    write(&[external("none"), method("m", "external.k"), target("state", &["aes_gcm.m"])]);
    let (text, code) = place.run(&["plan", "-no-color"]);
    assert!(code == Some(1) && text.contains("no key today"), "{text}");

    std::fs::remove_file(place.path().join("terraform.tfstate")).expect("it is there");
    let command = "[\"sh\", \"program\", \"method\"]";
    write(&[
        format!(
            "method \"external\" \"e\" {{\n  encrypt_command = {command}\n  decrypt_command = {command}\n}}\n"
        ),
        target("state", &["external.e"]),
    ]);
    place.succeed(&["apply", "-auto-approve"]);
    assert!(is_sealed(&place, "terraform.tfstate"));
    assert_eq!(place.succeed(&["output", "-raw", "v"]), CANARY);
}

#[test]
fn each_program_opens_what_the_other_has_sealed() {
    let Ok(tofu) = std::env::var("ENTAIL_TOFU") else {
        eprintln!("ENTAIL_TOFU names no program: sealed states are not exchanged");
        return;
    };
    let programs = [Path::new(&tofu), binary::path()];
    for (first, second) in [(0, 1), (1, 0)] {
        let place = Place::new(MAIN);
        place.write("encryption.tf", &block(&usual()));
        let run = |program: usize, arguments: &[&str]| {
            let mut command = Command::new(programs[program]);
            command
                .args(arguments)
                .current_dir(place.path())
                .env("TF_CLI_CONFIG_FILE", "/dev/null");
            let output = command.output().expect("it runs");
            assert_eq!(
                output.status.code(),
                Some(0),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        run(first, &["init"]);
        run(first, &["apply", "-auto-approve"]);
        run(second, &["plan", "-detailed-exitcode"]);
        run(second, &["apply", "-auto-approve", "-var=v=two"]);
        run(first, &["plan", "-detailed-exitcode", "-var=v=two"]);
        assert_eq!(run(first, &["output", "-raw", "v"]), "two");
    }
}

/// What moves into encryption: everything is sealed from now on, and what is plain can still be read.
fn moving_in() -> Vec<String> {
    vec![
        passphrase("k", "correct horse battery"),
        method("m", "pbkdf2.k"),
        PLAIN.into(),
        target("state", &["aes_gcm.m", "unencrypted.u"]),
        target("plan", &["aes_gcm.m", "unencrypted.u"]),
    ]
}

#[test]
fn moving_into_encryption_leaves_no_copy_in_plain_text() {
    let place = Place::new(MAIN);
    place.succeed(&["init"]);
    place.succeed(&["apply", "-auto-approve"]);
    place.succeed(&["apply", "-auto-approve", "-var=v=canary-of-the-state-2"]);
    place.succeed(&["state", "mv", "terraform_data.a", "terraform_data.b"]);
    place.succeed(&["state", "mv", "terraform_data.b", "terraform_data.a"]);
    place.succeed(&["workspace", "new", "other"]);
    place.succeed(&["apply", "-auto-approve"]);
    place.succeed(&["workspace", "select", "default"]);
    let state = place.text("terraform.tfstate");
    place.write("errored.tfstate", &state);
    place.write("errored-2.tfstate", &state);
    // As an interrupted run leaves it, set aside with -recover.
    place.write(".terraform.tfstate.journal.17", "0123 canary-of-the-state\n4567 more\n");
    place.write("terraform.tfstate.5.backup", "no state, but canary-of-the-state");
    let files = |place: &Place| {
        let mut names: Vec<String> = std::fs::read_dir(place.path())
            .expect("a folder")
            .flatten()
            .map(|it| it.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    place.write("encryption.tf", &block(&moving_in()));
    let before = files(&place);
    let told = place.succeed(&["apply", "-auto-approve", "-var=v=canary-of-the-state-3"]);
    let left = telling(place.path());
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].ends_with("terraform.tfstate.5.backup"), "{left:?}");
    assert!(told.contains("Copies that are not encrypted"), "{told}");
    assert!(told.contains("terraform.tfstate.5.backup"), "{told}");
    assert_eq!(files(&place), before, "nothing is deleted");
    for sealed in ["terraform.tfstate.backup", "errored.tfstate", "errored-2.tfstate"] {
        assert!(is_sealed(&place, sealed), "{sealed}");
    }
    // What was sealed in place can be read as before.
    place.succeed(&["state", "list", "-state=errored.tfstate"]);
    assert!(place.succeed(&["log"]).lines().count() > 3);
    place.succeed(&["workspace", "select", "other"]);
    assert_eq!(place.succeed(&["output", "-raw", "v"]), CANARY);
}

#[test]
fn a_state_command_moves_into_encryption_as_well() {
    let place = Place::new(MAIN);
    place.succeed(&["apply", "-auto-approve"]);
    place.succeed(&["apply", "-auto-approve", "-var=v=canary-of-the-state-2"]);
    place.write("encryption.tf", &block(&moving_in()));
    place.succeed(&["state", "mv", "terraform_data.a", "terraform_data.b"]);
    assert_eq!(telling(place.path()), Vec::<String>::new());
}

/// Kills an apply once this many objects were reported. The journal stays.
fn killed(place: &Place, arguments: &[&str], reported: usize) {
    use std::io::{BufRead, BufReader};
    let mut child =
        place.start(&[&["apply", "-auto-approve", "-parallelism=1"], arguments].concat());
    let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let complete = lines.map_while(Result::ok).filter(|it| it.contains("Creation complete"));
    assert_eq!(complete.take(reported).count(), reported);
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
}

const SLOW: &str = "resource \"terraform_data\" \"slow\" {
  count = 20
  input = var.v
  provisioner \"local-exec\" { command = \"sleep 0.1\" }
}
";

const JOURNAL: &str = ".terraform.tfstate.journal";

fn enforced() -> Vec<String> {
    let state = "state {\n  method   = method.aes_gcm.m\n  enforced = true\n}\n";
    vec![passphrase("k", "correct horse battery"), method("m", "pbkdf2.k"), state.into()]
}

#[test]
fn a_plain_journal_beside_an_enforced_state_is_refused() {
    let place = place(&enforced());
    place.succeed(&["apply", "-auto-approve"]);
    let forge = Place::new(MAIN);
    forge.add(SLOW);
    forge.write("terraform.tfstate", &place.succeed(&["state", "pull"]));
    killed(&forge, &["-var=v=FORGED"], 2);
    let forged = forge.text(JOURNAL);
    assert!(forged.contains("FORGED"), "{forged}");
    place.add(SLOW);
    place.write(JOURNAL, &forged);
    for words in
        [&["apply", "-auto-approve"][..], &["state", "rm", "terraform_data.a"], &["refresh"]]
    {
        let (told, code) = place.run(words);
        assert_eq!(code, Some(1), "{words:?}: {told}");
        assert!(told.contains("Journal that is not encrypted"), "{words:?}: {told}");
    }
    assert_eq!(place.text(JOURNAL), forged);
    assert!(place.succeed(&["plan"]).contains("Journal that is not encrypted"));
    // Not even the user who asks for its steps gets them.
    for recover in ["take", "aside"] {
        place.write(JOURNAL, &forged);
        place.succeed(&["plan", &format!("-recover={recover}")]);
        assert!(!place.succeed(&["state", "pull"]).contains("FORGED"), "{recover}");
    }
}

#[test]
fn lines_that_were_taken_out_of_a_journal_are_noticed() {
    for parts in [enforced(), vec![]] {
        let first = place(&parts);
        first.add(SLOW);
        killed(&first, &[], 4);
        let whole = first.text(JOURNAL);
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        assert!(lines.len() > 8, "{whole}");
        let told = |name: &str, lines: &[&str]| {
            let copy = first.copied();
            copy.write(JOURNAL, &lines.concat());
            let (told, code) = copy.run(&["apply", "-refresh-only", "-auto-approve"]);
            assert_eq!(code, Some(if name == "whole" { 0 } else { 1 }), "{name}: {told}");
            assert!(name == "whole" || told.contains("Damaged journal"), "{name}: {told}");
        };
        told("whole", &lines);
        told("one is missing", &[&lines[..3], &lines[4..]].concat());
        told("an object is missing", &[&lines[..1], &lines[4..]].concat());
        told("two are exchanged", &[&lines[..2], &lines[3..4], &lines[2..3], &lines[4..]].concat());
        told("one stands twice", &[&lines[..4], &lines[3..]].concat());
        let reversed: Vec<&str> = lines[1..].iter().rev().copied().collect();
        told("reversed", &[&lines[..1], &reversed[..]].concat());
    }
}

#[test]
fn iterations_that_would_keep_every_command_busy_are_refused() {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    let place = place(&usual());
    place.succeed(&["apply", "-auto-approve"]);
    let whole = place.text("terraform.tfstate");
    for (name, number) in [("iterations", 1_000_000_000_u64), ("key_length", 1 << 20)] {
        let mut document: Value = serde_json::from_str(&whole).expect("an envelope");
        for (_, text) in document["meta"].as_object_mut().expect("metadata") {
            let bytes = STANDARD.decode(text.as_str().expect("text")).expect("base64");
            let mut kept: Value = serde_json::from_slice(&bytes).expect("metadata");
            kept[name] = number.into();
            *text = STANDARD.encode(kept.to_string()).into();
        }
        place.write("terraform.tfstate", &document.to_string());
        let (told, code) = place.run(&["state", "list"]);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code, Some(1), "{name}: {told}");
        assert!(told.contains("keep this machine busy"), "{name}: {told}");
    }
    // As many as the configuration says are made, whatever the usual bound.
    place.write("terraform.tfstate", &whole);
    place.succeed(&["state", "list"]);
}
