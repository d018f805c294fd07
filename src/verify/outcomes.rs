//! What becomes of each object: one outcome by the rules, one by the walk, and both the same.

use entail_rules::{Action, Node, Reason, rows_of};

use crate::lower::structure::{NodeKind, NodeMap};
use crate::planner::{Ending, Finished};
use crate::request::PlanMode;

/// What was concluded of nodes, and how the walk left them.
pub(super) struct Known {
    marks: Vec<u16>,
    /// What is to be done with each.
    pub actions: NodeMap<(Action, Reason)>,
    /// How the walk left each object.
    pub endings: NodeMap<Ending>,
    /// Of what the walk left twice, or was decided twice.
    twice: Vec<(Node, &'static str)>,
}

const SELECTED: u16 = 1;
const EXCLUDED: u16 = 1 << 1;
const UNTARGETED: u16 = 1 << 2;
const ACTED: u16 = 1 << 3;
const BLOCKED: u16 = 1 << 4;
const FAILED: u16 = 1 << 5;
const READ: u16 = 1 << 6;
const REUSED: u16 = 1 << 7;
const DEFERRED: u16 = 1 << 8;
const OPENED: u16 = 1 << 9;
const OPENED_LATER: u16 = 1 << 10;
const IDLE: u16 = 1 << 11;
const EXPANDED: u16 = 1 << 12;
const LOOKED_AT: u16 = 1 << 13;
const UNASKED: u16 = 1 << 14;
const OPEN: u16 = 1 << 15;

impl Known {
    pub(super) fn of(finished: &Finished) -> Known {
        let (facts, decided) = (&finished.facts, &finished.decisions);
        let mut marks = vec![0_u16; finished.structure.nodes.len()];
        let mut mark = |rows: &mut dyn Iterator<Item = Node>, bit: u16| {
            rows.for_each(|it| marks[it.0 as usize] |= bit);
        };
        mark(&mut finished.selection.selected.iter().map(|it| it.0), SELECTED);
        mark(&mut finished.selection.excluded.iter().map(|it| it.0), EXCLUDED);
        mark(&mut finished.selection.untargeted.iter().map(|it| it.0), UNTARGETED);
        mark(&mut finished.selection.open.iter().map(|it| it.0), OPEN);
        mark(&mut decided.action.iter().map(|it| it.0), ACTED);
        mark(&mut decided.blocked.iter().map(|it| it.0), BLOCKED);
        mark(&mut facts.failed.iter().map(|it| it.0), FAILED);
        mark(&mut decided.reads_now.iter().map(|it| it.0), READ);
        mark(&mut decided.reuses.iter().map(|it| it.0), REUSED);
        mark(&mut decided.deferred.iter().map(|it| it.0), DEFERRED);
        mark(&mut decided.opens.iter().map(|it| it.0), OPENED);
        mark(&mut decided.opens_later.iter().map(|it| it.0), OPENED_LATER);
        mark(&mut decided.idle.iter().map(|it| it.0), IDLE);
        mark(&mut finished.instances.only_refreshed.iter().map(|it| it.0), LOOKED_AT);
        mark(&mut finished.selection.open.iter().map(|it| it.0), OPEN);
        mark(&mut finished.instances.unasked.iter().map(|it| it.0), UNASKED);
        mark(&mut facts.expanded.iter().map(|it| it.0), EXPANDED);
        let mut twice = Vec::new();
        let mut actions = NodeMap::default();
        for &(node, action, reason) in &decided.action {
            if actions.insert(node, (action, reason)).is_some() {
                twice.push((node, "has two actions"));
            }
        }
        let mut endings = NodeMap::default();
        for &(node, ending) in &finished.endings {
            if endings.insert(node, ending).is_some() {
                twice.push((node, "was settled twice"));
            }
        }
        Known { marks, actions, endings, twice }
    }

    fn has(&self, node: Node, bits: u16) -> bool {
        self.marks[node.0 as usize] & bits != 0
    }

    /// How many outcomes the rules have for an object that takes part.
    fn outcomes(&self, node: Node) -> u32 {
        let marks = self.marks[node.0 as usize];
        let of_data = if marks & ACTED == 0 { READ | DEFERRED } else { 0 };
        let all = ACTED | BLOCKED | FAILED | REUSED | OPENED | OPENED_LATER | IDLE | of_data;
        (marks & all).count_ones()
    }
}

/// Holds every object of the documents to one outcome.
pub(super) fn check(
    finished: &Finished,
    mode: PlanMode,
    domain: &[Node],
    known: &Known,
    faults: &mut Vec<String>,
) {
    let name = |node: Node| finished.structure.name(node);
    faults.extend(known.twice.iter().map(|(node, what)| format!("{} {what}", name(*node))));
    for &node in domain {
        let fault = match finished.structure.kind(node) {
            NodeKind::Pending(_) => of_pending(finished, known, node),
            _ => of_object(finished, mode, known, node),
        };
        faults.extend(fault.map(|it| format!("{} {it}", name(node))));
    }
}

/// What waits for its keys: they were found, or the plan says why not.
fn of_pending(finished: &Finished, known: &Known, node: Node) -> Option<&'static str> {
    let is_settled = known.has(node, EXCLUDED | UNTARGETED | EXPANDED | ACTED);
    (!is_settled && !finished.plan.errored).then_some("was never expanded, and nothing says why")
}

fn of_object(
    finished: &Finished,
    mode: PlanMode,
    known: &Known,
    node: Node,
) -> Option<&'static str> {
    let parts = (known.marks[node.0 as usize] & (SELECTED | EXCLUDED | UNTARGETED)).count_ones();
    // Whether an object takes part stays open if keys could not be had: it is blocked, or never looked at.
    let is_passed_by = known.has(node, BLOCKED) || known.endings.get(node).is_none();
    let is_open = known.has(node, OPEN) && is_passed_by && finished.plan.errored;
    match parts {
        0 if is_open => return None,
        0 => return Some("neither takes part in this run nor is left out"),
        1 => {}
        _ => return Some("both takes part in this run and is left out"),
    }
    let Some(&ending) = known.endings.get(node) else {
        return Some("was never looked at");
    };
    if !known.has(node, SELECTED) {
        let is_left = matches!(ending, Ending::Left | Ending::Blocked);
        return (!is_left).then_some("is left out, and was planned all the same");
    }
    // Of what belongs to keys that stayed unknown nothing can be said.
    if ending == Ending::Left && finished.plan.errored {
        return None;
    }
    if ending == Ending::Failed && !finished.plan.errored {
        return Some("could not be planned, and nothing says why");
    }
    match known.outcomes(node) {
        0 => return Some("takes part in this run, and nothing is decided of it"),
        1 => {}
        _ => return Some("is decided in two ways"),
    }
    let agrees = match (known.actions.get(node), ending) {
        (_, Ending::Failed) => true,
        (None, Ending::Blocked) => known.has(node, BLOCKED),
        (None, Ending::Refused(..)) => known.has(node, FAILED),
        (None, Ending::Valued | Ending::Silent) => !known.has(node, BLOCKED | FAILED),
        (Some(&(Action::Drop, _)), _) => ending == Ending::Dropped,
        // The result of a data source goes with everything else, and there is nothing to plan for it.
        (Some(&(Action::Delete, _)), Ending::Silent) => mode == PlanMode::Destroy,
        (Some(&decided), Ending::Planned(action, reason) | Ending::Refused(action, reason)) => {
            decided == (action, reason)
        }
        _ => false,
    };
    if !agrees {
        return Some("was left by the walk in another way than was concluded");
    }
    let is_planned = !known.has(node, LOOKED_AT | UNASKED);
    let as_asked = match known.actions.get(node).map(|it| it.0) {
        // What stays as it is was perhaps only looked at.
        None | Some(Action::NoOp) => true,
        // A data source that would be read later was asked for its arguments.
        Some(Action::Drop) => !is_planned || is_deferred(finished, node),
        Some(Action::Delete | Action::Forget) => !is_planned,
        Some(_) => is_planned,
    };
    (!as_asked).then_some("was asked something else than was concluded")
}

fn is_deferred(finished: &Finished, node: Node) -> bool {
    !rows_of(&finished.decisions.deferred, |it| it.0.cmp(&node)).is_empty()
}
