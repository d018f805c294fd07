//! `count`, `for_each` and `enabled`, of which a block may have one.

use crate::syntax::Attribute;

use super::decode::{Content, Decoder};
use super::{Repetition, problems};

/// The repetition arguments that a block has.
#[derive(Default)]
pub(super) struct Repetitions(Vec<Attribute>);

impl Repetitions {
    /// Finds `count` and `for_each` among a block's attributes.
    pub fn of(content: &Content) -> Repetitions {
        Repetitions(
            ["count", "for_each"].into_iter().filter_map(|it| content.get(it)).cloned().collect(),
        )
    }

    /// Adds an argument found elsewhere, such as `enabled` in `lifecycle`.
    pub fn add(&mut self, attribute: Option<&Attribute>) {
        self.0.extend(attribute.cloned());
    }

    /// Returns the repetition, and complains where there is more than one. `what` is repeated, in the plural.
    pub fn finish(mut self, decoder: &mut Decoder, what: &str) -> Repetition {
        // The message names them in this order, whatever the source's.
        self.0.sort_by_key(|it| {
            ["count", "enabled", "for_each"].into_iter().position(|name| *name == *it.name.text)
        });
        if let [_, _, ..] = &self.0[..] {
            let names: Vec<String> =
                self.0.iter().map(|it| format!("{:?}", it.name.text)).collect();
            let names = match &names[..] {
                [a, b] => format!("{a} and {b}"),
                [a, b, more @ ..] => format!("{a}, {b}, and {}", more.join(", ")),
                _ => names.join(""),
            };
            let mut spans: Vec<_> = self.0.iter().map(|it| it.name.span).collect();
            spans.sort();
            let whole = spans[0].to(spans[spans.len() - 1]);
            decoder.report(problems::repetition_conflict(&names, what, whole));
        }
        match self.0.into_iter().next() {
            None => Repetition::Single,
            Some(it) => match &*it.name.text {
                "count" => Repetition::Count(it.value.into()),
                "for_each" => Repetition::ForEach(it.value.into()),
                _ => Repetition::Enabled(it.value.into()),
            },
        }
    }
}
