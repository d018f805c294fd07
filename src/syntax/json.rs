//! JSON text to a tree with places: `*.tf.json`, `*.tofu.json` and `*.tfvars.json`.
//!
//! Strings keep their text; whether one is a template, a reference or plain text is for the reader of the argument to
//! say, see `content.rs`. Reading ends at the first error.

use super::{Body, JsonBody, Name, problems};
use crate::diagnostic::{Diagnostic, Diagnostics, FileId, Span};
use crate::value::{Number, Str};

/// How deep objects and arrays may nest.
const DEPTH: u32 = 500;

/// A JSON value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonValue {
    /// What it is.
    pub kind: JsonKind,
    /// Its place, quotes and brackets included.
    pub span: Span,
}

/// The kinds of JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(JsonString),
    /// An array.
    Array(Vec<JsonValue>),
    /// An object: its members in source order, equal names included.
    Object(Vec<(Name, JsonValue)>),
}

/// A string of JSON, escapes resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonString {
    /// The text.
    pub text: Str,
    /// Byte of `text` and byte of the source (from the opening quote) behind each escape. Empty without escapes.
    pub(super) escapes: Box<[(u32, u32)]>,
}

/// Reads a file in JSON syntax.
///
/// The body holds its members as they are ([`Body::json`]): [`Body::content`] and its relatives sort them. After an
/// error the body is empty.
pub fn parse_json(file: FileId, text: &str) -> (Body, Diagnostics) {
    let mut reader =
        Reader { file, text, at: if text.starts_with('\u{feff}') { 3 } else { 0 }, depth: 0 };
    let mut diags = Diagnostics::new();
    let is_bracketed = matches!(reader.peek(), b'{' | b'[');
    let members = match reader.whole().map_err(|it| (it, !is_bracketed)) {
        Ok(root) => root_members(root).map_err(|it| (it, false)),
        Err(broken) => Err(broken),
    };
    let members = members.unwrap_or_else(|(problem, is_no_root)| {
        let at = problem.subject.filter(|_| is_no_root);
        diags.push(*problem);
        diags.extend(at.map(problems::json_root));
        Vec::new()
    });
    let span = Span::new(file, 0, text.len());
    (Body { span, json: Some(Box::new(JsonBody { members })), ..Body::default() }, diags)
}

fn root_members(root: JsonValue) -> Read<Vec<(Name, JsonValue)>> {
    let not_an_object = |at| Err(Box::new(problems::json_root(at)));
    match root.kind {
        JsonKind::Object(members) => Ok(members),
        JsonKind::Array(items) => {
            let mut all = Vec::new();
            for item in items {
                match item.kind {
                    JsonKind::Object(members) => all.extend(members),
                    _ => return not_an_object(item.span),
                }
            }
            Ok(all)
        }
        _ => not_an_object(root.span),
    }
}

type Read<T> = Result<T, Box<Diagnostic>>;

struct Reader<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    depth: u32,
}

impl Reader<'_> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }

    /// Skips blanks and returns the next byte, 0 at the end.
    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Returns the span of the next byte; empty at the end.
    fn here(&mut self) -> Span {
        self.peek();
        let length = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        self.span(self.at, self.at + length)
    }

    fn fail<T>(&mut self, summary: &str, detail: &str) -> Read<T> {
        let at = self.here();
        Err(Box::new(problems::json(summary, detail, at)))
    }

    fn whole(&mut self) -> Read<JsonValue> {
        let value = self.value()?;
        if self.peek() != 0 || self.at < self.text.len() {
            return self.fail(
                "Extraneous data after value",
                "Extra characters appear after the JSON value.",
            );
        }
        Ok(value)
    }

    fn value(&mut self) -> Read<JsonValue> {
        let detail =
            "A JSON value must start with a brace, a bracket, a number, a string, or a keyword.";
        let next = self.peek();
        let start = self.at;
        let kind = match next {
            b'{' | b'[' => {
                if self.depth >= DEPTH {
                    let at = self.here();
                    return Err(Box::new(problems::nested_too_deeply(at)));
                }
                self.depth += 1;
                let kind = if next == b'{' { self.object()? } else { self.array()? };
                self.depth -= 1;
                kind
            }
            b'"' => JsonKind::String(self.string()?),
            b'-' | b'+' | b'.' | b'0'..=b'9' => self.number()?,
            b'a'..=b'z' | b'A'..=b'Z' => self.keyword()?,
            b'}' => return self.fail("Missing JSON value", detail),
            b']' => return self.fail("Missing array element value", detail),
            0 if self.at == self.text.len() => {
                return self.fail("Missing value", "The JSON data ends prematurely.");
            }
            _ => return self.fail("Invalid start of value", detail),
        };
        Ok(JsonValue { kind, span: self.span(start, self.at) })
    }

    fn object(&mut self) -> Read<JsonKind> {
        let open = self.here();
        self.at += 1;
        let mut members = Vec::new();
        if self.peek() == b'}' {
            self.at += 1;
            return Ok(JsonKind::Object(members));
        }
        loop {
            let name = self.member_name()?;
            self.colon()?;
            members.push((name, self.value()?));
            match self.peek() {
                b',' => {
                    let comma = self.here();
                    self.at += 1;
                    if self.peek() == b'}' {
                        let detail = "JSON does not permit a trailing comma after the final property in an object.";
                        return Err(Box::new(problems::json(
                            "Trailing comma in object",
                            detail,
                            comma,
                        )));
                    }
                }
                b'}' => {
                    self.at += 1;
                    return Ok(JsonKind::Object(members));
                }
                b']' => {
                    return self.fail(
                        "Mismatched braces",
                        "A JSON object must be closed with a brace, not a bracket.",
                    );
                }
                0 if self.at == self.text.len() => {
                    let detail = "No closing brace was found for this JSON object.";
                    return Err(Box::new(problems::json("Unclosed object", detail, open)));
                }
                _ => {
                    let detail =
                        "A comma must appear between each property definition in an object.";
                    return self.fail("Missing attribute seperator comma", detail);
                }
            }
        }
    }

    fn member_name(&mut self) -> Read<Name> {
        let value = self.value()?;
        match value.kind {
            JsonKind::String(name) => Ok(Name::new(name.text, value.span)),
            _ => {
                let detail = "A JSON object property name must be a string.";
                Err(Box::new(problems::json("Invalid object property name", detail, value.span)))
            }
        }
    }

    fn colon(&mut self) -> Read<()> {
        match self.peek() {
            b':' => {
                self.at += 1;
                Ok(())
            }
            b'}' | b',' => self.fail(
                "Missing object value",
                "A JSON object attribute must have a value, introduced by a colon.",
            ),
            b'=' => {
                let detail = "JSON uses a colon as its name/value delimiter, not an equals sign.";
                self.fail("Missing property value colon", detail)
            }
            _ => {
                let detail = "A colon must appear between an object property's name and its value.";
                self.fail("Missing property value colon", detail)
            }
        }
    }

    fn array(&mut self) -> Read<JsonKind> {
        let open = self.here();
        self.at += 1;
        let mut items = Vec::new();
        if self.peek() == b']' {
            self.at += 1;
            return Ok(JsonKind::Array(items));
        }
        loop {
            items.push(self.value()?);
            match self.peek() {
                b',' => {
                    let comma = self.here();
                    self.at += 1;
                    if self.peek() == b']' {
                        let detail = "JSON does not permit a trailing comma after the final value in an array.";
                        return Err(Box::new(problems::json(
                            "Trailing comma in array",
                            detail,
                            comma,
                        )));
                    }
                }
                b']' => {
                    self.at += 1;
                    return Ok(JsonKind::Array(items));
                }
                b':' => {
                    return self.fail(
                        "Invalid array value",
                        "A colon is not used to introduce values in a JSON array.",
                    );
                }
                b'}' => {
                    return self.fail(
                        "Mismatched brackets",
                        "A JSON array must be closed with a bracket, not a brace.",
                    );
                }
                0 if self.at == self.text.len() => {
                    let detail = "No closing bracket was found for this JSON array.";
                    return Err(Box::new(problems::json("Unclosed object", detail, open)));
                }
                _ => {
                    let detail = "A comma must appear between each value in an array.";
                    return self.fail("Missing attribute seperator comma", detail);
                }
            }
        }
    }

    fn number(&mut self) -> Read<JsonKind> {
        let start = self.at;
        let rest = &self.text[start..];
        let end = rest
            .find(|c: char| !matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9'))
            .unwrap_or(rest.len());
        self.at += end;
        let text = &rest[..end];
        match Number::parse(text).filter(|_| is_json_number(text.as_bytes())) {
            Some(number) => Ok(JsonKind::Number(number)),
            None => {
                let at = self.span(start, self.at);
                let detail = match Number::is_out_of_range(text) {
                    true => "The number is too large or too small.",
                    false => "There is a syntax error in the given JSON number.",
                };
                Err(Box::new(problems::json("Invalid JSON number", detail, at)))
            }
        }
    }

    fn keyword(&mut self) -> Read<JsonKind> {
        let start = self.at;
        let rest = &self.text[start..];
        let end = rest.find(|c: char| !(c.is_ascii_alphabetic() || c == '_')).unwrap_or(rest.len());
        self.at += end;
        match &rest[..end] {
            "null" => Ok(JsonKind::Null),
            "true" => Ok(JsonKind::Bool(true)),
            "false" => Ok(JsonKind::Bool(false)),
            other => Err(Box::new(problems::json_keyword(other, self.span(start, self.at)))),
        }
    }

    fn string(&mut self) -> Read<JsonString> {
        let start = self.at;
        let body = &self.text[start + 1..];
        let plain = body.find(|c: char| c == '"' || c == '\\' || c < ' ').unwrap_or(body.len());
        if body[plain..].starts_with('"') {
            self.at += plain + 2;
            return Ok(JsonString { text: body[..plain].into(), escapes: Box::default() });
        }
        let mut text = String::from(&body[..plain]);
        let mut escapes = vec![(0, 1)];
        let mut at = start + 1 + plain;
        loop {
            let rest = &self.text[at..];
            match rest.chars().next() {
                Some('"') => {
                    self.at = at + 1;
                    return Ok(JsonString { text: text.into(), escapes: escapes.into() });
                }
                Some('\\') => match json_escape(rest) {
                    Some((c, length)) => {
                        text.push(c);
                        at += length;
                        escapes.push((text.len() as u32, (at - start) as u32));
                    }
                    None => return Err(Box::new(problems::json_string(self.span(at, at + 1)))),
                },
                Some(c) if c >= ' ' => {
                    let length =
                        rest.find(|c: char| c == '"' || c == '\\' || c < ' ').unwrap_or(rest.len());
                    text.push_str(&rest[..length]);
                    at += length;
                }
                _ => return Err(Box::new(problems::json_string(self.span(start, at)))),
            }
        }
    }
}

/// Reads an escape of JSON: what it means, and its length. Half of a pair alone means U+FFFD.
fn json_escape(text: &str) -> Option<(char, usize)> {
    let hex = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        digits
            .bytes()
            .all(|it| it.is_ascii_hexdigit())
            .then(|| u32::from_str_radix(digits, 16).ok())?
    };
    let simple = match text.as_bytes().get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let first = hex(text)?;
            if (0xd800..0xdc00).contains(&first)
                && let Some(second @ 0xdc00..0xe000) = hex(&text[6..])
            {
                return Some((
                    char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))?,
                    12,
                ));
            }
            return Some((char::from_u32(first).unwrap_or('\u{fffd}'), 6));
        }
        _ => return None,
    };
    Some((simple, 2))
}

fn is_json_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|it| it.is_ascii_digit()).count();
    let mut rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    rest = &rest[whole..];
    if let [b'.', fraction @ ..] = rest {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent =
            exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent);
        return !exponent.is_empty() && digits(exponent) == exponent.len();
    }
    rest.is_empty()
}
