//! `fleet why` without a rule: what the saved plan of a stack decided about an object, as the planner proves it.

use std::path::PathBuf;
use std::sync::Arc;

use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::world::World;

use crate::ask::split;
use crate::reading;
use crate::settings::Settings;
use crate::stacks::find;

/// An object of a stack, and what it is asked of.
pub struct Decided {
    /// The address within the stack.
    pub address: String,
    /// The world of the stack.
    pub world: Arc<World>,
    /// Its saved plan.
    pub plan: PathBuf,
}

/// Finds the saved plan that says what is done with an object.
///
/// # Errors
///
/// If there is no such stack, or it has no saved plan.
pub fn decided(
    world: &Arc<World>,
    settings: &Settings,
    asked: &str,
) -> Result<Decided, Diagnostics> {
    let (address, name) = split(asked).ok_or_else(|| no_stack_named(asked))?;
    let found = find(world, settings).stacks.into_iter().find(|it| it.name == name);
    let stack = found.ok_or_else(|| no_such_stack(name))?.stack?;
    let plan = stack.plan().filter(|it| it.is_file()).ok_or_else(|| no_plan(name))?;
    let world = reading::world_of(world, &stack);
    Ok(Decided { address: address.to_owned(), world, plan })
}

fn no_stack_named(asked: &str) -> Diagnostic {
    Diagnostic::error("Invalid address").detail(format!(
        "`{asked}` names no stack. An object of a fleet is written as ADDRESS@STACK."
    ))
}

fn no_such_stack(name: &str) -> Diagnostic {
    Diagnostic::error("No such stack").detail(format!(
        "fleet.hcl names no stack `{name}`. `entail fleet list` shows which there are."
    ))
}

fn no_plan(name: &str) -> Diagnostic {
    Diagnostic::error("Nothing to explain").detail(format!(
        "Without -policy, which names a rule, a decision of a saved plan is explained, and stack `{name}` has none. Say `plan = \"next.tfplan\"` in its block of fleet.hcl, and make one with `entail plan -out=next.tfplan` in its folder."
    ))
}
