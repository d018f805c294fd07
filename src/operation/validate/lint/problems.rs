//! The findings in words, one function each. The summary ends with the identifier of the lint rule.

use entail_rules::LintName;

use super::{Argument, Comparison};
use crate::diagnostic::{Diagnostic, Sources, Span};
use crate::value::{Kind, Type};

fn finding(summary: &str, rule: LintName, at: Span) -> Diagnostic {
    Diagnostic::warning(format!("{summary} [{}]", rule.text())).at(at)
}

/// An item of `depends_on` is implied by another reference.
pub(super) fn unused_dependency(
    item: Span,
    list: Span,
    reference: Span,
    sources: &Sources,
) -> Diagnostic {
    let named = sources.text(item).unwrap_or_default();
    finding("Unnecessary explicit dependency", LintName::UnusedDeps, item).within(list).detail(
        format!(
            "The reference at {} already implies a dependency on {named}. Naming {named} in depends_on changes nothing, and a reader may look for a reason that is not there.\n\nhint: remove {named} from depends_on",
            sources.place(reference)
        ),
    )
}

/// A string has the text of a reference.
pub(super) fn quoted_reference(at: Span, sources: &Sources) -> Diagnostic {
    let text = sources.text(at).unwrap_or_default();
    let text = text.trim_matches('"');
    let is_json = sources.get(at.file()).is_some_and(|it| it.name.ends_with(".json"));
    let reference = if is_json { format!("\"${{{text}}}\"") } else { text.to_owned() };
    finding("Quoted reference", LintName::QuotedRef, at).detail(format!(
        "This string is only text, but the text is the address of something that this module declares: {text}.\n\nhint: if its value is meant, write {reference}"
    ))
}

/// Values of different types are compared.
pub(super) fn ineffective_comparison(it: &Comparison, at: Span) -> Diagnostic {
    let (operator, result) = match it.is_negated {
        true => ("!=", "true"),
        false => ("==", "false"),
    };
    let unless = if it.may_both_be_null { ", unless both are null" } else { "" };
    finding("Ineffective comparison", LintName::IneffEq, at).detail(format!(
        "The left operand is of type {}, the right one of type {}. The operator {operator} converts neither, and values of different types are never equal, so that the result is always {result}{unless}.\n\nhint: {}",
        shown(it.left),
        shown(it.right),
        way_out(it.left, it.right)
    ))
}

/// Returns a type as a constraint, or the kind of it where that is long.
fn shown(ty: Type) -> String {
    /// The longest type that is written out, in bytes.
    const LONGEST: usize = 80;
    let whole = ty.to_string();
    if whole.len() > LONGEST { ty.friendly_name() } else { whole }
}

/// What to write in place of a comparison of these types.
fn way_out(left: Type, right: Type) -> &'static str {
    let is_empty = |ty: Type| match ty.kind() {
        Kind::Tuple(items) => items.is_empty(),
        Kind::Object(attributes) => attributes.is_empty(),
        _ => false,
    };
    match is_empty(left) || is_empty(right) {
        true => "to ask whether a collection is empty, compare its length: length(…) == 0",
        false => {
            "convert one operand to the type of the other, with tostring, tonumber, tolist and the like"
        }
    }
}

/// A value that is another one in each run gets into arguments of managed resources.
pub(super) fn impure_argument(
    arguments: &[&Argument],
    at: Span,
    sources: &Sources,
) -> Option<Diagnostic> {
    let (first, others) = arguments.split_first()?;
    let call = sources.text(at).unwrap_or_default();
    let function = call.split('(').next().unwrap_or_default().trim();
    let (name, resource) = (&first.name, &first.resource);
    let more = match others.len() {
        0 => String::new(),
        1 => " and one more argument".to_owned(),
        count => format!(" and {count} more arguments"),
    };
    Some(finding("Impure function in a resource argument", LintName::ImpureFunc, at).detail(format!(
        "{function} returns another value each time. Argument {name:?} of {resource}{more} depends on this call, so that every plan changes something, even right after an apply.\n\nhint: keep the value in a resource of its own, such as time_static or random_uuid, or name {name} in ignore_changes"
    )))
}
