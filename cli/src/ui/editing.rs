//! Lines that people type and edit: history, and words that Tab completes.

use std::path::PathBuf;

use entail::world::terminal::is_hidden;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

/// Finds what a word may become.
pub type Words<'a> = &'a dyn Fn(&str) -> Vec<String>;

/// Reads lines of a terminal.
pub struct Lines<'a> {
    editor: Editor<Completing<'a>, DefaultHistory>,
    history: Option<PathBuf>,
}

impl<'a> Lines<'a> {
    /// Returns a reader of lines; nothing where the terminal cannot be had.
    ///
    /// - `history`: the file that keeps what was typed. Only its owner can read it.
    pub fn begin(words: Words<'a>, history: Option<PathBuf>) -> Option<Lines<'a>> {
        let config =
            Config::builder().completion_type(CompletionType::List).auto_add_history(false);
        let mut editor = Editor::with_config(config.build()).ok()?;
        editor.set_helper(Some(Completing(words)));
        if let Some(file) = &history {
            // There is none before the first conversation.
            let _ = editor.load_history(file);
        }
        Some(Lines { editor, history })
    }

    /// Reads a line; nothing where the conversation ends.
    pub fn next(&mut self, prompt: &str) -> Option<String> {
        let line = match self.editor.readline(prompt) {
            Ok(line) => line,
            Err(ReadlineError::Signal(_)) => String::new(),
            Err(_) => return None,
        };
        if !line.trim().is_empty() {
            // A history that is full or cannot be kept stops nobody.
            let _ = self.editor.add_history_entry(line.as_str());
        }
        Some(line)
    }
}

impl Drop for Lines<'_> {
    fn drop(&mut self) {
        if let Some(file) = &self.history {
            // The folder may be one that cannot be written; then this conversation is not remembered.
            let _ = self.editor.save_history(file);
        }
    }
}

struct Completing<'a>(Words<'a>);

impl Completer for Completing<'_> {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let start = word_start(&line[..position]);
        // A word that cannot be seen as it is would steer the terminal.
        let found = (self.0)(&line[start..position]).into_iter().filter(|it| is_seen(it));
        let found = found.map(|it| Pair { display: it.clone(), replacement: it });
        Ok((start, found.collect()))
    }
}

impl Hinter for Completing<'_> {
    type Hint = String;
}

impl Highlighter for Completing<'_> {}
impl Validator for Completing<'_> {}
impl Helper for Completing<'_> {}

/// Returns whether every character of a word can be seen.
fn is_seen(word: &str) -> bool {
    !word.chars().any(|it| it.is_control() || is_hidden(it))
}

/// Returns where the reference begins that a line ends in, keys in brackets included.
pub fn word_start(line: &str) -> usize {
    let mut depth = 0_u32;
    let mut start = line.len();
    for (at, c) in line.char_indices().rev() {
        match c {
            ']' => depth += 1,
            '[' if depth == 0 => break,
            '[' => depth -= 1,
            _ if depth > 0 => {}
            c if c.is_alphanumeric() || "_-.:".contains(c) => {}
            _ => break,
        }
        start = at;
    }
    start
}

#[cfg(test)]
mod tests {
    use super::{is_seen, word_start};

    #[test]
    fn words_that_steer_the_terminal_are_not_offered() {
        assert!(is_seen("a.b[\"é k\"]"));
        for word in ["a\u{1b}[2J", "a\nb", "a\u{9b}", "\u{202e}a", "a\u{200b}"] {
            assert!(!is_seen(word), "{word:?}");
        }
    }

    #[test]
    fn a_word_is_a_reference_with_its_keys() {
        let word = |line: &'static str| &line[word_start(line)..];
        assert_eq!(word("upper(aws_a.b.na"), "aws_a.b.na");
        assert_eq!(word("1 + a.b[\"x y\"].c"), "a.b[\"x y\"].c");
        assert_eq!(word("[var.x"), "var.x");
        assert_eq!(word(":ty"), ":ty");
        assert_eq!(word("a "), "");
    }
}
