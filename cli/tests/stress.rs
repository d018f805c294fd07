//! Many processes on one state, some of them killed, over connections that break: no update is lost, none is applied twice, and no
//! lock is left without its holder being named.
//!
//! It takes some seconds for each service. `ENTAIL_STRESS_SECONDS` and `ENTAIL_STRESS_PROCESSES` make more of it.

#![expect(clippy::print_stderr, reason = "what was tried with what is told")]

#[path = "../../tests/support/services/mod.rs"]
#[expect(dead_code, reason = "each test looks at a part of what services keep")]
mod services;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use services::postgres::{self, Postgres};
use services::proxy::{Fault, Proxy};
use services::states;

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|it| it.parse().ok()).unwrap_or(usual)
}

/// Numbers without a pattern, the same in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// What the processes did.
#[derive(Default)]
struct Count {
    acknowledged: AtomicU64,
    /// Whether they were written is not known: killed, or failed.
    unknown: AtomicU64,
    killed: AtomicU64,
    unlocked: AtomicU64,
}

/// One process after another in a folder of its own.
struct Worker<'a> {
    index: u64,
    folder: tempfile::TempDir,
    count: &'a Count,
    dice: Dice,
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
    command
        .args(words)
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .env("TF_CLI_ARGS", "-no-color");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command to its end. Returns whether it was content, and what it said.
fn run(folder: &Path, words: &[&str]) -> (bool, String) {
    let output = command(folder, words).output().expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

impl Worker<'_> {
    /// Changes the object of this worker. Returns whether it was acknowledged.
    ///
    /// - `kills`: one run in so many is killed; 0 for none.
    fn change(&mut self, value: &str, kills: u64) -> bool {
        let target = format!("-target=terraform_data.w[\"{}\"]", self.index);
        let value = format!("v={value}");
        let mut words = vec![
            "apply",
            "-auto-approve",
            "-input=false",
            "-lock-timeout=4s",
            &target,
            "-var",
            &value,
        ];
        if kills > 0 && self.dice.roll(kills) == 0 {
            let mut child =
                command(self.folder.path(), &words).spawn().expect("the program starts");
            std::thread::sleep(Duration::from_millis(40 + self.dice.roll(400)));
            // It may have ended by then, which says nothing of what it did.
            let _ = child.kill();
            child.wait().expect("it ends");
            self.count.killed.fetch_add(1, Ordering::Relaxed);
            self.count.unknown.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        for _ in 0..3 {
            let (is_done, text) = run(self.folder.path(), &words);
            if is_done {
                self.count.acknowledged.fetch_add(1, Ordering::Relaxed);
                return true;
            }
            self.count.unknown.fetch_add(1, Ordering::Relaxed);
            // What a killed run has finished is not lost, and the user says what becomes of it.
            if text.contains("-recover=take") && !words.contains(&"-recover=take") {
                words.push("-recover=take");
                continue;
            }
            if text.contains("Error acquiring the state lock") {
                self.free(&text);
                continue;
            }
            let is_known = [
                "Failed to save state",
                "Failed to read",
                "Error saving",
                "state was changed",
                "lock of the state was lost",
                "Error releasing",
                "Failed to persist",
            ];
            assert!(is_known.iter().any(|it| text.contains(it)), "{text}");
        }
        false
    }

    /// Frees a lock that was held by the same run for all of the time that was waited, which is far longer than a run takes.
    fn free(&self, text: &str) {
        let holder = |text: &str| {
            let line = text.lines().find(|it| it.trim_start().starts_with("ID:"))?;
            line.split_whitespace().nth(1).map(str::to_owned)
        };
        let Some(id) = holder(text) else {
            // A connection broke while the lock was asked for.
            return;
        };
        assert!(text.contains("Who:"), "a lock names its holder: {text}");
        let (_, again) = run(self.folder.path(), &["plan", "-input=false", "-lock-timeout=4s"]);
        if holder(&again) == Some(id.clone()) {
            let (is_done, _) = run(self.folder.path(), &["force-unlock", "-force", &id]);
            self.count.unlocked.fetch_add(u64::from(is_done), Ordering::Relaxed);
        }
    }
}

fn configuration(block: &str, workers: u64) -> String {
    let keys: Vec<String> = (0..workers).map(|it| format!("\"{it}\"")).collect();
    format!(
        "{block}\nvariable \"v\" {{ default = \"none\" }}\nresource \"terraform_data\" \"w\" {{\n  for_each = toset([{}])\n  input    = var.v\n}}\n",
        keys.join(", ")
    )
}

/// Lets workers change their objects in one state, then looks whether it has what it must have.
///
/// - `faults`: the proxy on the way, which breaks some connections.
/// - `kills`: one run in so many is killed; 0 for none.
fn stress(kind: &str, block: &str, faults: Option<&Proxy>, kills: u64) {
    let workers = number("ENTAIL_STRESS_PROCESSES", 4);
    let until = Instant::now() + Duration::from_secs(number("ENTAIL_STRESS_SECONDS", 8));
    let count = Count::default();
    let configuration = configuration(block, workers);
    let folder = || {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("main.tf"), &configuration).expect("a file");
        let (is_done, text) = run(folder.path(), &["init", "-input=false"]);
        assert!(is_done, "{text}");
        folder
    };
    let looker = folder();
    let (is_done, text) = run(looker.path(), &["apply", "-auto-approve"]);
    assert!(is_done, "{text}");
    let state = || -> Json {
        let (is_done, text) = run(looker.path(), &["state", "pull"]);
        assert!(is_done, "{text}");
        serde_json::from_str(&text).expect("a state is JSON")
    };
    let before = state()["serial"].as_u64().expect("it has a serial");
    let folders: Vec<_> = (0..workers).map(|_| folder()).collect();
    std::thread::scope(|scope| {
        for (index, folder) in (0..).zip(folders) {
            let mut worker = Worker { index, folder, count: &count, dice: Dice(0x9e37 + index) };
            scope.spawn(move || {
                for round in 0.. {
                    if Instant::now() > until {
                        break;
                    }
                    if let Some(proxy) = faults
                        && worker.dice.roll(3) == 0
                    {
                        let kinds = [
                            Fault::CutBefore,
                            Fault::CutAnswer,
                            Fault::HalfAnswer,
                            Fault::Delay,
                            Fault::Twice,
                        ];
                        let fault = kinds[worker.dice.roll(5) as usize];
                        let quiet = vec![Fault::None; worker.dice.roll(6) as usize];
                        proxy.set(quiet.into_iter().chain([fault]));
                    }
                    worker.change(&format!("{index}-{round}"), kills);
                }
                if let Some(proxy) = faults {
                    proxy.set([]);
                }
                let is_done = (0..20).any(|_| worker.change(&format!("last-{index}"), 0));
                assert!(is_done, "{index} comes to an end");
            });
        }
    });
    let after = state();
    let written = after["serial"].as_u64().expect("it has a serial") - before;
    let [acknowledged, unknown, killed, unlocked] =
        [&count.acknowledged, &count.unknown, &count.killed, &count.unlocked]
            .map(|it| it.load(Ordering::Relaxed));
    let broken = faults.map_or(0, Proxy::broken);
    eprintln!(
        "{kind}: {workers} processes at once, {acknowledged} changes acknowledged, {unknown} of unknown outcome ({killed} killed), \
         {broken} connections broken, {unlocked} locks freed by hand, {written} states written"
    );
    assert!(acknowledged >= workers, "nothing was done");
    // Each acknowledged change has a state of its own: fewer would be updates lost, more would be changes applied twice.
    assert!((acknowledged..=acknowledged + unknown).contains(&written), "{kind}");
    for index in 0..workers {
        let instances =
            after["resources"][0]["instances"].as_array().expect("there are some").iter();
        let key = index.to_string();
        let own = instances.clone().find(|it| it["index_key"] == key);
        let value = own.map(|it| it["attributes"]["input"]["value"].clone());
        assert_eq!(value, Some(format!("last-{index}").into()), "{kind}: {index}");
    }
}

fn pg(port: u16) -> String {
    format!(
        "terraform {{\n  backend \"pg\" {{\n    conn_str = \"{}\"\n  }}\n}}\n",
        postgres::address(port)
    )
}

#[test]
fn no_update_is_lost_in_postgres() {
    let Some(server) = Postgres::start() else {
        eprintln!("SKIPPED: the backend \"pg\" was not tried. {}", postgres::MISSING);
        return;
    };
    stress("pg (a real PostgreSQL), with kills", &pg(server.port), None, 5);
    let proxy = Proxy::start(server.port);
    stress(
        "pg (a real PostgreSQL), with kills and faults",
        &pg(proxy.port).replace("conn_str", "schema_name = \"two\"\nconn_str"),
        Some(&proxy),
        5,
    );
}

#[test]
fn no_update_is_lost_over_http() {
    let (port, _) = states::start();
    let proxy = Proxy::start(port);
    let address = format!("http://127.0.0.1:{}/stress", proxy.port);
    let block = format!(
        "terraform {{\n  backend \"http\" {{\n    address = \"{address}\"\n    lock_address = \"{address}\"\n    unlock_address = \"{address}\"\n    retry_wait_min = 0\n    retry_wait_max = 1\n  }}\n}}\n"
    );
    stress("http (a server of states), with kills and faults", &block, Some(&proxy), 20);
}
