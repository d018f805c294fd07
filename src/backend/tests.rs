//! The local backend, on real files: writing, backing up, locking, recovering.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use pretty_assertions::assert_eq;

use super::files::Fresh;
use super::local::{Choice, Local, Paths};
use super::{LockInfo, LockProblem, Recover, Snapshots, acquire, files, workspace};
use crate::address::InstanceKey;
use crate::diagnostic::Diagnostics;
use crate::execute::journal::Journal;
use crate::state::journal::{Base, Begun, Record};
use crate::state::{State, names, read};
use crate::world::World;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn world(&self) -> Arc<World> {
        Arc::new(World { root: self.folder.path().into(), ..World::of_this_process() })
    }

    fn backend(&self) -> Snapshots {
        self.backend_with(&Choice::default())
    }

    fn backend_with(&self, choice: &Choice) -> Snapshots {
        let store = Local::new(self.world(), choice.clone());
        Snapshots::new(self.world(), Arc::new(store), "default", choice.recover)
    }

    fn files(&self) -> String {
        let entries = std::fs::read_dir(self.folder.path()).expect("the folder is read");
        let mut names: Vec<String> =
            entries.flatten().map(|it| it.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names.join(" ")
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("the file is read")
    }

    fn serial(&self, name: &str) -> u64 {
        read::read(self.text(name).as_bytes())
            .expect("it is a state")
            .expect("it is not empty")
            .serial
    }
}

/// A state of these instances of `terraform_data`, each with its name as id.
fn state_of(names: &[&str]) -> State {
    let instance = |name: &&str| {
        let provider = r#"provider[\"terraform.io/builtin/terraform\"]"#;
        format!(
            r#"{{"mode": "managed", "type": "terraform_data", "name": "{name}", "provider": "{provider}",
                "instances": [{{"schema_version": 0, "attributes": {{"id": "{name}"}}}}]}}"#
        )
    };
    let resources: Vec<String> = names.iter().map(instance).collect();
    let text = format!(
        r#"{{"version": 4, "serial": 0, "lineage": "", "resources": [{}]}}"#,
        resources.join(",")
    );
    read::read(text.as_bytes()).expect("it is a state").expect("it is not empty")
}

fn names_in(state: Option<&State>) -> String {
    state
        .map(|it| it.instances().map(|it| it.0.to_string()).collect::<Vec<_>>().join(" "))
        .unwrap_or_default()
}

fn info() -> LockInfo {
    LockInfo::new(&World::of_this_process(), "OperationTypeApply")
}

fn show(problems: &Diagnostics) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_first_write_starts_a_lineage_and_leaves_no_backup() {
    let place = Place::new();
    let stored = place.backend().write(&state_of(&["a"])).expect("it is written");
    assert_eq!((stored.serial, stored.lineage.len(), stored.is_written), (1, 36, true));
    assert_eq!(place.files(), "terraform.tfstate");
    assert!(place.text("terraform.tfstate").ends_with("}\n\n"));
}

#[test]
fn each_changed_write_counts_and_only_the_first_is_backed_up() {
    let place = Place::new();
    let first = place.backend().write(&state_of(&["a"])).expect("it is written");
    let backend = place.backend();
    let second = backend.write(&state_of(&["b"])).expect("it is written");
    let third = backend.write(&state_of(&["c"])).expect("it is written");
    assert_eq!((second.serial, third.serial), (2, 3));
    assert_eq!(first.lineage, third.lineage);
    assert_eq!(
        (place.serial("terraform.tfstate.backup"), place.serial("terraform.tfstate")),
        (1, 3)
    );
}

#[test]
fn an_unchanged_state_is_not_written_whatever_the_file_looks_like() {
    let place = Place::new();
    place.backend().write(&state_of(&["a"])).expect("it is written");
    let stored = place.backend().write(&state_of(&["a"])).expect("it is compared");
    assert_eq!((stored.serial, stored.is_written), (1, false));

    let other = place.text("terraform.tfstate").replace("\n", "").replace("1.12.6", "1.5.0");
    std::fs::write(place.path("terraform.tfstate"), &other).expect("it is written");
    assert!(!place.backend().write(&state_of(&["a"])).expect("it is compared").is_written);
    assert_eq!(place.text("terraform.tfstate"), other);
    assert_eq!(place.files(), "terraform.tfstate");
}

#[test]
fn state_out_and_backup_choose_other_files() {
    let place = Place::new();
    place.backend().write(&state_of(&["a"])).expect("it is written");
    let choice = Choice { state_out: Some("out/new.tfstate".into()), ..Choice::default() };
    place.backend_with(&choice).write(&state_of(&["b"])).expect("it is written");
    assert_eq!((place.serial("terraform.tfstate"), place.serial("out/new.tfstate")), (1, 2));

    let choice = Choice { backup: Some("-".into()), ..Choice::default() };
    place.backend_with(&choice).write(&state_of(&["b"])).expect("it is written");
    assert_eq!(place.files(), "out terraform.tfstate");

    let choice = Choice { backup: Some("kept".into()), ..Choice::default() };
    place.backend_with(&choice).write(&state_of(&["c"])).expect("it is written");
    assert_eq!(place.files(), "kept out terraform.tfstate");
}

#[test]
fn workspaces_have_their_own_files() {
    let paths = |choice: &Choice, workspace: &str| {
        let paths = Paths::new(choice, workspace);
        format!("{} {}", paths.write.display(), paths.backup.unwrap_or_default().display())
    };
    let configured = Choice {
        path: Some("p/s.json".into()),
        workspace_folder: Some("w".into()),
        ..Choice::default()
    };
    assert_eq!(paths(&Choice::default(), "default"), "terraform.tfstate terraform.tfstate.backup");
    assert_eq!(
        paths(&Choice::default(), "dev"),
        "terraform.tfstate.d/dev/terraform.tfstate terraform.tfstate.d/dev/terraform.tfstate.backup"
    );
    assert_eq!(paths(&configured, "default"), "p/s.json p/s.json.backup");
    assert_eq!(paths(&configured, "dev"), "w/dev/terraform.tfstate w/dev/terraform.tfstate.backup");
}

#[test]
fn the_selected_workspace_comes_from_the_environment_or_the_folder() {
    let place = Place::new();
    let world = |variables: &[(&str, &str)]| World {
        environment: variables.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        ..(*place.world()).clone()
    };
    assert_eq!(workspace::selected(&world(&[])), Ok("default".into()));
    std::fs::create_dir_all(place.path("data")).expect("a folder");
    std::fs::write(place.path("data/environment"), "dev\n").expect("it is written");
    assert_eq!(workspace::selected(&world(&[("TF_DATA_DIR", "data")])), Ok("dev".into()));
    assert_eq!(
        workspace::selected(&world(&[("TF_DATA_DIR", "data"), ("TF_WORKSPACE", "prod")])),
        Ok("prod".into())
    );
    assert!(workspace::selected(&world(&[("TF_WORKSPACE", "a/b")])).is_err());
    std::fs::create_dir_all(place.path("w/zwei")).expect("a folder");
    std::fs::create_dir_all(place.path("w/eins")).expect("a folder");
    assert_eq!(workspace::list(&place.path("w")), ["default", "eins", "zwei"]);
}

#[test]
fn what_cannot_be_written_leaves_the_old_file() {
    let place = Place::new();
    place.backend().write(&state_of(&["a"])).expect("it is written");
    let before = place.text("terraform.tfstate");
    std::fs::create_dir(place.path("terraform.tfstate.backup")).expect("a folder in the way");
    let problems = place.backend().write(&state_of(&["b"])).expect_err("the backup fails");
    assert!(show(&problems.problems).starts_with("Failed to save state: Error saving state: failed to create local state backup file terraform.tfstate.backup: "));
    assert_eq!(place.text("terraform.tfstate"), before);
    assert_eq!(place.files(), "terraform.tfstate terraform.tfstate.backup");
}

#[test]
fn a_replaced_file_keeps_its_permissions_and_links() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    std::fs::write(place.path("real"), "old").expect("it is written");
    std::fs::set_permissions(place.path("real"), std::fs::Permissions::from_mode(0o640))
        .expect("they are set");
    std::os::unix::fs::symlink("real", place.path("link")).expect("a link");
    files::replace(&place.path("link"), b"new", Fresh::Usual).expect("it is replaced");
    assert_eq!(place.text("real"), "new");
    assert_eq!(
        std::fs::metadata(place.path("real")).expect("it is there").permissions().mode() & 0o777,
        0o640
    );
    assert!(place.path("link").is_symlink());
}

#[test]
fn what_is_left_beside_the_file_of_a_link_goes_with_the_next_lock() {
    let place = Place::new();
    std::fs::create_dir(place.path("real")).expect("a folder");
    std::fs::write(place.path("real/state"), "").expect("it is written");
    std::fs::write(place.path("real/.entail-1-0.tmp"), "half").expect("it is written");
    std::os::unix::fs::symlink("real/state", place.path("terraform.tfstate")).expect("a link");
    let backend = place.backend();
    backend.lock(&info()).expect("it is free");
    backend.unlock().expect("it is held");
    assert!(!place.path("real/.entail-1-0.tmp").exists());
}

#[test]
fn a_pushed_state_keeps_its_serial_and_must_be_newer_unless_forced() {
    let place = Place::new();
    place.backend().write(&state_of(&["a"])).expect("it is written");
    let known = place.backend().read().expect("it is read").state.expect("there is a state");

    let other = State { lineage: "other".into(), serial: 9, ..state_of(&["b"]) };
    let problems = place.backend().import(|| Ok(&other), false).expect_err("it is unrelated");
    expect![[r#"Failed to write the imported state: cannot import state with lineage "other" over unrelated state with lineage "LINEAGE""#]]
        .assert_eq(&show(&problems).replace(&known.lineage, "LINEAGE"));
    let older = State { serial: 0, ..known.clone() };
    let same = State { lineage: known.lineage.clone(), serial: 1, ..state_of(&["b"]) };
    check_push(
        &place,
        &older,
        expect![
            "Failed to write the imported state: cannot import state with serial 0 over newer state with serial 1"
        ],
    );
    check_push(
        &place,
        &same,
        expect![
            "Failed to write the imported state: cannot overwrite existing state with serial 1 with a different state that has the same serial"
        ],
    );
    assert!(!place.backend().import(|| Ok(&known), false).expect("it is the same").is_written);

    let forced = place.backend().import(|| Ok(State { serial: 0, ..same.clone() }), true);
    assert_eq!(forced.expect("it is forced").serial, 2);
    let again =
        place.backend().import(|| Ok(State { serial: 0, ..same }), true).expect("it is forced");
    assert_eq!((again.serial, again.is_written), (2, false));

    let stored = place.backend().import(|| Ok(&other), true).expect("it is forced");
    assert_eq!((stored.lineage.as_str(), stored.serial), ("other", 9));
    assert_eq!(place.serial("terraform.tfstate"), 9);
}

#[track_caller]
fn check_push(place: &Place, state: &State, problem: Expect) {
    problem
        .assert_eq(&show(&place.backend().import(|| Ok(state), false).expect_err("it is refused")));
}

#[test]
fn a_held_lock_is_told_with_its_holder() {
    let place = Place::new();
    let holder = place.backend();
    let info = LockInfo {
        id: "an-id".into(),
        who: "me@here".into(),
        created: "2024-05-06T07:08:09.12Z".into(),
        ..info()
    };
    let guard = acquire(&holder, &info, Duration::ZERO, &mut |_| true).expect("it is locked");
    assert_eq!(place.files(), ".terraform.tfstate.lock.info terraform.tfstate");

    let other = place.backend();
    let mut waits = 0;
    let problems = acquire(&other, &LockInfo::default(), Duration::from_millis(150), &mut |_| {
        waits += 1;
        true
    })
    .expect_err("it is held");
    assert!(waits >= 1);
    expect![[r#"
        Error acquiring the state lock: Error message: resource temporarily unavailable
        Lock Info:
          ID:        an-id
          Path:      terraform.tfstate
          Operation: OperationTypeApply
          Who:       me@here
          Version:   1.12.6
          Created:   2024-05-06 07:08:09.12 +0000 UTC
          Info:      


        entail acquires a state lock to protect the state from being written
        by multiple users at the same time. Please resolve the issue above and try
        again. For most commands, you can disable locking with the "-lock=false"
        flag, but this is not recommended."#]]
    .assert_eq(&show(&problems));

    guard.release().expect("it is released");
    assert_eq!(place.files(), "");
    acquire(&other, &LockInfo::default(), Duration::ZERO, &mut |_| true).expect("it is free");
}

#[test]
fn waiting_for_a_lock_can_be_given_up() {
    let place = Place::new();
    let holder = place.backend();
    let _guard = acquire(&holder, &info(), Duration::ZERO, &mut |_| true).expect("it is locked");
    acquire(&place.backend(), &info(), Duration::from_secs(60), &mut |_| false)
        .expect_err("it is given up");
}

#[test]
fn a_lock_survives_reading_and_replacing_the_state() {
    let place = Place::new();
    let holder = place.backend();
    let guard = acquire(&holder, &info(), Duration::ZERO, &mut |_| true).expect("it is locked");
    for names in [["a"], ["b"]] {
        holder.write(&state_of(&names)).expect("it is written");
        holder.read().expect("it is read");
        place.backend().read().expect("others in this process may read it");
        // As functions of a configuration do.
        std::fs::read(place.path("terraform.tfstate")).expect("it is read");
        assert!(
            Other::locks(&place.path("terraform.tfstate")).is_none(),
            "another process gets the lock"
        );
    }
    guard.release().expect("it is released");
    assert!(Other::locks(&place.path("terraform.tfstate")).is_some());
}

#[test]
fn a_lock_of_another_process_is_seen_and_ends_with_it() {
    let place = Place::new();
    std::fs::write(place.path("terraform.tfstate"), "").expect("it is written");
    let other = Other::locks(&place.path("terraform.tfstate")).expect("it gets the lock");
    // A holder that told nothing about itself.
    let problem = place.backend().lock(&info()).expect_err("it is held");
    expect![[r#"
        2 errors occurred:
        	* resource temporarily unavailable
        	* open .terraform.tfstate.lock.info: no such file or directory

    "#]]
    .assert_eq(&problem.to_string());

    let left = LockInfo { id: "left".into(), ..info() };
    std::fs::write(
        place.path(".terraform.tfstate.lock.info"),
        serde_json::to_vec(&left).expect("JSON"),
    )
    .expect("it is written");
    assert!(
        matches!(place.backend().lock(&info()), Err(LockProblem::Held(Ok(info))) if info.id == "left")
    );
    assert_eq!(
        place.backend().force_unlock("left").expect_err("its holder lives").summary,
        "State locked by another local process"
    );
    drop(other);
    // The process is dead; what it left does not block.
    let backend = place.backend();
    acquire(&backend, &info(), Duration::ZERO, &mut |_| true)
        .expect("it is free")
        .release()
        .expect("it is released");
    assert_eq!(place.files(), "terraform.tfstate");
}

#[test]
fn a_stale_lock_is_removed_by_its_id() {
    let place = Place::new();
    assert_eq!(
        place.backend().force_unlock("x").expect_err("there is none").summary,
        "Failed to unlock state: LocalState not locked"
    );
    let left = LockInfo { id: "left".into(), ..info() };
    std::fs::write(
        place.path(".terraform.tfstate.lock.info"),
        serde_json::to_vec(&left).expect("JSON"),
    )
    .expect("it is written");
    assert_eq!(
        place.backend().force_unlock("x").expect_err("it is another").summary,
        "Failed to unlock state: invalid lock id: \"x\". current id: \"left\""
    );
    place.backend().force_unlock("left").expect("it is removed");
    assert_eq!(place.files(), "");
}

/// A process that holds a lock until it is dropped: this test program, started anew for one test.
struct Other(Child);

const HOLD: &str = "ENTAIL_TEST_HOLD_LOCK";

impl Other {
    fn locks(path: &Path) -> Option<Other> {
        let program = std::env::current_exe().expect("this program");
        let mut child = Command::new(program)
            .args(["--exact", "backend::tests::another_process_holds_a_lock", "--nocapture"])
            .env(HOLD, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let out = BufReader::new(child.stdout.take().expect("it has an output"));
        let has_lock = out.lines().map_while(Result::ok).find_map(|line| match line.as_str() {
            it if it.ends_with("held by me") => Some(true),
            it if it.ends_with("held by another") => Some(false),
            _ => None,
        });
        let other = Other(child);
        (has_lock == Some(true)).then_some(other)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn another_process_holds_a_lock() {
    // Of use only when started by `Other`.
    let Ok(path) = std::env::var(HOLD) else { return };
    let locked = files::lock(Path::new(&path)).expect("it is tried");
    let mut out = std::io::stdout();
    let _ = writeln!(out, "\n{}", if locked.is_some() { "held by me" } else { "held by another" });
    let _ = out.flush();
    let _ = std::io::stdin().read_line(&mut String::new());
}

/// Leaves the place as a process does that dies in the middle of a run that has finished these steps.
fn interrupted(place: &Place, steps: &[Record]) {
    let backend = place.backend();
    let state = backend.read().expect("it is read").state;
    let (lineage, serial) = state.map(|it| (it.lineage, it.serial)).unwrap_or_default();
    let next_lineage = if lineage.is_empty() { "new".into() } else { lineage.clone() };
    let journal = Journal::open(
        backend.journal().expect("nothing is in the way"),
        &Base { lineage, serial, next_lineage, ..Base::default() },
        &[],
    );
    for step in steps {
        journal.append(std::slice::from_ref(step));
    }
    journal.flush().expect("it is written");
}

fn written(name: &str) -> Record {
    let state = state_of(&[name]);
    let (address, resource, instance) = state.instances().next().expect("there is an instance");
    let object = instance.current.clone().expect("it has an object");
    Record::Written {
        address,
        deposed: None,
        provider: resource.provider.clone().into_inner(),
        provider_key: InstanceKey::None,
        object: Box::new(object.into_inner()),
    }
}

fn removed(name: &str) -> Record {
    Record::Removed {
        address: names::instance(&format!("terraform_data.{name}")).expect("an address"),
        deposed: None,
    }
}

#[test]
fn finished_steps_of_an_interrupted_run_are_read_and_kept() {
    let place = Place::new();
    place.backend().write(&state_of(&["a", "b"])).expect("it is written");
    interrupted(&place, &[removed("a"), written("c")]);

    // A reader takes them into account and changes nothing.
    let snapshot = place.backend().read().expect("it is read");
    assert_eq!(names_in(snapshot.state.as_ref()), "terraform_data.b terraform_data.c");
    assert_eq!((snapshot.recovered, snapshot.state.expect("there is a state").serial), (2, 2));
    assert_eq!(
        (place.files().as_str(), place.serial("terraform.tfstate")),
        (".terraform.tfstate.journal terraform.tfstate", 1)
    );

    // Whoever holds the lock writes them.
    let backend = place.backend();
    let guard = acquire(&backend, &info(), Duration::ZERO, &mut |_| true).expect("it is locked");
    let snapshot = backend.read().expect("it is read");
    assert_eq!(snapshot.recovered, 2);
    assert_eq!(place.serial("terraform.tfstate"), 2);
    assert_eq!(backend.write(&state_of(&["d"])).expect("it is written").serial, 3);
    guard.release().expect("it is released");
    assert_eq!(place.files(), "terraform.tfstate terraform.tfstate.backup");
    assert_eq!(place.backend().read().expect("it is read").recovered, 0);
}

/// A creation that a provider was asked for.
fn creation(name: &str) -> Begun {
    let Record::Written { address, .. } = written(name) else { unreachable!("it is written") };
    let known = vec![("name".to_owned(), name.to_owned())];
    let provider = "terraform.io/builtin/terraform".to_owned();
    Begun { address, deposed: None, action: "create".into(), provider, known }
}

/// Writes the journal of a run that was killed: finished steps, one that was begun, and what came after it.
fn killed(place: &Place, steps: &[Record], begun: &Begun, later: &[Record]) {
    let backend = place.backend();
    let state = backend.read().expect("it is read").state.expect("there is one");
    let (lineage, next_lineage) = (state.lineage.clone(), state.lineage);
    let base = Base { lineage, serial: state.serial, next_lineage, plan: String::new() };
    let file = backend.journal().expect("nothing is in the way");
    let journal = Journal::open(file, &base, &[]);
    for step in steps {
        journal.append(std::slice::from_ref(step));
    }
    journal.begin_step(begun);
    for step in later {
        journal.append(std::slice::from_ref(step));
    }
    journal.flush().expect("it is written");
}

fn noted(state: Option<&State>) -> Vec<String> {
    let notes = state.map(|it| it.unconfirmed.clone()).unwrap_or_default();
    notes.iter().map(|it| it.address.to_string()).collect()
}

#[test]
fn what_was_being_created_when_a_run_was_killed_is_noted_until_it_is_recorded() {
    for steps in [&[][..], &[written("c")]] {
        let place = Place::new();
        place.backend().write(&state_of(&["a"])).expect("it is written");
        killed(&place, steps, &creation("b"), &[]);
        // Who has no lock cannot know that the run is over.
        assert!(place.backend().read().expect("it is read").warnings.is_empty());
        // The first who has it writes the note, and it stays.
        for _ in 0..2 {
            let backend = place.backend();
            let guard = acquire(&backend, &info(), Duration::ZERO, &mut |_| true).expect("a lock");
            let snapshot = backend.read().expect("it is read");
            assert_eq!(noted(snapshot.state.as_ref()), ["terraform_data.b"]);
            guard.release().expect("it is released");
            let stored = place.backend().read().expect("it is read").state;
            assert_eq!(noted(stored.as_ref()), ["terraform_data.b"]);
            assert!(!place.path(".terraform.tfstate.journal").exists());
        }
        // A later run creates it, and is killed before it writes the state.
        killed(&place, &[], &creation("b"), &[written("b")]);
        let snapshot = place.backend().read().expect("it is read");
        assert_eq!(noted(snapshot.state.as_ref()), [""; 0]);
    }
}

#[test]
fn a_first_run_that_was_interrupted_leaves_a_state() {
    let place = Place::new();
    interrupted(&place, &[written("a")]);
    let state = place.backend().read().expect("it is read").state.expect("there is a state");
    assert_eq!((state.lineage.as_str(), state.serial), ("new", 1));
    // A write without a read before it takes them into account, too.
    let stored = place.backend().write(&state).expect("it is written");
    assert_eq!(stored.lineage, "new");
    assert_eq!(place.files(), "terraform.tfstate");
}

#[test]
fn a_journal_whose_steps_are_stored_already_is_cleared_away() {
    let place = Place::new();
    place.backend().write(&state_of(&["a"])).expect("it is written");
    interrupted(&place, &[written("b")]);
    let journal = std::fs::read(place.path(".terraform.tfstate.journal")).expect("it is read");
    place.backend().write(&state_of(&["a", "b"])).expect("it is written");
    assert_eq!(place.files(), "terraform.tfstate terraform.tfstate.backup");

    // As if the process had died between writing the state and removing the journal.
    std::fs::write(place.path(".terraform.tfstate.journal"), journal).expect("it is written");
    let backend = place.backend();
    assert_eq!(backend.read().expect("it is read").recovered, 0);
    let guard = acquire(&backend, &info(), Duration::ZERO, &mut |_| true).expect("it is locked");
    assert!(backend.read().expect("it is read").warnings.is_empty());
    guard.release().expect("it is released");
    assert_eq!(place.files(), "terraform.tfstate terraform.tfstate.backup");
}

#[test]
fn a_journal_of_another_snapshot_is_left_alone_with_a_warning() {
    let place = Place::new();
    place.backend().write(&state_of(&["a"])).expect("it is written");
    interrupted(&place, &[written("b")]);
    let text = place.text("terraform.tfstate").replace("\"lineage\": \"", "\"lineage\": \"x");
    std::fs::write(place.path("terraform.tfstate"), text).expect("it is written");
    let snapshot = place.backend().read().expect("it is read");
    assert_eq!(names_in(snapshot.state.as_ref()), "terraform_data.a");
    assert_eq!(
        snapshot.warnings.iter().map(|it| it.summary.as_str()).collect::<Vec<_>>(),
        ["Left-over journal of an interrupted run"]
    );
}

/// What is done to a good journal.
type Damage = fn(Vec<u8>) -> Vec<u8>;

/// Journals that do not fit or cannot be read, by what is done to a good one, and what is said of them.
const BAD_JOURNALS: &[(&str, Damage, &str)] = &[
    ("its first line is damaged", |it| [b"x", &it[1..]].concat(), "Damaged journal"),
    (
        "a line in the middle is damaged",
        |mut it| {
            let second = it.iter().position(|it| *it == b'\n').expect("a line") + 30;
            it[second] ^= 1;
            it
        },
        "Damaged journal",
    ),
    ("it is all zeros", |it| vec![0; it.len()], "Damaged journal"),
    (
        "it is of a newer version",
        |it| {
            let text =
                String::from_utf8(it).expect("text").replace("\"journal\":4", "\"journal\":9");
            let (first, rest) = text.split_once('\n').expect("a line");
            let json = first.split_once(' ').expect("a sum").1;
            format!("{}\n{rest}", crate::state::journal::sealed_for_tests(json)).into_bytes()
        },
        "Journal of a newer version",
    ),
    (
        "its first line is that of another snapshot",
        |it| {
            let text = String::from_utf8(it).expect("text").replace("\"serial\":1", "\"serial\":7");
            let (first, rest) = text.split_once('\n').expect("a line");
            let json = first.split_once(' ').expect("a sum").1;
            format!("{}\n{rest}", crate::state::journal::sealed_for_tests(json)).into_bytes()
        },
        "Damaged journal",
    ),
];

#[test]
fn a_journal_that_was_not_wholly_read_stops_whoever_writes_until_the_user_has_looked() {
    const JOURNAL: &str = ".terraform.tfstate.journal";
    for (what, damage, summary) in BAD_JOURNALS {
        let place = Place::new();
        place.backend().write(&state_of(&["a"])).expect("it is written");
        interrupted(&place, &[written("b"), written("c")]);
        let bytes = damage(std::fs::read(place.path(JOURNAL)).expect("it is read"));
        std::fs::write(place.path(JOURNAL), &bytes).expect("it is written");
        let check = |problems: Diagnostics| {
            let first = problems.iter().next().expect("a problem");
            assert!(first.summary.starts_with(summary), "{what}: {first:?}");
            assert!(first.detail.contains("-recover=take"), "{what}: {first:?}");
            assert_eq!(std::fs::read(place.path(JOURNAL)).expect("it stays"), bytes, "{what}");
            assert_eq!(place.serial("terraform.tfstate"), 1, "{what}");
        };
        // Looking is allowed, writing is not, with a lock or without.
        let looker = place.backend();
        check(looker.read().expect("it is read").warnings);
        check(looker.write(&state_of(&["d"])).expect_err("it stops").problems);
        check(looker.journal().expect_err("it stops"));
        check(looker.import(|| Ok(state_of(&["d"])), true).expect_err("it stops"));
        let writer = place.backend();
        let guard = acquire(&writer, &info(), Duration::ZERO, &mut |_| true).expect("it is locked");
        check(writer.read().expect_err("it stops"));
        drop(guard);

        for recover in [Recover::Aside, Recover::Take] {
            std::fs::write(place.path(JOURNAL), &bytes).expect("it is written");
            let choice = Choice { recover: Some(recover), ..Choice::default() };
            let backend = place.backend_with(&choice);
            let guard = acquire(&backend, &info(), Duration::ZERO, &mut |_| true).expect("locked");
            backend.read().expect("it is read");
            drop(guard);
            assert!(!place.path(JOURNAL).exists(), "{what}");
        }
        let names = names_in(place.backend().read().expect("it is read").state.as_ref());
        let all = "terraform_data.a terraform_data.b terraform_data.c";
        match *what {
            "it is all zeros" => assert_eq!(names, "terraform_data.a"),
            "a line in the middle is damaged" => {
                assert_eq!(names, "terraform_data.a terraform_data.c")
            }
            _ => assert_eq!(names, all, "{what}"),
        }
        let kept = place.files().matches(".terraform.tfstate.journal.").count();
        assert_eq!(kept, 2, "{what}: {}", place.files());
    }
}

#[test]
fn a_journal_that_cannot_be_opened_stops_whoever_writes() {
    let place = Place::new();
    place.backend().write(&state_of(&["a"])).expect("it is written");
    // Nobody reads a folder, whatever the user may do.
    std::fs::create_dir(place.path(".terraform.tfstate.journal")).expect("a folder");
    let backend = place.backend();
    let guard = acquire(&backend, &info(), Duration::ZERO, &mut |_| true).expect("it is locked");
    let problems = backend.read().expect_err("it stops");
    assert!(show(&problems).starts_with("Unreadable journal of an interrupted run"));
    drop(guard);
    place.backend().write(&state_of(&["b"])).expect_err("it stops");
    assert_eq!(place.serial("terraform.tfstate"), 1);
}

#[test]
fn the_journal_of_a_live_run_is_taken_up_by_nobody() {
    let place = Place::new();
    let live = place.backend();
    let base =
        Base { lineage: String::new(), serial: 0, next_lineage: "new".into(), ..Base::default() };
    let journal = Journal::open(live.journal().expect("nothing is in the way"), &base, &[]);
    journal.append(&[written("a")]);
    journal.flush().expect("it is written");
    let backend = place.backend();
    let guard = acquire(&backend, &info(), Duration::ZERO, &mut |_| true).expect("it is locked");
    let problems = backend.read().expect_err("it stops");
    assert!(show(&problems).starts_with("Another run is changing this state"));
    drop(guard);
    place.backend().write(&state_of(&["b"])).expect_err("it stops");
    let other = place.backend();
    other.read().expect("whoever looks is not kept from it");
    other.journal().expect_err("it stops");
    live.write(&state_of(&["a"])).expect("it is the live run's");
    journal.remove().expect("it is removed");
    assert_eq!(place.files(), "terraform.tfstate");
}

#[test]
fn what_somebody_else_has_written_since_is_not_replaced() {
    let place = Place::new();
    place.backend().write(&state_of(&["a"])).expect("it is written");
    for is_locked in [false, true] {
        let backend = place.backend();
        let guard = is_locked.then(|| acquire(&backend, &info(), Duration::ZERO, &mut |_| true));
        backend.read().expect("it is read");
        let text = place.text("terraform.tfstate");
        // Even what looks alike by lineage and serial.
        let theirs = text.replace("terraform_data", "terraform_ours");
        for theirs in [theirs, text.replace("\"serial\": 1", "\"serial\": 5")] {
            std::fs::write(place.path("terraform.tfstate"), &theirs).expect("it is written");
            let refused = backend.write(&state_of(&["b"])).expect_err("it is another's");
            assert!(refused.is_overtaken, "{}", show(&refused.problems));
            assert_eq!(place.text("terraform.tfstate"), theirs);
        }
        drop(guard);
        std::fs::write(place.path("terraform.tfstate"), text).expect("it is written");
    }
}

/// Puts a text in the place of a file.
type Put = fn(&Path, &str);

/// Ways in which another program puts its own state in the place of one that is locked. Each leaves `THEIRS`.
const REPLACEMENTS: &[(&str, Put)] = &[
    ("renamed over it", |at, theirs| {
        std::fs::write(at.with_file_name("new"), theirs).expect("it is written");
        std::fs::rename(at.with_file_name("new"), at).expect("it is renamed");
    }),
    ("removed and written", |at, theirs| {
        std::fs::remove_file(at).expect("it is removed");
        std::fs::write(at, theirs).expect("it is written");
    }),
    ("a link to another file", |at, theirs| {
        std::fs::write(at.with_file_name("other"), theirs).expect("it is written");
        std::fs::remove_file(at).expect("it is removed");
        std::os::unix::fs::symlink("other", at).expect("a link");
    }),
    ("written in place", |at, theirs| std::fs::write(at, theirs).expect("it is written")),
    ("cut off", |at, _| std::fs::write(at, "").expect("it is cut")),
    ("removed", |at, _| std::fs::remove_file(at).expect("it is removed")),
];

#[test]
fn a_state_that_has_taken_the_place_of_a_locked_one_is_not_replaced() {
    for (what, put) in REPLACEMENTS {
        for brings_its_own in [false, true] {
            let place = Place::new();
            place.backend().write(&state_of(&["a"])).expect("it is written");
            let at = place.path("terraform.tfstate");
            let theirs = place.text("terraform.tfstate").replace("\"serial\": 1", "\"serial\": 6");
            let backend = place.backend();
            let guard = acquire(&backend, &info(), Duration::ZERO, &mut |_| true).expect("locked");
            backend.read().expect("it is read");
            let problems = match brings_its_own {
                // As `state push` does, which reads what is there before it reads what it is given.
                true => backend.import(|| Ok((put(&at, &theirs), state_of(&["b"])).1), true),
                false => {
                    put(&at, &theirs);
                    backend.write(&state_of(&["b"])).map_err(|it| it.problems)
                }
            };
            let text = show(&problems.expect_err(what));
            assert!(text.starts_with("The state was changed by somebody else"), "{what}: {text}");
            assert!(backend.is_taken_away(), "{what}");
            drop(guard);
            let there = std::fs::read_to_string(&at).unwrap_or_default();
            let is_emptied = matches!(*what, "cut off" | "removed");
            assert_eq!(there, if is_emptied { "" } else { &theirs }, "{what}");
        }
    }
}

#[test]
fn a_state_that_this_run_wrote_and_that_is_gone_is_not_taken_for_stored() {
    for (what, put) in REPLACEMENTS {
        let place = Place::new();
        place.backend().write(&state_of(&["a"])).expect("it is written");
        let theirs = place.text("terraform.tfstate").replace("\"serial\": 1", "\"serial\": 6");
        let backend = place.backend();
        let _guard = acquire(&backend, &info(), Duration::ZERO, &mut |_| true).expect("locked");
        backend.read().expect("it is read");
        backend.write(&state_of(&["a", "b"])).expect("it is written");
        put(&place.path("terraform.tfstate"), &theirs);
        let refused = backend.write(&state_of(&["a", "b"])).expect_err(what);
        assert!(refused.is_overtaken, "{what}: {}", show(&refused.problems));
    }
}

#[test]
fn a_lock_extends_to_the_file_that_has_taken_the_place_of_the_locked_one() {
    let place = Place::new();
    place.backend().write(&state_of(&["a"])).expect("it is written");
    let at = place.path("terraform.tfstate");
    let text = place.text("terraform.tfstate");
    let backend = place.backend();
    let guard = acquire(&backend, &info(), Duration::ZERO, &mut |_| true).expect("it is locked");
    backend.read().expect("it is read");
    // The same content, as a checkout brings it, which another program has locked.
    REPLACEMENTS[0].1(&at, &text);
    let theirs = std::fs::File::options().read(true).write(true).open(&at).expect("it is there");
    assert!(files::claim(&theirs).expect("locks work here"));
    let refused = backend.write(&state_of(&["b"])).expect_err("it is locked");
    assert!(show(&refused.problems).contains("another program holds its lock"));
    assert_eq!(place.text("terraform.tfstate"), text);
    // A lock that was lost is not taken again, although it is free now.
    drop(theirs);
    let refused = backend.write(&state_of(&["b"])).expect_err("the lock was lost");
    assert!(show(&refused.problems).contains("The lock of the state was lost"));
    drop(guard);
    // A lock that is free is taken by this run, too.
    let backend = place.backend();
    let guard = acquire(&backend, &info(), Duration::ZERO, &mut |_| true).expect("it is locked");
    backend.read().expect("it is read");
    REPLACEMENTS[0].1(&at, &text);
    backend.write(&state_of(&["b"])).expect("the lock is free");
    assert!(place.backend().lock(&info()).is_err(), "the new file is locked, too");
    guard.release().expect("it is released");
}

#[test]
fn an_empty_file_that_was_made_for_a_lock_is_removed_and_no_other() {
    let place = Place::new();
    let backend = place.backend();
    let guard = acquire(&backend, &info(), Duration::ZERO, &mut |_| true).expect("it is locked");
    REPLACEMENTS[0].1(&place.path("terraform.tfstate"), "theirs");
    guard.release().expect("it is released");
    assert_eq!(place.text("terraform.tfstate"), "theirs");
}

#[test]
fn the_greatest_serial_is_followed_by_none() {
    let place = Place::new();
    place.backend().write(&state_of(&["a"])).expect("it is written");
    let text = place.text("terraform.tfstate");
    let text = text.replace("\"serial\": 1", "\"serial\": 18446744073709551615");
    std::fs::write(place.path("terraform.tfstate"), &text).expect("it is written");
    let backend = place.backend();
    let guard = acquire(&backend, &info(), Duration::ZERO, &mut |_| true).expect("it is locked");
    let snapshot = backend.read().expect("it is read");
    let refused = |problems: Diagnostics| {
        assert!(show(&problems).contains("which no serial follows"), "{}", show(&problems));
    };
    refused(backend.journal().expect_err("nothing is begun"));
    refused(backend.write(&state_of(&["b"])).expect_err("it is refused").problems);
    let mut forced = state_of(&["b"]);
    forced.lineage = snapshot.state.expect("a state").lineage;
    forced.serial = 3;
    refused(backend.import(|| Ok(&forced), true).expect_err("it is refused"));
    forced.serial = u64::MAX;
    refused(backend.import(|| Ok(&forced), true).expect_err("it is refused"));
    assert_eq!(place.text("terraform.tfstate"), text);
    // Another lineage begins with a serial of its own.
    let other = State { lineage: "other".into(), serial: 1, ..state_of(&["b"]) };
    backend.import(|| Ok(&other), true).expect("it is written");
    drop(guard);
    assert_eq!(place.serial("terraform.tfstate"), 1);
}

#[test]
fn backups_with_a_date_keep_each_other_and_nobody_else_may_read_them() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.backend().write(&state_of(&["a"])).expect("it is written");
    let mode = |name: &str| {
        std::fs::metadata(place.path(name)).expect("it is there").permissions().mode() & 0o777
    };
    assert_eq!(mode("terraform.tfstate"), 0o600);
    for (name, at) in [("b", 5), ("c", 5), ("d", 5), ("e", 6)] {
        let choice = Choice { dated: Some(at), ..Choice::default() };
        place.backend_with(&choice).write(&state_of(&[name])).expect("it is written");
    }
    assert_eq!(
        place.files(),
        "terraform.tfstate terraform.tfstate.5-2.backup terraform.tfstate.5-3.backup \
         terraform.tfstate.5.backup terraform.tfstate.6.backup"
    );
    assert_eq!(
        (place.serial("terraform.tfstate.5.backup"), place.serial("terraform.tfstate.6.backup")),
        (1, 4)
    );
    assert_eq!(mode("terraform.tfstate.5-2.backup"), 0o600);

    // A copy is for the eyes of those who may read the state, and no others.
    let set = |name: &str, mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(place.path(name), mode).expect("it is set");
    };
    set("terraform.tfstate", 0o640);
    place.backend().write(&state_of(&["f"])).expect("it is written");
    assert_eq!((mode("terraform.tfstate"), mode("terraform.tfstate.backup")), (0o640, 0o640));
    set("terraform.tfstate.backup", 0o644);
    place.backend().write(&state_of(&["g"])).expect("it is written");
    assert_eq!(mode("terraform.tfstate.backup"), 0o640);
}

#[test]
fn a_state_is_kept_in_regular_files_alone() {
    let place = Place::new();
    std::os::unix::fs::symlink("/dev/null", place.path("null")).expect("a link");
    let choice = Choice { state_out: Some("null".into()), ..Choice::default() };
    let backend = place.backend_with(&choice);
    let problems = backend.journal().expect_err("nothing would be kept");
    assert!(show(&problems).contains("it is a device, not a regular file. Nothing was begun."));
    backend.write(&state_of(&["a"])).expect_err("nothing would be kept");
    assert!(matches!(backend.lock(&info()), Err(LockProblem::Failed(_))));
}

#[test]
fn whoever_has_the_replaced_file_open_cannot_go_on_from_it() {
    let place = Place::new();
    let backend = place.backend();
    backend.write(&state_of(&["a"])).expect("it is written");
    let _guard = acquire(&backend, &info(), Duration::ZERO, &mut |_| true).expect("it is locked");
    // A handle of this process that stays open, as closing it would cost the lock.
    let old = std::mem::ManuallyDrop::new(
        std::fs::File::open(place.path("terraform.tfstate")).expect("it is opened"),
    );
    backend.write(&state_of(&["b"])).expect("it is written");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut &*old, &mut text).expect("it is read");
    assert!(read::read(text.as_bytes()).is_err());
    assert_eq!(
        names_in(place.backend().read().expect("it is read").state.as_ref()),
        "terraform_data.b"
    );
}

const SLOW: &str = r#"
resource "terraform_data" "a" { input = "x" }
resource "terraform_data" "b" { input = terraform_data.a.output }
resource "terraform_data" "slow" {
  input = "y"
  provisioner "local-exec" { command = "touch started; while test ! -e go-on; do sleep 0.1; done" }
}
"#;

/// Runs the real programs, which `ENTAIL_TOFU` and `ENTAIL_TERRAFORM` name, beside this one.
#[test]
fn real_programs_read_our_states_and_see_our_locks() {
    for variable in ["ENTAIL_TOFU", "ENTAIL_TERRAFORM"] {
        match std::env::var(variable) {
            Ok(program) => lives_with(&program),
            #[expect(clippy::print_stderr, reason = "a test that is left out says so")]
            Err(_) => {
                eprintln!("LEFT OUT: no comparison with a real program; set {variable} to its path")
            }
        }
    }
}

fn lives_with(program: &str) {
    let place = Place::new();
    let command = |arguments: &[&str]| {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(place.folder.path())
            .env("TF_CLI_CONFIG_FILE", "/dev/null");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let run = |arguments: &[&str]| {
        let output = command(arguments).output().expect("the program runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), text)
    };
    std::fs::write(place.path("main.tf"), SLOW).expect("it is written");
    run(&["init"]);

    // Its lock, as we see it.
    let mut apply = command(&["apply", "-auto-approve"]).spawn().expect("the program starts");
    while !place.path("started").exists() {
        assert_eq!(apply.try_wait().expect("it is asked"), None, "it ends before it starts");
        std::thread::sleep(Duration::from_millis(20));
    }
    match place.backend().lock(&info()) {
        Err(LockProblem::Held(Ok(holder))) => assert_eq!(holder.operation, "OperationTypeApply"),
        other => panic!("{other:?}"),
    }
    std::fs::write(place.path("go-on"), "").expect("it is written");
    assert!(apply.wait().expect("it ends").success());

    // Its state, written by us with our own record, and our lock, as it sees them.
    let backend = place.backend();
    let mut state = backend.read().expect("it is read").state.expect("there is a state");
    for object in state
        .resources
        .values_mut()
        .flat_map(|it| it.instances.values_mut())
        .flat_map(|it| it.current.iter_mut())
    {
        object.reads = Some(["terraform_data.a".into()].into());
    }
    let guard = acquire(&backend, &info(), Duration::ZERO, &mut |_| true).expect("it is locked");
    assert!(backend.write(&state).expect("it is written").is_written);
    let (code, text) = run(&["plan", "-no-color"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("Error acquiring the state lock") && text.contains("OperationTypeApply"),
        "{text}"
    );
    guard.release().expect("it is released");
    let (code, text) = run(&["plan", "-no-color", "-detailed-exitcode"]);
    assert_eq!(code, Some(0), "{text}");

    // What it writes next has lost our record and nothing else.
    run(&["taint", "terraform_data.a"]);
    let state = place.backend().read().expect("it is read").state.expect("there is a state");
    assert_eq!(names_in(Some(&state)), "terraform_data.a terraform_data.b terraform_data.slow");
    assert!(state.instances().all(|it| it.2.current.as_ref().is_some_and(|it| it.reads.is_none())));
}
