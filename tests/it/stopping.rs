//! One signal, and the end of the process some time later, as supervisors send them: what exists is what the state says.
//!
//! The plugin keeps a world of things, a file each, that outlives it; some creations heed the request to stop and others do not.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::served::{Reply, Request, serve};
use crate::support::binary;
use crate::support::place::Place;

/// How long anything may take that is not waited for without end.
const PATIENCE: Duration = Duration::from_secs(20);

/// States by path, and whether each is locked.
type States = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// Starts a server of states. Returns its port and what it keeps.
fn server() -> (u16, States) {
    let states = States::default();
    let kept = states.clone();
    let answer = move |request: Request| {
        let mut states = kept.lock().expect("nobody panics with it");
        match request.method.as_str() {
            "GET" => match states.get(&request.path) {
                Some(state) => Reply::new(200, state.clone()),
                None => Reply::new(404, ""),
            },
            "POST" => {
                states.insert(request.path, request.body);
                Reply::new(200, "")
            }
            "LOCK" => match states.insert(format!("{} lock", request.path), request.body.clone()) {
                Some(held) => {
                    states.insert(format!("{} lock", request.path), held.clone());
                    Reply::new(423, held)
                }
                None => Reply::new(200, ""),
            },
            _ => {
                states.remove(&format!("{} lock", request.path));
                Reply::new(200, "")
            }
        }
    };
    (serve(answer), states)
}

/// A folder whose state is in a file or at a server.
struct Site {
    place: Place,
    remote: Option<States>,
}

/// Things by the key of their resource and their name.
fn things(names: &[&str]) -> String {
    let block = |(at, name): (usize, &&str)| {
        format!("resource \"scripted_thing\" \"t{at}\" {{\n  name = \"{name}\"\n}}\n")
    };
    names.iter().enumerate().map(block).collect()
}

impl Site {
    fn new(is_remote: bool, rest: &str) -> Site {
        let (head, remote) = match is_remote {
            true => {
                let (port, states) = server();
                let url = format!("http://127.0.0.1:{port}/state");
                let backend = format!(
                    "  backend \"http\" {{\n    address = \"{url}\"\n    lock_address = \"{url}\"\n    unlock_address = \"{url}\"\n  }}\n"
                );
                (backend, Some(states))
            }
            false => (String::new(), None),
        };
        let head = format!(
            "terraform {{\n{head}  required_providers {{\n    scripted = {{ source = \"example.com/test/scripted\" }}\n  }}\n}}\n"
        );
        let place = Place::new(&head);
        place.write("things.tf", rest);
        place.write("world/.keep", "");
        let overrides = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"example.com/test/scripted\" = {:?}\n  }}\n  direct {{}}\n}}\n",
            binary::plugins().display().to_string()
        );
        place.write("home/cli.tfrc", &overrides);
        place.write("home/temporary/.keep", "");
        let site = Site { place, remote };
        if is_remote {
            site.run(&["init"]);
        }
        site
    }

    /// Another working directory, on another machine: only a state at a server is there, too.
    fn lose_folder(&self) {
        if self.remote.is_some() {
            let journals = self.place.path().join(".terraform/journals");
            let _ = std::fs::remove_dir_all(journals);
        }
    }

    /// Puts away the lock that a killed process has left at a server.
    fn lose_lock(&self) {
        if let Some(states) = &self.remote {
            states.lock().expect("nobody panics with it").remove("/state lock");
        }
    }

    fn is_locked(&self) -> bool {
        let lock = |it: &States| it.lock().expect("nobody panics").contains_key("/state lock");
        self.remote.as_ref().is_some_and(lock)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.command(arguments);
        command.env("ENTAIL_PLUGIN_WORLD", self.world());
        command
    }

    fn run(&self, arguments: &[&str]) -> (String, Option<i32>) {
        let output = self.command(arguments).output().expect("it runs");
        let text = [output.stdout, output.stderr].concat();
        (String::from_utf8_lossy(&text).into_owned(), output.status.code())
    }

    fn world(&self) -> PathBuf {
        self.place.path().join("world")
    }

    /// Starts an apply, and waits until the creation of a thing waits.
    fn begin(&self, waiting: &[&str]) -> Child {
        let mut command = self.command(&["apply", "-auto-approve"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("it starts");
        for name in waiting {
            let file = self.world().join(format!("{name}.begun"));
            until(|| file.exists(), &format!("{name} is never begun"));
        }
        child
    }

    fn state(&self) -> Json {
        let text = match &self.remote {
            Some(states) => {
                let states = states.lock().expect("nobody panics with it");
                states.get("/state").cloned().unwrap_or_default()
            }
            None => self.place.text("terraform.tfstate").into_bytes(),
        };
        serde_json::from_slice(&text).unwrap_or(Json::Null)
    }

    /// The names of the things that the state records.
    fn recorded(&self) -> BTreeSet<String> {
        let state = self.state();
        let resources = state["resources"].as_array().cloned().unwrap_or_default();
        let objects = resources.iter().flat_map(|it| it["instances"].as_array().cloned());
        let name = |it: &Json| it["attributes"]["name"].as_str().map(str::to_owned);
        objects.flatten().filter_map(|it| name(&it)).collect()
    }

    /// The names of the things that the state notes as what may exist.
    fn noted(&self) -> BTreeSet<String> {
        let state = self.state();
        let notes = state["entail"]["unconfirmed"].as_array().cloned().unwrap_or_default();
        notes.iter().filter_map(|it| it["known"]["name"].as_str().map(str::to_owned)).collect()
    }

    /// The names of the things that exist.
    fn existing(&self) -> BTreeSet<String> {
        let files = std::fs::read_dir(self.world()).expect("it is read").flatten();
        let names = files.map(|it| it.file_name().to_string_lossy().into_owned());
        names.filter_map(|it| it.strip_suffix(".thing").map(str::to_owned)).collect()
    }
}

/// Waits for something that happens soon.
#[track_caller]
fn until(is_so: impl Fn() -> bool, why: &str) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{why}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status();
    assert!(sent.expect("kill runs").success());
}

/// Waits for the end of a process. Returns what it said and its exit code.
#[track_caller]
fn ended(mut child: Child) -> (String, Option<i32>) {
    let (mut stdout, mut stderr) =
        (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
    let saying = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).expect("it is read");
        stderr.read_to_string(&mut text).expect("it is read");
        text
    });
    let began = Instant::now();
    while child.try_wait().expect("it is waited for").is_none() {
        if began.elapsed() > PATIENCE {
            child.kill().expect("it is killed");
            panic!("it does not end: {}", saying.join().unwrap_or_default());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let code = child.wait().expect("it has ended").code();
    (saying.join().expect("it is read"), code)
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|it| (*it).to_owned()).collect()
}

/// What the next plan says, whether it may write or not, on this machine or another.
#[track_caller]
fn warns(site: &Site, name: &str) {
    site.lose_folder();
    for arguments in [&["plan"][..], &["plan", "-lock=false"]] {
        let (text, code) = site.run(arguments);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("Objects that may exist unrecorded"), "{arguments:?}: {text}");
        assert!(text.contains(&format!("name = {name:?}")), "{arguments:?}: {text}");
    }
}

/// The next plan says nothing of what may exist.
#[track_caller]
fn is_quiet(site: &Site) {
    let (text, code) = site.run(&["plan"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("may exist"), "{text}");
}

#[test]
fn one_signal_stops_providers_and_records_what_they_answer() {
    for is_remote in [false, true] {
        for name in ["INT", "TERM"] {
            let site = Site::new(is_remote, &things(&["quick", "honours", "cancels"]));
            let child = site.begin(&["honours", "cancels"]);
            until(|| site.existing().contains("quick"), "it is never made");
            signal(&child, name);
            let (text, code) = ended(child);
            assert_eq!(code, Some(1), "{text}");
            assert!(text.contains("execution halted"), "{text}");
            assert_eq!(site.existing(), set(&["quick", "honours"]), "{text}");
            assert_eq!((site.recorded(), site.noted()), (site.existing(), set(&[])), "{text}");
            assert!(!site.is_locked(), "{text}");
            let state = site.state().to_string();
            assert_eq!(state.matches("\"status\":\"tainted\"").count(), 1, "{state}");
            is_quiet(&site);
        }
    }
}

#[test]
fn no_step_begins_after_the_signal() {
    let config = things(&["honours"])
        + "resource \"scripted_thing\" \"after\" {\n  name = \"after\"\n  depends_on = [scripted_thing.t0]\n}\n\
           resource \"scripted_thing\" \"also\" {\n  name = \"also\"\n}\n";
    let site = Site::new(false, &config);
    let mut command = site.command(&["apply", "-auto-approve", "-parallelism=1", "-json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    // Of the two that can begin, the other one may be the first.
    until(|| site.world().join("honours.begun").exists(), "it is never begun");
    let before = site.existing();
    signal(&child, "TERM");
    let (text, _) = ended(child);
    let after: BTreeSet<String> = site.existing().difference(&before).cloned().collect();
    assert_eq!(after, set(&["honours"]), "{text}");
    assert_eq!(site.recorded(), site.existing(), "{text}");
}

#[test]
fn a_run_that_is_killed_after_the_signal_has_written_what_is_done_and_what_is_under_way() {
    for is_remote in [false, true] {
        let site = Site::new(is_remote, &things(&["quick", "ignores"]));
        let child = site.begin(&["ignores"]);
        until(|| site.existing().contains("quick"), "it is never made");
        signal(&child, "TERM");
        until(|| site.noted() == set(&["ignores"]), "the state is not written at the signal");
        assert_eq!(site.recorded(), set(&["quick"]));
        // The provider makes it at the very moment of the end.
        std::fs::write(site.world().join("ignores.thing"), "").expect("it is written");
        signal(&child, "KILL");
        ended(child);
        site.lose_lock();
        warns(&site, "ignores");
        // The note goes with the first success.
        let (text, code) = site.run(&["state", "rm", "scripted_thing.t1"]);
        assert_eq!(code, Some(0), "{text}");
        is_quiet(&site);
        assert_eq!(site.recorded(), set(&["quick"]));
    }
}

#[test]
fn a_provider_that_ignores_the_request_is_waited_for_until_the_second_signal() {
    for is_remote in [false, true] {
        // It answers in the end.
        let site = Site::new(is_remote, &things(&["ignores"]));
        let child = site.begin(&["ignores"]);
        signal(&child, "TERM");
        until(|| site.noted() == set(&["ignores"]), "the state is not written at the signal");
        std::fs::write(site.world().join("ignores.go"), "").expect("it is written");
        let (text, code) = ended(child);
        assert_eq!(code, Some(1), "{text}");
        assert_eq!(site.existing(), set(&["ignores"]));
        assert_eq!((site.recorded(), site.noted()), (set(&["ignores"]), set(&[])), "{text}");
        is_quiet(&site);

        // It never does.
        let site = Site::new(is_remote, &things(&["quick", "ignores"]));
        let child = site.begin(&["ignores"]);
        until(|| site.existing().contains("quick"), "it is never made");
        signal(&child, "INT");
        until(|| site.noted() == set(&["ignores"]), "the state is not written at the signal");
        let began = Instant::now();
        signal(&child, "TERM");
        let (text, code) = ended(child);
        assert_eq!(code, Some(1), "{text}");
        assert!(began.elapsed() < Duration::from_secs(10), "{text}");
        assert!(text.contains("Two interrupts received."), "{text}");
        assert!(text.contains("Objects that may exist unrecorded"), "{text}");
        assert_eq!((site.recorded(), site.noted()), (set(&["quick"]), set(&["ignores"])), "{text}");
        assert!(!site.is_locked(), "{text}");
        warns(&site, "ignores");
    }
}

#[test]
fn a_plugin_that_dies_while_it_creates_leaves_a_note_until_the_address_is_applied() {
    for is_remote in [false, true] {
        for name in ["dies", "falls"] {
            let site = Site::new(is_remote, &things(&["quick", name]));
            let (text, code) = match name {
                "dies" => site.run(&["apply", "-auto-approve"]),
                _ => {
                    let child = site.begin(&[name]);
                    until(|| site.existing().contains("quick"), "it is never made");
                    signal(&child, "TERM");
                    ended(child)
                }
            };
            assert_eq!(code, Some(1), "{text}");
            assert!(text.contains("Plugin did not respond"), "{text}");
            assert!(text.contains("Objects that may exist unrecorded"), "{text}");
            assert!(text.contains(&format!("name = {name:?}")), "{text}");
            assert!(!text.contains("What was done is in the state."), "{text}");
            assert!(site.existing().contains(name), "{text}");
            let known: BTreeSet<String> = site.recorded().union(&site.noted()).cloned().collect();
            assert!(known.is_superset(&site.existing()), "{text}");
            assert!(site.noted().contains(name), "{text}");
            warns(&site, name);
            // What is planned again for the address succeeds.
            site.place.write("things.tf", &things(&["quick", "fine"]));
            let (text, code) = site.run(&["apply", "-auto-approve"]);
            assert_eq!(code, Some(0), "{text}");
            assert_eq!(site.noted(), set(&[]), "{text}");
            is_quiet(&site);
        }
    }
}

#[test]
fn a_replacement_that_gets_no_answer_keeps_the_old_object_and_leaves_a_note() {
    let block = |name: &str| {
        format!(
            "resource \"scripted_thing\" \"t0\" {{\n  name = \"{name}\"\n  lifecycle {{\n    create_before_destroy = true\n    \
             replace_triggered_by = [terraform_data.it]\n  }}\n}}\nresource \"terraform_data\" \"it\" {{\n  input = \"{name}\"\n}}\n"
        )
    };
    let site = Site::new(false, &block("old"));
    let (text, code) = site.run(&["apply", "-auto-approve"]);
    assert_eq!(code, Some(0), "{text}");
    site.place.write("things.tf", &block("dies"));
    let (text, code) = site.run(&["apply", "-auto-approve"]);
    assert_eq!(code, Some(1), "{text}");
    assert_eq!(site.existing(), set(&["old", "dies"]), "{text}");
    assert_eq!((site.recorded(), site.noted()), (set(&["old"]), set(&["dies"])), "{text}");
    warns(&site, "dies");
}
