//! What an object rests on, as the core records it beside the provider's values.

use entail_rules::Node;
use rustc_hash::FxHashSet;

use super::Context;
use crate::address::Mode;
use crate::lower::existing::MOST_DEPENDENCIES;
use crate::lower::structure::NodeKind;
use crate::plan::{Action, Change};
use crate::state::Object;
use crate::value::Str;

/// Adds to an object what the core records of it.
pub(super) fn finished(
    ctx: &Context<'_>,
    node: Node,
    change: &Change,
    mut object: Object,
) -> Object {
    let config = change.address.config();
    object.dependencies = ctx.graph.dependencies(&config, MOST_DEPENDENCIES);
    object.reads = rests_on(ctx, node);
    let block = ctx.config.resource(&config);
    object.skip_destroy = block.is_some_and(|it| it.lifecycle.destroy.is_some_and(|it| !it.0));
    object.create_before_destroy =
        change.action == Action::CreateThenDelete || ctx.is_create_before_destroy(node);
    object
}

/// Checks the validations of every module variable that an object is made from.
pub(super) fn inputs_are_valid(ctx: &Context<'_>, node: Node) -> bool {
    let validates = |it: &std::sync::Arc<crate::config::Module>| {
        it.variables.values().any(|it| !it.validations.is_empty())
    };
    if !ctx.config.all().any(|it| validates(it.1)) {
        return true;
    }
    let mut seen = FxHashSet::from_iter([node]);
    let mut open: Vec<Node> = ctx.reads_of(node).collect();
    let mut passed = true;
    while let Some(next) = open.pop() {
        if !seen.insert(next) {
            continue;
        }
        match ctx.observer.values.structure.kind(next) {
            NodeKind::Object(..) | NodeKind::Collection(_) | NodeKind::Pending(_) => {}
            NodeKind::Variable(..) => {
                passed &= ctx.observer.is_valid(next);
                open.extend(ctx.reads_of(next));
            }
            _ => open.extend(ctx.reads_of(next)),
        }
    }
    passed
}

/// The instances that an object was made from, through values; a whole resource by its address without key.
/// `None` where they are too many to record.
fn rests_on(ctx: &Context<'_>, node: Node) -> Option<Vec<Str>> {
    let structure = &ctx.observer.values.structure;
    let mut seen = FxHashSet::from_iter([node]);
    let mut open: Vec<Node> = ctx.reads_of(node).collect();
    let mut found: Vec<Str> = Vec::new();
    while let Some(next) = open.pop() {
        if !seen.insert(next) {
            continue;
        }
        match structure.kind(next) {
            // It leaves nothing behind; what it was opened with does.
            NodeKind::Object(resource, _)
            | NodeKind::Collection(resource)
            | NodeKind::Pending(resource)
                if structure.resource(*resource).address.resource.mode == Mode::Ephemeral =>
            {
                open.extend(ctx.reads_of(next));
            }
            NodeKind::Object(resource, key) => found.push(
                structure.resource(*resource).address.instance(key.clone()).to_string().into(),
            ),
            NodeKind::Collection(resource) | NodeKind::Pending(resource) => {
                found.push(structure.resource(*resource).address.to_string().into())
            }
            _ => open.extend(ctx.reads_of(next)),
        }
        if found.len() > MOST_DEPENDENCIES {
            return None;
        }
    }
    found.sort();
    found.dedup();
    Some(found)
}

impl Context<'_> {
    /// What a node reads.
    fn reads_of(&self, node: Node) -> impl Iterator<Item = Node> {
        let start = self.facts.reads.partition_point(|it| it.0 < node);
        self.facts.reads[start..].iter().take_while(move |it| it.0 == node).map(|it| it.1)
    }

    fn is_create_before_destroy(&self, node: Node) -> bool {
        self.spread.cbd.binary_search(&(node,)).is_ok()
    }
}
