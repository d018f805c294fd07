//! A text with a mark in it; what may be written at the mark.

use super::*;

#[track_caller]
fn at(marked: &str) -> Cursor {
    let place = marked.find('|').expect("a cursor");
    cursor(&marked.replace('|', ""), place)
}

#[track_caller]
fn value(marked: &str) -> Written {
    match at(marked).at {
        At::Value(written) => written,
        other => panic!("{other:?} is no value"),
    }
}

#[test]
fn an_item_may_be_written_where_a_line_of_a_body_begins() {
    for text in ["|", "res|", "resource \"a\" \"b\" {\n  cou|\n}", "a {\n x = 1\n |"] {
        assert_eq!(at(text).at, At::Item, "{text}");
    }
    let inner = at("resource \"a\" \"b\" {\n  lifecycle {\n    |");
    let kinds: Vec<_> = inner.blocks.iter().map(|it| it.kind.as_str()).collect();
    assert_eq!(kinds, ["resource", "lifecycle"]);
    assert_eq!(inner.blocks[0].labels, ["a", "b"]);
}

#[test]
fn a_label_knows_those_before_it() {
    let label = |kind: &str, before: &[&str], quoted| {
        At::Label(kind.into(), before.iter().map(ToString::to_string).collect(), quoted)
    };
    assert_eq!(at("resource \"nul|").at, label("resource", &[], true));
    assert_eq!(at("resource \"a\" \"|\" {}").at, label("resource", &["a"], true));
    assert_eq!(at("resource |").at, label("resource", &[], false));
}

#[test]
fn names_joined_by_dots_are_steps() {
    let written = value("a = module.net[0].subnet.i|");
    assert_eq!(written.steps, ["module", "net", "[]", "subnet"]);
    assert_eq!(value("a = 1 + va|").steps, Vec::<String>::new());
    assert_eq!(value("a = \"x ${var.|").steps, ["var"]);
}

#[test]
fn names_before_a_bracket_are_indexed() {
    for text in ["a = x.y[|", "a = x.y[\"|", "a = x.y[\"ab|", "a = f(1, x.y[\"|"] {
        assert_eq!(value(text).indexed, ["x", "y"], "{text}");
    }
    for text in ["a = [|", "a = [\"|", "a = x.y[0].|", "a = x.y[z.|", "a = x.y[0, |"] {
        assert_eq!(value(text).indexed, Vec::<String>::new(), "{text}");
    }
}

#[test]
fn the_innermost_call_counts_its_arguments() {
    assert_eq!(value("a = join(\",\", concat(x, |").call, Some(("concat".into(), 1)));
    assert_eq!(value("a = core::max(1, 2, |").call, Some(("core::max".into(), 2)));
}

#[test]
fn keys_of_objects_lead_to_the_cursor() {
    let written = value("providers = {\n  aws = |");
    assert_eq!((written.path, written.is_key), (vec!["providers".into(), "aws".into()], false));
    assert!(value("tags = {\n  a = 1\n  b|").is_key);
}

#[test]
fn a_string_that_is_open_is_told_with_its_text() {
    assert_eq!(value("source = \"./mod|").text.as_deref(), Some("./mod"));
    assert_eq!(value("source = \"a${var.x}\" + |").text, None);
}

#[test]
fn nothing_is_offered_in_a_comment() {
    assert_eq!(at("a = 1 # var.|").at, At::Nothing);
    assert_eq!(at("/* a\n b|").at, At::Nothing);
}
