//! Faults of the disk, call by call: a library that stands in for the functions of the C library that touch files, and lets one
//! call of a run end it, or fail.
//!
//! The library is `tests/support/shim`, which `rustc` builds at the first use; it is loaded by `LD_PRELOAD`. Calls are counted over all
//! threads of the process, those that change something and those that look each by themselves, and only those that go to a folder
//! or to what is in it. `FAULT_BELOW` names the folder, `FAULT_LOG` the file in which each call is noted, `FAULT_KIND` and `FAULT_AT` what
//! happens at which call.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::root;

/// What happens at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The process ends before it.
    Kill,
    /// The disk is full, this once.
    Full,
    /// The disk is full from now on.
    StaysFull,
    /// What was to be changed cannot be.
    Broken,
    /// What was to be looked at cannot be.
    Unreadable,
    /// Half is written, and then the disk is full.
    Torn,
    /// Half is written, and the rest with another call: there is nothing wrong with that.
    Half,
}

impl Fault {
    /// All that can happen.
    pub const ALL: [Fault; 7] = [
        Fault::Kill,
        Fault::Full,
        Fault::StaysFull,
        Fault::Broken,
        Fault::Unreadable,
        Fault::Torn,
        Fault::Half,
    ];

    fn name(self) -> &'static str {
        match self {
            Fault::Kill => "kill",
            Fault::Full => "full",
            Fault::StaysFull => "stays-full",
            Fault::Broken => "broken",
            Fault::Unreadable => "unreadable",
            Fault::Torn => "torn",
            Fault::Half => "half",
        }
    }

    /// Whether it can happen at a call.
    pub fn can_meet(self, call: &Call) -> bool {
        match self {
            Fault::Kill | Fault::Broken => call.kind != Kind::Look,
            Fault::Full | Fault::StaysFull => call.kind == Kind::Grow,
            Fault::Unreadable => call.kind == Kind::Look,
            Fault::Torn | Fault::Half => call.name.trim_start_matches('p').starts_with("write"),
        }
    }
}

/// What kind of call it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It needs room on the disk.
    Grow,
    /// It changes something, and needs none.
    Change,
    Look,
}

/// A call that touches files.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its place among those that look, or among the others.
    pub number: usize,
    pub kind: Kind,
    /// Whether the fault has met it.
    pub is_met: bool,
    pub name: String,
    /// Where it goes to, from the folder.
    pub path: String,
}

impl Call {
    fn read(line: &str) -> Option<Call> {
        let mut words = line.splitn(5, ' ');
        let number = words.next()?.parse().ok()?;
        let kind = match words.next()? {
            "grow" => Kind::Grow,
            "change" => Kind::Change,
            _ => Kind::Look,
        };
        let is_met = words.next()? == "met";
        let (name, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        Some(Call { number, kind, is_met, name, path })
    }
}

/// How long a run may take. Where it waits for ever, that is what a fault has made of it.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a command to its end and returns its calls to what lies below a folder.
///
/// # Errors
///
/// If it does not come to an end.
pub fn watch(
    command: &mut Command,
    below: &Path,
    fault: Option<(Fault, usize)>,
) -> Result<(Output, Vec<Call>), String> {
    let beside = tempfile::tempdir().expect("a folder");
    let at = |name: &str| beside.path().join(name);
    command.env("LD_PRELOAD", loaded()).env("FAULT_BELOW", real(below)).env("FAULT_LOG", at("log"));
    if let Some((fault, at)) = fault {
        command.env("FAULT_KIND", fault.name()).env("FAULT_AT", at.to_string());
    }
    let made = |name: &str| File::create(at(name)).expect("a file");
    let mut child = command.stdout(made("out")).stderr(made("err")).spawn().expect("it starts");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is waited for") {
            break Some(status);
        }
        if start.elapsed() > PATIENCE {
            child.kill().and_then(|()| child.wait()).expect("it is ended");
            break None;
        }
        std::thread::sleep(Duration::from_millis(3));
    };
    let read = |name: &str| std::fs::read(at(name)).unwrap_or_default();
    let (stdout, stderr) = (read("out"), read("err"));
    let Some(status) = status else {
        return Err(format!("it does not end: {}", String::from_utf8_lossy(&stderr)));
    };
    Ok((Output { status, stdout, stderr }, noted(&at("log"))))
}

/// Runs a command without a fault within another program, and returns its calls to what lies below a folder.
///
/// - `within`: returns that program, which sets the variable that it is given for what it runs.
pub fn watch_within(
    command: &mut Command,
    below: &Path,
    within: impl FnOnce(&str) -> Command,
) -> Vec<Call> {
    let log = tempfile::NamedTempFile::new().expect("a file");
    let mut whole = within(&format!("LD_PRELOAD={}", loaded().display()));
    whole.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => whole.env(name, value),
            None => whole.env_remove(name),
        };
    }
    whole.env("FAULT_BELOW", real(below)).env("FAULT_LOG", log.path());
    let output = whole.current_dir(below).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    noted(log.path())
}

fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().expect("the folder is there")
}

fn loaded() -> &'static Path {
    library().expect("who asks for faults has asked whether there can be any")
}

/// The calls that a run has made.
fn noted(log: &Path) -> Vec<Call> {
    let log = std::fs::read(log).unwrap_or_default();
    String::from_utf8_lossy(&log).lines().filter_map(Call::read).collect()
}

/// Whether there can be faults here.
///
/// # Errors
///
/// Why there can be none.
pub fn are_possible() -> Result<(), String> {
    library().map(drop)
}

/// The library, which is built once.
fn library() -> Result<&'static Path, String> {
    static BUILT: OnceLock<Result<(tempfile::TempDir, PathBuf), String>> = OnceLock::new();
    match BUILT.get_or_init(build) {
        Ok((_, path)) => Ok(path),
        Err(why) => Err(why.clone()),
    }
}

fn build() -> Result<(tempfile::TempDir, PathBuf), String> {
    if !cfg!(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")) {
        return Err("the library stands in for functions of the GNU C library on Linux".to_owned());
    }
    let folder = tempfile::tempdir().map_err(|it| it.to_string())?;
    let path = folder.path().join("libshim.so");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut compile = Command::new(&compiler);
    compile.args(["--edition", "2024", "--crate-type", "cdylib", "--crate-name", "shim", "-O"]);
    compile.arg("-o").arg(&path).arg(root().join("tests/support/shim/lib.rs"));
    // What a tool has wound around the compiler is not meant for this.
    let built = compile.env_remove("RUSTFLAGS").current_dir(root()).output();
    let built = built.map_err(|it| format!("{} does not run: {it}", compiler.display()))?;
    if !built.status.success() {
        return Err(format!("it is not built: {}", String::from_utf8_lossy(&built.stderr)));
    }
    // A program that is linked without the C library loads nothing.
    let log = folder.path().join("log");
    let probe = Command::new("cat")
        .arg(root().join("Cargo.toml"))
        .env("LD_PRELOAD", &path)
        .env("FAULT_BELOW", root().canonicalize().map_err(|it| it.to_string())?)
        .env("FAULT_LOG", &log)
        .output();
    let is_noted = std::fs::metadata(&log).is_ok_and(|it| it.len() > 0);
    match probe.is_ok_and(|it| it.status.success()) && is_noted {
        true => Ok((folder, path)),
        false => Err("it is built, and notes no call of another program".to_owned()),
    }
}
