//! What `validate` says.

use entail::diagnostic::{Diagnostics, Sources};
use serde::Serialize;

use super::json::{DiagnosticForm, diagnostic};
use super::style::{Paint, Style};

#[derive(Serialize)]
struct Document {
    format_version: &'static str,
    valid: bool,
    error_count: usize,
    warning_count: usize,
    diagnostics: Vec<DiagnosticForm>,
}

/// Renders the result as JSON.
pub fn json(problems: &Diagnostics, sources: &Sources) -> String {
    let errors = problems.iter().filter(|it| it.is_error()).count();
    let document = Document {
        format_version: "1.0",
        valid: errors == 0,
        error_count: errors,
        warning_count: problems.iter().count() - errors,
        diagnostics: problems.iter().map(|it| diagnostic(it, sources)).collect(),
    };
    // The document has string keys only, so serialising it cannot fail.
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    format!("{}\n", super::output::escape_html(&text))
}

/// Returns the closing sentence for people; nothing where there are errors, which say it all.
pub fn text(problems: &Diagnostics, style: Style) -> String {
    let success = style.paint(&[Paint::Bold, Paint::Green], "Success!");
    match (problems.has_errors(), problems.is_empty()) {
        (true, _) => String::new(),
        (false, true) => format!("{success} The configuration is valid.\n"),
        (false, false) => {
            format!(
                "{success} The configuration is valid, but there were some validation warnings\nas shown above.\n"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use entail::diagnostic::Diagnostic;
    use expect_test::expect;

    use super::*;

    #[test]
    fn the_document_counts_and_lists_problems() {
        let problems =
            Diagnostics(vec![Diagnostic::error("E").detail("a < b"), Diagnostic::warning("W")]);
        expect![[r#"
            {
              "format_version": "1.0",
              "valid": false,
              "error_count": 1,
              "warning_count": 1,
              "diagnostics": [
                {
                  "severity": "error",
                  "summary": "E",
                  "detail": "a \u003c b"
                },
                {
                  "severity": "warning",
                  "summary": "W",
                  "detail": ""
                }
              ]
            }
        "#]]
        .assert_eq(&json(&problems, &Sources::default()));
    }

    #[test]
    fn the_sentence_mentions_warnings() {
        let style = Style::default();
        assert_eq!(text(&Diagnostics::new(), style), "Success! The configuration is valid.\n");
        assert!(text(&Diagnostic::warning("W").into(), style).contains("validation warnings"));
        assert_eq!(text(&Diagnostic::error("E").into(), style), "");
    }
}
