//! Runs the real binary, away from whatever this machine has set up.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::sync::OnceLock;

use super::case::{Command, Shown};
use super::summary;

/// What a run of the binary said, and how it ended.
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    /// `None` where a signal ended it.
    pub code: Option<i32>,
}

/// What has a plan checked with all means; a path has the rules noted that it met.
pub const SELF_CHECK: &str = "ENTAIL_SELF_CHECK";

thread_local! {
    /// Further environment variables of what this thread runs.
    static FURTHER: RefCell<Vec<(String, String)>> = const { RefCell::new(Vec::new()) };
}

/// Gives everything that this thread runs from now on these environment variables.
pub fn set_further(variables: &[(String, String)]) {
    FURTHER.set(variables.to_vec());
}

/// Returns the binary that was built along with this test.
pub fn path() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| beside("entail"))
}

/// Returns a folder of plugins that are embedded providers served from outside; one for all tests.
pub fn plugins() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        for kind in ["null", "random", "local", "time", "scripted", "folder"] {
            let name = folder.path().join(format!("terraform-provider-{kind}"));
            // A link keeps the name by which the program is called, and that name says which provider it is.
            std::os::unix::fs::symlink(beside("entail-plugin"), name).expect("a link");
        }
        folder
    });
    folder.path()
}

/// Returns the program that serves plugins: its file name says which one.
pub fn program_for_plugins() -> PathBuf {
    beside("entail-plugin")
}

/// Returns a program that was built along with this test: it stands one folder above, beside `deps`.
fn beside(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    let profile = test.parent().and_then(Path::parent).expect("tests stand in target/PROFILE/deps");
    let binary = profile.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(
        binary.is_file(),
        "{} is missing: run `cargo test --workspace`, or `cargo build` first",
        binary.display()
    );
    binary
}

/// Carries out one line of a script in `folder`, and returns what its golden section holds.
pub fn run(command: &Command, folder: &Path) -> Result<String, String> {
    match command {
        Command::Files(_) => Ok(String::new()),
        Command::Cat(file) => {
            let text = std::fs::read_to_string(folder.join(file));
            Ok(with_end(text.unwrap_or_else(|it| format!("{file}: {}\n", it.kind()))))
        }
        Command::Remove(file) => match std::fs::remove_file(folder.join(file)) {
            Ok(()) => Ok(String::new()),
            Err(it) => Err(format!("rm {file}: {it}")),
        },
        Command::Run { arguments, shown, .. } => match &arguments[..] {
            [word, flags @ ..] if word == "actions" => summary::actions(flags, folder),
            [word, flags @ ..] if word == "deploy" => summary::deploy(flags, folder),
            [word, flags @ ..] if word == "steps" => summary::steps(flags, folder),
            [word] if word == "state" => summary::state(folder),
            [word] if word == "served" => summary::served(folder),
            _ => Ok(print(&program(arguments, folder)?, *shown)),
        },
    }
}

/// Returns a process that has nothing of what this machine sets up for such programs: no flags, variables or settings.
pub fn process(program: impl AsRef<OsStr>, folder: &Path) -> Process {
    let mut process = Process::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["TF_", "ENTAIL_", "TOFU_"].iter().any(|it| text.starts_with(it)) {
            process.env_remove(&name);
        }
    }
    FURTHER.with_borrow(|it| {
        process.envs(it.iter().map(|it| (it.0.as_str(), it.1.as_str())));
    });
    process
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("TF_CLI_CONFIG_FILE", if cfg!(windows) { "NUL" } else { "/dev/null" })
        .stdin(Stdio::null());
    process
}

/// Runs the binary. Only what a case gives it is there.
pub fn program(arguments: &[String], folder: &Path) -> Result<Ran, String> {
    // Every plan of every case is checked: two evaluators, a linter, and all proofs.
    let check = FURTHER.with_borrow(|it| it.iter().find(|it| it.0 == SELF_CHECK).cloned());
    let output = process(path(), folder)
        .args(arguments)
        .env("HOME", folder)
        .env(SELF_CHECK, check.map_or("1".to_owned(), |it| it.1))
        .output()
        .map_err(|it| format!("{}: {it}", path().display()))?;
    let ran = Ran {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
    };
    if ran.stderr.contains("panicked at") {
        return Err(format!("{} panicked:\n{}", arguments.join(" "), ran.stderr));
    }
    Ok(ran)
}

fn print(ran: &Ran, shown: Shown) -> String {
    let mut text = match shown {
        Shown::All | Shown::Stdout => with_end(ran.stdout.clone()),
        Shown::Exit => ran.summaries(),
    };
    if shown == Shown::All && !ran.stderr.trim().is_empty() {
        text.push_str("stderr:\n");
        text.push_str(&with_end(ran.stderr.clone()));
    }
    text + &ran.exit()
}

fn with_end(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
