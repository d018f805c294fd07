//! A plan checked against itself: two evaluators, a linter, and every proof – asked for by `ENTAIL_SELF_CHECK`.
//!
//! It finds faults of the program, never of a configuration. The tests ask for it on every case.

use crate::datalog::shipped;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::explain::Known;
use crate::explain::check::{Model, check as check_proof};
use crate::planner::Finished;

/// The conclusions that people ask about.
const ASKED: &[&str] = &[
    "action",
    "excluded",
    "untargeted",
    "selected",
    "recalculated",
    "keeps_value",
    "reads_now",
    "serves",
];

/// Returns what is wrong with a plan that the program itself made.
pub fn plan(finished: &Finished) -> Diagnostics {
    let mut problems = Diagnostics::new();
    let mut wrong = |what: String| {
        problems.push(
            Diagnostic::error("Internal error: the plan contradicts itself")
                .detail(format!("{what} Please report this with the configuration.")),
        );
    };
    if let Err(why) = shipped::agree(&finished.facts) {
        wrong(format!("The compiled rules and the interpreter disagree: {why}."));
    }
    for fault in crate::plan::check::check(&finished.plan) {
        wrong(format!("{fault}."));
    }
    let known = Known::about(&finished.facts, ASKED);
    let model = Model::new(&finished.facts, &shipped::conclude(&finished.facts));
    for relation in ASKED {
        for row in known.rows(relation) {
            match known.why(relation, &row) {
                Some(proof) => {
                    if let Err(why) = check_proof(&proof, &finished.facts, &model) {
                        wrong(format!("The proof of {relation}{row:?} does not hold: {why}."));
                    }
                }
                None => wrong(format!("There is no proof of {relation}{row:?}.")),
            }
        }
    }
    let mut decided = known.rows("action");
    decided.sort();
    let mut carried: Vec<Vec<u64>> = finished
        .decisions
        .action
        .iter()
        .map(|it| vec![u64::from(it.0.0), it.1 as u64, it.2 as u64])
        .collect();
    carried.sort();
    carried.dedup();
    if decided != carried {
        wrong(
            "The batches of the walk and all facts together lead to different actions.".to_owned(),
        );
    }
    problems
}
