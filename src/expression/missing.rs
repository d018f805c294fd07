//! Calls of functions that do not exist, and the ones that may have been meant.

use super::functions::nearest;
use super::problems::problem;
use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::Name;

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
    let base = text.strip_prefix("core::").unwrap_or(text);
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
