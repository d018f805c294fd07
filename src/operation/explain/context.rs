//! What questions are answered from: the facts of a plan, what their numbers stand for, and where things stand.

use std::collections::BTreeMap;
use std::sync::Arc;

use entail_rules::atom::word_text;
use entail_rules::configurations::Configurations;
use entail_rules::providers::Providers;
use entail_rules::{Atom, Facts, Flag, Node, Tables, beside};

use super::super::saved::Loaded;
use super::super::session::Session;
use super::declared::{block_of, blocks, declared, forced, formerly, protected};
use super::failures::Failures;
use super::words::Words;
use crate::address::{Instance, InstanceKey};
use crate::diagnostic::{Diagnostic, Sources, Span};
use crate::explain::{Known, Leaves};
use crate::lower::structure::{CallId, NodeKind, ProviderId, ResourceId};
use crate::lower::{Lowered, Provenance, ReadPlaces, Structure};
use crate::planner::Finished;
use crate::policy::catalogue;
use crate::reason::{self, EngineRef};
use crate::world::World;

/// What questions are answered from: a plan just made, or a saved one.
pub struct ExplainContext {
    pub(super) engine: EngineRef,
    pub(in crate::operation) facts: Arc<Facts>,
    pub(in crate::operation) structure: Arc<Structure>,
    /// What key sets, values and objects are derived from, its rows sorted; `None` unless the trace was asked for it.
    pub(in crate::operation) provenance: Option<Provenance>,
    places: Places,
    flags: Vec<String>,
    words: Words,
    blocks: Vec<(String, String)>,
    forced: BTreeMap<Node, String>,
    /// The former and the present address of each object that was moved.
    pub(super) formerly: Vec<(Instance, Instance)>,
    pub(super) failures: Failures,
    /// What follows for questions about decisions, where that is known already.
    pub(super) decided: Option<Arc<Known>>,
}

/// A relation: its name, and its rows in words.
pub type Relation = (String, Vec<Vec<String>>);

/// Where reads and declarations stand: as spans where the sources are at hand, else as a plan file says.
enum Places {
    Read {
        reads: ReadPlaces,
        declared: BTreeMap<Node, Span>,
        protected: BTreeMap<Node, Span>,
        sources: Sources,
    },
    Saved {
        reads: Arc<BTreeMap<(Node, Node), String>>,
        declared: Arc<BTreeMap<Node, String>>,
        protected: Arc<BTreeMap<Node, String>>,
    },
}

impl Places {
    /// The places in what was just read.
    fn read(session: &Session, structure: &Structure, reads: ReadPlaces) -> Places {
        Places::Read {
            reads,
            declared: declared(session, structure),
            protected: protected(session, structure),
            sources: session.sources.clone(),
        }
    }

    fn of_read(&self, pair: (Node, Node)) -> Option<String> {
        match self {
            Places::Read { reads, sources, .. } => {
                reads.get(&pair).filter(|it| it.file().0 != 0).map(|it| sources.place(it))
            }
            Places::Saved { reads, .. } => reads.get(&pair).cloned(),
        }
    }

    fn of_protected(&self, node: Node) -> Option<String> {
        match self {
            Places::Read { protected, sources, .. } => {
                protected.get(&node).map(|it| sources.place(*it))
            }
            Places::Saved { protected, .. } => protected.get(&node).cloned(),
        }
    }

    fn of_declared(&self, node: Node) -> Option<String> {
        match self {
            Places::Read { declared, sources, .. } => {
                declared.get(&node).map(|it| sources.place(*it))
            }
            Places::Saved { declared, .. } => declared.get(&node).cloned(),
        }
    }
}

impl ExplainContext {
    /// Returns the context of a plan just made.
    pub fn of_planned(session: &Session, finished: &Finished) -> ExplainContext {
        ExplainContext {
            engine: session.engine(),
            places: Places::read(session, &finished.structure, finished.places.clone()),
            blocks: blocks(session),
            forced: forced(&finished.structure, &finished.plan),
            formerly: formerly(&finished.plan),
            facts: Arc::new(finished.facts.clone()),
            structure: Arc::new(finished.structure.clone()),
            provenance: None,
            flags: finished.flags.clone(),
            failures: Failures::of(finished, &session.sources, |node| {
                let (resource, ..) = finished.structure.kind(node).object()?;
                Some(block_of(session, &finished.structure, resource)?.body.span)
            }),
            words: Words::of(&finished.serving, &finished.statements, &session.sources),
            decided: None,
        }
    }

    /// Returns the context of what is known before any provider is asked.
    pub fn of_lowered(session: &Session, lowered: &Lowered) -> ExplainContext {
        ExplainContext {
            engine: session.engine(),
            places: Places::read(session, &lowered.structure, lowered.places.clone()),
            blocks: blocks(session),
            forced: BTreeMap::new(),
            formerly: Vec::new(),
            facts: Arc::new(lowered.facts.clone()),
            structure: Arc::new(lowered.structure.clone()),
            provenance: None,
            flags: lowered.flags.clone(),
            failures: Failures::without_reasons(lowered.problems.has_errors()),
            words: Words::of(&lowered.serving, &[], &session.sources),
            decided: None,
        }
    }

    /// Returns whether a relation is about who serves what, so that it may be known before any provider is asked.
    pub fn is_about_providers(relation: &str) -> bool {
        let base = Facts::RELATIONS.iter();
        let concluded = Configurations::RELATIONS.iter().chain(Providers::RELATIONS);
        let of_group = base.filter(|it| it.group == "providers").chain(concluded);
        of_group.into_iter().any(|it| it.name == relation)
    }

    /// Returns the context of a saved plan.
    ///
    /// # Errors
    ///
    /// If the engine that is asked for is none.
    pub fn of_saved(world: &World, loaded: &Loaded) -> Result<ExplainContext, Diagnostic> {
        Ok(ExplainContext {
            engine: reason::named(world)?,
            facts: loaded.facts.clone(),
            structure: loaded.structure.clone(),
            provenance: None,
            places: Places::Saved {
                reads: loaded.places.clone(),
                declared: loaded.declared.clone(),
                protected: loaded.protected.clone(),
            },
            flags: loaded.flags.clone(),
            failures: Failures::without_reasons(loaded.plan.errored),
            words: loaded.words.clone(),
            blocks: loaded.blocks.clone(),
            forced: forced(&loaded.structure, &loaded.plan),
            formerly: formerly(&loaded.plan),
            decided: None,
        })
    }

    /// Adds what follows for questions about decisions: [`decided_by`](super::decided_by) the same facts.
    pub fn with_decided(self, decided: Option<Arc<Known>>) -> ExplainContext {
        ExplainContext { decided, ..self }
    }

    /// Returns what follows from the facts of some relations, with derivations.
    pub fn known(&self, relations: &[&str]) -> Known {
        Known::about(self.engine, &self.facts, relations)
    }

    /// Returns a relation's rows in words, or those of every relation that has any.
    ///
    /// # Errors
    ///
    /// If there is no relation of that name.
    pub fn relations(&self, name: Option<&str>) -> Result<Vec<Relation>, Diagnostic> {
        let conclusions = self.engine.conclude_all(&self.facts);
        let mut found: Vec<Relation> = Vec::new();
        let mut tables: Vec<&dyn Tables> = vec![&*self.facts];
        tables.extend(conclusions.tables());
        for table in tables {
            table.for_each_relation(&mut |relation, rows| {
                let wanted = name.map_or(rows.count() > 0, |it| it == relation.name);
                if !wanted {
                    return;
                }
                let mut all: Vec<Vec<String>> = Vec::with_capacity(rows.count());
                let mut row = Vec::new();
                for index in 0..rows.count() {
                    rows.write(index, &mut row);
                    all.push(
                        row.iter()
                            .zip(relation.columns)
                            .map(|(word, kind)| self.word(kind, *word))
                            .collect(),
                    );
                }
                // Numbers are of one run; words are the same in each.
                all.sort();
                found.push((relation.name.to_owned(), all));
            });
        }
        match name {
            Some(name) if found.is_empty() => Err(catalogue::no_such_relation(name)),
            _ => Ok(found),
        }
    }

    /// Returns what something of a kind is called.
    pub fn word(&self, kind: &str, word: u64) -> String {
        if kind == Node::KIND {
            return Node::from_word(word).map_or(word.to_string(), |it| self.name(it));
        }
        if let Some(name) = self.words.name(kind, word) {
            return name.clone();
        }
        word_text(kind, word).map_or_else(|| self.id(kind, word), str::to_owned)
    }

    /// Where a provider is asked for: where the read of its instance stands.
    fn place_of_key(&self, node: Node) -> Option<String> {
        beside(&self.facts.reads, node)
            .find(|it| self.structure.provider(*it).is_some())
            .and_then(|it| self.places.of_read((node, it)))
            .or_else(|| self.places.of_declared(node))
    }

    /// Returns whether what a node is for is there: an object that is only named somewhere may not be, and what was expanded
    /// stands for nothing any more.
    pub(in crate::operation) fn is_there(&self, node: Node) -> bool {
        match self.structure.kind(node) {
            NodeKind::Object(..) => self.facts.object.binary_search(&(node,)).is_ok(),
            NodeKind::Pending(_) => {
                let gone = [&self.facts.expanded, &self.facts.skipped];
                !gone.iter().any(|it| it.binary_search(&(node,)).is_ok())
            }
            NodeKind::Variable(module, _)
            | NodeKind::Local(module, _)
            | NodeKind::Output(module, _)
            | NodeKind::Check(module, _) => self.structure.stands(*module),
            _ => true,
        }
    }

    /// Returns where the block of a node stands.
    pub(super) fn place_of(&self, node: Node) -> Option<String> {
        self.places.of_declared(node)
    }

    /// Returns where one node reads another.
    pub(super) fn place_between(&self, node: Node, read: Node) -> Option<String> {
        self.places.of_read((node, read))
    }

    pub(in crate::operation) fn find(&self, address: &str) -> Option<Node> {
        if let Some(name) = address.strip_prefix("output.") {
            let declared = self.structure.modules.first()?.outputs.get(name).copied();
            let recorded = NodeKind::Recorded(name.into());
            let of_state = || self.structure.nodes.iter().position(|it| *it == recorded);
            return declared.or_else(|| Some(Node(of_state()? as u32)));
        }
        if let Ok(instance) = address.parse::<Instance>()
            && let Some(id) = self.structure.resource_id(&instance.of())
            && let Some(node) = self.structure.resource(id).instance(&instance.key)
            // One that is only named somewhere may not be there.
            && self.is_there(node)
        {
            return Some(node);
        }
        let all = self.structure.nodes.iter().enumerate().map(|(index, _)| Node(index as u32));
        let wanted = all.filter(|it| {
            matches!(
                self.structure.kind(*it),
                NodeKind::Provider(_) | NodeKind::Deposed(..) | NodeKind::Pending(_)
            )
        });
        wanted.into_iter().filter(|it| self.is_there(*it)).find(|it| {
            self.structure.name(*it) == address
                || self.structure.name(*it).starts_with(&format!("{address} ("))
                || self.is_recorded_as(*it, address)
        })
    }

    /// Returns whether the keys of a resource are not asked for, because what they depend on is excluded.
    pub(super) fn skips_keys(&self, id: ResourceId) -> bool {
        let is_it = |it: &(Node,)| *self.structure.kind(it.0) == NodeKind::Pending(id);
        self.facts.skipped.iter().any(is_it)
    }

    /// Returns whether the keys of a module call are not asked for, as far as something in it says so.
    pub(super) fn skips_keys_of_call(&self, call: CallId) -> bool {
        self.facts.skipped.iter().any(|it| {
            let NodeKind::Pending(id) = self.structure.kind(it.0) else { return false };
            let mut module = self.structure.resource(*id).module;
            while let Some(at) = module {
                match self.structure.module(at).parent {
                    Some((_, of)) if of == call => return true,
                    parent => module = parent.map(|it| it.0),
                }
            }
            false
        })
    }

    /// Returns whether state files have this address for a provider instance: where a block repeats without an alias, each
    /// key is written as one.
    fn is_recorded_as(&self, node: Node, address: &str) -> bool {
        let NodeKind::Provider(ProviderId(number)) = self.structure.kind(node) else {
            return false;
        };
        let (instance, _) = &self.structure.providers[*number as usize];
        let repeats_by_key = instance.config.alias.as_ref().is_some_and(|it| it.is_empty());
        match &instance.key {
            InstanceKey::Str(key) if repeats_by_key => {
                address == format!("{}.{key}", instance.config)
            }
            _ => false,
        }
    }

    /// Returns where a flag comes from: `-exclude=…`, a line of a file, or a policy.
    pub(super) fn flag(&self, flag: Flag) -> &str {
        self.flags.get(flag.0 as usize).map_or("", String::as_str)
    }

    /// Returns the origin of the flag that asks for an object to be replaced.
    pub(super) fn replaced_by(&self, node: Node) -> Option<&str> {
        let hit = self.facts.replace_hit.iter().find(|it| it.0 == node)?;
        Some(self.flag(hit.1))
    }
}

impl Leaves for ExplainContext {
    fn name(&self, node: Node) -> String {
        self.structure.name(node)
    }

    fn origin(&self, relation: &str, row: &[u64]) -> Option<String> {
        let node = |at: usize| row.get(at).and_then(|it| Node::from_word(*it));
        let flag = |at: usize| row.get(at).and_then(|it| self.flags.get(*it as usize)).cloned();
        match relation {
            "reads" | "may_read" | "reads_open" | "waits_for" | "triggers" | "triggers_by_part"
            | "data_waits" | "data_waits_behind" => {
                let pair = (node(0)?, node(1)?);
                self.places.of_read(pair).or_else(|| self.places.of_declared(pair.0))
            }
            "provider_block" | "provider_node" | "repeats_provider" | "each_key" | "passes"
            | "module_parent" | "statement" | "chains" | "nests" => {
                self.words.place(relation, row).cloned()
            }
            "provider_key" => self.place_of_key(node(0)?),
            "hit" => flag(2),
            "replace_hit" => flag(1),
            "in_state" | "needs" | "deposed_of" | "state_cbd" | "state_keeps_object"
            | "tainted" | "key_kind" | "moved" | "recorded_provider" | "recorded_output"
            | "recorded_result" => Some("state".into()),
            "must_replace" => Some(match node(0).and_then(|it| self.forced.get(&it)) {
                Some(paths) => format!("provider: {paths}"),
                None => "provider".into(),
            }),
            "block_reads" | "repeats" | "asks_cbd" | "in_module" | "asks_provider" => row
                .first()
                .and_then(|it| self.blocks.get(*it as usize))
                .map(|it| it.1.clone())
                .filter(|it| !it.is_empty()),
            "block_gone" | "module_gone" => Some("state".into()),
            "prior" | "differs" | "marks_differ" | "trigger_differs" | "failed" => {
                Some("provider".into())
            }
            "protection" => node(0).and_then(|it| self.places.of_protected(it)),
            "lacks_value" => node(0).and_then(|it| self.places.of_declared(it)),
            "config_unknown" => node(0).and_then(|it| self.places.of_declared(it)),
            "mode" | "filtered" | "targeting" | "excluding" | "outputs_need_all" => {
                Some("request".into())
            }
            _ => node(0).and_then(|it| self.places.of_declared(it)),
        }
    }

    fn against(&self, relation: &str, row: &[Option<u64>]) -> Option<String> {
        match (relation, row) {
            ("block_gone" | "module_gone", [Some(word), ..]) => {
                Node::from_word(*word).and_then(|it| self.places.of_declared(it))
            }
            _ => None,
        }
    }

    fn id(&self, kind: &str, word: u64) -> String {
        match kind {
            "Flag" => self.flags.get(word as usize).cloned().unwrap_or_default(),
            "Block" => self.blocks.get(word as usize).map(|it| it.0.clone()).unwrap_or_default(),
            _ if self.words.name(kind, word).is_some() => {
                self.words.name(kind, word).cloned().unwrap_or_default()
            }
            _ => format!("{} {word}", kind.to_lowercase()),
        }
    }
}
