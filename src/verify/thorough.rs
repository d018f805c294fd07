//! A plan checked with all means: two evaluators, a linter, and every proof – asked for by `ENTAIL_SELF_CHECK`.

use std::collections::BTreeSet;

use super::{contradiction, order};
use crate::diagnostic::Diagnostics;
use crate::explain::Known;
use crate::explain::check::{Model, check as check_proof};
use crate::planner::Finished;
use crate::reason::{Engine, shipped};

/// The conclusions that people ask about.
const ASKED: &[&str] = &[
    "action",
    "excluded",
    "untargeted",
    "selected",
    "recalculated",
    "output_action",
    "keeps_value",
    "reads_now",
    "serves",
    "violation",
];

/// Returns what is wrong with the changes of a plan and their order.
pub(super) fn lint(finished: &Finished) -> Diagnostics {
    let name = |node| finished.structure.name(node);
    let mut faults = crate::plan::check::check(&finished.plan);
    faults.extend(order::check(finished.order(), &finished.facts, &finished.decisions, &name));
    Diagnostics(faults.iter().map(|it| contradiction(&format!("{it}."))).collect())
}

/// What came of checking all of a plan.
pub struct Thorough {
    /// What is wrong with it.
    pub problems: Diagnostics,
    /// The names of the rules whose bodies were met.
    pub rules_met: BTreeSet<String>,
}

/// Checks all of a plan: every conclusion, every proof, every pair of steps.
pub fn thorough(engine: &dyn Engine, finished: &Finished) -> Thorough {
    let mut problems = lint(finished);
    let derived = shipped::derive(engine, &finished.facts);
    let conclusions = engine.conclude_all(&finished.facts);
    let mut wrong = |what: String| problems.push(contradiction(&what));
    if let Err(why) = shipped::agree(&derived, &conclusions) {
        wrong(format!("The compiled rules and the interpreter disagree: {why}."));
    }
    let known = Known::about(engine, &finished.facts, ASKED);
    let model = Model::new(&finished.facts, &conclusions);
    for relation in ASKED {
        for row in known.rows(relation) {
            match known.why(relation, row) {
                Some(proof) => {
                    if let Err(why) = check_proof(&proof, &finished.facts, &model) {
                        wrong(format!("The proof of {relation}{row:?} does not hold: {why}."));
                    }
                }
                None => wrong(format!("There is no proof of {relation}{row:?}.")),
            }
        }
    }
    let selection = &finished.selection;
    for (relation, rows) in [
        ("selected", &selection.selected),
        ("excluded", &selection.excluded),
        ("untargeted", &selection.untargeted),
    ] {
        let mut concluded: Vec<&[u64]> = known.rows(relation).collect();
        concluded.sort();
        if !concluded.iter().map(|it| it[0]).eq(rows.iter().map(|it| u64::from(it.0.0))) {
            wrong(format!(
                "Of what is {relation}, late instances and all facts say different things."
            ));
        }
    }
    let mut decided: Vec<&[u64]> = known.rows("action").collect();
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
    Thorough { problems, rules_met: derived.rules_met().map(str::to_owned).collect() }
}
