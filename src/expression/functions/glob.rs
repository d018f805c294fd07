//! Finds files by patterns with `*`, `?`, `[…]`, `{a,b}` and `**`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::world::Files;

/// More alternatives than this are refused.
const MOST_ALTERNATIVES: usize = 4096;

/// The largest number of bytes that writing out all alternatives may take.
const MOST_WRITTEN: usize = 1 << 24;

/// The largest number of names that may be compared with the rest of a pattern.
const MOST_STEPS: usize = 1_000_000;

/// Returns the regular files below `folder` that match, as paths relative to it with `/` between the parts.
pub(super) fn files(
    files: &Files,
    folder: &Path,
    pattern: &str,
) -> Result<BTreeSet<String>, Error> {
    within(files, folder, pattern, MOST_STEPS)
}

fn within(
    files: &Files,
    folder: &Path,
    pattern: &str,
    steps: usize,
) -> Result<BTreeSet<String>, Error> {
    check(pattern)?;
    let patterns = alternatives(pattern)?;
    let patterns: BTreeSet<Vec<&str>> = patterns.iter().map(|it| tidy(it)).collect();
    let mut walk = Walk { files, folder, taken: Vec::new(), found: BTreeSet::new(), steps };
    let rests: Vec<Rest<'_>> = patterns.iter().map(Vec::as_slice).collect();
    walk.look(&rests)?;
    Ok(walk.found)
}

fn too_many() -> Error {
    format!(
        "more than {MOST_STEPS} files and folders would have to be looked at; name a folder that has fewer, or a pattern with fewer \"**\""
    )
    .into()
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
    let mut written = 0_usize;
    while let Some(pattern) = open.pop() {
        written = written.saturating_add(pattern.len());
        if done.len() + open.len() > MOST_ALTERNATIVES || written > MOST_WRITTEN {
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

/// A walk through a folder, along all patterns at once: no folder is read twice.
struct Walk<'a> {
    files: &'a Files,
    folder: &'a Path,
    /// The names on the way from the folder to where the walk is.
    taken: Vec<String>,
    found: BTreeSet<String>,
    /// How many more names may be compared with a pattern.
    steps: usize,
}

/// What is left of a pattern, part by part.
type Rest<'p> = &'p [&'p str];

impl Walk<'_> {
    /// Looks at what is in the folder where the walk is.
    fn look(&mut self, rests: &[Rest<'_>]) -> Result<(), Error> {
        let mut open: Vec<Rest<'_>> = rests.to_vec();
        let mut at = 0;
        while let Some(rest) = open.get(at) {
            // `**` also stands for no folder at all.
            if let Some(("**", behind)) = rest.split_first().map(|it| (*it.0, it.1)) {
                open.push(behind);
            }
            at += 1;
        }
        open.sort_unstable();
        open.dedup();
        let mut next: BTreeMap<String, Vec<Rest<'_>>> = BTreeMap::new();
        let is_named = |part: &str| part != "**" && !part.contains(['*', '?', '[', '\\']);
        let mut searched = Vec::new();
        for rest in open {
            match rest.split_first() {
                Some((name, behind)) if is_named(name) => {
                    next.entry((*name).to_owned()).or_default().push(behind);
                }
                Some(_) => searched.push(rest),
                None => {}
            }
        }
        if !searched.is_empty() {
            for (name, is_folder) in self.entries() {
                self.steps = self.steps.checked_sub(searched.len()).ok_or_else(too_many)?;
                let onwards = searched.iter().filter_map(|it| onwards(it, &name, is_folder));
                let onwards: Vec<Rest<'_>> = onwards.collect();
                if !onwards.is_empty() {
                    next.entry(name).or_default().extend(onwards);
                }
            }
        }
        next.into_iter().try_for_each(|(name, rests)| self.enter(name, &rests))
    }

    fn enter(&mut self, name: String, rests: &[Rest<'_>]) -> Result<(), Error> {
        self.taken.push(name);
        if rests.iter().any(|it| it.is_empty()) && self.files.is_file(&self.here()) {
            self.found.insert(self.taken.join("/"));
        }
        let rests: Vec<Rest<'_>> = rests.iter().filter(|it| !it.is_empty()).copied().collect();
        if !rests.is_empty() {
            self.look(&rests)?;
        }
        self.taken.pop();
        Ok(())
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

/// Returns what is left of a pattern behind a name.
fn onwards<'p>(rest: Rest<'p>, name: &str, is_folder: bool) -> Option<Rest<'p>> {
    let (part, behind) = rest.split_first()?;
    match *part {
        "**" if is_folder => Some(rest),
        "**" => behind.is_empty().then_some(behind),
        part => matches(part, name).then_some(behind),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a/b/c.tf", "a/c.tf", "b/x.txt", "top.tf", "a/b/.hidden"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("made");
            std::fs::write(path, "").expect("written");
        }
        std::os::unix::fs::symlink("..", folder.path().join("a/up")).expect("linked");
        std::os::unix::fs::symlink("c.tf", folder.path().join("a/link.tf")).expect("linked");
        folder
    }

    fn found(pattern: &str) -> String {
        let folder = folder();
        let found = files(&Files::default(), folder.path(), pattern).expect("it is a pattern");
        found.into_iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_pattern_is_followed_at_once() {
        let all = "a/b/.hidden a/b/c.tf a/c.tf a/link.tf b/x.txt top.tf";
        for pattern in ["**", "**/**", "**/**/**/*", "{**,**/*,a/**}", "{{{**}}}"] {
            assert_eq!(found(pattern), all, "{pattern}");
        }
        assert_eq!(found("**/*.tf"), "a/b/c.tf a/c.tf a/link.tf top.tf");
        assert_eq!(found("{a,b}/{c,x}.*"), "a/c.tf b/x.txt");
        assert_eq!(found("a/up/top.tf"), "a/up/top.tf");
        assert_eq!(found("a/*/top.tf"), "a/up/top.tf");
        assert_eq!(found("**/b/**/c.tf"), "a/b/c.tf");
        assert_eq!(found("a/b/../c.tf"), "a/c.tf");
        assert_eq!(found("../nothing/*"), "");
        assert_eq!(found(""), "");
    }

    #[test]
    fn a_walk_that_would_not_end_is_an_error() {
        let folder = folder();
        let look = |steps| within(&Files::default(), folder.path(), "**/**/*", steps);
        assert!(look(100).is_ok());
        assert!(look(10).expect_err("there is more").to_string().contains("fewer \"**\""));
    }

    #[test]
    fn braces_that_multiply_are_an_error() {
        for pattern in ["{a,b}".repeat(20), format!("{}{}", "{".repeat(20_000), "}".repeat(20_000))]
        {
            let error = files(&Files::default(), Path::new("/"), &pattern).expect_err("too many");
            assert_eq!(error.to_string(), "the pattern has too many alternatives");
        }
    }
}
