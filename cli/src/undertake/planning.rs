//! `plan`.

use std::sync::Arc;

use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::operation::generate;
use entail::operation::plan::{self, Planned};
use entail::operation::saved;
use entail::operation::session::Session;
use entail::request::Request;
use entail::state::State;
use entail::world::World;

use super::{
    begin, lock, open_to_plan, read_state, root_variables, schemas, unless_interrupted,
    with_interrupts,
};
use crate::commands::plan::PlanArgs;
use crate::commands::present;
use crate::ui::Ui;

/// Plans, shows the plan, and saves it where asked.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &PlanArgs) -> Result<u8, Diagnostics> {
    begin(ui, &args.output, args.show_sensitive)?;
    let options = args.options(ui)?;
    let ui = &*ui;
    with_interrupts(ui, |runtime| {
        let mut session = open_to_plan(ui, world, &options.state, &options.request)?;
        generate::declare(&mut session, &options.request)?;
        let _lock = lock(ui, &session, &options.state, "OperationTypePlan")?;
        let snapshot = read_state(ui, &session)?;
        let variables = root_variables(ui, &session, &options.request)?;
        let state = snapshot.state.unwrap_or_default();
        let planned =
            runtime.block_on(plan_and_warn(ui, &session, &options.request, state, variables))?;
        let plan = &planned.finished.plan;
        if let Some(path) = &options.out {
            saved::save(&session, &planned, path, options.key.as_ref())?;
        }
        let mut problems = planned.finished.problems.clone();
        let generated = options.request.generate_config_out.as_deref();
        let written = match generated {
            Some(path) => generate::write(plan, &world.root.join(path))?,
            None => false,
        };
        if written {
            problems.push(generate::experimental());
        }
        let code = present::plan(ui, plan, &schemas(&planned.pool), problems);
        if code == 0 {
            let generated = generated.filter(|_| written);
            present::next_step(ui, plan, options.out.as_deref(), generated);
        }
        Ok(present::exit_code(plan, options.detailed_exitcode, code != 0))
    })?
}

/// Plans; the warning that every filtered run carries comes first.
pub async fn plan_and_warn(
    ui: &Ui,
    session: &Session,
    request: &Request,
    state: State,
    variables: entail::operation::variables::RootVariables,
) -> Result<Planned, Diagnostics> {
    let filtered = !request.is_unfiltered();
    let result = unless_interrupted(ui, plan::plan(session, request, state, variables, ui)).await;
    let complete = |mut problems: Diagnostics| {
        if filtered {
            problems.0.insert(0, targeting());
        }
        problems.extend(session.warnings.iter().cloned());
        problems
    };
    match result {
        Ok(mut planned) => {
            planned.finished.problems = complete(planned.finished.problems);
            Ok(planned)
        }
        Err(problems) => Err(complete(problems)),
    }
}

fn targeting() -> Diagnostic {
    Diagnostic::warning("Resource targeting is in effect").detail(
        "You are creating a plan with either the -target option or the -exclude option, which means that the result of this plan may not represent all of the changes requested by the current configuration.\n\nThe -target and -exclude options are not for routine use, and are provided only for exceptional situations such as recovering from errors or mistakes, or when OpenTofu specifically suggests to use it as part of an error message.",
    )
}
