//! Every expression of a block, with what it may refer to where it stands.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::diagnostic::Diagnostics;
use crate::expression::{Reference, free_reference};
use crate::syntax::{Attribute, Block, Body, Expr, Expression, ObjectKey, references};
use crate::value::Str;

use super::{Check, Condition, Import, Module, ModuleCall, Output, ProviderBlock, Resource};

/// An expression in its place.
#[derive(Clone, Debug)]
pub struct Use<'a> {
    /// The expression.
    pub expression: Cow<'a, Expression>,
    /// What it is for.
    pub role: Role,
    /// Names that blocks around it bind: iterators of `dynamic`.
    pub bound: Vec<Str>,
}

/// What an expression is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// An argument, a value, an input.
    Value,
    /// `count`, `for_each`, `enabled`
    Repetition,
    /// One item of `depends_on`
    DependsOn,
    /// The key of `provider = name.alias[key]`
    ProviderKey,
    /// `prevent_destroy`
    Lifecycle,
    /// One item of `replace_triggered_by`
    Trigger,
    /// A condition or its message, evaluated before: `precondition`, `validation`, `assert`
    Precondition,
    /// A condition or its message, evaluated after: `postcondition`
    Postcondition,
    /// An argument of a provisioner or connection
    Provisioner,
}

impl<'a> Use<'a> {
    fn of(expression: &'a Expression, role: Role) -> Use<'a> {
        Use { expression: Cow::Borrowed(expression), role, bound: Vec::new() }
    }

    /// Returns what it refers to, and what is wrong with how it is written.
    pub fn references(&self) -> (Vec<Reference<'_>>, Diagnostics) {
        crate::expression::references_within(&self.expression, &self.bound)
    }

    /// Calls `visit` for everything that it refers to.
    pub fn each_reference(&self, visit: &mut dyn FnMut(Reference<'_>)) {
        references(&self.expression, &mut |root, steps, _| {
            if let Some(Ok(reference)) = free_reference(root, steps, &self.bound) {
                visit(reference);
            }
        });
    }
}

/// Returns every expression of a resource, in no particular order of parts.
pub fn of_resource(resource: &Resource) -> Vec<Use<'_>> {
    let mut uses = of_body(&resource.body, Role::Value);
    uses.extend(resource.besides.repetition.expression().map(|it| Use::of(it, Role::Repetition)));
    uses.extend(
        resource
            .besides
            .provider
            .as_ref()
            .and_then(|it| it.key.as_ref())
            .map(|it| Use::of(it, Role::ProviderKey)),
    );
    uses.extend(resource.besides.depends_on.iter().map(|it| Use::of(it, Role::DependsOn)));
    let lifecycle = &resource.besides.lifecycle;
    uses.extend(lifecycle.prevent_destroy.iter().map(|it| Use::of(it, Role::Lifecycle)));
    uses.extend(lifecycle.replace_triggered_by.iter().map(|it| Use::of(it, Role::Trigger)));
    uses.extend(of_conditions(&lifecycle.preconditions, Role::Precondition));
    uses.extend(of_conditions(&lifecycle.postconditions, Role::Postcondition));
    for body in resource.besides.connection.as_deref().into_iter().chain(
        resource
            .besides
            .provisioners
            .iter()
            .flat_map(|it| [&it.body].into_iter().chain(&it.connection)),
    ) {
        uses.extend(of_body(body, Role::Provisioner));
    }
    uses
}

/// Returns every expression of a module call that is evaluated in the calling module.
pub fn of_call(call: &ModuleCall) -> Vec<Use<'_>> {
    let mut uses: Vec<Use> =
        call.inputs.values().map(|it| Use::of(&it.value, Role::Value)).collect();
    uses.extend(of_call_itself(call));
    uses
}

/// Returns the expressions of a module call that concern all of the module: all but the inputs.
pub fn of_call_itself(call: &ModuleCall) -> Vec<Use<'_>> {
    let mut uses: Vec<Use> =
        call.besides.depends_on.iter().map(|it| Use::of(it, Role::DependsOn)).collect();
    uses.extend(call.repetition.expression().map(|it| Use::of(it, Role::Repetition)));
    uses.extend(
        call.besides
            .providers
            .iter()
            .filter_map(|it| it.1.key.as_ref())
            .map(|it| Use::of(it, Role::ProviderKey)),
    );
    uses
}

/// Returns every expression of an output.
pub fn of_output(output: &Output) -> Vec<Use<'_>> {
    let mut uses = vec![Use::of(&output.value, Role::Value)];
    uses.extend(output.depends_on.iter().map(|it| Use::of(it, Role::DependsOn)));
    uses.extend(of_conditions(&output.preconditions, Role::Precondition));
    uses
}

/// Returns every expression of a `provider` block.
pub fn of_provider(provider: &ProviderBlock) -> Vec<Use<'_>> {
    let mut uses = of_body(&provider.body, Role::Value);
    uses.extend(provider.repetition.expression().map(|it| Use::of(it, Role::Repetition)));
    uses
}

/// Returns every expression that an `import` block rests on.
pub fn of_import(import: &Import) -> Vec<Use<'_>> {
    import.expressions().into_iter().map(|it| Use::of(it, Role::Value)).collect()
}

/// Returns every expression of a `check` block, its data source left out.
pub fn of_check(check: &Check) -> Vec<Use<'_>> {
    of_conditions(&check.asserts, Role::Precondition)
}

/// Returns the local names of the providers whose functions a module calls, as far as it requires them.
pub fn called_providers(module: &Module) -> BTreeSet<Str> {
    let mut found = BTreeSet::new();
    if module.required_providers.is_empty() {
        return found;
    }
    let conditions = |it| of_conditions(it, Role::Precondition);
    let all = (module.locals.values().map(|it| of_value(&it.value)))
        .chain(module.outputs.values().flat_map(of_output))
        .chain(module.resources.values().flat_map(|it| of_resource(it)))
        .chain(module.calls.values().flat_map(|it| of_call(it)))
        .chain(module.providers.iter().flat_map(of_provider))
        .chain(module.checks.values().flat_map(of_check))
        .chain(module.variables.values().flat_map(|it| conditions(&it.validations)));
    for it in all {
        for name in crate::expression::provider_functions_of(&it.expression) {
            let parts = name.text.strip_prefix("provider::").and_then(|it| it.split_once("::"));
            let required = parts.filter(|it| module.required_providers.contains_key(it.0));
            found.extend(required.map(|it| Str::from(it.0)));
        }
    }
    found
}

/// Returns condition and message of each condition.
pub fn of_conditions(conditions: &[Condition], role: Role) -> Vec<Use<'_>> {
    conditions
        .iter()
        .flat_map(|it| [&it.condition, &it.error_message])
        .map(|it| Use::of(it, role))
        .collect()
}

/// Returns one value.
pub fn of_value(expression: &Expression) -> Use<'_> {
    Use::of(expression, Role::Value)
}

/// What is still to be looked at in a body.
enum Open<'a> {
    Body(&'a Body),
    Json(Expression),
}

/// Returns every expression of a body, those of nested and `dynamic` blocks included.
pub fn of_body(body: &Body, role: Role) -> Vec<Use<'_>> {
    if body.blocks.is_empty() && body.json.is_none() {
        return body.attributes.iter().map(|it| Use::of(&it.value, role)).collect();
    }
    let mut found = Vec::new();
    let mut open: Vec<(Open, Vec<Str>)> = vec![(Open::Body(body), Vec::new())];
    while let Some((part, bound)) = open.pop() {
        match part {
            Open::Body(body) => {
                found.extend(
                    body.attributes
                        .iter()
                        .map(|it| Use { bound: bound.clone(), ..Use::of(&it.value, role) }),
                );
                for it in members(body) {
                    open_member(&it.name.text, it.value, &bound, &mut open);
                }
                for block in &body.blocks {
                    match &*block.kind.text {
                        "dynamic" => found.extend(of_dynamic(block, role, &bound, &mut open)),
                        _ => open.push((Open::Body(&block.body), bound.clone())),
                    }
                }
            }
            Open::Json(value) => match value.expr {
                Expr::Object(items) => {
                    for item in items {
                        let name = item.key.as_static_string().cloned();
                        if let ObjectKey::Expression(key) = item.key {
                            found.push(Use {
                                expression: Cow::Owned(*key),
                                role,
                                bound: bound.clone(),
                            });
                        }
                        open_member(
                            name.as_deref().unwrap_or_default(),
                            item.value,
                            &bound,
                            &mut open,
                        );
                    }
                }
                Expr::Tuple(items) => {
                    open.extend(items.into_iter().map(|it| (Open::Json(it), bound.clone())))
                }
                _ => found.push(Use { expression: Cow::Owned(value), role, bound }),
            },
        }
    }
    found
}

/// Returns the members of a JSON body as attributes. What is wrong in their texts is told when a schema sorts them.
fn members(body: &Body) -> Vec<Attribute> {
    let Some(json) = &body.json else { return Vec::new() };
    Body { json: Some(json.clone()), span: body.span, ..Body::default() }.just_attributes().0
}

/// Opens a `dynamic` block: what it iterates over sees the names around it, its content the iterator as well.
fn of_dynamic<'a>(
    block: &'a Block,
    role: Role,
    bound: &[Str],
    open: &mut Vec<(Open<'a>, Vec<Str>)>,
) -> Vec<Use<'a>> {
    let iterator = block.body.attribute("iterator").and_then(|it| it.value.as_keyword());
    let iterator = iterator.or_else(|| block.labels.first().map(|it| &*it.text));
    let inner: Vec<Str> = bound.iter().cloned().chain(iterator.map(Str::from)).collect();
    open.extend(block.body.blocks_of("content").map(|it| (Open::Body(&it.body), inner.clone())));
    let each = |it: &'a Attribute| match &*it.name.text {
        "iterator" => None,
        "labels" => Some(Use { bound: inner.clone(), ..Use::of(&it.value, role) }),
        _ => Some(Use { bound: bound.to_vec(), ..Use::of(&it.value, role) }),
    };
    block.body.attributes.iter().filter_map(each).collect()
}

/// Opens a member of a JSON body. `dynamic` holds objects by block type, or lists of them.
fn open_member(name: &str, value: Expression, bound: &[Str], open: &mut Vec<(Open, Vec<Str>)>) {
    let kinds = if name == "dynamic" { value.as_object() } else { None };
    let Some(kinds) = kinds else {
        open.push((Open::Json(value), bound.to_vec()));
        return;
    };
    for kind in kinds {
        let one = std::slice::from_ref(&kind.value);
        for block in kind.value.as_tuple().unwrap_or(one) {
            let items = block.as_object().unwrap_or_default();
            let named = |name: &str| {
                items
                    .iter()
                    .find(|it| it.key.as_static_string().is_some_and(|it| **it == *name))
                    .map(|it| &it.value)
            };
            let iterator = named("iterator")
                .and_then(Expression::as_static_string)
                .or_else(|| kind.key.as_static_string())
                .cloned();
            let inner: Vec<Str> = bound.iter().cloned().chain(iterator).collect();
            for item in items {
                match item.key.as_static_string().map(|it| &**it) {
                    Some("iterator") => {}
                    Some("content" | "labels") => {
                        open.push((Open::Json(item.value.clone()), inner.clone()))
                    }
                    _ => open.push((Open::Json(item.value.clone()), bound.to_vec())),
                }
            }
        }
    }
}
