//! Every engine concludes the same; and the engine of a run is the one that is named.

use entail_rules::outputs::Outputs;
use entail_rules::selection::Selection;
use entail_rules::text::{self, Names};
use expect_test::{Expect, expect};

use super::*;
use crate::datalog::random;

#[test]
fn all_engines_agree_on_random_facts() {
    for seed in 1..600 {
        let facts = random::facts(seed);
        if let Err(difference) = shipped::all_agree(ENGINES, &facts) {
            panic!("seed {seed}: {difference}\n{facts:?}");
        }
    }
}

/// Reads facts and earlier conclusions, and prints what a stratum concludes, which must be the same for every engine.
#[track_caller]
fn check<S: Stratum + Default>(ledger: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (facts, earlier) = text::read_ledger(ledger, &mut names);
    let said: Vec<String> = ENGINES
        .iter()
        .map(|it| text::print(&it.conclude::<S>(&earlier.ledger(&facts)), &names))
        .collect();
    assert!(said.iter().all(|it| *it == said[0]), "{said:?}");
    conclusions.assert_eq(&said[0]);
}

#[test]
fn a_stratum_reads_what_was_concluded_before_from_the_ledger() {
    check::<Outputs>(
        "filtered(). mode(Normal). output(o). value(o). reads(o, a). managed(a). excluded(a). out(a).",
        expect![[r#"
            missing(o).
            keeps_value(o, NothingTaken).
        "#]],
    );
}

#[test]
fn a_stratum_goes_on_from_its_own_earlier_conclusions() {
    check::<Selection>(
        "object(x). reads(x, down). out(down).",
        expect![[r#"
            out(x).
            out(down).
            excluded_by(x, down).
            excluded(x).
        "#]],
    );
}

#[test]
fn what_was_in_a_stratum_is_replaced() {
    let facts = Facts::default();
    for engine in ENGINES {
        let mut found = Selection { want: vec![(entail_rules::Node(7),)], ..Selection::default() };
        engine.fill(&Ledger::of(&facts), &mut found);
        assert_eq!(found, Selection::default(), "{}", engine.name());
    }
}

#[test]
fn the_engine_of_a_run_is_the_one_that_is_named() {
    let world = |name: &str| World {
        environment: [("ENTAIL_ENGINE".to_owned(), name.to_owned())].into(),
        ..World::of_this_process()
    };
    for it in ENGINES {
        assert_eq!(engine(&world(it.name())).name(), it.name());
    }
    assert_eq!(engine(&world("")).name(), "compiled");
    let problem = named(&world("columnar")).expect_err("there is no such engine");
    assert_eq!(
        problem.to_string(),
        "Unknown engine: `ENTAIL_ENGINE` is `columnar`. Rules are evaluated by `compiled` or `interpreted`: set it to one of these, or unset it."
    );
}
