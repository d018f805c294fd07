//! Text as HTML: nothing that comes from outside is ever a tag, an attribute or a script.

use entail::world::PROGRAM;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use crate::view::style::harmless;

/// The looks of a page.
const STYLE: &str = include_str!("page.css");

/// What a page does when it is read.
const SCRIPT: &str = include_str!("page.js");

/// Appends text. What would turn or hide the text around it is written out.
pub fn push(out: &mut String, text: &str) {
    for c in harmless(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c if is_turning(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
}

/// Whether a character changes the direction of others, or cannot be seen.
fn is_turning(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Returns text for a place between tags.
pub fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    push(&mut out, text);
    out
}

/// Returns the value of an attribute, as it is, with its quotes.
pub fn quoted(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\0' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns the address within a page of what has a name, as the value of `href`: `"#null_resource.a%5B0%5D"`.
pub fn link(name: &str) -> String {
    let mut out = String::from("\"#");
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out.push('"');
    out
}

/// Returns a document for a script to read.
pub fn data(document: &serde_json::Value) -> String {
    // Within strings alone a document has these, and there they may be written so.
    let text = document.to_string().replace('<', "\\u003c").replace('>', "\\u003e");
    text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Returns a whole page.
///
/// - `title`: what it is about.
/// - `body`: what stands on it, as HTML.
/// - `document`: what its script reads.
pub fn page(title: &str, body: &str, document: &serde_json::Value) -> String {
    let digest = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
    let policy = format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'sha256-{}'; script-src 'sha256-{}'",
        digest(STYLE),
        digest(SCRIPT)
    );
    let (title, data) = (text(title), data(document));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"generator\" content=\"{PROGRAM} {}\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_is_text() {
        assert_eq!(text("</pre><script>&\u{202e}"), "&lt;/pre&gt;&lt;script&gt;&amp;\\u{202e}");
        assert_eq!(quoted("a\"><b c='"), "\"a&quot;&gt;&lt;b c='\"");
        assert_eq!(link("a.b[\"x y\"]"), "\"#a.b%5B%22x%20y%22%5D\"");
        let document = serde_json::json!(["</script><!--", "\u{2028}"]);
        assert_eq!(data(&document), "[\"\\u003c/script\\u003e\\u003c!--\",\"\\u2028\"]");
    }

    #[test]
    fn the_script_and_the_style_end_where_their_elements_do() {
        assert!(!SCRIPT.contains("</script") && !STYLE.contains("</style"));
        assert!(!SCRIPT.contains("innerHTML") && !SCRIPT.contains("eval("));
    }
}
