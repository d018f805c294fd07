//! One process after another in a folder of its own, some of them killed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Numbers without a pattern, the same in each run.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// What the processes did.
#[derive(Default)]
pub struct Count {
    pub begun: AtomicU64,
    pub acknowledged: AtomicU64,
    /// Whether they were written is not known: killed, or failed.
    pub unknown: AtomicU64,
    pub killed: AtomicU64,
    /// Those that were killed while they held the lock, so that it was left.
    pub unlocked: AtomicU64,
    /// Runs that ended because the lock was held for as long as they waited.
    pub waited: AtomicU64,
}

/// One process after another in a folder of its own.
pub struct Worker<'a> {
    pub index: u64,
    pub folder: tempfile::TempDir,
    pub count: &'a Count,
    pub dice: Dice,
}

/// Returns the program that is tried: the one that is built with the tests, or what `ENTAIL_BINARY` names.
pub fn command(folder: &Path, words: &[&str]) -> Command {
    let chosen = std::env::var_os("ENTAIL_BINARY");
    let mut command = Command::new(chosen.unwrap_or(env!("CARGO_BIN_EXE_entail").into()));
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
pub fn run(folder: &Path, words: &[&str]) -> (bool, String) {
    let output = command(folder, words).output().expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// Returns the ID of the lock that a command has met.
pub fn holder(text: &str) -> Option<String> {
    let line = text.lines().find(|it| it.trim_start_matches(['│', ' ']).starts_with("ID:"))?;
    line.split_once("ID:")?.1.split_whitespace().next().map(str::to_owned)
}

/// What runs say that meet a broken connection, a held lock or another's write, and whose change is not known to be stored then.
const KNOWN: &[&str] = &[
    "Failed to save state",
    "Failed to read",
    "Error saving",
    "state was changed",
    "lock of the state was lost",
    "Error releasing",
    "Failed to persist",
    "Error acquiring",
];

impl Worker<'_> {
    /// Changes the object of this worker. Returns whether it was acknowledged.
    ///
    /// - `kills`: one run in so many is killed; 0 for none.
    pub fn change(&mut self, value: &str, kills: u64) -> bool {
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
            self.kill(&words);
            return false;
        }
        for _ in 0..3 {
            self.count.begun.fetch_add(1, Ordering::Relaxed);
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
            assert!(KNOWN.iter().any(|it| text.contains(it)), "{text}");
        }
        false
    }

    /// Begins a change, and kills it some time later, perhaps while it waits for the lock, holds it, or writes.
    fn kill(&mut self, words: &[&str]) {
        self.count.begun.fetch_add(1, Ordering::Relaxed);
        let mut child = command(self.folder.path(), words).spawn().expect("the program starts");
        std::thread::sleep(Duration::from_millis(40 + self.dice.roll(1500)));
        // It may have ended by then, which says nothing of what it did.
        let _ = child.kill();
        child.wait().expect("it ends");
        self.count.killed.fetch_add(1, Ordering::Relaxed);
        self.count.unknown.fetch_add(1, Ordering::Relaxed);
    }

    /// Frees a lock that was held by the same run for all of the time that was waited, which is far longer than a run takes.
    fn free(&self, text: &str) {
        self.count.waited.fetch_add(1, Ordering::Relaxed);
        // A connection broke while the lock was asked for, or the service keeps it back for a while.
        let Some(id) = holder(text) else { return };
        assert!(text.contains("Who:"), "a lock names its holder: {text}");
        let (_, again) = run(self.folder.path(), &["plan", "-input=false", "-lock-timeout=4s"]);
        if holder(&again) == Some(id.clone()) {
            let (is_done, _) = run(self.folder.path(), &["force-unlock", "-force", &id]);
            self.count.unlocked.fetch_add(u64::from(is_done), Ordering::Relaxed);
        }
    }
}
