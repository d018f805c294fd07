//! What no valid file contains, collected while scanning: a repeated mistake is told once or twice, not every time.

use super::error;
use crate::diagnostic::{Diagnostics, Span};

/// What no valid file contains, collected while scanning. Repetitions are told a few times at most.
#[derive(Default)]
pub(in crate::syntax) struct Lexical {
    found: Vec<(usize, usize, &'static str, String)>,
    bitwise: usize,
    backticks: usize,
    apostrophes: usize,
    semicolons: usize,
    others: usize,
}

impl Lexical {
    /// A character that is not part of the language.
    pub fn invalid(&mut self, c: char, at: usize) {
        let detail = match c {
            '&' | '|' | '^' | '~' => return self.bitwise(c, at),
            '`' => {
                self.backticks += 1;
                (self.backticks == 1).then_some(
                    "The \"`\" character is not valid. For a string of several lines use the \"heredoc\" syntax, like \"<<EOT\".",
                )
            }
            '\'' => {
                self.apostrophes += 1;
                (matches!(self.apostrophes, 1 | 3)).then_some(
                    "Single quotes are not valid. Use double quotes (\") to enclose strings.",
                )
            }
            ';' => {
                self.semicolons += 1;
                (self.semicolons == 1).then_some(
                    "The \";\" character is not valid. Arguments and blocks are separated by newlines, items of a collection by commas.",
                )
            }
            '\u{201c}' | '\u{201d}' => Some(
                "\"Curly quotes\" are not valid here. They come in when code is copied from a document or a message: replace them with \"straight quotes\".",
            ),
            _ => {
                self.others += 1;
                (self.others <= 10).then_some("This character is not used within the language.")
            }
        };
        if let Some(detail) = detail {
            self.found.push((at, at + c.len_utf8(), "Invalid character", detail.into()));
        }
    }

    fn bitwise(&mut self, c: char, at: usize) {
        self.bitwise += 1;
        if self.bitwise > 4 {
            return;
        }
        let hint = match c {
            '&' => " Did you mean boolean AND (\"&&\")?",
            '|' => " Did you mean boolean OR (\"||\")?",
            '~' => " Did you mean boolean NOT (\"!\")?",
            _ => "",
        };
        let detail = format!("Bitwise operators are not supported.{hint}");
        self.found.push((at, at + 1, "Unsupported operator", detail));
    }

    /// A line end between quotes.
    pub fn quoted_newline(&mut self, start: usize, end: usize) {
        let detail = "A quoted string may not go on over several lines. Write \\n for a line end, or use the \"heredoc\" syntax for a \
                      string of several lines.";
        self.found.push((start, end, "Invalid multi-line string", detail.into()));
    }

    /// A `${` or `%{` still open where the next block begins.
    pub fn unclosed_sequence(&mut self, start: usize, end: usize) {
        let detail = "There is no closing brace for this template sequence before the next block.";
        self.found.push((start, end, "Unclosed template interpolation sequence", detail.into()));
    }

    /// Reports what was found.
    pub fn report(self, place: &dyn Fn(usize, usize) -> Span, diags: &mut Diagnostics) {
        for (start, end, summary, detail) in self.found {
            diags.push(error(place(start, end), summary, &detail));
        }
    }
}
