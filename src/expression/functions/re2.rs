//! Translates regular expressions in RE2's syntax to what the regex crate reads, and refuses what RE2 refuses.
//!
//! The languages differ in what `\d` and `\b` mean (ASCII here), in literal `{` and `[`, in escapes, and in repetition of
//! repetitions.

use std::fmt;

use regex::Regex;

mod counts;
mod kept;

use counts::counted;
pub(super) use kept::compile;

/// RE2 repeats nothing more often.
const MOST_REPEATS: u32 = 1000;

/// A compiled pattern.
pub(super) struct Pattern {
    /// What matches.
    pub regex: Regex,
    /// The names of the groups, as written; the crate does not take all of them.
    pub groups: Vec<Option<String>>,
}

/// What is wrong with a pattern.
#[derive(Debug)]
pub(super) struct Mistake {
    /// RE2's short name of it.
    pub what: String,
    /// The part of the pattern, where it is known.
    pub place: Option<String>,
}

impl Mistake {
    fn new(what: &str, place: &str) -> Mistake {
        Mistake { what: what.to_owned(), place: Some(place.to_owned()) }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{} in {place}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// Compiles a pattern.
fn compile_anew(pattern: &str) -> Result<Pattern, Mistake> {
    let (translated, groups) = Translator::new(pattern).translate()?;
    let regex = Regex::new(&translated).map_err(|error| {
        let text = error.to_string();
        // The last line of a syntax error says what it is; those before show the place.
        let last = text.lines().last().unwrap_or_default();
        let what = last.strip_prefix("error: ").unwrap_or(last).to_owned();
        Mistake { what, place: None }
    })?;
    Ok(Pattern { regex, groups })
}

struct Translator<'p> {
    pattern: &'p str,
    rest: &'p str,
    out: String,
    /// Where open groups begin.
    groups: Vec<usize>,
    /// The names of the groups that capture.
    names: Vec<Option<String>>,
    /// Where the last repetition begins, while another directly after it would repeat a repetition.
    repeated: Option<usize>,
    /// Whether there is something to repeat.
    repeatable: bool,
}

impl<'p> Translator<'p> {
    fn new(pattern: &'p str) -> Translator<'p> {
        Translator {
            pattern,
            rest: pattern,
            out: String::new(),
            groups: Vec::new(),
            names: Vec::new(),
            repeated: None,
            repeatable: false,
        }
    }

    fn at(&self) -> usize {
        self.pattern.len() - self.rest.len()
    }

    fn take(&mut self, bytes: usize) -> &'p str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    /// Writes what can be repeated.
    fn atom(&mut self, text: &str) {
        self.out.push_str(text);
        self.repeatable = true;
        self.repeated = None;
    }

    fn translate(mut self) -> Result<(String, Vec<Option<String>>), Mistake> {
        while let Some(letter) = self.rest.chars().next() {
            match letter {
                '(' => self.open()?,
                ')' => {
                    if self.groups.pop().is_none() {
                        return Err(Mistake::new("unexpected )", self.pattern));
                    }
                    self.take(1);
                    self.atom(")");
                }
                '|' => {
                    self.take(1);
                    self.out.push('|');
                    (self.repeatable, self.repeated) = (false, None);
                }
                '*' | '+' | '?' => self.repeat(1)?,
                '{' => match counted(self.rest) {
                    Some((length, low, high)) => {
                        if low > MOST_REPEATS
                            || high.is_some_and(|high| high > MOST_REPEATS || high < low)
                        {
                            return Err(Mistake::new("invalid repeat count", &self.rest[..length]));
                        }
                        self.repeat(length)?;
                    }
                    None => {
                        self.take(1);
                        self.atom(r"\{");
                    }
                },
                '}' => {
                    self.take(1);
                    self.atom(r"\}");
                }
                ']' => {
                    self.take(1);
                    self.atom(r"\]");
                }
                '[' => self.class()?,
                '\\' => self.escape()?,
                other => {
                    let text = self.take(other.len_utf8());
                    self.atom(text);
                }
            }
        }
        match self.groups.is_empty() {
            true => Ok((self.out, self.names)),
            false => Err(Mistake::new("missing closing )", self.pattern)),
        }
    }

    /// `(`, with names and flags.
    fn open(&mut self) -> Result<(), Mistake> {
        self.groups.push(self.at());
        (self.repeatable, self.repeated) = (false, None);
        if !self.rest.starts_with("(?") {
            self.take(1);
            self.out.push('(');
            self.names.push(None);
            return Ok(());
        }
        if self.rest.starts_with("(?P<") || self.rest.starts_with("(?<") {
            let wrong = |end: usize| Mistake::new("invalid named capture", &self.rest[..end]);
            let Some(end) = self.rest.find('>') else { return Err(wrong(self.rest.len())) };
            let start = if self.rest.starts_with("(?P<") { 4 } else { 3 };
            let name = &self.rest[start..end];
            if matches!(&self.rest[3..start.max(4)], "=" | "!") {
                return Err(Mistake::new("invalid or unsupported Perl syntax", &self.rest[..4]));
            }
            if name.is_empty() || !name.chars().all(|it| it == '_' || it.is_ascii_alphanumeric()) {
                return Err(wrong(end + 1));
            }
            if self.names.iter().flatten().any(|it| it == name) {
                return Err(Mistake::new("duplicate capture group name", name));
            }
            self.names.push(Some(name.to_owned()));
            self.take(end + 1);
            // A name may begin with a digit here; the crate wants a letter.
            let named = !name.starts_with(|it: char| it.is_ascii_digit());
            self.out.push_str(&if named { format!("(?P<{name}>") } else { "(".to_owned() });
            return Ok(());
        }
        let length = self.rest[2..].find([':', ')']).map_or(self.rest.len(), |it| it + 3);
        let text = &self.rest[..length];
        let flags = text[2..].trim_end_matches([':', ')']);
        let valid = text.ends_with([':', ')'])
            && flags.chars().all(|it| "imsU-".contains(it))
            && flags.matches('-').count() <= 1
            && !flags.ends_with('-');
        if !valid || (flags.is_empty() && text.ends_with(')')) {
            let shown =
                &self.rest[..self.rest.char_indices().nth(3).map_or(self.rest.len(), |it| it.0)];
            return Err(Mistake::new("invalid or unsupported Perl syntax", shown));
        }
        let text = self.take(length);
        self.out.push_str(text);
        if text.ends_with(')') {
            self.groups.pop();
        }
        Ok(())
    }

    /// A repetition of `length` bytes, with the `?` that makes it lazy.
    fn repeat(&mut self, length: usize) -> Result<(), Mistake> {
        let start = self.at();
        if let Some(before) = self.repeated {
            return Err(Mistake::new(
                "invalid nested repetition operator",
                &self.pattern[before..start + length],
            ));
        }
        if !self.repeatable {
            return Err(Mistake::new(
                "missing argument to repetition operator",
                &self.rest[..length],
            ));
        }
        let text = self.take(length);
        self.out.push_str(text);
        if self.rest.starts_with('?') {
            self.take(1);
            self.out.push('?');
        }
        self.repeated = Some(start);
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Mistake> {
        if let Some(quoted) = self.rest.strip_prefix("\\Q") {
            let end = quoted.find("\\E").unwrap_or(quoted.len());
            for letter in quoted[..end].chars() {
                self.atom(&regex::escape(&letter.to_string()));
            }
            self.rest = quoted[end..].strip_prefix("\\E").unwrap_or(&quoted[end..]);
            return Ok(());
        }
        match self.rest[1..].chars().next() {
            Some('b') => {
                self.take(2);
                self.atom(r"(?-u:\b)");
            }
            Some(letter @ ('A' | 'B' | 'z')) => {
                self.take(2);
                self.atom(&format!("\\{letter}"));
            }
            Some('C') => return Err(Mistake::new("invalid escape sequence", "\\C")),
            Some('p' | 'P') => {
                let text = self.property()?;
                self.atom(&text);
            }
            Some('d') => self.simple(2, "[0-9]"),
            Some('D') => self.simple(2, "[^0-9]"),
            Some('w') => self.simple(2, "[0-9A-Za-z_]"),
            Some('W') => self.simple(2, "[^0-9A-Za-z_]"),
            Some('s') => self.simple(2, r"[\t\n\f\r ]"),
            Some('S') => self.simple(2, r"[^\t\n\f\r ]"),
            _ => {
                let letter = self.escaped_letter()?;
                self.atom(&letter);
            }
        }
        Ok(())
    }

    fn simple(&mut self, length: usize, text: &str) {
        self.take(length);
        self.atom(text);
    }

    /// `\pL`, `\p{Greek}`, `\p{^Greek}`
    fn property(&mut self) -> Result<String, Mistake> {
        let wrong = |text: &str| Mistake::new("invalid character class range", text);
        let Some(first) = self.rest[2..].chars().next() else { return Err(wrong(self.rest)) };
        let length = match first {
            '{' => match self.rest.find('}') {
                Some(end) => end + 1,
                None => return Err(wrong(self.rest)),
            },
            other => 2 + other.len_utf8(),
        };
        let text = self.take(length);
        let negated = text.starts_with("\\P") != text.contains("{^");
        let name = text[2..].trim_start_matches(['{', '^']).trim_end_matches('}');
        let name = if name == "Any" { "any" } else { name };
        let translated = format!("\\{}{{{name}}}", if negated { 'P' } else { 'p' });
        // RE2 knows general categories and scripts by their own names only.
        let known = name == "any"
            || (name.chars().next().is_some_and(char::is_uppercase)
                && Regex::new(&translated).is_ok());
        if known { Ok(translated) } else { Err(wrong(text)) }
    }

    /// An escape that stands for one letter, in a class or outside.
    fn escaped_letter(&mut self) -> Result<String, Mistake> {
        let wrong = |text: &str| Err(Mistake::new("invalid escape sequence", text));
        let Some(letter) = self.rest[1..].chars().next() else {
            return Err(Mistake::new("trailing backslash at end of expression", ""));
        };
        let length = 1 + letter.len_utf8();
        let hex = |code: u32| char::from_u32(code).map(|it| format!("\\x{{{:X}}}", it as u32));
        let digits = |from: usize, most: usize, radix: u32| {
            self.rest[from..].chars().take(most).take_while(|it| it.is_digit(radix)).count()
        };
        match letter {
            '1'..='7' if digits(1, 3, 8) < 2 => wrong(&self.rest[..2]),
            '0'..='7' => {
                let count = digits(1, 3, 8);
                let code = u32::from_str_radix(&self.rest[1..1 + count], 8).unwrap_or(0);
                self.take(1 + count);
                hex(code).ok_or_else(|| Mistake::new("invalid escape sequence", "\\0"))
            }
            'x' => {
                let (code, used) = match self.rest[2..].strip_prefix('{') {
                    Some(inner) => match inner.find('}') {
                        Some(end) => (u32::from_str_radix(&inner[..end], 16).ok(), end + 4),
                        None => (None, self.rest.len()),
                    },
                    None if digits(2, 2, 16) == 2 => {
                        (u32::from_str_radix(&self.rest[2..4], 16).ok(), 4)
                    }
                    None => (None, (2 + digits(2, 2, 16) + 1).min(self.rest.len())),
                };
                let text = self.rest.get(..used).unwrap_or(self.rest);
                let Some(translated) = code.and_then(hex) else { return wrong(text) };
                self.take(used);
                Ok(translated)
            }
            'a' | 'f' | 't' | 'n' | 'r' | 'v' => Ok(self.take(2).to_owned()),
            other if other.is_ascii_punctuation() => {
                self.take(2);
                Ok(format!("\\x{{{:X}}}", other as u32))
            }
            ' ' => {
                self.take(2);
                Ok(" ".to_owned())
            }
            _ => wrong(&self.rest[..length]),
        }
    }

    /// `[…]`
    fn class(&mut self) -> Result<(), Mistake> {
        let whole = self.rest;
        let mut class = String::from("[");
        self.take(1);
        if self.rest.starts_with('^') {
            self.take(1);
            class.push('^');
        }
        let mut first = true;
        loop {
            if self.rest.is_empty() {
                return Err(Mistake::new("missing closing ]", whole));
            }
            if self.rest.starts_with(']') && !first {
                self.take(1);
                break;
            }
            first = false;
            if let Some(set) = self.class_set()? {
                class.push_str(&set);
                continue;
            }
            let start = self.rest;
            let low = self.class_letter()?;
            if self.rest.starts_with('-') && self.rest.len() > 1 && !self.rest[1..].starts_with(']')
            {
                self.take(1);
                let high = self.class_letter()?;
                if letter_of(&high) < letter_of(&low) {
                    let used = start.len() - self.rest.len();
                    return Err(Mistake::new("invalid character class range", &start[..used]));
                }
                class.push_str(&format!("{low}-{high}"));
            } else {
                class.push_str(&low);
            }
        }
        class.push(']');
        self.atom(&class);
        Ok(())
    }

    /// A named set in a class: `[:alpha:]`, `\d`, `\pL`.
    fn class_set(&mut self) -> Result<Option<String>, Mistake> {
        if let Some(inner) = self.rest.strip_prefix("[:") {
            let Some(length) = inner.find(":]") else { return Ok(None) };
            const NAMES: [&str; 14] = [
                "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print",
                "punct", "space", "upper", "word", "xdigit",
            ];
            let (name, text) = (&inner[..length], &self.rest[..length + 4]);
            if !NAMES.contains(&name.strip_prefix('^').unwrap_or(name)) {
                return Err(Mistake::new("invalid character class range", text));
            }
            self.take(text.len());
            return Ok(Some(text.to_owned()));
        }
        let set = match self.rest.get(..2) {
            Some("\\d") => "0-9",
            Some("\\D") => "[^0-9]",
            Some("\\w") => "0-9A-Za-z_",
            Some("\\W") => "[^0-9A-Za-z_]",
            Some("\\s") => r"\t\n\f\r ",
            Some("\\S") => r"[^\t\n\f\r ]",
            Some("\\p" | "\\P") => return self.property().map(Some),
            _ => return Ok(None),
        };
        self.take(2);
        Ok(Some(set.to_owned()))
    }

    /// One letter of a class, escaped so that it means only itself.
    fn class_letter(&mut self) -> Result<String, Mistake> {
        match self.rest.chars().next() {
            Some('\\') => self.escaped_letter(),
            Some(letter) => {
                self.take(letter.len_utf8());
                Ok(format!("\\x{{{:X}}}", letter as u32))
            }
            None => Err(Mistake::new("missing closing ]", self.pattern)),
        }
    }
}

/// The letter that [`Translator::escaped_letter`] wrote.
fn letter_of(text: &str) -> u32 {
    match text.strip_prefix("\\x{").and_then(|it| it.strip_suffix('}')) {
        Some(code) => u32::from_str_radix(code, 16).unwrap_or(0),
        None => match text {
            "\\a" => 7,
            "\\f" => 12,
            "\\t" => 9,
            "\\n" => 10,
            "\\r" => 13,
            "\\v" => 11,
            other => other.chars().next().map_or(0, |it| it as u32),
        },
    }
}
