//! Whole columns joined at once: what an engine does in place of the matcher, which follows one row after the other.
//!
//! The rounds, what is new in each, and what is concluded stay one and the same: a joiner only says which rows fit together. What it
//! cannot say – a look into a value, a row of which something is not known – the matcher finds out from there.

use std::time::Duration;

use super::check::{Program, Rule};
use super::database::Database;
use super::limits::Exceeded;
use super::plan::Range;
use crate::diagnostic::Diagnostic;

/// A premise that a joiner has not looked at.
pub const UNSEEN: u32 = u32::MAX;

/// A rule that is applied to some rows.
#[derive(Clone, Copy, Debug)]
pub struct Application<'a> {
    /// The rules, with those by which joins over values are looked up.
    pub program: &'a Program,
    /// The number of the rule.
    pub rule: usize,
    /// Which rows each positive literal sees, in the order of the text.
    pub ranges: &'a [Range],
    /// The positive literal that sees what is new, where one does.
    pub first: Option<usize>,
    /// The rows.
    pub database: &'a Database,
    /// How long it may take.
    pub time: Duration,
}

/// What a joiner does with a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Nothing: the matcher is to apply it.
    Declines,
    /// It finds every match, with what is concluded.
    Concludes,
    /// It finds which rows fit together; the matcher goes on from each.
    Narrows,
}

/// Takes a match: the words of the conclusion, empty where the matcher goes on, and the position of a row for each positive literal,
/// [`UNSEEN`] for one that was not looked at. Returns whether there may be another.
pub type Take<'t> = dyn FnMut(&[u64], &[u32]) -> bool + 't;

/// Finds which rows fit together.
pub trait Joiner {
    /// Returns what it does with a rule. Where anything of a row is not known, it must decline: what may be equal, it cannot tell.
    fn how(&mut self, asked: &Application<'_>) -> How;

    /// Shows each match once.
    ///
    /// # Errors
    ///
    /// If it takes longer than it may, or cannot be done.
    fn join(
        &mut self,
        asked: &Application<'_>,
        how: How,
        take: &mut Take<'_>,
    ) -> Result<(), Broken>;
}

/// Why a joiner has stopped.
#[derive(Debug)]
pub enum Broken {
    /// Time is up.
    Late,
    /// It cannot be done.
    Failed(Box<Diagnostic>),
}

/// Why an evaluation has stopped before its end.
#[derive(Debug)]
pub enum Stopped {
    /// It took too much.
    Exceeded(Exceeded),
    /// The engine failed.
    Failed(Box<Diagnostic>),
}

impl Application<'_> {
    /// Returns the rule.
    pub fn rule(&self) -> &Rule {
        &self.program.rules[self.rule]
    }
}
