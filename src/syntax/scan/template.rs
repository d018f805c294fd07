//! The tokens of templates: quoted text, heredocs, and what is interpolated in them.

use super::super::token::{Kind, ident_length, is_block_header};
use super::{Mode, Scanner};

impl Scanner<'_> {
    pub(super) fn heredoc_start(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let skip = if rest.as_bytes().get(2) == Some(&b'-') { 3 } else { 2 };
        let length = ident_length(&rest[skip..]);
        let line_end = match &rest.as_bytes()[skip + length..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => 0,
        };
        if length == 0 || line_end == 0 {
            return false;
        }
        let marker = (self.at + skip, self.at + skip + length);
        self.take(Kind::OpenHeredoc, skip + length + line_end);
        self.modes.push(Mode::Heredoc { marker, fresh: true });
        true
    }

    /// Takes `${`, `%{` or an escaped one (`$${`), or a lone `$` or `%`, as text of the given kind.
    fn dollar(&mut self, text: Kind) {
        let sign = self.byte(0);
        if self.byte(1) == b'{' {
            let kind = if sign == b'$' { Kind::Interpolation } else { Kind::Directive };
            if let Some(Mode::Heredoc { fresh, .. }) = self.modes.last_mut() {
                *fresh = false;
            }
            self.take(kind, if self.byte(2) == b'~' { 3 } else { 2 });
            self.modes.push(Mode::Plain { braces: 0 });
        } else if self.byte(1) == sign && self.byte(2) == b'{' {
            self.take(text, 3);
        } else {
            self.take(text, 1);
        }
    }

    pub(super) fn quoted(&mut self) {
        match self.bytes[self.at] {
            b'"' => {
                self.take(Kind::CloseQuote, 1);
                self.modes.pop();
            }
            b'$' | b'%' => self.dollar(Kind::QuotedText),
            b'\n' | b'\r' => {
                let start = self.at;
                while matches!(self.byte(0), b'\n' | b'\r') && self.at < self.bytes.len() {
                    self.at += 1;
                }
                self.problems.quoted_newline(start, self.at);
                self.push(Kind::Invalid, start);
                self.restart_at_header();
            }
            _ => {
                let start = self.at;
                while let Some(&it) = self.bytes.get(self.at) {
                    match it {
                        b'"' | b'$' | b'%' | b'\n' | b'\r' => break,
                        // The byte after a backslash never ends the text, unless it is a line end.
                        b'\\' if !matches!(self.byte(1), b'\n' | b'\r' | 0) => self.at += 2,
                        _ => self.at += 1,
                    }
                }
                // A backslash may have skipped the first byte of a wide character only.
                while !self.text.is_char_boundary(self.at) {
                    self.at += 1;
                }
                self.push(Kind::QuotedText, start);
            }
        }
    }

    /// Takes text up to a `$`, a `%` or the end of the line; returns whether it ends in a line end.
    fn line(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        let length =
            rest.iter().position(|it| matches!(it, b'$' | b'%' | b'\n')).unwrap_or(rest.len());
        let ended = rest.get(length) == Some(&b'\n');
        self.at += length + usize::from(ended);
        ended
    }

    pub(super) fn heredoc(&mut self) {
        let Some(Mode::Heredoc { marker, fresh }) = self.modes.last() else { return };
        let (marker, fresh) = (*marker, *fresh);
        if matches!(self.byte(0), b'$' | b'%') {
            self.dollar(Kind::BareText);
            if let Some(Mode::Heredoc { fresh, .. }) = self.modes.last_mut() {
                *fresh = false;
            }
            return;
        }
        let start = self.at;
        let ended = self.line();
        if fresh && ended && self.text[start..self.at].trim() == &self.text[marker.0..marker.1] {
            self.at -= if self.text[start..self.at].ends_with("\r\n") { 2 } else { 1 };
            self.push(Kind::CloseHeredoc, start);
            self.modes.pop();
            return;
        }
        if let Some(Mode::Heredoc { fresh, .. }) = self.modes.last_mut() {
            *fresh = ended;
        }
        self.push(Kind::BareText, start);
    }

    pub(super) fn bare(&mut self) {
        if matches!(self.byte(0), b'$' | b'%') {
            return self.dollar(Kind::BareText);
        }
        let start = self.at;
        self.line();
        self.push(Kind::BareText, start);
    }

    /// Ends every open string when the line that begins here is a block header: nothing else begins like that.
    pub(super) fn restart_at_header(&mut self) {
        let in_heredoc =
            self.modes.iter().any(|it| matches!(it, Mode::Heredoc { .. } | Mode::Bare));
        if in_heredoc || !is_block_header(&self.text[self.at..]) {
            return;
        }
        if matches!(self.modes.last(), Some(Mode::Plain { .. })) {
            let open = self
                .tokens
                .iter()
                .rfind(|it| matches!(it.kind, Kind::Interpolation | Kind::Directive));
            let (start, end) =
                open.map_or((self.at, self.at), |it| (it.start as usize, it.end as usize));
            self.problems.unclosed_sequence(start, end);
        }
        self.push(Kind::Restart, self.at);
        self.modes.truncate(1);
        if let Some(Mode::Plain { braces }) = self.modes.last_mut() {
            *braces = 0;
        }
    }
}
