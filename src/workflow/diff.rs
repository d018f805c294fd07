//! `diff`: two plans, or two ways of making one, and how they differ.

use std::path::PathBuf;
use std::sync::Arc;

use super::explain::planned;
use super::host::Host;
use super::open::report_run_in_progress;
use super::options::PlanOptions;
use super::with_room;
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::operation::difference::{Differences, between};
use crate::operation::git::Tree;
use crate::operation::saved;
use crate::operation::session::open_backend;
use crate::plan::Plan;
use crate::world::{Given, World};

/// One of two plans.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// A saved plan.
    pub saved: Option<PathBuf>,
    /// How to make it otherwise.
    pub planning: PlanOptions,
    /// The workspace; nothing for the selected one.
    pub workspace: Option<String>,
    /// The commit whose configuration it is made from; nothing for the files as they are.
    pub reference: Option<String>,
}

/// Makes two plans, and says how they differ. Changes nothing.
///
/// # Errors
///
/// If one of them cannot be made or read.
pub fn diff(host: &Host<'_>, one: &Side, other: &Side) -> Result<Differences, Diagnostics> {
    with_room(|runtime| {
        let one = runtime.block_on(made(host, one))?;
        let other = runtime.block_on(made(host, other))?;
        Ok(between(&one, &other))
    })?
}

async fn made(host: &Host<'_>, side: &Side) -> Result<Plan, Diagnostics> {
    if let Some(path) = &side.saved {
        return Ok(saved::load(host.world, host.sources, &host.world.root.join(path))?.plan);
    }
    // What another commit says of where the state lies is of no account: there is but one.
    let (tree, state) = match &side.reference {
        Some(reference) => {
            let tree = Tree::of(&host.world.root, reference)?;
            let backend = open_backend(host.world, host.sources, &side.planning.state.files)?;
            report_run_in_progress(host, &backend);
            (Some(tree), Some(backend.read()?.state.unwrap_or_default()))
        }
        None => (None, None),
    };
    let mut world = World::clone(host.world);
    world.given = Given::default();
    world.given.variables = side.planning.request.variables.clone();
    if let Some(workspace) = &side.workspace {
        world.environment.insert("TF_WORKSPACE".to_owned(), workspace.clone());
    }
    // Files of another commit are other texts under the same names.
    let mut sources = host.sources.clone();
    if let Some(tree) = &tree {
        world.root = tree.root.clone();
        sources = Sources::default();
    }
    let world = Arc::new(world);
    let own = Host { world: &world, sources: &sources, ..*host };
    let made = planned(&own, &side.planning, state).await.and_then(|(_, made)| {
        let problems = &made.finished.problems;
        if problems.has_errors() { Err(problems.clone()) } else { Ok(made.finished.plan) }
    });
    made.map_err(|problems| match &side.reference {
        // Their places are in files that are nowhere any more.
        Some(reference) => of_commit(reference, &problems, &sources),
        None => problems,
    })
}

fn of_commit(reference: &str, problems: &Diagnostics, sources: &Sources) -> Diagnostics {
    let told = problems.iter().filter(|it| it.is_error()).map(|it| {
        let place = it.subject.map(|it| format!("{}: ", sources.place(it))).unwrap_or_default();
        Diagnostic::error(it.summary.clone())
            .detail(format!("In {reference}, {place}{}", it.detail))
    });
    Diagnostics(told.collect())
}
