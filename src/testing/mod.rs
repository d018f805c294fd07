//! The tests of a module: what their files ask for, one run after the other, with states that lie in memory.
//!
//! Takes a folder with its configuration and its test files ([`Suite`]), gives an outcome for each file ([`FileOutcome`]). Knows nothing
//! of terminals, and of other files while one runs.

mod assertions;
mod cleanup;
mod execute;
mod expected;
mod explained;
mod contained;
mod coverage;
mod file;
mod denied;
mod overriding;
mod prepared;
mod problems;
mod scope;
mod serving;
mod shown;
mod snapshots;
mod suite;
mod variables;

pub use cleanup::Left;
pub use contained::is_contained;
pub use coverage::{Coverage, Exercised};
pub use denied::{Denial, Judge};
pub use file::{FileOutcome, Interrupted, run_file};
pub use shown::Shown;
pub use suite::{FileNeeds, Open, Suite, helpers_of};

use crate::diagnostic::Diagnostics;

/// How a run, a file, or all of them went, from best to worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It was not looked at.
    #[default]
    Pending,
    /// It was left out.
    Skip,
    /// Everything was as asserted.
    Pass,
    /// An assertion is false.
    Fail,
    /// It could not be carried out.
    Error,
}

impl Status {
    /// Returns the name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Skip => "skip",
            Status::Pass => "pass",
            Status::Fail => "fail",
            Status::Error => "error",
        }
    }

    /// Returns the word that people are told.
    pub fn word(self) -> &'static str {
        match self {
            Status::Error => "fail",
            other => other.name(),
        }
    }
}

/// Where tests do better than OpenTofu's, and where they do as these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// `run.NAME` can be used in assertions.
    pub runs_in_assertions: bool,
    /// Every run keeps its outputs for later ones, also one that only plans, and one whose state was changed since.
    pub keeps_outputs: bool,
    /// Attributes of any type get a value where they are mocked.
    pub fills_dynamic: bool,
    /// What is left behind is a failure.
    pub cleanup_counts: bool,
    /// A filter that fits no file is an error.
    pub filters_count: bool,
}

impl Manner {
    /// Everything as OpenTofu does it.
    pub const OPENTOFU: Manner = Manner {
        runs_in_assertions: false,
        keeps_outputs: false,
        fills_dynamic: false,
        cleanup_counts: false,
        filters_count: false,
    };
    /// What tests written for OpenTofu do not notice.
    pub const USUAL: Manner =
        Manner { runs_in_assertions: true, fills_dynamic: true, ..Manner::OPENTOFU };
    /// All that is better.
    pub const STRICT: Manner =
        Manner { keeps_outputs: true, cleanup_counts: true, filters_count: true, ..Manner::USUAL };
}

/// What came of one run.
#[derive(Default)]
pub struct RunOutcome {
    /// Its name.
    pub name: String,
    /// How it went.
    pub status: Status,
    /// What is to be told of it.
    pub problems: Diagnostics,
    /// The plan or the state, where that was asked for.
    pub shown: Option<Shown>,
    /// How long it took.
    pub elapsed: std::time::Duration,
}
