//! The form in which versions and conditions are compared and written down.

use std::cmp::Ordering;

use super::{Constraint, Constraints, Operator, Version};
use crate::diagnostic::Span;

/// Compares versions, and build metadata where nothing else differs.
pub fn compare(a: &Version, b: &Version) -> Ordering {
    a.cmp(b).then_with(|| a.metadata.cmp(&b.metadata))
}

/// Returns conditions in their normal form, which the lock file and every message have: each once, from the lowest
/// version up.
pub fn normal(conditions: &[Constraint]) -> String {
    let mut sorted: Vec<&Constraint> = conditions.iter().collect();
    sorted.sort_by(|a, b| compare(&a.version, &b.version).then_with(|| rank(a).cmp(&rank(b))));
    let mut texts: Vec<String> = sorted.into_iter().map(normal_condition).collect();
    texts.dedup();
    texts.join(", ")
}

/// Returns what several places of a module demand of one version, in its normal form; what cannot be read is left out.
pub fn normal_text(texts: &[&(String, Span)]) -> String {
    let read = texts.iter().filter_map(|it| Constraints::parse(&it.0));
    normal(&read.flat_map(|it| it.0).collect::<Vec<_>>())
}

fn rank(condition: &Constraint) -> u8 {
    match condition.operator {
        Operator::Greater => 1,
        Operator::GreaterOrEqual => 2,
        Operator::Equal => 3,
        Operator::Pessimistic if condition.version.written == 3 => 4,
        Operator::Pessimistic => 5,
        Operator::LessOrEqual => 6,
        Operator::Less => 7,
        Operator::NotEqual => 8,
    }
}

fn normal_condition(condition: &Constraint) -> String {
    let sign = match condition.operator {
        Operator::Greater => "> ",
        Operator::GreaterOrEqual => ">= ",
        Operator::Equal => "",
        Operator::Pessimistic => "~> ",
        Operator::LessOrEqual => "<= ",
        Operator::Less => "< ",
        Operator::NotEqual => "!= ",
    };
    let version = &condition.version;
    let count = if rank(condition) == 5 { 2 } else { 3 };
    let numbers: Vec<String> = version.numbers.iter().take(count).map(u64::to_string).collect();
    let mut text = format!("{sign}{}", numbers.join("."));
    for (mark, part) in [('-', &version.prerelease), ('+', &version.metadata)] {
        if !part.is_empty() {
            text.push(mark);
            text.push_str(part);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::Constraints;

    #[test]
    fn the_normal_form_is_sorted_and_says_each_condition_once() {
        let normal = |it: &str| super::normal(&Constraints::parse(it).expect("conditions").0);
        assert_eq!(
            normal("< 2, >=1.0, >= 1.0.0, ~>1.2, ~> 1.2.0, != 1.4, =1.5"),
            ">= 1.0.0, ~> 1.2.0, ~> 1.2, != 1.4.0, 1.5.0, < 2.0.0"
        );
        assert_eq!(normal("~> 3"), "~> 3.0");
        assert_eq!(normal("1.0.0-beta1+x"), "1.0.0-beta1+x");
        assert_eq!(super::normal(&[]), "");
    }
}
