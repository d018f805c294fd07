//! How long each stratum takes on 100 000 objects in layers, each of which reads three of the previous two hundred.

use std::hint::black_box;
use std::time::Instant;

use entail_rules::decide::Decisions;
use entail_rules::instances::Instances;
use entail_rules::order::Order;
use entail_rules::outputs::Outputs;
use entail_rules::selection::Selection;
use entail_rules::spread::Spread;
use entail_rules::{Action, Block, Facts, Flag, Hit, Ledger, Mode, Node, Reason, Stratum};

const OBJECTS: u32 = 100_000;
const BATCH: usize = 64;

#[expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]
fn main() {
    let facts = layered();
    println!("{OBJECTS} objects, {} reads, {} needs", facts.reads.len(), facts.needs.len());
    let ledger = Ledger::of(&facts);
    let selection: Selection = timed("selection, one excluded", || run(&ledger));
    let mut targeted = facts.clone();
    targeted.targeting.push(());
    targeted.hit.push((Node(OBJECTS - 1), Hit::Target, Flag(1)));
    timed("selection, one targeted", || run::<Selection>(&Ledger::of(&targeted)));
    timed("instances", || run::<Instances>(&ledger));
    let mut asking = facts.clone();
    asking.asks_cbd.push((Block(OBJECTS - 1),));
    let spread: Spread = timed("spread", || run(&Ledger::of(&asking)));
    timed("outputs", || run::<Outputs>(&ledger.with(&selection)));
    let decisions = timed("decide, in batches of 64", || decide_all(&facts));
    println!("  {} actions", decisions.action.len());
    timed("order, all updated", || run::<Order>(&ledger.with(&spread).with(&decisions)));
    let mut replaced = decisions.clone();
    replaced.action.iter_mut().for_each(|it| it.1 = Action::DeleteThenCreate);
    timed("order, all replaced", || run::<Order>(&ledger.with(&replaced)));
    replaced.action = (0..OBJECTS).map(|it| (Node(it), Action::Delete, Reason::Plain)).collect();
    timed("order, all destroyed", || run::<Order>(&ledger.with(&replaced)));
}

fn run<S: Stratum + Default>(ledger: &Ledger<'_>) -> S {
    let mut found = S::default();
    found.run_compiled(ledger);
    found
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]
fn timed<T>(what: &str, run: impl Fn() -> T) -> T {
    let mut best = f64::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        black_box(run());
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    println!("{what:<28} {best:8.1} ms");
    run()
}

fn layered() -> Facts {
    let mut facts = Facts { mode: vec![(Mode::Normal,)], filtered: vec![()], ..Facts::default() };
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for n in 0..OBJECTS {
        let node = Node(n);
        facts.object.push((node,));
        facts.managed.push((node,));
        facts.declared.push((node,));
        facts.in_state.push((node,));
        facts.prior.push((node,));
        facts.differs.push((node,));
        facts.of.push((node, Block(n)));
        for _ in 0..3.min(n) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let other = n - 1 - (state % u64::from(n.min(200))) as u32;
            facts.reads.push((node, Node(other)));
            facts.needs.push((node, Node(other)));
            facts.block_reads.push((Block(n), Block(other)));
        }
        let output = Node(OBJECTS + n);
        facts.output.push((output,));
        facts.value.push((output,));
        facts.reads.push((output, node));
    }
    facts.hit.push((Node(OBJECTS / 2), Hit::Exclude, Flag(0)));
    facts.tidy();
    facts
}

/// Decides every object, a batch at a time.
fn decide_all(facts: &Facts) -> Decisions {
    let mut found = Decisions::default();
    for objects in facts.managed.chunks(BATCH) {
        let batch = Facts {
            mode: facts.mode.clone(),
            managed: objects.to_vec(),
            declared: objects.to_vec(),
            prior: objects.to_vec(),
            differs: objects.to_vec(),
            ..Facts::default()
        };
        found.absorb(&run(&Ledger::of(&batch)));
    }
    found
}
