//! The scripts for shells, and the answers as each of them takes them.

use super::Candidate;

/// Where `readline` begins a word anew, besides blanks.
const BREAKS: [char; 2] = ['=', ':'];

/// Returns the script for a shell, if there is one that asks this program.
pub fn script(shell: &str) -> Option<&'static str> {
    match shell {
        "bash" => Some(include_str!("entail.bash")),
        "zsh" => Some(include_str!("entail.zsh")),
        "fish" => Some(include_str!("entail.fish")),
        _ => None,
    }
}

/// One a line: `.` for a whole word or `>` for a part of one, the word, a tab, what it is.
pub fn lines(found: &[Candidate]) -> String {
    let line = |it: &Candidate| {
        let mark = if it.goes_on { '>' } else { '.' };
        format!("{mark}{}\t{}\n", it.word, it.about.lines().next().unwrap_or_default())
    };
    found.iter().map(line).collect()
}

/// As [`lines`], without what `readline` takes for words of their own, and quoted as the place needs it: a shell inserts what it is given.
pub fn for_bash(found: &[Candidate], last: &str, line: &str) -> String {
    let open = open_quote(line);
    if open.is_some_and(|it| it.is_ansi) {
        // Every backslash means something there; nothing is better than something else.
        return String::new();
    }
    let kept = match open {
        // The word begins anew behind the quote.
        Some(quote) => quote.before.min(last.len()),
        None => last.rfind(BREAKS).map_or(0, |it| it + 1),
    };
    let line = |it: &Candidate| {
        let mark = if it.goes_on { '>' } else { '.' };
        let word = it.word.get(kept..).unwrap_or_default();
        let word = match open.map(|it| it.sign) {
            Some('\'') => within_single(word),
            Some(_) => within_double(word),
            None => escaped(word),
        };
        format!("{mark}{word}\n")
    };
    found.iter().map(line).collect()
}

/// Writes a word where no quote is open.
fn escaped(word: &str) -> String {
    let mut out = String::new();
    for c in word.chars() {
        if !c.is_alphanumeric() && !"-_./:=@,+%^".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Writes a word for between single quotes, where everything stands for itself but the quote.
fn within_single(word: &str) -> String {
    word.replace('\'', "'\\''")
}

/// Writes a word for between double quotes. An exclamation mark would recall a line that was typed before, even behind a backslash, so
/// that it stands outside of them.
fn within_double(word: &str) -> String {
    let mut out = String::new();
    for c in word.chars() {
        match c {
            '!' => out.push_str("\"\\!\""),
            '"' | '$' | '`' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// A quote that is still open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OpenQuote {
    sign: char,
    /// How many bytes the word has before it.
    before: usize,
    /// It is `$'`.
    is_ansi: bool,
}

fn open_quote(line: &str) -> Option<OpenQuote> {
    let mut quote: Option<OpenQuote> = None;
    let mut word = 0;
    let mut previous = ' ';
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote.map(|it| it.sign), c) {
            (Some(open), c) if open == c => quote = None,
            (None, '\'' | '"') => {
                let is_ansi = c == '\'' && previous == '$';
                quote = Some(OpenQuote { sign: c, before: word, is_ansi });
            }
            (None | Some('"'), '\\') => word += chars.next().map_or(0, char::len_utf8),
            (None, ' ' | '\t') => word = 0,
            (_, c) => word += c.len_utf8(),
        }
        previous = c;
    }
    quote
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(words: &[&str], last: &str, line: &str) -> String {
        let found: Vec<Candidate> = words.iter().map(|it| Candidate::of(*it)).collect();
        for_bash(&found, last, line)
    }

    const KEY: &str = "a.b[\"$(x) `y` \\ ! '\"]";

    #[test]
    fn a_word_is_quoted_as_its_place_needs_it() {
        assert_eq!(
            told(&[KEY], "a", "entail show a"),
            ".a.b\\[\\\"\\$\\(x\\)\\ \\`y\\`\\ \\\\\\ \\!\\ \\'\\\"\\]\n"
        );
        assert_eq!(
            told(&[KEY], "a", "entail show \"a"),
            ".a.b[\\\"\\$(x) \\`y\\` \\\\ \"\\!\" '\\\"]\n"
        );
        assert_eq!(told(&[KEY], "a", "entail show 'a"), ".a.b[\"$(x) `y` \\ ! '\\''\"]\n");
        assert_eq!(told(&[KEY], "a", "entail show $'a"), "");
        assert_eq!(told(&["~root"], "", "entail show "), ".\\~root\n");
    }

    #[test]
    fn a_word_goes_on_where_its_quote_begins() {
        let words = ["-replace=a.b"];
        assert_eq!(told(&words, "-replace=a", "entail plan -replace=\"a"), ".a.b\n");
        assert_eq!(told(&words, "-replace=a", "entail plan \"-replace=a"), ".-replace=a.b\n");
        assert_eq!(told(&words, "-replace=a", "entail plan -replace=a"), ".a.b\n");
        assert_eq!(told(&words, "-replace=a", "entail plan '-rep'lace=\"a"), ".a.b\n");
    }
}
