//! `why`, `whatif`, `facts`: what was decided, and what it rests on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use entail_rules::Facts;

use super::host::Host;
use super::judging::in_force;
use super::open::{
    open, open_to_plan, read_state_to_answer, refuse_without_configuration, root_variables,
};
use super::options::PlanOptions;
use super::{vocabulary, with_room};
use crate::config::inputs::RootVariables;
use crate::diagnostic::Diagnostics;
use crate::event::Silence;
use crate::explain::Known;
use crate::observe::provider_sources::ProviderSources;
use crate::operation::explain::causes::Causes;
use crate::operation::explain::causes::origin::given;
use crate::operation::explain::{
    ExplainContext, Length, Parts, Question, Relation, decided_by, order, parts,
};
use crate::operation::models::{self, Basis};
use crate::operation::plan::Planned;
use crate::operation::saved::{Loaded, Written};
use crate::operation::session::Session;
use crate::operation::{plan as operation, saved};
use crate::plan::Plan;
use crate::planner::Structured;
use crate::policy::catalogue::{self, Meant};
use crate::reason;
use crate::state::State;

/// What a question is asked of: a saved plan, or one that is made for it.
#[derive(Clone, Debug, Default)]
pub struct PlanSource {
    /// A saved plan. It needs no provider and no configuration.
    pub saved: Option<PathBuf>,
    /// What to plan otherwise.
    pub planning: PlanOptions,
}

/// What `why` is asked.
#[derive(Clone, Debug, Default)]
pub struct WhyOptions {
    /// The address as written.
    pub address: String,
    /// The action that is missed, where one is.
    pub not: Option<String>,
    /// Whether the choice of provider is asked for.
    pub provider: bool,
    /// Whether the order of steps is asked for.
    pub order: bool,
    /// The relation that is asked for, where one is, instead of what is to be done.
    pub relation: Option<String>,
    /// How the answer is told.
    pub form: Form,
    /// Whether a text has every line, and the proof.
    pub full: bool,
    /// The plan.
    pub subject: PlanSource,
}

/// How an answer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As text, so many steps back.
    Text(Option<usize>),
    /// As a JSON document.
    Json,
}

impl Default for Form {
    fn default() -> Form {
        Form::Text(None)
    }
}

/// An answer of `why`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The answer, as text or as a JSON document.
    pub text: String,
    /// Whether the plan that was made for it has errors. They were reported.
    pub has_errors: bool,
}

/// Explains one decision. Changes nothing.
///
/// # Errors
///
/// If nothing has the address, the missed action is not one, or no plan can be made.
pub fn why(host: &Host<'_>, options: &WhyOptions) -> Result<Explained, Diagnostics> {
    let relation = match options.relation.as_deref().map(catalogue::meant).transpose()? {
        Some(Meant::Public(name)) => return vocabulary::why_of(host, options, name),
        Some(Meant::Planner(name)) => Some(name),
        None => None,
    };
    let sound = |text| Explained { text, has_errors: false };
    with_room(|runtime| {
        let WhyOptions { address, subject, .. } = options;
        let ask = |context: &ExplainContext| {
            let question = Question::read(address, options.not.as_deref(), context)?;
            Ok::<_, Diagnostics>(match relation {
                Some(relation) => question.about_relation(relation)?,
                None if options.provider => question.about_provider(),
                None => question,
            })
        };
        if subject.saved.is_none()
            && options.provider
            && let Some(text) = before_planning(host, options, &ask)?
        {
            return Ok(sound(text));
        }
        let answer = |context: &ExplainContext, causes: &Causes<'_>| {
            if options.order {
                return ordered(address, context, causes, options.form);
            }
            told(&ask(context)?, context, Some(causes), options)
        };
        match &subject.saved {
            Some(path) => {
                let is_about_decision = relation.is_none() && !options.provider && !options.order;
                of_saved(host, path, is_about_decision, &answer).map(sound)
            }
            None => runtime.block_on(of_plan(host, &subject.planning, &answer)),
        }
    })?
}

fn told(
    question: &Question,
    context: &ExplainContext,
    causes: Option<&Causes<'_>>,
    options: &WhyOptions,
) -> Result<String, Diagnostics> {
    Ok(match options.form {
        Form::Json => format!("{:#}\n", question.answer_json(context, causes)?),
        Form::Text(depth) => {
            question.answer(context, causes, Length { depth, full: options.full })?
        }
    })
}

/// Answers who serves an object from what is known before any provider is asked; nothing where that is not enough.
fn before_planning(
    host: &Host<'_>,
    options: &WhyOptions,
    ask: &dyn Fn(&ExplainContext) -> Result<Question, Diagnostics>,
) -> Result<Option<String>, Diagnostics> {
    let planning = &options.subject.planning;
    let (session, known, variables) = before_plan(host, planning)?;
    let Ok(known) = known else { return Ok(None) };
    let context = ExplainContext::of_lowered(&session, &known.lowered);
    let Some(question) = ask(&context).ok().filter(|it| it.is_settled(&context)) else {
        return Ok(None);
    };
    let given = given(&session.config, &variables, &session.sources);
    let model = models::of_lowered(&session, &known.lowered, &variables.values);
    told(&question, &context, Some(&Causes::new(&model, &given)), options).map(Some)
}

fn ordered(
    address: &str,
    context: &ExplainContext,
    causes: &Causes<'_>,
    form: Form,
) -> Result<String, Diagnostics> {
    Ok(match form {
        Form::Json => format!("{:#}\n", order(address, context, causes, None)?.1),
        Form::Text(depth) => order(address, context, causes, depth)?.0,
    })
}

/// What finds an answer.
type Answer<'a> = &'a (dyn Fn(&ExplainContext, &Causes<'_>) -> Result<String, Diagnostics> + Sync);

/// Answers from a saved plan. Its configuration is in it.
///
/// - `is_about_decision`: whether what is decided is asked for, which is concluded while the rest of the plan is read.
fn of_saved(
    host: &Host<'_>,
    path: &Path,
    is_about_decision: bool,
    answer: Answer<'_>,
) -> Result<String, Diagnostics> {
    let (world, sources) = (host.world, host.sources);
    let engine = reason::named(world)?;
    let conclude = |facts: &Facts| is_about_decision.then(|| decided_by(engine, facts));
    let path = world.root.join(path);
    let read = |loaded: &mut Loaded| loaded.written(world, sources);
    let (loaded, decided, written) = saved::load_and(world, sources, &path, conclude, read)?;
    let written = written?;
    let known = decided.clone();
    let found =
        of_loaded(host, (&loaded, &written), known, |context, causes, _| answer(context, causes));
    // To give a large plan back takes longer than to print the answer. Where there is no thread for it, it is done here.
    drop(std::thread::Builder::new().spawn(move || drop((loaded, decided))));
    found
}

/// Answers from a saved plan that was read.
pub(super) fn of_loaded<T>(
    host: &Host<'_>,
    (loaded, written): (&Loaded, &Written),
    decided: Option<Arc<Known>>,
    answer: impl FnOnce(&ExplainContext, &Causes<'_>, &Plan) -> Result<T, Diagnostics>,
) -> Result<T, Diagnostics> {
    let (world, sources) = (host.world, host.sources);
    let Written { config, places, variables } = written;
    let basis = Basis { config, sources, world, variables, places };
    let model = models::of_saved(loaded, &basis);
    let causes = Causes::new(&model, &loaded.given);
    let context = ExplainContext::of_saved(world, loaded)?.with_decided(decided);
    answer(&context, &causes, &loaded.plan)
}

/// Answers from a plan that is made for it.
async fn of_plan(
    host: &Host<'_>,
    options: &PlanOptions,
    answer: Answer<'_>,
) -> Result<Explained, Diagnostics> {
    let (session, planned) = planned(host, options, None).await?;
    let given = given(&session.config, &planned.variables, &session.sources);
    let model = models::of_planned(&session, &planned);
    let causes = Causes::new(&model, &given);
    let text = answer(&ExplainContext::of_planned(&session, &planned.finished), &causes)?;
    Ok(Explained { text, has_errors: planned.finished.problems.has_errors() })
}

/// What is known before any provider is asked, and whether that is all there is to know of who serves what. Nothing
/// where it cannot be found out: a plan says why.
fn structured(
    host: &Host<'_>,
    options: &PlanOptions,
) -> Result<Option<(ExplainContext, bool)>, Diagnostics> {
    let (session, known, _) = before_plan(host, options)?;
    Ok(known.ok().map(|known| {
        let is_all = known.providers.awaits.is_empty();
        (ExplainContext::of_lowered(&session, &known.lowered), is_all)
    }))
}

/// What is known before any provider is asked.
pub(super) fn known_early(
    host: &Host<'_>,
    options: &PlanOptions,
) -> Result<ExplainContext, Diagnostics> {
    let (session, known, _) = before_plan(host, options)?;
    Ok(ExplainContext::of_lowered(&session, &known?.lowered))
}

/// A session, what is known of its configuration, and the values of its variables.
pub(super) type Before = (Session, Result<Structured, Diagnostics>, RootVariables);

pub(super) fn before_plan(host: &Host<'_>, options: &PlanOptions) -> Result<Before, Diagnostics> {
    refuse_without_configuration(host, &options.request)?;
    let session = open(host, &options.state, ProviderSources::of(host.world, host.sources))?;
    let state = read_state_to_answer(host, &session, options.state.lock)?.state.unwrap_or_default();
    let variables = root_variables(host, &session, &options.request)?;
    let run = in_force(&session, &options.policies, &options.request, &state, &variables)?;
    let known = operation::whatif(&session, &run.request, state, &variables);
    Ok((session, known, variables))
}

/// What a saved plan rests on.
fn recorded(host: &Host<'_>, path: &Path) -> Result<ExplainContext, Diagnostics> {
    Ok(ExplainContext::of_saved(
        host.world,
        &saved::load(host.world, host.sources, &host.world.root.join(path))?,
    )?)
}

/// Makes a plan to ask. What is wrong with it is told.
///
/// - `state`: what it starts from; nothing for what is recorded.
pub(super) async fn planned(
    host: &Host<'_>,
    options: &PlanOptions,
    state: Option<State>,
) -> Result<(Session, Planned), Diagnostics> {
    let session = open_to_plan(host, &options.state, &options.request).await?;
    let state = match state {
        Some(state) => state,
        None => read_state_to_answer(host, &session, options.state.lock)?.state.unwrap_or_default(),
    };
    let variables = root_variables(host, &session, &options.request)?;
    let run = in_force(&session, &options.policies, &options.request, &state, &variables)?;
    let planned = operation::plan(&session, &run.request, state, variables, &Silence).await?;
    let problems = planned.finished.problems.clone();
    if problems.has_errors() {
        host.tell.problems(problems);
    }
    Ok((session, planned))
}

/// Returns what takes part in a run, and through whom the rest does not, with the warnings of finding out. Asks no provider.
///
/// # Errors
///
/// If the configuration cannot be used.
pub fn whatif(host: &Host<'_>, options: &PlanOptions) -> Result<(Parts, Diagnostics), Diagnostics> {
    with_room(|_| {
        refuse_without_configuration(host, &options.request)?;
        let session = open(host, &options.state, ProviderSources::of(host.world, host.sources))?;
        let state =
            read_state_to_answer(host, &session, options.state.lock)?.state.unwrap_or_default();
        let variables = root_variables(host, &session, &options.request)?;
        let run = in_force(&session, &options.policies, &options.request, &state, &variables)?;
        let (known, foreseen) =
            operation::whatif_foreseen(&session, &run.request, state, &variables)?;
        let mut problems = known.lowered.problems.clone();
        problems.extend(session.warnings.iter().cloned());
        problems.extend(foreseen.problems);
        Ok((Parts { asked: run.asked, ..parts(&known, &foreseen.outputs) }, problems))
    })?
}

/// Returns the rows of one relation, or of every relation that has any.
///
/// # Errors
///
/// If there is no such relation, or no plan can be made.
pub fn facts(
    host: &Host<'_>,
    subject: &PlanSource,
    relation: Option<&str>,
) -> Result<Vec<Relation>, Diagnostics> {
    let relation = match relation.map(catalogue::meant).transpose()? {
        Some(Meant::Public(name)) => return Ok(vec![vocabulary::rows(host, subject, name)?]),
        Some(Meant::Planner(name)) => Some(name),
        None => None,
    };
    with_room(|runtime| {
        let is_early = relation.is_some_and(ExplainContext::is_about_providers);
        let known = match subject.saved.is_none() && is_early {
            true => structured(host, &subject.planning)?.filter(|it| it.1),
            false => None,
        };
        let context = match (known, &subject.saved) {
            (Some((known, _)), _) => known,
            (None, Some(path)) => recorded(host, path)?,
            (None, None) => {
                let (session, planned) =
                    runtime.block_on(planned(host, &subject.planning, None))?;
                ExplainContext::of_planned(&session, &planned.finished)
            }
        };
        Ok(context.relations(relation)?)
    })?
}
