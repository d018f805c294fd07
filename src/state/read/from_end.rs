//! A large file, read piece by piece from its end.
//!
//! Text in JSON holds no line feed, so a line that is laid out as the end of an element is one, or stands deeper. Where it does, the
//! piece behind it is no whole number of elements, and cannot be read as such: nothing is read otherwise than it would be as a whole.

use memchr::memmem;
use serde::de::DeserializeSeed;
use serde_json::Deserializer;

use super::super::version4::{Each, MadeFrom};
use super::Gathered;

/// About so many bytes are read together.
const PIECE: usize = if cfg!(test) { 300 } else { 1 << 24 };

/// Reads the resources and our own record, and returns the file without them.
pub(super) fn gather(mut bytes: Vec<u8>, gathered: &mut Gathered) -> Option<Vec<u8>> {
    if !bytes.starts_with(b"{\n  \"version\": 4,\n") {
        return None;
    }
    bytes.truncate(bytes.trim_ascii_end().len());
    made_from(&mut bytes, gathered)?;
    resources(&mut bytes, gathered)?;
    Some(bytes)
}

fn made_from(bytes: &mut Vec<u8>, gathered: &mut Gathered) -> Option<()> {
    const BEGIN: &[u8] = b"\n  \"entail\": {\n    \"made_from\": {";
    const END: &[u8] = b"\n    }\n  }\n}";
    if !bytes.ends_with(END) {
        return Some(());
    }
    let Some(begin) = memmem::rfind(bytes, BEGIN).map(|it| it + BEGIN.len()) else {
        return Some(());
    };
    bytes.truncate(bytes.len() - END.len());
    let read = |gathered: &mut Gathered, piece: &[u8]| {
        let piece: MadeFrom<'_> = serde_json::from_slice(piece).ok()?;
        // The last first, as they come.
        let names = piece.0.iter().rev().map(|it| gathered.reader.names_of(it));
        gathered.made_from.extend(names);
        Some(())
    };
    pieces(bytes, gathered, &Layout { begin, between: b"\n      ],\n", brackets: *b"{}" }, read)?;
    gathered.made_from.reverse();
    bytes.extend(END);
    Some(())
}

fn resources(bytes: &mut Vec<u8>, gathered: &mut Gathered) -> Option<()> {
    const BEGIN: &[u8] = b"\n  \"resources\": [";
    const END: &[u8] = b"\n  ]";
    let begin = memmem::find(bytes, BEGIN)? + BEGIN.len();
    if depth(&bytes[..begin]) != Some(2) {
        return None;
    }
    let end = begin + memmem::find(&bytes[begin..], END)?;
    let rest = bytes.split_off(end);
    let read = |gathered: &mut Gathered, piece: &[u8]| {
        let first = gathered.resources.len();
        let mut from = Deserializer::from_slice(piece);
        Each(&mut |it| gathered.resource(it)).deserialize(&mut from).ok()?;
        from.end().ok()?;
        gathered.resources[first..].reverse();
        Some(())
    };
    pieces(bytes, gathered, &Layout { begin, between: b"\n    },\n", brackets: *b"[]" }, read)?;
    gathered.resources.reverse();
    bytes.extend(rest);
    gathered.problems.0.is_empty().then_some(())
}

/// How the elements stand that end a text.
struct Layout {
    /// Where the first begins.
    begin: usize,
    /// What stands between two of them: the end of one, a comma and a line feed.
    between: &'static [u8],
    /// What all of them stand in.
    brackets: [u8; 2],
}

/// Takes elements away from the end of a text, as many at a time as make a piece, and has them read within brackets.
fn pieces(
    bytes: &mut Vec<u8>,
    gathered: &mut Gathered,
    layout: &Layout,
    read: impl Fn(&mut Gathered, &[u8]) -> Option<()>,
) -> Option<()> {
    let Layout { begin, between, brackets } = *layout;
    while bytes.len() > begin {
        let least = bytes.len().saturating_sub(PIECE).max(begin);
        let found = memmem::find(&bytes[least..], between).filter(|_| least > begin);
        let at = match found {
            Some(at) => least + at + between.len() - b",\n".len(),
            None if bytes[begin] == b'\n' => begin,
            None => return None,
        };
        // The brackets take the place of the comma, or of the line feed before the first, and stand behind the last.
        bytes[at] = brackets[0];
        bytes.push(brackets[1]);
        read(gathered, &bytes[at..])?;
        bytes.truncate(at);
        bytes.shrink_to_fit();
    }
    Some(())
}

/// How many brackets are open at the end of a text; nothing where it is none of JSON.
fn depth(text: &[u8]) -> Option<usize> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in text {
        match (in_text, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_text = !in_text,
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']') => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    (!in_text).then_some(depth)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::super::super::{State, write};
    use super::super::{read, read_from_end};

    /// A file as it is written: resources of the root and of a module, with and without keys, and what the last of them rest on.
    fn file(count: usize, are_keyed: bool, has_checks: bool) -> String {
        let mut resources = Vec::new();
        let mut made_from = Vec::new();
        for at in 0..count {
            let module = if at % 3 == 2 { r#""module": "module.m[\"a\"]","# } else { "" };
            let key = if are_keyed { r#""index_key": "],\n    },","# } else { "" };
            let before: Vec<String> =
                (at.saturating_sub(2)..at).map(|it| format!(r#""x.r{it}""#)).collect();
            let before = before.join(",");
            resources.push(format!(
                r#"{{{module}"mode":"managed","type":"x","name":"r{at}",
                "provider":"provider[\"registry.opentofu.org/hashicorp/x\"]","instances":[{{{key}
                "schema_version":0,"attributes":{{"id":"{at}","list":[[],{{}},[1]]}},
                "sensitive_attributes":[],"dependencies":[{before}]}}]}}"#
            ));
            let name =
                format!(r#""{}x.r{at}""#, if at % 3 == 2 { r#"module.m[\"a\"]."# } else { "" });
            made_from.push(format!("{name}:[{before}]"));
        }
        let checks = if has_checks {
            r#"[{"object_kind":"resource","config_addr":"x.r0","status":"pass","objects":null}]"#
        } else {
            "null"
        };
        let text = format!(
            r#"{{"version":4,"terraform_version":"1.12.6","serial":3,"lineage":"l",
            "outputs":{{"o":{{"value":"\n  \"resources\": [\n","type":"string"}}}},
            "resources":[{}],"check_results":{checks},"entail":{{"made_from":{{{}}}}}}}"#,
            resources.join(","),
            made_from.join(",")
        );
        write::write(&whole(&text).expect("it is a state"))
    }

    fn whole(text: &str) -> Option<State> {
        read(text.as_bytes()).ok().flatten()
    }

    fn shown(state: &State) -> String {
        format!("{state:?}")
    }

    proptest! {
        #[test]
        fn what_is_read_from_its_end_is_what_is_read_as_a_whole(
            count in 1..12_usize,
            are_keyed: bool,
            has_checks: bool,
            edits in prop::collection::vec((any::<Index>(), any::<Index>(), 0..4_u8), 0..3),
        ) {
            let mut text = file(count, are_keyed, has_checks);
            let is_edited = !edits.is_empty();
            for (from, to, how) in edits {
                let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
                let (from, to) = (from.index(lines.len()), to.index(lines.len()));
                match how {
                    0 => lines.swap(from, to),
                    1 => lines.insert(to, lines[from]),
                    2 => drop(lines.remove(from)),
                    _ => lines[from] = lines[from].trim_start(),
                }
                text = lines.concat();
            }
            let found = read_from_end(text.clone().into_bytes());
            if !is_edited {
                prop_assert!(found.is_some(), "{text}");
            }
            if let Some(found) = found {
                let whole = whole(&text);
                prop_assert_eq!(whole.as_ref().map(shown), Some(shown(&found)), "{}", text);
            }
        }
    }
}
