//! What a policy asks of a plan before it is made.

use serde_json::{Value as Json, json};

use super::rules::SHAPING;

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

    /// Reads it from such a document.
    pub(super) fn of_json(document: &Json) -> Option<Asked> {
        let text = |name: &str| document[name].as_str().map(str::to_owned);
        let line = document["rule_line"].as_u64().unwrap_or_default() as usize;
        Some(Asked {
            rule: text("rule")?,
            head: SHAPING.iter().find(|it| document["head"] == **it)?,
            address: text("address")?,
            with: text("with"),
            place: (text("rule_file")?, line),
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
