//! `apply`, `destroy`: plans or loads a plan, asks, and carries it out.

use crate::world::{PRODUCT, PROGRAM};
use std::collections::BTreeMap;
use std::path::Path;

use super::ahead::Ahead;
use super::host::Host;
use super::judging::{Kept, denied_plan, in_force};
use super::log::Origin;
use super::open::{lock, open_to_plan, read_state, root_variables, schemas};
use super::options::ApplyOptions;
use super::plan::plan_and_warn;
use super::with_room;
use crate::backend::Snapshot;
use crate::diagnostic::{Diagnostic, Diagnostics, Sort};
use crate::event::tell_changes;
use crate::execute::{Done, Watch, provision};
use crate::lower::moves::apply_moves;
use crate::observe::pool::Pool;
use crate::operation::apply::{self as operation, Approved, Conduct};
use crate::operation::session::Session;
use crate::operation::{log, policies, saved, validate, variables};
use crate::plan::{Action, Plan};
use crate::policy::Verdict;
use crate::request::PlanMode;
use crate::value::text::shell_word;
use crate::value::{Str, Value};
use tracing::Instrument;

/// What came of an apply.
pub enum Applied {
    /// The plan has errors: they were told with it, and nothing was asked or done.
    Refused,
    /// A plan of this mode was not approved; nothing was done.
    Declined(PlanMode),
    /// The plan was carried out, as far as that went: its problems are not told yet.
    Done(Box<Done>),
}

/// Plans, asks and applies, or applies a saved plan and asks nothing.
///
/// # Errors
///
/// If there is no plan that could be carried out, or no place to note what is finished. Then nothing was begun.
pub fn apply(host: &Host<'_>, options: &ApplyOptions) -> Result<Applied, Diagnostics> {
    with_room(|runtime| match &options.plan {
        Some(path) => runtime.block_on(saved_plan(host, options, path)),
        None => runtime.block_on(fresh(host, options)),
    })?
}

async fn fresh(host: &Host<'_>, options: &ApplyOptions) -> Result<Applied, Diagnostics> {
    let session = open_to_plan(host, &options.state, &options.request).await?;
    let _lock = lock(host, &session.backend, options.state.lock, "OperationTypeApply")?;
    let snapshot = read_state(host, &session)?;
    let variables = root_variables(host, &session, &options.request)?;
    let state = snapshot.state.clone().unwrap_or_default();
    let run = in_force(&session, &options.policies, &options.request, &state, &variables)?;
    let mut planned = plan_and_warn(host, &session, &run.request, state, variables).await?;
    let finished = &planned.finished;
    let asks = finished.plan.is_applyable() && !options.auto_approve;
    let mut problems = finished.problems.clone();
    // Whoever plans is told of it; other programs' `apply` says nothing either.
    problems.0.retain(|it| it.sort != Sort::Unencrypted);
    let judged = problems.take(run.judge(&session, &planned, &options.policies)).flatten();
    let is_denied = judged.as_ref().is_some_and(|it| it.0.is_denied());
    let failed = problems.has_errors() || is_denied;
    let (now, later) = match asks || failed {
        true => (problems, Diagnostics::new()),
        false => (Diagnostics::new(), lasting(problems)),
    };
    host.tell.planned(&finished.plan, &schemas(&planned.pool), now);
    if let Some((report, _)) = &judged {
        host.tell.judged(report);
    }
    if failed {
        return Ok(Applied::Refused);
    }
    if asks && !host.ask.approves(finished.plan.mode, &session.workspace)? {
        return Ok(Applied::Declined(finished.plan.mode));
    }
    if judged.is_none() {
        planned.let_go();
    }
    let approved = Approved::of(&planned)?;
    let seen = run.see(&session, &planned);
    let origin = Origin::judged(judged.as_ref().map(|it| &it.0));
    let judged = judged.as_ref().map(|it| (&it.0, it.1));
    let denied = |it: &Verdict| host.tell.denied(it);
    let watch =
        seen.as_ref().zip(judged).and_then(|it| it.0.watch(it.1, &options.policies, &denied));
    let watch = watch.as_ref().map(|it| it as &dyn Watch);
    let pool = &planned.pool;
    let run = Run { session: &session, pool, approved: &approved, options, watch, origin };
    run.carry_out(host, &snapshot, later).await
}

/// The warnings of a plan that nobody is asked about: those of checks are given again when they are made again.
fn lasting(mut problems: Diagnostics) -> Diagnostics {
    problems.0.retain(|it| it.sort != Sort::CheckBlock);
    problems
}

/// Checks that a saved plan was made from the state that is there now. The plan has the state after the moves of the configuration.
fn check_state(plan: &Plan, session: &Session, snapshot: &Snapshot) -> Result<(), Diagnostic> {
    plan.check_current(snapshot.state.as_ref())?;
    let Some(mut state) = snapshot.state.clone() else { return Ok(()) };
    apply_moves(session.engine(), &session.config, &mut state);
    plan.check_content(&state)
}

async fn saved_plan(
    host: &Host<'_>,
    options: &ApplyOptions,
    path: &Path,
) -> Result<Applied, Diagnostics> {
    let mut loaded = saved::load_to_apply(host.world, host.sources, &host.world.root.join(path))
        .map_err(|it| not_loaded(path, it))?;
    if let Some(trusted) = &options.trusted {
        trusted.check(loaded.signer())?;
    }
    if loaded.plan.errored {
        return Err(incomplete_plan().into());
    }
    let report = loaded.report().unwrap_or_default();
    if report.is_denied() {
        return Err(denied_plan(&report).into());
    }
    if !options.policies.choice.is_default() || !options.policies.overruled.is_empty() {
        return Err(policies_of_plan().into());
    }
    if !options.request.lint.is_empty() {
        return Err(lint_of_plan().into());
    }
    let required = policies::required(host.world, host.sources)?;
    let refused = policies::check_plan(&loaded.policies()?, &required);
    if refused.has_errors() {
        return Err(refused);
    }
    let session = loaded.open(host.world.clone(), host.sources.clone(), &options.state.files)?;
    let _lock = lock(host, &session.backend, options.state.lock, "OperationTypeApply")?;
    let snapshot = read_state(host, &session)?;
    let mut problems = loaded.check_locks(&session)?;
    problems.extend(check_state(&loaded.plan, &session, &snapshot).err());
    if problems.has_errors() {
        return Err(problems);
    }
    let given = given_again(host, &session, options, &loaded.plan)?;
    let variables = loaded.variables(&session.config, &given);
    let needed = session.needed_providers(&loaded.plan.prior_state);
    let start = async { Ok(Pool::start(&session.provider_sources, needed).await) };
    let (pool, mut problems) = host.unless_stopped(start).await?;
    let plugins = &pool.provisioners;
    problems.extend(provision::unknown_kinds(&session.config, &session.sources, plugins));
    if problems.has_errors() {
        return Err(problems);
    }
    let approved = Approved {
        plan: &loaded.plan,
        structure: &loaded.structure,
        order: &loaded.order,
        facts: &loaded.facts,
        spread: &loaded.spread,
        variables: &variables,
    };
    // What only moved, or is only imported, has no step.
    tell_changes(&loaded.plan, host.tell, |it| it.action != Action::NoOp);
    if !report.verdicts.is_empty() {
        host.tell.judged(&report);
    }
    let mut warnings = session.warnings.clone();
    warnings.extend(validate::deprecated_variables(&session.config));
    let kept = Kept::of(&loaded, &session, &options.policies.limits)?;
    let seen = kept.as_ref().map(|it| it.see(&loaded, &session, &variables));
    let denied = |it: &Verdict| host.tell.denied(it);
    let watch = match kept.as_ref().zip(seen.as_ref()) {
        Some((kept, seen)) => kept.watch(seen, &denied)?,
        None => None,
    };
    let watch = watch.as_ref().map(|it| it as &dyn Watch);
    let origin = Origin::judged(Some(&report)).of_file(host.world, path);
    let run = Run { session: &session, pool: &pool, approved: &approved, options, watch, origin };
    run.carry_out(host, &snapshot, warnings).await
}

/// Policies are named, or overruled, beside a plan that was judged when it was made.
fn policies_of_plan() -> Diagnostic {
    Diagnostic::error("A saved plan has its policies").detail(
        "A saved plan is judged by the policies that it was made with, so that -policy, -no-policies and -override say nothing here. Plan again with them, and apply that plan.",
    )
}

/// Lint rules are named beside a plan that was made before.
fn lint_of_plan() -> Diagnostic {
    Diagnostic::error("A saved plan is not linted").detail(format!(
        "The -lint option looks at the configuration while a plan is made, and this plan was made before.\n\nhint: remove -lint. To see the findings, run \"{PROGRAM} validate -lint=LIST\", or give -lint when the plan is made"
    ))
}

/// The plan was saved though it could be made in part only.
fn incomplete_plan() -> Diagnostic {
    Diagnostic::error("Cannot apply incomplete plan").detail(format!(
        "{PRODUCT} encountered an error when generating this plan, so it cannot be applied."
    ))
}

fn not_loaded(path: &Path, problems: Diagnostics) -> Diagnostics {
    if problems.iter().any(|it| it.sort == Sort::NoSuchFile) {
        return no_such_plan(path).into();
    }
    let detail = problems.iter().map(|it| it.to_string()).collect::<Vec<_>>().join(" ");
    Diagnostic::error(format!("Failed to load {:?} as a plan file", path.display().to_string()))
        .detail(detail)
        .into()
}

/// The word behind `apply` is no file: whoever wrote it may have meant something else.
fn no_such_plan(path: &Path) -> Diagnostic {
    let name = path.display().to_string();
    let meant = match name.parse::<crate::address::target::Target>() {
        Ok(_) if name.contains('.') => {
            format!(
                "To apply only what has this address:\n  {PROGRAM} apply -target={}",
                shell_word(&name)
            )
        }
        _ => format!(
            "Options begin with a dash: for those that there are, run:\n  {PROGRAM} apply -help"
        ),
    };
    Diagnostic::error(format!("Failed to load {name:?} as a plan file")).detail(format!(
        "There is no file {name:?}. A word behind `apply` names the file of a saved plan. To save one, run:\n  {PROGRAM} plan -out={}\n\nTo plan and apply at once, name no file. {meant}",
        shell_word(&name)
    ))
}

/// Values given now must be those of the plan; ephemeral ones must be given again.
fn given_again(
    host: &Host<'_>,
    session: &Session,
    options: &ApplyOptions,
    plan: &Plan,
) -> Result<BTreeMap<Str, Value>, Diagnostics> {
    let (inputs, _, problems) = session.given_variables(&options.request);
    if problems.has_errors() {
        return Err(problems);
    }
    let mut values = BTreeMap::new();
    let mut wrong = Diagnostics::new();
    for (name, input) in &inputs {
        let Some(variable) = session.config.root().variables.get(name) else { continue };
        let value = variables::finish(variable, &format!("var.{name}"), Some(input), host.sources)?;
        let plain = value.to_plain();
        let differs = plan.variables.get(name).is_some_and(|it| *it != *plain);
        if differs && !plan.given_variables.contains_key(name) {
            host.tell.problems(not_used(name).into());
            continue;
        }
        if differs {
            wrong.push(Diagnostic::error("Mismatch between input and plan variable value").detail(format!(
                "Value saved in the plan file for variable \"{name}\" is different from the one given to the current command."
            )));
        }
        values.insert(name.clone(), value);
    }
    for (name, variable) in &session.config.root().variables {
        // Every other one without a default stands in the plan.
        let is_missing =
            variable.ephemeral && variable.default.is_none() && !values.contains_key(name);
        if is_missing && !plan.variables.contains_key(name) {
            wrong.push(Diagnostic::error("No value for required variable").at(variable.declared).detail(format!(
                "Variable \"{name}\" is configured as ephemeral. This type of variables need to be given a value during `{PROGRAM} plan` and also during `{PROGRAM} apply`."
            )));
        }
    }
    if wrong.has_errors() { Err(wrong) } else { Ok(values) }
}

/// A plan was made with the default of a variable, and a value is given for it now: by a variable of the environment, perhaps.
fn not_used(name: &str) -> Diagnostic {
    Diagnostic::warning("Value for variable not used").detail(format!(
        "The plan was made with the default of variable \"{name}\", and is carried out as it was planned: the value that is given now changes nothing. For a plan with that value, run \"{PROGRAM} plan\" with it."
    ))
}

/// A plan that is carried out, and with what.
struct Run<'a> {
    session: &'a Session,
    pool: &'a Pool,
    approved: &'a Approved<'a>,
    options: &'a ApplyOptions,
    /// Who judges what becomes known.
    watch: Option<&'a dyn Watch>,
    /// What its log tells besides what was done.
    origin: Origin,
}

impl Run<'_> {
    /// Carries the plan out. `problems` are those of making it, which nobody was told yet.
    async fn carry_out(
        &self,
        host: &Host<'_>,
        snapshot: &Snapshot,
        mut problems: Diagnostics,
    ) -> Result<Applied, Diagnostics> {
        let began = host.world.now();
        let parallelism = self.options.request.parallelism.max(1);
        let Run { session, pool, approved, .. } = self;
        host.tell.carries_out(&|| Ahead::of(approved.plan, &session.backend, parallelism));
        let (sink, stop, watch) = (host.tell, host.stop, self.watch);
        let conduct = Conduct { parallelism, sink, stop, watch };
        let span = tracing::info_span!("apply", steps = approved.order.step.len(), parallelism);
        let work = operation::apply(session, pool, approved, snapshot, conduct);
        let done = work.instrument(span).await;
        host.tell.has_carried_out();
        let mut done = done?;
        problems.extend(std::mem::take(&mut done.problems));
        done.problems = self.complete(&done, problems);
        let plan = (Some(self.approved.plan), self.operation());
        done.again = self.origin.again(session);
        let record = self.origin.record((session, snapshot), plan, began, &done);
        done.problems.extend(log::append(&session.backend, &record).err());
        Ok(Applied::Done(Box::new(done)))
    }

    /// Returns what the log calls the run.
    fn operation(&self) -> &'static str {
        match self.approved.plan.mode {
            PlanMode::Destroy => "destroy",
            PlanMode::Normal | PlanMode::RefreshOnly => "apply",
        }
    }

    /// Returns the problems of the run with those that its end adds.
    fn complete(&self, done: &Done, mut problems: Diagnostics) -> Diagnostics {
        let plan = self.approved.plan;
        if done.stopped && !done.is_journal_torn && !done.is_taken_away {
            problems.push(halted(done));
        }
        if !self.options.suppress_forget_errors {
            problems.extend(operation::verdict(done, plan.mode));
        }
        if !plan.is_unfiltered() {
            problems.0.insert(0, operation::incomplete());
        }
        problems
    }
}

/// The user has stopped the run.
fn halted(done: &Done) -> Diagnostic {
    let abandoned = match &done.abandoned[..] {
        [] => String::new(),
        some => format!(
            " These were still running and were abandoned, so it is not known what became of them: {}. They may have to be imported or \
             removed by hand.",
            some.join(", ")
        ),
    };
    Diagnostic::error("execution halted").detail(format!("The run was interrupted. What was finished is saved; run the command again for the rest.{abandoned}"))
}
