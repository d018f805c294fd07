//! What fits into a comment: everything by a line first, then as much as there is room for in full.

/// The longest comment that GitHub takes, in units of UTF-16.
pub const MOST: usize = 65_536;

/// What is kept free for the lines that say what is missing.
const NOTES: usize = 400;
/// What such a line may take in each part.
const MORE: usize = 40;

/// Something that is told, in a line or in full. Both end with their line.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    /// The line.
    pub line: String,
    /// All of it; nothing where the line says everything.
    pub full: Option<String>,
}

/// What stands under one title.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// The title.
    pub title: String,
    /// What is told, the most important first.
    pub pieces: Vec<Piece>,
}

/// How a piece is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Left,
    Line,
    Full,
}

/// Puts a document together that is no longer than the limit.
///
/// - `head`: what stands there in any case.
/// - `more`: says where everything can be read; it stands there if something is missing.
pub fn fitted(head: &str, parts: &[Part], more: &str, most: usize) -> String {
    let parts: Vec<&Part> = parts.iter().filter(|it| !it.pieces.is_empty()).collect();
    let titles: usize = parts.iter().map(|it| length(&title(it)) + MORE).sum();
    let kept = length(head) + length(more) + NOTES + titles;
    let mut room = most.saturating_sub(kept);
    let mut forms: Vec<Vec<Form>> =
        parts.iter().map(|it| vec![Form::Left; it.pieces.len()]).collect();
    for wanted in [Form::Line, Form::Full] {
        for (part, forms) in parts.iter().zip(&mut forms) {
            for (piece, form) in part.pieces.iter().zip(forms) {
                let line = length(&piece.line);
                let cost = match (wanted, &piece.full) {
                    (Form::Line, _) => line,
                    // What is not even told in a line is not told in full.
                    (_, Some(full)) if *form == Form::Line => length(full).saturating_sub(line),
                    _ => continue,
                };
                if cost <= room {
                    room -= cost;
                    *form = wanted;
                }
            }
        }
    }
    written(head, &parts, &forms, more)
}

fn written(head: &str, parts: &[&Part], forms: &[Vec<Form>], more: &str) -> String {
    let mut out = head.to_owned();
    let (mut shortened, mut missing) = (0, 0);
    for (part, forms) in parts.iter().zip(forms) {
        out.push_str(&title(part));
        let mut left = 0;
        for (piece, form) in part.pieces.iter().zip(forms) {
            match (form, &piece.full) {
                (Form::Left, _) => left += 1,
                (Form::Full, Some(full)) => out.push_str(full),
                (Form::Line | Form::Full, full) => {
                    shortened += usize::from(full.is_some());
                    out.push_str(&piece.line);
                }
            }
        }
        if left > 0 {
            out.push_str(&format!("- … and {left} more\n"));
        }
        missing += left;
    }
    if shortened + missing > 0 {
        let counted = match (shortened, missing) {
            (0, missing) => format!("{missing} entries are missing"),
            (shortened, 0) => format!("{shortened} entries are told in a line"),
            (shortened, missing) => {
                format!("{shortened} entries are told in a line, and {missing} are missing")
            }
        };
        out.push_str(&format!("\n{counted}: a comment has room for no more. {more}\n"));
    }
    out
}

fn title(part: &Part) -> String {
    format!("\n#### {}\n\n", part.title)
}

/// How long a text is for those who limit it.
pub fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(title: &str, count: usize, full: usize) -> Part {
        let piece = |at: usize| Piece {
            line: format!("- {title} {at}\n"),
            full: Some(format!("<details>{title} {at}{}</details>\n", "x".repeat(full))),
        };
        Part { title: title.into(), pieces: (0..count).map(piece).collect() }
    }

    #[test]
    fn what_fits_is_told_in_full() {
        let text = fitted("head\n", &[part("a", 2, 10), part("none", 0, 0)], "See.", MOST);
        assert_eq!(text.matches("<details>").count(), 2);
        assert!(!text.contains("none") && !text.contains("See."), "{text}");
    }

    #[test]
    fn everything_has_a_line_before_anything_is_told_in_full() {
        let text = fitted("head\n", &[part("a", 3, 400), part("b", 3, 400)], "See.", 1_100);
        assert!(length(&text) <= 1_100);
        assert_eq!(text.matches("<details>").count(), 1);
        assert!(text.contains("<details>a 0"), "{text}");
        for line in ["- a 1\n", "- a 2\n", "- b 0\n", "- b 1\n", "- b 2\n"] {
            assert!(text.contains(line), "{line} in {text}");
        }
        assert!(
            text.ends_with("5 entries are told in a line: a comment has room for no more. See.\n"),
            "{text}"
        );
    }

    #[test]
    fn whatever_there_is_the_limit_holds() {
        for count in [0, 1, 50, 3_000] {
            for full in [0, 7, 900, 20_000] {
                let parts = [part("a", count, full), part("\u{1f600}", count / 2, full / 3)];
                let text = fitted("head\n", &parts, "See.", MOST);
                assert!(length(&text) <= MOST, "{count} {full}: {}", length(&text));
                let all: usize = text
                    .lines()
                    .filter_map(|it| {
                        it.strip_prefix("- … and ")?.strip_suffix(" more")?.parse::<usize>().ok()
                    })
                    .sum();
                let told = text.matches("<details>").count()
                    + text
                        .lines()
                        .filter(|it| it.starts_with("- a") || it.starts_with("- \u{1f600}"))
                        .count();
                assert_eq!(all + told, count + count / 2, "nothing gets lost");
            }
        }
    }
}
