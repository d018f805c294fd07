//! Waivers in JSON: the property `"//"` of a block holds one, or a list of them.

use super::{Found, WORD};
use crate::diagnostic::{FileId, Span};
use crate::syntax::{BlockSchema, JsonKind, JsonValue, Name, parse_json};

/// The property that holds comments.
const COMMENT: &str = "//";

const BLOCKS: &[BlockSchema<'_>] = &[
    BlockSchema { kind: "resource", labels: &["type", "name"] },
    BlockSchema { kind: "data", labels: &["type", "name"] },
    BlockSchema { kind: "ephemeral", labels: &["type", "name"] },
    BlockSchema { kind: "module", labels: &["name"] },
    BlockSchema { kind: "variable", labels: &["name"] },
    BlockSchema { kind: "output", labels: &["name"] },
];

/// Returns the waivers of a file in JSON syntax. What is wrong with the file is told where it is read as configuration.
pub(super) fn waivers(file: FileId, text: &str) -> Vec<Found> {
    let (known, rest, _) = parse_json(file, text).0.into_partial_content(&[], BLOCKS);
    let mut found = Vec::new();
    for block in &known.blocks {
        let members = block.body.json.iter().flat_map(|it| &it.members);
        members.for_each(|it| of_member(it, Some(block.header), &mut found));
    }
    // Outside of these, a waiver covers nothing: then it says so.
    rest.json.iter().flat_map(|it| &it.members).for_each(|it| of_member(it, None, &mut found));
    found.sort_by_key(|it| it.1.start());
    found
}

fn of_member((name, value): &(Name, JsonValue), block: Option<Span>, found: &mut Vec<Found>) {
    if &*name.text == COMMENT {
        return of_comment(value, block, found);
    }
    of_value(value, block, found);
}

/// What lies within a block belongs to it.
fn of_value(value: &JsonValue, block: Option<Span>, found: &mut Vec<Found>) {
    match &value.kind {
        JsonKind::Object(members) => members.iter().for_each(|it| of_member(it, block, found)),
        JsonKind::Array(items) => items.iter().for_each(|it| of_value(it, block, found)),
        JsonKind::Null | JsonKind::Bool(_) | JsonKind::Number(_) | JsonKind::String(_) => {}
    }
}

fn of_comment(value: &JsonValue, block: Option<Span>, found: &mut Vec<Found>) {
    match &value.kind {
        JsonKind::String(it) => {
            for line in it.text.lines() {
                if let Some(at) = line.find(WORD) {
                    found.push((line[at..].trim_end().to_owned(), value.span, block));
                }
            }
        }
        JsonKind::Array(items) => items.iter().for_each(|it| of_comment(it, block, found)),
        _ => {}
    }
}
