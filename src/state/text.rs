//! JSON text as OpenTofu's documents spell it: `<`, `>` and `&` escaped in strings, two spaces of indentation or none.
//!
//! Stored attributes stay text from file to file; here they are copied from one layout to the other without being
//! parsed. Nothing here recurses, so depth is no danger.

use crate::address::InstanceKey;

/// How a document is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One line, no spaces.
    Compact,
    /// Two spaces per level.
    Indented,
}

/// Writes a document member by member, in the order of the calls.
#[derive(Debug)]
pub struct JsonWriter {
    out: String,
    layout: Layout,
    depth: usize,
    /// Nothing stands yet between the innermost brackets.
    is_fresh: bool,
}

impl JsonWriter {
    /// Returns a writer of an empty document.
    pub fn new(layout: Layout) -> JsonWriter {
        JsonWriter { out: String::new(), layout, depth: 0, is_fresh: true }
    }

    /// Returns a writer with room for `bytes`.
    pub fn with_capacity(layout: Layout, bytes: usize) -> JsonWriter {
        JsonWriter { out: String::with_capacity(bytes), ..JsonWriter::new(layout) }
    }

    /// Returns the document.
    pub fn finish(self) -> String {
        self.out
    }

    /// Opens an object or array: `{` or `[`. It is the next value.
    pub fn open(&mut self, bracket: char) {
        self.out.push(bracket);
        self.depth += 1;
        self.is_fresh = true;
    }

    /// Closes it: `}` or `]`.
    pub fn close(&mut self, bracket: char) {
        self.depth -= 1;
        if !self.is_fresh {
            self.line();
        }
        self.out.push(bracket);
        self.is_fresh = false;
    }

    /// Starts the next element of an array; its value follows.
    pub fn element(&mut self) {
        if !self.is_fresh {
            self.out.push(',');
        }
        self.is_fresh = false;
        self.line();
    }

    /// Starts the next member of an object; its value follows.
    pub fn key(&mut self, name: &str) {
        self.element();
        push_string(&mut self.out, name);
        self.out.push_str(if self.layout == Layout::Indented { ": " } else { ":" });
    }

    /// Writes a string as the next value.
    pub fn string(&mut self, text: &str) {
        push_string(&mut self.out, text);
    }

    /// Writes a number, bool or null, as it is spelled, as the next value.
    pub fn literal(&mut self, text: impl std::fmt::Display) {
        use std::fmt::Write;
        write!(self.out, "{text}").expect("writing to a string succeeds");
    }

    /// Writes any JSON text as the next value, in this document's layout.
    pub fn raw(&mut self, json: &str) {
        push_json(&mut self.out, json, self.layout, self.depth);
    }

    /// Writes `name` and a string.
    pub fn member(&mut self, name: &str, text: &str) {
        self.key(name);
        self.string(text);
    }

    /// Writes `name` and a string, unless that is empty.
    pub fn member_unless_empty(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.member(name, text);
        }
    }

    /// Writes `name` and `true`, or nothing.
    pub fn member_if_true(&mut self, name: &str, flag: bool) {
        if flag {
            self.key(name);
            self.literal(true);
        }
    }

    /// Writes `name` and the key of an instance, unless there is none.
    pub fn member_instance_key(&mut self, name: &str, key: &InstanceKey) {
        match key {
            InstanceKey::None => {}
            InstanceKey::Int(index) => {
                self.key(name);
                self.literal(index);
            }
            InstanceKey::Str(key) => self.member(name, key),
        }
    }

    /// Writes `name` and any JSON text.
    pub fn member_raw(&mut self, name: &str, json: &str) {
        self.key(name);
        self.raw(json);
    }

    /// Writes `name` and an array of strings, unless there is none.
    pub fn member_strings<T: AsRef<str>>(&mut self, name: &str, items: &[T]) {
        if items.is_empty() {
            return;
        }
        self.key(name);
        self.open('[');
        for item in items {
            self.element();
            self.string(item.as_ref());
        }
        self.close(']');
    }

    fn line(&mut self) {
        if self.layout == Layout::Indented {
            push_line(&mut self.out, self.depth);
        }
    }
}

/// Appends a JSON string literal.
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            8 => "\\b",
            12 => "\\f",
            b'<' => "\\u003c",
            b'>' => "\\u003e",
            b'&' => "\\u0026",
            0..0x20 => {
                out.push_str(&text[copied..at]);
                out.push_str(&format!("\\u{byte:04x}"));
                copied = at + 1;
                continue;
            }
            0xe2 => match line_separator(bytes, at) {
                Some(escape) => {
                    out.push_str(&text[copied..at]);
                    out.push_str(escape);
                    copied = at + 3;
                    continue;
                }
                None => continue,
            },
            _ => continue,
        };
        out.push_str(&text[copied..at]);
        out.push_str(escape);
        copied = at + 1;
    }
    out.push_str(&text[copied..]);
    out.push('"');
}

/// Returns the escape of U+2028 or U+2029 at `at`.
fn line_separator(bytes: &[u8], at: usize) -> Option<&'static str> {
    match bytes.get(at..at + 3)? {
        [0xe2, 0x80, 0xa8] => Some("\\u2028"),
        [0xe2, 0x80, 0xa9] => Some("\\u2029"),
        _ => None,
    }
}

/// Appends valid JSON text in a layout, its members in the order in which they stand.
///
/// - `depth`: the level at which the value stands; only its further lines are indented.
pub fn push_json(out: &mut String, json: &str, layout: Layout, depth: usize) {
    let bytes = json.as_bytes();
    let mut depth = depth;
    let mut at = 0;
    let line = |out: &mut String, depth: usize| {
        if layout == Layout::Indented {
            push_line(out, depth);
        }
    };
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => at = skip_space(bytes, at + 1),
            b'"' => at = push_literal(out, json, at),
            b'{' | b'[' => {
                out.push(char::from(byte));
                at = skip_space(bytes, at + 1);
                match bytes.get(at) {
                    Some(close @ (b'}' | b']')) => {
                        out.push(char::from(*close));
                        at += 1;
                    }
                    _ => {
                        depth += 1;
                        line(out, depth);
                    }
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(out, depth);
                out.push(char::from(byte));
                at += 1;
            }
            b',' => {
                out.push(',');
                line(out, depth);
                at += 1;
            }
            b':' => {
                out.push_str(if layout == Layout::Indented { ": " } else { ":" });
                at += 1;
            }
            _ => {
                let end = bytes[at..]
                    .iter()
                    .position(|it| b" \n\r\t,:{}[]\"".contains(it))
                    .map_or(bytes.len(), |it| at + it);
                out.push_str(&json[at..end]);
                at = end;
            }
        }
    }
}

/// The bytes at which a literal ends, or which may have to be escaped.
const IS_SPECIAL: [bool; 256] = {
    let mut all = [false; 256];
    let special = b"\"\\<>&\xe2";
    let mut at = 0;
    while at < special.len() {
        all[special[at] as usize] = true;
        at += 1;
    }
    all
};

/// Copies the string literal that starts at `start`, escaping what the layout's program would, and returns its end.
fn push_literal(out: &mut String, json: &str, start: usize) -> usize {
    let bytes = json.as_bytes();
    let mut copied = start;
    let mut at = start + 1;
    loop {
        let plain = bytes[at..].iter().position(|it| IS_SPECIAL[usize::from(*it)]);
        at = plain.map_or(bytes.len(), |it| at + it);
        let Some(&byte) = bytes.get(at) else { break };
        let (escape, width) = match byte {
            b'"' => break,
            b'\\' => {
                at += 2;
                continue;
            }
            b'<' => ("\\u003c", 1),
            b'>' => ("\\u003e", 1),
            b'&' => ("\\u0026", 1),
            // The first of three bytes that may be a separator of lines.
            _ => match line_separator(bytes, at) {
                Some(escape) => (escape, 3),
                None => {
                    at += 3;
                    continue;
                }
            },
        };
        out.push_str(&json[copied..at]);
        out.push_str(escape);
        at += width;
        copied = at;
    }
    let end = (at + 1).min(bytes.len());
    out.push_str(&json[copied..end]);
    end
}

/// Returns where what is not space goes on.
fn skip_space(bytes: &[u8], mut from: usize) -> usize {
    const SPACES: u64 = u64::from_le_bytes(*b"        ");
    // Indentation is most of it.
    while let Some(chunk) = bytes[from..].first_chunk() {
        let others = u64::from_le_bytes(*chunk) ^ SPACES;
        from += others.trailing_zeros() as usize / 8;
        if others != 0 {
            break;
        }
    }
    bytes[from..].iter().position(|it| !b" \n\r\t".contains(it)).map_or(bytes.len(), |it| from + it)
}

fn push_line(out: &mut String, depth: usize) {
    const SPACES: &str = "                                ";
    out.push('\n');
    let mut left = depth * 2;
    while left > 0 {
        let take = left.min(SPACES.len());
        out.push_str(&SPACES[..take]);
        left -= take;
    }
}

/// Adds the text without space between its parts, escapes as they are.
pub fn push_compact(out: &mut String, json: &str) {
    push_json(out, json, Layout::Compact, 0);
}
