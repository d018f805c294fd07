//! Where a call finds its module: the source and the version that it asks for, and what can be wrong with them.

use super::super::early::{Each, StaticModule, settings};
use super::super::source::{ModuleSource, SourceError};
use super::super::version::{Constraints, Version};
use super::super::{ModuleCall, problems};
use crate::address::{InstanceKey, ModuleInstance};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::syntax::Expression;
use crate::value::{Type, Value, convert};
use crate::world::{PRODUCT, PROGRAM};

/// Where a call's module comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSource {
    /// The source address.
    pub source: ModuleSource,
    /// The version constraint, for modules of a registry.
    pub version: Option<String>,
}

/// Returns where a call's module comes from.
///
/// - `place`: the calling module.
/// - `each`: the repetition, for a call that is expanded before planning.
pub fn call_source(
    call: &ModuleCall,
    place: &StaticModule,
    each: Option<&Each>,
) -> Result<CallSource, Diagnostics> {
    let Some(expression) = &call.source else {
        return Err(no_source(&call.name.text, call.declared).into());
    };
    let mut problems = Diagnostics::new();
    let version = match &call.besides.version {
        Some(it) => problems.take(version_text(it, &call.name.text, place, each)),
        None => Some(None),
    };
    let text = problems.take(source_text(expression, &call.name.text, place, each));
    // A version that is wrong is still one.
    let has_version = version.as_ref().is_none_or(Option::is_some);
    let source = text.and_then(|text| {
        let source = ModuleSource::parse(&text, has_version);
        problems.take(source.map_err(|why| invalid_source(&text, &why, expression.span)))
    });
    match (source, version) {
        (Some(source), Some(version)) if !problems.has_errors() => {
            Ok(CallSource { source, version })
        }
        _ => Err(problems),
    }
}

/// Returns the source of a call's module as it is written, with the values of what it refers to; nothing where that cannot be told, or
/// where each instance has its own.
pub fn written_source(call: &ModuleCall, place: &StaticModule) -> Option<String> {
    source_text(call.source.as_ref()?, &call.name.text, place, None).ok()
}

fn source_text(
    expression: &Expression,
    name: &str,
    place: &StaticModule,
    each: Option<&Each>,
) -> Result<String, Diagnostics> {
    if let Some(text) = expression.as_static_string() {
        return Ok(text.to_string());
    }
    let needed_by = format!("module.{name}.source");
    let value = place.evaluate_each(expression, &needed_by, each)?;
    settings::check_marks(&value, &place.name(&needed_by), expression.span)?;
    match convert(&value, Type::STRING) {
        Ok(text) => match text.as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(problems::unsuitable_type("a string is required", expression.span).into()),
        },
        Err(why) => Err(problems::unsuitable_type(&why.to_string(), expression.span).into()),
    }
}

/// Returns the version constraint; nothing where it is null.
fn version_text(
    expression: &Expression,
    name: &str,
    place: &StaticModule,
    each: Option<&Each>,
) -> Result<Option<String>, Diagnostics> {
    let at = expression.span;
    let value = place.evaluate_each(expression, &format!("module.{name}.version"), each)?;
    if value.contains_sensitive() || value.contains_ephemeral() {
        let kind = if value.contains_sensitive() { "Sensitive" } else { "Ephemeral" };
        let detail = format!(
            "{kind} values, or values derived from them, cannot be used as module version constraints."
        );
        return Err(problems::invalid("Invalid version constraint", detail, at).into());
    }
    if value.is_null() {
        return Ok(None);
    }
    let text = convert(&value, Type::STRING).ok();
    let Some(text) = text.as_ref().and_then(Value::as_str) else {
        let detail = "A string value is required for version, and it must be known.";
        return Err(problems::invalid("Invalid version constraint", detail, at).into());
    };
    match Constraints::parse(text) {
        Some(_) => Ok(Some(text.to_owned())),
        None => Err(problems::invalid_constraint(at).into()),
    }
}

pub(super) fn source_span(call: &ModuleCall) -> Span {
    call.source.as_ref().map_or(call.declared, |it| it.span)
}

/// Says which variables decided a value that is not what it was: a sentence, or nothing.
pub(super) fn because_of(place: &StaticModule, expression: Option<&Expression>) -> String {
    let decided = expression.map(|it| place.decided_by(it)).unwrap_or_default();
    let each: Vec<String> =
        decided.iter().map(|(name, value)| format!("var.{name}, which is now {value}")).collect();
    match each.is_empty() {
        true => String::new(),
        false => format!(" It depends on {}.", each.join(", and on ")),
    }
}

pub(super) fn version_changed(
    constraint: Option<&str>,
    installed: Option<&str>,
    because: &str,
    call: &ModuleCall,
) -> Option<Diagnostic> {
    let constraints = Constraints::parse(constraint?)?;
    let version = installed.and_then(Version::parse);
    if version.as_ref().is_some_and(|it| constraints.allow(it)) {
        return None;
    }
    let which = version.map_or(String::new(), |it| format!(" ({it})"));
    let detail = format!(
        "The version requirements have changed since this module was installed and the installed version{which} is no longer acceptable.{because} Run \"{PROGRAM} init\" to install all modules required by this configuration."
    );
    Some(problems::invalid("Module version requirements have changed", detail, source_span(call)))
}

fn no_source(name: &str, at: Span) -> Diagnostic {
    problems::invalid(
        "Missing required argument",
        format!(
            "The argument \"source\" of module {name:?} is required, but no definition was found."
        ),
        at,
    )
}

/// A text is no source address.
pub(in crate::config) fn invalid_source(text: &str, why: &SourceError, at: Span) -> Diagnostic {
    let (summary, detail) = match why {
        SourceError::MaybeRelative => (
            "Invalid module source address",
            format!(
                "{PRODUCT} failed to determine your intended installation method for remote module package {text:?}.\n\nIf you intended this as a path relative to the current module, use \"./{text}\" instead. The \"./\" prefix indicates that the address is a relative filesystem path."
            ),
        ),
        SourceError::LocalWithVersion => (
            "Invalid registry module source address",
            format!(
                "Failed to parse module registry address: can't use local directory {text:?} as a module registry address. The argument \"version\" applies only to registry modules."
            ),
        ),
        SourceError::NotRegistry => (
            "Invalid registry module source address",
            format!(
                "Failed to parse module registry address {text:?}: it must have the form [HOST/]NAMESPACE/NAME/TARGET. The argument \"version\" applies only to registry modules."
            ),
        ),
    };
    problems::invalid(summary, detail, at)
}

/// Where instances come from places of their own, the message names the one.
pub(super) fn source_changed(
    child: &ModuleInstance,
    old: &str,
    new: &ModuleSource,
    because: &str,
    at: Span,
) -> Diagnostic {
    let of = match child.0.iter().any(|it| it.1 != InstanceKey::None) {
        true => format!(" of {child}"),
        false => String::new(),
    };
    let detail = format!(
        "The source address{of} was changed from {old:?} to {:?} since this module was installed.{because} Run \"{PROGRAM} init\" to install all modules required by this configuration.",
        new.to_string()
    );
    problems::invalid("Module source has changed", detail, at)
}
