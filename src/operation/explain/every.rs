//! Every decision of a plan, for whoever tells them all: the rules are run once, and each proof is the one that `why` gives.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use entail_rules::{Atom, Node};

use super::answer::{RELATIONS, Teller, shortened};
use super::causes::Causes;
use super::context::ExplainContext;
use super::links::Links;
use super::question::{About, Question};
use super::waiting::{Turns, turns};
use super::{Asked, DECISIONS, Decided, decided};
use crate::explain::proof::By;
use crate::explain::render::{Line, fold, lines};
use crate::explain::{Known, Leaves, Proof};
use crate::lower::structure::NodeKind;

/// How much of what a proof speaks of is told at most.
const MENTIONED: usize = 100;

/// The decisions of a plan, and what they rest on.
pub struct Every<'a> {
    context: &'a ExplainContext,
    causes: &'a Causes<'a>,
    known: Known,
    teller: Teller<'a>,
    decided: Decided,
    served: BTreeMap<Node, Node>,
    nodes: HashMap<String, Node>,
    /// What rests on what.
    pub links: Links,
    /// What is carried out when.
    pub turns: Turns,
}

/// Why something is so.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The answer of `why`, line by line; the middle of long chains left out.
    pub lines: Vec<Line>,
    /// What it speaks of that is drawn, by its place among the [`Links`].
    pub mentions: Vec<usize>,
}

/// Returns every decision of a plan.
///
/// - `listed`: the names of what is drawn, besides what is left out.
pub fn every<'a>(
    context: &'a ExplainContext,
    causes: &'a Causes<'a>,
    listed: &[String],
) -> Every<'a> {
    let known = context.known(&[DECISIONS, RELATIONS, &["serves"]].concat());
    let teller = Teller::new(context, Some(causes), &known);
    let decided = decided(&known, |_| true);
    let nodes: HashMap<String, Node> = decided.keys().map(|it| (context.name(*it), *it)).collect();
    let mut worth: BTreeSet<Node> = listed.iter().filter_map(|it| nodes.get(it)).copied().collect();
    worth.extend(decided.iter().filter(|it| it.1.0 == "excluded").map(|it| *it.0));
    let pair = |row: &[u64]| Some((Node::from_word(row[1])?, Node::from_word(row[0])?));
    let served = known.rows("serves").filter_map(pair).collect();
    let links = Links::of(context, &worth);
    let turns = turns(context, causes);
    Every { context, causes, known, teller, decided, served, nodes, links, turns }
}

impl Every<'_> {
    /// Tells why the object or output of a name is done with as it is; nothing where nothing is decided of it.
    pub fn why(&self, name: &str) -> Option<Told> {
        let node = *self.nodes.get(name)?;
        let (relation, row) = self.decided.get(&node)?;
        let proof = self.known.why(relation, row);
        let asked = Asked::Decided(node);
        let about = About::Decision;
        let question = Question { asked, missed: None, about, formerly: None };
        let found = question.causes(self.context, self.causes);
        // What a proof comes to stands last in it, and what that rests on before: of a long one, the near end is told.
        let proven = proof.iter().flat_map(nodes_of).collect::<Vec<_>>().into_iter().rev();
        let causes = found.0.iter().chain(&found.1).filter_map(|it| it.node);
        let drawn = causes.chain(proven).filter_map(|it| self.links.place(it));
        let mut mentions = BTreeSet::new();
        for place in drawn {
            if mentions.len() == MENTIONED {
                break;
            }
            mentions.insert(place);
        }
        let mut told = self.teller.decision(node, relation, row);
        if told.is_empty() {
            told = proof.iter().flat_map(|it| lines(it, self.context)).collect();
        }
        let lines = fold(shortened(told), &whole(name));
        Some(Told { lines, mentions: mentions.into_iter().collect() })
    }

    /// Tells why an object has the provider that it has, with the provider's name.
    pub fn provider(&self, name: &str) -> Option<(String, Vec<Line>)> {
        let node = *self.nodes.get(name)?;
        let provider = *self.served.get(&node)?;
        let proof = self.known.why("serves", &[provider.word(), node.word()])?;
        let lines = fold(lines(&proof, self.context), &whole(name));
        Some((self.context.name(provider), lines))
    }

    /// Returns who serves an object.
    pub fn served_by(&self, name: &str) -> Option<String> {
        let provider = self.served.get(self.nodes.get(name)?)?;
        Some(self.context.name(*provider))
    }

    /// Returns what is left out, and through whom: nothing for what the request itself names.
    pub fn excluded(&self) -> Vec<(String, Option<String>)> {
        let mut through: BTreeMap<u64, u64> = BTreeMap::new();
        let mut rows: Vec<&[u64]> = self.known.rows("excluded_by").collect();
        rows.sort();
        for row in rows {
            let entry = through.entry(row[0]).or_insert(row[1]);
            // What the request names itself is its own cause.
            if row[0] == row[1] {
                *entry = row[1];
            }
        }
        let cause = |node: Node| {
            let cause = through.get(&node.word()).copied().and_then(Node::from_word)?;
            (cause != node).then(|| self.context.name(cause))
        };
        self.of("excluded").map(|it| (self.context.name(it), cause(it))).collect()
    }

    /// Returns what no target wants.
    pub fn untargeted(&self) -> Vec<String> {
        self.of("untargeted").map(|it| self.context.name(it)).collect()
    }

    /// Returns the root outputs that keep their value because the run is about a part of the configuration.
    pub fn kept(&self) -> Vec<String> {
        self.of("keeps_value").map(|it| self.context.name(it)).collect()
    }

    /// Returns where the block of something stands.
    pub fn place(&self, name: &str) -> Option<String> {
        self.context.place_of(*self.nodes.get(name)?)
    }

    /// Returns where something stands among the [`Links`].
    pub fn drawn(&self, name: &str) -> Option<usize> {
        self.links.place(*self.nodes.get(name)?)
    }

    /// The nodes of which a relation says what is decided, in the order of their addresses.
    fn of(&self, relation: &'static str) -> impl Iterator<Item = Node> {
        let all = self.decided.iter().filter(move |it| it.1.0 == relation);
        let mut nodes: Vec<Node> = all.map(|it| *it.0).collect();
        let structure = &self.context.structure;
        let is_told =
            |it: &Node| !matches!(structure.kind(*it), NodeKind::Output(module, _) if module.0 > 0);
        nodes.retain(is_told);
        nodes.sort_by_key(|it| structure.instance(*it));
        nodes.into_iter()
    }
}

/// What shows the whole of a proof.
fn whole(name: &str) -> String {
    format!("why -full {name}")
}

/// The nodes that a proof speaks of.
fn nodes_of(proof: &Proof) -> Vec<Node> {
    let steps = proof.steps.iter().filter(|it| !matches!(it.by, By::Carried(_)));
    let words = steps.flat_map(|it| it.kinds.iter().zip(&it.row));
    words.filter(|it| it.0 == Node::KIND).filter_map(|it| Node::from_word(*it.1)).collect()
}
