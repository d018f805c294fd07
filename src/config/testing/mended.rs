//! Files with arguments that cannot be parsed, read all the same for what else is wrong with them.

use crate::diagnostic::{Diagnostics, FileId, Span};
use crate::syntax::{self, Body};

/// How many arguments are taken away before a file is given up.
const MOST: usize = 20;

/// What was read of a file.
pub(super) struct Mended {
    /// The body; blocks with arguments that were taken away are in it.
    pub(super) body: Body,
    /// What cannot be parsed.
    pub(super) problems: Diagnostics,
    /// The places of values that were taken away: what is wrong with these is told already.
    pub(super) gone: Vec<Span>,
}

/// Reads a file. Where a value cannot be parsed, nothing stands in its place, and the block around it is read on.
pub(super) fn read(id: FileId, text: &str) -> Mended {
    let (body, problems) = syntax::parse(id, text);
    let mut mended = Mended { body, problems, gone: Vec::new() };
    let (mut now, mut open) = (text.to_owned(), mended.problems.clone());
    for _ in 0..MOST {
        let Some(at) = open.iter().find_map(|it| it.subject) else { break };
        let Some((start, end)) = value_around(&now, at.start() as usize) else { break };
        mended.gone.push(Span::new(id, start, end));
        now.replace_range(start..end, &blank(&now[start..end]));
        let (body, found) = syntax::parse(id, &now);
        // What could be read before is not read worse.
        if found.0.len() >= open.0.len() {
            break;
        }
        (mended.body, open) = (body, found);
    }
    mended
}

/// Returns where the value of the argument stands that a byte belongs to.
fn value_around(text: &str, at: usize) -> Option<(usize, usize)> {
    let at = at.min(text.len().checked_sub(1)?);
    // An error at the end of a line is told of the line behind it.
    let mut line_end = text[..at].len();
    for _ in 0..2 {
        let start = text[..line_end].rfind('\n').map_or(0, |it| it + 1);
        let end = text[start..].find('\n').map_or(text.len(), |it| start + it);
        if let Some(found) = value_in(&text[start..end]) {
            return Some((start + found, end));
        }
        line_end = start.checked_sub(1)?;
    }
    None
}

/// Returns where the value begins on a line that is an argument.
fn value_in(line: &str) -> Option<usize> {
    let (name, value) = line.split_once('=')?;
    (syntax::is_identifier(name.trim()) && !value.starts_with('=') && value.len() >= 2)
        .then_some(name.len() + 1)
}

/// Returns text of the same length that is the shortest value.
fn blank(text: &str) -> String {
    let rest: String = text.bytes().skip(2).map(|_| ' ').collect();
    format!(" 0{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_read_on_behind_a_value_that_cannot_be_parsed() {
        let text = "run \"a\" {\n  assert {\n    condition = var.a ==\n  }\n  command = plan\n}\n";
        let mended = read(FileId(1), text);
        assert_eq!((mended.problems.0.len(), mended.gone.len()), (1, 1));
        let run = &mended.body.blocks[0].body;
        assert_eq!((run.blocks.len(), run.attributes.len()), (1, 1));
        assert_eq!(
            &text[mended.gone[0].start() as usize..mended.gone[0].end() as usize],
            " var.a =="
        );
    }

    #[test]
    fn a_file_that_cannot_be_mended_is_read_as_far_as_it_goes() {
        let mended = read(FileId(1), "run \"a\" {}\nrun \"b\" {\n");
        assert_eq!((mended.problems.0.len(), mended.body.blocks.len()), (1, 1));
    }
}
