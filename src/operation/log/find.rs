//! What is asked of the log: one run, or the history of one object.

use std::str::FromStr;

use super::record::{Run, Step};
use crate::address::Instance;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::world::PROGRAM;

/// What was found.
pub enum Found<'a> {
    /// One run.
    Run(&'a Run),
    /// What became of one object, newest first.
    History(History<'a>),
}

/// What became of an object, or of all objects of a resource or module.
pub struct History<'a> {
    /// What was asked for.
    pub address: String,
    /// The runs and their steps, newest first.
    pub steps: Vec<(&'a Run, &'a Step)>,
}

/// Finds a run by the beginning of its name, or the history of what has this address.
///
/// # Errors
///
/// If there is no such run, more than one, or no run has touched such an object.
pub fn find<'a>(runs: &'a [Run], word: &str) -> Result<Found<'a>, Diagnostics> {
    match word.contains('.') {
        true => history(runs, word).map(Found::History),
        false => one(runs, word).map(Found::Run),
    }
}

fn one<'a>(runs: &'a [Run], name: &str) -> Result<&'a Run, Diagnostics> {
    let mut found = runs.iter().rev().filter(|it| it.id.starts_with(name));
    match (found.next().filter(|_| !name.is_empty()), found.next()) {
        (Some(run), None) => Ok(run),
        (Some(one), Some(other)) => Err(several(name, &one.id, &other.id).into()),
        (None, _) => Err(no_run(name).into()),
    }
}

fn history<'a>(runs: &'a [Run], address: &str) -> Result<History<'a>, Diagnostics> {
    let address = Instance::from_str(address).map_or_else(|_| address.into(), |it| it.to_string());
    let is_meant = |it: &str| {
        let rest = it.strip_prefix(&address);
        rest.is_some_and(|it| it.is_empty() || it.starts_with(['[', '.']))
    };
    let of =
        |run: &'a Run| run.steps.iter().filter(|it| is_meant(&it.address)).map(move |it| (run, it));
    let steps: Vec<_> = runs.iter().rev().flat_map(of).collect();
    match steps.is_empty() {
        true => Err(no_history(&address).into()),
        false => Ok(History { address, steps }),
    }
}

fn no_run(name: &str) -> Diagnostic {
    Diagnostic::error("No such run").detail(format!(
        "The log has no run whose name begins with {name:?}. \"{PROGRAM} log\" lists them; an address, such as null_resource.a, asks for the history of an object."
    ))
}

fn several(name: &str, one: &str, other: &str) -> Diagnostic {
    Diagnostic::error("Ambiguous run").detail(format!(
        "More than one run has a name that begins with {name:?}: {one} and {other}, for example. Give more of it."
    ))
}

fn no_history(address: &str) -> Diagnostic {
    Diagnostic::error("No such object in the log").detail(format!(
        "No run in the log has touched {address}. It may have been made before there was a log, by another program, or under another address: \"{PROGRAM} log\" lists the runs, and \"{PROGRAM} state list\" the objects."
    ))
}
