//! Credentials in addresses – `https://user:password@host/x?token=…` – are used, and neither shown nor recorded.
//!
//! Everything before the `@` of a web address counts as one, and any user with a password. Of the arguments behind `?` all
//! count that are not known to choose what is fetched: a name that nobody thought of hides too much, not too little.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use sha2::{Digest, Sha256};

/// What stands in place of a credential.
const MASK: &str = "REDACTED";

/// Arguments that choose what is fetched and how. They are no secrets.
const HARMLESS: &[&str] = &[
    "archive",
    "aws_profile",
    "branch",
    "checksum",
    "commit",
    "depth",
    "digest",
    "filename",
    "path",
    "ref",
    "region",
    "rev",
    "subdir",
    "tag",
    "terraform-get",
    "version",
    "versionid",
];

static USER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"([A-Za-z][A-Za-z0-9+.-]*)://([^/?\s"'`]+)@"#).expect("a valid expression")
});
static QUERY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(/[^\s"'`?]*\?)([^\s"'`]*=[^\s"'`]*)"#).expect("a valid expression")
});

/// Returns a text in which every credential of an address is replaced by one word.
pub fn masked(text: &str) -> Cow<'_, str> {
    mask(text, &|_, _| MASK.to_owned())
}

/// Returns a source address as it is recorded: without credentials, and yet another one where arguments are others. A user
/// and a password choose nothing, so that nothing is kept of them.
pub(super) fn recorded(text: &str) -> Cow<'_, str> {
    mask(text, &|part, secret| match part {
        Part::User => MASK.to_owned(),
        Part::Argument => {
            let hash: String =
                Sha256::digest(secret)[..4].iter().map(|it| format!("{it:02x}")).collect();
            format!("{MASK}-{hash}")
        }
    })
}

/// What part of an address a credential is.
#[derive(Clone, Copy)]
enum Part {
    User,
    Argument,
}

/// Returns a text of the same length in which every credential of an address is struck out, so that places in it stay.
pub fn struck_out(text: &str) -> Cow<'_, str> {
    mask(text, &|_, secret| "*".repeat(secret.len()))
}

/// Returns whether a text holds a credential of an address.
pub fn has_credentials(text: &str) -> bool {
    masked(text) != text
}

fn mask<'t>(text: &'t str, replaced: &dyn Fn(Part, &str) -> String) -> Cow<'t, str> {
    // Nearly no text has either, and looking for a character is cheap.
    if !text.contains(['@', '?']) {
        return Cow::Borrowed(text);
    }
    let users = USER.replace_all(text, |it: &Captures<'_>| {
        let (scheme, user) = (&it[1], &it[2]);
        match user.contains(':') || (scheme.starts_with("http") && user != "git") {
            true => format!("{scheme}://{}@", replaced(Part::User, user)),
            false => it[0].to_owned(),
        }
    });
    let queries = QUERY.replace_all(&users, |it: &Captures<'_>| {
        let pairs: Vec<String> = it[2].split('&').map(|pair| pair_masked(pair, replaced)).collect();
        format!("{}{}", &it[1], pairs.join("&"))
    });
    match queries {
        Cow::Borrowed(_) => users,
        Cow::Owned(it) => Cow::Owned(it),
    }
}

fn pair_masked(pair: &str, replaced: &dyn Fn(Part, &str) -> String) -> String {
    match pair.split_once('=') {
        Some((name, value))
            if !value.is_empty()
                && !value.starts_with(MASK)
                && !HARMLESS.contains(&name.to_ascii_lowercase().as_str()) =>
        {
            format!("{name}={}", replaced(Part::Argument, value))
        }
        _ => pair.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_differs_where_arguments_do() {
        let all =
            ["https://me:a@e.com/x?k=1", "https://me:b@e.com/x?k=1", "https://me:a@e.com/x?k=2"];
        let [first, second, third] = all.map(recorded);
        assert_eq!(first, "https://REDACTED@e.com/x?k=REDACTED-6b86b273");
        assert_eq!(first, second);
        assert_ne!(first, third);
        assert_eq!(recorded(&first), "https://REDACTED@e.com/x?k=REDACTED-6b86b273", "read again");
    }

    #[test]
    fn credentials_of_addresses_are_masked_wherever_they_stand() {
        for (text, wanted) in [
            ("https://me:pw@e.com/a.zip", "https://REDACTED@e.com/a.zip"),
            ("git::https://token@e.com/a.git?ref=v1", "git::https://REDACTED@e.com/a.git?ref=v1"),
            ("ssh://git:pw@e.com/a", "ssh://REDACTED@e.com/a"),
            ("https://a:p@w@e.com/x", "https://REDACTED@e.com/x"),
            ("https://e.com/a?token=t0p&archive=zip", "https://e.com/a?token=REDACTED&archive=zip"),
            ("github.com/a/b//c?access_token=x", "github.com/a/b//c?access_token=REDACTED"),
            ("fatal: 'https://u:p@e.com/' not found", "fatal: 'https://REDACTED@e.com/' not found"),
        ] {
            assert_eq!(masked(text), wanted);
            assert!(has_credentials(text));
            assert_eq!(struck_out(text).len(), text.len());
        }
        for text in [
            "git::ssh://git@e.com/a.git?ref=x",
            "git@e.com:a/b.git",
            "./a?b",
            "who@e.com? yes",
            "a ? b = c",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
