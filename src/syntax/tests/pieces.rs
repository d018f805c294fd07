//! Files that are read in pieces, compared with the same files read whole.

use crate::diagnostic::FileId;
use crate::syntax::parser::read_with;
use crate::syntax::place::Place;
use crate::syntax::scan::Start;
use crate::syntax::{parse, parse_each};

/// So many blocks are several pieces.
const BLOCKS: usize = 12_000;

fn blocks(odd: impl Fn(usize) -> Option<&'static str>) -> String {
    let block = |at: usize| match odd(at) {
        Some(text) => text.to_owned(),
        None => format!(
            "# A comment {{ that opens nothing\nresource \"t\" \"n{at}\" {{\n  a = \"${{var.x}}-{at}\"\n  b = <<-E\n    {{ text [\n  E\n  c = [\n    {at},\n  ]\n}}\n\n"
        ),
    };
    (0..BLOCKS).map(block).collect()
}

/// Reads a text in pieces and whole, and returns how many pieces there are.
#[track_caller]
fn check(text: &str) -> usize {
    let (whole, whole_problems) =
        read_with(text, Place::plain(FileId(1), 0), Start::Plain, |parser| parser.file());
    let (body, problems) = parse(FileId(1), text);
    assert_eq!(problems, whole_problems);
    assert!(body == whole, "the bodies differ");
    parse_each(FileId(1), text, |_| ()).0.len()
}

#[test]
fn a_large_file_is_read_in_pieces_as_if_it_were_read_whole() {
    assert!(check(&blocks(|_| None)) > 2);
}

#[test]
fn a_broken_block_breaks_nothing_in_other_pieces() {
    let pieces = check(&blocks(|at| match at {
        40 => Some("resource \"t\" \"broken\" {\n  a = [1 2]\n}\n"),
        5000 => Some("resource \"t\" \"broken\" {\n  a = \"never closed\n}\n"),
        5001 => Some("resource \"t\" \"brace\"\n{\n}\n"),
        9000 => Some("a = )\n} ]\nb { c = 1 }\n"),
        _ => None,
    }));
    assert!(pieces > 2);
}

#[test]
fn what_is_never_closed_reaches_to_the_end() {
    let open = |at: usize| (at == 6000).then_some("resource \"t\" \"open\" {\n  a = {\n");
    assert!(check(&blocks(open)) > 1);
}

#[test]
fn an_attribute_that_repeats_one_of_another_piece_is_reported() {
    let text = format!("a = 1\n{}a = 2\n", blocks(|_| None));
    assert!(check(&text) > 2);
    assert_eq!(parse(FileId(1), &text).1.0.len(), 1);
}
