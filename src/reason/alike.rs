//! Conclusions about few nodes, kept by what was said of them.
//!
//! Rules do not look at what nodes are called: facts that differ in the names of nodes alone lead to conclusions that differ in the
//! same way. An engine takes its time before it comes to the first rule; who asks a million times about a node or two mostly asks
//! what has been answered.

use entail_rules::{Atom, Ledger, Node, Stratum, Tables};
use rustc_hash::FxHashMap;

use super::EngineRef;

/// The most nodes and rows that are looked at: with more of them, an engine is as quick.
const FEW: usize = 32;

/// The most answers that are kept.
const MANY: usize = 4096;

/// What one stratum concluded from few facts, for whoever asks about the like.
#[derive(Debug)]
pub struct Alike<S> {
    /// Conclusions in which nodes are numbers from 0, by facts in which they are the same.
    known: FxHashMap<Box<[u64]>, S>,
    asked: Spelled,
}

/// A ledger as whole numbers: of each relation that has rows where it stands and their count, then these.
#[derive(Debug, Default)]
struct Spelled {
    words: Vec<u64>,
    /// The nodes, in the order in which they come.
    nodes: Vec<u64>,
}

impl<S> Default for Alike<S> {
    fn default() -> Self {
        Alike { known: FxHashMap::default(), asked: Spelled::default() }
    }
}

impl<S: Stratum + Default> Alike<S> {
    /// Returns what an engine concludes from a ledger, which it is not asked twice.
    pub fn conclude(&mut self, engine: EngineRef, ledger: &Ledger<'_>) -> S {
        if !self.asked.spell(ledger) {
            return engine.conclude(ledger);
        }
        let Spelled { words, nodes } = &self.asked;
        if let Some(known) = self.known.get(&words[..])
            && let Some(found) = renamed(known, |it| nodes.get(it as usize).copied())
        {
            return found;
        }
        let found: S = engine.conclude(ledger);
        let number = |node| nodes.iter().position(|it| *it == node).map(|it| it as u64);
        if self.known.len() < MANY
            && let Some(kept) = renamed(&found, number)
        {
            self.known.insert(words[..].into(), kept);
        }
        found
    }
}

impl Spelled {
    /// Writes a ledger; false when too much stands there.
    fn spell(&mut self, ledger: &Ledger<'_>) -> bool {
        let Spelled { words, nodes } = self;
        words.clear();
        nodes.clear();
        let mut count = 0;
        let mut row = Vec::new();
        for (whose, tables) in ledger.tables().into_iter().enumerate() {
            tables.for_each_filled(&mut |place, relation, rows| {
                count += rows.count();
                if count > FEW {
                    return;
                }
                words.extend([whose as u64, place as u64, rows.count() as u64]);
                for index in 0..rows.count() {
                    rows.write(index, &mut row);
                    words.extend(relation.columns.iter().zip(&row).map(|(kind, word)| {
                        match *kind == Node::KIND {
                            true => number(nodes, *word),
                            false => *word,
                        }
                    }));
                }
            });
        }
        count <= FEW && nodes.len() <= FEW
    }
}

/// Returns the place of a node among those that have come, itself included.
fn number(nodes: &mut Vec<u64>, node: u64) -> u64 {
    let known = nodes.iter().position(|it| *it == node);
    known.unwrap_or_else(|| {
        nodes.push(node);
        nodes.len() - 1
    }) as u64
}

/// Returns conclusions with other names for their nodes, if there is one for each.
fn renamed<S: Tables + Default>(from: &S, name: impl Fn(u64) -> Option<u64>) -> Option<S> {
    let mut to = S::default();
    let mut whole = true;
    let mut row = Vec::new();
    from.for_each_filled(&mut |place, relation, rows| {
        for index in 0..rows.count() {
            rows.write(index, &mut row);
            for (kind, word) in relation.columns.iter().zip(&mut row) {
                if *kind == Node::KIND {
                    match name(*word) {
                        Some(node) => *word = node,
                        None => whole = false,
                    }
                }
            }
            whole &= to.push_at(place, &row);
        }
    });
    to.tidy();
    whole.then_some(to)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use entail_rules::decide::Decisions;
    use entail_rules::text::{self, Names};
    use entail_rules::{Conclusions, Facts};

    use super::*;
    use crate::datalog::random;
    use crate::reason::{Compiled, Engine};

    /// Counts how often it is asked.
    #[derive(Debug, Default)]
    struct Counting(AtomicUsize);

    impl Engine for Counting {
        fn name(&self) -> &'static str {
            "counting"
        }

        fn fill(&self, ledger: &Ledger<'_>, stratum: &mut dyn Stratum) {
            self.0.fetch_add(1, Ordering::Relaxed);
            Compiled.fill(ledger, stratum);
        }
    }

    /// Concludes from facts, each time with conclusions of before; returns what was found, and how often the engine was asked.
    fn ask(ledgers: &[&str]) -> (Vec<String>, usize) {
        let engine: &'static Counting = Box::leak(Box::default());
        let mut alike = Alike::<Decisions>::default();
        let found = ledgers.iter().map(|it| {
            let mut names = Names::default();
            let (facts, earlier) = text::read_ledger(it, &mut names);
            text::print(&alike.conclude(engine, &earlier.ledger(&facts)), &names)
        });
        (found.collect(), engine.0.load(Ordering::Relaxed))
    }

    #[test]
    fn what_differs_in_names_alone_is_asked_once() {
        let (found, asked) = ask(&[
            "mode(Normal). managed(a). declared(a). reads(a, b). seen(b, Changing).",
            "mode(Normal). reads(x, y). seen(y, Changing). managed(x). declared(x).",
            "mode(Normal). seen(z, Changing). reads(y, z). managed(y). declared(y).",
        ]);
        assert_eq!(asked, 1);
        assert_eq!(found[0], found[1].replace("(x", "(a"));
        assert_eq!(found[0], found[2].replace("(y", "(a"));
    }

    #[test]
    fn what_differs_in_anything_else_is_asked_again() {
        let (found, asked) = ask(&[
            "mode(Normal). managed(a). declared(a).",
            "mode(RefreshOnly). managed(a). declared(a).",
            "mode(Normal). managed(a). declared(a). prior(a).",
            "mode(Normal). managed(a). declared(b).",
            "mode(Normal). managed(a). declared(a). excluded(a).",
        ]);
        assert_eq!(asked, 5);
        assert_ne!(found[0], found[4]);
    }

    #[test]
    fn facts_under_other_names_lead_to_what_an_engine_concludes_from_them() {
        let mut alike = Alike::<Decisions>::default();
        for seed in 1..2000 {
            let facts = some(&random::facts(seed), seed);
            let others = renamed(&facts, |it| Some(100 - it)).expect("every node has a name");
            for facts in [&facts, &others] {
                let earlier = Conclusions::of(facts, |ledger, it| Compiled.fill(ledger, it));
                let ledger = Ledger::of(facts);
                let ledger =
                    ledger.with(&earlier.instances).with(&earlier.selection).with(&earlier.spread);
                let wanted: Decisions = (&Compiled as EngineRef).conclude(&ledger);
                assert_eq!(alike.conclude(&Compiled, &ledger), wanted, "seed {seed}");
            }
        }
        let acting = alike.known.values().filter(|it| !it.action.is_empty()).count();
        assert!(acting > 100, "of {} only {acting} have an action", alike.known.len());
    }

    /// Returns one row in ten, and all that say what is there.
    fn some(all: &Facts, seed: u64) -> Facts {
        let mut chance = random::numbers(seed);
        let mut some = Facts::default();
        let mut row = Vec::new();
        all.for_each_relation(&mut |relation, rows| {
            let is_told = matches!(relation.name, "managed" | "declared" | "prior");
            for index in (0..rows.count()).filter(|_| is_told || chance(10) == 0) {
                rows.write(index, &mut row);
                some.push_row(relation.name, &row);
            }
        });
        some.mode = vec![(entail_rules::Mode::Normal,)];
        some
    }
}
