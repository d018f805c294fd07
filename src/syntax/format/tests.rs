//! Files in, files in the standard style out.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

#[track_caller]
fn formatted(text: &str) -> String {
    format(FileId(1), text).unwrap_or_else(|it| panic!("{text:?} is refused: {it:?}"))
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(formatted(text), expected);
}

#[test]
fn neighbouring_arguments_and_comments_line_up() {
    check("a=1#x\nbbb = 2 # y\n\nc=3\n", "a   = 1 #x\nbbb = 2 # y\n\nc = 3\n");
    check("a = {\nb=1\nccc=[\n1,2 ]\n}\n", "a = {\n  b = 1\n  ccc = [\n  1, 2]\n}\n");
}

#[test]
fn blocks_are_indented_by_two() {
    check("a \"b\" {\nc {\n  d=1\n}\n      }\n", "a \"b\" {\n  c {\n    d = 1\n  }\n}\n");
    check("a {}\nb { c=1 }\n", "a {}\nb { c = 1 }\n");
}

#[test]
fn blanks_between_tokens_are_those_of_the_standard_style() {
    check(
        "a=f( x,-1 , y [0] . z...)+ - 2*!b?[ for i in[1]:i ]:{ }\n",
        "a = f(x, -1, y[0].z...) + -2 * !b ? [for i in [1] : i] : {}\n",
    );
    check("a=provider :: x::f (1)\n", "a = provider::x::f(1)\n");
    check(
        "a=\"${ {b=1}.b }${ c }%{ if d }e%{endif}\"\n",
        "a = \"${ { b = 1 }.b}${c}%{if d}e%{endif}\"\n",
    );
}

#[test]
fn an_interpolation_that_is_the_whole_argument_is_unwrapped() {
    check("a = \"${b.c}\"\n", "a = b.c\n");
    check("a = \"${b}${c}\"\n", "a = \"${b}${c}\"\n");
    check("a = \"${f(\"x${b}\")}\"\n", "a = f(\"x${b}\")\n");
    check("a = [\"${b}\"]\n", "a = [\"${b}\"]\n");
    check("a = \"${\n  b ?\n  c : d\n}\"\n", "a = (b ?\nc : d)\n");
    check("a = \"${f({ // b\n  c = 1 # d\n})}\"\n", "a = f({ // b\n  c = 1 # d\n})\n");
    check("a = \"${(b +\n  c)}\"\n", "a = (b +\nc)\n");
}

#[test]
fn types_and_labels_of_old_are_written_anew() {
    check("variable a {\n  type = \"list\"\n}\n", "variable \"a\" {\n  type = list(string)\n}\n");
    check("variable \"a\" {\n  type = map\n}\n", "variable \"a\" {\n  type = map(any)\n}\n");
    check("b {\n  type = \"list\"\n}\n", "b {\n  type = \"list\"\n}\n");
    check("a \"b\\u0041\\n\" /* c */ d {}\n", "a \"bA\\n\" \"d\" {}\n");
}

#[test]
fn heredocs_and_comments_keep_their_text() {
    check("a=<<-X\n    b  ${ c }\n   X\nd=1\n", "a = <<-X\n    b  ${c}\n   X\nd = 1\n");
    check("  # a\n/* b\n  c */\nd=1 // e", "# a\n/* b\n  c */\nd = 1 // e");
    check("a=1\r\n\r\n#b\r\n", "a = 1\r\n\r\n#b\r\n");
}

#[test]
fn a_byte_order_mark_goes_and_blanks_at_the_end_of_the_file_stay() {
    check("\u{feff}a=1", "a = 1");
    check("a=1\n   ", "a = 1\n   ");
}

#[test]
fn what_other_formatters_lose_is_kept() {
    check("r \"a$b\" c {}\n", "r \"a$b\" \"c\" {}\n");
    check("a = b[true]\n", "a = b[true]\n");
    check("a = \"${ # b\n c }\"\n", "a = ( # b\nc)\n");
    check("a = \"${(b) +\n (c)}\"\n", "a = ((b) +\n(c))\n");
    check("a = 1  .2 + b . 0 . 1\n", "a = 1. 2 + b.0. 1\n");
    check("a = \"${<<X\nb\nX\n}\"\n", "a = <<X\nb\nX\n");
    check("a = \"${<<X\nb\nX\n}\"", "a = \"${<<X\nb\nX\n}\"");
    check("a = c.0 .e1 + c.0 .e\n", "a = c.0. e1 + c.0.e\n");
}

#[test]
fn a_file_that_is_not_valid_is_refused_with_what_is_wrong() {
    let problems = format(FileId(1), "a = \nb {\n").expect_err("it is not valid");
    let summaries: Vec<&str> = problems.iter().map(|it| &*it.summary).collect();
    assert_eq!(summaries, ["Invalid expression", "Unclosed configuration block"]);
}

/// Puts other blanks where blanks are, outside of strings.
fn shaken(text: &str, blanks: &[u8]) -> String {
    let (mut blanks, mut last) = (blanks.iter().cycle(), 0);
    let mut out = String::new();
    for token in scan_layout(text) {
        let (start, end) = (token.start as usize, token.end as usize);
        let is_blank = start > last || out.ends_with('\n') && token.kind != Kind::End;
        if is_blank {
            out.extend(std::iter::repeat_n(' ', 1 + usize::from(*blanks.next().unwrap_or(&0) % 4)));
        }
        out.push_str(&text[start..end]);
        last = end;
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(4), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn formatting_what_is_formatted_changes_nothing_and_blanks_do_not_matter(
        text in crate::syntax::tests::edit::body(),
        blanks in proptest::collection::vec(any::<u8>(), 1..9),
    ) {
        let once = formatted(&text);
        prop_assert_eq!(&formatted(&once), &once);
        prop_assert_eq!(formatted(&shaken(&once, &blanks)), once);
    }

    #[test]
    fn what_is_printed_reads_as_it_did(text in crate::syntax::tests::edit::body()) {
        let tree = |text: &str| crate::syntax::tests::print::body(&parse(FileId(1), text).0, 0);
        prop_assert_eq!(tree(&formatted(&text)), tree(&text));
    }

    #[test]
    fn formatting_never_panics_and_what_it_gives_is_valid(
        text in r#"([a-c ={}\[\]()"$%~.,:?!*\n<EOT0-9-]|\$\{|%\{ if |<<-E\n|=> |/\*|\*/|# ?|"\n| = ){0,40}"#,
    ) {
        if let Ok(out) = format(FileId(1), &text) {
            let again = format(FileId(1), &out);
            prop_assert!(again.is_ok(), "{:?} gave {:?}: {:?}", text, out, again);
        }
    }
}
