//! Documents to facts: the configuration, the state and the request, as rows over nodes. Decides nothing.

use std::collections::BTreeMap;

use entail_rules::instances::Instances;
use entail_rules::{Facts, Ledger, Node};

use crate::address::Instance;
use crate::config::Config;
use crate::reason::EngineRef;
use crate::request::Request;
use crate::state::State;

pub mod blocks;
mod configuration;
pub mod existing;
mod cyclic_core;
pub mod gone;
mod key_sets;
pub mod moves;
mod read_places;
pub mod removed;
pub mod requested;
pub mod serving;
pub mod structure;
pub mod trace;
mod waiting;

pub use blocks::BlockGraph;
pub use moves::{Moved, apply_moves};
pub use read_places::ReadPlaces;
pub use structure::Structure;
use structure::{ModuleId, ResourceId};
pub use trace::{Late, Provenance, Reads, TraceInput};

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
    pub places: ReadPlaces,
    /// What each flag's number stands for: as written on the command line or in a file.
    pub flags: Vec<String>,
    /// What key sets, values and objects are derived from ([`Reads::provenance`]).
    pub provenance: Provenance,
    /// `replace_triggered_by` by attribute: the paths that `n` names of `m`.
    pub triggers: Vec<trace::Trigger>,
    /// What the numbers of provider configurations, their keys and modules stand for.
    pub serving: serving::Serving,
    /// Warnings, such as addresses that match nothing.
    pub problems: crate::diagnostic::Diagnostics,
}

/// What of a structure is lowered.
struct Part<'a> {
    /// The first node that is new in it.
    first: usize,
    /// Resources whose instances, or whose pending node, are.
    resources: &'a [ResourceId],
    /// Module instances that are.
    modules: &'a [ModuleId],
}

/// Lowers everything that is known before the walk.
pub fn lower(documents: &Documents<'_>, structure: Structure, reads: Reads) -> Lowered {
    let mut lowered = Lowered::of(structure);
    let count = |it: usize| 0..it as u32;
    let resources: Vec<_> = count(lowered.structure.resources.len()).map(ResourceId).collect();
    let modules: Vec<_> = count(lowered.structure.modules.len()).map(ModuleId).collect();
    let part = Part { first: 0, resources: &resources, modules: &modules };
    configuration::request(&mut lowered.facts, documents.request);
    configuration::blocks(&mut lowered, documents);
    configuration::lower(&mut lowered, documents, &part, &reads);
    waiting::lower(&mut lowered, |node| reads.of(node).collect());
    existing::lower(&mut lowered, documents, &reads);
    key_sets::lower(&mut lowered, documents, &reads);
    if !lowered.facts.pending.is_empty() {
        configuration::open(&mut lowered, &|_| false);
    }
    serving::lower(&mut lowered, documents, &reads.provider_keys, &reads.provider_choices);
    requested::lower(&mut lowered, documents);
    lowered.finish(documents, reads, When::Always)
}

/// When facts are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// From the documents, or as an answer.
    Always,
    /// Of instances that were found in the walk.
    Late,
}

/// Leaves out what a test wants to see missed: `ENTAIL_WITHOUT=relation`, or `late:relation`. Other builds leave out nothing.
pub fn leave_out(facts: &mut Facts, when: When) {
    if let Some(name) = crate::world::left_out() {
        match name.strip_prefix("late:") {
            Some(name) if when == When::Late => facts.clear(name),
            Some(_) => {}
            None => facts.clear(name),
        }
    }
}

/// Lowers what a run is, before anything is traced: `mode` and the like, and one row of `in_state` where anything exists.
pub fn of_run(request: &Request, state: &State) -> Facts {
    let mut facts = Facts::default();
    configuration::request(&mut facts, request);
    let instances = state.resources.values().flat_map(|it| it.instances.values());
    let exists = instances.take(1).map(|_| (Node(0),));
    facts.in_state.extend(exists);
    leave_out(&mut facts, When::Always);
    facts
}

/// Concludes what kind of run it is from the facts about the run as a whole: `mode`, `adopts` and `precedes_destroy`.
pub fn judged_run(engine: EngineRef, facts: &Facts) -> Instances {
    let of_run = Facts {
        mode: facts.mode.clone(),
        adopts: facts.adopts.clone(),
        precedes_destroy: facts.precedes_destroy.clone(),
        ..Facts::default()
    };
    engine.conclude(&Ledger::of(&of_run))
}

/// Lowers what was found when the keys of a block became known, by the same functions as all the rest.
///
/// - `found`: the structure with what was added, which comes back in the result, and what reads what in that.
/// - `first`: its first new node.
/// - `waited`: instances that were nodes before, and waited for these keys.
/// - `read_before`: what a node reads, as far as that was known before.
/// - `is_known`: whether a node that was pending is so no longer.
pub fn lower_more(
    documents: &Documents<'_>,
    found: Late,
    (first, waited): (usize, &[Node]),
    read_before: impl Fn(Node) -> Vec<Node>,
    is_known: &dyn Fn(Node) -> bool,
) -> Lowered {
    let Late { structure, reads, resources, modules } = found;
    let mut lowered = Lowered::of(structure);
    let part = Part { first, resources: &resources, modules: &modules };
    configuration::request(&mut lowered.facts, documents.request);
    configuration::lower(&mut lowered, documents, &part, &reads);
    waiting::lower(&mut lowered, |node| {
        read_before(node).into_iter().chain(reads.of(node)).collect()
    });
    existing::lower_more(&mut lowered, documents, waited);
    key_sets::lower_more(&mut lowered, documents, part.resources, waited);
    configuration::open(&mut lowered, is_known);
    requested::lower_more(&mut lowered, documents, part.resources);
    lowered.finish(documents, reads, When::Late)
}

impl Lowered {
    /// Keeps what is left to keep of the trace, and brings the facts into order.
    fn finish(mut self, documents: &Documents<'_>, reads: Reads, when: When) -> Lowered {
        self.triggers = reads.triggers;
        self.provenance = reads.provenance;
        // Of a million objects there are millions, for plan files and policies alone.
        if !documents.request.only_shown {
            self.places.add(reads.may_read);
            self.places.add(reads.reads);
        }
        self.facts.tidy();
        leave_out(&mut self.facts, when);
        self
    }

    fn of(structure: Structure) -> Lowered {
        Lowered {
            facts: Facts::default(),
            structure,
            places: ReadPlaces::default(),
            flags: Vec::new(),
            provenance: Provenance::default(),
            triggers: Vec::new(),
            serving: Default::default(),
            problems: Default::default(),
        }
    }
}
