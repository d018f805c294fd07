//! Calls of functions that do not exist, and the ones that may have been meant; calls that cannot be right, whatever the arguments are.

use super::call::base_name;
use super::functions::{self, nearest};
use super::problems::{problem, too_few_arguments, too_many_arguments};
use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::{Call, Name};

/// Returns what is wrong with the number of arguments of a call, as far as the call itself says it; `whole` is the whole call.
pub fn miscounted(call: &Call, whole: Span) -> Option<Diagnostic> {
    let name = &*call.name.text;
    let function = functions::find(base_name(name))?;
    let (given, expected) = (call.arguments.len(), function.parameters.len());
    let takes_more = function.variadic.is_some();
    if given > expected && !takes_more {
        let first = call.arguments[expected].span;
        return Some(too_many_arguments(name, expected, first, whole));
    }
    // What is behind `...` may be any number.
    let missing = function.parameters.get(given).filter(|_| !call.expand)?;
    Some(too_few_arguments(name, expected, takes_more, missing.name, whole))
}

/// A function name that nothing defines; `whole` is the whole call.
pub fn unknown_function(name: &Name, whole: Span) -> Diagnostic {
    let text = &*name.text;
    if let Some((namespace, _)) = text.split_once("::")
        && namespace != "core"
        && namespace != "provider"
    {
        return problem(
            "Unknown function namespace",
            format!("Function {text:?} does not exist within a valid namespace (provider,core)"),
            name.span,
        )
        .within(whole);
    }
    let base = base_name(text);
    // A function that exists is missing only here: `plantimestamp` in a console.
    let hint = match nearest(base).filter(|it| *it != base) {
        Some(near) if text.len() != base.len() => format!(" Did you mean core::{near}?"),
        Some(near) => format!(" Did you mean {near:?}?"),
        None => String::new(),
    };
    let detail = match text.rsplit_once("::") {
        Some(("core", own)) => {
            format!("There is no builtin (core::) function named {own:?}.{hint}")
        }
        Some((namespace, own)) => {
            format!("There is no function named {own:?} in namespace {namespace}::.{hint}")
        }
        None => format!("There is no function named {text:?}.{hint}"),
    };
    problem("Call to unknown function", detail, name.span).within(whole)
}
