//! Why something is so, and why something is not: proofs from the interpreter, checked, and told in sentences.
//!
//! A proof is a list of steps in which premises stand before what rests on them, each once. Nothing here recurses over
//! it: a chain of ten thousand steps is as good as one of three.

pub mod check;
pub mod manual;
pub mod proof;
pub mod render;
pub mod sentence;
pub mod why_not;

use entail_rules::{Atom, Facts, Node};

pub use manual::relations_markdown;
pub use proof::{Known, Proof};
pub use render::{render, to_json};
pub use why_not::WhyNot;

use crate::datalog::kinds::TEXT;
use crate::reason::Engine;

/// What ids are called, and where given facts come from.
pub trait Leaves {
    /// Returns what a node is called, such as `null_resource.a[0]`.
    fn name(&self, node: Node) -> String;

    /// Returns where a given row comes from: `main.tf:2,38`, a flag, a state entry, the provider's own word.
    fn origin(&self, relation: &str, row: &[u64]) -> Option<String>;

    /// Returns where it stands that a fact which is not there cannot be: the block of what would have none, for one.
    fn against(&self, _relation: &str, _row: &[Option<u64>]) -> Option<String> {
        None
    }

    /// Returns what an id of another kind is called: `Block`, `Module`, `Config`, `Family`, `Alias`, `Key`, `Flag`, `Statement`; or what a text is.
    fn id(&self, kind: &str, word: u64) -> String {
        format!("{} {word}", kind.to_lowercase())
    }
}

/// Returns what a word in a column of this kind is called.
fn name(leaves: &dyn Leaves, kind: &str, word: u64) -> String {
    if kind == Node::KIND {
        return Node::from_word(word).map_or(word.to_string(), |it| leaves.name(it));
    }
    if let Some(text) = entail_rules::atom::word_text(kind, word) {
        return text.to_owned();
    }
    match kind {
        "i64" | "i32" => word.cast_signed().to_string(),
        kind if kind == TEXT || entail_rules::atom::IDS.contains(&kind) => leaves.id(kind, word),
        _ => word.to_string(),
    }
}

/// Explains a row that holds: what it rests on, down to what is given. Nothing if it does not hold.
pub fn why(engine: &dyn Engine, facts: &Facts, relation: &str, row: &[u64]) -> Option<Proof> {
    Known::about(engine, facts, &[relation]).why(relation, row)
}

/// Explains why a row does not hold. Nothing if it does, or if there is no such relation.
pub fn why_not(engine: &dyn Engine, facts: &Facts, relation: &str, row: &[u64]) -> Option<WhyNot> {
    Known::about(engine, facts, &[relation]).why_not(relation, row)
}

#[cfg(test)]
mod tests;
