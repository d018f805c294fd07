//! Text in Markdown, where nothing of it means something else.

use crate::view::style::harmless;

/// The longest name or sentence in a line, in characters. Behind that, its end is cut off.
const LONGEST: usize = 400;

/// Returns text for a line, be it of Markdown or of HTML: what would mean something is written as an entity, which is never markup.
pub fn text(said: &str) -> String {
    let said = harmless(said);
    let letters: Vec<char> = said.chars().take(LONGEST + 1).collect();
    let mut out = String::with_capacity(said.len() + 8);
    let number = letters.iter().take_while(|it| it.is_ascii_digit()).count();
    for (at, c) in letters.iter().copied().enumerate() {
        let (before, after) = (at.checked_sub(1).map(|it| letters[it]), letters.get(at + 1));
        match c {
            _ if at == LONGEST => out.push('…'),
            c if c.is_whitespace() => out.push(' '),
            // These refer to people and to requests once everything else is read: a comment between keeps them from it.
            '@' | '#' => out.push_str(&format!("&#{};<!-- -->", u32::from(c))),
            // A number at the beginning would begin a list.
            '.' | ')' if at == number && at > 0 => out.push_str(&format!("&#{};", u32::from(c))),
            c if means_something(before, c, after.copied()) => {
                out.push_str(&format!("&#{};", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

/// Whether a sign is read as markup between two others; nothing stands before the first one, which may begin a list.
fn means_something(before: Option<char>, c: char, after: Option<char>) -> bool {
    let is_letter = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
    match c {
        '&' | '<' | '>' | '"' | '`' | '*' | '[' | ']' | '\\' | '~' | '|' | '$' => true,
        // Within a word it is none.
        '_' => !(is_letter(before) && is_letter(after)),
        // Names of pictures, and addresses.
        ':' => is_letter(after) || after == Some('/'),
        '-' | '+' | '=' => before.is_none(),
        _ => false,
    }
}

/// Returns a name as code.
pub fn code(name: &str) -> String {
    format!("<code>{}</code>", text(name))
}

/// Returns a block of text as it is, between fences that are longer than any run of backticks in it.
pub fn fenced(block: &str, language: &str) -> String {
    let shown = harmless(&block.replace("\r\n", "\n")).into_owned();
    let fence = "`".repeat(longest_run(&shown).max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", shown.trim_end_matches('\n'))
}

fn longest_run(text: &str) -> usize {
    text.split(|it| it != '`').map(str::len).max().unwrap_or(0)
}

/// Puts the symbols of changes at the beginning of their lines, where those who colour differences look for them.
pub fn as_difference(body: &str) -> String {
    let lines: Vec<String> = body.lines().map(line_of_difference).collect();
    lines.join("\n")
}

fn line_of_difference(line: &str) -> String {
    let rest = line.trim_start_matches(' ');
    let indent = line.len() - rest.len();
    let mark = match rest.split(' ').next() {
        Some("+") => '+',
        Some("-") => '-',
        Some("~") => '!',
        _ => return line.to_owned(),
    };
    match indent {
        0 => format!("{mark}{}", &rest[1..]),
        indent => format!("{mark}{}{}", " ".repeat(indent), &rest[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_markup_and_calls_nobody() {
        let said = text("</summary>\n\n# a `b` **c** @team #7 [x](javascript:y) \u{202e} |");
        for sign in
            ["</summary", "\n", "`", "*", "@team", "#7", "](", "javascript:", "\u{202e}", "|"]
        {
            assert!(!said.contains(sign), "{sign} in {said}");
        }
        assert!(said.contains("&#64;<!-- -->team"), "{said}");
        assert_eq!(text("a_b: 1-2, module.m[\"k\"]"), "a_b: 1-2, module.m&#91;&#34;k&#34;&#93;");
        assert_eq!(text("- _b_"), "&#45; &#95;b&#95;");
        assert_eq!(text("12. 3. x"), "12&#46; 3. x");
        assert_eq!(text(&"x".repeat(1000)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn a_fence_is_longer_than_what_it_encloses() {
        assert_eq!(fenced("a", "diff"), "```diff\na\n```\n");
        assert_eq!(fenced("```\n`````x", ""), "``````\n```\n`````x\n``````\n");
    }

    #[test]
    fn symbols_stand_where_differences_have_them() {
        let body = "  + resource \"a\" \"b\" {\n      ~ c = 1 -> 2\n        d = 3\n-/+ e\n    }";
        let expected =
            "+   resource \"a\" \"b\" {\n!       c = 1 -> 2\n        d = 3\n-/+ e\n    }";
        assert_eq!(as_difference(body), expected);
    }
}
