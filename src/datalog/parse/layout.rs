//! The usual form of rules: one rule in a line where it fits, else one premise in a line; comments stay where they are.

use super::token::{Kind, Token};
use super::{Dialect, Parser, parse_as};
use crate::diagnostic::{Diagnostics, FileId};
use crate::syntax;

/// How long a line may be.
const WIDTH: usize = 120;

/// Brings the rules of policies into their usual form.
///
/// # Errors
///
/// If they cannot be read.
pub fn format(file: FileId, text: &str) -> Result<String, Diagnostics> {
    let (_, problems) = parse_as(Dialect::Policies, file, text);
    if problems.has_errors() {
        return Err(problems);
    }
    let mut printer =
        Printer { parser: parser(file, text, 0, text.len()), file, out: String::new() };
    printer.file();
    Ok(printer.out)
}

fn parser(file: FileId, text: &str, at: usize, end: usize) -> Parser<'_> {
    let dialect = Dialect::Policies;
    let mut parser = Parser {
        dialect,
        file,
        text,
        end,
        at,
        token: Token::END,
        behind: at,
        problems: Diagnostics::new(),
    };
    parser.advance();
    parser
}

struct Printer<'a> {
    parser: Parser<'a>,
    file: FileId,
    out: String,
}

/// One part of a rule, with the comments around it.
#[derive(Default)]
struct Piece {
    /// Comments in lines of their own above it.
    above: Vec<String>,
    text: String,
    /// Comments behind it.
    behind: Vec<String>,
}

impl Piece {
    fn is_plain(&self) -> bool {
        self.above.is_empty() && self.behind.is_empty() && !self.text.contains('\n')
    }
}

impl<'a> Printer<'a> {
    fn file(&mut self) {
        let mut end = 0;
        loop {
            self.between(end);
            if self.parser.token.kind == Kind::End {
                break;
            }
            end = match self.parser.slice() {
                "relation" | "pub" | "struct" => self.declaration(),
                _ => self.rule(),
            };
        }
        let length = self.out.trim_end().len();
        self.out.truncate(length);
        if length > 0 {
            self.out.push('\n');
        }
    }

    /// Prints the comments between two items, and no more than one blank line in a row.
    fn between(&mut self, from: usize) {
        let gap = &self.parser.text[from..self.parser.token.start];
        for (at, line) in gap.split('\n').enumerate() {
            let line = line.trim();
            match (at, line.is_empty()) {
                // What stands behind an item stays behind it.
                (0, false) if from > 0 => self.out.push_str(&format!(" {line}\n")),
                (0, true) if from > 0 => self.out.push('\n'),
                (_, false) => self.out.push_str(&format!("{line}\n")),
                (_, true) => {
                    let is_last = at + 1 == gap.split('\n').count();
                    if !is_last && !self.out.is_empty() && !self.out.ends_with("\n\n") {
                        self.out.push('\n');
                    }
                }
            }
        }
    }

    fn declaration(&mut self) -> usize {
        let start = self.parser.token.start;
        while !self.parser.is_sign(";") && self.parser.token.kind != Kind::End {
            self.parser.advance();
        }
        let (text, end) = (self.parser.text, self.parser.token.end);
        let pieces = self.piece(start, self.parser.token.start);
        self.out.push_str(&pieces.text);
        self.out.push(';');
        for comment in pieces.above.iter().chain(&pieces.behind) {
            self.out.push_str(&format!(" {comment}"));
        }
        debug_assert!(text.is_char_boundary(end));
        self.parser.advance();
        end
    }

    /// Prints a rule, and returns where it ends.
    fn rule(&mut self) -> usize {
        let (mut heads, mut body) = (Vec::new(), Vec::new());
        let mut start = self.parser.token.start;
        let mut is_body = false;
        loop {
            let read = match is_body {
                false => self.parser.head().map(|_| ()),
                true => self.parser.literal(&mut Vec::new()),
            };
            let stop = self.parser.token.start;
            let mut piece = self.piece(start, stop);
            let (sign, end) = (self.parser.slice().to_owned(), self.parser.token.end);
            self.parser.advance();
            let is_end = read.is_none() || sign == ";" || self.parser.token.kind == Kind::End;
            start = match is_end {
                true => end,
                false => self.behind(end, &mut piece),
            };
            if is_body {
                body.push(piece)
            } else {
                heads.push(piece)
            }
            is_body |= sign == "<--";
            if is_end {
                // Comments before the semicolon go behind it, and do not spread the rule over lines.
                let last = body.last_mut().or(heads.last_mut());
                let behind = last.map(|it| std::mem::take(&mut it.behind)).unwrap_or_default();
                self.print(&heads, &body);
                behind.iter().for_each(|it| self.out.push_str(&format!(" {it}")));
                return end;
            }
        }
    }

    /// Takes the comments that stand behind a separator in the same line, and returns where they end.
    fn behind(&self, from: usize, piece: &mut Piece) -> usize {
        let line = self.parser.text[from..].split('\n').next().unwrap_or_default();
        if line.trim_start().starts_with("//") {
            piece.behind.push(line.trim().to_owned());
            return from + line.len();
        }
        from
    }

    /// Returns what stands in a range as a part of a rule.
    fn piece(&self, from: usize, to: usize) -> Piece {
        let mut piece = Piece::default();
        let mut from = from;
        loop {
            let rest = &self.parser.text[from..to];
            let start = from + (rest.len() - rest.trim_start().len());
            if !self.parser.text[start..to].starts_with("//") {
                from = start;
                break;
            }
            let line = self.parser.text[start..to].split('\n').next().unwrap_or_default();
            piece.above.push(line.trim_end().to_owned());
            from = start + line.len();
        }
        let parser = parser(self.file, self.parser.text, from, to);
        if parser.is_word("if") {
            let (formula, behind) = split_comments(&self.parser.text[parser.token.end..to]);
            piece.text = format!("if {}", self.formula(formula));
            piece.behind = behind;
        } else if parser.is_word("let") {
            let text = &self.parser.text[parser.token.end..to];
            let (name, formula) = text.split_once('=').unwrap_or((text, ""));
            let (formula, behind) = split_comments(formula);
            piece.text = format!("let {} = {}", name.trim(), self.formula(formula));
            piece.behind = behind;
        } else {
            let (text, comments) = joined(parser);
            piece.text = text;
            piece.behind = comments;
        }
        piece
    }

    /// An expression of the configuration language in its usual form; as it is where it needs its lines.
    fn formula(&self, text: &str) -> String {
        let text = text.trim();
        let has_comment = ["//", "#", "/*", "<<"].iter().any(|it| text.contains(it));
        let line = match (text.contains('\n'), has_comment) {
            (true, true) => return text.to_owned(),
            (true, false) => text.lines().map(str::trim).collect::<Vec<_>>().join(" "),
            (false, _) => text.to_owned(),
        };
        let is_read = syntax::parse_expression(self.file, &line, 0).is_ok();
        let formatted = is_read.then(|| syntax::format(self.file, &format!("x = {line}\n")).ok());
        let formatted = formatted.flatten();
        let formatted = formatted.as_deref().and_then(|it| it.strip_prefix("x = "));
        formatted.map_or(text, str::trim).to_owned()
    }

    fn print(&mut self, heads: &[Piece], body: &[Piece]) {
        let is_plain = heads.iter().chain(body).all(Piece::is_plain);
        let texts =
            |all: &[Piece]| all.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join(", ");
        let (head, rest) = (texts(heads), texts(body));
        let line = if body.is_empty() { format!("{head};") } else { format!("{head} <-- {rest};") };
        if is_plain && (line.chars().count() <= WIDTH || body.is_empty()) {
            return self.out.push_str(&line);
        }
        let second = format!("    <-- {rest};");
        if is_plain && second.chars().count() <= WIDTH {
            return self.out.push_str(&format!("{head}\n{second}"));
        }
        self.pieces(heads, ("", ""), body.is_empty());
        if !body.is_empty() {
            self.out.push('\n');
            self.pieces(body, ("    <-- ", "        "), true);
        }
    }

    /// Prints parts of a rule in a line each, with what stands before the first and before the others.
    fn pieces(&mut self, pieces: &[Piece], (first, others): (&str, &str), is_end: bool) {
        for (at, piece) in pieces.iter().enumerate() {
            for comment in &piece.above {
                self.out.push_str(&format!("{others}{comment}\n"));
            }
            let is_last = at + 1 == pieces.len();
            let sign = match (is_last, is_end) {
                (true, true) => ";",
                (true, false) => "",
                (false, _) => ",",
            };
            let before = if at == 0 { first } else { others };
            self.out.push_str(&format!("{before}{}{sign}", piece.text));
            if !piece.behind.is_empty() {
                self.out.push_str(&format!(" {}", piece.behind.join(" ")));
            }
            if !is_last {
                self.out.push('\n');
            }
        }
    }
}

/// Takes the comments off the end of an expression.
fn split_comments(text: &str) -> (&str, Vec<String>) {
    let mut text = text.trim_end();
    let mut behind = Vec::new();
    loop {
        let line = text.rfind('\n').map_or(0, |it| it + 1);
        // What looks like a comment may stand in a text: then what is before it is no expression.
        let ends = text[line..].match_indices("//").map(|it| line + it.0);
        let is_whole = |it: &usize| syntax::parse_expression(FileId(0), &text[..*it], 0).is_ok();
        let Some(end) = ends.into_iter().find(is_whole) else { return (text, behind) };
        behind.insert(0, text[end..].trim().to_owned());
        text = text[..end].trim_end();
    }
}

/// Joins tokens with the usual blanks, and collects the comments between them.
fn joined(mut parser: Parser<'_>) -> (String, Vec<String>) {
    let (mut out, mut comments) = (String::new(), Vec::new());
    let mut last = Token::END;
    let mut end = parser.token.start;
    while parser.token.kind != Kind::End {
        collect(&parser.text[end..parser.token.start], &mut comments);
        let (before, now) = (&parser.text[last.start..last.end], parser.slice());
        if !out.is_empty() && is_apart((last.kind, before), (parser.token.kind, now)) {
            out.push(' ');
        }
        out.push_str(now);
        (last, end) = (parser.token, parser.token.end);
        parser.advance();
    }
    collect(&parser.text[end..parser.end], &mut comments);
    (out, comments)
}

fn collect(gap: &str, comments: &mut Vec<String>) {
    let lines = gap.split('\n').map(str::trim);
    comments.extend(lines.filter(|it| it.starts_with("//")).map(ToOwned::to_owned));
}

/// Whether a blank stands between two tokens.
fn is_apart((kind, before): (Kind, &str), (next_kind, next): (Kind, &str)) -> bool {
    let is_word = |kind: Kind| matches!(kind, Kind::Word | Kind::Number | Kind::Text);
    match (before, next) {
        _ if is_word(kind) && is_word(next_kind) => true,
        (",", ")") => false,
        ("," | "==" | "=", _) | (_, "==" | "=") => true,
        (")" | "]", _) => is_word(next_kind),
        _ => false,
    }
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
