//! `impact`: what would be touched if something changed. Asks no provider.

use std::path::PathBuf;

use super::host::Host;
use super::judging::in_force;
use super::open::{open, read_state_to_answer, refuse_without_configuration};
use super::options::PlanOptions;
use super::with_room;
use crate::config::inputs::RootVariables;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::lower::trace::Followed;
use crate::observe::provider_sources::ProviderSources;
use crate::operation::explain::ExplainContext;
use crate::operation::impact::{
    Direction, Edits, Impact, SavedTrace, Start, impact as find, since,
};
use crate::operation::session::Session;
use crate::operation::{plan as operation, saved};
use crate::planner::{Foreseen, Structured};
use crate::request::Request;
use crate::state::State;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct ImpactOptions {
    /// Addresses, and `FILE:LINE` or `FILE:FIRST-LAST`.
    pub of: Vec<String>,
    /// The commit since which edits count.
    pub since: Option<String>,
    /// Which way, and how far.
    pub direction: Direction,
    /// A saved plan: only what it touches is listed.
    pub plan: Option<PathBuf>,
    /// Variables, state and policies.
    pub planning: PlanOptions,
}

/// Finds what would be touched if something changed. Changes nothing. Returns warnings with it.
///
/// # Errors
///
/// If nothing has an address, nothing stands at a place, git knows no such commit, or the configuration cannot be used.
pub fn impact(
    host: &Host<'_>,
    options: &ImpactOptions,
) -> Result<(Impact, Diagnostics), Diagnostics> {
    with_room(|_| match &options.plan {
        Some(path) => {
            let mut loaded = saved::load(host.world, host.sources, &host.world.root.join(path))?;
            let config = loaded.fit(host.world, host.sources)?;
            let context = ExplainContext::of_saved(host.world, &loaded)?;
            let start = start(host, options, &context)?;
            let trace = SavedTrace::of(&loaded, &config, (host.world, host.sources))?;
            let context = trace.followed(context, &start, options.direction)?;
            let found = find(&context, &start, options.direction, Some(&loaded.plan));
            Ok((found, Diagnostics::new()))
        }
        None => {
            let known = Known::read(host, &options.planning)?;
            let (context, problems) = known.context(&Followed::default())?;
            let start = start(host, options, &context)?;
            let followed = context.followed(&start, options.direction);
            let context = if followed.0.is_empty() { context } else { known.context(&followed)?.0 };
            Ok((find(&context, &start, options.direction, None), problems))
        }
    })?
}

/// What is known without providers. What a variable that was not given will be is not known, and need not be.
pub(super) struct Known {
    session: Session,
    pub(super) request: Request,
    state: State,
    variables: RootVariables,
    problems: Diagnostics,
}

impl Known {
    /// Reads the configuration and the state.
    pub(super) fn read(host: &Host<'_>, options: &PlanOptions) -> Result<Known, Diagnostics> {
        refuse_without_configuration(host, &options.request)?;
        let session = open(host, &options.state, ProviderSources::of(host.world, host.sources))?;
        let state =
            read_state_to_answer(host, &session, options.state.lock)?.state.unwrap_or_default();
        let (inputs, _, problems) = session.given_variables(&options.request);
        if problems.has_errors() {
            return Err(problems);
        }
        let variables = session.variables_or_unknown(&inputs)?;
        let run = in_force(&session, &options.policies, &options.request, &state, &variables)?;
        let request = run.request.clone();
        Ok(Known { session, request, state, variables, problems })
    }

    /// Returns what reads what. Everything that is derived from a followed value reads it.
    pub(super) fn context(
        &self,
        followed: &Followed,
    ) -> Result<(ExplainContext, Diagnostics), Diagnostics> {
        let Known { session, request, state, variables, .. } = self;
        let known =
            operation::whatif_followed(session, request, state.clone(), variables, followed)?;
        let mut problems = self.problems.clone();
        problems.extend(known.lowered.problems.clone());
        problems.extend(session.warnings.iter().cloned());
        Ok((self.context_of(&known).with_provenance(known.lowered.provenance), problems))
    }

    /// Returns what a run with this request does, as far as that is known before any provider is asked.
    pub(super) fn foresee(&self, request: &Request) -> Result<(Structured, Foreseen), Diagnostics> {
        let Known { session, state, variables, .. } = self;
        operation::whatif_foreseen(session, request, state.clone(), variables)
    }

    /// Returns what questions about such a run are answered from.
    pub(super) fn context_of(&self, known: &Structured) -> ExplainContext {
        ExplainContext::of_lowered(&self.session, &known.lowered)
    }
}

fn start(
    host: &Host<'_>,
    options: &ImpactOptions,
    context: &ExplainContext,
) -> Result<Start, Diagnostics> {
    let mut start = Start::default();
    let (root, files) = (&host.world.root, &host.world.files);
    let add =
        |start: &mut Start, edits: &Edits| start.edits(edits, context, (files, root, host.sources));
    for text in &options.of {
        match place(text) {
            Some(edits) => add(&mut start, &edits)?,
            None => start.address(text, context)?,
        }
    }
    if let Some(reference) = &options.since {
        for edits in since(root, reference)? {
            add(&mut start, &edits)?;
        }
    }
    if options.of.is_empty() && options.since.is_none() {
        return Err(Diagnostic::error("Nothing is asked")
            .detail("The impact command expects addresses, places such as main.tf:12, or -since=COMMIT.")
            .into());
    }
    Ok(start)
}

/// Reads `FILE:LINE` and `FILE:FIRST-LAST`.
fn place(text: &str) -> Option<Edits> {
    let (file, lines) = text.rsplit_once(':')?;
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    let is_file = [".tf", ".tofu", ".tfvars", ".json"].iter().any(|it| file.ends_with(it));
    let file = file.trim_start_matches("./").to_owned();
    (is_file && first <= last).then(|| Edits { file, lines: vec![first..=last], before: None })
}
