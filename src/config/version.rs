//! Versions and version constraints: `>= 1.2, < 2.0.0-beta1`.

mod normal;

use std::cmp::Ordering;
use std::fmt;

pub use normal::{compare, normal, normal_text};

/// The version of OpenTofu whose language and formats this program follows; version constraints are checked against it.
pub const OPENTOFU_VERSION: &str = "1.12.6";

/// A version: numbers, an optional prerelease part, and metadata that no order depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    /// The numbers, padded to at least three.
    pub numbers: Vec<u64>,
    /// How many numbers were written.
    pub written: usize,
    /// The part after `-`, empty where absent.
    pub prerelease: String,
    /// The part after `+`, empty where absent.
    pub metadata: String,
}

/// One condition of a [`Constraints`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// How the version is compared.
    pub operator: Operator,
    /// What it is compared with.
    pub version: Version,
    text: String,
}

/// How a constraint compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Operator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Pessimistic,
}

/// Conditions that must all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraints(pub Vec<Constraint>);

impl Version {
    /// Reads `1.2.3-beta.1+meta`, with an optional leading `v`.
    pub fn parse(text: &str) -> Option<Version> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let (text, metadata) = text.split_once('+').unwrap_or((text, ""));
        let (numbers, prerelease) = text.split_once('-').unwrap_or((text, ""));
        let is_word = |it: &str| {
            !it.is_empty()
                && it.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'~')
        };
        if text.contains('-') && !prerelease.split('.').all(is_word) {
            return None;
        }
        let mut numbers = numbers.split('.').map(number).collect::<Option<Vec<u64>>>()?;
        let written = numbers.len();
        numbers.resize(written.max(3), 0);
        Some(Version {
            numbers,
            written,
            prerelease: prerelease.to_owned(),
            metadata: metadata.to_owned(),
        })
    }

    /// Returns the version without its prerelease part.
    pub fn core(&self) -> Version {
        Version { prerelease: String::new(), metadata: String::new(), ..self.clone() }
    }
}

fn number(text: &str) -> Option<u64> {
    if text.bytes().all(|it| it.is_ascii_digit()) { text.parse().ok() } else { None }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        let length = self.numbers.len().max(other.numbers.len());
        let at = |it: &Version, index: usize| it.numbers.get(index).copied().unwrap_or(0);
        (0..length)
            .map(|index| at(self, index).cmp(&at(other, index)))
            .find(|it| it.is_ne())
            .unwrap_or_else(|| compare_prereleases(&self.prerelease, &other.prerelease))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares prerelease parts word by word: numbers before names, fewer words first, and a release after all of them.
fn compare_prereleases(a: &str, b: &str) -> Ordering {
    match (a.is_empty(), b.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let (mut ours, mut theirs) = (a.split('.'), b.split('.'));
    loop {
        let order = match (ours.next(), theirs.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(x), Some(y)) => match (number(x), number(y)) {
                (Some(x), Some(y)) => x.cmp(&y),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => x.cmp(y),
            },
        };
        if order.is_ne() {
            return order;
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.numbers.iter().map(u64::to_string).collect();
        f.write_str(&numbers.join("."))?;
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if self.metadata.is_empty() { Ok(()) } else { write!(f, "+{}", self.metadata) }
    }
}

impl Constraints {
    /// Reads conditions separated by commas.
    pub fn parse(text: &str) -> Option<Constraints> {
        text.split(',')
            .map(|it| Constraint::parse(it.trim()))
            .collect::<Option<Vec<_>>>()
            .map(Constraints)
    }

    /// Returns whether a version fulfils every condition. A prerelease is only allowed by a condition that names one of the same numbers.
    pub fn allow(&self, version: &Version) -> bool {
        self.0.iter().all(|it| it.allows(version))
    }
}

impl Constraint {
    fn parse(text: &str) -> Option<Constraint> {
        use Operator::*;
        const OPERATORS: [(&str, Operator); 8] = [
            ("!=", NotEqual),
            (">=", GreaterOrEqual),
            ("<=", LessOrEqual),
            ("~>", Pessimistic),
            ("=", Equal),
            (">", Greater),
            ("<", Less),
            ("", Equal),
        ];
        let (sign, operator) = OPERATORS.into_iter().find(|(sign, _)| text.starts_with(sign))?;
        let version = Version::parse(text[sign.len()..].trim())?;
        Some(Constraint { operator, version, text: text.to_owned() })
    }

    /// Returns whether it names a prerelease.
    pub fn has_prerelease(&self) -> bool {
        !self.version.prerelease.is_empty()
    }

    /// Returns whether a version fulfils it.
    pub fn allows(&self, version: &Version) -> bool {
        let order = version.cmp(&self.version);
        let is_comparable = version.prerelease.is_empty()
            || (self.has_prerelease() && version.core().cmp(&self.version.core()).is_eq());
        match self.operator {
            Operator::Equal => order.is_eq(),
            Operator::NotEqual => order.is_ne(),
            Operator::Greater => is_comparable && order.is_gt(),
            Operator::GreaterOrEqual => is_comparable && order.is_ge(),
            Operator::Less => is_comparable && order.is_lt(),
            Operator::LessOrEqual => is_comparable && order.is_le(),
            Operator::Pessimistic => {
                is_comparable && order.is_ge() && self.agrees_in_all_but_the_last(version)
            }
        }
    }

    /// `~> 1.2` holds for every `1.x`: all written numbers but the last must be equal.
    fn agrees_in_all_but_the_last(&self, version: &Version) -> bool {
        let fixed = self.version.written.saturating_sub(1).max(1);
        // A single number fixes nothing but itself: `~> 2` allows every version from 2 on.
        if self.version.written == 1 {
            return true;
        }
        (0..fixed).all(|index| {
            version.numbers.get(index).copied().unwrap_or(0) == self.version.numbers[index]
        })
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> = self.0.iter().map(|it| it.text.as_str()).collect();
        f.write_str(&texts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(constraints: &str, allowed: &[&str], refused: &[&str]) {
        let constraints = Constraints::parse(constraints).expect("a constraint");
        let version = |it: &str| Version::parse(it).expect("a version");
        for it in allowed {
            assert!(constraints.allow(&version(it)), "{constraints} allows {it}");
        }
        for it in refused {
            assert!(!constraints.allow(&version(it)), "{constraints} refuses {it}");
        }
    }

    #[test]
    fn bounds_hold_together() {
        check(">= 1.2, < 2", &["1.2", "1.99.3"], &["1.1.9", "2.0.0"]);
        check("!= 1.3.0, = 1.4", &["1.4.0"], &["1.3.0", "1.4.1"]);
    }

    #[test]
    fn the_pessimistic_operator_fixes_all_but_the_last_number() {
        check("~> 1.2", &["1.2.0", "1.9.4"], &["1.1.0", "2.0.0"]);
        check("~> 1.2.3", &["1.2.3", "1.2.9"], &["1.2.2", "1.3.0"]);
        check("~> 1", &["1.0.0", "2.5.0"], &["0.9.0"]);
    }

    #[test]
    fn a_prerelease_must_be_asked_for() {
        check(">= 1.0.0", &["1.0.0"], &["1.1.0-beta1", "1.0.0-rc1"]);
        check(">= 1.0.0-beta1", &["1.0.0-beta2", "1.0.0"], &["1.1.0-beta1"]);
    }

    #[test]
    fn prereleases_stand_in_order() {
        let mut versions: Vec<Version> =
            ["1.0.0", "1.0.0-rc.1", "1.0.0-alpha.2", "1.0.0-alpha.10", "1.0.0-alpha"]
                .map(|it| Version::parse(it).expect("a version"))
                .into();
        versions.sort();
        let texts: Vec<String> = versions.iter().map(Version::to_string).collect();
        assert_eq!(texts.join(" "), "1.0.0-alpha 1.0.0-alpha.2 1.0.0-alpha.10 1.0.0-rc.1 1.0.0");
    }

    #[test]
    fn nonsense_is_refused() {
        for it in ["", "x", ">= ", "1..2", ">> 1", "1.0-"] {
            assert_eq!(Constraints::parse(it), None, "{it}");
        }
    }
}
