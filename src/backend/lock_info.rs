//! Locks: who holds one, waiting for one, and giving it back.

use std::path::Path;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorContext};
use crate::state::write::WRITTEN_VERSION;
use crate::world::World;

/// Who holds a lock, as other programs read and write it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct LockInfo {
    /// A UUID.
    #[serde(rename = "ID")]
    pub id: String,
    /// `OperationTypeApply` and the like.
    pub operation: String,
    /// Anything else.
    pub info: String,
    /// `user@host`
    pub who: String,
    /// The version of the program.
    pub version: String,
    /// When it was taken, RFC 3339.
    pub created: String,
    /// The state file.
    pub path: String,
}

impl LockInfo {
    /// Returns the information of a new lock of this process.
    pub fn new(world: &World, operation: &str) -> LockInfo {
        LockInfo {
            id: world.uuid(),
            operation: operation.into(),
            who: format!("{}@{}", user(), host()),
            version: WRITTEN_VERSION.into(),
            created: timestamp(world.now()),
            ..LockInfo::default()
        }
    }

    /// Returns the operation as people call it: `apply`.
    pub fn operation_name(&self) -> String {
        let name = self.operation.strip_prefix("OperationType").unwrap_or(&self.operation);
        name.to_lowercase()
    }

    /// Returns when the lock was taken, if its record says so.
    pub fn created_at(&self) -> Option<DateTime<Utc>> {
        self.created.parse().ok()
    }

    /// Returns whether the operation changes the state; planning only keeps others from doing so.
    pub(super) fn may_write(&self) -> bool {
        self.operation != "OperationTypePlan"
    }
}

/// Prints the block that lock errors show.
impl std::fmt::Display for LockInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let created = match self.created.parse::<DateTime<Utc>>() {
            Ok(time) => timestamp(time).replace('T', " ").replace('Z', " +0000 UTC"),
            Err(_) => self.created.clone(),
        };
        writeln!(f, "Lock Info:")?;
        writeln!(f, "  ID:        {}", self.id)?;
        writeln!(f, "  Path:      {}", self.path)?;
        writeln!(f, "  Operation: {}", self.operation)?;
        writeln!(f, "  Who:       {}", self.who)?;
        writeln!(f, "  Version:   {}", self.version)?;
        writeln!(f, "  Created:   {created}")?;
        writeln!(f, "  Info:      {}", self.info)
    }
}

/// Writes a time with as many digits of a second as it has.
fn timestamp(time: DateTime<Utc>) -> String {
    let text = time.format("%Y-%m-%dT%H:%M:%S%.9f").to_string();
    format!("{}Z", text.trim_end_matches('0').trim_end_matches('.'))
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns the name of the process's user, empty if it has none.
pub(super) fn user() -> String {
    let id = rustix::process::getuid().as_raw().to_string();
    let names = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let line = names.lines().find(|line| line.split(':').nth(2) == Some(id.as_str()));
    line.and_then(|line| line.split(':').next()).unwrap_or_default().to_string()
}

/// Whether a lock is held, as a store knows it without taking the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockState {
    /// The store cannot tell.
    Unknown,
    /// No run holds the lock.
    Free,
    /// A run holds it; who that is, if its record can be read.
    Held(Option<LockInfo>),
}

/// Why a lock could not be taken.
#[derive(Debug)]
pub enum LockProblem {
    /// Someone holds it. What is known of them, or why nothing is.
    Held(Result<LockInfo, Error>),
    /// Someone holds it, and the store says who.
    Locked(LockInfo),
    /// Someone holds it. What the store says of it, and who it is, where that is known.
    Busy(String, Option<LockInfo>),
    /// It cannot be taken at all.
    Failed(String),
}

impl From<std::io::Error> for LockProblem {
    fn from(it: std::io::Error) -> LockProblem {
        LockProblem::Failed(it.to_string())
    }
}

/// Why a lock was not given back, or not removed.
#[derive(Debug)]
pub enum NotUnlocked {
    /// A process that lives holds it.
    InUse,
    /// The store is set up without locks. What would have to be set.
    Disabled(&'static str),
    /// Anything else, and who holds the lock, where that is known.
    Failed(String, Option<LockInfo>),
}

impl NotUnlocked {
    /// Nobody holds the lock.
    pub fn not_locked() -> NotUnlocked {
        NotUnlocked::Failed("LocalState not locked".into(), None)
    }

    /// The lock has another ID than the one that was given.
    pub fn other_id(id: &str, holder: LockInfo) -> NotUnlocked {
        let why = format!("invalid lock id: {id:?}. current id: {:?}", holder.id);
        NotUnlocked::Failed(why, Some(holder))
    }
}

impl From<std::io::Error> for NotUnlocked {
    fn from(it: std::io::Error) -> NotUnlocked {
        NotUnlocked::Failed(it.to_string(), None)
    }
}

impl From<NotUnlocked> for Diagnostic {
    fn from(it: NotUnlocked) -> Diagnostic {
        match it {
            NotUnlocked::InUse => held_by_another(),
            NotUnlocked::Disabled(missing) => disabled(missing),
            NotUnlocked::Failed(why, None) => not_unlocked(why),
            NotUnlocked::Failed(why, Some(holder)) => not_unlocked(why).detail(holder.to_string()),
        }
    }
}

impl std::fmt::Display for LockProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const BUSY: &str = "resource temporarily unavailable";
        match self {
            LockProblem::Held(Ok(info)) => write!(f, "{BUSY}\n{info}"),
            LockProblem::Held(Err(why)) => {
                write!(f, "2 errors occurred:\n\t* {BUSY}\n\t* {why}\n\n")
            }
            LockProblem::Locked(info) => write!(f, "state locked\n{info}"),
            LockProblem::Busy(why, Some(info)) => write!(f, "{why}\n{info}"),
            LockProblem::Busy(why, None) | LockProblem::Failed(why) => f.write_str(why),
        }
    }
}

/// A live process holds the lock.
fn held_by_another() -> Diagnostic {
    Diagnostic::error("State locked by another local process")
        .detail("Local state cannot be unlocked by another process.")
}

/// The store is set up without locks.
fn disabled(missing: &str) -> Diagnostic {
    Diagnostic::error("Locking disabled")
        .detail(format!("Locking is disabled for this backend: {missing}."))
}

/// There is no lock to remove, or not this one.
fn not_unlocked(why: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error(format!("Failed to unlock state: {why}"))
}

/// Reads who holds the lock, from the file beside the state.
pub(super) fn read_info(path: &Path, shown: &str) -> Result<LockInfo, Error> {
    let text = crate::world::read_regular(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("open {shown}: no such file or directory"),
        _ => format!("open {shown}: {error}"),
    })?;
    serde_json::from_slice(&text).context("could not unmarshal lock info")
}
