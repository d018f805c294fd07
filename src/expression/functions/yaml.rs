//! YAML: reading with the booleans and timestamps of version 1.1, writing in block style.

use std::collections::BTreeMap;

use libyaml_safer::{
    Emitter, Encoding, Event, EventData, MappingStyle, Parser, ScalarStyle, SequenceStyle,
};

use super::{Call, Failure, Function, Outcome, Parameter, Returns, Shape};
use crate::value::convert::convert;
use crate::value::number::Notation;
use crate::value::{Kind, Number, Str, Type, Value};

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
        body: |call| decode(call.text(0)).map_err(Failure::call),
    },
];

fn yamlencode(call: &Call<'_>) -> Outcome {
    let value = call.argument(0);
    if !value.is_wholly_known() {
        return Ok(Value::unknown(Type::STRING));
    }
    encode(value)
        .map(Value::string)
        .ok_or_else(|| Failure::call("the value cannot be written as YAML"))
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

/// Documents nest no deeper.
const DEEPEST: u32 = 1000;
/// Aliases may not make a small document huge.
const MOST_NODES: usize = 10_000_000;

/// Reads one document; the error is a phrase, with the place where it is not in the first line.
fn decode(text: &str) -> Result<Value, String> {
    let mut bytes = if text.is_empty() { "\n" } else { text }.as_bytes();
    let mut parser = Parser::new();
    parser.set_input_string(&mut bytes);
    let mut reader =
        Reader { parser, anchors: BTreeMap::new(), pending: Vec::new(), depth: 0, nodes: 0 };
    reader.next()?;
    let start = reader.next()?;
    if !matches!(start.data, EventData::DocumentStart { .. }) {
        return Err(on(&start, "missing start of document", true));
    }
    let first = reader.next()?;
    let value = reader.node(first)?;
    let end = reader.next()?;
    if !matches!(end.data, EventData::DocumentEnd { .. }) {
        return Err(on(&end, "unexpected extra content after value", false));
    }
    let end = reader.next()?;
    match end.data {
        EventData::StreamEnd => Ok(value),
        EventData::DocumentStart { .. } => {
            Err(on(&end, "unexpected extra content after value", false))
        }
        _ => Err(on(&end, "unexpected extra content after value", false)),
    }
}

/// A problem at an event; its place is said from the second line on, or `always`.
fn on(event: &Event, problem: &str, always: bool) -> String {
    match event.start_mark.line {
        0 if !always => problem.to_owned(),
        line => {
            format!("on line {}, column {}: {problem}", line.max(1), event.start_mark.column + 1)
        }
    }
}

struct Reader<'r, 'b> {
    parser: Parser<&'r mut &'b [u8]>,
    anchors: BTreeMap<String, Value>,
    /// Anchors whose values are being read.
    pending: Vec<String>,
    depth: u32,
    nodes: usize,
}

impl Reader<'_, '_> {
    fn next(&mut self) -> Result<Event, String> {
        self.parser.parse().map_err(|error| {
            let problem = match error.problem() {
                "" => "invalid YAML syntax",
                problem => problem,
            };
            match error.problem_mark() {
                Some(mark) if mark.line > 0 => {
                    let scanner = error.kind() == libyaml_safer::ErrorKind::Scanner;
                    let (line, column) =
                        if scanner { (mark.line + 1, 0) } else { (mark.line, mark.column) };
                    format!("on line {line}, column {}: {problem}", column + 1)
                }
                _ => problem.to_owned(),
            }
        })
    }

    fn count(&mut self, nodes: usize) -> Result<(), String> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MOST_NODES { Err("the document is too large".to_owned()) } else { Ok(()) }
    }

    fn node(&mut self, event: Event) -> Result<Value, String> {
        self.count(1)?;
        if self.depth > DEEPEST {
            return Err(on(&event, "the document is nested too deeply", false));
        }
        self.depth += 1;
        let value = match &event.data {
            EventData::Scalar { anchor, tag, value, style, .. } => {
                let read = scalar(tag.as_deref().unwrap_or_default(), value, *style)
                    .map_err(|why| on(&event, &why, false))?;
                self.keep(anchor.clone(), read)
            }
            EventData::Alias { anchor } => {
                self.alias(anchor).map_err(|why| on(&event, &why, false))?
            }
            EventData::MappingStart { anchor, tag, .. } => {
                self.begin(anchor);
                let value = self.mapping(&event, tag.as_deref().unwrap_or_default())?;
                self.keep(anchor.clone(), value)
            }
            EventData::SequenceStart { anchor, tag, .. } => {
                self.begin(anchor);
                let value = self.sequence(&event, tag.as_deref().unwrap_or_default())?;
                self.keep(anchor.clone(), value)
            }
            _ => return Err(on(&event, "expecting value but found end of stream", false)),
        };
        self.depth -= 1;
        Ok(value)
    }

    fn begin(&mut self, anchor: &Option<String>) {
        self.pending.extend(anchor.clone());
    }

    fn keep(&mut self, anchor: Option<String>, value: Value) -> Value {
        if let Some(anchor) = anchor {
            if let Some(at) = self.pending.iter().rposition(|it| *it == anchor) {
                self.pending.remove(at);
            }
            self.anchors.insert(anchor, value.clone());
        }
        value
    }

    fn alias(&mut self, anchor: &str) -> Result<Value, String> {
        if self.pending.iter().any(|it| it == anchor) {
            return Err(format!(
                "cannot refer to anchor {anchor:?} from inside its own definition"
            ));
        }
        let value = self
            .anchors
            .get(anchor)
            .cloned()
            .ok_or_else(|| format!("reference to undefined anchor {anchor:?}"))?;
        self.count(size(&value))?;
        Ok(value)
    }

    fn sequence(&mut self, start: &Event, tag: &str) -> Result<Value, String> {
        if !matches!(tag, "" | "tag:yaml.org,2002:seq") {
            return Err(on(start, &format!("can't interpret sequence as {tag}"), false));
        }
        let mut items = Vec::new();
        loop {
            let event = self.next()?;
            if matches!(event.data, EventData::SequenceEnd) {
                return Ok(Value::tuple(items));
            }
            items.push(self.node(event)?);
        }
    }

    fn mapping(&mut self, start: &Event, tag: &str) -> Result<Value, String> {
        if !matches!(tag, "" | "tag:yaml.org,2002:map") {
            return Err(on(start, &format!("can't interpret mapping as {tag}"), false));
        }
        let mut entries: BTreeMap<Str, Value> = BTreeMap::new();
        loop {
            let event = self.next()?;
            let (tag, key, style) = match &event.data {
                EventData::MappingEnd => return Ok(Value::object(entries)),
                EventData::Scalar { tag, value, style, .. } => {
                    (tag.as_deref().unwrap_or_default(), value, *style)
                }
                _ => return Err(on(&event, "only strings are allowed as mapping keys", false)),
            };
            if (tag.is_empty() && key == "<<") || tag == "tag:yaml.org,2002:merge" {
                let next = self.next()?;
                let merged = self.node(next)?;
                merge(&mut entries, &merged).map_err(|why| on(&event, &why, false))?;
                continue;
            }
            let key = scalar(tag, key, style)?;
            let key = match convert(&key, Type::STRING) {
                Ok(Value::String(key)) => key,
                Ok(_) => return Err(on(&event, "mapping key cannot be null", false)),
                Err(_) => {
                    return Err(on(&event, "only strings are allowed as mapping keys", false));
                }
            };
            let next = self.next()?;
            let value = self.node(next)?;
            entries.insert(key, value);
        }
    }
}

fn size(value: &Value) -> usize {
    1 + value.children().map(size).sum::<usize>()
}

/// Takes over the entries of a mapping, or of several.
fn merge(entries: &mut BTreeMap<Str, Value>, merged: &Value) -> Result<(), String> {
    let name = |it: &Value| it.ty().friendly_name();
    match merged.ty().kind() {
        Kind::Object(_) => {
            entries.extend(merged.entries().into_iter().map(|(key, value)| (key, value.clone())))
        }
        Kind::Tuple(_) => {
            for item in merged.children() {
                if !matches!(item.ty().kind(), Kind::Object(_)) {
                    return Err(format!(
                        "cannot merge {} (from sequence) into mapping",
                        name(item)
                    ));
                }
                entries.extend(item.entries().into_iter().map(|(key, value)| (key, value.clone())));
            }
        }
        _ => return Err(format!("cannot merge {} into mapping", name(merged))),
    }
    Ok(())
}

/// What a scalar means. One that stands in a block (`|`, `>`) is text, whatever it looks like.
fn scalar(tag: &str, text: &str, style: ScalarStyle) -> Result<Value, String> {
    let value = resolve(tag, text, style)?;
    let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
    Ok(if block && tag.is_empty() { convert(&value, Type::STRING).unwrap_or(value) } else { value })
}

/// What a scalar means by its tag, else by its look.
fn resolve(tag: &str, text: &str, style: ScalarStyle) -> Result<Value, String> {
    let short = tag.strip_prefix("tag:yaml.org,2002:").unwrap_or(tag);
    if !matches!(short, "" | "str" | "bool" | "int" | "float" | "null" | "timestamp" | "binary")
        || (short == tag && !tag.is_empty())
    {
        return Err(format!("unsupported tag {tag:?}"));
    }
    let cannot = || format!("cannot parse {text:?} as {tag}");
    let string = || Ok(Value::string(text));
    let hinted =
        text.is_empty() || text.starts_with(|it: char| "+-.0123456789yYnNtTfFoO~".contains(it));
    if hinted && short != "str" && short != "binary" {
        if matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted) {
            return string();
        }
        if let Some(value) = keyword(text) {
            return Ok(value);
        }
        if short.is_empty() && matches!(text, ".nan" | ".NaN" | ".NAN") {
            return Err("floating point NaN is not supported".to_owned());
        }
        if text.starts_with('.') {
            if let Some(number) = Number::parse(text) {
                return Ok(Value::Number(number));
            }
        } else if text.starts_with(|it: char| it.is_ascii_digit() || it == '+' || it == '-') {
            if matches!(short, "" | "timestamp")
                && let Some(time) = super::dates::yaml_time(text)
            {
                return Ok(Value::string(time));
            }
            if looks_like_number(text) {
                return number(text).ok_or_else(cannot);
            }
        }
    }
    match short {
        "bool" => keyword(text).filter(|it| it.as_bool().is_some()).ok_or_else(cannot),
        "int" | "float" => number(text).ok_or_else(cannot),
        "timestamp" => super::dates::yaml_time(text).map(Value::string).ok_or_else(cannot),
        "null" => Ok(Value::NULL),
        "binary" if !is_base64(text) => {
            Err(format!("cannot parse {text:?} as {tag}: not valid base64"))
        }
        _ => string(),
    }
}

fn is_base64(text: &str) -> bool {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text.replace(['\r', '\n'], "")).is_ok()
}

fn keyword(text: &str) -> Option<Value> {
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Value::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Value::Bool(false)
        }
        "" | "~" | "null" | "Null" | "NULL" => Value::NULL,
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            Value::Number(Number::infinity(false))
        }
        "-.inf" | "-.Inf" | "-.INF" => Value::Number(Number::infinity(true)),
        _ => return None,
    })
}

/// Decimal, octal (`0o17`) and hexadecimal (`0x1f`) whole numbers, and decimal fractions.
fn looks_like_number(text: &str) -> bool {
    let digits = |text: &str, radix| !text.is_empty() && text.chars().all(|it| it.is_digit(radix));
    if let Some(rest) = text.strip_prefix("0o") {
        return digits(rest, 8);
    }
    if let Some(rest) = text.strip_prefix("0x") {
        return digits(rest, 16);
    }
    let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) =
        rest.split_once(['e', 'E']).map_or((rest, None), |it| (it.0, Some(it.1)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_fits =
        exponent.is_none_or(|it| digits(it.strip_prefix(['+', '-']).unwrap_or(it), 10));
    let number = (digits(whole, 10) && (fraction.is_empty() || digits(fraction, 10)))
        || (whole.is_empty() && digits(fraction, 10));
    number && exponent_fits
}

fn number(text: &str) -> Option<Value> {
    let plain = text.replace('_', "");
    if let Some(number) = Number::parse(&plain) {
        return Some(Value::Number(number));
    }
    let (negative, rest) = match plain.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let lower = rest.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        _ => return None,
    };
    let value = i128::from(u64::from_str_radix(digits, radix).ok()?);
    let value = if negative { -value } else { value };
    Some(Value::Number(Number::from_bigint(&value.into())))
}
