//! Problems in; paragraphs, boxes and JSON out.

use entail::diagnostic::{FileId, Span};
use entail::world::terminal::seal;
use expect_test::{Expect, expect};

use super::*;

const MAIN: &str = r#"resource "terraform_data" "a" {
  # a brace } in a comment
  input = "${var.x}}" == <<-EOT
    }
  EOT
  count = nope
}

output "z" { value = local.x + 
   length(3) }
"#;

fn main_tf() -> (Sources, FileId) {
    let sources = Sources::default();
    let file = sources.add("main.tf", MAIN.into());
    (sources, file)
}

fn at(file: FileId, text: &str) -> Span {
    let start = MAIN.find(text).expect("the text is in the file");
    Span::new(file, start, start + text.len())
}

#[track_caller]
fn check(diagnostic: Diagnostic, colour: bool, expected: Expect) {
    let (sources, _) = main_tf();
    let text = one(&diagnostic, &sources, Style { colour, width: 60, ..Style::default() });
    expected.assert_eq(&text.replace(seal(), "^"));
}

#[test]
fn without_colour_a_problem_is_a_paragraph() {
    let (_, file) = main_tf();
    let mut problem = Diagnostic::error("Reference to undeclared input variable")
        .detail("An input variable with the name \"nope\" has not been declared, and this sentence is long.\n  kept   as it is")
        .at(at(file, "nope"))
        .about("terraform_data.a");
    problem.values =
        vec![("var.x".into(), "is \"text\"".into()), ("local.y".into(), "is 1".into())];
    problem.function = Some(("merge".into(), Some("(maps...)".into())));
    check(
        problem,
        false,
        expect![[r#"

            Error: Reference to undeclared input variable

              with terraform_data.a,
              on main.tf line 6, in resource "terraform_data" "a":
               6:   count = nope
                ├────────────────
                │ while calling merge(maps...)
                │ local.y is 1
                │ var.x is "text"

            An input variable with the name "nope" has not been
            declared, and this sentence is long.
              kept   as it is
        "#]],
    );
}

#[test]
fn with_colour_a_problem_stands_in_a_frame_and_its_subject_is_underlined() {
    let (_, file) = main_tf();
    let problem =
        Diagnostic::warning("Odd").detail("Very odd.").at(at(file, "local.x + \n   length"));
    check(
        problem,
        true,
        expect![[r#"
            ^[33m╷^[0m
            ^[33m│^[0m ^[1;33mWarning: ^[0m^[1mOdd^[0m
            ^[33m│^[0m 
            ^[33m│^[0m   on main.tf line 9, in output "z":
            ^[33m│^[0m    9: output "z" { value = ^[4mlocal.x + ^[0m
            ^[33m│^[0m   10: ^[4m   length^[0m(3) }
            ^[33m│^[0m 
            ^[33m│^[0m Very odd.
            ^[33m╵^[0m
        "#]],
    );
}

#[test]
fn a_problem_without_a_place_has_no_source_section() {
    check(
        Diagnostic::error("Failed").detail("It failed."),
        false,
        expect![[r#"

        Error: Failed

        It failed.
    "#]],
    );
    check(
        Diagnostic::error("Failed"),
        true,
        expect![[r#"
            ^[31m╷^[0m
            ^[31m│^[0m ^[1;31mError: ^[0m^[1mFailed^[0m
            ^[31m│^[0m 
            ^[31m│^[0m 
            ^[31m╵^[0m
        "#]],
    );
}

#[test]
fn a_block_header_has_no_block_around_it() {
    let (sources, file) = main_tf();
    let subject = at(file, "resource \"terraform_data\" \"a\"");
    let shown = snippet(&Diagnostic::error("x").at(subject), &sources).expect("there is a place");
    assert_eq!((shown.block, shown.code.as_str()), (None, "resource \"terraform_data\" \"a\" {"));
}

#[test]
fn an_empty_place_shows_one_character() {
    let (sources, file) = main_tf();
    let at = MAIN.find("nope").expect("it is there");
    let shown = snippet(&Diagnostic::error("x").at(Span::new(file, at, at)), &sources)
        .expect("there is a place");
    assert_eq!(&shown.code[shown.highlight_start..shown.highlight_end], "n");
    assert_eq!((shown.start.column, shown.end.column), (11, 12));
}

#[test]
fn a_context_shows_the_lines_around_the_subject() {
    let (sources, file) = main_tf();
    let problem =
        Diagnostic::error("x").at(at(file, "nope")).within(at(file, "EOT\n  count = nope\n}"));
    let shown = snippet(&problem, &sources).expect("there is a place");
    assert_eq!((shown.first_line, shown.code.as_str()), (5, "  EOT\n  count = nope\n}"));
}

#[test]
fn broken_files_and_odd_places_never_panic() {
    for text in ["", "\"", "${", "a {", "<<", "x = <<EOT\n", "a \"b\" { c = \"${\"", "é\n\"é"] {
        let sources = Sources::default();
        let file = sources.add("broken.tf", text.into());
        for start in 0..=text.len() + 2 {
            let problem = Diagnostic::error("x").at(Span::new(file, start, start + 1));
            one(&problem, &sources, Style { colour: true, width: 0, ..Style::default() });
        }
    }
}

#[track_caller]
fn check_all(problems: Vec<Diagnostic>, grouping: Grouping, expected: Expect) {
    let (sources, _) = main_tf();
    let printed = render(problems, &sources, Style::default(), grouping);
    expected.assert_eq(&format!("--- stdout{}--- stderr{}", printed.out, printed.err));
}

#[test]
fn problems_are_sorted_and_equal_ones_are_printed_once() {
    let (_, file) = main_tf();
    let later = Diagnostic::error("Later").at(at(file, "length"));
    let sooner = Diagnostic::error("Sooner").at(at(file, "nope"));
    let warning = Diagnostic::warning("Careful");
    check_all(
        vec![later.clone(), sooner.clone(), later, warning.clone(), sooner, warning],
        Grouping::default(),
        expect![[r#"
            --- stdout
            Warning: Careful

            --- stderr
            Error: Sooner

              on main.tf line 6, in resource "terraform_data" "a":
               6:   count = nope


            Error: Later

              on main.tf line 10, in output "z":
              10:    length(3) }

        "#]],
    );
}

#[test]
fn similar_warnings_are_put_together() {
    let (_, file) = main_tf();
    let warning = |text| Diagnostic::warning("Deprecated").detail("Don't.").at(at(file, text));
    check_all(
        vec![warning("nope"), warning("length"), warning("output")],
        Grouping::default(),
        expect![[r#"
            --- stdout
            Warning: Deprecated

              on main.tf line 6, in resource "terraform_data" "a":
               6:   count = nope

            Don't.

            (and 2 more similar warnings elsewhere)
            --- stderr"#]],
    );
}

#[test]
fn compact_warnings_take_two_lines_each_unless_there_is_an_error() {
    let (_, file) = main_tf();
    let compact = Grouping { compact_warnings: true, ..Grouping::default() };
    let warning = |text| Diagnostic::warning("Deprecated").at(at(file, text));
    check_all(
        vec![warning("nope"), warning("length"), Diagnostic::warning("Other")],
        compact,
        expect![[r#"
            --- stdout
            Warnings:

            - Other
            - Deprecated
              on main.tf line 6 (and 1 more)

            To see the full warning notes, run entail without -compact-warnings.
            --- stderr"#]],
    );
    let printed = render(
        vec![Diagnostic::warning("W"), Diagnostic::error("E")],
        &main_tf().0,
        Style::default(),
        compact,
    );
    assert_eq!(
        (printed.out.as_str(), printed.err.as_str()),
        ("\nWarning: W\n\n", "\nError: E\n\n")
    );
}

#[test]
fn carriage_returns_of_line_ends_are_neither_shown_nor_counted() {
    let sources = Sources::default();
    let file = sources.add("main.tf", "a = [\r\n  1\r\n".into());
    let problem = Diagnostic::error("Unclosed").detail("It ends.").at(Span::new(file, 8, 12));
    expect![[r#"

        Error: Unclosed

          on main.tf line 2:
           2:   1

        It ends.
    "#]]
    .assert_eq(&one(&problem, &sources, Style { width: 60, ..Style::default() }));
    let problem = Diagnostic::error("Ends").detail("It ends.").at(Span::new(file, 12, 12));
    assert!(one(&problem, &sources, Style::default()).contains("line 3"));
}

/// Returns the message about a part of a source of one file.
fn about(text: &str, subject: Range<usize>) -> String {
    let sources = Sources::default();
    let file = sources.add("main.tf", text.into());
    let problem = Diagnostic::error("Odd").at(Span::new(file, subject.start, subject.end));
    one(&problem, &sources, Style { colour: true, width: 60, ..Style::default() })
        .replace(seal(), "^")
}

#[test]
fn long_lines_are_cut_around_the_subject() {
    let text = format!("a = [\n{}é = nope{}\n]", "x".repeat(300), "y".repeat(300_000));
    let at = text.find("nope").expect("it is there");
    let shown = about(&text, at..at + 4);
    let line = format!("   2: …{}é = ^[4mnope^[0m{}…", "x".repeat(56), "y".repeat(136));
    assert!(shown.contains(&line), "{shown}");

    let whole = about(&text, 6..text.len() - 2);
    let line = format!("   2: ^[4m{}^[0m…\n", "x".repeat(200));
    assert!(whole.contains(&line), "{whole}");

    let end = about(&text, text.len() - 3..text.len() - 2);
    let line = format!("   2: …{}^[4my^[0m\n", "y".repeat(199));
    assert!(end.contains(&line), "{end}");
}

#[test]
fn long_texts_are_cut() {
    let digits = "1".repeat(1_000_000);
    let words = "word ".repeat(100_000);
    let problem = Diagnostic::error("Odd").detail(format!("No:\n\"{digits}\" is long.\n{words}"));
    let style = Style { width: 0, ..Style::default() };
    let shown = one(&problem, &Sources::default(), style);
    assert!(shown.contains(&format!("\"{}… is long.", "1".repeat(99))), "{shown}");
    assert!(shown.len() < 21_000, "{}", shown.len());
    // A message of usual length is whole, with the words in it.
    let encoded = "e".repeat(15_000);
    let problem = Diagnostic::error("Denied").detail(&encoded);
    assert!(one(&problem, &Sources::default(), style).contains(&encoded));
}

#[test]
fn errors_that_follow_from_others_are_left_out() {
    let (sources, file) = main_tf();
    let other = sources.add("other.tf", MAIN.into());
    let error =
        |summary: String, file, at| Diagnostic::error(summary).at(Span::new(file, at, at + 1));
    let mut problems: Vec<_> =
        (0..150).map(|it| error(format!("Odd {it}"), file, it % 100)).collect();
    problems.push(error("Nesting too deep".into(), other, 5));
    problems.push(error("Unclosed".into(), other, 9));
    problems.push(error("Failed".into(), other, 9).about("terraform_data.a"));
    let shown = render(problems, &sources, Style::default(), Grouping::default()).err;
    assert_eq!(shown.matches("Error: Odd").count(), 100);
    assert!(shown.contains("(50 more errors of this file are not shown)"), "{shown}");
    assert!(!shown.contains("Unclosed") && shown.contains("Error: Failed"), "{shown}");
}
