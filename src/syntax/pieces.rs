//! Files in pieces: split where a line begins at top level, read on two threads, and lowered before the next is read.
//!
//! Only the pieces at hand have tokens and trees. The scanner goes through the file once, so a piece is what lies between two
//! lines at which nothing is open; what is never closed reaches to the end of the file.

use parking_lot::Mutex;
use rustc_hash::FxHashSet;

use super::parser::read_tokens;
use super::place::Place;
use super::scan::Pieces;
use super::token::{Kind, Token};
use super::{Attribute, Body, Name, problems};
use crate::diagnostic::{Diagnostics, FileId};
use crate::value::Str;
use crate::world::side_by_side;

/// How many bytes a piece has at least, unless the file ends.
const PIECE: usize = 1 << 18;

/// Reads a file in native syntax and lowers its top-level attributes and blocks piece by piece, the pieces in any order, but
/// returned in theirs.
///
/// An item with an error is left out and reported; reading goes on behind it. An attribute that repeats one of an earlier
/// piece is reported, but lowered.
pub fn parse_each<T: Send>(
    file: FileId,
    text: &str,
    lower: impl Fn(Body) -> T + Sync,
) -> (Vec<T>, Diagnostics) {
    let place = Place::plain(file, 0);
    let mut diags = Diagnostics::new();
    let text = place.bounded(text, &mut diags);
    let pieces = Mutex::new(Pieces::new(text, PIECE));
    let work = || {
        let mut done = Vec::new();
        loop {
            let next = pieces.lock().next();
            let Some((index, tokens)) = next else { return done };
            done.push((index, read_piece(text, place, &tokens, &lower)));
        }
    };
    let mut done = match text.len() > PIECE {
        true => {
            let (mut first, second) = side_by_side(work, work);
            first.extend(second);
            first
        }
        false => work(),
    };
    done.sort_by_key(|it| it.0);
    let pieces = pieces.into_inner();
    pieces.report(&|start, end| place.span(start, end), &mut diags);
    let mut names = Vec::new();
    let mut results = Vec::new();
    for (_, piece) in done {
        diags.extend(piece.diags);
        names.extend(piece.names);
        results.push(piece.result);
    }
    report_repeated(&names, results.len(), &mut diags);
    diags.0.sort_by_key(|it| it.subject.map_or(0, |it| it.start()));
    // What stands in an unclosed block may have been read twice.
    diags.0.dedup();
    (results, diags)
}

/// What became of one piece.
struct Piece<T> {
    result: T,
    diags: Diagnostics,
    /// The names of its attributes.
    names: Vec<Name>,
}

fn read_piece<T>(
    text: &str,
    place: Place<'_>,
    tokens: &[Token],
    lower: &impl Fn(Body) -> T,
) -> Piece<T> {
    let (body, diags) = read_tokens(text, place, tokens, |parser| parser.file());
    let names = body.attributes.iter().map(|it| it.name.clone()).collect();
    Piece { result: lower(body), diags, names }
}

/// Reports attributes that repeat one of another piece; within a piece that was done.
fn report_repeated(names: &[Name], pieces: usize, diags: &mut Diagnostics) {
    let mut seen: FxHashSet<&Str> = FxHashSet::default();
    for name in names.iter().filter(|_| pieces > 1) {
        if !seen.insert(&name.text)
            && let Some(first) = names.iter().find(|it| it.text == name.text)
        {
            diags.push(problems::attribute_redefined(&name.text, name.span, first.span));
        }
    }
}

/// Joins the bodies of a file's pieces.
pub(super) fn join(pieces: Vec<Body>) -> Body {
    let count = pieces.len();
    let mut pieces = pieces.into_iter();
    let Some(mut whole) = pieces.next() else { return Body::default() };
    for piece in pieces {
        whole.attributes.extend(piece.attributes);
        whole.blocks.extend(piece.blocks);
    }
    if count > 1 {
        let mut seen = FxHashSet::default();
        whole.attributes.retain(|it: &Attribute| seen.insert(it.name.text.clone()));
    }
    whole
}

/// Keeps the stack of open brackets; a closing one closes everything up to its partner.
pub(super) fn balance(open: &mut Vec<Kind>, kind: Kind) {
    let partner = |it: Kind| match kind {
        Kind::CloseBrace => it == Kind::OpenBrace,
        Kind::CloseBracket => it == Kind::OpenBracket,
        Kind::CloseParen => it == Kind::OpenParen,
        Kind::CloseQuote => it == Kind::OpenQuote,
        Kind::CloseHeredoc => it == Kind::OpenHeredoc,
        _ => matches!(it, Kind::Interpolation | Kind::Directive),
    };
    match kind {
        Kind::OpenBrace
        | Kind::OpenBracket
        | Kind::OpenParen
        | Kind::OpenQuote
        | Kind::OpenHeredoc
        | Kind::Interpolation
        | Kind::Directive => open.push(kind),
        Kind::CloseBrace
        | Kind::CloseBracket
        | Kind::CloseParen
        | Kind::CloseQuote
        | Kind::CloseHeredoc
        | Kind::SequenceEnd => {
            if let Some(index) = open.iter().rposition(|&it| partner(it)) {
                open.truncate(index);
            }
        }
        _ => {}
    }
}
