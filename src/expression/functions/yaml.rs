//! YAML: reading with the booleans and timestamps of version 1.1, writing in block style.

mod open_end;
mod read;
mod scalar;

use libyaml_safer::{Emitter, Encoding, Event, MappingStyle, ScalarStyle, SequenceStyle};

use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape};
use crate::value::number::Notation;
use crate::value::{Type, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "yamlencode",
        description: "Writes a value as YAML.",
        parameters: &[Parameter::any("value").or_null().or_untyped()],
        variadic: None,
        returns: Returns::Nullable(Shape::String),
        body: yamlencode,
    },
    Function {
        name: "yamldecode",
        description: "Reads a document of YAML.",
        parameters: &[Parameter::string("src")],
        variadic: None,
        returns: Returns::Nullable(Shape::Any),
        body: |call| read::decode(call.text(0)).map_err(Failure::call),
    },
];

fn yamlencode(call: &Call<'_>) -> CallResult {
    let value = call.argument(0);
    if !value.is_wholly_known() {
        return Ok(Value::unknown(Type::STRING));
    }
    encode(value)
        .map(Value::string)
        .ok_or_else(|| Failure::call("the value cannot be written as YAML"))
}

/// Reads a document of YAML.
///
/// # Errors
///
/// If it is none, with its place.
pub(crate) fn decode(text: &str) -> Result<Value, crate::error::Error> {
    read::decode(text)
}

/// Writes a document.
fn encode(value: &Value) -> Option<String> {
    let mut bytes = Vec::new();
    let mut emitter = Emitter::new();
    emitter.set_output_string(&mut bytes);
    emitter.set_unicode(true);
    emitter.emit(Event::stream_start(Encoding::Utf8)).ok()?;
    emitter.emit(Event::document_start(None, &[], true)).ok()?;
    emit(&mut emitter, value)?;
    emitter.emit(Event::document_end(true)).ok()?;
    emitter.emit(Event::stream_end()).ok()?;
    emitter.flush().ok()?;
    drop(emitter);
    let mut text = escape_rare(String::from_utf8(bytes).ok()?);
    // What stands alone without quotes could go on, so its end is marked.
    let plain = matches!(value, Value::Null(_) | Value::Bool(_) | Value::Number(_));
    if plain && !text.ends_with("...\n") {
        text.push_str("...\n");
    }
    Some(text)
}

/// Escapes characters beyond the first plane, which only stand between double quotes.
fn escape_rare(text: String) -> String {
    if text.chars().all(|it| it <= '\u{ffff}') {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '\u{10000}'.. => escaped.push_str(&format!("\\U{:08X}", letter as u32)),
            other => escaped.push(other),
        }
    }
    escaped
}

fn emit(emitter: &mut Emitter<'_>, value: &Value) -> Option<()> {
    let scalar = |text: &str, style| Event::scalar(None, None, text, true, true, style);
    let plain = |text: &str| scalar(text, ScalarStyle::Plain);
    let event = match value {
        Value::Null(_) => plain("null"),
        Value::Bool(it) => plain(if *it { "true" } else { "false" }),
        Value::Number(it) => plain(&it.text(Notation::Fixed, None)),
        Value::String(it) => {
            let literal = it.contains('\n') && it.chars().all(|it| it <= '\u{ffff}');
            scalar(it, if literal { ScalarStyle::Literal } else { ScalarStyle::DoubleQuoted })
        }
        Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
            emitter.emit(Event::sequence_start(None, None, true, SequenceStyle::Block)).ok()?;
            for item in value.children() {
                emit(emitter, item)?;
            }
            Event::sequence_end()
        }
        Value::Map(_) | Value::Object(_) => {
            emitter.emit(Event::mapping_start(None, None, true, MappingStyle::Block)).ok()?;
            for (name, item) in value.entries() {
                emit(emitter, &Value::String(name))?;
                emit(emitter, item)?;
            }
            Event::mapping_end()
        }
        Value::Unknown(_) | Value::Marked(_) => return None,
    };
    emitter.emit(event).ok()
}
