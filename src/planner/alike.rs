//! Decisions about nodes, kept by what was said of them.
//!
//! Rules do not look at what nodes are called: facts that differ in the names of nodes alone lead to conclusions that differ in the
//! same way. An engine takes its time before it comes to the first rule; who asks a million times about one node each mostly asks
//! what has been answered.

use entail_rules::decide::Decisions;
use entail_rules::{Action, Atom, Facts, Node, Reason, Seen, Tables};
use rustc_hash::FxHashMap;

use super::said::{Batch, Said};
use crate::lower::{When, leave_out};
use crate::reason::EngineRef;

/// The most that is looked at of what is said of a node: of more, an engine is as quick.
const FEW: usize = 64;

/// The most decisions that are kept.
const MANY: usize = 4096;

/// What was decided of nodes, for whoever asks about the like.
#[derive(Debug, Default)]
pub struct Alike {
    /// Conclusions in which nodes are numbers from 0, the node itself, by what was said in which they are the same.
    known: FxHashMap<Box<[Said]>, Concluded>,
    /// What is said of the node that is asked about, with such numbers.
    spelled: Vec<Said>,
    /// The nodes that they stand for.
    nodes: Vec<Node>,
    row: Vec<u64>,
}

/// What the rules decided of a node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decided {
    /// What is to be done, and why.
    pub action: Option<(Action, Reason)>,
    /// Whether nothing can be said of it, because of something that it reads.
    pub blocked: bool,
    /// Whether it is read, or opened, while planning.
    pub now: bool,
    /// Whether the provider plans it a second time, as if nothing existed.
    pub again: bool,
    /// Whether it is asked what `prevent_destroy` comes to.
    pub asks_protection: bool,
    /// Whether the plan is refused because of it, as is known once that was asked.
    pub forbidden: bool,
}

/// What is taken in of every node.
#[derive(Debug, Default)]
pub struct Taken {
    /// Every row that was concluded.
    pub decisions: Decisions,
    /// What those who read the nodes of the last decision are told.
    pub told: Vec<(Node, Seen)>,
}

/// All that was concluded of a node.
#[derive(Debug)]
struct Concluded {
    decided: Decided,
    told: Vec<(Node, Seen)>,
    /// The rows, by the places of their relations.
    rows: Vec<(usize, Box<[Word]>)>,
}

/// A column of a row.
#[derive(Clone, Copy, Debug)]
enum Word {
    Node(Node),
    Other(u64),
}

impl Alike {
    /// Returns what an engine decides of a node, which it is not asked twice.
    ///
    /// - `of_run`: the facts that hold for every node.
    /// - `said`: what is said of the node.
    /// - `taken`: takes in what is concluded.
    pub fn decide(
        &mut self,
        engine: EngineRef,
        of_run: &Facts,
        (node, said): (Node, &[Said]),
        taken: &mut Taken,
    ) -> Decided {
        if !self.spell(node, said) {
            return Concluded::of(engine, of_run, (node, said)).hand_out(
                |it| it,
                &mut self.row,
                taken,
            );
        }
        let Alike { known, spelled, nodes, row } = self;
        if !known.contains_key(&spelled[..]) {
            let concluded = Concluded::of(engine, of_run, (node, said));
            let number =
                |node: Node| nodes.iter().position(|it| *it == node).map(|it| Node(it as u32));
            match concluded.renamed(number).filter(|_| known.len() < MANY) {
                Some(kept) => known.insert(spelled[..].into(), kept),
                None => return concluded.hand_out(|it| it, row, taken),
            };
        }
        known[&spelled[..]].hand_out(|it| nodes[it.0 as usize], row, taken)
    }

    /// Writes what is said with numbers for nodes; false when it is too much.
    fn spell(&mut self, node: Node, said: &[Said]) -> bool {
        let Alike { spelled, nodes, .. } = self;
        spelled.clear();
        nodes.clear();
        nodes.push(node);
        if said.len() > FEW {
            return false;
        }
        for it in said {
            let known = nodes.iter().position(|known| *known == it.other);
            let number = known.unwrap_or_else(|| {
                nodes.push(it.other);
                nodes.len() - 1
            });
            spelled.push(Said { other: Node(number as u32), ..*it });
        }
        true
    }
}

impl Concluded {
    /// Lets an engine decide a node.
    fn of(engine: EngineRef, of_run: &Facts, (node, said): (Node, &[Said])) -> Concluded {
        let mut batch = Batch::of(of_run);
        batch.add(node, said);
        leave_out(&mut batch.facts, When::Always);
        let found: Decisions = engine.conclude(&batch.ledger());
        let own = |rows: &[(Node,)]| rows.iter().any(|it| it.0 == node);
        let told = batch.facts.failed.iter().map(|it| (it.0, Seen::Failed));
        let told = told.chain(found.blocked.iter().map(|it| (it.0, Seen::Blocked)));
        let told = told.chain(found.changing.iter().map(|it| (it.0, Seen::Changing)));
        let told = told.chain(found.triggering.iter().map(|it| (it.0, Seen::Triggering)));
        let told = told.chain(found.unsettled.iter().map(|it| (it.0, Seen::Unsettled)));
        let told = told.chain(found.half_configured.iter().map(|it| (it.0, Seen::HalfConfigured)));
        let action = found.action.iter().rfind(|it| it.0 == node);
        let decided = Decided {
            action: action.map(|it| (it.1, it.2)),
            blocked: found.blocked.iter().any(|it| it.0 == node),
            now: own(&found.reads_now) || own(&found.opens),
            again: own(&found.planned_again),
            asks_protection: own(&found.asks_protection),
            forbidden: false,
        };
        Concluded { decided, told: told.collect(), rows: rows(&found) }
    }

    /// Returns it with other names for the nodes, if there is one for each.
    fn renamed(&self, name: impl Fn(Node) -> Option<Node>) -> Option<Concluded> {
        let told = self.told.iter().map(|it| Some((name(it.0)?, it.1)));
        let word = |it: &Word| match *it {
            Word::Node(node) => name(node).map(Word::Node),
            other => Some(other),
        };
        let row = |row: &[Word]| row.iter().map(word).collect::<Option<_>>();
        let rows = self.rows.iter().map(|it| Some((it.0, row(&it.1)?)));
        let (told, rows) = (told.collect::<Option<_>>()?, rows.collect::<Option<_>>()?);
        Some(Concluded { decided: self.decided, told, rows })
    }

    /// Hands out what was concluded, with these names for the nodes.
    ///
    /// - `row`: room for a row.
    fn hand_out(
        &self,
        name: impl Fn(Node) -> Node,
        row: &mut Vec<u64>,
        taken: &mut Taken,
    ) -> Decided {
        taken.told.clear();
        taken.told.extend(self.told.iter().map(|it| (name(it.0), it.1)));
        for (place, words) in &self.rows {
            row.clear();
            row.extend(words.iter().map(|it| match *it {
                Word::Node(node) => name(node).word(),
                Word::Other(word) => word,
            }));
            let fits = taken.decisions.push_at(*place, row);
            debug_assert!(fits, "a row of {} fits no more", Decisions::RELATIONS[*place].name);
        }
        self.decided
    }
}

fn rows(decisions: &Decisions) -> Vec<(usize, Box<[Word]>)> {
    let (mut all, mut row) = (Vec::new(), Vec::new());
    decisions.for_each_filled(&mut |place, relation, rows| {
        for index in 0..rows.count() {
            rows.write(index, &mut row);
            let words =
                relation.columns.iter().zip(&row).map(|(kind, word)| match *kind == Node::KIND {
                    true => Node::from_word(*word).map_or(Word::Other(*word), Word::Node),
                    false => Word::Other(*word),
                });
            all.push((place, words.collect()));
        }
    });
    all
}

#[cfg(test)]
mod tests;
