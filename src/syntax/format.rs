//! Text in native syntax, put into the standard style.
//!
//! Two steps, as OpenTofu's `fmt` takes them: the tree tells which expressions and labels are written in an old way, and
//! they are written anew ([`rewrite`]); then only the blanks between tokens change ([`layout`]). Where OpenTofu's formatter
//! loses text or changes what a file says, this one leaves the text as it is.

use std::borrow::Cow;

use super::parse;
use super::scan::scan_layout;
use super::token::{Kind, Token};
use crate::diagnostic::{Diagnostics, FileId};

mod layout;
mod rewrite;
#[cfg(test)]
mod tests;

/// A token on its way to the output: what it is, its text, and the blanks before it.
#[derive(Clone, Debug)]
struct Piece<'a> {
    kind: Kind,
    text: Cow<'a, str>,
    blanks: usize,
}

/// Returns the text in the standard style.
///
/// # Errors
///
/// If the text is not valid: with what is wrong.
pub fn format(file: FileId, text: &str) -> Result<String, Diagnostics> {
    let (body, diags) = parse(file, text);
    if diags.has_errors() {
        return Err(diags);
    }
    let tokens = scan_layout(text);
    let edits = rewrite::edits(&body, text, &tokens);
    drop(body);
    let mut pieces = apply(text, &tokens, edits);
    layout::arrange(&mut pieces);
    Ok(print(&pieces, text.len()))
}

/// Tokens `start..end` give way to other ones.
struct Edit<'a> {
    start: usize,
    end: usize,
    pieces: Vec<Piece<'a>>,
}

/// Returns the tokens as pieces.
fn pieces<'a>(text: &'a str, tokens: &[Token], from: usize) -> Vec<Piece<'a>> {
    let mut last = from;
    let mut piece = |it: &Token| {
        let blanks = it.start as usize - last;
        last = it.end as usize;
        let text = Cow::Borrowed(&text[it.start as usize..it.end as usize]);
        Piece { kind: it.kind, text, blanks }
    };
    tokens.iter().map(&mut piece).collect()
}

/// Returns all pieces with the edits made, which stand in order and do not overlap.
fn apply<'a>(text: &'a str, tokens: &[Token], edits: Vec<Edit<'a>>) -> Vec<Piece<'a>> {
    let mut done = Vec::with_capacity(tokens.len());
    let mut at = 0;
    let end_of = |index: usize| index.checked_sub(1).map_or(0, |it: usize| tokens[it].end as usize);
    for edit in edits {
        done.extend(pieces(text, &tokens[at..edit.start], end_of(at)));
        done.extend(edit.pieces);
        at = edit.end;
    }
    done.extend(pieces(text, &tokens[at..], end_of(at)));
    done
}

fn print(pieces: &[Piece<'_>], length: usize) -> String {
    let mut out = String::with_capacity(length + length / 8);
    for piece in pieces {
        out.extend(std::iter::repeat_n(' ', piece.blanks));
        out.push_str(&piece.text);
    }
    out
}
