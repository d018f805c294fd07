//! What an object rests on, as the core records it beside the provider's values.

use std::collections::BTreeSet;

use entail_rules::records::Records;
use entail_rules::{Node, beside};

use super::Context;
use crate::config::Module;
use crate::lower::blocks::MOST_DEPENDENCIES;
use crate::lower::structure::NodeKind;
use crate::plan::{Action, Change};
use crate::reachable::Reachable;
use crate::state::Object;
use crate::value::Str;

/// Adds to an object what the core records of it.
pub(super) fn finished(
    ctx: &Context<'_>,
    node: Node,
    change: &Change,
    mut object: Object,
) -> Object {
    let block = ctx.block_of(change);
    let dependencies = block.map(|it| ctx.graph.dependencies(it));
    object.dependencies = dependencies.unwrap_or_default().into();
    object.reads = rests_on(ctx, node).map(Into::into);
    let block = block.and_then(|it| ctx.graph.written(it));
    object.skip_destroy = block.is_some_and(|it| it.besides.lifecycle.keeps_objects());
    object.create_before_destroy =
        change.action == Action::CreateThenDelete || ctx.is_create_before_destroy(node);
    object
}

/// Checks the validations of every module variable that an object is made from.
pub(super) fn inputs_are_valid(ctx: &Context<'_>, node: Node) -> bool {
    if !ctx.validates() {
        return true;
    }
    let mut passed = true;
    for value in made_through(ctx.records, node).skip(1) {
        if let NodeKind::Variable(..) = ctx.observer.values.structure.kind(value) {
            passed &= ctx.observer.is_valid(value);
        }
    }
    passed
}

/// The instances that an object was made from, through values; a whole resource by its address without key.
/// `None` where they are too many to record.
fn rests_on(ctx: &Context<'_>, node: Node) -> Option<Vec<Str>> {
    let structure = &ctx.observer.values.structure;
    let mut found: BTreeSet<Node> = BTreeSet::new();
    for value in made_through(ctx.records, node) {
        found.extend(beside(&ctx.records.made_from, value));
        if found.len() > MOST_DEPENDENCIES {
            return None;
        }
    }
    let names = found.into_iter().filter_map(|it| match structure.kind(it) {
        NodeKind::Object(resource, key) => {
            Some(structure.resource(*resource).address.instance(key.clone()).to_string())
        }
        NodeKind::Collection(resource) | NodeKind::Pending(resource) => {
            Some(structure.resource(*resource).address.to_string())
        }
        _ => None,
    });
    let mut names: Vec<Str> = names.map(Str::from).collect();
    names.sort();
    names.dedup();
    Some(names)
}

/// Iterates over a node and what it is made through: from step to step, because all pairs would be too many rows for a rule.
fn made_through(records: &Records, node: Node) -> impl Iterator<Item = Node> {
    Reachable::from([node], |it| beside(&records.made_through, it))
}

impl Context<'_> {
    /// Whether a variable of any module has conditions.
    fn validates(&self) -> bool {
        let validates = |it: &Module| it.variables.values().any(|it| !it.validations.is_empty());
        *self.validates.get_or_init(|| self.config.all().any(|it| validates(it.1)))
    }

    /// The block of an object; where its module instance is gone, that which is served as the object was made.
    pub(super) fn block_of(&self, change: &Change) -> Option<usize> {
        let structure = &self.observer.values.structure;
        self.graph.block_at(self.config, structure, &change.address.of())
    }

    fn is_create_before_destroy(&self, node: Node) -> bool {
        self.spread.cbd.binary_search(&(node,)).is_ok()
    }
}
