//! Promises that every store keeps, held against each of them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use pretty_assertions::assert_eq;

use super::local::{Choice, Local};
use super::lock::{LockState, NotUnlocked};
use super::store::{Content, Refused, Store, Version, wait};
use super::{LockInfo, LockProblem, Snapshots, acquire, registry};
use crate::execute::journal::Journal;
use crate::state::State;
use crate::state::journal::{Base, Record};
use crate::value::Value;
use crate::world::World;

/// A store that is asked over a network: each answer takes a moment.
#[derive(Debug)]
struct Distant(Arc<dyn Store>);

async fn journey() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[async_trait]
impl Store for Distant {
    fn name(&self, workspace: &str) -> String {
        self.0.name(workspace)
    }
    async fn read(&self, workspace: &str) -> io::Result<Content> {
        journey().await;
        self.0.read(workspace).await
    }
    async fn write(&self, name: &str, it: &Bytes, expected: &Version) -> Result<Version, Refused> {
        journey().await;
        self.0.write(name, it, expected).await
    }
    async fn list(&self) -> io::Result<Vec<String>> {
        journey().await;
        self.0.list().await
    }
    async fn create(&self, workspace: &str) -> io::Result<()> {
        journey().await;
        self.0.create(workspace).await
    }
    async fn delete(&self, workspace: &str) -> io::Result<()> {
        journey().await;
        self.0.delete(workspace).await
    }
    async fn lock(&self, workspace: &str, info: &LockInfo) -> Result<String, LockProblem> {
        journey().await;
        self.0.lock(workspace, info).await
    }
    async fn lock_state(&self, workspace: &str) -> io::Result<LockState> {
        journey().await;
        self.0.lock_state(workspace).await
    }
    async fn unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        journey().await;
        self.0.unlock(workspace, id).await
    }
    async fn force_unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        journey().await;
        self.0.force_unlock(workspace, id).await
    }
}

/// One place, opened as often as is asked for.
struct Place {
    world: Arc<World>,
    open: fn(&Arc<World>) -> Arc<dyn Store>,
    _folder: tempfile::TempDir,
}

impl Place {
    fn store(&self) -> Arc<dyn Store> {
        (self.open)(&self.world)
    }

    fn snapshots(&self, workspace: &str) -> Snapshots {
        Snapshots::new(self.world.clone(), self.store(), workspace, None)
    }
}

fn inmem(world: &Arc<World>) -> Arc<dyn Store> {
    let kind = registry::kind("inmem").expect("it is registered");
    kind.open(world, &kind.unset(), &Choice::default()).expect("it is opened")
}

/// Holds a promise against every store, each in an empty place.
fn each(promise: impl Fn(&str, Place)) {
    type Open = fn(&Arc<World>) -> Arc<dyn Store>;
    let opened: [(&str, Open); 3] = [
        ("local", |world| Arc::new(Local::new(world.clone(), Choice::default()))),
        ("inmem", inmem),
        ("distant", |world| Arc::new(Distant(inmem(world)))),
    ];
    for (name, open) in opened {
        let folder = tempfile::tempdir().expect("a folder");
        let world = World { root: folder.path().into(), ..World::of_this_process() };
        promise(name, Place { world: Arc::new(world), open, _folder: folder });
    }
}

fn read(store: &Arc<dyn Store>, workspace: &str) -> Content {
    wait(&**store, store.read(workspace)).expect("it is read")
}

fn write(
    store: &Arc<dyn Store>,
    workspace: &str,
    bytes: &[u8],
    expected: &Version,
) -> Result<Version, Refused> {
    wait(&**store, store.write(workspace, &Bytes::copy_from_slice(bytes), expected))
}

fn list(store: &Arc<dyn Store>) -> String {
    wait(&**store, store.list()).expect("they are listed").join(" ")
}

/// A state that a store of files, too, takes for a whole one.
fn text(serial: u64) -> Vec<u8> {
    format!(r#"{{"version":4,"serial":{serial},"lineage":"l","outputs":{{}},"resources":[]}}"#)
        .into_bytes()
}

fn info(world: &World) -> LockInfo {
    LockInfo::new(world, "OperationTypeApply")
}

#[test]
fn what_is_stored_is_read_again_by_whoever_opens_the_place() {
    each(|name, place| {
        let (one, other) = (place.store(), place.store());
        let nothing = read(&one, "default");
        assert_eq!(nothing.bytes, b"", "{name}");
        let version = write(&one, "default", &text(1), &nothing.version).expect("it is written");
        for store in [&one, &other] {
            let content = read(store, "default");
            assert_eq!((content.bytes, content.version), (text(1), version.clone()), "{name}");
        }
        assert_ne!(version, nothing.version, "{name}");
    });
}

#[test]
fn no_update_is_lost() {
    each(|name, place| {
        let (one, other) = (place.store(), place.store());
        let nothing = read(&one, "default").version;
        let first = write(&one, "default", &text(1), &nothing).expect("it is written");
        let second = write(&other, "default", &text(2), &first).expect("it is written");
        for old in [&nothing, &first] {
            let refused = write(&one, "default", &text(3), old).expect_err("it is overtaken");
            let Refused::Overtaken(there) = refused else { panic!("{name}: {refused:?}") };
            assert_eq!(there, text(2), "{name}");
        }
        assert_eq!(read(&one, "default").bytes, text(2), "{name}");
        write(&one, "default", &text(3), &second).expect("it is written");
    });
}

#[test]
fn a_lock_is_held_by_one_until_it_is_given_back() {
    each(|name, place| {
        let (one, other) = (place.store(), place.store());
        let lock =
            |store: &Arc<dyn Store>| wait(&**store, store.lock("default", &info(&place.world)));
        let seen = || wait(&*other, other.lock_state("default")).expect("it can be asked");
        assert_eq!(seen(), LockState::Free, "{name}");
        let id = lock(&one).expect("it is free");
        let LockState::Held(Some(holder)) = seen() else { panic!("{name}: {:?}", seen()) };
        assert_eq!(holder.id, id, "{name}");
        match lock(&other) {
            Err(LockProblem::Held(Ok(holder)) | LockProblem::Locked(holder)) => {
                assert_eq!(holder.id, id, "{name}");
            }
            else_ => panic!("{name}: {else_:?}"),
        }
        // Another workspace has a lock of its own.
        let info = info(&place.world);
        let its = wait(&*other, other.lock("b", &info)).expect("it is free");
        wait(&*other, other.unlock("b", &its)).expect("it is given back");
        wait(&*other, other.unlock("default", "not this one")).expect_err("it is not held");
        lock(&other).expect_err("it is still held");
        wait(&*one, one.unlock("default", &id)).expect("it is given back");
        wait(&*one, one.unlock("default", &id)).expect_err("it was given back");
        assert_eq!(seen(), LockState::Free, "{name}");
        lock(&other).expect("it is free again");
    });
}

#[test]
fn only_its_id_removes_a_lock() {
    each(|name, place| {
        let (one, other) = (place.store(), place.store());
        let forced = |id: &str| wait(&*other, other.force_unlock("default", id));
        forced("x").expect_err("there is none");
        let id = wait(&*one, one.lock("default", &info(&place.world))).expect("it is free");
        let refused = forced("x").expect_err("it has another ID");
        let NotUnlocked::Failed(_, Some(holder)) = refused else { panic!("{name}: {refused:?}") };
        assert_eq!(holder.id, id, "{name}");
        match forced(&id) {
            // A store that sees that the holder lives keeps the lock.
            Err(NotUnlocked::InUse) => assert_eq!(name, "local"),
            forced => forced.expect("it is removed"),
        }
    });
}

#[test]
fn workspaces_are_made_listed_and_deleted() {
    each(|name, place| {
        let store = place.store();
        assert_eq!(list(&store), "default", "{name}");
        for workspace in ["b", "a", "a.b~c@d=e", "a"] {
            wait(&*store, store.create(workspace)).expect("it is made");
        }
        assert_eq!(list(&place.store()), "default a a.b~c@d=e b", "{name}");
        for workspace in ["a", "b", "default"] {
            let nothing = read(&store, workspace).version;
            write(&store, workspace, &text(workspace.len() as u64), &nothing)
                .expect("it is written");
        }
        wait(&*store, store.delete("a")).expect("it is deleted");
        for workspace in ["default", ""] {
            wait(&*store, store.delete(workspace)).expect_err("it stays");
        }
        assert_eq!(list(&place.store()), "default a.b~c@d=e b", "{name}");
        assert_eq!(read(&place.store(), "a").bytes, b"", "{name}");
        assert_eq!(read(&store, "b").bytes, text(1), "{name}");
        assert_eq!(read(&store, "default").bytes, text(7), "{name}");
    });
}

fn with_output(value: i64) -> State {
    let text = format!(
        r#"{{"version":4,"serial":0,"lineage":"","outputs":{{"o":{{"value":{value},"type":"number"}}}},"resources":[]}}"#
    );
    crate::state::read::read(text.as_bytes()).expect("it is read").expect("it is a state")
}

#[test]
fn snapshots_count_and_are_compared_before_they_are_written() {
    each(|name, place| {
        let (one, other) = (place.snapshots("default"), place.snapshots("default"));
        let first = one.write(&with_output(1)).expect("it is written");
        assert_eq!((first.serial, first.is_written), (1, true), "{name}");
        let same = one.write(&with_output(1)).expect("it is compared");
        assert_eq!((same.serial, same.is_written), (1, false), "{name}");
        other.read().expect("it is read");
        assert_eq!(one.write(&with_output(2)).expect("it is written").serial, 2, "{name}");
        let refused = other.write(&with_output(3)).expect_err("it is overtaken");
        assert!(refused.is_overtaken, "{name}: {:?}", refused.problems);
        let guard = acquire(&one, &info(&place.world), Duration::ZERO, &mut |_| true);
        other.lock(&info(&place.world)).expect_err("it is held");
        guard.expect("it is free").release().expect("it is given back");
        let state = place.snapshots("default").read().expect("it is read").state;
        assert_eq!(state.map(|it| it.serial), Some(2), "{name}");
    });
}

/// Leaves a journal as a process does that dies after it has finished a step.
fn interrupted(snapshots: &Snapshots) {
    let state = snapshots.read().expect("it is read").state.unwrap_or_default();
    let next_lineage =
        if state.lineage.is_empty() { "first".into() } else { state.lineage.clone() };
    let base =
        Base { lineage: state.lineage, serial: state.serial, next_lineage, ..Base::default() };
    let journal = Journal::open(snapshots.journal().expect("it is free"), &base, &[]);
    let address = "terraform_data.a".parse().expect("an address");
    journal.append(&[Record::Removed { address, deposed: None }]);
    journal.flush().expect("it is written");
}

#[test]
fn finished_steps_of_an_interrupted_run_come_back_to_their_workspace_and_lineage() {
    each(|name, place| {
        // A first run, and one that continues a state.
        for serial in [1, 2] {
            interrupted(&place.snapshots("a"));
            assert_eq!(place.snapshots("b").read().expect("it is read").recovered, 0, "{name}");
            let found = place.snapshots("a").read().expect("it is read");
            assert_eq!(
                (found.recovered, found.state.map(|it| it.serial)),
                (1, Some(serial)),
                "{name}"
            );
            let next = place.snapshots("a");
            let guard = acquire(&next, &info(&place.world), Duration::ZERO, &mut |_| true);
            assert_eq!(next.read().expect("it is taken up").recovered, 1, "{name}");
            guard.expect("it is free").release().expect("it is given back");
            let found = place.snapshots("a").read().expect("it is read");
            assert_eq!(
                (found.recovered, found.state.map(|it| it.serial)),
                (0, Some(serial)),
                "{name}"
            );
        }
    });
}

/// Leaves a journal as a run does that dies after it has stored a snapshot, or has just begun to.
fn interrupted_after_storing(snapshots: &Snapshots, is_stored: bool) {
    let state = snapshots.read().expect("it is read").state.unwrap_or_default();
    let (lineage, serial) = (state.lineage.clone(), state.serial);
    let base = Base { lineage: lineage.clone(), serial, next_lineage: lineage, ..Base::default() };
    let journal = Journal::open(snapshots.journal().expect("it is free"), &base, &[]);
    let gone = |name: &str| {
        let address = format!("terraform_data.{name}").parse().expect("an address");
        Record::Removed { address, deposed: None }
    };
    journal.append(&[gone("a")]);
    if is_stored {
        let announce = |serial| {
            journal.store(serial);
        };
        snapshots.write_meanwhile(&with_output(9), announce).expect("it is stored");
    } else {
        journal.store(serial + 1);
    }
    journal.append(&[gone("b")]);
    journal.flush().expect("it is written");
}

#[test]
fn a_run_that_was_interrupted_after_it_stored_a_part_is_taken_up_from_there() {
    each(|name, place| {
        for is_stored in [true, false] {
            let workspace = if is_stored { "a" } else { "b" };
            place.snapshots(workspace).write(&with_output(1)).expect("it is written");
            interrupted_after_storing(&place.snapshots(workspace), is_stored);
            let found = place.snapshots(workspace).read().expect("it is read");
            let serial = found.state.map(|it| it.serial);
            let expected = if is_stored { 3 } else { 2 };
            assert_eq!((found.recovered, serial), (2, Some(expected)), "{name} {is_stored}");
        }
    });
}

#[test]
fn the_journal_of_another_lineage_waits_for_its_own() {
    each(|name, place| {
        if name == "local" {
            // There it lies beside the one state, and stops whoever writes.
            return;
        }
        let one = place.snapshots("a");
        one.write(&with_output(1)).expect("it is written");
        interrupted(&place.snapshots("a"));
        let other = State { lineage: "other".into(), ..with_output(5) };
        let store = place.store();
        let now = read(&store, "a");
        let theirs = crate::state::write::write_as(&other, "other", 7);
        let version = write(&store, "a", theirs.as_bytes(), &now.version).expect("it is written");
        assert_eq!(place.snapshots("a").read().expect("it is read").recovered, 0, "{name}");
        place.snapshots("a").write(&with_output(6)).expect("nothing is in the way");
        let version = match read(&store, "a").version {
            it if it != version => it,
            _ => panic!("{name}: nothing was written"),
        };
        write(&store, "a", &now.bytes, &version).expect("it is written");
        assert_eq!(place.snapshots("a").read().expect("it is read").recovered, 1, "{name}");
    });
}

#[test]
fn a_distant_store_is_asked_from_within_a_runtime_too() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    each(|name, place| {
        let written = runtime.block_on(async { place.snapshots("default").write(&with_output(1)) });
        assert_eq!(written.expect("it is written").serial, 1, "{name}");
    });
}

#[test]
fn memory_with_a_lock_id_is_found_locked() {
    let world = Arc::new(World::of_this_process());
    let kind = registry::kind("inmem").expect("it is registered");
    let given = [("lock_id".to_owned(), Value::string("abc"))].into();
    let open = || kind.open(&world, &given, &Choice::default()).expect("it is opened");
    let store = open();
    let problem = wait(&*store, store.lock("default", &info(&world))).expect_err("it is locked");
    assert!(problem.to_string().starts_with("state locked\nLock Info:\n  ID:        abc\n"));
    wait(&*store, store.force_unlock("default", "abc")).expect("it is removed");
    wait(&*store, store.lock("default", &info(&world))).expect("it is free");
    let lock_of_the_first = open();
    wait(&*lock_of_the_first, lock_of_the_first.force_unlock("default", "abc"))
        .expect_err("it was removed");
}
