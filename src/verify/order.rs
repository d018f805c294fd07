//! What every order of steps holds to, found out without the rules: no circle, a thing is made after what it reads and
//! destroyed before what it rests on, the halves of a replacement follow each other as chosen.

use entail_rules::decide::Decisions;
use entail_rules::order::Order;
use entail_rules::{Action, Facts, Node, Phase, beside};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::planner::{Finished, phase_name};
use crate::schedule::circle;

type Vertex = (Node, Phase);

/// The most work, in steps times edges, that paths are looked for in.
const MOST_WORK: usize = 50_000_000;

/// Holds the steps to the actions, both ways, and their order to having no circle. Returns what is wrong, one sentence each.
pub(super) fn steps(finished: &Finished) -> Vec<String> {
    let order = finished.order();
    let name = |node| finished.structure.name(node);
    let mut steps = order.step.clone();
    let mut due: Vec<Vertex> = Vec::with_capacity(steps.len());
    for &(node, action, _) in &finished.decisions.action {
        let is_late = || finished.spread.cbd.binary_search(&(node,)).is_ok();
        let phases: &[Phase] = match action {
            Action::NoOp | Action::Drop => &[],
            Action::Create | Action::Update | Action::Read | Action::ForgetThenCreate => {
                &[Phase::Up]
            }
            Action::DeleteThenCreate => &[Phase::Down, Phase::Up],
            Action::CreateThenDelete => &[Phase::Up, Phase::Late],
            Action::Delete | Action::Forget if is_late() => &[Phase::Late],
            Action::Delete | Action::Forget => &[Phase::Down],
        };
        due.extend(phases.iter().map(|it| (node, *it)));
    }
    due.extend(finished.decisions.checked_again.iter().map(|it| (it.0, Phase::Up)));
    let later: FxHashSet<Node> = finished.decisions.opens_later.iter().map(|it| it.0).collect();
    due.extend(finished.ephemerals.opened.iter().map(|it| match later.contains(&it.0) {
        true => (it.0, Phase::Up),
        false => (it.0, Phase::Down),
    }));
    for all in [&mut steps, &mut due] {
        all.sort_unstable();
        all.dedup();
    }
    let mut faults = Vec::new();
    let lacking = due.iter().filter(|it| steps.binary_search(it).is_err());
    faults.extend(lacking.map(|it| format!("{} ({}) has no step", name(it.0), phase_name(it.1))));
    let surplus = steps.iter().filter(|it| due.binary_search(it).is_err());
    faults.extend(surplus.map(|it| {
        format!("{} ({}) has a step, and nothing is to be done", name(it.0), phase_name(it.1))
    }));
    // Where the request orders steps, the plan itself tells of a circle.
    let after = order.before.iter().map(|it| ((it.0, it.1), (it.2, it.3)));
    if let Some(stuck) = circle(after).first().filter(|_| finished.facts.ordered.is_empty()) {
        faults.push(format!("{} ({}) comes after itself", name(stuck.0), phase_name(stuck.1)));
    }
    faults
}

/// Returns what is wrong with an order, one sentence each.
///
/// - `name`: what a node is called.
pub(super) fn check(
    order: &Order,
    facts: &Facts,
    decisions: &Decisions,
    name: &dyn Fn(Node) -> String,
) -> Vec<String> {
    let mut after: FxHashMap<Vertex, Vec<Vertex>> = FxHashMap::default();
    order.before.iter().for_each(|it| after.entry((it.0, it.1)).or_default().push((it.2, it.3)));
    let shown = |it: Vertex| format!("{} ({})", name(it.0), phase_name(it.1));
    let pairs = order.before.iter().map(|it| ((it.0, it.1), (it.2, it.3)));
    if let Some(stuck) = circle(pairs).first() {
        // Where the request orders steps, the plan itself tells of a circle.
        if !facts.ordered.is_empty() {
            return Vec::new();
        }
        return vec![format!("{} comes after itself", shown(*stuck))];
    }
    if order.step.len().saturating_mul(order.before.len()) > MOST_WORK {
        return Vec::new();
    }
    let steps: FxHashSet<Vertex> = order.step.iter().copied().collect();
    let mut demands: FxHashMap<Vertex, Vec<(Vertex, &str)>> = FxHashMap::default();
    let mut demand = |first: Vertex, second: Vertex, why: &'static str| {
        if first != second && steps.contains(&first) && steps.contains(&second) {
            demands.entry(first).or_default().push((second, why));
        }
    };
    for (user, used) in nearest(facts, &steps) {
        demand((used, Phase::Up), (user, Phase::Up), "is made, and is read by");
        // What did not rest on the old object has nothing to let go of.
        if facts.needs.binary_search(&(user, used)).is_ok() {
            demand(
                (user, Phase::Up),
                (used, Phase::Late),
                "uses the successor of, and is changed before the end of",
            );
        }
    }
    for &(user, used) in &facts.needs {
        demand((user, Phase::Down), (used, Phase::Down), "goes, and rests on");
        demand((user, Phase::Late), (used, Phase::Late), "goes, and rests on");
    }
    for &(data,) in &facts.in_check {
        for &(made, phase) in steps.iter().filter(|it| it.1 == Phase::Up) {
            if facts.managed.binary_search(&(made,)).is_ok() {
                demand((made, phase), (data, Phase::Up), "is made before the check reads");
            }
        }
    }
    for &(node, action, _) in &decisions.action {
        match action {
            Action::DeleteThenCreate => {
                demand((node, Phase::Down), (node, Phase::Up), "goes before its successor is made:")
            }
            Action::CreateThenDelete => demand(
                (node, Phase::Up),
                (node, Phase::Late),
                "is made before its predecessor goes:",
            ),
            _ => {}
        }
    }
    let mut faults = Vec::new();
    for (first, seconds) in demands {
        let reached = reach(first, &after);
        let missing = seconds.into_iter().filter(|it| !reached.contains(&it.0));
        faults.extend(missing.map(|(second, why)| {
            format!("{} {why} {}, yet no order holds them", shown(first), shown(second))
        }));
    }
    faults.sort();
    faults
}

/// Pairs of what is made and what it reads of that, looked at through what is not made.
fn nearest(facts: &Facts, steps: &FxHashSet<Vertex>) -> Vec<(Node, Node)> {
    let reads_of = |node: Node| beside(&facts.reads, node);
    let mut pairs = Vec::new();
    for &(user, _) in steps.iter().filter(|it| it.1 == Phase::Up) {
        let mut seen = FxHashSet::default();
        let mut open: Vec<Node> = reads_of(user).collect();
        while let Some(next) = open.pop() {
            if !seen.insert(next) {
                continue;
            }
            match steps.contains(&(next, Phase::Up)) {
                true => pairs.push((user, next)),
                false => open.extend(reads_of(next)),
            }
        }
    }
    pairs
}

fn reach(from: Vertex, after: &FxHashMap<Vertex, Vec<Vertex>>) -> FxHashSet<Vertex> {
    let mut seen = FxHashSet::default();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        open.extend(after.get(&next).into_iter().flatten().filter(|it| seen.insert(**it)));
    }
    seen
}

#[cfg(test)]
mod tests {
    use entail_rules::Reason;
    use expect_test::{Expect, expect};

    use super::*;

    const A: Node = Node(1);
    const B: Node = Node(2);

    #[track_caller]
    fn found(order: Order, facts: Facts, actions: &[(Node, Action)], faults: Expect) {
        let action = actions.iter().map(|it| (it.0, it.1, Reason::Plain)).collect();
        let decisions = Decisions { action, ..Decisions::default() };
        let name = |it: Node| if it == A { "a".to_owned() } else { "b".to_owned() };
        faults.assert_eq(&check(&order, &facts, &decisions, &name).join("\n"));
    }

    #[test]
    fn a_circle_is_found() {
        let before = vec![
            (A, Phase::Up, B, Phase::Up),
            (B, Phase::Up, A, Phase::Up),
            (B, Phase::Up, B, Phase::Late),
        ];
        found(
            Order { before, ..Order::default() },
            Facts::default(),
            &[],
            expect!["a (make) comes after itself"],
        );
    }

    #[test]
    fn a_thing_is_made_after_what_it_reads_and_goes_before_it() {
        let step = vec![(A, Phase::Up), (A, Phase::Down), (B, Phase::Up), (B, Phase::Down)];
        let facts = Facts { reads: vec![(B, A)], needs: vec![(B, A)], ..Facts::default() };
        let actions = [(A, Action::DeleteThenCreate), (B, Action::DeleteThenCreate)];
        let sound = vec![
            (B, Phase::Down, A, Phase::Down),
            (A, Phase::Down, A, Phase::Up),
            (A, Phase::Up, B, Phase::Up),
        ];
        found(
            Order { step: step.clone(), before: sound.clone() },
            facts.clone(),
            &actions,
            expect![""],
        );
        found(
            Order { step, before: sound[1..2].to_vec() },
            facts,
            &actions,
            expect![[r#"
                a (make) is made, and is read by b (make), yet no order holds them
                b (destroy) goes before its successor is made: b (make), yet no order holds them
                b (destroy) goes, and rests on a (destroy), yet no order holds them"#]],
        );
    }

    #[test]
    fn a_predecessor_that_goes_late_goes_after_all_use_its_successor() {
        let step = vec![(A, Phase::Up), (A, Phase::Late), (B, Phase::Up)];
        let facts = Facts { reads: vec![(B, A)], needs: vec![(B, A)], ..Facts::default() };
        let actions = [(A, Action::CreateThenDelete), (B, Action::Update)];
        let before = vec![(A, Phase::Up, B, Phase::Up), (A, Phase::Up, A, Phase::Late)];
        found(
            Order { step, before },
            facts,
            &actions,
            expect![
                "b (make) uses the successor of, and is changed before the end of a (destroy late), yet no order holds them"
            ],
        );
    }
}
