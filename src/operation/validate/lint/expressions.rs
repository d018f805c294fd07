//! The expressions of a module whose values are used: not those of messages, `depends_on` and `lifecycle`.

use crate::config::uses::{self, Role, Use};
use crate::config::{Condition, Module, Resource};
use crate::lower::blocks::BlockKey;

/// An expression and what is around it.
pub(super) struct Written<'a> {
    /// The expression.
    pub expression: Use<'a>,
    /// The block that it is in, if others can refer to that.
    pub block: Option<BlockKey>,
    /// The resource that it is in: `self` may be an object of it.
    pub owner: Option<&'a Resource>,
}

/// Returns the expressions of a module.
pub(super) fn of_module(module: &Module) -> Vec<Written<'_>> {
    let mut all = Vec::new();
    for (name, it) in &module.variables {
        add(&mut all, Some(BlockKey::Variable(name.clone())), conditions(&it.validations));
    }
    for (name, it) in &module.locals {
        add(&mut all, Some(BlockKey::Local(name.clone())), [uses::of_value(&it.value)]);
    }
    for (name, it) in &module.outputs {
        let expressions = [uses::of_value(&it.value)].into_iter();
        let block = Some(BlockKey::Output(name.clone()));
        add(&mut all, block, expressions.chain(conditions(&it.preconditions)));
    }
    for it in module.resources.values().filter(|it| !it.besides.generated) {
        let (block, owner) = (Some(BlockKey::Resource(it.name.clone())), Some(&**it));
        let written = |expression| Written { expression, block: block.clone(), owner };
        all.extend(of_resource(it).map(written));
    }
    for (name, it) in &module.calls {
        let inputs = it.inputs.values().map(|it| uses::of_value(&it.value));
        let repetition = it.repetition.expression().map(uses::of_value);
        add(&mut all, Some(BlockKey::Call(name.clone())), inputs.chain(repetition));
    }
    for it in &module.providers {
        add(&mut all, None, uses::of_provider(it));
    }
    for it in module.checks.values() {
        add(&mut all, None, conditions(&it.asserts));
    }
    all
}

fn add<'a>(
    all: &mut Vec<Written<'a>>,
    block: Option<BlockKey>,
    expressions: impl IntoIterator<Item = Use<'a>>,
) {
    let written = |expression| Written { expression, block: block.clone(), owner: None };
    all.extend(expressions.into_iter().map(written));
}

fn of_resource(resource: &Resource) -> impl Iterator<Item = Use<'_>> {
    let lifecycle = &resource.besides.lifecycle;
    let of_conditions = [&lifecycle.preconditions, &lifecycle.postconditions];
    let is_value =
        |it: &Use<'_>| matches!(it.role, Role::Value | Role::Repetition | Role::Provisioner);
    let others = uses::of_resource(resource).into_iter().filter(is_value);
    others.chain(of_conditions.into_iter().flat_map(|it| conditions(it)))
}

fn conditions(conditions: &[Condition]) -> impl Iterator<Item = Use<'_>> {
    conditions.iter().map(|it| uses::of_value(&it.condition))
}
