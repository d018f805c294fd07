//! Finds files by patterns with `*`, `?`, `[…]`, `{a,b}` and `**`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::world::Files;

/// More alternatives than this are refused.
const MOST_ALTERNATIVES: usize = 4096;

/// Returns the regular files below `folder` that match, as paths relative to it with `/` between the parts.
pub(super) fn files(
    files: &Files,
    folder: &Path,
    pattern: &str,
) -> Result<BTreeSet<String>, Error> {
    check(pattern)?;
    let mut walk = Walk { files, folder, taken: Vec::new(), found: BTreeSet::new() };
    for pattern in alternatives(pattern)? {
        walk.follow(&tidy(&pattern));
    }
    Ok(walk.found)
}

/// The parts of a pattern without `.` and with `..` taken back where the part before it is plain.
fn tidy(pattern: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    for part in pattern.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|it| *it != "..") => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts
}

fn malformed() -> Error {
    "syntax error in pattern".into()
}

/// Refuses patterns with open brackets or braces, or a backslash at the end.
fn check(pattern: &str) -> Result<(), Error> {
    let mut depth = 0_i32;
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                letters.next().ok_or_else(malformed)?;
            }
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth < 0 {
                    return Err(malformed());
                }
            }
            '[' => {
                let (_, length) = class(letters.as_str()).ok_or_else(malformed)?;
                letters = letters.as_str()[length..].chars();
            }
            _ => {}
        }
    }
    if depth == 0 { Ok(()) } else { Err(malformed()) }
}

/// Writes `{a,b}` out: one pattern for each choice.
fn alternatives(pattern: &str) -> Result<Vec<String>, Error> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(pattern) = open.pop() {
        if done.len() + open.len() > MOST_ALTERNATIVES {
            return Err("the pattern has too many alternatives".into());
        }
        match choices(&pattern) {
            None => done.push(pattern),
            Some((before, choices, after)) => {
                open.extend(choices.into_iter().map(|it| format!("{before}{it}{after}")))
            }
        }
    }
    Ok(done)
}

/// Splits at the first brace: what stands before, the choices, what stands after.
fn choices(pattern: &str) -> Option<(&str, Vec<&str>, &str)> {
    let (mut depth, mut start, mut from) = (0, 0, 0);
    let mut found = Vec::new();
    let bytes = pattern.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'[' => at += class(&pattern[at + 1..]).map_or(0, |it| it.1),
            b'{' => {
                depth += 1;
                if depth == 1 {
                    (start, from) = (at, at + 1);
                }
            }
            b',' if depth == 1 => {
                found.push(&pattern[from..at]);
                from = at + 1;
            }
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    found.push(&pattern[from..at]);
                    return Some((&pattern[..start], found, &pattern[at + 1..]));
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// What a `[…]` accepts.
struct Class {
    negated: bool,
    ranges: Vec<(char, char)>,
}

/// Reads a class after its `[`; returns it with the bytes up to and with `]`.
fn class(text: &str) -> Option<(Class, usize)> {
    let mut class = Class { negated: false, ranges: Vec::new() };
    let mut letters = text.char_indices().peekable();
    if matches!(letters.peek(), Some((_, '!' | '^'))) {
        class.negated = true;
        letters.next();
    }
    let mut first = true;
    loop {
        let (at, letter) = letters.next()?;
        if letter == ']' && !first {
            return Some((class, at + 1));
        }
        first = false;
        if letter == '-' || letter == ']' {
            return None;
        }
        let low = if letter == '\\' { letters.next()?.1 } else { letter };
        let mut high = low;
        if matches!(letters.peek(), Some((_, '-'))) {
            letters.next();
            high = match letters.next()?.1 {
                '\\' => letters.next()?.1,
                '-' | ']' => return None,
                other => other,
            };
        }
        class.ranges.push((low, high));
    }
}

/// A walk through a folder, along the parts of a pattern.
struct Walk<'a> {
    files: &'a Files,
    folder: &'a Path,
    /// The names on the way from the folder to where the walk is.
    taken: Vec<String>,
    found: BTreeSet<String>,
}

impl Walk<'_> {
    fn follow(&mut self, parts: &[&str]) {
        let Some((part, rest)) = parts.split_first() else {
            if !self.taken.is_empty() && self.files.is_file(&self.here()) {
                self.found.insert(self.taken.join("/"));
            }
            return;
        };
        if *part == "**" {
            self.follow(rest);
            for (name, is_folder) in self.entries() {
                if is_folder {
                    self.enter(name, parts);
                } else if rest.is_empty() {
                    self.enter(name, rest);
                }
            }
        } else if !part.contains(['*', '?', '[', '\\']) {
            self.enter((*part).to_owned(), rest);
        } else {
            for (name, _) in self.entries().into_iter().filter(|it| matches(part, &it.0)) {
                self.enter(name, rest);
            }
        }
    }

    fn enter(&mut self, name: String, parts: &[&str]) {
        self.taken.push(name);
        self.follow(parts);
        self.taken.pop();
    }

    fn here(&self) -> PathBuf {
        self.taken.iter().fold(self.folder.to_owned(), |path, it| path.join(it))
    }

    /// Names in the folder, and whether each is a folder itself (a link to one is not: links could go round in circles).
    fn entries(&self) -> Vec<(String, bool)> {
        let entries = self.files.entries(&self.here()).unwrap_or_default();
        let named = entries.into_iter();
        named.filter_map(|it| Some((it.name.into_string().ok()?, it.is_folder))).collect()
    }
}

/// Returns whether a name matches one part of a pattern.
fn matches(pattern: &str, name: &str) -> bool {
    // Where to go on after a `*`: the pattern behind it, and the rest of the name one letter later.
    let mut retry: Option<(&str, &str)> = None;
    let (mut pattern, mut name) = (pattern, name);
    loop {
        let step = match pattern.chars().next() {
            Some('*') => {
                pattern = pattern.trim_start_matches('*');
                retry = Some((pattern, name));
                continue;
            }
            Some(letter) => name.chars().next().and_then(|it| {
                accepts(letter, &pattern[letter.len_utf8()..], it)
                    .map(|rest| (rest, &name[it.len_utf8()..]))
            }),
            None if name.is_empty() => return true,
            None => None,
        };
        (pattern, name) = match (step, retry) {
            (Some(next), _) => next,
            (None, Some((behind, rest))) => {
                let Some(letter) = rest.chars().next() else { return false };
                let rest = &rest[letter.len_utf8()..];
                retry = Some((behind, rest));
                (behind, rest)
            }
            (None, None) => return false,
        };
    }
}

/// Matches one letter; returns the pattern that is left.
fn accepts(first: char, rest: &str, letter: char) -> Option<&str> {
    match first {
        '?' => Some(rest),
        '[' => {
            let (class, length) = class(rest)?;
            let inside = class.ranges.iter().any(|(low, high)| (*low..=*high).contains(&letter));
            (inside != class.negated).then(|| &rest[length..])
        }
        '\\' => rest.strip_prefix(letter),
        other => (other == letter).then_some(rest),
    }
}
