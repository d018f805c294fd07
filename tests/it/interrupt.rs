//! A wish to stop in every phase of a run: what runs is finished or left, what is done is kept, and the message says which.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::binary;
use crate::support::place::Place;

/// Sends a signal to a process.
fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status();
    assert!(sent.expect("kill runs").success());
}

/// Reads lines until one holds this; all of them.
#[track_caller]
pub fn read_until(reader: &mut impl BufRead, wanted: &str) -> String {
    let mut text = String::new();
    while !text.contains(wanted) {
        assert!(
            reader.read_line(&mut text).expect("it is read") > 0,
            "{wanted:?} never comes: {text}"
        );
    }
    text
}

/// Runs a command, sends it each signal when a line has been read, and returns all that it says and its exit code.
#[track_caller]
pub fn interrupted(
    place: &Place,
    arguments: &[&str],
    signals: &[(&str, &str)],
) -> (String, Option<i32>) {
    let mut child = place.start(arguments);
    let mut reader = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut text = String::new();
    for (line, name) in signals {
        text += &read_until(&mut reader, line);
        signal(&child, name);
    }
    reader.read_to_string(&mut text).expect("it is read");
    child.stderr.take().expect("it is piped").read_to_string(&mut text).expect("it is read");
    (text, child.wait().expect("it ends").code())
}

/// A slow object, one that needs it, and one that does not.
pub const SLOW: &str = r#"
resource "time_sleep" "slow" {
  create_duration = "DURATION"
}
resource "terraform_data" "after" {
  input = time_sleep.slow.id
}
resource "terraform_data" "fast" {
}
"#;

#[test]
fn the_first_interrupt_finishes_what_runs_and_saves_it() {
    for json in [false, true] {
        let output = "output \"slow\" {\n  value = time_sleep.slow.id\n}\n";
        let place = Place::new(&(SLOW.replace("DURATION", "2s") + output));
        let flags: &[&str] =
            if json { &["apply", "-auto-approve", "-json"] } else { &["apply", "-auto-approve"] };
        let (text, code) = interrupted(&place, flags, &[("time_sleep.slow: Creating", "INT")]);
        assert_eq!(code, Some(1), "{text}");
        for wanted in [
            "Interrupt received.",
            "Stopping operation...",
            "time_sleep.slow: creating for ",
            "A second interrupt abandons these",
            "time_sleep.slow: Creation complete",
            "execution halted",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        assert_eq!(place.succeed(&["state", "list"]), "terraform_data.fast\ntime_sleep.slow\n");
        assert_eq!(place.hidden(), [""; 0]);
        // Outputs are written when all is done, and it is not.
        assert_eq!(place.succeed(&["output", "-json"]).trim(), "{}");
        place.succeed(&["apply", "-auto-approve"]);
        assert!(place.succeed(&["output", "-json"]).contains("slow"));
    }
}

#[test]
fn the_second_interrupt_abandons_what_runs_and_saves_the_rest() {
    let place = Place::new(&SLOW.replace("DURATION", "30s"));
    let started = Instant::now();
    let signals = [("time_sleep.slow: Creating", "INT"), ("Stopping operation...", "TERM")];
    let (text, code) = interrupted(&place, &["apply", "-auto-approve"], &signals);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("Two interrupts received."), "{text}");
    assert!(started.elapsed() < Duration::from_secs(25));
    assert_eq!(place.succeed(&["state", "list"]), "terraform_data.fast\n");
    assert_eq!(place.hidden(), [""; 0]);
}

#[test]
fn an_interrupted_provisioner_taints_at_the_second_interrupt() {
    let config = "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"echo begun; sleep 60\"\n  }\n}\n";
    let place = Place::new(config);
    let signals = [("(local-exec): begun", "INT"), ("Stopping operation...", "INT")];
    let (text, code) = interrupted(&place, &["apply", "-auto-approve"], &signals);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("signal: killed"), "{text}");
    assert!(place.succeed(&["plan"]).contains("is tainted, so it must be replaced"));

    // Killed in the middle of it, it is half made as well.
    let place = Place::new(config);
    let (text, code) =
        interrupted(&place, &["apply", "-auto-approve"], &[("(local-exec): begun", "KILL")]);
    assert_eq!(code, None, "{text}");
    let text = place.succeed(&["plan"]);
    assert!(text.contains("Finished steps of an interrupted run taken up"), "{text}");
    assert!(text.contains("- terraform_data.a is recorded"), "{text}");
    assert!(place.succeed(&["plan"]).contains("is tainted, so it must be replaced"));
}

#[test]
fn an_interrupt_at_a_question_or_in_a_plan_changes_nothing() {
    let place = Place::new(&SLOW.replace("DURATION", "1s"));
    let mut child = place
        .command(&["apply"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut reader = BufReader::new(child.stdout.take().expect("it is piped"));
    read_until(&mut reader, "Only 'yes' will be accepted to approve.");
    signal(&child, "INT");
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("it is read");
    child.stderr.take().expect("it is piped").read_to_string(&mut text).expect("it is read");
    assert_eq!(child.wait().expect("it ends").code(), Some(1), "{text}");
    assert!(text.contains("error asking for approval: interrupted"), "{text}");
    assert!(place.hidden().is_empty() && !place.path().join("terraform.tfstate").exists());
}

#[test]
fn an_interrupt_while_a_lock_is_waited_for_gives_it_up() {
    let place = Place::new(&SLOW.replace("DURATION", "5s"));
    let mut holder = place.start(&["apply", "-auto-approve"]);
    let mut reader = BufReader::new(holder.stdout.take().expect("it is piped"));
    read_until(&mut reader, "time_sleep.slow: Creating");
    for command in [&["plan", "-lock-timeout=60s"], &["apply", "-lock-timeout=60s"]] {
        let started = Instant::now();
        let (text, code) = interrupted(&place, command, &[("Acquiring state lock.", "INT")]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("Error acquiring the state lock"), "{text}");
        assert!(started.elapsed() < Duration::from_secs(4), "{command:?} waited");
    }
    assert_eq!(holder.wait().expect("it ends").code(), Some(0));
    place.succeed(&["plan"]);
}

#[test]
fn an_interrupt_of_a_plan_whose_provider_hangs_changes_nothing() {
    let place = Place::new("resource \"random_integer\" \"a\" {\n  min = 1\n  max = 9\n}\n");
    let through = |faults: &str| {
        vec![
            ("ENTAIL_EMBEDDED_PLUGINS".to_owned(), binary::plugins().display().to_string()),
            ("ENTAIL_PLUGIN_FAULTS".to_owned(), faults.to_owned()),
        ]
    };
    binary::set_further(&through(""));
    place.succeed(&["apply", "-auto-approve"]);
    let before = std::fs::read(place.path().join("terraform.tfstate")).expect("it is read");
    binary::set_further(&through("read=hang"));
    for command in [&["plan"][..], &["apply", "-auto-approve"], &["destroy", "-auto-approve"]] {
        let started = Instant::now();
        let (text, code) = interrupted(&place, command, &[("Refreshing state...", "INT")]);
        assert_eq!(code, Some(1), "{text}");
        assert!(started.elapsed() < Duration::from_secs(30), "{command:?}: {text}");
        let after = std::fs::read(place.path().join("terraform.tfstate")).expect("it is read");
        assert!(before == after, "{command:?} wrote the state: {text}");
    }
    binary::set_further(&through(""));
    place.succeed(&["plan", "-detailed-exitcode"]);
    binary::set_further(&[]);
}

#[test]
fn a_saved_plan_is_refused_once_the_state_has_changed_underneath() {
    let place = Place::new("resource \"terraform_data\" \"a\" {\n}\n");
    place.succeed(&["plan", "-out=saved"]);
    place.succeed(&["apply", "-auto-approve"]);
    let (text, code) = place.run(&["apply", "saved"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("Saved plan is stale"), "{text}");
    assert!(place.succeed(&["plan"]).contains("No changes."));
}
