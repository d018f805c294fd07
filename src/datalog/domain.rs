//! What rules over values ask of whoever knows the values.

use super::values::{self, Values};
use crate::value::{Str, Value};
use crate::world::World;

/// When a node is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tense {
    /// As it will be; without a plan, as the configuration says.
    Planned,
    /// As it is, after refresh: `old(n)`.
    Old,
    /// As the state file says: `state(n)`.
    State,
    /// As it is written, before provider and defaults: `config(n)`.
    Config,
}

/// Where the tense stands in the word of a node.
const PLACE: u32 = 40;

impl Tense {
    /// Returns the tense that a word of the language means.
    pub fn of(name: &str) -> Option<Tense> {
        Some(match name {
            "old" => Tense::Old,
            "state" => Tense::State,
            "config" => Tense::Config,
            _ => return None,
        })
    }

    /// Returns the word of the language; `planned` has none.
    pub fn name(self) -> &'static str {
        match self {
            Tense::Planned => "planned",
            Tense::Old => "old",
            Tense::State => "state",
            Tense::Config => "config",
        }
    }

    /// Returns the word of a node in this tense; a node that has one keeps it.
    pub fn of_node(self, word: u64) -> u64 {
        let tensed = Tense::split(word).0;
        if values::is_value(word) || tensed != Tense::Planned {
            return word;
        }
        word | ((self as u64) << PLACE)
    }

    /// Returns the tense of a node's word, and the node.
    pub fn split(word: u64) -> (Tense, u64) {
        let tense = match word >> PLACE & 0b11 {
            0 => Tense::Planned,
            1 => Tense::Old,
            2 => Tense::State,
            _ => Tense::Config,
        };
        (tense, word & !(0b11 << PLACE))
    }
}

/// Whoever knows what nodes and values are.
pub trait Domain: Sync {
    /// Returns the value of a node in the tense of its word; nothing where it has none then.
    fn value_of(&self, node: u64) -> Option<Value>;

    /// Returns whether the value of a node is as somebody wrote it, before a provider has said of what types its arguments are.
    fn is_as_written(&self, node: u64) -> bool {
        let _ = node;
        false
    }

    /// Returns whether a node stands for instances of which it is not known how many there will be.
    fn is_several(&self, node: u64) -> bool {
        let _ = node;
        false
    }

    /// Returns what something of a kind is called: the address of a node.
    fn show(&self, kind: &str, word: u64) -> Str;

    /// Returns the values with their words.
    fn values(&self) -> &Values;

    /// Returns clock, environment and folders.
    fn world(&self) -> &World;
}

/// Returns whether what a word stands for, a value or a node in a tense, is as somebody wrote it.
pub fn is_as_written(word: u64, tense: Tense, domain: &dyn Domain) -> bool {
    match values::is_value(word) {
        true => values::is_loose(word),
        false => domain.is_as_written(tense.of_node(word)),
    }
}
