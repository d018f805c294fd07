//! `policy …`: judges a configuration by rules, and tells about the rules themselves.

pub mod layout;
pub mod lints;
pub mod testing;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use entail_rules::Tables;

use super::host::Host;
use super::with_room;
use crate::datalog::{Limits, Values};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::lower::trace::Repetitions;
use crate::operation::models;
use crate::operation::plan as operation;
use crate::operation::policies::{self, PolicyChoice};
use crate::operation::session::Session;
use crate::operation::variables::RootVariables;
use crate::planner::Structured;
use crate::policy::judge::Judged;
use crate::policy::model::Memo;
use crate::policy::rules::RuleInfo;
use crate::policy::{Model, Policies, Report, judge, waivers};
use crate::request::Request;
use crate::world::{VariableSource, World};

/// What `policy check` is asked.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// Which policies.
    pub policies: PolicyChoice,
    /// The folder to judge, from where one stands; nothing for that one. What is named otherwise is found from there, too.
    pub folder: Option<PathBuf>,
    /// The variables of the root module.
    pub request: Request,
    /// What the rules may take.
    pub limits: Limits,
}

/// What `policy check` found.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The verdicts.
    pub report: Report,
    /// The rules in force.
    pub rules: Vec<RuleInfo>,
    /// What is wrong with the configuration or the policies.
    pub problems: Diagnostics,
}

/// Judges the configuration of the world's root. Nothing need be set up, and no provider, state or credential is looked at.
///
/// # Errors
///
/// If there is no configuration that could be judged, or the policies take too much.
pub fn check(host: &Host<'_>, options: &CheckOptions) -> Result<Checked, Diagnostics> {
    with_room(|_| check_here(host, options))?
}

fn check_here(host: &Host<'_>, options: &CheckOptions) -> Result<Checked, Diagnostics> {
    if let Some(folder) = &options.folder {
        let (world, options) = below(host.world, folder, options)?;
        return check_here(&Host { world: &Arc::new(world), ..*host }, &options);
    }
    let (session, mut problems) = Session::open_in_place(host.world.clone(), host.sources.clone())?;
    let found = policies::find(&session, &options.policies)?;
    let (policies, faults) = Policies::read(found, host.sources);
    problems.extend(faults);
    let mut report = Report::default();
    let take = &mut |_: &Model<'_>, judged: Judged, _: Again<'_>| report = judged.report;
    let found = judge_session(&session, &policies, &options.request, &options.limits, take)?;
    problems.extend(found);
    Ok(Checked { report, rules: policies.rules, problems })
}

/// Judges a configuration by the policies in force, where there are any.
///
/// # Errors
///
/// As for [`check`].
pub fn check_where_any(host: &Host<'_>) -> Result<Option<Checked>, Diagnostics> {
    with_room(|_| {
        let options = CheckOptions::default();
        let (session, _) = Session::open_in_place(host.world.clone(), host.sources.clone())?;
        match policies::find(&session, &options.policies)?.is_empty() {
            true => Ok(None),
            false => check_here(host, &options).map(Some),
        }
    })?
}

/// The world in a folder, and what is asked as it is named from there.
fn below(
    world: &World,
    folder: &Path,
    options: &CheckOptions,
) -> Result<(World, CheckOptions), Diagnostic> {
    let root = world.root.join(folder);
    if !world.files.is_folder(&root) {
        return Err(no_folder(folder));
    }
    let mut inside = CheckOptions { folder: None, ..options.clone() };
    for name in &mut inside.policies.named {
        // What is no file here is in the library, or has an address that is the same everywhere.
        let path = world.root.join(&*name);
        if world.files.is_file(&path) || world.files.is_folder(&path) {
            *name = path.to_string_lossy().into_owned();
        }
    }
    for source in &mut inside.request.variables {
        if let VariableSource::File(path) = source {
            *path = world.root.join(&*path);
        }
    }
    Ok((World { root, ..world.clone() }, inside))
}

fn no_folder(folder: &Path) -> Diagnostic {
    Diagnostic::error("No such folder").detail(format!(
        "{} is no folder. policy check judges the configuration in the folder that is named, or in the current one.",
        folder.display()
    ))
}

/// Judges the same once more by other policies, which share the values of the first.
pub type Again<'a> = &'a dyn Fn(&Policies) -> Result<Judged, Diagnostics>;

/// Who looks at what was judged.
pub type Look<'a> = &'a mut dyn FnMut(&Model<'_>, Judged, Again<'_>);

/// Judges a configuration, and shows what came of it. Returns what is wrong with the variables.
///
/// # Errors
///
/// If the configuration has no structure, or the policies take too much.
pub fn judge_session(
    session: &Session,
    policies: &Policies,
    request: &Request,
    limits: &Limits,
    look: Look<'_>,
) -> Result<Diagnostics, Diagnostics> {
    let (inputs, _, mut problems) = session.given_variables(request);
    let variables = session.variables_or_unknown(&inputs)?;
    let known = structure(session, request, &variables)?;
    let lowered = &known.lowered;
    let values = policies.values().clone();
    let model = model_of(session, &known, &variables, values, Memo::around(&session.graph));
    let tables: [&dyn Tables; 2] = [&lowered.facts, &known.providers];
    let (waivers, faults) = waivers::find(&session.sources);
    problems.extend(faults);
    let by = |policies: &Policies| judge(policies, &model, &tables, &waivers, limits);
    look(&model, by(policies)?, &by);
    Ok(problems)
}

/// How often keys that rest on what other blocks write are looked for: keys may rest on keys.
const ROUNDS: usize = 20;

/// Finds out what a configuration consists of. Keys that rest on what other resources configure are known.
pub(super) fn structure(
    session: &Session,
    request: &Request,
    variables: &RootVariables,
) -> Result<Structured, Diagnostics> {
    let mut repetitions = Repetitions::default();
    let mut known = operation::whatif_repeated(session, request, variables, &repetitions)?;
    for _ in 0..ROUNDS {
        let memo = Memo::tracing(&session.graph);
        let model = model_of(session, &known, variables, Default::default(), memo);
        let found = model.written_repetitions();
        let before = repetitions.0.len();
        repetitions.0.extend(found.0);
        if repetitions.0.len() == before {
            break;
        }
        known = operation::whatif_repeated(session, request, variables, &repetitions)?;
    }
    Ok(known)
}

/// A configuration as policies see it.
fn model_of<'a>(
    session: &'a Session,
    known: &'a Structured,
    variables: &'a RootVariables,
    values: Arc<Values>,
    memo: Memo,
) -> Model<'a> {
    Model { values, memo, ..models::of_lowered(session, &known.lowered, &variables.values) }
}

/// Returns the rules in force, by name, with what is wrong with them.
///
/// # Errors
///
/// If there is no configuration, or a file cannot be read.
pub fn list(
    host: &Host<'_>,
    choice: &PolicyChoice,
) -> Result<(Policies, Diagnostics), Diagnostics> {
    let (session, _) = Session::open_in_place(host.world.clone(), host.sources.clone())?;
    Ok(Policies::read(policies::find(&session, choice)?, host.sources))
}

/// Counts rules by the group of files they stand in.
pub fn groups(policies: &Policies) -> BTreeMap<&str, usize> {
    let mut groups = BTreeMap::new();
    for rule in &policies.rules {
        *groups.entry(rule.group.as_str()).or_default() += 1;
    }
    groups
}

#[cfg(test)]
mod proof_tests;
#[cfg(test)]
mod tests;
