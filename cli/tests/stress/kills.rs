//! An apply that is killed, again and again: what it has reported is in the state afterwards, and nothing is made twice.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use serde_json::Value as Json;

use crate::services::postgres::{self, Postgres};
use crate::services::s3;
use crate::worker::{Dice, command, holder, run};
use crate::{bucket, number, pg};

/// How many objects each apply makes.
const OBJECTS: usize = 30;

/// What became of all kills.
#[derive(Default)]
struct Told {
    /// How many of the runs were killed before they ended.
    killed: u64,
    reported: u64,
    /// How many kills left a lock.
    locks: u64,
    taken_up: u64,
}

/// Each object notes in a file that it was made, as an object elsewhere would be there.
fn configuration(block: &str) -> String {
    format!(
        "{block}\nvariable \"v\" {{ default = \"0\" }}\nresource \"terraform_data\" \"w\" {{\n  count            = {OBJECTS}\n  input            = var.v\n  triggers_replace = [var.v]\n  \
         provisioner \"local-exec\" {{\n    command = \"echo ${{self.id}} >> made\"\n  }}\n}}\n"
    )
}

/// Returns what a line says was made: the address, and its id.
fn made(line: &str) -> Option<(String, String)> {
    let (address, rest) = line.split_once(": Creation complete")?;
    let id = rest.split_once("[id=")?.1.split_once(']')?.0;
    Some((address.to_owned(), id.to_owned()))
}

/// Runs an apply and kills it after a while. Returns what it has reported as made, and whether it was still alive.
fn killed(folder: &Path, round: u64, after: Duration) -> (BTreeMap<String, String>, bool) {
    let value = format!("v={round}");
    let words = ["apply", "-auto-approve", "-input=false", "-parallelism=4", "-var", &value];
    let mut child = command(folder, &words).spawn().expect("the program starts");
    let out = BufReader::new(child.stdout.take().expect("it is piped"));
    let reader = std::thread::spawn(move || {
        out.lines().map_while(Result::ok).filter_map(|it| made(&it)).collect()
    });
    std::thread::sleep(after);
    let was_alive = child.try_wait().expect("it can be asked").is_none();
    // It may have ended just now.
    let _ = child.kill();
    child.wait().expect("it ends");
    (reader.join().expect("it is read"), was_alive)
}

/// Goes on where a killed run has ended: frees its lock where one was left, and applies the rest.
fn go_on(folder: &Path, round: u64, told: &mut Told) -> String {
    let value = format!("v={round}");
    let words = ["apply", "-auto-approve", "-input=false", "-var", &value];
    for _ in 0..100 {
        let (is_done, text) = run(folder, &words);
        if is_done {
            return text;
        }
        assert!(text.contains("Error acquiring the state lock"), "{text}");
        assert!(text.contains("Who:"), "a lock names its holder: {text}");
        let id = holder(&text).expect("a lock has an ID");
        // That of PostgreSQL goes by itself, once the server knows that its holder is dead.
        if run(folder, &["force-unlock", "-force", &id]).0 {
            told.locks += 1;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the lock stays")
}

fn state(folder: &Path) -> BTreeMap<String, String> {
    let (is_done, text) = run(folder, &["state", "pull"]);
    assert!(is_done, "{text}");
    let state: Json = serde_json::from_str(&text).expect("a state is JSON");
    let instances = state["resources"][0]["instances"].as_array().cloned().unwrap_or_default();
    let named = instances.iter().map(|it| {
        let address = format!("terraform_data.w[{}]", it["index_key"]);
        (address, it["attributes"]["id"].as_str().unwrap_or_default().to_owned())
    });
    named.collect()
}

/// Kills an apply many times, at any moment of it.
fn kills(kind: &str, block: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("main.tf"), configuration(block)).expect("a file");
    let (is_done, text) = run(folder.path(), &["init", "-input=false"]);
    assert!(is_done, "{text}");
    let start = std::time::Instant::now();
    go_on(folder.path(), 0, &mut Told::default());
    // Kills are spread over what a whole run takes.
    let mut longest = start.elapsed().max(Duration::from_millis(200));
    let mut told = Told::default();
    let mut dice = Dice(0x51ed);
    let wanted = number("ENTAIL_STRESS_KILLS", (3, 200));
    for round in 1.. {
        if told.killed >= wanted {
            break;
        }
        let after = longest.mul_f64(dice.roll(1000) as f64 / 1000.0);
        let _ = std::fs::remove_file(folder.path().join("made"));
        let (reported, was_alive) = killed(folder.path(), round, after);
        match was_alive {
            true => told.killed += 1,
            // It was over before.
            false => longest = longest.mul_f64(0.97),
        }
        told.reported += reported.len() as u64;
        let text = go_on(folder.path(), round, &mut told);
        told.taken_up += u64::from(text.contains("Finished steps of an interrupted run taken up"));
        let now = state(folder.path());
        assert_eq!(now.len(), OBJECTS, "{kind}, round {round}");
        for (address, id) in &reported {
            // What was reported is never lost, and so never made again.
            assert_eq!(now.get(address), Some(id), "{kind}, round {round}: {address}\n{text}");
        }
        let made = std::fs::read_to_string(folder.path().join("made")).unwrap_or_default();
        let is_known = |id: &str| {
            // What was made and not provisioned to its end is replaced.
            let gone = format!("Destroying... [id={id}]");
            now.values().any(|it| it == id) || text.contains(&gone)
        };
        let unknown = made.lines().filter(|it| !is_known(it)).count();
        // What was made, and is in no state, was just being made when the run was killed: the next one names it.
        let named = text.lines().filter(|it| it.contains("may exist, and is not recorded")).count();
        assert!(unknown <= named, "{kind}, round {round}: {unknown} of {named}\n{text}");
        assert!(named <= 4, "{kind}, round {round}: no more than ran at once\n{text}");
    }
    let Told { killed, reported, locks, taken_up } = told;
    eprintln!(
        "{kind}: {killed} kills of an apply of {OBJECTS} objects, {reported} of which were reported before, none lost; {locks} locks were left, \
         and named their holder; {taken_up} journals taken up"
    );
}

#[test]
fn what_was_reported_before_a_kill_is_kept_in_postgres() {
    let Some(server) = Postgres::start() else {
        eprintln!("SKIPPED: kills on the backend \"pg\" were not tried. {}", postgres::MISSING);
        return;
    };
    kills("pg (a real PostgreSQL)", &pg(server.port));
}

#[test]
fn what_was_reported_before_a_kill_is_kept_in_s3() {
    match std::env::var("ENTAIL_S3") {
        Ok(endpoint) => kills(
            &format!("s3 ({endpoint})"),
            &bucket(&endpoint, "kills", &format!("run-{}", std::process::id())),
        ),
        Err(_) => {
            let (port, _) = s3::start();
            let endpoint = format!("http://127.0.0.1:{port}");
            kills("s3 (a double)", &bucket(&endpoint, s3::BUCKET, "kills"));
        }
    }
}
