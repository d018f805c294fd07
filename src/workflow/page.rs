//! `show -html`: a saved plan with every decision in it, or a state, for whoever draws a page of it.

use super::explain::of_loaded;
use super::host::{Host, Schemas};
use super::show::{Opened, ShowTarget, found, of_plan, of_state};
use super::with_room;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::event::is_listed;
use crate::operation::explain::{Every, every};
use crate::plan::{Action, Change, Plan};
use crate::policy::Report;
use crate::state::State;

/// What a page is drawn of.
pub enum Drawn<'a> {
    /// There is no state yet.
    NoState,
    /// A state, with what its providers announce.
    State(&'a State, &'a Schemas),
    /// A saved plan.
    Plan(Explained<'a>),
}

/// A saved plan, and what is known of it.
pub struct Explained<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What its providers announce.
    pub schemas: &'a Schemas,
    /// What policies said of it.
    pub said: Option<&'a Report>,
    /// Every decision, with its proof.
    pub every: &'a Every<'a>,
}

/// Reads what is asked for, and draws it.
///
/// # Errors
///
/// If it cannot be read, or is neither a plan nor a state.
pub fn page<T: Send>(
    host: &Host<'_>,
    subject: &ShowTarget,
    draw: impl FnOnce(Drawn<'_>) -> T + Send,
) -> Result<T, Diagnostics> {
    with_room(|runtime| match found(host, subject)? {
        Opened::State(None) => Ok(draw(Drawn::NoState)),
        Opened::State(Some(state)) => {
            let (schemas, _) = runtime.block_on(of_state(host, &state));
            Ok(draw(Drawn::State(&state, &schemas)))
        }
        Opened::Plan(mut loaded) => {
            let (_, schemas, _) = runtime.block_on(of_plan(host, &loaded))?;
            let said = loaded.report();
            let written = loaded.written(host.world, host.sources)?;
            of_loaded(host, (&loaded, &written), None, |context, causes, plan| {
                let every = every(context, causes, &listed(plan));
                let said = said.as_ref();
                Ok(draw(Drawn::Plan(Explained { plan, schemas: &schemas, said, every: &every })))
            })
        }
        Opened::Config | Opened::Module(_) => Err(no_page().into()),
    })?
}

/// Returns what a changed object is called: its address, and the key of a deposed one.
pub fn name(change: &Change) -> String {
    match &change.deposed {
        Some(key) => format!("{} (deposed object {key})", change.address),
        None => change.address.to_string(),
    }
}

/// The names of what a plan lists.
fn listed(plan: &Plan) -> Vec<String> {
    let changes = plan.changes.iter().filter(|it| is_listed(it)).map(name);
    let outputs = plan.outputs.values().filter(|it| it.action != Action::NoOp);
    changes.chain(outputs.map(|it| format!("output.{}", it.name))).collect()
}

fn no_page() -> Diagnostic {
    Diagnostic::error("Incompatible options").detail(
        "A page is drawn of a saved plan or of a state: -html goes with neither -config nor -module=DIR.",
    )
}
