//! `plan`.

use std::path::Path;
use std::sync::Arc;

use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::operation::event::{ChangeNote, Event, OutputNote, Sink, Stage, Summary};
use entail::operation::plan::{self, Planned};
use entail::operation::saved;
use entail::operation::session::Session;
use entail::plan::{Action, Plan};
use entail::request::{PlanMode, Request};
use entail::state::State;
use entail::world::World;

use super::{begin, lock, open, read_state, root_variables, schemas, with_room};
use crate::commands::plan::PlanArgs;
use crate::ui::Ui;
use crate::view;

/// Plans, shows the plan, and saves it where asked.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &PlanArgs) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, args.show_sensitive)?;
    let options = args.options(ui)?;
    let ui = &*ui;
    with_room(|runtime| {
        let session = open(ui, world, &options.state)?;
        let _lock = lock(ui, &session, &options.state, "OperationTypePlan")?;
        let snapshot = read_state(ui, &session)?;
        let variables = root_variables(ui, &session, &options.request)?;
        let state = snapshot.state.unwrap_or_default();
        let planned = runtime.block_on(plan_and_warn(ui, &session, &options.request, state, variables))?;
        let has_changes = planned.finished.plan.is_applyable();
        let code = show(ui, &planned);
        if let Some(path) = &options.out {
            saved::save(&session, &planned, path)?;
        }
        next_step(ui, &planned.finished.plan, options.out.as_deref(), code != 0);
        Ok(match (code, options.detailed_exitcode, has_changes) {
            (0, true, true) => 2,
            (code, ..) => code,
        })
    })?
}

/// Plans; the warning that every filtered run carries comes first.
pub async fn plan_and_warn(
    ui: &Ui,
    session: &Session,
    request: &Request,
    state: State,
    variables: std::collections::BTreeMap<entail::value::Str, entail::value::Value>,
) -> Result<Planned, Diagnostics> {
    let filtered = !request.targets.is_empty() || !request.excludes.is_empty();
    let result = plan::plan(session, request, state, variables, ui).await;
    match result {
        Ok(mut planned) => {
            if filtered {
                planned.finished.problems.0.insert(0, targeting());
            }
            Ok(planned)
        }
        Err(mut problems) => {
            if filtered {
                problems.0.insert(0, targeting());
            }
            Err(problems)
        }
    }
}

fn targeting() -> Diagnostic {
    Diagnostic::warning("Resource targeting is in effect").detail(
        "You are creating a plan with either the -target option or the -exclude option, which means that the result of this plan may not represent all of the changes requested by the current configuration.\n\nThe -target and -exclude options are not for routine use, and are provided only for exceptional situations such as recovering from errors or mistakes, or when OpenTofu specifically suggests to use it as part of an error message.",
    )
}

/// Shows a plan and its problems; returns the exit code.
pub fn show(ui: &Ui, planned: &Planned) -> u8 {
    let plan = &planned.finished.plan;
    announce(ui, plan);
    let code = if planned.finished.problems.has_errors() && plan.changes.iter().all(|it| it.action == Action::NoOp) {
        ui.say("\nPlanning failed. OpenTofu encountered an error while generating this plan.\n\n");
        1
    } else {
        ui.show(|out| view::plan::write(out, plan, &schemas(&planned.pool), ui.look()));
        0
    };
    code.max(ui.diagnostics(planned.finished.problems.clone()))
}

/// Tells machines what is planned.
pub fn announce(ui: &Ui, plan: &Plan) {
    for drift in &plan.drift {
        ui.event(Event::Drift(Box::new(ChangeNote::from(drift))));
    }
    let told = plan.changes.iter().filter(|it| it.action != Action::NoOp || it.previous_address.is_some() || it.importing.is_some());
    for change in told {
        ui.event(Event::PlannedChange(Box::new(ChangeNote::from(change))));
    }
    ui.event(Event::ChangeSummary(Summary { stage: Stage::Plan, ..Summary::of(plan) }));
    if !plan.outputs.is_empty() {
        ui.event(Event::Outputs(plan.outputs.iter().map(|(name, change)| (name.clone(), OutputNote::from(change))).collect()));
    }
}

fn next_step(ui: &Ui, plan: &Plan, out: Option<&Path>, failed: bool) {
    if failed || (out.is_none() && !plan.is_applyable()) {
        return;
    }
    let file = out.map(|it| it.display().to_string());
    ui.show(|to| view::plan::write_next_step(to, file.as_deref(), None, ui.look()));
}

/// Returns whether a mode destroys.
pub fn is_destroying(plan: &Plan) -> bool {
    plan.mode == PlanMode::Destroy
}
