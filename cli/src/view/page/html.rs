//! A whole page: what stands on it, its own style and script, and the policy that allows nothing else.

use entail::world::PROGRAM;
use entail::world::terminal::escaped_json;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

pub use crate::view::markup::{link, push, quoted, text};

/// The looks of a page.
const STYLE: &str = include_str!("page.css");

/// What a page does when it is read.
const SCRIPT: &str = include_str!("page.js");

/// Returns a document for a script to read.
pub fn data(document: &serde_json::Value) -> String {
    // Within strings alone a document has these, and there they may be written so.
    let text = document.to_string().replace('<', "\\u003c").replace('>', "\\u003e");
    escaped_json(&text).into_owned()
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
    fn a_document_does_not_end_its_element() {
        let document = serde_json::json!(["</script><!--", "\u{2028}"]);
        assert_eq!(data(&document), "[\"\\u003c/script\\u003e\\u003c!--\",\"\\u2028\"]");
    }

    #[test]
    fn the_script_and_the_style_end_where_their_elements_do() {
        assert!(!SCRIPT.contains("</script") && !STYLE.contains("</style"));
        assert!(!SCRIPT.contains("innerHTML") && !SCRIPT.contains("eval("));
    }
}
