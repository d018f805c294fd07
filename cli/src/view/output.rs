//! Root outputs as `output` prints them, and at the end of `apply`.

use entail::world::PROGRAM;
use std::collections::BTreeMap;

use entail::diagnostic::Diagnostic;
use entail::state::OutputValue;
use entail::value::json::type_to_json;
use entail::value::text::{push_shown, shown};
use entail::value::{Kind, Str, Type, Value};

use super::json::value_json;

#[cfg(test)]
mod tests;

/// How outputs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As expressions of the language.
    Text,
    /// As JSON.
    Json,
    /// One value as it is.
    Raw,
}

/// Renders all outputs, or the one that is named.
///
/// A single one is shown even if it is sensitive: who names it wants it. The problem is an error or, where there are no
/// outputs at all, a warning.
pub fn render(
    outputs: &BTreeMap<Str, OutputValue>,
    name: Option<&str>,
    form: Form,
    show_sensitive: bool,
) -> Result<String, Diagnostic> {
    if outputs.is_empty() && form != Form::Json {
        return Err(no_outputs());
    }
    let Some(name) = name else {
        return Ok(match form {
            Form::Json => all_json(outputs),
            Form::Text | Form::Raw => all_text(outputs, show_sensitive),
        });
    };
    let output = outputs.get(name).ok_or_else(|| missing(name))?;
    match form {
        Form::Json => Ok(format!("{}\n", value_json(&output.value))),
        Form::Text => Ok(format!("{}\n", expression(&output.value))),
        Form::Raw => raw(name, &output.value),
    }
}

/// Renders all outputs, one `name = value` each.
pub fn all_text(outputs: &BTreeMap<Str, OutputValue>, show_sensitive: bool) -> String {
    let mut out = String::new();
    for (name, output) in outputs {
        out.push_str(name);
        out.push_str(" = ");
        match output.sensitive && !show_sensitive {
            true => out.push_str("<sensitive>"),
            false => push_expression(&mut out, &output.value, 0),
        }
        out.push('\n');
    }
    out
}

fn all_json(outputs: &BTreeMap<Str, OutputValue>) -> String {
    if outputs.is_empty() {
        return "{}\n".to_owned();
    }
    let parsed =
        |text: String| serde_json::from_str::<serde_json::Value>(&text).unwrap_or_default();
    let mut document = serde_json::Map::new();
    for (name, output) in outputs {
        let mut entry = serde_json::Map::new();
        entry.insert("sensitive".into(), output.sensitive.into());
        if let Some(text) = &output.deprecated {
            entry.insert("deprecated".into(), (**text).into());
        }
        entry.insert("type".into(), parsed(type_to_json(output.value.ty())));
        entry.insert("value".into(), parsed(value_json(&output.value)));
        document.insert(name.to_string(), entry.into());
    }
    let text = format!("{:#}\n", serde_json::Value::Object(document));
    escape_html(&text)
}

/// Escapes what Go's encoder escapes. These characters stand only within strings.
pub fn escape_html(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

fn raw(name: &str, value: &Value) -> Result<String, Diagnostic> {
    match value.bare() {
        Value::String(it) => Ok(it.to_string()),
        Value::Number(it) => Ok(it.to_string()),
        Value::Bool(it) => Ok(it.to_string()),
        Value::Null(ty) if ty.is_primitive() || *ty == Type::DYNAMIC => Err(unsupported(format!(
            "The value for output value {} is null, so -raw mode cannot print it.",
            shown(name)
        ))),
        other => Err(unsupported(format!(
            "The -raw option only supports strings, numbers, and boolean values, but output value {} is {}.\n\nUse the -json \
             option for machine-readable representations of output values that have complex types.",
            shown(name),
            other.ty().friendly_name()
        ))),
    }
}

fn unsupported(detail: String) -> Diagnostic {
    Diagnostic::error("Unsupported value for raw output").detail(detail)
}

fn missing(name: &str) -> Diagnostic {
    Diagnostic::error(format!("Output {} not found", shown(name))).detail(
        format!("The output variable requested could not be found in the state file. If you recently added this to your configuration, \
         be sure to run `{PROGRAM} apply`, since the state won't be updated with new output variables until that command is run."),
    )
}

fn no_outputs() -> Diagnostic {
    Diagnostic::warning("No outputs found").detail(
        format!("The state file either has no outputs defined, or all the defined outputs are empty. Please define an output in your \
         configuration with the `output` keyword and run `{PROGRAM} refresh` for it to become available. If you are using \
         interpolation, please verify the interpolated value is not empty. You can use the `{PROGRAM} console` command to assist."),
    )
}

/// Renders a value as an expression of the language that gives it: types that the syntax alone does not show are spelled out.
pub fn expression(value: &Value) -> String {
    let mut out = String::new();
    push_expression(&mut out, value, 0);
    out
}

fn push_expression(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Marked(it) if it.marks().sensitive => out.push_str("(sensitive value)"),
        Value::Marked(it) if it.marks().ephemeral => out.push_str("(ephemeral value)"),
        Value::Marked(it) => push_expression(out, it.value(), indent),
        Value::Unknown(_) => out.push_str("(known after apply)"),
        Value::Null(ty) => out.push_str(&null(*ty)),
        Value::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
        Value::Number(it) => out.push_str(&it.to_string()),
        Value::String(it) if it.contains('\n') => push_heredoc(out, it, indent),
        Value::String(it) => push_shown(out, it),
        Value::List(it) => push_call(out, "tolist", |out| push_sequence(out, &it.items, indent)),
        Value::Set(it) => push_call(out, "toset", |out| push_sequence(out, &it.items, indent)),
        Value::Tuple(it) => push_sequence(out, &it.items, indent),
        Value::Map(_) => push_call(out, "tomap", |out| push_entries(out, value, indent)),
        Value::Object(_) => push_entries(out, value, indent),
    }
}

fn null(ty: Type) -> String {
    match ty.kind() {
        Kind::Dynamic => "null".to_owned(),
        Kind::String => "tostring(null)".to_owned(),
        Kind::Number => "tonumber(null)".to_owned(),
        Kind::Bool => "tobool(null)".to_owned(),
        Kind::List(it) => format!("tolist(null) /* of {} */", it.friendly_name()),
        Kind::Set(it) => format!("toset(null) /* of {} */", it.friendly_name()),
        Kind::Map(it) => format!("tomap(null) /* of {} */", it.friendly_name()),
        Kind::Tuple(_) | Kind::Object(_) => format!("null /* {} */", ty.friendly_name()),
    }
}

fn push_call(out: &mut String, function: &str, argument: impl FnOnce(&mut String)) {
    out.push_str(function);
    out.push('(');
    argument(out);
    out.push(')');
}

fn push_line(out: &mut String, indent: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}

fn push_sequence(out: &mut String, items: &[Value], indent: usize) {
    out.push('[');
    for item in items {
        push_line(out, indent + 2);
        push_expression(out, item, indent + 2);
        out.push(',');
    }
    if !items.is_empty() {
        push_line(out, indent);
    }
    out.push(']');
}

fn push_entries(out: &mut String, value: &Value, indent: usize) {
    let entries = value.entries();
    out.push('{');
    for (key, item) in &entries {
        push_line(out, indent + 2);
        push_shown(out, key);
        out.push_str(" = ");
        push_expression(out, item, indent + 2);
    }
    if !entries.is_empty() {
        push_line(out, indent);
    }
    out.push('}');
}

fn push_heredoc(out: &mut String, text: &str, indent: usize) {
    let mut marker = "EOT".to_owned();
    while text.lines().any(|it| it.trim() == marker) {
        marker.push('_');
    }
    out.push_str(if indent > 0 { "<<-" } else { "<<" });
    out.push_str(&marker);
    for line in text.split('\n') {
        push_line(out, indent);
        out.push_str(line);
    }
    push_line(out, indent);
    out.push_str(&marker);
}
