//! Colours, wrapping and rules: how a piece of text looks, whatever it says.

use std::borrow::Cow;

use entail::world::terminal::seal;
pub use entail::world::terminal::visible as harmless;

/// Whether text is coloured, and how wide it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether escape sequences are written.
    pub colour: bool,
    /// The width of the terminal in columns; 78 where there is none.
    pub width: usize,
    /// Whether problems stand in frames even without colour.
    pub framed: bool,
    /// Whether an empty line follows each problem, as where questions and answers take turns.
    pub spaced: bool,
}

impl Default for Style {
    fn default() -> Style {
        Style { colour: false, width: Style::DEFAULT_WIDTH, framed: false, spaced: false }
    }
}

/// A colour or weight, as the terminal's number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Paint {
    Bold,
    Underline,
    Red,
    Green,
    Yellow,
    Cyan,
    DarkGrey,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Paint::Bold => "1",
            Paint::Underline => "4",
            Paint::Red => "31",
            Paint::Green => "32",
            Paint::Yellow => "33",
            Paint::Cyan => "36",
            Paint::DarkGrey => "90",
        }
    }
}

impl Style {
    /// The width assumed where nothing is known of the terminal.
    pub const DEFAULT_WIDTH: usize = 78;

    /// Returns the text painted, or as it is where colours are off.
    pub fn paint<'a>(&self, paint: &[Paint], text: &'a str) -> Cow<'a, str> {
        if !self.colour {
            return Cow::Borrowed(text);
        }
        let codes: Vec<_> = paint.iter().map(|it| it.code()).collect();
        // The terminal's door makes escape sequences of these, and of nothing else.
        let seal = seal();
        Cow::Owned(format!("{seal}[{}m{text}{seal}[0m", codes.join(";")))
    }

    /// Returns the text in bold.
    pub fn bold<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.paint(&[Paint::Bold], text)
    }

    /// Returns text wrapped to the terminal. Lines that begin with a space stay whole.
    pub fn wrap(&self, text: &str) -> String {
        wrap(text, self.width.saturating_sub(1))
    }

    /// Returns a line across the terminal, with a newline before and none after it.
    pub fn rule(&self) -> String {
        let line = "─".repeat(self.width.saturating_sub(1));
        format!("\n{}", self.paint(&[Paint::DarkGrey], &line))
    }
}

/// Breaks lines at spaces so that they have at most `limit` characters. Longer words stay whole, and so do lines that
/// begin with a space.
pub fn wrap(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 40);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if limit == 0 || line.starts_with(' ') {
            out.push_str(line)
        } else {
            wrap_line(&mut out, line, limit)
        }
    }
    out
}

fn wrap_line(out: &mut String, line: &str, limit: usize) {
    let mut column = 0;
    let mut rest = line;
    while !rest.is_empty() {
        let word_start = rest.find(|it: char| !is_breakable(it)).unwrap_or(rest.len());
        let (spaces, tail) = rest.split_at(word_start);
        let word_end = tail.find(is_breakable).unwrap_or(tail.len());
        let (word, tail) = tail.split_at(word_end);
        let (gap, length) = (spaces.chars().count(), word.chars().count());
        let fits = column + gap + length <= limit;
        if word.is_empty() {
            if fits {
                out.push_str(spaces);
            }
        } else if fits || column == 0 {
            out.push_str(spaces);
            out.push_str(word);
            column += gap + length;
        } else {
            out.push('\n');
            out.push_str(word);
            column = length;
        }
        rest = tail;
    }
}

fn is_breakable(c: char) -> bool {
    c.is_whitespace() && c != '\u{a0}'
}

/// Returns a duration as `10s`, `1m10s` or `1h0m0s`, rounded to seconds.
pub fn duration(elapsed: std::time::Duration) -> String {
    let seconds = elapsed.as_secs() + u64::from(elapsed.subsec_millis() >= 500);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn text_is_wrapped_at_spaces_and_indented_lines_are_kept() {
        assert_eq!(wrap("one two three", 7), "one two\nthree");
        assert_eq!(wrap("one two three", 8), "one two\nthree");
        assert_eq!(wrap("abcdefghij k", 4), "abcdefghij\nk");
        assert_eq!(wrap("a abcdefghij", 4), "a\nabcdefghij");
        assert_eq!(wrap("  one two three\nfour five", 5), "  one two three\nfour\nfive");
        assert_eq!(wrap("", 5), "");
        assert_eq!(wrap("ä ä ä", 3), "ä ä\nä");
    }

    #[test]
    fn durations_are_whole_seconds() {
        assert_eq!(duration(Duration::from_millis(400)), "0s");
        assert_eq!(duration(Duration::from_millis(9600)), "10s");
        assert_eq!(duration(Duration::from_secs(70)), "1m10s");
        assert_eq!(duration(Duration::from_secs(3600)), "1h0m0s");
    }
}
