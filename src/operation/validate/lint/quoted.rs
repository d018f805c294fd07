//! Strings whose text is the address of a block.

use std::sync::Arc;

use entail_rules::Block;
use rustc_hash::FxHashSet;

use super::expressions::{self, Written};
use super::names::named;
use super::{Lowered, Session};
use crate::diagnostic::{FileId, Sources, Span};
use crate::expression::parse_reference;
use crate::lower::BlockGraph;
use crate::lower::blocks::VariantId;
use crate::syntax::{Expr, Expression, parse_traversal, parts};

/// Longer texts are no addresses, in bytes.
const LONGEST: usize = 1000;

/// Writes `spells_block` and `spelled_in`. A module that is called several times is looked at once.
pub(super) fn lower(session: &Session, lowered: &mut Lowered) {
    let graph = &session.graph;
    let mut seen = FxHashSet::default();
    for (module, code) in graph.modules.iter() {
        if seen.insert(Arc::as_ptr(&code.config)) {
            for it in expressions::of_module(&code.config) {
                lower_strings((graph, module), &it, &session.sources, lowered);
            }
        }
    }
}

fn lower_strings(
    (graph, module): (&BlockGraph, VariantId),
    written: &Written<'_>,
    sources: &Sources,
    lowered: &mut Lowered,
) {
    let around = || written.block.as_ref().and_then(|it| graph.find(module, it));
    for (text, place) in strings(&written.expression.expression) {
        let Some(block) = spelled(graph, module, text) else { continue };
        if !is_between_quotes(place, sources) {
            continue;
        }
        let site = lowered.sites.number(place);
        lowered.facts.spells_block.push((site, Block(block as u32)));
        lowered.facts.spelled_in.extend(around().map(|it| (site, Block(it as u32))));
    }
}

/// Returns the strings of an expression that have no sequences and are no keys of objects, with their places.
fn strings(expression: &Expression) -> Vec<(&str, Span)> {
    let mut keys = FxHashSet::default();
    let mut found = Vec::new();
    parts(expression, &mut |part| match &part.expr {
        Expr::Object(items) => keys.extend(items.iter().map(|it| it.key.span())),
        Expr::String(text) if !keys.contains(&part.span) => found.push((&**text, part.span)),
        _ => {}
    });
    found
}

/// Returns the number of the block whose address a text is.
fn spelled(graph: &BlockGraph, module: VariantId, text: &str) -> Option<usize> {
    if !text.contains('.') || text.len() > LONGEST {
        return None;
    }
    let traversal = parse_traversal(FileId::default(), text, 0).ok()?;
    let reference = parse_reference(traversal.root(), traversal.steps()).ok()?;
    named(graph, module, &reference).map(|it| it.block())
}

/// Returns whether a string is between quotes, and no heredoc.
fn is_between_quotes(place: Span, sources: &Sources) -> bool {
    sources.text(place).is_some_and(|it| it.starts_with('"'))
}
