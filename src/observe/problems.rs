//! Everything that can be wrong with what a provider answers, one function each.

use crate::address::{Instance, ProviderInstance};
use crate::config;
use crate::diagnostic::{Diagnostic, Severity, Span};
use crate::expression::body::span_of_path;
use crate::provider::ImportName;
use crate::provider::ProviderDiagnostic;
use crate::syntax::Body;
use crate::value::{PathStep, Value};
use crate::world::PRODUCT;

/// A provider's own words, placed at the attribute they are about.
pub fn of_provider(
    found: &ProviderDiagnostic,
    address: Option<&Instance>,
    body: Option<&Body>,
) -> Diagnostic {
    let problem = match found.severity {
        Severity::Error => Diagnostic::error(found.summary.clone()),
        Severity::Warning => Diagnostic::warning(found.summary.clone()),
    };
    let mut problem = problem.detail(found.detail.clone());
    if let Some(address) = address.filter(|_| found.names_object) {
        problem.summary = format!("{address}: {}", found.summary);
        return problem;
    }
    if let Some(address) = address {
        problem = problem.about(address);
    }
    match body {
        Some(body) => problem.at(span_of_path(body, &found.attribute)),
        None => problem,
    }
}

/// The state names nothing that could serve an object which nothing declares any more.
pub fn no_provider(address: &Instance) -> Diagnostic {
    Diagnostic::error("Provider configuration not present").about(address).detail(format!(
        "{address} is declared no more, and the provider configuration that made it is not there any more. Put the provider configuration back to destroy {address}, or leave {address} out with -exclude."
    ))
}

/// A key that gives an instance which the configuration does not have.
pub fn no_provider_instance(
    address: &Instance,
    instance: &ProviderInstance,
    block: Option<&config::ProviderBlock>,
) -> Diagnostic {
    let problem = Diagnostic::error("Provider instance not present").about(address).detail(format!(
        "To work with {address} its provider instance at {instance} is required, but the provider configuration gives no such key."
    ));
    match block {
        Some(block) => {
            problem.at(block.repetition.expression().map_or(block.declared, |it| it.span))
        }
        None => problem,
    }
}

/// The arguments of a provider instance are not known when it is needed to carry out a plan.
pub(super) fn provider_not_known(
    instance: &ProviderInstance,
    block: Option<&config::ProviderBlock>,
) -> Diagnostic {
    let problem = Diagnostic::error("Provider configuration not known").detail(format!(
        "The configuration of {instance} depends on values that are still unknown, so nothing is done with it. The objects that it serves keep their recorded state. Plan again once these values are known."
    ));
    match block {
        Some(block) => problem.at(block.declared),
        None => problem,
    }
}

/// An object is to be imported through a provider instance whose arguments are not known before apply.
pub fn import_not_known(address: &Instance, instance: &ProviderInstance) -> Diagnostic {
    Diagnostic::error("Invalid provider configuration").about(address).detail(format!(
        "The configuration for {} depends on values that cannot be determined until apply, so {address} cannot be imported with it. Apply first what these values depend on, with -target.",
        instance.config
    ))
}

/// A provider configuration stands in a module that has no instance, so that its arguments cannot be evaluated.
pub(super) fn provider_of_no_module(
    instance: &ProviderInstance,
    block: &config::ProviderBlock,
) -> Diagnostic {
    Diagnostic::error("Provider configuration not known").at(block.declared).detail(format!(
        "The module that configures {instance} has no instance, so that its arguments have no values. Configure the provider in the root module."
    ))
}

/// A provider instance was to be called before what its arguments read was settled: a fault of the program.
pub(super) fn called_early(instance: &ProviderInstance) -> Diagnostic {
    Diagnostic::error("Internal error: a provider call came too early").detail(format!(
        "{instance} was to be called before everything that its arguments read was settled. The call was not made. Please report this with the configuration."
    ))
}

pub(super) fn newer_object(address: &Instance, stored: u64, current: u64) -> Diagnostic {
    Diagnostic::error("Resource instance managed by newer provider version").about(address).detail(format!(
        "The current state of {address} was created by a newer provider version than is currently selected: it follows schema version \
         {stored}, this provider knows {current}. Upgrade the provider to work with this state."
    ))
}

pub(super) fn flat_object(address: &Instance) -> Diagnostic {
    Diagnostic::error("Unsupported legacy object").about(address).detail(format!(
        "The state holds {address} in the flat form of Terraform 0.11 and older. Open and save the state with a version between, then try again."
    ))
}

pub(super) fn invalid_object(address: &Instance, call: &str) -> Diagnostic {
    Diagnostic::error("Provider produced invalid object").about(address).detail(format!(
        "The provider's answer to \"{call}\" for {address} does not follow its own schema. This is a bug in the provider."
    ))
}

pub(super) fn not_wholly_known(address: &Instance, call: &str) -> Diagnostic {
    Diagnostic::error("Provider produced invalid object").about(address).detail(format!(
        "The provider's answer to \"{call}\" for {address} holds something that is not known yet, though the object is there. This is a bug in the provider."
    ))
}

pub(super) fn newer_identity(address: &Instance, stored: u64, current: u64) -> Diagnostic {
    Diagnostic::error("Resource identity managed by newer provider version").about(address).detail(format!(
        "The current identity of {address} was created by a newer provider version than is currently selected: it follows schema version \
         {stored}, this provider knows {current}. Upgrade the provider to work with this identity."
    ))
}

pub(super) fn invalid_plan(address: &Instance, what: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("Provider produced invalid plan").about(address).at(declared).detail(format!(
        "The provider planned an invalid value for {address}: {what}.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker."
    ))
}

pub(super) fn not_one_object(
    address: &Instance,
    name: &ImportName,
    count: usize,
    place: Option<Span>,
) -> Diagnostic {
    let (summary, why) = match count {
        0 => ("Import returned no resources", "no object at all".to_owned()),
        _ => ("Multiple import states not supported", format!("{count} objects")),
    };
    placed(Diagnostic::error(summary).about(address), place).detail(format!(
        "For the import {name}, the provider returned {why}. Exactly one is expected."
    ))
}

fn placed(problem: Diagnostic, place: Option<Span>) -> Diagnostic {
    match place {
        Some(span) => problem.at(span),
        None => problem,
    }
}

pub(super) fn nothing_to_import(
    address: &Instance,
    name: &ImportName,
    place: Option<Span>,
) -> Diagnostic {
    placed(Diagnostic::error("Cannot import non-existent remote object").about(address), place).detail(format!(
        "While attempting to import an existing object to \"{address}\", the provider detected that no object exists with the given {name}. Only pre-existing objects can be imported; check that it is correct and that it is associated with the provider's configured region or endpoint, or let \"apply\" create a new object instead."
    ))
}

pub(super) fn already_managed(address: &Instance) -> Diagnostic {
    Diagnostic::error(format!("Resource already managed by {PRODUCT}")).detail(format!(
        "{PRODUCT} is already managing a remote object for {address}. To import to this address you must first remove the existing object from the state."
    ))
}

pub(super) fn removal_not_null(address: &Instance) -> Diagnostic {
    Diagnostic::error("Provider produced invalid plan").about(address).detail(format!(
        "The provider planned a non-null destroy value for {address}. This is a bug in the provider."
    ))
}

pub(super) fn ephemeral_value(path: &[PathStep], span: Span) -> Diagnostic {
    Diagnostic::error("Ephemeral value used in non-ephemeral context").at(span).detail(format!(
        "The argument {} is stored, and an ephemeral value must not be. Only write-only arguments accept ephemeral values.",
        crate::value::path::ShowPath(path).to_string().trim_start_matches('.')
    ))
}

/// A value that an output of the root module must not have.
pub fn of_output(value: &Value, output: &config::Output) -> Option<Diagnostic> {
    let marks = value.deep_marks();
    if marks.sensitive && !output.sensitive {
        return Some(sensitive_output(output.declared));
    }
    marks.ephemeral.then(|| {
        Diagnostic::error("Output does not allow ephemeral value")
            .detail("The value of this output is ephemeral, and a root module output is stored in the state. Remove the ephemeral value, or keep it within a child module.")
            .at(output.value.span)
    })
}

/// A root output that would show what must not be shown.
pub fn sensitive_output(at: Span) -> Diagnostic {
    Diagnostic::error("Output refers to sensitive values")
        .detail(format!("To reduce the risk of accidentally exporting sensitive data that was intended to be only internal, {PRODUCT} requires that any root module output containing sensitive data be explicitly marked as sensitive, to confirm your intent.\n\nIf you do intend to export this data, annotate the output value as sensitive by adding the following argument:\n    sensitive = true"))
        .at(at)
}

/// A data source's result that cannot be used.
pub fn data_not_known(address: &Instance) -> Diagnostic {
    Diagnostic::error("Provider produced invalid object").about(address).detail(format!(
        "The provider gave {address} a value that is null or not wholly known. This is a bug in the provider."
    ))
}
