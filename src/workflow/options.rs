//! What workflows are asked, apart from the request itself.

use std::path::PathBuf;
use std::time::Duration;

use super::judging::PolicyOptions;
use crate::backend::local::Choice;
use crate::plan::signature::{SigningKey, Trusted};
use crate::request::Request;

/// Where the state lies, and its lock.
#[derive(Clone, Debug, Default)]
pub struct StateOptions {
    /// Which files, as far as they are chosen.
    pub files: Choice,
    /// The lock.
    pub lock: LockOptions,
}

/// Whether to lock the state, and how long to wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockOptions {
    /// Whether the lock is taken; of a question, whether a run that holds it is reported.
    pub enabled: bool,
    /// How long it is waited for.
    pub timeout: Duration,
}

impl Default for LockOptions {
    fn default() -> LockOptions {
        LockOptions { enabled: true, timeout: Duration::ZERO }
    }
}

/// What `plan` is asked.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// What to plan.
    pub request: Request,
    /// Where the state lies, and its lock.
    pub state: StateOptions,
    /// Providers that are mocked: their types, as local names or source addresses.
    pub mocks: Vec<String>,
    /// Where to save the plan.
    pub out: Option<PathBuf>,
    /// The key that signs it.
    pub key: Option<SigningKey>,
    /// What it is judged by.
    pub policies: PolicyOptions,
}

/// What `apply`, `destroy` and `refresh` are asked.
#[derive(Clone, Debug, Default)]
pub struct ApplyOptions {
    /// What to plan, where no plan is given.
    pub request: Request,
    /// A saved plan.
    pub plan: Option<PathBuf>,
    /// Whose plans are applied; `None` where that does not matter.
    pub trusted: Option<Trusted>,
    /// Where the state lies, and its lock.
    pub state: StateOptions,
    /// Ask nothing.
    pub auto_approve: bool,
    /// Do not count it as an error where destroying forgets objects rather than destroying them.
    pub suppress_forget_errors: bool,
    /// What a plan is judged by that is made for it.
    pub policies: PolicyOptions,
}
