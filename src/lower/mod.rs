//! Documents to facts: the configuration, the state and the request, as rows over nodes. Decides nothing.

use std::collections::BTreeMap;

use entail_rules::{Facts, Flag, Node};

use crate::address::Instance;
use crate::config::Config;
use crate::diagnostic::Span;
use crate::request::Request;
use crate::state::State;

pub mod blocks;
mod configuration;
pub mod existing;
mod knot;
pub mod moves;
pub mod requested;
pub mod serving;
pub mod structure;
pub mod trace;
mod waiting;

pub use blocks::BlockGraph;
pub use moves::{Moved, apply_moves};
pub use structure::Structure;
pub use trace::{Reads, TraceInput};

/// What facts are made from.
pub struct Documents<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// Its blocks.
    pub graph: &'a BlockGraph,
    /// What exists, after moves.
    pub state: &'a State,
    /// Objects that were moved: where they are now, and where they were.
    pub moved: &'a BTreeMap<Instance, Instance>,
    /// What is asked for.
    pub request: &'a Request,
}

/// Facts, and what they are about.
pub struct Lowered {
    /// The facts known before the walk.
    pub facts: Facts,
    /// What the nodes stand for.
    pub structure: Structure,
    /// Where each read stands.
    pub places: BTreeMap<(Node, Node), Span>,
    /// What each flag's number stands for: as written on the command line or in a file.
    pub flags: Vec<String>,
    /// `replace_triggered_by` by attribute: the paths that `n` names of `m`.
    pub triggers: Vec<trace::Trigger>,
    /// What the numbers of provider configurations, their keys and modules stand for.
    pub serving: serving::Serving,
    /// Warnings, such as addresses that match nothing.
    pub problems: crate::diagnostic::Diagnostics,
}

/// Lowers everything that is known before the walk.
pub fn lower(documents: &Documents<'_>, traced: (Structure, Reads)) -> Lowered {
    let (structure, reads) = traced;
    let mut lowered = Lowered {
        facts: Facts { awaits: reads.waits, ..Facts::default() },
        structure,
        places: BTreeMap::new(),
        flags: Vec::new(),
        triggers: reads.triggers,
        serving: Default::default(),
        problems: Default::default(),
    };
    configuration::lower(&mut lowered, documents, &reads.reads);
    waiting::lower(&mut lowered, &reads.reads);
    existing::lower(&mut lowered, documents);
    serving::lower(&mut lowered, documents, &reads.provider_keys, &reads.provider_choices);
    requested::lower(&mut lowered, documents);
    lowered.facts.tidy();
    lowered
}

/// Returns the number of a flag, given it is not known yet.
fn flag(flags: &mut Vec<String>, text: String) -> Flag {
    flags.push(text);
    Flag(flags.len() as u32 - 1)
}
