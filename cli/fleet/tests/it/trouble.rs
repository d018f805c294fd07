//! What an index leaves where the system refuses: the last whole lake, and word of what to do.
#![cfg(unix)]

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use entail::backend::local::Choice;
use entail::backend::{LockInfo, Snapshots, registry};
use entail::value::Value;
use entail::world::World;
use serde_json::{Value as Json, json};

use crate::support::{Fleet, Ran, files, resource};

const STATES: &str = "states \"all\" {\n  paths = [\"s/*.tfstate\"]\n}\n";

/// Somebody who may write nothing of what the tests make.
const NOBODY: u32 = 65_534;

/// A fleet with a lake, and then a state more.
fn fleet() -> Fleet {
    let fleet = Fleet::new(STATES);
    state(&fleet, "a", 20);
    fleet.run(&["index"]).ok();
    state(&fleet, "b", 2000);
    fleet
}

fn state(fleet: &Fleet, name: &str, objects: usize) {
    let objects: Vec<_> = (0..objects)
        .map(|it| {
            let id = format!(
                "thing-{name}-{:016x}",
                (it as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            );
            resource("test_thing", &format!("t{it}"), json!({"id": id, "other": format!("{id}-x")}))
        })
        .collect();
    fleet.state(&format!("s/{name}.tfstate"), &format!("l-{name}"), &objects);
}

/// What was told, whatever the width of the terminal.
pub fn told(ran: &Ran) -> String {
    ran.err.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "")
}

/// The lake says what it said before there was a second state.
#[track_caller]
fn assert_is_the_last(fleet: &Fleet) {
    let json = fleet.run(&["query", "-json", "agg c = count() in existing(_, _)"]).json();
    assert_eq!(json["rows"], json!([[20]]));
    // What is left behind does not matter to whoever indexes next.
    fleet.run(&["index", "-out=lake"]).ok();
    let json = fleet.run(&["query", "-json", "agg c = count() in existing(_, _)"]).json();
    assert_eq!(json["rows"], json!([[2020]]));
}

fn set(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is set");
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let below = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    let below = below.filter(|it| it.is_dir()).flat_map(|it| folders(&it));
    std::iter::once(folder.to_owned()).chain(below).collect()
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|it| it.stdout.starts_with(b"0\n"))
}

fn skipped(why: &str) {
    writeln!(std::io::stderr(), "SKIPPED: {why}").unwrap_or_default();
}

#[test]
fn a_file_is_no_place_for_a_lake() {
    let fleet = fleet();
    fleet.write("full", "something");
    let ran = fleet.run(&["index", "-out=full"]);
    assert_eq!(ran.code, Some(1));
    assert!(told(&ran).contains("Cannot use the lake"), "{}", ran.err);
    assert!(told(&ran).contains("full cannot be made"), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(fleet.path("full")).expect("it is there"), "something");
    assert_is_the_last(&fleet);
}

#[test]
fn a_lake_that_may_not_be_written_stays_as_it_is() {
    let fleet = fleet();
    let is_root = is_root();
    let mut command = fleet.command(&["index"], &[]);
    if is_root {
        // Root may write anywhere: somebody else is to try.
        set(&fleet.root(), 0o755);
        command.uid(NOBODY).gid(NOBODY);
    } else {
        for path in folders(&fleet.path("lake")) {
            set(&path, 0o555);
        }
    }
    let Ok(output) = command.output() else {
        return skipped("nobody else may start the program here");
    };
    let ran = Ran::of(&output);
    if !is_root {
        folders(&fleet.path("lake")).iter().for_each(|it| set(it, 0o755));
    }
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(told(&ran).contains("Trouble with the lake"), "{}", ran.err);
    assert!(told(&ran).contains("of lake cannot be written"), "{}", ran.err);
    assert!(told(&ran).contains("What was indexed before stays as it is."), "{}", ran.err);
    assert!(told(&ran).contains("see to the rights, and index again"), "{}", ran.err);
    assert_is_the_last(&fleet);
}

#[test]
fn a_lake_that_outgrows_its_disk_stays_as_it_was() {
    let fleet = fleet();
    // Where no file may grow beyond a few blocks, writing fails as on a full disk.
    let limited = |blocks: u32, words: &str| {
        let line = format!("trap '' XFSZ; ulimit -f {blocks} && exec \"$0\" {words}");
        let mut command = Command::new("sh");
        command
            .args(["-c", &line, env!("CARGO_BIN_EXE_entail-fleet")])
            .current_dir(fleet.root())
            .env("TMPDIR", fleet.root());
        Ran::of(&command.output().expect("a shell"))
    };
    // The texts of 2,000 objects fill 64,000 bytes of a file for the work: more than a disk of 16 blocks has.
    let ran = limited(16, "index");
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(told(&ran).contains("Trouble with the lake"), "{}", ran.err);
    assert!(told(&ran).contains("of lake cannot be written"), "{}", ran.err);
    assert!(told(&ran).contains("Make room there"), "{}", ran.err);
    let ran = limited(16, "index -out=anew");
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let ran = fleet.run(&["query", "-lake=anew", "existing(n, t)"]);
    assert!(told(&ran).contains("There is no index in anew"), "{}", ran.err);
    assert_is_the_last(&fleet);
}

#[test]
fn a_state_whose_lock_is_held_is_read_all_the_same() {
    let fleet = fleet();
    let world = Arc::new(World::of_this_process());
    let kind = registry::kind("local").expect("it is built in");
    let mut config = kind.unset();
    let path = fleet.path("s/b.tfstate").display().to_string();
    config.insert("path".to_owned(), Value::string(&path));
    let store = kind.open(&world, &config, &Choice::default()).expect("it opens");
    let held = Snapshots::new(world.clone(), store, "default", None);
    assert!(held.lock(&LockInfo::new(&world, "OperationTypeApply")).is_ok(), "nobody else has it");
    let json = fleet.run(&["index", "-json", "-strict"]).json();
    assert_eq!((&json["objects"], &json["failed"]), (&json!(2020), &json!([])));
    assert!(held.unlock().is_ok(), "the lock is still ours");
}

#[test]
fn a_state_that_may_not_be_read_is_told_by_its_name() {
    let fleet = fleet();
    set(&fleet.path("s/b.tfstate"), 0o000);
    let mut command = fleet.command(&["index", "-json", "-strict"], &[]);
    if is_root() {
        let all = [fleet.root(), fleet.path("s/a.tfstate")];
        all.iter().for_each(|it| set(it, 0o755));
        for path in folders(&fleet.path("lake")).into_iter().chain(files(&fleet.path("lake"))) {
            std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("it is given");
        }
        command.uid(NOBODY).gid(NOBODY);
    }
    let Ok(output) = command.output() else {
        return skipped("nobody else may start the program here");
    };
    set(&fleet.path("s/b.tfstate"), 0o644);
    let ran = Ran::of(&output);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let json: Json = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((&json["stacks"], &json["failed"][0]["stack"]), (&json!(1), &json!("s/b")));
    let error = json["failed"][0]["error"].as_str().expect("a reason");
    assert!(error.contains("s/b.tfstate") && error.contains("ermission denied"), "{error}");
    assert_is_the_last(&fleet);
}
