//! `apply`, `destroy`, `refresh`.

use std::collections::BTreeMap;
use std::sync::Arc;

use entail::backend::Snapshot;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::execute::Done;
use entail::observe::pool::Pool;
use entail::operation::apply::{self, Approved};
use entail::operation::event::{Event, Sink, tell_changes};
use entail::operation::plan::Planned;
use entail::operation::session::Session;
use entail::operation::{saved, validate};
use entail::plan::Plan;
use entail::world::World;

use super::planning::plan_and_warn;
use super::{begin, lock, open_to_plan, read_state, root_variables, schemas, with_interrupts};
use crate::commands::apply::{ApplyArgs, ApplyOptions};
use crate::commands::present;
use crate::ui::Ui;

/// Plans and applies, or applies a saved plan.
pub fn run(
    ui: &mut Ui,
    world: &Arc<World>,
    args: &ApplyArgs,
    options: ApplyOptions,
) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, args.show_sensitive)?;
    let ui = &*ui;
    match &options.plan {
        Some(path) => {
            let path = path.clone();
            with_interrupts(ui, |runtime| runtime.block_on(saved_plan(ui, world, &options, &path)))?
        }
        None => with_interrupts(ui, |runtime| runtime.block_on(fresh(ui, world, &options)))?,
    }
}

/// Records what changed outside, and asks nothing.
pub fn refresh(
    ui: &mut Ui,
    world: &Arc<World>,
    args: &crate::commands::refresh::RefreshArgs,
    options: ApplyOptions,
) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, false)?;
    let ui = &*ui;
    with_interrupts(ui, |runtime| runtime.block_on(refreshed(ui, world, &options)))?
}

async fn refreshed(ui: &Ui, world: &Arc<World>, options: &ApplyOptions) -> Result<u8, Diagnostics> {
    let session = open_to_plan(ui, world, &options.state, &options.request)?;
    let _lock = lock(ui, &session, &options.state, "OperationTypeRefresh")?;
    let snapshot = read_state(ui, &session)?;
    let variables = root_variables(ui, &session, &options.request)?;
    let state = snapshot.state.clone().unwrap_or_default();
    let planned = plan_and_warn(ui, &session, &options.request, state, variables).await?;
    let mut problems = planned.finished.problems.clone();
    if problems.has_errors() {
        return Ok(ui.diagnostics(problems));
    }
    let approved = Approved { keeps_undecided: true, ..approved(&planned) };
    let done = done(ui, &session, &planned.pool, &approved, &snapshot, options).await?;
    problems = lasting(problems);
    problems.extend(done.problems.clone());
    let code = ui.diagnostics(problems);
    if code == 0 {
        present::outputs(ui, &done.state);
    }
    Ok(code)
}

fn approved(planned: &Planned) -> Approved<'_> {
    let finished = &planned.finished;
    Approved {
        plan: &finished.plan,
        structure: &finished.structure,
        order: &finished.order,
        facts: &finished.facts,
        spread: &finished.spread,
        variables: &planned.variables.values,
        keeps_undecided: false,
    }
}

async fn fresh(ui: &Ui, world: &Arc<World>, options: &ApplyOptions) -> Result<u8, Diagnostics> {
    let session = open_to_plan(ui, world, &options.state, &options.request)?;
    let _lock = lock(ui, &session, &options.state, "OperationTypeApply")?;
    let snapshot = read_state(ui, &session)?;
    let variables = root_variables(ui, &session, &options.request)?;
    let state = snapshot.state.clone().unwrap_or_default();
    let planned = plan_and_warn(ui, &session, &options.request, state, variables).await?;
    let finished = &planned.finished;
    let asks = finished.plan.is_applyable() && !options.auto_approve;
    let (now, later) = match asks || finished.problems.has_errors() {
        true => (finished.problems.clone(), Diagnostics::new()),
        false => (Diagnostics::new(), lasting(finished.problems.clone())),
    };
    let code = present::plan(ui, &finished.plan, &schemas(&planned.pool), now);
    if code != 0 {
        return Ok(code);
    }
    if asks && !ui.approves(finished.plan.mode, &session.workspace)? {
        ui.cancelled(finished.plan.mode);
        return Ok(1);
    }
    carry_out(ui, &session, &planned.pool, &approved(&planned), (&snapshot, later), options).await
}

/// The warnings of a plan that nobody is asked about: those of checks are given again when they are made again.
fn lasting(mut problems: Diagnostics) -> Diagnostics {
    let again = ["Check block assertion failed", "Check block assertion known after apply"];
    problems.0.retain(|it| !again.contains(&it.summary.as_str()));
    problems
}

async fn saved_plan(
    ui: &Ui,
    world: &Arc<World>,
    options: &ApplyOptions,
    path: &std::path::Path,
) -> Result<u8, Diagnostics> {
    let mut loaded = saved::load(path).map_err(|it| not_loaded(path, it))?;
    if let Some(trusted) = &options.trusted {
        trusted.check(loaded.signer())?;
    }
    if loaded.plan.errored {
        return Err(Diagnostic::error("Cannot apply incomplete plan")
            .detail(
                "OpenTofu encountered an error when generating this plan, so it cannot be applied.",
            )
            .into());
    }
    let session = loaded.open(world.clone(), ui.sources.clone(), &options.state.files)?;
    let _lock = lock(ui, &session, &options.state, "OperationTypeApply")?;
    let snapshot = read_state(ui, &session)?;
    let mut problems = loaded.check_locks(&session)?;
    problems.extend(loaded.plan.check_current(snapshot.state.as_ref()).err());
    if problems.has_errors() {
        return Err(problems);
    }
    let given = given_again(ui, &session, options, &loaded.plan)?;
    let variables = loaded.variables(&session.config, &given);
    let (pool, problems) =
        Pool::start(&session.supply, session.needed_providers(&loaded.plan.prior_state)).await;
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
        keeps_undecided: false,
    };
    tell_changes(&loaded.plan, ui);
    let mut warnings = session.warnings.clone();
    warnings.extend(validate::deprecated_variables(&session.config));
    carry_out(ui, &session, &pool, &approved, (&snapshot, warnings), options).await
}

fn not_loaded(path: &std::path::Path, problems: Diagnostics) -> Diagnostics {
    let detail = problems.iter().map(|it| it.to_string()).collect::<Vec<_>>().join(" ");
    Diagnostic::error(format!("Failed to load {:?} as a plan file", path.display().to_string()))
        .detail(detail)
        .into()
}

/// Values given now must be those of the plan; ephemeral ones must be given again.
fn given_again(
    ui: &Ui,
    session: &Session,
    options: &ApplyOptions,
    plan: &Plan,
) -> Result<BTreeMap<entail::value::Str, entail::value::Value>, Diagnostics> {
    let (inputs, _, problems) = session.given_variables(&options.request);
    if problems.has_errors() {
        return Err(problems);
    }
    let mut values = BTreeMap::new();
    let mut wrong = Diagnostics::new();
    for (name, input) in &inputs {
        let Some(variable) = session.config.root().variables.get(name) else { continue };
        let value = entail::operation::variables::finish(
            variable,
            &format!("var.{name}"),
            Some(input),
            &ui.sources,
        )?;
        let plain = value.unmark_deep().0;
        if plan.variables.get(name).is_some_and(|it| *it != plain) {
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
                "Variable \"{name}\" is configured as ephemeral. This type of variables need to be given a value during `entail plan` and also during `entail apply`."
            )));
        }
    }
    if wrong.has_errors() { Err(wrong) } else { Ok(values) }
}

async fn carry_out(
    ui: &Ui,
    session: &Session,
    pool: &Pool,
    approved: &Approved<'_>,
    (snapshot, mut problems): (&Snapshot, Diagnostics),
    options: &ApplyOptions,
) -> Result<u8, Diagnostics> {
    let mut done = done(ui, session, pool, approved, snapshot, options).await?;
    problems.extend(done.problems);
    done.problems = problems.once();
    Ok(report(ui, approved.plan, done, options))
}

async fn done(
    ui: &Ui,
    session: &Session,
    pool: &Pool,
    approved: &Approved<'_>,
    snapshot: &Snapshot,
    options: &ApplyOptions,
) -> Result<Done, Diagnostics> {
    ui.interrupts.carry_out();
    apply::apply(
        session,
        pool,
        approved,
        snapshot,
        options.request.parallelism.max(1),
        ui,
        &ui.interrupts.stop,
    )
    .await
}

fn report(ui: &Ui, plan: &Plan, done: Done, options: &ApplyOptions) -> u8 {
    let mut problems = done.problems.clone();
    if done.stopped && !done.is_journal_torn {
        problems.push(halted(&done));
    }
    match &done.homeless {
        Some(state) if ui.is_json() => ui.event(Event::Message(state.clone())),
        Some(state) => ui.out(state),
        None => {}
    }
    if !options.suppress_forget_errors {
        problems.extend(apply::verdict(&done, plan.mode));
    }
    if !plan.is_unfiltered() {
        problems.0.insert(0, incomplete());
    }
    let failed = problems.has_errors();
    let code = ui.diagnostics(problems);
    if failed {
        return code;
    }
    present::done(ui, options.stage, Some(&done.state), options.state.files.state_out.as_deref());
    code
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

fn incomplete() -> Diagnostic {
    Diagnostic::warning("Applied changes may be incomplete").detail(
        "The plan was created with the -target or the -exclude option in effect, so some changes requested in the configuration may have been ignored and the output values may not be fully updated. Run the following command to verify that no other changes are pending:\n    entail plan\n\nNote that the -target and -exclude options are not suitable for routine use, and are provided only for exceptional situations such as recovering from errors or mistakes, or when OpenTofu specifically suggests to use it as part of an error message.",
    )
}
