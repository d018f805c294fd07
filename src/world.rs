//! The outside, as one value: clock, randomness, environment, files, and the folders that paths are relative to.
//!
//! `operation` makes a [`World`] and hands it down; nothing below reads these things in any other way.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::error::Error;

pub use files::Files;
pub use program::{PRODUCT, PROGRAM, Product, Program};
pub use reading::{
    WITHOUT_WAITING, as_text, not_regular, open_regular, read_given, read_regular, read_text,
    text_given,
};
pub use stop::Stop;

pub mod files;
mod program;
mod reading;
pub mod secrets;
mod stop;
pub(crate) mod subprocess;
pub mod terminal;
pub mod threads;

/// Clock, randomness, environment, files and folders of one run.
#[derive(Clone, Debug)]
pub struct World {
    /// The process's working directory when it started (`path.cwd`), before any `-chdir`.
    pub cwd: PathBuf,
    /// The folder of the root module, which relative paths of functions start from. Equals the directory `-chdir` names.
    pub root: PathBuf,
    /// The environment variables.
    pub environment: BTreeMap<String, String>,
    /// Where files are read: the disk, and what is laid over it.
    pub files: Files,
    /// A fixed clock for tests; `None` is the real one.
    pub fixed_time: Option<chrono::DateTime<chrono::Utc>>,
    /// What the user says of the root module's variables.
    pub given: Given,
    /// What was made of all this, and need not be made again.
    pub kept: Kept,
    /// The request to stop, which ends waits for other hosts and programs.
    pub stop: Stop,
    /// Whether programs may be started that the folder holds or names. Editors open folders of strangers without it.
    pub is_trusted: bool,
}

/// Values that are made of a world once, one of each type. Another world starts with none.
#[derive(Debug, Default)]
pub struct Kept(Mutex<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Clone for Kept {
    fn clone(&self) -> Kept {
        Kept::default()
    }
}

/// Where a root variable's value was given, in rising precedence.
#[derive(Clone, Debug)]
pub enum VariableSource {
    /// `TF_VAR_name`: raw text.
    Environment(String),
    /// A `*.tfvars` file found by itself.
    AutoFile(PathBuf),
    /// `-var-file=PATH`
    File(PathBuf),
    /// `-var name=text`: raw text.
    Flag(String, String),
}

/// What the user says of the root module's variables: flags, and answers to questions.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The words of the command line behind the program's name.
    pub command: Vec<String>,
    /// `-var` and `-var-file`, in order.
    pub variables: Vec<VariableSource>,
    answers: Arc<Mutex<Answers>>,
}

#[derive(Debug, Default)]
struct Answers {
    given: BTreeMap<String, String>,
    wanted: BTreeSet<String>,
    piped: BTreeMap<PathBuf, Vec<u8>>,
}

impl Given {
    fn answers(&self) -> parking_lot::MutexGuard<'_, Answers> {
        self.answers.lock()
    }

    /// Notes that a variable is needed for which nobody gives a value: the user can be asked.
    pub fn want(&self, name: &str) {
        self.answers().wanted.insert(name.to_owned());
    }

    /// Takes the names of the variables that are needed and not given.
    pub fn take_wanted(&self) -> Vec<String> {
        std::mem::take(&mut self.answers().wanted).into_iter().collect()
    }

    /// Keeps the user's answer.
    pub fn answer(&self, name: &str, text: String) {
        self.answers().given.insert(name.to_owned(), text);
    }

    /// Reads a file that the user names. What came by way of a pipe is there once, and is kept.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn file(&self, files: &Files, path: &Path) -> std::io::Result<Vec<u8>> {
        if let Some(kept) = self.answers().piped.get(path) {
            return Ok(kept.clone());
        }
        let bytes = files.read(path)?;
        if reading::is_pipe(path) {
            self.answers().piped.insert(path.to_owned(), bytes.clone());
        }
        Ok(bytes)
    }

    /// Returns the user's answers so far.
    pub fn answered(&self) -> BTreeMap<String, String> {
        self.answers().given.clone()
    }
}

/// Returns what this process leaves out, so that a test sees whether its absence is noticed: `ENTAIL_WITHOUT`. Builds without
/// debug assertions leave out nothing.
pub fn left_out() -> Option<&'static str> {
    static NAME: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let name = || cfg!(debug_assertions).then(|| std::env::var("ENTAIL_WITHOUT").ok()).flatten();
    NAME.get_or_init(name).as_deref()
}

/// Returns whether this process is to give a false answer, so that a test sees whether that is noticed: `ENTAIL_WITHOUT=answer:NAME`.
pub fn falsifies(answer: &str) -> bool {
    left_out().and_then(|it| it.strip_prefix("answer:")).is_some_and(|it| it == answer)
}

impl World {
    /// Returns the real world of this process.
    pub fn of_this_process() -> World {
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        World {
            root: cwd.clone(),
            cwd,
            environment: std::env::vars_os()
                .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
                .collect(),
            files: Files::default(),
            fixed_time: None,
            given: Given::default(),
            kept: Kept::default(),
            stop: Stop::default(),
            is_trusted: true,
        }
    }

    /// Returns why a program must not be started, if it must not: the folder is open in an editor that does not say that it is trusted.
    ///
    /// # Errors
    ///
    /// If nothing may be started.
    pub fn may_start(&self, program: &str) -> Result<(), Error> {
        match self.is_trusted {
            true => Ok(()),
            false => Err(format!(
                "{program} is not started: the folder is open in an editor, which does not say that it is trusted"
            )
            .into()),
        }
    }

    /// Returns the one value of a type that is made of this world.
    pub fn once<T: Any + Send + Sync>(&self, make: impl FnOnce(&World) -> T) -> Arc<T> {
        let kept = || self.kept.0.lock();
        let known = kept().get(&TypeId::of::<T>()).cloned();
        let value = known.unwrap_or_else(|| {
            let made: Arc<dyn Any + Send + Sync> = Arc::new(make(self));
            kept().entry(TypeId::of::<T>()).or_insert(made).clone()
        });
        value.downcast().expect("a value is kept under its own type")
    }

    /// Returns the time now, in UTC.
    pub fn now(&self) -> chrono::DateTime<chrono::Utc> {
        self.fixed_time.unwrap_or_else(chrono::Utc::now)
    }

    /// Fills `bytes` with random bytes of the operating system.
    pub fn random(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }

    /// Returns a random version 4 UUID as text.
    pub fn uuid(&self) -> String {
        let mut bytes = [0; 16];
        self.random(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }

    /// Returns an environment variable, unless it is unset or empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|it| !it.is_empty())
    }
}

/// Makes a folder for a while that only this user can look into.
///
/// # Errors
///
/// If there is no place for it.
pub fn private_folder(parent: &Path) -> std::io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("entail");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o700)).tempdir_in(parent)
    }
    #[cfg(not(unix))]
    builder.tempdir_in(parent)
}

/// The stack of a helping thread, in bytes: as much as walking the tallest tree of an expression needs.
const STACK: usize = 64 << 20;

/// Does two pieces of work at the same time, where the system has a thread to give; else one after the other.
pub fn side_by_side<A: Send, B>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (A, B) {
    let waiting = Mutex::new(Some(first));
    let take = || waiting.lock().take();
    std::thread::scope(|scope| {
        let helper = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || take().map(|it| it()));
        let here = second();
        let there = match helper {
            Ok(helper) => helper.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)),
            Err(_) => take().map(|it| it()),
        };
        (there.expect("the first piece is done once, by the helper or here"), here)
    })
}

#[cfg(test)]
mod tests {
    use super::side_by_side;

    #[test]
    fn two_pieces_of_work_give_both_their_results() {
        let words = ["a", "b"];
        assert_eq!(side_by_side(|| words[0].to_owned(), || words.len()), ("a".to_owned(), 2));
    }
}
