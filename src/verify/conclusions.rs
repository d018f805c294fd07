//! What the plan says against what was concluded, both ways: changes, what is left out, outputs, providers, violations.

use std::collections::BTreeSet;

use entail_rules::{Node, Violation};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Documents;
use super::outcomes::Known;
use crate::address::Instance;
use crate::lower::Structure;
use crate::lower::structure::{Nearby, NodeKind, NodeMap};
use crate::plan::{Action, Change};
use crate::planner::{Ending, Finished, by_node};
use crate::request::PlanMode;
use crate::value::Str;

/// Holds every part of a plan to what was concluded.
pub(super) fn check(
    finished: &Finished,
    documents: &Documents<'_>,
    known: &Known,
    faults: &mut Vec<String>,
) {
    changes(finished, documents.mode, known, faults);
    drift(finished, known, faults);
    checks(finished, faults);
    left_out(finished, faults);
    outputs(finished, documents, faults);
    violations(finished, known, faults);
    calls(finished, known, faults);
    if !finished.plan.errored && finished.problems.has_errors() {
        faults.push("The plan has errors, and does not say so".to_owned());
    }
}

/// The node that a change is about.
fn node_of(structure: &Structure, change: &Change, near: &mut Nearby) -> Option<Node> {
    let resource = structure.resource(structure.resource_near(&change.address.of(), near)?);
    match &change.deposed {
        None => resource.instance(&change.address.key),
        Some(deposed) => {
            resource.besides.deposed.get(&(change.address.key.clone(), deposed.clone())).copied()
        }
    }
}

/// Every change is what the walk left, and what the walk left is a change; each is served by whom it was concluded.
fn changes(finished: &Finished, mode: PlanMode, known: &Known, faults: &mut Vec<String>) {
    let serving = by_node(&finished.providers, &finished.structure);
    let mut changed: NodeMap<()> = NodeMap::default();
    let mut near = Nearby::default();
    for change in &finished.plan.changes {
        let mut fault = |what: &str| faults.push(format!("{} {what}", change.address));
        let Some(node) = node_of(&finished.structure, change, &mut near) else {
            fault("is in the plan, and nothing was concluded of it");
            continue;
        };
        if changed.insert(node, ()).is_some() {
            fault("is in the plan twice");
        }
        let agrees = match known.endings.get(node) {
            Some(Ending::Planned(action, reason) | Ending::Refused(action, reason)) => {
                (change.action, change.reason) == (*action, *reason)
            }
            // A deposed object that is gone already is told of.
            Some(Ending::Dropped) => change.deposed.is_some() && change.action == Action::NoOp,
            // What is left out and was moved is moved in the state alone.
            Some(Ending::Left) => {
                change.action == Action::NoOp
                    && change.details.previous_address.is_some()
                    && finished.selection.excluded.binary_search(&(node,)).is_ok()
            }
            _ => false,
        };
        if !agrees {
            fault("is planned in another way than was concluded");
        }
        if serving.get(node).is_some_and(|it| *it != change.served_by) {
            fault("is served by another provider instance than was concluded");
        }
    }
    if mode == PlanMode::RefreshOnly {
        if !changed.is_empty() {
            faults.push("A plan that only records what changed outside has changes".to_owned());
        }
        return;
    }
    for (node, ending) in &finished.endings {
        let is_told = matches!(ending, Ending::Planned(..) | Ending::Refused(..));
        if is_told && changed.get(*node).is_none() {
            faults.push(format!(
                "{} was decided, and is not in the plan",
                finished.structure.name(*node)
            ));
        }
    }
}

/// What is told to have changed outside is what was concluded, and all of it that could be planned is told.
fn drift(finished: &Finished, known: &Known, faults: &mut Vec<String>) {
    let concluded = &finished.decisions.drift;
    let mut told: BTreeSet<(Node, Action)> = BTreeSet::new();
    for change in &finished.plan.drift {
        let node = node_of(&finished.structure, change, &mut Nearby::default());
        if !node.is_some_and(|it| told.insert((it, change.action))) {
            faults
                .push(format!("{} changed outside, and nothing says which it is", change.address));
        }
    }
    let is_usable = |node: &Node| {
        let ending = known.endings.get(*node);
        matches!(ending, Some(Ending::Planned(..) | Ending::Refused(..) | Ending::Dropped))
    };
    let due = concluded.iter().filter(|it| is_usable(&it.0)).copied().collect();
    for (node, _) in told.symmetric_difference(&due) {
        faults.push(format!(
            "{} is told to have changed outside in another way than was concluded",
            finished.structure.name(*node)
        ));
    }
}

/// Each `check` block has one outcome, and the plan has results of just those that are looked at.
fn checks(finished: &Finished, faults: &mut Vec<String>) {
    let changes = &finished.output_changes;
    let of_checks = finished.plan.checks.iter().filter(|it| &*it.kind == "check");
    let told: FxHashSet<&str> =
        of_checks.flat_map(|it| it.objects.iter().flatten()).map(|it| &*it.0).collect();
    for (node,) in &finished.facts.check_block {
        let has = |rows: &[(Node,)]| rows.binary_search(&(*node,)).is_ok();
        let name = finished.structure.name(*node);
        let looked_at = has(&changes.checked) || has(&changes.check_blocked);
        match [&changes.checked, &changes.check_blocked, &changes.check_left].map(|it| has(it)) {
            [true, false, false] | [false, true, false] | [false, false, true] => {}
            _ => faults.push(format!("{name} is not decided in just one way")),
        }
        if looked_at != told.contains(name.as_str()) {
            faults.push(format!("{name} was looked at in another way than was concluded"));
        }
    }
}

/// What exclusions hold back is listed, and nothing else; an object for each exclusion that names it.
fn left_out(finished: &Finished, faults: &mut Vec<String>) {
    let structure = &finished.structure;
    let objects = finished.plan.left_out.iter().flat_map(|it| &it.objects);
    let listed: BTreeSet<&str> = objects.map(String::as_str).collect();
    let excluded = finished.selection.excluded.iter().map(|it| it.0);
    let excluded = excluded.filter(|it| !matches!(structure.kind(*it), NodeKind::Pending(_)));
    let excluded: BTreeSet<String> = excluded
        .filter_map(|it| structure.instance(it))
        .map(|it: Instance| it.to_string())
        .collect();
    // A block whose keys were not asked for stands for as many as there may be.
    let blocks: BTreeSet<String> = finished
        .facts
        .skipped
        .iter()
        .filter_map(|it| match structure.kind(it.0) {
            NodeKind::Pending(id) => Some(structure.resource(*id).address.to_string()),
            _ => None,
        })
        .collect();
    let is_left_out = |it: &str| excluded.contains(it) || blocks.contains(it);
    for object in listed.iter().filter(|it| !is_left_out(it)) {
        if !finished.plan.errored {
            faults.push(format!("{object} is listed as left out, and takes part"));
        }
    }
    for object in excluded.iter().filter(|it| !listed.contains(it.as_str())) {
        faults.push(format!("{object} is left out, and no list says so"));
    }
}

/// Every root output, declared or recorded, is recalculated or keeps its value; the plan lists those of the first kind of
/// which something was concluded, with just that.
fn outputs(finished: &Finished, documents: &Documents<'_>, faults: &mut Vec<String>) {
    let root = finished.structure.module(Structure::ROOT);
    let recorded = finished.structure.nodes.iter().enumerate();
    let recorded: FxHashMap<&Str, Node> = recorded
        .filter_map(|(index, kind)| match kind {
            NodeKind::Recorded(name) => Some((name, Node(index as u32))),
            _ => None,
        })
        .collect();
    let names = documents.config.root().outputs.keys().chain(documents.state.outputs.keys());
    for name in names.collect::<BTreeSet<_>>() {
        let mut fault = |what: &str| faults.push(format!("output.{name} {what}"));
        let Some(node) = root.outputs.get(name).or_else(|| recorded.get(name)) else {
            fault("is declared or recorded, and the plan knows nothing of it");
            continue;
        };
        let (outputs, actions) = (&finished.outputs, &finished.output_changes.output_action);
        let kept = outputs.keeps_value.partition_point(|it| it.0 < *node);
        let is_kept = outputs.keeps_value.get(kept).is_some_and(|it| it.0 == *node);
        match (outputs.recalculated.binary_search(&(*node,)).is_ok(), is_kept) {
            (false, false) => fault("neither gets a new value nor keeps its own"),
            (true, true) => fault("both gets a new value and keeps its own"),
            _ => {}
        }
        let at = actions.partition_point(|it| it.0 < *node);
        let concluded = actions.get(at).filter(|it| it.0 == *node).map(|it| it.1);
        if finished.plan.outputs.get(name).map(|it| it.action) != concluded {
            fault("is planned in another way than was concluded");
        }
    }
    for name in finished.plan.outputs.keys() {
        if !root.outputs.contains_key(name) && !recorded.contains_key(name) {
            faults.push(format!("output.{name} is in the plan, and nothing was concluded of it"));
        }
    }
}

/// What the walk found to forbid the plan has made it an error, and nothing rests on it.
fn violations(finished: &Finished, known: &Known, faults: &mut Vec<String>) {
    for (kind, node) in &finished.violations.violation {
        let is_of_walk = matches!(
            kind,
            Violation::PreventsDestroy | Violation::InvalidProtection | Violation::NoTrigger
        );
        if !is_of_walk {
            continue;
        }
        let is_refused =
            matches!(known.endings.get(*node), Some(Ending::Refused(..) | Ending::Failed));
        if !is_refused || !finished.plan.errored {
            faults.push(format!(
                "{} forbids the plan, and it was made",
                finished.structure.name(*node)
            ));
        }
    }
}

/// No provider was called before what its arguments read was settled, and none whose arguments are not known said what
/// exists.
fn calls(finished: &Finished, known: &Known, faults: &mut Vec<String>) {
    let (structure, calls) = (&finished.structure, &finished.calls);
    let has = |rows: &[(Node,)], node: Node| rows.binary_search(&(node,)).is_ok();
    for &(provider, is_known) in &finished.called {
        let name = structure.name(provider);
        if !has(&calls.may_call, provider) {
            faults.push(format!("{name} was called before its configuration was settled"));
        }
        if !is_known && has(&calls.may_look, provider) {
            faults
                .push(format!("{name} was asked what exists, and its configuration is not known"));
        }
    }
    let facts = &finished.facts;
    for &(node, _) in &calls.unrefreshed {
        let is_dropped = matches!(known.endings.get(node), Some(Ending::Dropped));
        if is_dropped || has(&facts.changed_outside, node) || has(&facts.gone_outside, node) {
            faults.push(format!(
                "{} was refreshed, and the configuration of its provider is not known",
                structure.name(node)
            ));
        }
    }
}
