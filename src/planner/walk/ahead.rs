//! Reads what the next questions begin with, of several at once.
//!
//! Blocks, recorded objects and what they are made of lie far apart in memory. Whoever asks for one after the other waits for memory
//! at each; what is read of many a step at a time is waited for together. Nothing is kept, and nothing decided.

use std::hint::black_box;

use entail_rules::Node;

use crate::config;
use crate::lower::structure::{ResourceNode, Style};
use crate::observe::Observer;
use crate::state::{Attributes, Object};
use crate::syntax::{Expr, Expression, Part};

/// So many are read at once: what they begin with fits the cache nearest but one.
pub(super) const AHEAD: usize = 32;

/// Of fewer the reading takes longer than the waiting.
const FEW: usize = 4;

/// No expression that lies deeper is read.
const DEEPEST: usize = 6;

/// Reads what will be asked of nodes: of resources that do not repeat, the others have one block for many.
pub(super) fn read(observer: &Observer<'_>, nodes: impl Iterator<Item = Node>) {
    let structure = &observer.values.structure;
    let resource = |it: Node| Some(structure.resource(structure.kind(it).object()?.0));
    let resources: Vec<&ResourceNode> =
        nodes.filter_map(resource).filter(|it| it.style == Style::Single).collect();
    if resources.len() < FEW {
        return;
    }
    let blocks: Vec<&config::Resource> =
        resources.iter().filter_map(|it| it.block.as_deref()).collect();
    let recorded: Vec<_> =
        resources.iter().filter_map(|it| observer.state.resources.placed(it.recorded)).collect();
    let objects: Vec<&Object> = recorded
        .iter()
        .filter_map(|(_, it)| it.instances.values().next()?.current.as_deref())
        .collect();
    read_starts(recorded.iter().map(|it| &*it.0.resource.name));
    read_starts(blocks.iter().map(|it| &*it.name.name));
    read_expressions(blocks.iter().flat_map(|it| &it.body.attributes).map(|it| &it.value));
    read_starts(objects.iter().filter_map(|it| match &it.attributes {
        Attributes::Json(text) => Some(&**text),
        Attributes::Flat(_) => None,
    }));
}

fn read_starts<'t>(texts: impl Iterator<Item = &'t str>) {
    let first = |it: &str| it.as_bytes().first().copied().unwrap_or_default();
    black_box(texts.map(first).fold(0, u8::wrapping_add));
}

/// Reads expressions, and what is in them level by level.
fn read_expressions<'e>(expressions: impl Iterator<Item = &'e Expression>) {
    let mut level: Vec<&Expression> = expressions.collect();
    let mut places = 0;
    for _ in 0..DEEPEST {
        let mut below = Vec::with_capacity(level.len());
        for it in level {
            match &it.expr {
                Expr::Template(parts) => below.extend(parts.iter().filter_map(|it| match it {
                    Part::Interpolation(it) => Some(it),
                    _ => None,
                })),
                Expr::Wrapped(inner) | Expr::Parentheses(inner) => below.push(inner),
                Expr::Tuple(items) => below.extend(items.iter()),
                Expr::Object(items) => below.extend(items.iter().map(|it| &it.value)),
                Expr::Call(call) => below.extend(call.arguments.iter()),
                Expr::Traversal(it) => places ^= it.root().near.place(),
                _ => {}
            }
        }
        if below.is_empty() {
            break;
        }
        level = below;
    }
    black_box(places);
}
