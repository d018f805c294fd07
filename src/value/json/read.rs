//! Reads JSON text piece by piece. The words of errors are those of Go's decoder, because users of `jsondecode` see them.

use std::borrow::Cow;

use crate::error::Error;

/// Where in JSON text a reader is.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

/// Values nested deeper than this are refused, so that no text can exhaust the stack.
const MAX_DEPTH: usize = 500;

/// What a piece of JSON starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

pub(super) type Result<T> = std::result::Result<T, Error>;

impl<'a> Reader<'a> {
    pub fn new(text: &'a str) -> Reader<'a> {
        Reader { text, at: 0, depth: 0 }
    }

    /// A reader for a part of the same document: it is as deep as this one.
    pub fn within(&self, text: &'a str) -> Reader<'a> {
        Reader { text, at: 0, depth: self.depth }
    }

    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// Says that the next byte, or the end of the text, is not what is `expected` there.
    fn unexpected(&self, expected: &str) -> Error {
        match self.text.as_bytes().get(self.at) {
            Some(byte) => format!("invalid character {}{expected}", show(*byte)).into(),
            None if self.text.trim_ascii().is_empty() => "EOF".into(),
            None => "unexpected EOF".into(),
        }
    }

    /// What comes next.
    pub fn start(&mut self) -> Result<Start> {
        match self.peek() {
            Some(b'n') => Ok(Start::Null),
            Some(b't' | b'f') => Ok(Start::Bool),
            Some(b'"') => Ok(Start::String),
            Some(b'[') => Ok(Start::Array),
            Some(b'{') => Ok(Start::Object),
            Some(b'-' | b'0'..=b'9') => Ok(Start::Number),
            _ => Err(self.unexpected(" looking for beginning of value")),
        }
    }

    /// Checks that nothing follows.
    pub fn end(&mut self) -> Result<()> {
        match self.peek() {
            None | Some(b']' | b'}') => Ok(()),
            Some(_) => Err("extraneous data after JSON object".into()),
        }
    }

    pub fn null(&mut self) -> Result<()> {
        self.literal("null")
    }

    pub fn bool(&mut self) -> Result<bool> {
        let is_true = self.peek() == Some(b't');
        self.literal(if is_true { "true" } else { "false" })?;
        Ok(is_true)
    }

    fn literal(&mut self, word: &str) -> Result<()> {
        for byte in word.bytes() {
            if self.text.as_bytes().get(self.at) != Some(&byte) {
                return Err(
                    self.unexpected(&format!(" in literal {word} (expecting {})", show(byte)))
                );
            }
            self.at += 1;
        }
        Ok(())
    }

    /// The text of a number.
    pub fn number(&mut self) -> Result<&'a str> {
        self.peek();
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.text.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn digits(&mut self) -> Result<()> {
        let rest = &self.text.as_bytes()[self.at..];
        let count = rest.iter().take_while(|it| it.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.unexpected(" in numeric literal"));
        }
        self.at += count;
        Ok(())
    }

    /// The text of a string, without quotes and escapes.
    pub fn string(&mut self) -> Result<Cow<'a, str>> {
        self.peek();
        self.at += 1;
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        let plain = rest.iter().take_while(|it| !matches!(it, b'"' | b'\\' | ..0x20)).count();
        self.at += plain;
        if self.take(b'"') {
            return Ok(Cow::Borrowed(&self.text[start..start + plain]));
        }
        let mut string = self.text[start..self.at].to_owned();
        loop {
            let start = self.at;
            let rest = &self.text.as_bytes()[start..];
            self.at += rest.iter().take_while(|it| !matches!(it, b'"' | b'\\' | ..0x20)).count();
            string.push_str(&self.text[start..self.at]);
            if self.take(b'"') {
                return Ok(Cow::Owned(string));
            }
            if !self.take(b'\\') {
                return Err(self.unexpected(" in string literal"));
            }
            string.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char> {
        let escaped = match self.text.as_bytes().get(self.at) {
            Some(it @ (b'"' | b'\\' | b'/')) => *it as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(self.unexpected(" in string escape code")),
        };
        self.at += 1;
        Ok(escaped)
    }

    /// The character of `\uXXXX`; half a surrogate pair alone becomes the replacement character.
    fn unicode(&mut self) -> Result<char> {
        let first = self.hexadecimal()?;
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            let second = self.hexadecimal()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hexadecimal(&mut self) -> Result<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.text.as_bytes().get(self.at).and_then(|it| (*it as char).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected(" in \\u hexadecimal character escape"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    /// Steps into the array that comes next.
    pub fn enter_array(&mut self) -> Result<()> {
        self.enter(b'[')
    }

    /// Steps into the object that comes next.
    pub fn enter_object(&mut self) -> Result<()> {
        self.enter(b'{')
    }

    fn enter(&mut self, open: u8) -> Result<()> {
        if self.peek() != Some(open) {
            return Err(format!("missing expected {}", open as char).into());
        }
        if self.depth == MAX_DEPTH {
            return Err("exceeded max depth".into());
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    /// Moves to the next element of an array; false at its end, which is passed.
    pub fn next_item(&mut self, is_first: bool) -> Result<bool> {
        match self.peek() {
            Some(b']') => {
                self.at += 1;
                self.depth -= 1;
                return Ok(false);
            }
            Some(b',') if !is_first => self.at += 1,
            _ if is_first => return Ok(true),
            _ => return Err(self.unexpected(" after array element")),
        }
        match self.peek() {
            Some(b']') => Err(self.unexpected(" looking for beginning of value")),
            _ => Ok(true),
        }
    }

    /// Moves to the next value of an object and returns its key; `None` at its end, which is passed.
    pub fn next_key(&mut self, is_first: bool) -> Result<Option<Cow<'a, str>>> {
        match self.peek() {
            Some(b'}') => {
                self.at += 1;
                self.depth -= 1;
                return Ok(None);
            }
            Some(b',') if !is_first => self.at += 1,
            _ if is_first => {}
            _ => return Err(self.unexpected(" after object key:value pair")),
        }
        if self.peek() != Some(b'"') {
            return Err(self.unexpected(if is_first {
                ""
            } else {
                " looking for beginning of object key string"
            }));
        }
        let key = self.string()?;
        match self.peek() {
            Some(b':') => self.at += 1,
            _ => return Err(self.unexpected(" after object key")),
        }
        Ok(Some(key))
    }

    /// Passes a value and returns its text.
    pub fn skip(&mut self) -> Result<&'a str> {
        let start = self.start()?;
        let from = self.at;
        match start {
            Start::Null => self.null()?,
            Start::Bool => drop(self.bool()?),
            Start::Number => drop(self.number()?),
            Start::String => drop(self.string()?),
            Start::Array => {
                self.enter_array()?;
                let mut is_first = true;
                while self.next_item(is_first)? {
                    self.skip()?;
                    is_first = false;
                }
            }
            Start::Object => {
                self.enter_object()?;
                let mut is_first = true;
                while self.next_key(is_first)?.is_some() {
                    self.skip()?;
                    is_first = false;
                }
            }
        }
        Ok(&self.text[from..self.at])
    }
}

/// A byte in quotes, as messages show it.
fn show(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        _ => format!("'{}'", (byte as char).escape_debug()),
    }
}
