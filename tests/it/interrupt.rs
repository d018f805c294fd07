//! A wish to stop in every phase of a run: what runs is finished or left, what is done is kept, and the message says which.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::served::{Reply, serve};
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
fn the_first_interrupt_ends_what_waits_and_saves_the_rest() {
    for json in [false, true] {
        let output = "output \"slow\" {\n  value = time_sleep.slow.id\n}\n";
        let place = Place::new(&(SLOW.replace("DURATION", "60s") + output));
        let flags: &[&str] =
            if json { &["apply", "-auto-approve", "-json"] } else { &["apply", "-auto-approve"] };
        let started = Instant::now();
        let (text, code) = interrupted(&place, flags, &[("time_sleep.slow: Creating", "INT")]);
        assert_eq!(code, Some(1), "{text}");
        assert!(started.elapsed() < Duration::from_secs(20), "{text}");
        for wanted in [
            "Interrupt received.",
            "Stopping operation...",
            "time_sleep.slow: creating for ",
            "A second interrupt abandons these",
            "Wait interrupted",
            "execution halted",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        // What this program waits for itself does not exist.
        assert!(!text.contains("may exist"), "{text}");
        assert_eq!(place.succeed(&["state", "list"]), "terraform_data.fast\n");
        assert_eq!(place.hidden(), [""; 0]);
        // Outputs are written when all is done, and it is not.
        assert_eq!(place.succeed(&["output", "-json"]).trim(), "{}");
        place.write("main.tf", &(SLOW.replace("DURATION", "1ms") + output));
        place.succeed(&["apply", "-auto-approve"]);
        assert!(place.succeed(&["output", "-json"]).contains("slow"));
    }
}

#[test]
fn an_interrupted_provisioner_ends_at_the_first_interrupt_and_taints() {
    let config = |rest: &str| {
        format!(
            "resource \"terraform_data\" \"a\" {{\n  provisioner \"local-exec\" {{\n    command = \"echo begun; sleep 60; true\"\n{rest}  }}\n  \
             provisioner \"local-exec\" {{\n    command = \"touch second\"\n  }}\n}}\n"
        )
    };
    // That it was interrupted is no failure to go on after.
    for rest in ["", "    on_failure = continue\n"] {
        let place = Place::new(&config(rest));
        let started = Instant::now();
        let signals = [("(local-exec): begun", "TERM")];
        let (text, code) = interrupted(&place, &["apply", "-auto-approve"], &signals);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("signal: killed"), "{text}");
        assert!(started.elapsed() < Duration::from_secs(20), "{text}");
        assert!(!place.path().join("second").exists(), "{text}");
        assert!(place.succeed(&["plan"]).contains("is tainted, so it must be replaced"));
    }

    // Killed in the middle of it, it is half made as well.
    let place = Place::new(&config(""));
    let (text, code) =
        interrupted(&place, &["apply", "-auto-approve"], &[("(local-exec): begun", "KILL")]);
    assert_eq!(code, None, "{text}");
    let text = place.succeed(&["plan"]);
    assert!(text.contains("Finished steps of an interrupted run taken up"), "{text}");
    assert!(text.contains("- terraform_data.a is recorded"), "{text}");
    assert!(place.succeed(&["plan"]).contains("is tainted, so it must be replaced"));
}

#[test]
fn what_has_left_a_killed_command_holds_up_nothing() {
    let place = Place::new(
        "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"setsid sleep 60 & echo begun; wait\"\n  }\n}\n",
    );
    let started = Instant::now();
    let signals = [("(local-exec): begun", "TERM")];
    let (text, code) = interrupted(&place, &["apply", "-auto-approve"], &signals);
    assert_eq!(code, Some(1), "{text}");
    assert!(started.elapsed() < Duration::from_secs(20), "{text}");
}

#[test]
fn a_destroy_provisioner_that_is_interrupted_keeps_the_object() {
    for rest in ["", "    on_failure = continue\n"] {
        let place = Place::new(&format!(
            "resource \"terraform_data\" \"a\" {{\n  provisioner \"local-exec\" {{\n    when = destroy\n    command = \"echo begun; sleep 60; true\"\n{rest}  }}\n}}\n"
        ));
        place.succeed(&["apply", "-auto-approve"]);
        let signals = [("(local-exec): begun", "TERM")];
        let (text, code) = interrupted(&place, &["destroy", "-auto-approve"], &signals);
        assert_eq!(code, Some(1), "{text}");
        assert_eq!(place.succeed(&["state", "list"]), "terraform_data.a\n", "{text}");
    }
}

/// Runs a command, interrupts it once when a condition holds, and returns what it says, its exit code, and how long it lived on.
#[track_caller]
fn interrupted_once(
    place: &Place,
    arguments: &[&str],
    is_waiting: impl Fn() -> bool,
) -> (String, Option<i32>, Duration) {
    let mut child = place.start(arguments);
    let began = Instant::now();
    while !is_waiting() {
        assert!(began.elapsed() < Duration::from_secs(30), "{arguments:?} never waits");
        std::thread::sleep(Duration::from_millis(5));
    }
    signal(&child, "TERM");
    let began = Instant::now();
    let mut text = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("it is read");
    child.stderr.take().expect("a pipe").read_to_string(&mut text).expect("it is read");
    (text, child.wait().expect("it ends").code(), began.elapsed())
}

/// A server that answers no question any more once it is told to.
#[derive(Clone, Default)]
struct Silent {
    is_told: Arc<AtomicBool>,
    /// How many questions are not answered.
    asked: Arc<AtomicUsize>,
}

impl Silent {
    /// Starts it. Returns its port.
    fn start(&self) -> u16 {
        let own = self.clone();
        serve(move |request| {
            if own.is_told.load(Ordering::SeqCst) {
                own.asked.fetch_add(1, Ordering::SeqCst);
                loop {
                    std::thread::park();
                }
            }
            Reply::new(if request.method == "GET" { 404 } else { 200 }, "")
        })
    }
}

/// The configuration that names a server of this port.
type OfPort<'a> = &'a dyn Fn(u16) -> String;

#[test]
fn one_signal_ends_waits_for_services_that_do_not_answer() {
    let backend = |port: u16, locks: bool| {
        let url = format!("http://127.0.0.1:{port}/state");
        let lock = if locks { format!("    lock_address = \"{url}\"\n") } else { String::new() };
        format!("terraform {{\n  backend \"http\" {{\n    address = \"{url}\"\n{lock}  }}\n}}\n")
    };
    let data = |port: u16| {
        format!(
            "data \"terraform_remote_state\" \"a\" {{\n  backend = \"http\"\n  config = {{ address = \"http://127.0.0.1:{port}/state\" }}\n}}\n"
        )
    };
    let module = |source: String| format!("module \"m\" {{\n  source = \"{source}\"\n}}\n");
    let cases: [(&str, &[&str], OfPort<'_>); 8] = [
        ("reading a state", &["plan"], &|port| backend(port, false)),
        ("taking a lock", &["plan"], &|port| backend(port, true)),
        ("reading another state", &["plan"], &data),
        ("editing a state", &["state", "rm", "terraform_data.a"], &|port| backend(port, true)),
        ("marking an object", &["taint", "terraform_data.a"], &|port| backend(port, true)),
        ("loading a module", &["init"], &|port| module(format!("http://127.0.0.1:{port}/m.zip"))),
        ("cloning a module", &["get"], &|port| module(format!("git::http://127.0.0.1:{port}/m"))),
        ("setting a backend up", &["init"], &|port| backend(port, false)),
    ];
    for (what, command, config) in cases {
        let server = Silent::default();
        let place = Place::new(&config(server.start()));
        if !["init", "get"].contains(&command[0]) {
            place.succeed(&["init"]);
        }
        server.is_told.store(true, Ordering::SeqCst);
        let (text, code, lasted) =
            interrupted_once(&place, command, || server.asked.load(Ordering::SeqCst) > 0);
        assert_eq!(code, Some(1), "{what}: {text}");
        assert!(lasted < Duration::from_secs(8), "{what} lasted {lasted:?}: {text}");
        assert!(text.contains("interrupted") || text.contains("halted"), "{what}: {text}");
    }
}

#[test]
fn a_command_that_is_read_ends_with_all_that_it_started() {
    let config = "data \"local_command\" \"a\" {\n  command = \"sh\"\n  arguments = [\"-c\", \"sleep 600 & echo $! > child; wait; true\"]\n}\n";
    let place = Place::new(config);
    let is_begun = || !place.text("child").trim().is_empty();
    let (text, code, lasted) = interrupted_once(&place, &["plan"], is_begun);
    assert_eq!(code, Some(1), "{text}");
    assert!(lasted < Duration::from_secs(8), "{lasted:?}: {text}");
    let child = place.text("child");
    let gone = || !Path::new("/proc").join(child.trim()).join("cmdline").exists();
    let began = Instant::now();
    while !gone() {
        assert!(began.elapsed() < Duration::from_secs(8), "{child} lives on");
        std::thread::sleep(Duration::from_millis(5));
    }
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
fn a_console_that_is_ended_by_a_signal_leaves_no_lock() {
    let place = Place::new("locals {\n  one = 1\n}\n");
    for name in ["INT", "TERM", "HUP", "KILL"] {
        let mut command = place.command(&["console"]);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut console = piped.spawn().expect("it runs");
        let mut input = console.stdin.take().expect("an input");
        input.write_all(b"local.one\n").expect("it listens");
        read_until(&mut BufReader::new(console.stdout.take().expect("it is piped")), "1");
        signal(&console, name);
        let begun = Instant::now();
        while console.try_wait().expect("it can be asked").is_none() {
            assert!(begun.elapsed() < Duration::from_secs(10), "{name} does not end it");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!place.path().join(".terraform.tfstate.lock.info").exists(), "after {name}");
    }
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
        assert!(started.elapsed() < Duration::from_secs(10), "{command:?}: {text}");
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
