//! The reference of all functions, as the manual shows it: made from the table that calls are checked against.

use std::collections::BTreeMap;

use super::{Function, Parameter, REMOVED, SPECIAL, Shape, all};
use crate::expression::print::format_type;
use crate::value::Type;

const INTRODUCTION: &str = "\
# Functions

Every function of the language, also under its full name `core::NAME`. Generated from the table that calls are checked against.

A parameter that ends in `...` takes any number of arguments. Arguments are converted to the types of their parameters. A function
whose argument is unknown gives an unknown value, one whose argument is sensitive or ephemeral gives such a value, and null is
refused, unless its text says otherwise. Providers may bring more, as `provider::NAME::FUNCTION`.
";

/// Returns the whole page.
pub fn markdown() -> String {
    let functions = all().into_iter().filter(|it| !REMOVED.contains(&it.name));
    let mut entries: BTreeMap<&str, String> = functions.map(|it| (it.name, ordinary(it))).collect();
    entries.extend(SPECIAL.iter().map(|it| {
        let text =
            entry(it.name, it.parameters, it.variadic.as_ref(), it.returns.ty(), it.description);
        (it.name, text)
    }));
    let mut page = INTRODUCTION.to_owned();
    for (name, text) in entries {
        page.push_str(&format!("\n## {name}\n\n{text}"));
    }
    page
}

fn ordinary(it: &Function) -> String {
    entry(it.name, it.parameters, it.variadic.as_ref(), it.usual_type(), it.description)
}

fn entry(
    name: &str,
    parameters: &[Parameter],
    variadic: Option<&Parameter>,
    returns: Type,
    description: &str,
) -> String {
    let mut takes: Vec<String> = parameters.iter().map(written).collect();
    takes.extend(variadic.map(|it| format!("{}...", written(it))));
    let takes = takes.join(", ");
    let mut text = format!("    {name}({takes}) -> {}\n\n{description}\n", any_or(returns));
    let notes: Vec<String> = parameters.iter().chain(variadic).filter_map(note).collect();
    if !notes.is_empty() {
        text.push_str(&format!("\n{}", notes.concat()));
    }
    text
}

fn written(parameter: &Parameter) -> String {
    match parameter.shape {
        Shape::Any => parameter.name.to_owned(),
        shape => format!("{}: {}", parameter.name, format_type(shape.ty())),
    }
}

/// Returns what the page says of a parameter besides its type.
fn note(parameter: &Parameter) -> Option<String> {
    let null = parameter.null.then_some("May be null.");
    let words: Vec<&str> = parameter.about.into_iter().chain(null).collect();
    (!words.is_empty()).then(|| format!("- `{}`: {}\n", parameter.name, words.join(" ")))
}

fn any_or(ty: Type) -> String {
    match ty == Type::DYNAMIC {
        true => "any".to_owned(),
        false => format_type(ty).replace("dynamic", "any"),
    }
}
