//! No call goes past the library that makes the faults: the system sees no others than those that it has counted.
//!
//! Programs may ask the system without the C library, and packages do so that mean to be quick. `strace` sees that.

use std::collections::BTreeMap;
use std::process::Command;

use super::judged::words;
use super::scenarios::{self, Scenario, prepared};
use super::{is_thorough, tell};
use crate::support::faults::{self, Call, Kind};
use crate::support::place::Place;

/// Calls that change something, as the system calls them.
const CHANGES: &[&str] = &[
    "openat",
    "write",
    "pwrite64",
    "writev",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "ftruncate",
    "fsync",
    "fdatasync",
    "fchmod",
    "chmod",
    "fchown",
    "copy_file_range",
    "sendfile",
    "fallocate",
];

type Counts = BTreeMap<String, usize>;

#[test]
fn no_call_that_changes_files_goes_past_the_library() {
    let probe = Command::new("strace").args(["-f", "-qq", "-o", "/dev/null", "true"]).output();
    if let Err(why) = faults::are_possible() {
        return tell(&format!("skipped: {why}; no call was compared"));
    }
    if !probe.is_ok_and(|it| it.status.success()) {
        return tell("skipped: strace is not here, or may not trace; no call was compared");
    }
    let wanted = scenarios::all().enumerate().filter(|it| is_thorough() || it.0 % 7 == 0);
    for (_, scenario) in wanted {
        let place = prepared(scenario);
        let (seen, counted) = both(&place, scenario);
        assert!(seen.values().sum::<usize>() > 0, "{}: nothing was seen", scenario.title());
        assert_eq!(seen, counted, "{}: seen by strace, and counted here", scenario.title());
    }
}

/// What the system has seen of a run, and what the library has counted of the same.
fn both(place: &Place, scenario: &Scenario) -> (Counts, Counts) {
    let beside = tempfile::tempdir().expect("a folder");
    let trace = beside.path().join("trace");
    let mut command = place.command(&words(scenario.command));
    let calls = faults::watch_within(&mut command, place.path(), |program| {
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-y", "-s", "0", "-o"]).arg(&trace).arg("-e");
        strace.arg(format!("trace={}", CHANGES.join(","))).arg("-E").arg(program);
        strace
    });
    let below = place.path().canonicalize().expect("it is there").display().to_string();
    let text = std::fs::read_to_string(trace).expect("it is read");
    let mut seen = Counts::new();
    for line in text.lines().filter(|it| it.contains(&below)) {
        let Some((head, rest)) = line.split_once('(') else { continue };
        let name = head.rsplit(' ').next().unwrap_or_default();
        let is_look = name == "openat" && !rest.contains("O_CREAT") && !rest.contains("O_TRUNC");
        // The folder that a relative path would begin at is told with each path.
        let is_elsewhere = rest.contains(">, \"/") && !rest.contains(&format!("\"{below}"));
        if !is_look && !is_elsewhere {
            *seen.entry(name.to_owned()).or_default() += 1;
        }
    }
    let mut counted = Counts::new();
    for call in calls.iter().filter(|it| it.kind != Kind::Look) {
        *counted.entry(as_the_system_calls(call)).or_default() += 1;
    }
    (seen, counted)
}

fn as_the_system_calls(call: &Call) -> String {
    match call.name.as_str() {
        "open" | "open64" | "openat64" | "creat" | "creat64" => "openat".to_owned(),
        "pwrite" => "pwrite64".to_owned(),
        name if name != "pwrite64" => name.trim_end_matches("64").to_owned(),
        name => name.to_owned(),
    }
}
