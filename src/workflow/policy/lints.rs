//! `policy lint` and `policy list`: the rules themselves, without anything to judge.

use crate::diagnostic::Diagnostics;
use crate::operation::policies::{self, PolicyChoice};
use crate::operation::session::Session;
use crate::policy::lint::{Finding, lint};
use crate::policy::{Policies, PolicySource};
use crate::workflow::{Host, with_room};

/// What is looked at.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// Files and folders of policies, or parts of the library: these alone. Where none is named, what is in force here.
    pub words: Vec<String>,
    /// Which policies are in force.
    pub choice: PolicyChoice,
}

/// Returns what is most likely not meant in policies, and what is wrong with them.
///
/// # Errors
///
/// If there is no configuration, or a file cannot be read.
pub fn find(host: &Host<'_>, named: &Named) -> Result<(Vec<Finding>, usize), Diagnostics> {
    with_room(|_| {
        let (policies, faults) = read(host, named)?;
        let count = policies.sources.len();
        Ok((lint(&policies, &faults.0, host.sources), count))
    })?
}

/// Returns the rules, with what is wrong with them.
///
/// # Errors
///
/// If there is no configuration, or a file cannot be read.
pub fn rules(host: &Host<'_>, named: &Named) -> Result<(Policies, Diagnostics), Diagnostics> {
    with_room(|_| read(host, named))?
}

/// Returns the name that is spelled most like one that is not there.
pub fn nearest(names: Vec<String>, name: &str) -> Option<String> {
    let distance = |it: &String| strsim::damerau_levenshtein(it, name);
    names.into_iter().min_by_key(distance).filter(|it| distance(it) <= 3)
}

fn read(host: &Host<'_>, named: &Named) -> Result<(Policies, Diagnostics), Diagnostics> {
    let mut found: Vec<PolicySource> = Vec::new();
    if named.words.is_empty() {
        let (session, _) = Session::open_in_place(host.world.clone(), host.sources.clone())?;
        found = policies::find(&session, &named.choice)?;
    }
    found.extend(policies::named(host.world, host.sources, &named.words)?);
    Ok(Policies::read(found, host.sources))
}
