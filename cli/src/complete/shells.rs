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

/// As [`lines`], without what `readline` takes for words of their own, and quoted where no quote is open.
pub fn for_bash(found: &[Candidate], last: &str, line: &str) -> String {
    let is_quoted = has_open_quote(line);
    let kept = match is_quoted {
        true => 0,
        false => last.rfind(BREAKS).map_or(0, |it| it + 1),
    };
    let line = |it: &Candidate| {
        let mark = if it.goes_on { '>' } else { '.' };
        let word = &it.word[kept..];
        let word = if is_quoted { word.to_owned() } else { escaped(word) };
        format!("{mark}{word}\n")
    };
    found.iter().map(line).collect()
}

fn escaped(word: &str) -> String {
    let mut out = String::new();
    for c in word.chars() {
        if !c.is_alphanumeric() && !"-_./:=@,+%^~".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn has_open_quote(line: &str) -> bool {
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None | Some('"'), '\\') => drop(chars.next()),
            _ => {}
        }
    }
    quote.is_some()
}
