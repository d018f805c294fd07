//! Arguments and blocks that no schema knows. Nobody evaluates them, so that nothing is wrong with what they refer to: it
//! is told that they are not expected, and no more.

use crate::config::{ProviderBlock, Resource, check};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::observe::pool::Pool;
use crate::operation::session::Session;
use crate::schema::BlockSchema;
use crate::syntax::Body;

/// Leaves out what is told of references that stand in such arguments and blocks.
pub(super) fn without_unread(session: &Session, pool: &Pool, told: Diagnostics) -> Diagnostics {
    let mut unread = Vec::new();
    for (_, module) in check::distinct(&session.config) {
        unread.extend(module.resources.values().flat_map(|it| of_resource(pool, it)));
        unread.extend(module.providers.iter().flat_map(|it| of_provider(pool, it)));
    }
    without(told, &unread)
}

/// Leaves out errors that stand in one of these places.
pub(super) fn without(told: Diagnostics, places: &[Span]) -> Diagnostics {
    let is_there =
        |it: &Diagnostic| it.is_error() && it.subject.is_some_and(|at| is_within(at, places));
    Diagnostics(told.into_iter().filter(|it| !is_there(it)).collect())
}

/// Returns whether something stands in one of these places.
pub(super) fn is_within(at: Span, places: &[Span]) -> bool {
    places.iter().any(|it| it.contains(at))
}

/// Returns such arguments and blocks of a resource.
pub(super) fn of_resource(pool: &Pool, block: &Resource) -> Vec<Span> {
    let (name, source) = (&block.name, &block.provider_source);
    let mut unread = Vec::new();
    match pool.resource_schema(source, name.mode, &name.kind) {
        Some(schema) => unknown_parts(&block.body, &schema.block, &mut unread),
        // Of a type that its provider does not have, no argument is expected.
        None if pool.schema(source).is_some() => unread.push(block.body.span),
        None => {}
    }
    unread
}

/// Returns such arguments and blocks of a provider configuration.
pub(super) fn of_provider(pool: &Pool, block: &ProviderBlock) -> Vec<Span> {
    let mut unread = Vec::new();
    if let Some(schema) = pool.schema(&block.source) {
        unknown_parts(&block.body, &schema.provider.block, &mut unread);
    }
    unread
}

/// Finds the arguments and blocks of a body that its schema does not know, at any depth.
fn unknown_parts(body: &Body, schema: &BlockSchema, found: &mut Vec<Span>) {
    for attribute in &body.attributes {
        let name = &attribute.name;
        if !schema.attributes.contains_key(&name.text) && !schema.blocks.contains_key(&name.text) {
            found.push(name.span.to(attribute.value.span));
        }
    }
    for block in &body.blocks {
        let kind = &block.kind.text;
        if let Some(nested) = schema.blocks.get(kind) {
            unknown_parts(&block.body, &nested.block, found);
        } else if &**kind != "dynamic" && !schema.attributes.contains_key(kind) {
            found.push(block.header.to(block.body.span));
        }
    }
}
