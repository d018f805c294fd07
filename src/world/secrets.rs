//! Secrets that this run sends: an error of a server or program that repeats one is shown without it.

use std::fmt;

use serde_json::json;

use super::World;

/// The text that replaces a secret.
const HIDDEN: &str = "(sensitive)";

/// The fewest bytes of a variable that counts as a secret: shorter values are words of ordinary messages.
const SHORTEST: usize = 6;

/// The ends of the names of variables that hold secrets.
const ENDS: [&str; 6] = ["TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "PASSWD", "_KEY"];

/// Secrets that this run sends to a server or gives to a program, the longest first.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

/// Prints no secret.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

impl Secrets {
    /// Returns the secrets of the environment, which every program that this run starts gets: the variables with a name like
    /// `TF_TOKEN_…` or `…_PASSWORD`.
    pub fn of_environment(world: &World) -> Secrets {
        let is_secret = |name: &str| {
            let name = name.to_ascii_uppercase();
            name.starts_with("TF_TOKEN_") || ENDS.iter().any(|it| name.ends_with(it))
        };
        let mut secrets = Secrets::default();
        for (name, value) in &world.environment {
            if value.len() >= SHORTEST && is_secret(name) {
                secrets.add(value);
            }
        }
        secrets
    }

    /// Returns them with more secrets.
    pub fn with<'s>(mut self, more: impl IntoIterator<Item = &'s str>) -> Secrets {
        more.into_iter().for_each(|it| self.add(it));
        self
    }

    /// Adds a secret, as it is and as JSON writes it.
    pub fn add(&mut self, secret: &str) {
        let secret = secret.trim();
        let quoted = json!(secret).to_string();
        let escaped = quoted.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        for text in [Some(secret), escaped].into_iter().flatten() {
            if !text.is_empty() && !self.0.iter().any(|it| it == text) {
                self.0.push(text.to_owned());
            }
        }
        self.0.sort_by_key(|it| std::cmp::Reverse(it.len()));
    }

    /// Returns a text with `(sensitive)` in place of each secret.
    pub fn hide(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = match self.0.iter().find(|it| rest.starts_with(it.as_str())) {
                Some(secret) => {
                    shown.push_str(HIDDEN);
                    secret.len()
                }
                None => {
                    shown.push(first);
                    first.len_utf8()
                }
            };
            rest = &rest[length..];
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_replaced_as_they_are_and_as_json_writes_them() {
        let secrets = Secrets::default().with(["hush", "hush-hush", "a\"b", "", "e"]);
        assert_eq!(secrets.hide("hush-hush, é"), "(sensitive), é");
        assert_eq!(
            secrets.hide(r#"{"t": "a\"b"} a"b here"#),
            r#"{"t": "(sensitive)"} (sensitive) h(sensitive)r(sensitive)"#
        );
        assert_eq!(format!("{secrets:?}"), "Secrets");
    }

    #[test]
    fn variables_whose_names_say_so_are_secrets() {
        let mut world = World::of_this_process();
        world.environment.clear();
        for (name, value) in [
            ("TF_TOKEN_app_example_com", "first-secret"),
            ("PGPASSWORD", "second-secret"),
            ("AWS_SECRET_ACCESS_KEY", "third-secret"),
            ("AWS_ACCESS_KEY_ID", "no-secret"),
            ("SHORT_TOKEN", "short"),
        ] {
            world.environment.insert(name.into(), value.into());
        }
        let shown = Secrets::of_environment(&world)
            .hide("first-secret second-secret third-secret no-secret short");
        assert_eq!(shown, "(sensitive) (sensitive) (sensitive) no-secret short");
    }
}
