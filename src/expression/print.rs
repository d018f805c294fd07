//! Values and types as the console and outputs show them, in the syntax of the language.

use crate::value::text::shown;
use crate::value::{Kind, Type, Value};

/// Prints a value as `console` and `output` do. Sensitive parts are hidden.
pub fn format_value(value: &Value) -> String {
    format_beginning(value, usize::MAX)
}

/// Prints the beginning of a value as [`format_value`] does: parts that begin behind so many bytes are left out.
pub fn format_beginning(value: &Value, most: usize) -> String {
    let mut text = String::new();
    write_value(&mut text, value, 0, most);
    text
}

/// Prints a value in one line, as one would write it among others. Sensitive parts are hidden.
pub fn format_line(value: &Value) -> String {
    let marks = value.marks();
    let bare = value.bare();
    let items = |items: &[Value]| {
        let items: Vec<String> = items.iter().map(format_line).collect();
        format!("[{}]", items.join(", "))
    };
    match bare {
        _ if marks.sensitive || marks.ephemeral || !value.is_known() => format_value(value),
        Value::String(it) => shown(it),
        Value::List(it) => items(&it.items),
        Value::Set(it) => items(&it.items),
        Value::Tuple(it) => items(&it.items),
        Value::Map(_) | Value::Object(_) => {
            let entries = bare.entries().into_iter();
            let entries: Vec<String> =
                entries.map(|(name, it)| format!("{} = {}", key(&name), format_line(it))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        _ => format_value(bare),
    }
}

/// A name as it stands before `=`: without quotes where it can.
fn key(name: &str) -> String {
    let is_plain = name.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '-'))
        && name.starts_with(|it: char| it.is_alphabetic() || it == '_');
    if is_plain { name.to_owned() } else { shown(name) }
}

/// Prints a type as `type(…)` does, over several lines where it has parts.
pub fn format_type(ty: Type) -> String {
    let mut text = String::new();
    write_type(&mut text, ty, 0);
    text
}

fn indent(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
}

fn write_value(text: &mut String, value: &Value, depth: usize, most: usize) {
    let marks = value.marks();
    if !value.is_known() {
        return text.push_str("(known after apply)");
    }
    if marks.sensitive {
        return text.push_str("(sensitive value)");
    }
    if marks.ephemeral {
        return text.push_str("(ephemeral value)");
    }
    match value.bare() {
        Value::Unknown(_) => text.push_str("(known after apply)"),
        Value::Null(ty) => text.push_str(&null_text(*ty)),
        Value::Bool(it) => text.push_str(if *it { "true" } else { "false" }),
        Value::Number(it) => text.push_str(&it.to_string()),
        Value::String(it) => match heredoc(it, depth) {
            Some(lines) => text.push_str(&lines),
            None => text.push_str(&shown(it)),
        },
        Value::List(it) => write_items(text, ("tolist(", ")"), &it.items, depth, most),
        Value::Set(it) => write_items(text, ("toset(", ")"), &it.items, depth, most),
        Value::Tuple(it) => write_items(text, ("", ""), &it.items, depth, most),
        Value::Map(_) => write_entries(text, ("tomap(", ")"), value, depth, most),
        Value::Object(_) => write_entries(text, ("", ""), value, depth, most),
        // INVARIANT of marks: what is under them is bare.
        Value::Marked(_) => {}
    }
}

/// A null with its type, where that matters.
fn null_text(ty: Type) -> String {
    match ty.kind() {
        Kind::Dynamic => "null".to_owned(),
        Kind::Bool => "tobool(null)".to_owned(),
        Kind::Number => "tonumber(null)".to_owned(),
        Kind::String => "tostring(null)".to_owned(),
        Kind::List(it) => format!("tolist(null) /* of {} */", it.friendly_name()),
        Kind::Set(it) => format!("toset(null) /* of {} */", it.friendly_name()),
        Kind::Map(it) => format!("tomap(null) /* of {} */", it.friendly_name()),
        _ => format!("null /* {} */", ty.friendly_name()),
    }
}

/// Text of several lines as a heredoc; `None` where it must stay in quotes.
fn heredoc(text: &str, depth: usize) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    if lines.len() < 2
        || lines.iter().any(|it| it.chars().any(|it| it.is_control() && !matches!(it, '\t' | '\r')))
    {
        return None;
    }
    let mut mark = "EOT".to_owned();
    while lines.iter().any(|it| it.trim() == mark) {
        mark.push('_');
    }
    let (operator, margin) =
        if depth > 0 { ("<<-", "  ".repeat(depth)) } else { ("<<", String::new()) };
    let mut out = format!("{operator}{mark}\n");
    for line in &lines {
        out.push_str(&margin);
        out.push_str(line);
        out.push('\n');
    }
    out.push_str(&margin);
    out.push_str(&mark);
    Some(out)
}

fn write_items(
    text: &mut String,
    (open, close): (&str, &str),
    items: &[Value],
    depth: usize,
    most: usize,
) {
    text.push_str(open);
    text.push('[');
    for item in items {
        if text.len() > most {
            return;
        }
        indent(text, depth + 1);
        write_value(text, item, depth + 1, most);
        text.push(',');
    }
    if !items.is_empty() {
        indent(text, depth);
    }
    text.push(']');
    text.push_str(close);
}

fn write_entries(
    text: &mut String,
    (open, close): (&str, &str),
    value: &Value,
    depth: usize,
    most: usize,
) {
    text.push_str(open);
    text.push('{');
    let entries = value.entries();
    for (name, item) in &entries {
        if text.len() > most {
            return;
        }
        indent(text, depth + 1);
        write_value(text, &Value::String(name.clone()), depth + 1, most);
        text.push_str(" = ");
        write_value(text, item, depth + 1, most);
    }
    if !entries.is_empty() {
        indent(text, depth);
    }
    text.push('}');
    text.push_str(close);
}

fn write_type(text: &mut String, ty: Type, depth: usize) {
    let wide = |text: &mut String, depth: usize| {
        text.push('\n');
        text.extend(std::iter::repeat_n("    ", depth));
    };
    match ty.kind() {
        Kind::Dynamic => text.push_str("dynamic"),
        Kind::Bool => text.push_str("bool"),
        Kind::Number => text.push_str("number"),
        Kind::String => text.push_str("string"),
        Kind::List(it) | Kind::Set(it) | Kind::Map(it) => {
            text.push_str(match ty.kind() {
                Kind::List(_) => "list(",
                Kind::Set(_) => "set(",
                _ => "map(",
            });
            let inline = it.is_primitive()
                || *it == Type::DYNAMIC
                || matches!(it.kind(), Kind::List(_) | Kind::Set(_) | Kind::Map(_));
            if inline {
                write_type(text, *it, depth);
            } else {
                wide(text, depth + 1);
                write_type(text, *it, depth + 1);
                text.push(',');
                wide(text, depth);
            }
            text.push(')');
        }
        Kind::Tuple(items) => {
            text.push_str("tuple([");
            for it in items {
                wide(text, depth + 1);
                write_type(text, *it, depth + 1);
                text.push(',');
            }
            if !items.is_empty() {
                wide(text, depth);
            }
            text.push_str("])");
        }
        Kind::Object(attributes) => {
            text.push_str("object({");
            for (name, it, _) in attributes {
                wide(text, depth + 1);
                text.push_str(name);
                text.push_str(": ");
                write_type(text, *it, depth + 1);
                text.push(',');
            }
            if !attributes.is_empty() {
                wide(text, depth);
            }
            text.push_str("})");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_value_is_how_the_whole_begins() {
        let many = Value::tuple((0..500).map(|it| Value::string(format!("item {it}"))).collect());
        let nested = Value::object([("a".into(), many.clone()), ("b".into(), many)]);
        let whole = format_value(&nested);
        for most in [0, 10, 100, 1_000, 10_000] {
            let beginning = format_beginning(&nested, most);
            let same = beginning.trim_end_matches(['}', ']', ',', ' ', '\n']);
            assert!(whole.starts_with(same), "{most}: {beginning}");
            assert!(
                beginning.len() >= most.min(whole.len()) && beginning.len() < most + 100,
                "{most}"
            );
        }
        assert_eq!(format_beginning(&nested, whole.len()), whole);
    }
}
