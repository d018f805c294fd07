//! Reading a document: events of libyaml's parser become a value.

use std::collections::BTreeMap;

use libyaml_safer::{Event, EventData, Parser};

use super::open_end;
use super::scalar::scalar;
use crate::error::Error;
use crate::value::convert::convert;
use crate::value::{Kind, Str, Type, Value};

/// Documents nest no deeper.
const DEEPEST: u32 = 1000;
/// Aliases may not make a small document huge.
const MOST_NODES: usize = 10_000_000;

/// Reads one document; the error is a phrase, with the place where it is not in the first line.
pub(super) fn decode(text: &str) -> Result<Value, Error> {
    if text.is_empty() {
        return decode_whole("\n", "\n");
    }
    // The parser panics where a block's text ends without a line break: it gets one, and the value loses it again.
    open_end::contain(|| decode_whole(text, text))
        .or_else(|| open_end::contain(|| decode_whole(&format!("{text}\n"), text)))
        .unwrap_or_else(|| Err("invalid YAML syntax".into()))
}

/// Reads one document.
///
/// - `given`: the text as it was given, where one line break was added to it.
fn decode_whole(text: &str, given: &str) -> Result<Value, Error> {
    let mut bytes = text.as_bytes();
    let mut parser = Parser::new();
    parser.set_input_string(&mut bytes);
    let mut reader =
        Reader { given, parser, anchors: BTreeMap::new(), pending: Vec::new(), depth: 0, nodes: 0 };
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
fn on(event: &Event, problem: impl Into<Error>, always: bool) -> Error {
    let problem = problem.into();
    match event.start_mark.line {
        0 if !always => problem,
        line => problem.context(format_args!(
            "on line {}, column {}",
            line.max(1),
            event.start_mark.column + 1
        )),
    }
}

struct Reader<'r, 'b> {
    given: &'b str,
    parser: Parser<&'r mut &'b [u8]>,
    anchors: BTreeMap<String, Value>,
    /// Anchors whose values are being read.
    pending: Vec<String>,
    depth: u32,
    nodes: usize,
}

impl Reader<'_, '_> {
    fn next(&mut self) -> Result<Event, Error> {
        let mut event = self.parser.parse().map_err(|error| {
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
        })?;
        open_end::take_added_break(&mut event, self.given);
        Ok(event)
    }

    fn count(&mut self, nodes: usize) -> Result<(), Error> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MOST_NODES { Err("the document is too large".into()) } else { Ok(()) }
    }

    fn node(&mut self, event: Event) -> Result<Value, Error> {
        self.count(1)?;
        if self.depth > DEEPEST {
            return Err(on(&event, "the document is nested too deeply", false));
        }
        self.depth += 1;
        let value = match &event.data {
            EventData::Scalar { anchor, tag, value, style, .. } => {
                let read = scalar(tag.as_deref().unwrap_or_default(), value, *style)
                    .map_err(|why| on(&event, why, false))?;
                self.keep(anchor.clone(), read)
            }
            EventData::Alias { anchor } => {
                self.alias(anchor).map_err(|why| on(&event, why, false))?
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

    fn alias(&mut self, anchor: &str) -> Result<Value, Error> {
        if self.pending.iter().any(|it| it == anchor) {
            return Err(format!(
                "cannot refer to anchor {anchor:?} from inside its own definition"
            )
            .into());
        }
        let value = self
            .anchors
            .get(anchor)
            .cloned()
            .ok_or_else(|| format!("reference to undefined anchor {anchor:?}"))?;
        self.count(size(&value))?;
        Ok(value)
    }

    fn sequence(&mut self, start: &Event, tag: &str) -> Result<Value, Error> {
        if !matches!(tag, "" | "tag:yaml.org,2002:seq") {
            return Err(on(start, format!("can't interpret sequence as {tag}"), false));
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

    fn mapping(&mut self, start: &Event, tag: &str) -> Result<Value, Error> {
        if !matches!(tag, "" | "tag:yaml.org,2002:map") {
            return Err(on(start, format!("can't interpret mapping as {tag}"), false));
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
                merge(&mut entries, &merged).map_err(|why| on(&event, why, false))?;
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
fn merge(entries: &mut BTreeMap<Str, Value>, merged: &Value) -> Result<(), Error> {
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
                    )
                    .into());
                }
                entries.extend(item.entries().into_iter().map(|(key, value)| (key, value.clone())));
            }
        }
        _ => return Err(format!("cannot merge {} into mapping", name(merged)).into()),
    }
    Ok(())
}
