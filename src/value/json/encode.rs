//! Values to JSON text: compact, sorted by key, numbers in full.

use std::fmt::Write;

use super::types::write_type;
use crate::value::{Kind, Path, PathError, PathStep, Type, Value};

/// Which characters of strings are escaped beyond what JSON asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// `<`, `>` and `&`, as Go's encoder does: state files, `jsonencode`, most documents.
    Html,
    /// None.
    Plain,
}

/// Writes a value as JSON, `<`, `>` and `&` escaped.
///
/// Fails for unknown or marked parts and for infinities.
pub fn to_json(value: &Value) -> Result<String, PathError> {
    encode(value, value.ty(), Escape::Html)
}

/// Writes a value as JSON without escaping `<`, `>` and `&`; else as [`to_json`].
pub fn to_plain_json(value: &Value) -> Result<String, PathError> {
    encode(value, value.ty(), Escape::Plain)
}

/// Writes a value as JSON for a reader who knows `ty`: where that is `Dynamic`, as `{"value":…,"type":…}`.
///
/// The value conforms to `ty`. Fails as [`to_json`].
pub fn to_state_json(value: &Value, ty: Type) -> Result<String, PathError> {
    encode(value, ty, Escape::Html)
}

/// Writes text as a JSON string.
pub fn quote(text: &str, escape: Escape) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_string(text, escape, &mut out);
    out
}

struct Encoder {
    out: String,
    escape: Escape,
    path: Path,
}

fn encode(value: &Value, ty: Type, escape: Escape) -> Result<String, PathError> {
    let mut encoder = Encoder { out: String::new(), escape, path: Vec::new() };
    encoder.value(value, ty)?;
    Ok(encoder.out)
}

impl Encoder {
    fn fail(&self, message: &str) -> Result<(), PathError> {
        Err(PathError::new(&self.path, message))
    }

    fn value(&mut self, value: &Value, ty: Type) -> Result<(), PathError> {
        if ty == Type::DYNAMIC
            && !matches!(value, Value::Marked(_) | Value::Unknown(_))
            && value.ty() != Type::DYNAMIC
        {
            return self.wrapped(value);
        }
        match value {
            Value::Marked(_) => self.fail("value has marks, so it cannot be serialized as JSON"),
            Value::Unknown(_) => self.fail("value is not known"),
            Value::Null(_) => self.text("null"),
            Value::Bool(true) => self.text("true"),
            Value::Bool(false) => self.text("false"),
            Value::Number(it) if it.is_infinite() => self.fail("cannot serialize infinity as JSON"),
            Value::Number(it) => {
                let _ = write!(self.out, "{it}");
                Ok(())
            }
            Value::String(it) => {
                write_string(it, self.escape, &mut self.out);
                Ok(())
            }
            Value::List(it) | Value::Set(it) => {
                self.array(&it.items, |_| ty.element().unwrap_or(it.element))
            }
            Value::Tuple(it) => match (ty.kind(), it.ty.kind()) {
                (Kind::Tuple(types), _) | (_, Kind::Tuple(types)) => {
                    self.array(&it.items, |at| types[at])
                }
                _ => self.array(&it.items, |at| it.items[at].ty()),
            },
            Value::Map(it) => {
                let element = ty.element().unwrap_or(it.element);
                let step = |key: &str| PathStep::key(key);
                self.object(it.entries.iter().map(|(key, item)| (&**key, item, element)), step)
            }
            Value::Object(it) => {
                let wanted = if ty.attributes().len() == it.values.len() { ty } else { it.ty };
                let parts = wanted.attributes().iter().zip(it.values.iter());
                self.object(parts.map(|((name, ty, _), item)| (&**name, item, *ty)), |name| {
                    PathStep::attribute(name)
                })
            }
        }
    }

    fn text(&mut self, text: &str) -> Result<(), PathError> {
        self.out.push_str(text);
        Ok(())
    }

    fn array(&mut self, items: &[Value], ty: impl Fn(usize) -> Type) -> Result<(), PathError> {
        self.out.push('[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            self.path.push(PathStep::index(at));
            self.value(item, ty(at))?;
            self.path.pop();
        }
        self.text("]")
    }

    fn object<'v>(
        &mut self,
        parts: impl Iterator<Item = (&'v str, &'v Value, Type)>,
        step: fn(&str) -> PathStep,
    ) -> Result<(), PathError> {
        self.out.push('{');
        for (at, (key, item, ty)) in parts.enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            write_string(key, self.escape, &mut self.out);
            self.out.push(':');
            // Only a failure needs the path.
            match item {
                Value::Null(_) | Value::Bool(_) | Value::String(_) => self.value(item, ty)?,
                item => {
                    self.path.push(step(key));
                    self.value(item, ty)?;
                    self.path.pop();
                }
            }
        }
        self.text("}")
    }

    fn wrapped(&mut self, value: &Value) -> Result<(), PathError> {
        self.out.push_str("{\"value\":");
        self.value(value, value.ty())?;
        self.out.push_str(",\"type\":");
        write_type(value.ty(), &mut self.out);
        self.text("}")
    }
}

pub(super) fn write_string(text: &str, escape: Escape, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(|it: char| needs_escape(it, escape)) {
        out.push_str(&rest[..at]);
        let Some(it) = rest[at..].chars().next() else { break };
        match it {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            it => {
                let _ = write!(out, "\\u{:04x}", it as u32);
            }
        }
        rest = &rest[at + it.len_utf8()..];
    }
    out.push_str(rest);
    out.push('"');
}

fn needs_escape(it: char, escape: Escape) -> bool {
    match it {
        '"' | '\\' | '\u{2028}' | '\u{2029}' => true,
        '<' | '>' | '&' => escape == Escape::Html,
        it => (it as u32) < 0x20,
    }
}
