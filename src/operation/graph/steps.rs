//! The steps of a saved plan, and what each waits for. What a policy asks for says so: an order, and steps that do not overlap.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::{Flag, Node, Phase};

use super::objects::{Actions, place};
use super::{Graph, GraphNode, Kind, Link, Subject};
use crate::lower::structure::NodeKind;
use crate::operation::saved::Loaded;

type Step = (Node, Phase);

/// Returns the graph of a saved plan.
pub fn graph(loaded: &Loaded) -> Graph {
    let steps = loaded.order.step.iter().copied();
    let ends = loaded.order.before.iter().flat_map(|it| [(it.0, it.1), (it.2, it.3)]);
    let actions = Actions::of(&loaded.plan);
    let ids: BTreeMap<Step, String> = steps.chain(ends).map(|it| (it, id(loaded, it))).collect();
    let nodes = ids.iter().map(|(step, id)| node(loaded, &actions, *step, id));
    let asked: BTreeMap<(Node, Node), &str> =
        loaded.facts.ordered.iter().map(|it| ((it.0, it.1), asked_by(loaded, it.2))).collect();
    let waits = loaded.order.before.iter().map(|&(first, phase, then, then_phase)| {
        let link = match asked.get(&(first, then)) {
            Some(by) => Link::Asked((*by).to_owned()),
            None => Link::Waits,
        };
        ((then, then_phase), (first, phase), link)
    });
    let edges: Vec<(Step, Step, Link)> = waits.chain(apart(loaded)).collect();
    let edges = edges.into_iter().filter_map(|(from, to, link)| {
        Some((ids.get(&from)?.as_str(), ids.get(&to)?.as_str(), link))
    });
    Graph::of(Subject::Steps, nodes, edges)
}

fn id(loaded: &Loaded, (node, phase): Step) -> String {
    let suffix = match phase {
        Phase::Up => "",
        Phase::Settled => " (settled)",
        Phase::Made => " (everything is made)",
        Phase::Down | Phase::Late => " (destroy)",
    };
    format!("{}{suffix}", loaded.structure.name(node))
}

fn node(loaded: &Loaded, actions: &Actions, (node, phase): Step, id: &str) -> GraphNode {
    let address = loaded.structure.name(node);
    let (block, module) = place(&loaded.structure, node);
    let is_object = matches!(
        loaded.structure.kind(node),
        NodeKind::Object(..) | NodeKind::Deposed(..) | NodeKind::Pending(_)
    );
    let does = matches!(phase, Phase::Up | Phase::Down | Phase::Late);
    GraphNode {
        id: id.to_owned(),
        kind: if is_object { Kind::Resource } else { Kind::Between },
        shape: Some("box"),
        action: actions.get(&address).filter(|_| does),
        phase: Some(phase),
        address,
        block,
        module,
    }
}

/// What asks for an order or a group, as the plan names it.
fn asked_by(loaded: &Loaded, flag: Flag) -> &str {
    loaded.flags.get(flag.0 as usize).map_or("", String::as_str)
}

/// Links each step of a group to the next: only one of them runs at a time.
fn apart(loaded: &Loaded) -> Vec<(Step, Step, Link)> {
    let mut groups: BTreeMap<&str, BTreeSet<Step>> = BTreeMap::new();
    let steps: BTreeSet<Step> = loaded.order.step.iter().copied().collect();
    for &(node, flag) in &loaded.facts.one_at_a_time {
        let own = Phase::ALL.iter().map(|it| (node, *it)).filter(|it| steps.contains(it));
        groups.entry(asked_by(loaded, flag)).or_default().extend(own);
    }
    let links = groups.iter().flat_map(|(by, steps)| {
        let next = steps.iter().zip(steps.iter().skip(1));
        next.map(|(one, other)| (*one, *other, Link::Apart((*by).to_owned())))
    });
    links.collect()
}
