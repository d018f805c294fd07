//! What comes of planning: the plan, its facts, and what was concluded from them.

use std::sync::OnceLock;

use entail_rules::order::Order;
use entail_rules::{
    Facts, Ledger, Node, calls, changes, decide, ephemerals, instances, outputs, providers,
    selection, spread, violations,
};

use super::{Ending, problems};
use crate::diagnostic::{Diagnostics, Span};
use crate::lower::serving::Serving;
use crate::lower::{ReadPlaces, Structure};
use crate::plan::{EvaluatedValues, Plan};
use crate::reason::EngineRef;

/// A plan and everything it rests on.
pub struct Finished {
    /// The plan.
    pub plan: Plan,
    /// What was evaluated while planning.
    pub evaluated: EvaluatedValues,
    /// The expanded configuration.
    pub structure: Structure,
    /// Every fact, answers included.
    pub facts: Facts,
    /// What each node's read stands at.
    pub places: ReadPlaces,
    /// What each flag's number stands for.
    pub flags: Vec<String>,
    /// What the numbers of provider configurations, their keys and modules stand for.
    pub serving: Serving,
    /// What the numbers of move statements stand for, and where they stand.
    pub statements: Vec<(String, Span)>,
    /// Which provider instance serves which object.
    pub providers: providers::Providers,
    /// Where `create_before_destroy` spreads, instances found in the walk included.
    pub spread: spread::Spread,
    /// Orphans, what is to be destroyed, and of what nothing is planned.
    pub instances: instances::Instances,
    /// Which objects take part.
    pub selection: selection::Selection,
    /// Which provider calls were allowed.
    pub calls: calls::Calls,
    /// The provider instances that were called, each with whether its arguments were wholly known.
    pub called: Vec<(Node, bool)>,
    /// What was decided.
    pub decisions: decide::Decisions,
    /// What forbids the plan.
    pub violations: violations::Violations,
    /// Which root outputs are recalculated.
    pub outputs: outputs::Outputs,
    /// What is done with those.
    pub output_changes: changes::Changes,
    /// What is opened when the plan is carried out.
    pub ephemerals: ephemerals::Ephemerals,
    /// How the walk left each object.
    pub endings: Vec<(Node, Ending)>,
    /// Problems, in the order in which they were found.
    pub problems: Diagnostics,
    /// Who concludes.
    pub(super) engine: EngineRef,
    /// The steps and their order, once somebody has asked.
    pub(super) order: OnceLock<Order>,
}

impl Finished {
    /// Returns the steps and their order. They are concluded when somebody asks first: whoever only looks at a plan does not, and of a
    /// million objects they take hundreds of megabytes.
    pub fn order(&self) -> &Order {
        self.order.get_or_init(|| {
            let ledger = Ledger::of(&self.facts).with(&self.providers).with(&self.selection);
            let ledger = ledger.with(&self.spread).with(&self.decisions).with(&self.ephemerals);
            self.engine.conclude(&ledger)
        })
    }

    /// Returns the steps, to be falsified.
    #[cfg(test)]
    pub fn order_mut(&mut self) -> &mut Order {
        self.order();
        self.order.get_mut().expect("they are concluded")
    }

    /// Says which steps would wait for each other, where the request orders any; else none do.
    pub(super) fn refuse_circular_steps(&mut self) {
        if self.facts.ordered.is_empty() {
            return;
        }
        let named = (&self.structure, &self.flags[..]);
        let circular = problems::circular(self.order(), &self.facts, named);
        self.plan.errored |= circular.is_some();
        self.problems.extend(circular);
    }
}
