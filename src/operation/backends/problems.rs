//! Everything that can be wrong with the backend of a working directory, one function each.

use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::Name;
use crate::world::PROGRAM;

fn reinitialise(summary: &str, reason: &str) -> Diagnostic {
    Diagnostic::error(summary).detail(format!(
        "Reason: {reason}\n\nThe \"backend\" says where the state is kept. What the configuration says of it is not what this working directory was prepared for, so it has to be prepared again: states may have to be copied.\n\nRun \"{PROGRAM} init\" with either the \"-reconfigure\" or \"-migrate-state\" flags to use the current configuration.\n\nIf the reason above is wrong, check that the configuration has not changed. So far nothing was changed, neither in your configuration nor in your state."
    ))
}

/// The block is new.
pub(super) fn initial(kind: &str) -> Diagnostic {
    let reason = format!("Initial configuration of the requested backend {kind:?}");
    reinitialise(
        &format!("Backend initialization required, please run \"{PROGRAM} init\""),
        &reason,
    )
}

/// The block is gone.
pub(super) fn unset(kind: &str) -> Diagnostic {
    let reason = format!("Unsetting the previously set backend {kind:?}");
    reinitialise(
        &format!("Backend initialization required, please run \"{PROGRAM} init\""),
        &reason,
    )
}

/// The block says something else. `because`: the variables that decide its arguments.
pub(super) fn changed(before: &str, now: &str, because: &str) -> Diagnostic {
    let reason = match (before == now, because) {
        (false, _) => format!("Backend type changed from {before:?} to {now:?}"),
        (true, "") => "Backend configuration block has changed".to_owned(),
        (true, because) => {
            format!("Backend configuration block has changed\n\nIts arguments depend on {because}.")
        }
    };
    reinitialise(
        &format!("Backend initialization required: please run \"{PROGRAM} init\""),
        &reason,
    )
}

/// `init` without a word on what to do with the state.
pub(super) fn say_how() -> Diagnostic {
    Diagnostic::error("Backend configuration changed").detail(format!("A change in the backend configuration has been detected, which may require migrating existing state.\n\nIf you wish to attempt automatic migration of the state, use \"{PROGRAM} init -migrate-state\".\nIf you wish to store the current configuration with no changes to the state, use \"{PROGRAM} init -reconfigure\"."))
}

/// An argument that the backend does not have.
pub(super) fn unsupported_argument(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Unsupported argument")
        .detail(format!("An argument named {name:?} is not expected here."))
        .at(at)
}

/// A nested block that the backend does not have.
///
/// - `is_argument`: whether it has an argument of this name.
pub(super) fn unsupported_block(name: &Name, is_argument: bool) -> Diagnostic {
    let meant = match is_argument {
        true => format!(
            " Did you mean to define argument \"{}\"? If so, use the equals sign to assign it a value.",
            name.text
        ),
        false => String::new(),
    };
    Diagnostic::error("Unsupported block type")
        .detail(format!("Blocks of type \"{}\" are not expected here.{meant}", name.text))
        .at(name.span)
}

/// An argument of the command line that the backend does not have.
pub(super) fn unexpected(name: &str) -> Diagnostic {
    Diagnostic::error("Invalid backend configuration argument").detail(format!(
        "The backend configuration argument {name:?} given on the command line is not expected for the selected backend type."
    ))
}

/// An argument of the command line that has another type.
pub(super) fn unfit(name: &str, why: &str) -> Diagnostic {
    Diagnostic::error("Invalid backend configuration argument").detail(format!(
        "Inappropriate value for the backend configuration argument {name:?}: {why}."
    ))
}

/// An argument that does not have its type.
pub(super) fn inappropriate(name: &str, why: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Incorrect attribute value type")
        .detail(format!("Inappropriate value for attribute {name:?}: {why}."))
        .at(at)
}

/// An argument that is empty.
///
/// - `what`: what it would be an invalid one of.
pub(super) fn empty(name: &str, what: &str) -> Diagnostic {
    Diagnostic::error(format!("Invalid {what}"))
        .detail(format!("The {name:?} attribute value must not be empty."))
}

/// `-backend-config` without a block.
pub(super) fn missing() -> Diagnostic {
    Diagnostic::warning("Missing backend configuration").detail("-backend-config was used without a \"backend\" block in the configuration.\n\nIf you meant to change where the local state is kept, nothing more is needed, but a block clears this warning:\n\nterraform {\n  backend \"local\" {}\n}\n\nIf you meant to use another backend, add its block to the configuration.")
}

/// A file of settings that cannot be read.
pub(super) fn unreadable(path: &str, why: &str) -> Diagnostic {
    Diagnostic::error("Failed to read file")
        .detail(format!("The file {path:?} could not be read: {why}."))
}

/// The store does not say which workspaces it has.
pub(super) fn not_listed(why: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Failed to list workspaces")
        .detail(format!("The workspaces of the backend could not be listed: {why}."))
}

/// What is set up is of a kind that this program does not have.
pub(super) fn not_here(kind: &str) -> Diagnostic {
    Diagnostic::error("Unsupported backend type").detail(format!(
        "This working directory was prepared for the backend {kind:?}, which this program does not have, so its states cannot be copied. The \
         backends that are supported: {}. Copy the states with the program that prepared it, or run init with -reconfigure, which \
         leaves them where they are.",
        crate::backend::registry::names()
    ))
}

/// A workspace cannot be made.
pub(super) fn not_created(name: &str, why: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::error("Error getting the state manager")
        .detail(format!("Failed getting state manager for workspace {name}: {why}"))
}

/// States have to be copied, and the user cannot be asked.
pub(super) fn cannot_ask() -> Diagnostic {
    Diagnostic::error(
        "Can't ask approval for state migration when interactive input is disabled.\n\nIf non-interactive operation is desired, consider adding the \"-force-copy\"\noption. Otherwise, please remove the \"-input=false\" option and try again.",
    )
}

/// The user said no.
pub(super) fn aborted() -> Diagnostic {
    Diagnostic::error("Migration aborted by user.")
}

/// Local states stay where they were after they were copied.
pub(super) fn not_erased(why: &str) -> Diagnostic {
    Diagnostic::error("Error deleting local state after migration").detail(format!(
        "{why}. The state was copied to the newly configured backend; the old file should not be used any more."
    ))
}

/// The selected workspace is not one of the backend's.
pub(super) fn no_such_workspace(name: &str, known: &[String]) -> Diagnostic {
    Diagnostic::error(format!("Currently selected workspace {name:?} does not exist")).detail(
        format!(
            "The backend has the workspaces {}. Select one of them with \"{PROGRAM} workspace select\".",
            known.join(", ")
        ),
    )
}

/// The user was asked for the number of a workspace, and answered with something else.
pub(super) fn no_workspace_number(answer: &str, count: usize) -> Diagnostic {
    Diagnostic::error("Failed to select workspace").detail(format!(
        "input not a valid number: {answer:?} is none of 1 to {count}. Run \"{PROGRAM} init\" again."
    ))
}

/// A file in the data folder cannot be written.
pub(super) fn not_selected(error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Failed to select workspace")
        .detail(format!("The name of the workspace cannot be written down: {error}."))
}

/// The states to copy were seen in the previous backend, and are gone.
pub(super) fn source_is_gone(name: &str) -> Diagnostic {
    Diagnostic::error("The state is gone").detail(format!(
        "{name} holds no state now, although this working directory has seen one there. Nothing was copied and nothing was changed. Look for \
         the state first: an older version of it in the place, a backup, another address or account.\n\nWhere it is gone on purpose, run \
         the command again with -reconfigure, which copies nothing."
    ))
}
