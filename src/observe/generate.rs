//! Configuration for an object that has none: what would have to be written so that its plan changes nothing.
//!
//! The text is laid out as the formatter lays it out: equal signs and comments of lines that follow each other stand
//! below one another, and a line that opens a bracket stands alone.

use std::collections::BTreeMap;

use crate::config;
use crate::diagnostic::{Diagnostics, Sources};
use crate::schema::{AttributeSchema, BlockSchema, NestedAttributes, NestedBlock, Nesting};
use crate::syntax;
use crate::value::json::from_json_implied;
use crate::value::text::quoted;
use crate::value::{Str, Value};

/// A block that was written for an object.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The block, as read from the text.
    pub block: config::Resource,
    /// The text, header and braces included, without a newline at its end.
    pub text: String,
}

/// Writes a block for `object`, which `declared` stands for: it names the resource and its provider.
///
/// - `file`: the name under which places in the text are shown.
///
/// # Errors
///
/// If the text cannot be read back: the provider's schema then has names that the language does not.
pub fn generate(
    declared: &config::Resource,
    schema: &BlockSchema,
    object: &Value,
    file: &str,
    sources: &Sources,
) -> Result<Generated, Diagnostics> {
    let mut writer = Writer::default();
    writer.provider(declared);
    writer.block(schema, object);
    let inside = lay_out(&writer.lines);
    let id = sources.add(file, inside.as_str().into());
    let (mut body, problems) = syntax::parse(id, &inside);
    if problems.has_errors() {
        return Err(problems);
    }
    body.attributes.retain(|it| &*it.name.text != "provider");
    let mut lines = vec![Line::opening(
        format!("resource {} {} ", quoted(&declared.name.kind), quoted(&declared.name.name)),
        "{",
        1,
    )];
    lines.append(&mut writer.lines);
    lines.push(Line::closing("}", 1));
    let text = lay_out(&lines).trim_end_matches('\n').to_owned();
    Ok(Generated { block: config::Resource { body, ..declared.clone() }, text })
}

/// A line before it is laid out: `lead = value # comment`.
#[derive(Default)]
struct Line {
    lead: String,
    value: Option<String>,
    comment: Option<&'static str>,
    /// How many brackets it opens more than it closes.
    net: i32,
}

impl Line {
    fn opening(lead: impl Into<String>, brackets: &str, net: i32) -> Line {
        Line { lead: lead.into() + brackets, net, ..Line::default() }
    }

    fn closing(brackets: &str, net: i32) -> Line {
        Line { lead: brackets.to_owned(), net: -net, ..Line::default() }
    }
}

#[derive(Default)]
struct Writer {
    lines: Vec<Line>,
}

impl Writer {
    fn provider(&mut self, declared: &config::Resource) {
        let kind = &*declared.provider_source.kind;
        let alias = declared.besides.provider.as_ref().and_then(|it| it.alias.as_ref());
        if *kind == *config::implied_provider(&declared.name.kind) && alias.is_none() {
            return;
        }
        let name = match alias {
            Some(alias) => format!("{kind}.{}", alias.text),
            None => kind.to_owned(),
        };
        self.argument("provider", |it| it.add(&name), None);
    }

    fn block(&mut self, schema: &BlockSchema, object: &Value) {
        self.attributes(&schema.attributes, object);
        for (name, nested) in schema.blocks.iter().filter(|it| !it.1.block.deprecated) {
            if let Some(value) = object.get(name) {
                self.nested(name, nested, value);
            }
        }
    }

    fn attributes(&mut self, attributes: &BTreeMap<Str, AttributeSchema>, object: &Value) {
        for (name, schema) in attributes.iter().filter(|it| is_written(it.0, it.1)) {
            let null = Value::Null(schema.ty);
            let value = object.get(name).unwrap_or(&null);
            match &schema.nested {
                Some(nested) => {
                    self.structural(name, schema, nested, value, object.marks().sensitive)
                }
                None => self.plain(name, schema, value),
            }
        }
    }

    fn plain(&mut self, name: &str, schema: &AttributeSchema, value: &Value) {
        if schema.sensitive || value.marks().sensitive {
            let comment = if schema.write_only { "# sensitive write-only" } else { "# sensitive" };
            self.argument(name, |it| it.add("null"), Some(comment));
            return;
        }
        let comment = schema.write_only.then_some("# write-only");
        self.argument(name, |it| it.value_or_json(value), comment);
    }

    /// An attribute with attributes of its own.
    fn structural(
        &mut self,
        name: &str,
        schema: &AttributeSchema,
        nested: &NestedAttributes,
        value: &Value,
        hidden: bool,
    ) {
        let is_list = matches!(nested.nesting, Nesting::List | Nesting::Set);
        if schema.sensitive || hidden {
            let empty = if is_list { "[]" } else { "{}" };
            let comment = if schema.write_only { "# sensitive write-only" } else { "# sensitive" };
            return self.argument(name, |it| it.add(empty), Some(comment));
        }
        if value.is_null() || !value.is_known() {
            let comment = schema.write_only.then_some("# write-only");
            return self.argument(name, |it| it.add("null"), comment);
        }
        self.argument(
            name,
            |it| match nested.nesting {
                Nesting::Single | Nesting::Group => {
                    it.open("{", 1);
                    it.attributes(&nested.attributes, value);
                    it.close("}", 1);
                }
                Nesting::List | Nesting::Set => {
                    it.open("[", 1);
                    value.children().for_each(|element| it.element(nested, element));
                    it.close("]", 1);
                }
                Nesting::Map => {
                    it.open("{", 1);
                    for (key, element) in value.entries() {
                        it.entry(nested, &key, element);
                    }
                    it.close("}", 1);
                }
            },
            None,
        );
    }

    fn element(&mut self, nested: &NestedAttributes, element: &Value) {
        if element.marks().sensitive {
            self.lines.push(Line {
                lead: "{},".to_owned(),
                comment: Some("# sensitive"),
                ..Line::default()
            });
            return;
        }
        self.lines.push(Line::opening("", "{", 1));
        self.attributes(&nested.attributes, element);
        self.close("},", 1);
    }

    fn entry(&mut self, nested: &NestedAttributes, key: &str, element: &Value) {
        if element.marks().sensitive {
            return self.argument(key, |it| it.add("{}"), Some("# sensitive"));
        }
        self.argument(
            key,
            |it| {
                it.open("{", 1);
                it.attributes(&nested.attributes, element);
                it.close("}", 1);
            },
            None,
        );
    }

    fn nested(&mut self, name: &str, nested: &NestedBlock, value: &Value) {
        if value.is_null() || !value.is_known() {
            return;
        }
        let header = |label: Option<&str>| match label {
            Some(label) => format!("{name} {} ", quoted(label)),
            None => format!("{name} "),
        };
        let elements: Vec<(Option<Str>, &Value)> = match nested.nesting {
            Nesting::Single | Nesting::Group => vec![(None, value)],
            Nesting::List | Nesting::Set if value.marks().sensitive => vec![(None, value)],
            Nesting::List | Nesting::Set => value.children().map(|it| (None, it)).collect(),
            Nesting::Map => value.entries().into_iter().map(|(key, it)| (Some(key), it)).collect(),
        };
        for (label, element) in elements {
            let header = header(label.as_deref());
            if element.marks().sensitive || value.marks().sensitive {
                self.lines.push(Line {
                    lead: header + "{}",
                    comment: Some("# sensitive"),
                    ..Line::default()
                });
                continue;
            }
            self.lines.push(Line::opening(header, "{", 1));
            self.block(&nested.block, element);
            self.close("}", 1);
        }
    }

    fn argument(
        &mut self,
        name: &str,
        value: impl FnOnce(&mut Writer),
        comment: Option<&'static str>,
    ) {
        self.lines.push(Line {
            lead: key_literal(name),
            value: Some(String::new()),
            ..Line::default()
        });
        value(self);
        self.last().comment = comment;
    }

    fn last(&mut self) -> &mut Line {
        if self.lines.is_empty() {
            self.lines.push(Line::default());
        }
        let at = self.lines.len() - 1;
        &mut self.lines[at]
    }

    fn add(&mut self, text: &str) {
        let line = self.last();
        line.value.as_mut().unwrap_or(&mut line.lead).push_str(text);
    }

    fn open(&mut self, brackets: &str, net: i32) {
        self.add(brackets);
        self.last().net += net;
    }

    fn close(&mut self, brackets: &str, net: i32) {
        self.lines.push(Line::closing(brackets, net));
    }

    /// Text that holds a JSON object or array reads better as what it means.
    fn value_or_json(&mut self, value: &Value) {
        let json = value.as_str().map(str::trim).filter(|it| it.starts_with(['{', '[']));
        match json.and_then(|it| from_json_implied(it).ok()) {
            Some(meaning) => {
                self.open("jsonencode(", 1);
                self.value(&meaning);
                // The bracket closes where the value ends: on its last line.
                self.add(")");
                self.last().net -= 1;
            }
            None => self.value(value),
        }
    }

    fn value(&mut self, value: &Value) {
        match value.bare() {
            Value::Bool(it) => self.add(if *it { "true" } else { "false" }),
            Value::Number(it) => self.add(&it.to_string()),
            Value::String(it) => self.add(&quoted(it)),
            Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
                self.open("[", 1);
                for (at, item) in value.children().enumerate() {
                    if at > 0 {
                        self.add(", ");
                    }
                    self.value(item);
                }
                self.add("]");
                self.last().net -= 1;
            }
            Value::Map(_) | Value::Object(_) => {
                self.open("{", 1);
                let entries = value.entries();
                for (key, item) in entries.iter().filter(|it| it.1.is_known()) {
                    self.argument(key, |it| it.value(item), None);
                }
                if entries.is_empty() {
                    self.add("}");
                    self.last().net -= 1;
                } else {
                    self.close("}", 1);
                }
            }
            Value::Null(_) | Value::Unknown(_) | Value::Marked(_) => self.add("null"),
        }
    }
}

/// What only the provider sets, what is deprecated, and the `id` of the legacy SDK are not written.
fn is_written(name: &str, schema: &AttributeSchema) -> bool {
    let only_read = schema.computed && !schema.optional;
    let legacy_id = name == "id" && schema.computed && schema.optional;
    (schema.required || schema.optional) && !only_read && !legacy_id && !schema.deprecated
}

fn key_literal(key: &str) -> String {
    if syntax::is_identifier(key) { key.to_owned() } else { quoted(key) }
}

/// Indents and aligns lines.
fn lay_out(lines: &[Line]) -> String {
    let is_aligned = |it: &Line| it.value.is_some() && it.net == 0;
    let columns = |text: &str| text.chars().count();
    // Where equal signs stand: one column for each run of assignments.
    let mut leads = vec![0; lines.len()];
    for_runs(lines, is_aligned, |run| {
        let widest = lines[run.clone()].iter().map(|it| columns(&it.lead)).max().unwrap_or(0);
        leads[run].fill(widest);
    });
    let mut texts: Vec<String> = lines
        .iter()
        .zip(&leads)
        .map(|(line, &width)| match &line.value {
            Some(value) if is_aligned(line) => format!("{:<width$} = {value}", line.lead),
            Some(value) => format!("{} = {value}", line.lead),
            None => line.lead.trim_end().to_owned(),
        })
        .collect();
    let plain = texts.clone();
    for_runs(
        lines,
        |it| it.comment.is_some(),
        |run| {
            let widest = plain[run.clone()].iter().map(|it| columns(it)).max().unwrap_or(0);
            for at in run {
                let comment = lines[at].comment.unwrap_or_default();
                texts[at] = format!("{:<widest$} {comment}", plain[at]);
            }
        },
    );
    let mut out = String::new();
    let mut opened: Vec<i32> = Vec::new();
    for (line, text) in lines.iter().zip(&texts) {
        let mut closed = -line.net;
        while closed > 0 {
            closed -= opened.pop().unwrap_or(closed);
        }
        out.extend(std::iter::repeat_n("  ", opened.len()));
        out.push_str(text);
        out.push('\n');
        if line.net > 0 {
            opened.push(line.net);
        }
    }
    out
}

/// Calls `work` for each longest run of lines of which `is_part` holds.
fn for_runs(
    lines: &[Line],
    is_part: impl Fn(&Line) -> bool,
    mut work: impl FnMut(std::ops::Range<usize>),
) {
    let mut start = None;
    for (at, line) in lines.iter().enumerate() {
        match (is_part(line), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                work(from..at);
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        work(from..lines.len());
    }
}
