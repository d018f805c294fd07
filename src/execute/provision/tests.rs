//! Commands of this machine, and the wish to stop them; whole runs are in `testdata` and `tests/it`.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pretty_assertions::assert_eq;

use super::command::Command;
use crate::execute::Stop;

fn shell(text: &str) -> Command {
    Command {
        words: vec!["/bin/sh".into(), "-c".into(), text.into()],
        folder: "/".into(),
        ..Command::default()
    }
}

/// Runs a command and returns its lines and how it ended.
async fn run(command: &Command, stop: &Stop) -> String {
    let lines = Mutex::new(Vec::new());
    let result = command.run(stop, |line| lines.lock().push(line.to_owned())).await;
    let end = match result {
        Ok(()) => "ok".to_owned(),
        Err((why, output)) => format!("{why}: {output:?}"),
    };
    format!("{} | {end}", lines.into_inner().join(","))
}

#[tokio::test]
async fn a_command_hands_on_both_outputs_line_by_line_and_says_how_it_ended() {
    let stop = Stop::default();
    assert_eq!(run(&shell("echo a; echo b >&2; printf '\\nc'"), &stop).await, "a,b,,c | ok");
    assert_eq!(run(&shell("echo x; exit 3"), &stop).await, "x | exit status 3: \"x\\n\"");
    assert_eq!(run(&shell("kill -TERM $$"), &stop).await, " | signal: terminated: \"\"");
    let environment = vec![("V".to_owned(), "1".to_owned())];
    assert_eq!(run(&Command { environment, ..shell("echo $V $PWD") }, &stop).await, "1 / | ok");
}

#[tokio::test]
async fn a_command_that_cannot_start_says_why() {
    let stop = Stop::default();
    let missing =
        Command { words: vec!["no-such-program".into()], folder: "/".into(), ..Command::default() };
    assert_eq!(
        run(&missing, &stop).await,
        " | exec: \"no-such-program\": executable file not found in $PATH: \"\""
    );
    let missing =
        Command { words: vec!["/no/such".into()], folder: "/".into(), ..Command::default() };
    assert_eq!(
        run(&missing, &stop).await,
        " | fork/exec /no/such: no such file or directory: \"\""
    );
    let elsewhere =
        Command { folder: "/no/such".into(), folder_shown: "such".into(), ..shell("true") };
    assert_eq!(run(&elsewhere, &stop).await, " | chdir such: no such file or directory: \"\"");
}

#[tokio::test]
async fn the_first_request_to_stop_kills_a_command_and_all_it_started() {
    let stop = Stop::default();
    let started = Instant::now();
    let asks = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop.ask();
    };
    let command = shell("sleep 60 & echo started; wait");
    let (ended, ()) = tokio::join!(run(&command, &stop), asks);
    assert_eq!(ended, "started | signal: killed: \"started\\n\"");
    assert!(started.elapsed() < Duration::from_secs(30));
}
