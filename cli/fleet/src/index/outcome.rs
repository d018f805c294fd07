//! The outcome of an index: as text and as JSON.

use std::collections::BTreeMap;

use entail::diagnostic::Diagnostics;
use serde_json::{Value as Json, json};

use crate::reading::in_a_line;

/// What came of an index.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// How many stacks the lake has.
    pub stacks: usize,
    /// How many objects.
    pub objects: usize,
    /// How many stacks were read again.
    pub changed: usize,
    /// How many bytes its files have.
    pub bytes: usize,
    /// Stacks that could not be read, by name.
    pub failed: BTreeMap<String, Diagnostics>,
    /// What else should be known.
    pub problems: Diagnostics,
}

impl Outcome {
    /// Returns it as text.
    pub fn text(&self, lake: &str) -> String {
        let mut out = String::new();
        for (stack, problems) in &self.failed {
            out.push_str(&format!("{stack}  {}\n", in_a_line(problems)));
        }
        out.push_str(&format!(
            "{lake}: {} stacks, {} objects, {} bytes; {} read again, {} could not be read.\n",
            self.stacks,
            self.objects,
            self.bytes,
            self.changed,
            self.failed.len()
        ));
        out
    }

    /// Returns it as a document.
    pub fn to_json(&self) -> Json {
        let failed =
            self.failed.iter().map(|(stack, it)| json!({ "stack": stack, "error": in_a_line(it) }));
        json!({
            "stacks": self.stacks,
            "objects": self.objects,
            "changed": self.changed,
            "bytes": self.bytes,
            "failed": failed.collect::<Vec<_>>(),
        })
    }
}
