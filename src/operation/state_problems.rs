//! Everything that can be wrong with a request to the `state` commands and `taint`, one function each.

use crate::address::target::Target;
use crate::address::{Instance, Mode, Resource};
use crate::diagnostic::Diagnostic;
use crate::world::{PRODUCT, PROGRAM};

pub(super) fn unknown(filter: &Target) -> Diagnostic {
    match filter {
        Target::Module(it) => Diagnostic::error("Unknown module").detail(format!(
            "The current state contains no module at {it}. If you've just added this module to the configuration, you must \
             run \"{PROGRAM} apply\" first to create the module's entry in the state."
        )),
        Target::Resource(it) => Diagnostic::error("Unknown resource").detail(format!(
            "The current state contains no resource {it}. If you've just added this resource to the configuration, you must \
             run \"{PROGRAM} apply\" first to create the resource's entry in the state."
        )),
        Target::Instance(it) => Diagnostic::error("Unknown resource instance").detail(format!(
            "The current state contains no resource instance {it}. If you've just added its resource to the configuration or \
             have changed the count or for_each arguments, you must run \"{PROGRAM} apply\" first to update the resource's entry \
             in the state."
        )),
    }
}

/// What makes a resource unable to take another's place.
pub(super) fn unlike(from: &Resource, to: &Resource) -> Vec<Diagnostic> {
    let refuse = |why: String| Diagnostic::error("Invalid state move request").detail(why);
    let mut problems = Vec::new();
    if from.resource.mode == Mode::Ephemeral || to.resource.mode == Mode::Ephemeral {
        return vec![refuse(
            "Ephemeral resources are not in the state, so there is nothing to move.".into(),
        )];
    }
    if from.resource.mode != to.resource.mode {
        let kind = if from.resource.mode == Mode::Managed { "managed" } else { "data" };
        problems.push(refuse(format!(
            "Cannot move {from} to {to}: a {kind} resource can be moved only to another {kind} resource address."
        )));
    }
    if from.resource.kind != to.resource.kind {
        problems.push(refuse(format!("Cannot move {from} to {to}: resource types don't match.")));
    }
    problems
}

pub(super) fn invalid_source(why: String) -> Diagnostic {
    Diagnostic::error("Invalid source address").detail(why)
}

pub(super) fn invalid_target(why: String) -> Diagnostic {
    Diagnostic::error("Invalid target address").detail(why)
}

pub(super) fn no_such(why: String) -> Diagnostic {
    Diagnostic::error("No such resource instance").detail(why)
}

/// `-allow-missing` and there is nothing to taint.
pub fn missing_is_allowed(address: &Instance) -> Diagnostic {
    Diagnostic::warning("No such resource instance").detail(format!(
        "Resource instance {address} was not found, but this is not an error because -allow-missing was set."
    ))
}

/// There is no state at all.
pub fn no_state() -> Diagnostic {
    Diagnostic::error("No state file was found").detail(
        format!("State management commands require a state file. Run this command in a directory where {PRODUCT} has been run or use \
         the -state flag to point the command to a specific state location."),
    )
}

pub(super) fn no_instance() -> Diagnostic {
    Diagnostic::error("No instance found for the given address").detail(
        format!("This command requires that the address references one specific instance. To view the available instances, use \
         \"{PROGRAM} state list\". Please modify the address to reference a specific instance."),
    )
}

pub(super) fn nothing_to_remove() -> Diagnostic {
    Diagnostic::error("Invalid target address").detail(
        format!("No matching objects found. To view the available instances, use \"{PROGRAM} state list\". Please modify the address to \
         reference a specific instance."),
    )
}

pub(super) fn module_exists() -> Diagnostic {
    Diagnostic::error("Destination module already exists").detail(
        "Please ensure your addresses and state paths are valid. No state was persisted. Your existing states are untouched.",
    )
}
