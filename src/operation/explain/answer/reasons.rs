//! A sentence, where its cause stands, and what lies behind it.

use entail_rules::Node;

use super::Teller;
use crate::explain::render::Line;
use crate::operation::explain::causes::Cause;

/// How an object went that is in the state file, as the end of a sentence about it.
pub const DELETED_OUTSIDE: &str =
    "was deleted outside: it is in the state file, and its provider did not find it";

/// A sentence, or a reason as a part of one.
#[derive(Clone, Debug, Default)]
pub struct Because {
    /// The sentence.
    pub text: String,
    /// Where the cause stands.
    pub place: Option<String>,
    /// What lies behind it, from depth 1.
    pub below: Vec<Line>,
}

impl Because {
    /// Returns a sentence without anything behind it.
    pub fn new(text: impl Into<String>, place: Option<String>) -> Because {
        Because { text: text.into(), place, below: Vec::new() }
    }

    /// Returns a sentence that gives the first reason; the others stand below it.
    ///
    /// - `head`: `X will be replaced`.
    pub fn of(head: &str, reasons: Vec<Because>) -> Because {
        let mut reasons = reasons.into_iter();
        let Some(first) = reasons.next() else { return Because::new(head, None) };
        let text = format!("{head} because {}", first.text);
        let mut told = Because { text, place: first.place, below: first.below };
        reasons.for_each(|it| told.add("and because ", it));
        told
    }

    /// Returns a sentence that the first reason completes; the others stand below it. `None` without reasons.
    ///
    /// - `sentence`: the sentence with the text of the first reason.
    pub fn completed(
        reasons: Vec<Because>,
        sentence: impl FnOnce(&str) -> String,
    ) -> Option<Because> {
        let mut reasons = reasons.into_iter();
        let first = reasons.next()?;
        let mut told = Because { text: sentence(&first.text), ..first };
        reasons.for_each(|it| told.add("and ", it));
        Some(told)
    }

    /// Adds another reason below the first.
    ///
    /// - `begin`: what its line begins with.
    pub fn add(&mut self, begin: &str, reason: Because) {
        self.below.push(part(1, format!("{begin}{}", reason.text), reason.place));
        let deeper = reason.below.into_iter().map(|it| Line { depth: it.depth + 1, ..it });
        self.below.extend(deeper);
    }

    /// Returns it line by line.
    pub fn lines(self) -> Vec<Line> {
        let mut lines = vec![part(0, self.text, self.place)];
        lines.extend(self.below);
        lines
    }
}

/// Returns a line that does not begin with `because`.
pub fn part(depth: usize, text: String, place: Option<String>) -> Line {
    Line { depth, text, is_reason: false, origins: place.into_iter().collect() }
}

/// Returns a line that begins with `because`.
pub fn reason(depth: usize, text: String, place: Option<String>) -> Line {
    Line { depth, text, is_reason: true, origins: place.into_iter().collect() }
}

/// One cause of what is done with an object, and what it comes from.
#[derive(Clone, Debug)]
pub struct Group {
    /// What the cause is: `attribute`, `edited`, `keys`, and so on.
    pub kind: &'static str,
    /// The attribute that changes.
    pub attribute: Option<String>,
    /// What the attribute was and becomes.
    pub change: Option<(String, String)>,
    /// Whether the provider cannot make the change in place.
    pub forces: bool,
    /// The cause as a part of a sentence about the object.
    pub told: Because,
}

impl Group {
    /// Returns whether it is a change of an attribute.
    pub fn is_change(&self) -> bool {
        self.attribute.is_some() && self.change.is_some()
    }
}

impl Teller<'_> {
    /// The causes of what is done with an object.
    pub fn groups(&self, node: Node) -> Vec<Group> {
        let Some(causes) = self.causes else { return Vec::new() };
        grouped(&format!("{}.", self.name(node)), causes.of_object(node))
    }

    /// The place of a node's block.
    pub fn declared(&self, node: Node) -> Option<String> {
        self.context.place_of(node)
    }
}

/// Groups causes by the first ones.
///
/// - `own`: what the texts about the object begin with.
fn grouped(own: &str, causes: Vec<Cause>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for cause in causes {
        if cause.depth > 1 {
            if let Some(last) = groups.last_mut() {
                let line = reason(cause.depth - 1, cause.text, cause.place);
                last.told.below.push(line);
            }
            continue;
        }
        let text = cause.text.strip_prefix(own).unwrap_or(&cause.text).to_owned();
        groups.push(Group {
            kind: cause.kind,
            attribute: cause.attribute,
            change: cause.change,
            forces: cause.forces,
            told: Because::new(text, cause.place),
        });
    }
    groups
}
