//! What may be written in JSON: the keys of blocks and arguments, and the references within strings.

use std::ops::Range;
use std::sync::Arc;

use super::{Item, Place, Sort, items, values};
use crate::assist::bodies::{Bodies, Header, inputs_of};
use crate::assist::document::{Document, Language};
use crate::assist::expected::Expected;
use crate::assist::workspace::Workspace;
use crate::syntax::{Around, At, Cursor, cursor};

/// Arguments whose strings are references as a whole, not texts with references in them.
const WHOLE: [&str; 8] = [
    "depends_on",
    "replace_triggered_by",
    "ignore_changes",
    "provider",
    "providers",
    "from",
    "to",
    "type",
];

/// Returns what may be written at a byte, and what it takes the place of.
pub(super) fn found(
    workspace: &Workspace,
    document: &Arc<Document>,
    at: usize,
) -> (Vec<Item>, Range<usize>) {
    let Some(spot) = Spot::of(&document.text, at) else { return (Vec::new(), at..at) };
    let nowhere = Cursor { blocks: Vec::new(), at: At::Nothing, word: at..at };
    let mut place = Place::new(workspace, document.clone(), nowhere, at);
    match spot.string {
        Some(start) if spot.is_key => (keys(&place, &spot), start..at),
        None if spot.is_key => {
            let items = keys(&place, &spot).into_iter();
            let quoted = items.map(|it| {
                let text = format!("\"{}\": $0", it.label);
                it.putting(text)
            });
            (quoted.collect(), at..at)
        }
        Some(start) => references(&mut place, &spot, start).unwrap_or((Vec::new(), at..at)),
        None => (Vec::new(), at..at),
    }
}

/// What is being written, and where.
#[derive(Debug, Default, PartialEq, Eq)]
struct Spot {
    /// The keys that lead there, outermost first; for a value, its own last.
    path: Vec<String>,
    /// Whether a key is being written, rather than a value.
    is_key: bool,
    /// Behind the quote of the string that is open.
    string: Option<usize>,
}

/// What is open before a place.
enum Open {
    Object { key: Option<String>, is_key: bool },
    List,
}

impl Spot {
    /// Finds out where a byte stands, from what is before it: what is being written is hardly ever whole.
    fn of(text: &str, at: usize) -> Option<Spot> {
        let before = text.get(..at)?;
        let (mut open, mut string): (Vec<Open>, Option<usize>) = (Vec::new(), None);
        let mut letters = before.char_indices();
        while let Some((place, letter)) = letters.next() {
            match (letter, string) {
                ('\\', Some(_)) => drop(letters.next()),
                ('"', None) => string = Some(place + 1),
                ('"', Some(start)) => {
                    string = None;
                    if let Some(Open::Object { key, is_key: true }) = open.last_mut() {
                        *key = Some(before[start..place].to_owned());
                    }
                }
                (_, Some(_)) => {}
                ('{', _) => open.push(Open::Object { key: None, is_key: true }),
                ('[', _) => open.push(Open::List),
                ('}' | ']', _) => drop(open.pop()),
                (':', _) => turn(&mut open, false),
                (',', _) => turn(&mut open, true),
                _ => {}
            }
        }
        let is_key = matches!(open.last()?, Open::Object { is_key: true, .. });
        let mut path: Vec<String> = Vec::new();
        let last = open.len() - 1;
        for (depth, it) in open.into_iter().enumerate() {
            if let Open::Object { key: Some(key), .. } = it
                && !(is_key && depth == last)
            {
                path.push(key);
            }
        }
        Some(Spot { path, is_key, string })
    }
}

/// Says whether a key or a value comes next; in a list there are only values.
fn turn(open: &mut [Open], to_key: bool) {
    if let Some(Open::Object { key, is_key }) = open.last_mut() {
        *is_key = to_key;
        if to_key {
            *key = None;
        }
    }
}

/// What the keys on the way to a place stand for.
enum Way<'p> {
    /// The body of a block.
    Body(Expected),
    /// A label: the type of its block, and the labels before.
    Label(&'p str, &'p [String]),
    /// The value of an argument.
    Value,
}

/// Follows keys from the top of a file: a block's type, then its labels, then what is in it.
fn way<'p>(place: &Place<'_>, path: &'p [String]) -> (Way<'p>, Vec<Header<'p>>) {
    let bodies = Bodies {
        workspace: place.workspace,
        module: &place.module,
        schemas: &place.schemas,
        language: Language::Config,
    };
    let mut headers: Vec<Header<'p>> = Vec::new();
    let mut rest = path;
    loop {
        let expected = bodies.expected(&headers, None);
        let Some((key, inner)) = rest.split_first() else { return (Way::Body(expected), headers) };
        let Some(block) = expected.blocks.iter().find(|it| it.name == *key) else {
            return (Way::Value, headers);
        };
        let count = block.labels.len();
        if inner.len() < count {
            return (Way::Label(key, inner), headers);
        }
        let (labels, within) = inner.split_at(count);
        headers.push((key, labels.iter().map(String::as_str).collect()));
        rest = within;
    }
}

fn keys(place: &Place<'_>, spot: &Spot) -> Vec<Item> {
    let plain =
        |name: &str, sort, detail: String, about: &str| Item::new(name, sort, detail).about(about);
    if place.document.language == Language::JsonValues {
        let inputs = inputs_of(&place.module).into_iter().filter(|_| spot.path.is_empty());
        return inputs.map(|it| plain(&it.name, Sort::Argument, it.words(), &it.about)).collect();
    }
    match way(place, &spot.path).0 {
        Way::Body(expected) => {
            let arguments = expected.arguments.iter().filter(|it| !it.is_read_only);
            let arguments =
                arguments.map(|it| plain(&it.name, Sort::Argument, it.words(), &it.about));
            let blocks = expected.blocks.iter();
            let blocks = blocks.map(|it| plain(&it.name, Sort::Block, "block".into(), &it.about));
            arguments.chain(blocks).collect()
        }
        Way::Label(kind, before) => items::labels(place, kind, before, true),
        Way::Value => Vec::new(),
    }
}

/// What can be referred to in a string: within its innermost sequence, or anywhere where all of it is a reference.
fn references(
    place: &mut Place<'_>,
    spot: &Spot,
    start: usize,
) -> Option<(Vec<Item>, Range<usize>)> {
    if place.document.language != Language::Json {
        return None;
    }
    let at = place.at;
    let text = place.document.text.get(start..at)?.to_owned();
    let key = spot.path.last()?;
    let expression = match text.rfind("${").map(|it| &text[it + 2..]) {
        Some(it) if !it.contains('}') => it,
        _ if spot.path.iter().rev().take(2).any(|it| WHOLE.contains(&it.as_str())) => &text,
        _ => return None,
    };
    // The same expression as an argument of native syntax: what may follow there may follow here.
    let written = format!("{key} = {expression}");
    let mut found = cursor(&written, written.len());
    let At::Value(value) = found.at.clone() else { return None };
    let (_, headers) = way(place, &spot.path);
    let around = |(kind, labels): &Header<'_>| Around {
        kind: (*kind).to_owned(),
        labels: labels.iter().map(|it| (*it).to_owned()).collect(),
        start: usize::MAX,
    };
    found.blocks = headers.iter().map(around).collect();
    let word = at - (found.word.end - found.word.start)..at;
    found.word = word.clone();
    place.cursor = found;
    Some((values::items(place, &value), word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, path: &[&str], is_key: bool, string: Option<usize>) {
        let path = path.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(Spot::of(text, text.len()), Some(Spot { path, is_key, string }), "{text}");
    }

    #[test]
    fn keys_and_values_are_told_apart() {
        check("{", &[], true, None);
        check("{\"re", &[], true, Some(2));
        check("{\"resource\": {\"a\": {\"b\": {", &["resource", "a", "b"], true, None);
        check("{\"resource\": {\"a\": {\"b\": {\"c\": 1, ", &["resource", "a", "b"], true, None);
        check("{\"locals\": {\"x\": \"${var.", &["locals", "x"], false, Some(18));
        check("{\"a\": [{\"b\\\"\": [1, \"", &["a", "b\\\""], false, Some(20));
        check("{\"a\": {\"b\": 1}, \"c\": ", &["c"], false, None);
        assert_eq!(Spot::of("", 0), None);
    }
}
