//! A large file, read piece by piece from its end.
//!
//! Text in JSON holds no line feed, so a line that is laid out as the end of an element is one, or stands deeper. Where it does, the
//! piece behind it is no whole number of elements, and cannot be read as such: nothing is read otherwise than it would be as a whole.

use std::io;

use memchr::memmem;
use serde::de::DeserializeSeed;
use serde_json::Deserializer;

use super::super::version4::{Each, MadeFrom};
use super::Gathered;

/// About so many bytes are read together, and just so many are taken at a time, the last ones before the others.
pub const PIECE: usize = if cfg!(test) { 300 } else { 1 << 18 };

/// About so many bytes a file has for each name that is read: with room for all of them at once, none is moved later.
const NAMED: usize = 800;

/// Bytes that are taken from their end.
pub trait Backwards {
    /// Returns how many are left.
    fn left(&self) -> usize;

    /// Returns whether they begin with these.
    fn begin_with(&self, text: &[u8]) -> bool;

    /// Takes the last of those that are left, as many as `into` has room for.
    ///
    /// # Errors
    ///
    /// If they cannot be had.
    fn take(&mut self, into: &mut [u8]) -> io::Result<()>;
}

impl Backwards for Vec<u8> {
    fn left(&self) -> usize {
        self.len()
    }

    fn begin_with(&self, text: &[u8]) -> bool {
        self.starts_with(text)
    }

    fn take(&mut self, into: &mut [u8]) -> io::Result<()> {
        let left = self.len() - into.len();
        into.copy_from_slice(&self[left..]);
        self.truncate(left);
        // What was taken is let go of.
        self.shrink_to_fit();
        Ok(())
    }
}

/// Reads the resources and our own record, and returns the file without them.
pub(super) fn gather(bytes: &mut dyn Backwards, gathered: &mut Gathered) -> Option<Vec<u8>> {
    // Only what is laid out so can be taken apart.
    if !bytes.begin_with(b"{\n  \"version\": 4,\n") {
        return None;
    }
    gathered.reader.names.reserve(bytes.left() / NAMED);
    let mut text = Text { before: bytes, bytes: Vec::new() };
    text.more()?;
    text.bytes.truncate(text.bytes.trim_ascii_end().len());
    made_from(&mut text, gathered)?;
    resources(&mut text, gathered)?;
    Some(text.bytes)
}

fn made_from(text: &mut Text<'_>, gathered: &mut Gathered) -> Option<()> {
    const END: &[u8] = b"\n    }\n  }\n}";
    if !text.bytes.ends_with(END) {
        return Some(());
    }
    text.bytes.truncate(text.bytes.len() - END.len());
    let layout = Layout {
        begin: b"\n  \"entail\": {\n    \"made_from\": {",
        between: b"\n      ],\n",
        brackets: *b"{}",
    };
    text.pieces(&layout, gathered, |gathered, piece| {
        let piece: MadeFrom<'_> = serde_json::from_slice(piece).ok()?;
        // The last first, as they come.
        let names = piece.0.iter().rev().map(|it| gathered.reader.names_of(it));
        gathered.made_from.extend(names);
        Some(())
    })?;
    gathered.made_from.reverse();
    text.bytes.extend(END);
    Some(())
}

fn resources(text: &mut Text<'_>, gathered: &mut Gathered) -> Option<()> {
    const END: &[u8] = b"\n  ],\n  \"check_results\": ";
    let end = loop {
        match memmem::find(&text.bytes, END) {
            Some(end) => break end,
            None => text.more()?,
        }
    };
    let rest = text.bytes.split_off(end);
    let layout =
        Layout { begin: b"\n  \"resources\": [", between: b"\n    },\n", brackets: *b"[]" };
    gathered.left = gathered.made_from.len();
    text.pieces(&layout, gathered, |gathered, piece| {
        let mut all = Vec::new();
        let mut from = Deserializer::from_slice(piece);
        Each(&mut |it| all.push(it)).deserialize(&mut from).ok()?;
        from.end().ok()?;
        // The last first, as they come.
        let objects = all.iter().rev().flat_map(|it| it.instances.iter().flatten());
        gathered.reader.texts.put_together(objects.filter_map(|it| it.attributes));
        all.iter().rev().for_each(|it| gathered.resource(it));
        Some(())
    })?;
    gathered.resources.reverse();
    while text.before.left() > 0 {
        text.more()?;
    }
    let is_first =
        memmem::find(&text.bytes, layout.begin)? + layout.begin.len() == text.bytes.len();
    if !is_first || depth(&text.bytes) != Some(2) {
        return None;
    }
    text.bytes.extend(rest);
    gathered.problems.0.is_empty().then_some(())
}

/// How the elements stand that end a text.
struct Layout {
    /// What stands before the first.
    begin: &'static [u8],
    /// What stands between two of them: the end of one, a comma and a line feed.
    between: &'static [u8],
    /// What all of them stand in.
    brackets: [u8; 2],
}

/// A text of which the end is at hand.
struct Text<'t> {
    before: &'t mut dyn Backwards,
    bytes: Vec<u8>,
}

impl Text<'_> {
    /// Takes as much again of what stands before, one piece at least; nothing where nothing does.
    fn more(&mut self) -> Option<()> {
        let known = self.bytes.len();
        let mut count = (known / PIECE).max(1).saturating_mul(PIECE).min(self.before.left());
        self.bytes.resize(known + count, 0);
        self.bytes.copy_within(..known, count);
        let is_more = count > 0;
        while count > 0 {
            let first = count - PIECE.min(self.before.left());
            self.before.take(&mut self.bytes[first..count]).ok()?;
            count = first;
        }
        is_more.then_some(())
    }

    /// Takes elements away from the end, as many at a time as make a piece, and has them read within brackets, up to what stands before
    /// the first.
    fn pieces(
        &mut self,
        layout: &Layout,
        gathered: &mut Gathered,
        read: impl Fn(&mut Gathered, &[u8]) -> Option<()>,
    ) -> Option<()> {
        let Layout { begin, between, brackets } = *layout;
        loop {
            let first = memmem::find(&self.bytes, begin).map(|it| it + begin.len());
            let found = match first {
                Some(first) if self.bytes.get(first).is_none_or(|it| *it == b'\n') => Some(first),
                Some(_) => return None,
                None => {
                    memmem::find(&self.bytes, between).map(|it| it + between.len() - b",\n".len())
                }
            };
            let Some(at) = found else {
                self.more()?;
                continue;
            };
            if at < self.bytes.len() {
                // The brackets take the place of the comma, or of the line feed before the first, and stand behind the last.
                self.bytes[at] = brackets[0];
                self.bytes.push(brackets[1]);
                read(gathered, &self.bytes[at..])?;
                self.bytes.truncate(at);
                if self.bytes.capacity() > 4 * PIECE {
                    self.bytes.shrink_to(2 * PIECE);
                }
            }
            if first.is_some() {
                return Some(());
            }
            self.more()?;
        }
    }
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
            let found = read_from_end(&mut text.clone().into_bytes());
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
