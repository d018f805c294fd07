//! A crash explorer: each command that writes is ended, or refused by the system, at its calls that touch files; what is left is the
//! old or the new state, and nothing that was reported is lost.
//!
//! The calls are made to fail by `strace`; where there is none, the test says so and explores nothing. An ordinary run takes a
//! sample; `ENTAIL_CRASHES=all` takes every number of a call that any thread reaches, which is for the night: `strace` counts the calls
//! of each thread by themselves, so that the first thread to make its n-th call is met, and not each one.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::binary;
use crate::support::place::Place;

/// What a command starts from, and what it makes of it.
struct Scenario {
    command: &'static str,
    /// Objects that may be there afterwards: those of the old state, and those of the new one.
    old: &'static [&'static str],
    new: &'static [&'static str],
}

/// Two objects exist; the configuration has two others besides.
const BEFORE: &str =
    "resource \"terraform_data\" \"a\" {\n}\nresource \"terraform_data\" \"b\" {\n}\n";
const AFTER: &str = "resource \"terraform_data\" \"c\" {\n}\nresource \"terraform_data\" \"d\" {\n  input = terraform_data.c.id\n}\n";

const SCENARIOS: &[Scenario] = &[
    Scenario { command: "apply -auto-approve -json", old: &["a", "b"], new: &["a", "b", "c", "d"] },
    Scenario { command: "destroy -auto-approve -json", old: &["a", "b"], new: &[] },
    Scenario {
        command: "import terraform_data.c anything",
        old: &["a", "b"],
        new: &["a", "b", "c"],
    },
    Scenario {
        command: "state mv terraform_data.a terraform_data.c",
        old: &["a", "b"],
        new: &["b", "c"],
    },
    Scenario { command: "state rm terraform_data.a", old: &["a", "b"], new: &["b"] },
    Scenario { command: "state push pushed.tfstate", old: &["a", "b"], new: &["b"] },
    Scenario {
        command: "state replace-provider -auto-approve terraform.io/builtin/terraform registry.opentofu.org/hashicorp/null",
        old: &["a", "b"],
        new: &["a", "b"],
    },
    Scenario { command: "taint terraform_data.a", old: &["a", "b"], new: &["a", "b"] },
    Scenario { command: "refresh", old: &["a", "b"], new: &["a", "b"] },
    Scenario { command: "plan -out=saved", old: &["a", "b"], new: &["a", "b"] },
    Scenario { command: "workspace new other", old: &["a", "b"], new: &[] },
    Scenario {
        command: "workspace new -state=terraform.tfstate filled",
        old: &["a", "b"],
        new: &["a", "b"],
    },
    Scenario { command: "workspace select empty", old: &["a", "b"], new: &[] },
    Scenario { command: "workspace delete empty", old: &["a", "b"], new: &["a", "b"] },
    Scenario { command: "untaint terraform_data.a", old: &["a", "b"], new: &["a", "b"] },
    Scenario { command: "state rm terraform_data.a terraform_data.b", old: &["a", "b"], new: &[] },
    Scenario {
        command: "state mv -state-out=other.tfstate terraform_data.a terraform_data.x",
        old: &["a", "b"],
        new: &["b"],
    },
    Scenario {
        command: "force-unlock -force 11111111-2222-3333-4444-555555555555",
        old: &["a", "b"],
        new: &["a", "b"],
    },
    Scenario { command: "apply -json made", old: &["a", "b"], new: &["a", "b", "c", "d"] },
    Scenario { command: "init -force-copy", old: &["a", "b"], new: &["a", "b"] },
];

/// Writes of the journal alone.
const JOURNAL_WRITES: &str = "write,pwrite64 of the journal";

/// Calls that change files, and what the system may say to them.
const CALLS: &[(&str, &[&str])] = &[
    ("rename", &["EIO"]),
    ("link,linkat", &["EIO"]),
    ("unlink,unlinkat", &["EIO"]),
    // Threads wake each other by writing, too, and wait for ever where that fails: `narrow` has disks that are full.
    ("write,pwrite64", &[]),
    (JOURNAL_WRITES, &["EIO", "ENOSPC"]),
    ("fsync,fdatasync", &["EIO", "ENOSPC"]),
    ("ftruncate", &["EIO"]),
    ("mkdir", &["ENOSPC"]),
    ("fchmod", &["EIO"]),
    ("openat", &["EIO", "ENOSPC"]),
];

/// Prepares a place with the old state.
fn prepared(command: &str) -> Place {
    let place = Place::new(BEFORE);
    place.succeed(&["apply", "-auto-approve"]);
    if command.starts_with("state push") {
        place.run(&["state", "rm", "-backup=-", "terraform_data.a"]);
        let pushed = std::fs::read_to_string(place.path().join("terraform.tfstate"));
        place.write(
            "pushed.tfstate",
            &pushed.expect("it is read").replace("\"serial\": 2", "\"serial\": 9"),
        );
        let backup = std::fs::read_dir(place.path())
            .expect("it is read")
            .flatten()
            .find(|it| it.file_name().to_string_lossy().ends_with(".backup"));
        assert!(backup.is_none(), "-backup=- keeps none");
        std::fs::remove_file(place.path().join("terraform.tfstate")).expect("it is there");
        let other = Place::new(BEFORE);
        other.succeed(&["apply", "-auto-approve"]);
        let state =
            std::fs::read_to_string(other.path().join("terraform.tfstate")).expect("it is read");
        let lineage = |text: &str| -> String {
            let found: serde_json::Value = serde_json::from_str(text).expect("it is JSON");
            found["lineage"].as_str().expect("text").to_owned()
        };
        let pushed =
            std::fs::read_to_string(place.path().join("pushed.tfstate")).expect("it is read");
        place.write("terraform.tfstate", &state.replace(&lineage(&state), &lineage(&pushed)));
    }
    let config = match command.split(' ').next() {
        Some("destroy") => BEFORE.to_owned(),
        _ => format!("{BEFORE}{AFTER}"),
    };
    if command.starts_with("workspace select") || command.starts_with("workspace delete") {
        place.succeed(&["workspace", "new", "empty"]);
        place.succeed(&["workspace", "select", "default"]);
    }
    if command.starts_with("untaint") {
        place.succeed(&["taint", "terraform_data.a"]);
    }
    if command.starts_with("force-unlock") {
        let id = command.split(' ').next_back().unwrap_or_default();
        let info = format!(
            "{{\"ID\": \"{id}\", \"Operation\": \"\", \"Info\": \"\", \"Who\": \"\", \"Version\": \"\", \"Created\": \"2025-01-01T00:00:00Z\", \"Path\": \"terraform.tfstate\"}}"
        );
        place.write(".terraform.tfstate.lock.info", &info);
    }
    let backend = match command.starts_with("init") {
        true => {
            "terraform {\n  backend \"local\" {\n    path = \"elsewhere/moved.tfstate\"\n  }\n}\n"
        }
        false => "",
    };
    place.write("main.tf", &format!("{config}{backend}"));
    if command.ends_with(" made") {
        place.succeed(&["plan", "-out=made"]);
    }
    place
}

/// Runs a command while `strace` meddles with it.
fn meddled(place: &Place, command: &str, injection: &str) -> Output {
    let mut process = binary::process("strace", place.path());
    let wanted = injection.replace(" of the journal", "");
    process.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("inject={wanted}")]);
    // Nothing but these calls is stopped, so that it takes hardly longer.
    let calls = wanted.split(':').next().unwrap_or_default();
    process.args(["--seccomp-bpf", "-e", &format!("trace={calls}")]);
    if wanted != injection {
        process.arg("-P").arg(place.path().join(".terraform.tfstate.journal"));
    }
    process.arg(binary::path()).args(command.split(' ')).env("TF_IN_AUTOMATION", "1");
    process.output().expect("strace runs")
}

/// Runs a command that may write files of so many blocks of 512 bytes at most: what is longer is written in part.
fn narrow(place: &Place, command: &str, blocks: usize) -> Output {
    let script = format!("ulimit -f {blocks}; exec {} {command}", binary::path().display());
    let mut process = binary::process("/bin/sh", place.path());
    process.args(["-c", &script]).env("TF_IN_AUTOMATION", "1").output().expect("it runs")
}

fn has_strace() -> bool {
    let probe = ["-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=openat", "true"];
    Command::new("strace").args(probe).output().is_ok_and(|it| it.status.success())
}

/// The names of the objects in the state of the selected workspace; nothing where there is no state.
#[track_caller]
fn objects(place: &Place, what: &str) -> BTreeSet<String> {
    let (text, code) = place.run(&["state", "list"]);
    assert!(code == Some(0) || text.contains("No state file was found"), "{what}: {text}");
    let lines = text.lines().filter_map(|it| it.strip_prefix("terraform_data."));
    lines.map(str::to_owned).collect()
}

/// What a run has reported as made and as destroyed.
fn reported(output: &Output) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut made, mut gone) = (BTreeSet::new(), BTreeSet::new());
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let name = message["hook"]["resource"]["resource_name"].as_str().unwrap_or_default();
        match (message["type"].as_str(), message["hook"]["action"].as_str()) {
            (Some("apply_complete"), Some("delete")) => drop(gone.insert(name.to_owned())),
            (Some("apply_complete"), _) => drop(made.insert(name.to_owned())),
            _ => {}
        }
    }
    (made, gone)
}

/// Looks at what a run has left that did not end well.
#[track_caller]
fn check(place: &Place, scenario: &Scenario, output: &Output, what: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked at"), "{what}: {said}");
    let set = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<BTreeSet<_>>();
    let (old, new) = (set(scenario.old), set(scenario.new));
    if scenario.command.starts_with("init") && place.run(&["state", "list"]).1 != Some(0) {
        // Nothing is set up yet: the first words of the message say so, and another attempt ends well.
        place.succeed(&["init", "-force-copy"]);
    }
    let now = objects(place, what);
    if scenario.command.contains("-state-out") && !now.contains("a") {
        let other = place.succeed(&["state", "list", "-state=other.tfstate"]);
        assert!(other.contains("terraform_data.x"), "{what}: it has left the one state: {other}");
    }
    let is_gradual = ["apply", "destroy"].iter().any(|it| scenario.command.starts_with(it));
    match is_gradual {
        true => {
            let all: BTreeSet<String> = old.union(&new).cloned().collect();
            let both: BTreeSet<String> = old.intersection(&new).cloned().collect();
            assert!(now.is_subset(&all) && now.is_superset(&both), "{what}: {now:?}");
        }
        false => assert!(now == old || now == new, "{what}: {now:?}"),
    }
    let (made, gone) = reported(output);
    let errored = place.path().join("errored.tfstate");
    let kept = std::fs::read_to_string(errored).unwrap_or_default();
    for name in made {
        let is_kept = now.contains(&name) || kept.contains(&format!("\"name\": \"{name}\""));
        assert!(is_kept, "{what}: {name} was reported as made, and is lost");
    }
    assert!(gone.is_disjoint(&now), "{what}: {gone:?} was reported as destroyed");
    if let Ok(saved) = std::fs::metadata(place.path().join("saved")) {
        assert!(saved.len() > 0, "{what}: half a plan has the plan's name");
        place.succeed(&["show", "saved"]);
    }
    // A plan works, and clears away what was left. Without the other provider there is none; whoever takes the lock clears as well.
    match scenario.command.starts_with("state replace-provider") {
        true => place.succeed(&["state", "rm", "terraform_data.b"]),
        false => place.succeed(&["plan"]),
    };
    let left: Vec<String> =
        place.hidden().into_iter().filter(|it| it.starts_with(".entail-")).collect();
    assert!(left.is_empty(), "{what}: {left:?}");
}

/// Which of the calls of one kind are met: all of them, or some.
fn moments(is_thorough: bool, seed: usize) -> Vec<usize> {
    match is_thorough {
        true => (1..200).collect(),
        false => vec![1 + seed % 4],
    }
}

#[test]
fn wherever_a_command_ends_the_state_is_the_old_or_the_new_one() {
    if !has_strace() {
        let skipped = b"skipped: strace is not here, or may not trace; no crash was explored\n";
        std::io::stderr().write_all(skipped).expect("it is said");
        return;
    }
    let is_thorough = std::env::var("ENTAIL_CRASHES").is_ok_and(|it| it == "all");
    let mut explored = 0;
    for (number, scenario) in SCENARIOS.iter().enumerate() {
        let fresh = prepared(scenario.command);
        let widths = if is_thorough { 0..12 } else { number % 5..number % 5 + 1 };
        for blocks in widths {
            let place = copied(fresh.path());
            let output = narrow(&place, scenario.command, blocks);
            check(&place, scenario, &output, &format!("{} in {blocks} blocks", scenario.command));
        }
        if is_thorough {
            // It takes long, so that it is told how far it is.
            let line = format!("{explored} crashes explored; next is: {}\n", scenario.command);
            std::io::stderr().write_all(line.as_bytes()).expect("it is said");
        }
        for (at, (calls, errors)) in CALLS.iter().enumerate() {
            let seed = number * 7 + at * 3;
            // An ordinary run takes a third of the calls of each command.
            if !is_thorough && seed % 3 != 0 {
                continue;
            }
            let kills = std::iter::once("signal=SIGKILL".to_owned());
            let faults = kills.chain(errors.iter().map(|it| format!("error={it}")));
            // How many calls there are is known once a kill comes too late for all of them.
            let mut calls_made = usize::MAX;
            for fault in faults {
                for moment in moments(is_thorough, seed) {
                    if moment > calls_made {
                        break;
                    }
                    let place = copied(fresh.path());
                    let injection = format!("{calls}:{fault}:when={moment}");
                    let output = meddled(&place, scenario.command, &injection);
                    let what = format!("{} at {injection}", scenario.command);
                    check(&place, scenario, &output, &what);
                    explored += 1;
                    // What a signal has ended has no code, or one that says so.
                    let was_killed = output.status.code().is_none_or(|it| it == 128 + 9);
                    if is_thorough && fault.starts_with("signal") && !was_killed {
                        calls_made = moment - 1;
                    }
                }
            }
        }
    }
    assert!(explored > SCENARIOS.len() * 3, "only {explored} crashes were explored");
}

/// Copies a folder.
fn copied(from: &Path) -> Place {
    let place = Place::new("");
    copy(from, place.path());
    place
}

fn copy(from: &Path, into: &Path) {
    for entry in std::fs::read_dir(from).expect("it is read").flatten() {
        let target = into.join(entry.file_name());
        match entry.file_type().expect("it is known").is_dir() {
            true => {
                std::fs::create_dir_all(&target).expect("it is made");
                copy(&entry.path(), &target);
            }
            false => drop(std::fs::copy(entry.path(), target).expect("it is copied")),
        }
    }
}
