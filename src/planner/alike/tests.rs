//! Decisions that are kept are those an engine makes, of nodes alone and together.

use std::sync::atomic::{AtomicUsize, Ordering};

use entail_rules::{Conclusions, Ledger, Stratum};

use super::*;
use crate::datalog::random;
use crate::lower::structure::{NodeKind, ResourceId};
use crate::planner::answers::ByNode;
use crate::planner::said::{Answered, What};
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

fn normal() -> Facts {
    Facts { mode: vec![(entail_rules::Mode::Normal,)], ..Facts::default() }
}

fn answered(node: Node, answer: Answered) -> Said {
    Said { what: What::Answered(answer), other: node }
}

/// Returns what is said in a run of each of its nodes, with some answers.
fn said_of_all(facts: &Facts, seed: u64) -> Vec<(Node, Vec<Said>)> {
    const ANSWERS: [Answered; 6] = [
        Answered::Prior,
        Answered::Differs,
        Answered::MustReplace,
        Answered::ConfigUnknown,
        Answered::GoneOutside,
        Answered::Failed,
    ];
    let earlier = Conclusions::of(facts, |ledger, it| Compiled.fill(ledger, it));
    let ledger = Ledger::of(facts);
    let ledger = ledger.with(&earlier.instances).with(&earlier.selection).with(&earlier.spread);
    let mut by_node = ByNode::new(100, &ledger);
    by_node.learn(&facts.seen);
    let mut chance = random::numbers(seed);
    let nodes = facts.managed.iter().chain(&facts.data).map(|it| it.0);
    let said = nodes.map(|node| {
        let mut said = Vec::new();
        by_node.describe(&mut said, node, &NodeKind::Collection(ResourceId(0)));
        said.extend(ANSWERS.iter().filter(|_| chance(3) == 0).map(|it| answered(node, *it)));
        (node, said)
    });
    said.collect()
}

#[test]
fn what_differs_in_names_alone_is_asked_once() {
    let engine: &'static Counting = Box::leak(Box::default());
    let (mut alike, mut taken) = (Alike::default(), Taken::default());
    for (node, read) in [(Node(3), Node(1)), (Node(7), Node(9)), (Node(1), Node(2))] {
        let said = [
            Said { what: What::Seen(crate::planner::said::bit(Seen::Failed)), other: read },
            Said { what: What::Reads, other: read },
        ];
        alike.decide(engine, &normal(), (node, &said), &mut taken);
        assert_eq!(taken.told, [(node, Seen::Blocked)]);
    }
    assert_eq!(engine.0.load(Ordering::Relaxed), 1);
    let blocked = [(Node(3), Node(1)), (Node(7), Node(9)), (Node(1), Node(2))];
    assert_eq!(taken.decisions.blocked, blocked);
}

#[test]
fn what_differs_in_anything_else_is_asked_again() {
    let engine: &'static Counting = Box::leak(Box::default());
    let (mut alike, mut taken) = (Alike::default(), Taken::default());
    let node = Node(0);
    let prior = answered(node, Answered::Prior);
    for said in [&[][..], &[prior], &[prior, answered(node, Answered::Differs)]] {
        alike.decide(engine, &normal(), (node, said), &mut taken);
    }
    assert_eq!(engine.0.load(Ordering::Relaxed), 3);
}

#[test]
fn what_is_kept_is_what_an_engine_concludes() {
    let mut alike = Alike::default();
    let (mut count, mut acting) = (0, 0);
    for seed in 1..1000 {
        let facts = random::facts(seed);
        for (node, said) in said_of_all(&facts, seed) {
            let (mut kept, mut batch) = (Taken::default(), Batch::of(&normal()));
            let decided = alike.decide(&Compiled, &normal(), (node, &said), &mut kept);
            batch.add(node, &said);
            let wanted: Decisions = (&Compiled as EngineRef).conclude(&batch.ledger());
            kept.decisions.tidy();
            assert_eq!(kept.decisions, wanted, "seed {seed}");
            assert_eq!(decided.action, wanted.action.last().map(|it| (it.1, it.2)));
            count += 1;
            acting += usize::from(decided.action.is_some());
        }
    }
    assert!(alike.known.len() < count && acting > 100, "{count} asked, {acting} have an action");
}

#[test]
fn nodes_of_a_batch_are_decided_alone_as_they_are_together() {
    for seed in 1..300 {
        let mut together = Batch::of(&normal());
        let (mut alike, mut alone) = (Alike::default(), Taken::default());
        let facts = random::facts(seed);
        // Those that read nothing of each other: a batch.
        let apart = |nodes: &[Node], said: &[Said], node: Node| {
            said.iter().all(|it| it.other == node || !nodes.contains(&it.other))
        };
        let mut nodes = Vec::new();
        let mut named = Vec::new();
        for (node, said) in said_of_all(&facts, seed) {
            if apart(&nodes, &said, node) && !named.contains(&node) {
                nodes.push(node);
                named.extend(said.iter().map(|it| it.other));
                together.add(node, &said);
                alike.decide(&Compiled, &normal(), (node, &said), &mut alone);
            }
        }
        together.facts.tidy();
        let wanted: Decisions = (&Compiled as EngineRef).conclude(&together.ledger());
        alone.decisions.tidy();
        assert_eq!(alone.decisions, wanted, "seed {seed}");
    }
}
