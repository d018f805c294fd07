//! Everything that can be wrong with tests, one function each.

use crate::address::{Module as ModuleAddr, Provider};
use crate::config::testing::{Override, OverrideTarget, TestFile};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::world::PROGRAM;

pub(super) fn not_installed(at: Span) -> Diagnostic {
    Diagnostic::error("Module not installed")
        .detail(format!(
            "This module is not yet installed. Run \"{PROGRAM} init\" to install all modules required by this configuration."
        ))
        .at(at)
}

pub(super) fn source_changed(at: Span) -> Diagnostic {
    Diagnostic::error("Module source has changed")
        .detail(format!(
            "The source address was changed since this module was installed. Run \"{PROGRAM} init\" to install all modules required by this configuration."
        ))
        .at(at)
}

pub(super) fn missing_provider(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(format!("Missing provider definition for {name}"))
        .detail("This provider block references a provider definition that does not exist.")
        .at(at)
}

/// `given` is what the file's name stands for, `wanted` what the module wants under its own name.
pub(super) fn wrong_provider(
    file: &str,
    (outer, inner): (&str, &str),
    (given, wanted): (&Provider, &Provider),
    at: Span,
) -> Diagnostic {
    Diagnostic::error("Provider type mismatch")
        .detail(format!(
            "The name {outer:?} stands for {given} in {file}, and the module under test wants {wanted} as {inner:?}. A name of a test file stands for one provider in all of its runs: that of the first run that uses it."
        ))
        .at(at)
}

pub(super) fn twice_overridden(it: &Override) -> Diagnostic {
    let (block, target) = (it.target.block(), &it.target);
    Diagnostic::error(format!("Duplicated `{block}` block"))
        .detail(format!(
            "It is not allowed to have multiple `{block}` blocks with the same target: `{target}`."
        ))
        .at(it.target_span)
}

pub(super) fn overridden_in_run(it: &Override) -> Diagnostic {
    let block = it.target.block();
    let what = if block == "override_module" { "Module " } else { "" };
    Diagnostic::warning(format!("Multiple `{block}` blocks for the same address"))
        .detail(format!(
            "{what}`{}` is overridden in both global file and local run blocks. The declaration in global file block will be ignored.",
            it.target
        ))
        .at(it.target_span)
}

pub(super) fn no_module_of_resource(module: &ModuleAddr, at: Span) -> Diagnostic {
    Diagnostic::error(format!("Module not found: {module}"))
        .detail("Target points to resource in undefined module. Please, ensure module exists.")
        .at(at)
}

pub(super) fn no_resource(it: &OverrideTarget, at: Span) -> Diagnostic {
    Diagnostic::error(format!("Resource not found: {it}"))
        .detail("Target points to undefined resource. Please, ensure resource exists.")
        .at(at)
}

pub(super) fn no_module(module: &ModuleAddr, at: Span) -> Diagnostic {
    Diagnostic::error(format!("Module not found: {module}"))
        .detail("Target points to an undefined module. Please, ensure module exists.")
        .at(at)
}

pub(super) fn wrong_mode(it: &Override) -> Diagnostic {
    let block = it.target.block();
    let mode = if block == "override_data" { "resource" } else { "data" };
    Diagnostic::error(format!("Unsupported `{mode}` target in `{block}` block"))
        .detail(format!(
            "Target `{}` is `{mode}` block itself and cannot be overridden with `{block}`.",
            it.target
        ))
        .at(it.target_span)
}

pub(super) fn no_output(name: &str, at: Span) -> Diagnostic {
    Diagnostic::warning(format!("Output not found: {name}"))
        .detail("Specified output to override is not present in the module and will be ignored.")
        .at(at)
}

pub(super) fn missing_failure(object: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Missing expected failure")
        .detail(format!(
            "The checkable object, {object}, was expected to report an error but did not."
        ))
        .at(at)
}

pub(super) fn invalid_variable(name: &str) -> Diagnostic {
    Diagnostic::warning("Invalid Variable in test file").detail(format!(
        "Variable {name}, has an invalid value within the test. Although this was an expected failure, it has meant the apply stage was unable to run so the overall test will fail."
    ))
}

pub(super) fn unknown_name(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Unknown variable")
        .detail(format!("There is no variable named {name:?}."))
        .at(at)
}

pub(super) fn undeclared_output(name: &str, known: Option<&str>, at: Span) -> Diagnostic {
    let hint = known.map(|it| format!(" Did you mean {it:?}?")).unwrap_or_default();
    Diagnostic::error("Reference to undeclared output value")
        .detail(format!("An output value with the name {name:?} has not been declared.{hint}"))
        .at(at)
}

pub(super) fn condition_null(at: Span) -> Diagnostic {
    Diagnostic::error("Invalid condition run")
        .detail("Condition expression must return either true or false, not null.")
        .at(at)
}

pub(super) fn condition_unknown(at: Span) -> Diagnostic {
    Diagnostic::error("Unknown condition run")
        .detail("Condition expression could not be evaluated at this time.")
        .at(at)
}

pub(super) fn condition_no_bool(why: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Invalid condition run")
        .detail(format!("Invalid condition run value: {why}."))
        .at(at)
}

pub(super) fn assertion_failed(message: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Test assertion failed").detail(message).at(at).within(at)
}

/// Blocks and arguments that the other program does not know.
pub(super) fn ours_alone(files: &[TestFile]) -> Diagnostics {
    let unsupported = |what: &str, name: &str, at: Span| {
        let kind = if what == "block" { "Unsupported block type" } else { "Unsupported argument" };
        Diagnostic::error(kind)
            .detail(format!(
                "The {what} {name:?} is not known to OpenTofu, as -compat=opentofu asks for."
            ))
            .at(at)
    };
    let mut found = Diagnostics::new();
    for run in files.iter().flat_map(|it| &it.runs) {
        found.extend(run.snapshots.iter().map(|it| unsupported("block", "snapshot", it.declared)));
        let denied = run.expect_denied.first();
        found.extend(denied.map(|it| unsupported("argument", "expect_denied", it.1)));
    }
    found
}

pub(super) fn interrupted() -> Diagnostic {
    Diagnostic::error("Test interrupted").detail(
        "The test operation could not be completed due to an interrupt signal. Please read the remaining diagnostics carefully for any sign of failed state cleanup or dangling resources.",
    )
}
