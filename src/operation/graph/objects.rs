//! The objects of a run, and what each rests on: instance by instance, from the facts.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::Node;

use super::{Graph, GraphNode, Kind, Link, Subject};
use crate::event::is_listed;
use crate::explain::Leaves;
use crate::lower::structure::NodeKind;
use crate::operation::explain::{ExplainContext, Links};
use crate::plan::{Action, Plan};

pub(super) use crate::operation::explain::place;

/// Returns the graph of what there is, or is to be.
///
/// - `plan`: what is done with it, where that is known.
pub fn graph(context: &ExplainContext, plan: Option<&Plan>) -> Graph {
    let links = Links::of(context, &objects(context));
    let actions = plan.map(Actions::of).unwrap_or_default();
    let nodes = links.all.iter().map(|it| GraphNode {
        id: it.name.clone(),
        address: it.name.clone(),
        block: it.block.clone(),
        module: it.module.clone(),
        kind: if it.is_junction { Kind::Between } else { Kind::Resource },
        shape: Some(if it.is_junction { "ellipse" } else { "box" }),
        action: actions.get(&it.name),
        phase: None,
    });
    let name = |at: usize| links.all[at].name.as_str();
    let edges = links.all.iter().flat_map(|from| {
        from.rests_on.iter().map(|to| (from.name.as_str(), name(*to), Link::Waits))
    });
    Graph::of(Subject::Instances, nodes, edges)
}

/// Objects that are declared or recorded, old ones that are still there, and what stands for instances that are not known yet.
fn objects(context: &ExplainContext) -> BTreeSet<Node> {
    let structure = &context.structure;
    let all = (0..structure.nodes.len() as u32).map(Node);
    let stands = |it: &Node| match structure.kind(*it) {
        NodeKind::Object(..) => context.is_there(*it),
        NodeKind::Deposed(..) => true,
        NodeKind::Pending(_) => context.find(&context.name(*it)) == Some(*it),
        _ => false,
    };
    all.filter(stands).collect()
}

/// What a plan does with each object, in one word.
#[derive(Default)]
pub(super) struct Actions(BTreeMap<String, &'static str>);

impl Actions {
    pub(super) fn of(plan: &Plan) -> Actions {
        let listed = plan.changes.iter().filter(|it| is_listed(it));
        let named = listed.map(|it| {
            let name = match &it.deposed {
                Some(key) => format!("{} (deposed object {key})", it.address),
                None => it.address.to_string(),
            };
            let word = match it.action {
                Action::Create => "create",
                Action::Update => "update",
                Action::Delete => "delete",
                Action::Read => "read",
                Action::Forget | Action::Drop => "forget",
                Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => {
                    "replace"
                }
                Action::NoOp if it.details.importing.is_some() => "import",
                Action::NoOp => "move",
            };
            (name, word)
        });
        Actions(named.collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&'static str> {
        self.0.get(name).copied()
    }
}
