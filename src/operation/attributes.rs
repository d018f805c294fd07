//! References to attributes that a resource type does not have, found before anything is evaluated.

use crate::config::{Module, uses::Use};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::{Reference, Subject};
use crate::lower::structure::Style;
use crate::observe::pool::Pool;
use crate::schema::BlockSchema;
use crate::syntax::{Name, Step};

/// Returns the problems of every reference whose first attribute is not one of the resource type's.
pub fn unsupported<'a>(
    module: &Module,
    pool: &Pool,
    uses: impl IntoIterator<Item = &'a Use<'a>>,
) -> Diagnostics {
    let mut problems = Diagnostics::new();
    for it in uses {
        it.each_reference(&mut |it| problems.extend(check(module, pool, &it)));
    }
    problems
}

fn check(module: &Module, pool: &Pool, reference: &Reference<'_>) -> Option<Diagnostic> {
    let Subject::Resource(name) = reference.subject else { return None };
    let (_, resource) = module.resources.named(name, reference.near())?;
    let schema = pool.resource_schema(&resource.provider_source, name.mode, name.kind)?;
    let repeats = matches!(Style::of(&resource.besides.repetition), Style::Count | Style::ForEach);
    let (attribute, rest) = match (reference.rest, repeats) {
        // That an instance key is missing where there are several instances is told elsewhere.
        ([Step::Attribute(name), rest @ ..], _) if !repeats || &*name.text != "count" => {
            (name, rest)
        }
        ([Step::Index(..) | Step::LegacyIndex(..), Step::Attribute(name), rest @ ..], true) => {
            (name, rest)
        }
        _ => return None,
    };
    let mut problem = missing(&schema.block, attribute);
    if let (None, Some(Step::Attribute(next))) = (&problem, rest.first()) {
        problem = within_primitive(&schema.block, attribute, next);
    }
    // The dot belongs to the step.
    if let Some(at) = problem.as_mut().and_then(|it| it.subject.as_mut()) {
        *at = at.starting_at(at.start() - 1);
    }
    problem
}

/// Returns the problem that an attribute is no object, so that it has nothing called `next`.
fn within_primitive(schema: &BlockSchema, name: &Name, next: &Name) -> Option<Diagnostic> {
    let ty = schema.attributes.get(&name.text)?.ty;
    ty.is_primitive().then(|| {
        Diagnostic::error("Unsupported attribute")
            .detail(format!(
                "Can't access attributes on a primitive-typed value ({}).",
                ty.friendly_name()
            ))
            .at(next.span)
    })
}

/// Returns the problem that a schema has no attribute or block of this name; `None` where it has.
pub fn missing(schema: &BlockSchema, name: &Name) -> Option<Diagnostic> {
    if schema.attributes.contains_key(&name.text) || schema.blocks.contains_key(&name.text) {
        return None;
    }
    Some(
        Diagnostic::error("Unsupported attribute")
            .detail(format!(
                "This object has no argument, nested block, or exported attribute named \"{}\".{}",
                name.text,
                suggestion(schema, &name.text)
            ))
            .at(name.span),
    )
}

/// Returns the problem of a path of which a part is not in the schema. Within the value of a plain attribute nothing is
/// looked for.
pub fn missing_along(schema: &BlockSchema, name: &Name, steps: &[Step]) -> Option<Diagnostic> {
    if let Some(problem) = missing(schema, name) {
        return Some(problem);
    }
    let at = steps.iter().position(|it| matches!(it, Step::Attribute(_)))?;
    let Step::Attribute(next) = &steps[at] else { return None };
    if let Some(block) = schema.blocks.get(&name.text) {
        return missing_along(&block.block, next, &steps[at + 1..]);
    }
    let nested = schema.attributes.get(&name.text)?.nested.as_ref()?;
    let attributes = nested.attributes.clone();
    missing_along(&BlockSchema { attributes, ..BlockSchema::default() }, next, &steps[at + 1..])
}

fn suggestion(schema: &BlockSchema, name: &str) -> String {
    let names = schema.attributes.keys().chain(schema.blocks.keys());
    let near = names.map(|it| (strsim::levenshtein(it, name), it)).filter(|it| it.0 <= 3).min();
    near.map_or_else(String::new, |it| format!(" Did you mean \"{}\"?", it.1))
}
