//! Positions of a text: lines and columns as the editor counts them, and bytes.

use std::ops::Range as Bytes;

use lsp_types::{Position, PositionEncodingKind, Range};

/// How columns are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// In bytes.
    Utf8,
    /// In units of UTF-16, where nothing else was agreed.
    #[default]
    Utf16,
    /// In characters.
    Utf32,
}

impl Encoding {
    /// Returns the first one that an editor offers and that is known here: in bytes, if it is among them.
    pub fn agreed(offered: Option<&[PositionEncodingKind]>) -> Encoding {
        let offered = offered.unwrap_or_default();
        if offered.contains(&PositionEncodingKind::UTF8) {
            return Encoding::Utf8;
        }
        let is_utf32_first = offered.first() == Some(&PositionEncodingKind::UTF32);
        if is_utf32_first { Encoding::Utf32 } else { Encoding::Utf16 }
    }

    /// Returns its name.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    /// How many columns a text has.
    pub fn width(self, text: &str) -> u32 {
        let width = match self {
            Encoding::Utf8 => text.len(),
            _ if text.is_ascii() => text.len(),
            Encoding::Utf16 => text.encode_utf16().count(),
            Encoding::Utf32 => text.chars().count(),
        };
        width as u32
    }
}

/// A text whose lines are known.
pub struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    encoding: Encoding,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a str, encoding: Encoding) -> Lines<'a> {
        let ends = text.bytes().enumerate().filter(|it| it.1 == b'\n').map(|it| it.0 + 1);
        Lines { text, starts: std::iter::once(0).chain(ends).collect(), encoding }
    }

    /// Returns the byte at a position. What lies behind the end of a line is its end, and behind the last line the end of the text.
    pub fn byte(&self, position: Position) -> usize {
        let Some(&start) = self.starts.get(position.line as usize) else { return self.text.len() };
        let line = self.line(start);
        let wanted = position.character as usize;
        if self.encoding == Encoding::Utf8 || line.is_ascii() {
            let mut within = wanted.min(line.len());
            while !line.is_char_boundary(within) {
                within -= 1;
            }
            return start + within;
        }
        let mut seen = 0;
        for (at, letter) in line.char_indices() {
            let width = if self.encoding == Encoding::Utf16 { letter.len_utf16() } else { 1 };
            if seen + width > wanted {
                return start + at;
            }
            seen += width;
        }
        start + line.len()
    }

    /// The line that begins at a byte, without its end.
    fn line(&self, start: usize) -> &'a str {
        let rest = &self.text[start..];
        let line = rest.split('\n').next().unwrap_or_default();
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// Returns the position of a byte.
    pub fn position(&self, byte: usize) -> Position {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let line = self.starts.partition_point(|it| *it <= byte) - 1;
        let character = self.encoding.width(&self.text[self.starts[line]..byte]);
        Position { line: line as u32, character }
    }

    /// Returns the range of some bytes.
    pub fn range(&self, bytes: &Bytes<usize>) -> Range {
        Range { start: self.position(bytes.start), end: self.position(bytes.end.max(bytes.start)) }
    }

    /// Returns the bytes of a range; of one that ends before it begins, none.
    pub fn bytes(&self, range: Range) -> Bytes<usize> {
        let start = self.byte(range.start);
        start..self.byte(range.end).max(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_are_counted_as_agreed() {
        let text = "a = \"𝄞é\"\r\nb\n";
        for (encoding, quote) in [(Encoding::Utf8, 11), (Encoding::Utf16, 8), (Encoding::Utf32, 7)]
        {
            let lines = Lines::of(text, encoding);
            let byte = text.find("\"\r").expect("a quote");
            assert_eq!(lines.position(byte), at(0, quote), "{encoding:?}");
            assert_eq!(lines.byte(at(0, quote)), byte, "{encoding:?}");
        }
    }

    #[test]
    fn a_position_that_is_not_there_is_the_nearest_that_is() {
        let lines = Lines::of("ä\r\nbc", Encoding::Utf16);
        assert_eq!(lines.byte(at(0, 99)), 2);
        assert_eq!(lines.byte(at(9, 9)), 6);
        let backwards = Range { start: at(1, 2), end: at(0, 0) };
        assert_eq!(lines.bytes(backwards), 6..6);
        // In the middle of a pair of UTF-16 there is no letter.
        assert_eq!(Lines::of("𝄞", Encoding::Utf16).byte(at(0, 1)), 0);
    }
}
