//! Text within markup: nothing that comes from outside is ever a tag, an attribute or a script.

use crate::view::style::harmless;

/// Appends text. What would turn or hide the text around it is written out.
pub fn push(out: &mut String, text: &str) {
    for c in harmless(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
}

/// Returns text for a place between tags.
pub fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    push(&mut out, text);
    out
}

/// Returns the value of an attribute with its quotes. Only unseen characters change.
pub fn quoted(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for c in harmless(value).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_is_text() {
        assert_eq!(text("</pre><script>&\u{202e}"), "&lt;/pre&gt;&lt;script&gt;&amp;\\u{202e}");
        assert_eq!(quoted("a\"><b c='"), "\"a&quot;&gt;&lt;b c='\"");
        assert_eq!(link("a.b[\"x y\"]"), "\"#a.b%5B%22x%20y%22%5D\"");
    }
}
