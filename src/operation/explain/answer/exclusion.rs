//! Why something is excluded: the ways to what flags name, nearest first.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use entail_rules::Node;
use rustc_hash::FxHashMap;

use super::Teller;
use super::reasons::{Because, reason};
use crate::lower::structure::NodeKind;
use crate::syntax::Expression;

/// How many flags are told of one node.
const FLAGS: usize = 6;

/// A node, and whether it is all instances of a block and stands for one of them.
type Met = (Node, bool);

/// A way from a node to one that a flag names.
struct Way<'a> {
    hops: Vec<(Node, Node)>,
    root: Node,
    flag: &'a str,
}

/// One step of a way, as it is told.
struct Hop {
    /// What reads, by its name.
    subject: String,
    /// The same where it is what is asked about: `it`, `its for_each`.
    short: String,
    edge: Edge,
    object: String,
    place: Option<String>,
}

/// How a node depends on another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// It refers to it.
    Reads,
    /// Its `depends_on` names it.
    DependsOn,
    /// The other way round: the object of the second depends on that of the first.
    NeededBy,
}

impl Edge {
    fn verb(self) -> &'static str {
        match self {
            Edge::Reads => "reads",
            Edge::DependsOn => "names",
            Edge::NeededBy => "is needed by",
        }
    }
}

impl<'a> Teller<'a> {
    /// Answers for what takes no part: because of an exclusion, or for want of a target.
    pub fn frozen(&self, node: Node) -> Option<Because> {
        let name = self.name(node);
        if self.holds("untargeted", node) {
            let text = format!(
                "{name} is not targeted. No -target matches it, and nothing that is targeted depends on it."
            );
            return Some(Because::new(text, self.declared(node)));
        }
        let head = format!("{name} is excluded from this plan");
        let told = Because::completed(self.exclusion(node), |first| format!("{head}: {first}."));
        Some(told.unwrap_or_else(|| Because::new(head, None)))
    }

    /// Returns why a node is excluded, once for each flag: `it reads X, which -exclude leaves out`.
    pub fn exclusion(&self, node: Node) -> Vec<Because> {
        let ways = self.ways(node);
        ways.iter().map(|way| self.way(node, way)).collect()
    }

    /// Returns the flag that excludes a node: `-exclude` if it names just that node.
    ///
    /// - `called`: what the node is called.
    pub fn flag(&self, node: Node, called: &str) -> Option<String> {
        Some(flag_shown(self.ways(node).first()?.flag, called))
    }

    /// The nearest way to each flag.
    fn ways(&self, node: Node) -> Vec<Way<'a>> {
        let mut from: FxHashMap<Met, Met> = FxHashMap::default();
        let mut todo = VecDeque::from([(node, false)]);
        let mut ways: Vec<Way<'a>> = Vec::new();
        while let Some(met) = todo.pop_front() {
            let (at, stands_for_one) = met;
            let flags = self.flags.get(&at).filter(|_| !stands_for_one);
            for flag in flags.into_iter().flatten().copied() {
                if !ways.iter().any(|it| it.flag == flag) {
                    ways.push(Way { hops: hops(&from, node, met), root: at, flag });
                }
            }
            if ways.len() >= FLAGS {
                break;
            }
            let behind = if stands_for_one { self.staying_users(at) } else { self.behind(at) };
            for next in behind.into_iter().filter(|it| *it != node) {
                // The state names the block of one of its instances: that stays for who depends on it, whatever the others read.
                let is_whole = matches!(self.context.structure.kind(next), NodeKind::Collection(_));
                let next = (next, is_whole && self.edge(at, next).0 == Edge::NeededBy);
                if let Entry::Vacant(place) = from.entry(next) {
                    place.insert(met);
                    todo.push_back(next);
                }
            }
        }
        ways
    }

    /// What a node is excluded because of, itself aside.
    fn behind(&self, node: Node) -> Vec<Node> {
        let mut all: Vec<Node> = self.nodes_beside("excluded_by", node).collect();
        if all.is_empty() {
            // Nothing is certain yet.
            all.extend(self.nodes_beside("doubted_by", node));
        }
        all.retain(|it| *it != node);
        if all.is_empty() && self.holds("kept", node) {
            // It stays for what depends on it, and would not be destroyed otherwise.
            all = self.staying_users(node);
        }
        all
    }

    /// What depends on a node, says the state, and stays.
    fn staying_users(&self, node: Node) -> Vec<Node> {
        self.users(node).filter(|it| self.holds("kept", *it)).collect()
    }

    fn way(&self, node: Node, way: &Way<'_>) -> Because {
        let told = self.told_hops(node, &way.hops);
        let root = self.called(way.root);
        let leaves_out = format!("{} leaves out", flag_shown(way.flag, &root));
        let [first, others @ ..] = told.as_slice() else {
            let verb = if way.flag.starts_with("policy ") { "excludes" } else { "names" };
            return Because::new(format!("{} {verb} it", way.flag), None);
        };
        let place = first.place.clone();
        if others.is_empty() {
            let text = match first.edge {
                Edge::NeededBy => format!(
                    "it would be destroyed, but {}, which {leaves_out}, depends on it",
                    first.object
                ),
                edge => {
                    format!("{} {} {}, which {leaves_out}", first.short, edge.verb(), first.object)
                }
            };
            return Because::new(text, place);
        }
        let text = match first.edge {
            Edge::NeededBy => format!(
                "it would be destroyed, but {} depends on it and stays because of {root}, which {leaves_out}",
                first.object
            ),
            _ => format!("it depends on {root}, which {leaves_out}"),
        };
        let mut because = Because::new(text, place);
        because.below = told
            .iter()
            .map(|it| {
                let text = match it.edge {
                    Edge::NeededBy => format!("{} depends on {}", it.object, it.subject),
                    edge => format!("{} {} {}", it.subject, edge.verb(), it.object),
                };
                reason(1, text, it.place.clone())
            })
            .collect();
        because
    }

    /// The steps of a way as people read them: what stands for all instances is named by its resource, keys by their argument.
    fn told_hops(&self, node: Node, hops: &[(Node, Node)]) -> Vec<Hop> {
        let mut told: Vec<Hop> = Vec::new();
        // The argument that reads next, where it is no block that does.
        let mut argument: Option<(String, String)> = None;
        for &(from, to) in hops {
            if let Some(own) = self.keys_of(from, to) {
                argument = own.or(argument);
                continue;
            }
            if let Some(last) = told.last_mut().filter(|_| self.is_part(from, to)) {
                if !matches!(self.context.structure.kind(to), NodeKind::Repetition(_)) {
                    last.object = self.called(to);
                }
                continue;
            }
            let of_node = if from == node { "it".to_owned() } else { self.called(from) };
            let (edge, place) = self.edge(from, to);
            let is_whole = matches!(self.context.structure.kind(from), NodeKind::Collection(_));
            if let Some(last) = told
                .last_mut()
                .filter(|it| is_whole && edge == Edge::NeededBy && it.edge == Edge::NeededBy)
            {
                // The state names the block, which stands for the instance.
                last.object = self.called(to);
                continue;
            }
            let (subject, short) = match (argument.take(), edge) {
                (Some(argument), _) => argument,
                (None, Edge::DependsOn) => {
                    let its =
                        if from == node { "its depends_on".to_owned() } else { String::new() };
                    (format!("depends_on of {}", self.called(from)), its)
                }
                (None, _) => (self.called(from), of_node),
            };
            let short = if short.is_empty() { subject.clone() } else { short };
            told.push(Hop { subject, short, edge, object: self.called(to), place });
        }
        told
    }

    /// How a node depends on another, as a part of a sentence about it: `it reads X`.
    pub fn link(&self, from: Node, to: Node) -> Because {
        let (edge, place) = self.edge(from, to);
        let subject = if edge == Edge::DependsOn { "its depends_on" } else { "it" };
        Because::new(format!("{subject} {} {}", edge.verb(), self.called(to)), place)
    }

    fn edge(&self, from: Node, to: Node) -> (Edge, Option<String>) {
        let reads = self.context.facts.reads.binary_search(&(from, to)).is_ok();
        let may_read = || self.context.facts.may_read.binary_search(&(from, to)).is_ok();
        let needs = || self.context.facts.needs.binary_search(&(to, from)).is_ok();
        if !reads && !may_read() && needs() {
            return (Edge::NeededBy, Some("state".to_owned()));
        }
        let place = self.context.place_between(from, to).or_else(|| self.declared(from));
        match self.is_in_depends_on(from, to) {
            true => (Edge::DependsOn, place),
            false => (Edge::Reads, place),
        }
    }

    /// Whether a reference stands in `depends_on`.
    fn is_in_depends_on(&self, from: Node, to: Node) -> bool {
        let Some(causes) = self.causes else { return false };
        let Some(span) = causes.model.places.get(&(from, to)) else { return false };
        let structure = &self.context.structure;
        let is_in = |all: &[Expression]| all.iter().any(|it| it.span.contains(span));
        match structure.kind(from) {
            NodeKind::Object(id, _) | NodeKind::Pending(id) => {
                structure.block(*id).is_some_and(|it| is_in(&it.besides.depends_on))
            }
            NodeKind::Module(id) => {
                let call = structure.module(*id).parent.and_then(|it| structure.call_block(it.1));
                call.is_some_and(|it| is_in(&it.besides.depends_on))
            }
            NodeKind::Output(id, name) => {
                let output = structure.module(*id).config.outputs.get(name);
                output.is_some_and(|it| is_in(&it.depends_on))
            }
            _ => false,
        }
    }

    /// The argument by which a node repeats, if the other node is its keys, or the module instance around it.
    fn keys_of(&self, from: Node, to: Node) -> Option<Option<(String, String)>> {
        let structure = &self.context.structure;
        match (structure.kind(from), structure.kind(to)) {
            (NodeKind::Object(id, _) | NodeKind::Pending(id), NodeKind::Repetition(of))
                if id == of =>
            {
                let word = structure.resource(*of).style.word();
                Some(Some((self.called(to), format!("its {word}"))))
            }
            (_, NodeKind::CallKeys(call)) if !self.is_reference(from, to) => {
                let called = format!(
                    "{} of {}",
                    structure.call(*call).style.word(),
                    structure.call_name(*call)
                );
                Some(Some((called.clone(), called)))
            }
            (NodeKind::Object(id, _) | NodeKind::Pending(id), NodeKind::Module(module))
                if structure.resource(*id).module == Some(*module) =>
            {
                Some(None)
            }
            _ => None,
        }
    }

    /// Whether a block of the same module names a call whose keys it reads.
    fn is_reference(&self, from: Node, to: Node) -> bool {
        let structure = &self.context.structure;
        let NodeKind::CallKeys(call) = structure.kind(to) else { return false };
        let own = match structure.kind(from) {
            NodeKind::Object(id, _) | NodeKind::Pending(id) => structure.resource(*id).module,
            NodeKind::Module(_) => return false,
            NodeKind::Variable(id, _) | NodeKind::Local(id, _) | NodeKind::Output(id, _) => {
                Some(*id)
            }
            _ => None,
        };
        own == Some(structure.call(*call).parent)
    }

    /// Whether a node is an instance, or a part, of what the other stands for.
    fn is_part(&self, whole: Node, to: Node) -> bool {
        match (self.context.structure.kind(whole), self.context.structure.kind(to)) {
            (
                NodeKind::Collection(id),
                NodeKind::Object(of, _) | NodeKind::Repetition(of) | NodeKind::Pending(of),
            ) => id == of,
            _ => false,
        }
    }

    /// What a node is called where it stands for a whole: by the address of the block.
    pub fn called(&self, node: Node) -> String {
        let structure = &self.context.structure;
        match structure.kind(node) {
            NodeKind::Collection(id) | NodeKind::Pending(id) => {
                structure.resource(*id).address.to_string()
            }
            NodeKind::Repetition(id) => {
                let resource = structure.resource(*id);
                format!("{} of {}", resource.style.word(), resource.address)
            }
            NodeKind::CallKeys(call) => {
                format!("{} of {}", structure.call(*call).style.word(), structure.call_name(*call))
            }
            NodeKind::Call(call) | NodeKind::Inside(call) => structure.call_name(*call),
            _ => self.name(node),
        }
    }
}

/// A flag as a part of a sentence about what it names.
fn flag_shown(flag: &str, called: &str) -> String {
    match flag.strip_prefix("-exclude=") {
        Some(named) if named == called => "-exclude".to_owned(),
        _ => flag.to_owned(),
    }
}

/// The steps from a node to what was met, by where each was reached from.
fn hops(from: &FxHashMap<Met, Met>, start: Node, to: Met) -> Vec<(Node, Node)> {
    let (mut hops, mut at) = (Vec::new(), to);
    while at.0 != start {
        let Some(before) = from.get(&at) else { break };
        hops.push((before.0, at.0));
        at = *before;
    }
    hops.reverse();
    hops
}
