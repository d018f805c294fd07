//! Commands that only read: they take no lock, answer beside a run in progress, and say that there is one.

use std::io::BufReader;
use std::process::{Child, Command};

use crate::interrupt::{SLOW, read_until};
use crate::support::place::Place;

/// Questions about the state or a plan that is made for them, each with a line of its answer.
const QUESTIONS: &[(&[&str], &str)] = &[
    (&["why", "terraform_data.fast"], "terraform_data.fast"),
    (&["impact", "time_sleep.slow"], "terraform_data.after"),
    (&["whatif"], "terraform_data.fast"),
    (&["minimal", "-change=terraform_data.after"], "-target=terraform_data.after"),
    (&["query", "resource(n, t)"], "terraform_data.fast"),
    (&["query", "-state", "resource(n, t)"], "terraform_data.fast"),
    (&["facts", "in_state"], "in_state(terraform_data.fast)"),
    (&["facts", "-lock=true", "-lock-timeout=1s", "in_state"], "in_state(terraform_data.fast)"),
    (&["diff", "--", "-exclude=terraform_data.after"], "terraform_data.after"),
    (&["graph", "-instances"], "terraform_data.after"),
    (&["log"], "running"),
    (&["log", "-last"], "running"),
];

/// Questions that read no state.
const WITHOUT_STATE: &[&[&str]] = &[&["unused"], &["graph"]];

const NOTE: &str = "Note: a run is in progress (apply by ";

/// Starts an apply that has made one object and waits for another.
fn begun(place: &Place) -> Child {
    let mut child = place.start(&["apply", "-auto-approve"]);
    let mut reader = BufReader::new(child.stdout.take().expect("it is piped"));
    let text = read_until(&mut reader, "terraform_data.fast: Creation complete");
    if !text.contains("time_sleep.slow: Creating") {
        read_until(&mut reader, "time_sleep.slow: Creating");
    }
    child.stdout = Some(reader.into_inner());
    child
}

fn end(child: Child, signal: &str) {
    let sent = Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status();
    assert!(sent.expect("kill runs").success());
    child.wait_with_output().map(drop).expect("it ends");
}

#[test]
fn questions_are_answered_beside_a_run_in_progress() {
    let place = Place::new(&SLOW.replace("DURATION", "600s"));
    let run = begun(&place);
    for (question, answer) in QUESTIONS {
        let output = place.command(question).output().expect("it runs");
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        // `diff` exits with 2 where the plans differ.
        assert!(matches!(output.status.code(), Some(0 | 2)), "{question:?}: {out}{err}");
        assert!(out.contains(answer), "{question:?}: {out}{err}");
        assert_eq!(err.matches(NOTE).count(), 1, "{question:?}: {err}");
        assert!(
            err.contains(" UTC). The answer is about the state as recorded so far.\n"),
            "{err}"
        );
    }
    for question in WITHOUT_STATE {
        let text = place.succeed(question);
        assert!(!text.contains(NOTE), "{question:?}: {text}");
    }
    let (text, code) = place.run(&["plan"]);
    assert_eq!(code, Some(1), "a plan takes the lock: {text}");
    let listed: serde_json::Value =
        serde_json::from_str(&output_of(&place, &["log", "-json"])).expect("it is JSON");
    let runs = listed["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 1, "{listed}");
    assert_eq!(runs[0]["operation"], "apply");
    assert_eq!(runs[0]["outcome"], "running");
    end(run, "INT");
    let text = place.succeed(&["log"]);
    assert!(!text.contains("running") && !text.contains(NOTE), "{text}");
    assert!(text.contains("interrupted"), "{text}");
}

fn output_of(place: &Place, arguments: &[&str]) -> String {
    let output = place.command(arguments).output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_question_reads_the_journal_of_a_dead_run_and_changes_nothing() {
    let place = Place::new(&SLOW.replace("DURATION", "600s"));
    end(begun(&place), "KILL");
    let journal = ".terraform.tfstate.journal";
    let (before, state) = (place.text(journal), place.text("terraform.tfstate"));
    assert!(before.contains("terraform_data.fast"), "{before}");
    let text = place.succeed(&["facts", "in_state"]);
    assert!(text.contains("in_state(terraform_data.fast)"), "{text}");
    assert!(text.contains("Finished steps of an interrupted run taken up"), "{text}");
    assert!(!text.contains(NOTE), "{text}");
    assert!(!place.succeed(&["log"]).contains("running"));
    place.succeed(&["facts", "-recover=take", "in_state"]);
    assert_eq!((place.text(journal), place.text("terraform.tfstate")), (before, state));
}

#[test]
fn the_help_of_a_question_has_no_flags_of_commands_that_write() {
    let place = Place::new("");
    for command in
        ["why", "impact", "whatif", "minimal", "unused", "query", "facts", "diff", "log", "graph"]
    {
        let help = place.succeed(&[command, "-help"]);
        for flag in ["-state-out", "-backup", "-recover", "-lock"] {
            assert!(!help.contains(&format!("  {flag}")), "{command} {flag}: {help}");
        }
    }
    for command in ["why", "facts", "diff"] {
        let (text, code) = place.run(&[command, "-state-out=x"]);
        assert_eq!(code, Some(1), "{text}");
    }
}
