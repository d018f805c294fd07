//! The blanks between tokens: indentation, blanks within a line, and columns that line up on neighbouring lines.
//!
//! Follows HCL's formatter. A line has up to three cells: what leads, the `=` with what is assigned, and a comment.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::Piece;
use crate::syntax::token::Kind;

/// A line: where its cells are among all pieces. A cell that is not there is empty.
struct Line {
    lead: Range<usize>,
    assign: Range<usize>,
    comment: Range<usize>,
}

/// Sets the blanks before every piece.
pub(super) fn arrange(pieces: &mut [Piece<'_>]) {
    let lines = lines(pieces);
    indent(pieces, &lines);
    for line in &lines {
        if let Some(first) = pieces[line.assign.clone()].first_mut() {
            first.blanks = 1;
        }
        space(&mut pieces[line.lead.clone()]);
        space(&mut pieces[line.assign.clone()]);
    }
    align(pieces, &lines, |it| it.lead.clone(), |it| &it.assign);
    // The cell of the assignment follows the lead directly.
    align(pieces, &lines, |it| it.lead.start..it.assign.end.max(it.lead.end), |it| &it.comment);
}

fn ends_line(it: &Piece<'_>) -> bool {
    it.kind == Kind::Newline || it.kind == Kind::Comment && it.text.ends_with('\n')
}

/// How a token changes the number of open brackets.
pub(super) fn brackets(kind: Kind) -> i64 {
    match kind {
        Kind::OpenBrace
        | Kind::OpenBracket
        | Kind::OpenParen
        | Kind::Directive
        | Kind::Interpolation => 1,
        Kind::CloseBrace | Kind::CloseBracket | Kind::CloseParen | Kind::SequenceEnd => -1,
        _ => 0,
    }
}

fn net_brackets(pieces: &[Piece<'_>]) -> i64 {
    pieces.iter().map(|it| brackets(it.kind)).sum()
}

/// Splits all pieces but the end into lines and their cells.
fn lines(pieces: &[Piece<'_>]) -> Vec<Line> {
    let end = pieces.len().saturating_sub(1);
    let (mut lines, mut start) = (Vec::new(), 0);
    for index in 0..end {
        if ends_line(&pieces[index]) {
            lines.push(cells(pieces, start..index + 1));
            start = index + 1;
        }
    }
    lines.push(cells(pieces, start..end));
    lines
}

fn cells(pieces: &[Piece<'_>], line: Range<usize>) -> Line {
    let mut end = line.end;
    if line.len() > 1 && pieces[end - 1].kind == Kind::Comment {
        end -= 1;
    }
    let comment = end..line.end;
    let equal = (line.start + 1..end).find(|it| pieces[*it].kind == Kind::Equal);
    // What opens a bracket that another line closes is not lined up with its neighbours.
    let split = equal.filter(|it| net_brackets(&pieces[*it..end]) == 0).unwrap_or(end);
    Line { lead: line.start..split, assign: split..end, comment }
}

/// Indents each line by as many levels as lines before it opened brackets.
fn indent(pieces: &mut [Piece<'_>], lines: &[Line]) {
    // How many brackets the line that began each level opened.
    let mut levels: Vec<i64> = Vec::new();
    for line in lines {
        let Some(first) = pieces[line.lead.clone()].first() else { continue };
        if first.kind == Kind::Newline {
            pieces[line.lead.start].blanks = 0;
            continue;
        }
        let lead = &pieces[line.lead.clone()];
        let heredoc = lead.iter().position(|it| it.kind == Kind::OpenHeredoc);
        let net = net_brackets(&lead[..heredoc.unwrap_or(lead.len())])
            + net_brackets(&pieces[line.assign.clone()]);
        if net < 0 {
            close(&mut levels, -net);
        }
        pieces[line.lead.start].blanks = 2 * levels.len();
        if net > 0 {
            levels.push(net);
        }
    }
}

fn close(levels: &mut Vec<i64>, mut closed: i64) {
    while closed > 0
        && let Some(last) = levels.last_mut()
    {
        if closed < *last {
            *last -= closed;
            return;
        }
        closed -= *last;
        levels.pop();
    }
}

/// Sets the blanks between the pieces of a cell.
fn space(cell: &mut [Piece<'_>]) {
    for index in 1..cell.len() {
        let before = index.checked_sub(2).map(|it| cell[it].kind);
        let blank = blank_after(&cell[index - 1], before, cell[index].kind)
            || separates_numbers(&cell[..=index]);
        cell[index].blanks = usize::from(blank);
    }
}

/// Returns whether the last piece, after a dot, would become part of the number before the dot: `1 .2`, `a.0 .1` or
/// `a.0 .e1`. (The real formatter lets it, and what it writes is not valid.)
fn separates_numbers(pieces: &[Piece<'_>]) -> bool {
    let [.., number, dot, last] = pieces else { return false };
    let exponent = last.text.strip_prefix(['e', 'E']);
    let continues = last.kind == Kind::Number
        || exponent.is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()));
    (number.kind, dot.kind) == (Kind::Number, Kind::Dot) && continues
}

/// Returns whether a blank stands between a token and the one after it; `before` is the one before it in its cell.
fn blank_after(it: &Piece<'_>, before: Option<Kind>, after: Kind) -> bool {
    let subject = it.kind;
    match (subject, after) {
        (_, Kind::Newline) => false,
        (Kind::Ident, Kind::OpenParen | Kind::DoubleColon) => false,
        (Kind::DoubleColon, Kind::Ident) => false,
        (Kind::Dot, _) | (_, Kind::Dot | Kind::Comma | Kind::Ellipsis) => false,
        (Kind::Comma, _) => true,
        (Kind::QuotedText | Kind::BareText | Kind::OpenQuote | Kind::OpenHeredoc, _) => false,
        (_, Kind::QuotedText | Kind::BareText | Kind::CloseQuote | Kind::CloseHeredoc) => false,
        // The word of `for x in [y] : …`, which looks like a name with an index.
        (Kind::Ident, _) if it.text == "in" && before == Some(Kind::Ident) => true,
        (Kind::Ident | Kind::Number, Kind::OpenBracket) => false,
        (_, Kind::OpenBracket) if brackets(subject) < 0 => false,
        (Kind::Bang, _) => false,
        (Kind::Minus, _) => before.is_some_and(|it| !makes_minus_a_sign(it)),
        (Kind::OpenBrace, Kind::CloseBrace) => false,
        (Kind::OpenBrace, _) | (_, Kind::CloseBrace) => true,
        (Kind::Interpolation | Kind::Directive, Kind::OpenBrace) => true,
        (Kind::CloseBrace, Kind::SequenceEnd) => true,
        (Kind::SequenceEnd, Kind::Interpolation | Kind::Directive) => false,
        _ => brackets(subject) <= 0 && brackets(after) >= 0,
    }
}

/// Returns whether a `-` behind this is a sign: nothing that could be subtracted from ends here.
fn makes_minus_a_sign(before: Kind) -> bool {
    matches!(
        before,
        Kind::OpenParen
            | Kind::OpenBrace
            | Kind::OpenBracket
            | Kind::Equal
            | Kind::Colon
            | Kind::Comma
            | Kind::Question
            | Kind::Plus
            | Kind::Star
            | Kind::Slash
            | Kind::Percent
            | Kind::Minus
            | Kind::EqualEqual
            | Kind::NotEqual
            | Kind::Greater
            | Kind::GreaterEqual
            | Kind::Less
            | Kind::LessEqual
            | Kind::And
            | Kind::Or
            | Kind::Bang
    )
}

/// Lines up a cell over neighbouring lines that have it.
fn align(
    pieces: &mut [Piece<'_>],
    lines: &[Line],
    before: impl Fn(&Line) -> Range<usize>,
    cell: impl Fn(&Line) -> &Range<usize>,
) {
    for chain in lines.split(|it| cell(it).is_empty()).filter(|it| !it.is_empty()) {
        let widths: Vec<usize> = chain.iter().map(|it| columns(&pieces[before(it)])).collect();
        let widest = widths.iter().max().copied().unwrap_or(0);
        for (line, width) in chain.iter().zip(widths) {
            pieces[cell(line).start].blanks = widest - width + 1;
        }
    }
}

/// How many columns the pieces take.
fn columns(pieces: &[Piece<'_>]) -> usize {
    let width = |text: &str| match text.is_ascii() && !text.contains('\r') {
        true => text.len(),
        false => text.graphemes(true).count(),
    };
    pieces.iter().map(|it| it.blanks + width(&it.text)).sum()
}
