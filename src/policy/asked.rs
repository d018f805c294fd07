//! What a policy asks of a plan before it is made.

use serde_json::{Value as Json, json};

/// Something that a policy asks of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The rule's name.
    pub rule: String,
    /// What it asks: `exclude`, `target`, `replace`, `create_first`, `before`, `one_at_a_time`.
    pub head: &'static str,
    /// Of what.
    pub address: String,
    /// Before what, or in which group.
    pub with: Option<String>,
    /// The file and the line of the rule.
    pub place: (String, usize),
}

impl Asked {
    /// Returns it as a document.
    pub fn to_json(&self) -> Json {
        json!({
            "rule": self.rule,
            "head": self.head,
            "address": self.address,
            "with": self.with,
            "rule_file": self.place.0,
            "rule_line": self.place.1,
        })
    }

    pub(super) fn origin(&self) -> String {
        let (file, line) = &self.place;
        let group = match self.head {
            "one_at_a_time" => self.with.as_ref().map(|it| format!("group {it:?}, ")),
            _ => None,
        };
        format!("{}policy {} ({file}:{line})", group.unwrap_or_default(), self.rule)
    }
}
