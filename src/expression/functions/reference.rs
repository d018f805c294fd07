//! The reference of all functions, as the manual shows it: made from the table that calls are checked against.

use std::collections::BTreeMap;

use super::{FORMS, Form, Function, GONE, Parameter, Shape, all};
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
    let functions = all().into_iter().filter(|it| !GONE.contains(&it.name));
    let mut entries: BTreeMap<&str, String> = functions.map(|it| (it.name, entry(it))).collect();
    entries.extend(FORMS.iter().map(|it| (it.name, form(it))));
    let mut page = INTRODUCTION.to_owned();
    for (name, text) in entries {
        page.push_str(&format!("\n## {name}\n\n{text}"));
    }
    page
}

fn entry(function: &Function) -> String {
    let mut parameters: Vec<String> = function.parameters.iter().map(written).collect();
    parameters.extend(function.variadic.iter().map(|it| format!("{}...", written(it))));
    let mut text = format!(
        "    {}({}) -> {}\n\n{}\n",
        function.name,
        parameters.join(", "),
        any_or(function.usual_type()),
        function.description
    );
    let all = function.parameters.iter().chain(&function.variadic);
    let notes: Vec<String> = all.filter_map(note).collect();
    if !notes.is_empty() {
        text.push_str(&format!("\n{}", notes.concat()));
    }
    text
}

fn form(form: &Form) -> String {
    let more = if form.variadic { "..." } else { "" };
    format!(
        "    {}({}{more}) -> {}\n\n{}\n",
        form.name,
        form.parameter,
        any_or(form.returns.ty()),
        form.description
    )
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
