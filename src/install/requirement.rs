//! Which providers a configuration and a state need, in which versions.
//!
//! Provider versions follow stricter rules than module versions: a prerelease, or a version with build metadata, is
//! chosen only where a condition names exactly it.

use std::collections::BTreeMap;

use crate::address::Provider;
use crate::config::Config;
use crate::config::version::{Constraint, Constraints, Operator, Version, compare};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};

/// What each provider must fulfil: the conditions of every module, in no particular order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requirements(pub BTreeMap<Provider, Vec<Constraint>>);

impl Requirements {
    /// Collects `required_providers`, `provider` blocks, resources and imports of every module.
    pub fn of(config: &Config) -> (Requirements, Diagnostics) {
        let mut all = Requirements::default();
        let mut problems = Diagnostics::new();
        for module in config.modules.values() {
            for (provider, conditions) in module.needs() {
                all.add(&provider, None, &mut problems);
                for it in conditions {
                    all.add(&provider, Some(it), &mut problems);
                }
            }
        }
        (all, problems)
    }

    /// Adds what others require.
    pub fn and(mut self, more: Requirements) -> Requirements {
        for (provider, conditions) in more.0 {
            self.0.entry(provider).or_default().extend(conditions);
        }
        self
    }

    /// Adds providers in any version: those of a state's objects.
    pub fn also(mut self, providers: impl IntoIterator<Item = Provider>) -> Requirements {
        for provider in providers {
            self.0.entry(provider).or_default();
        }
        self
    }

    fn add(
        &mut self,
        provider: &Provider,
        version: Option<&(String, Span)>,
        problems: &mut Diagnostics,
    ) {
        let conditions = self.0.entry(provider.clone()).or_default();
        let Some((text, at)) = version else { return };
        let Some(read) = Constraints::parse(text) else { return };
        if read.0.iter().any(|it| it.version.numbers.len() > 3) {
            problems.push(too_many_numbers(*at));
        }
        conditions.extend(read.0);
    }
}

fn too_many_numbers(at: Span) -> Diagnostic {
    Diagnostic::error("Invalid version constraint")
        .detail("Incorrect version constraint syntax: too many numbered portions; only three are allowed (major, minor, patch).")
        .at(at)
}

/// Returns whether a provider may have a version.
pub fn allows(conditions: &[Constraint], version: &Version) -> bool {
    let is_plain = version.prerelease.is_empty();
    let is_named = || {
        conditions.iter().any(|it| it.operator == Operator::Equal && is_same(&it.version, version))
    };
    conditions.iter().all(|it| holds(it, version)) && (is_plain || is_named())
}

/// Returns whether two versions are one, build metadata included.
pub fn is_same(a: &Version, b: &Version) -> bool {
    a.cmp(b).is_eq() && a.metadata == b.metadata
}

/// Returns versions in ascending order.
pub fn sorted(versions: impl IntoIterator<Item = Version>) -> Vec<Version> {
    let mut all: Vec<Version> = versions.into_iter().collect();
    all.sort_by(compare);
    all
}

fn holds(condition: &Constraint, version: &Version) -> bool {
    let bound = &condition.version;
    let order = version.cmp(bound);
    match condition.operator {
        Operator::Equal => is_same(bound, version),
        Operator::NotEqual => !is_same(bound, version),
        Operator::Greater => order.is_gt(),
        Operator::GreaterOrEqual => order.is_ge(),
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Pessimistic => order.is_ge() && version.cmp(&ceiling(bound)).is_lt(),
    }
}

/// `~> 1.2.3` ends before 1.3.0, `~> 1.2` and `~> 1` before 2.0.0.
fn ceiling(bound: &Version) -> Version {
    let (major, minor) = (bound.numbers[0], bound.numbers[1]);
    let numbers = match bound.written {
        3 => vec![major, minor.saturating_add(1), 0],
        _ => vec![major.saturating_add(1), 0, 0],
    };
    Version { numbers, written: 3, prerelease: String::new(), metadata: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(text: &str) -> Vec<Constraint> {
        Constraints::parse(text).expect("a constraint").0
    }

    #[track_caller]
    fn check(text: &str, allowed: &str, refused: &str) {
        let version = |it: &str| Version::parse(it).expect("a version");
        for it in allowed.split_whitespace() {
            assert!(allows(&conditions(text), &version(it)), "{text} allows {it}");
        }
        for it in refused.split_whitespace() {
            assert!(!allows(&conditions(text), &version(it)), "{text} refuses {it}");
        }
    }

    #[test]
    fn bounds_hold_together() {
        check(">= 1.2, < 2, != 1.4.0", "1.2.0 1.9.9", "1.1.9 1.4.0 2.0.0");
        check("~> 1.2.3", "1.2.3 1.2.9", "1.3.0");
        check("~> 1.2", "1.2.0 1.9.0", "2.0.0");
        check("~> 1", "1.0.0 1.9.0", "2.0.0");
    }

    #[test]
    fn a_prerelease_is_chosen_only_where_it_is_named() {
        check(">= 1.0.0-beta1", "1.0.0 1.1.0", "1.0.0-beta1 1.0.0-beta2");
        check("1.0.0-beta1", "1.0.0-beta1", "1.0.0");
        check(">= 0.9.0, 1.0.0-beta1", "1.0.0-beta1", "0.9.0");
    }

    #[test]
    fn build_metadata_must_be_named() {
        check("1.0.0+local", "1.0.0+local", "1.0.0 1.0.0+other");
        check("1.0.0", "1.0.0", "1.0.0+local");
        check(">= 1.0.0", "1.0.0+local", "");
    }
}
