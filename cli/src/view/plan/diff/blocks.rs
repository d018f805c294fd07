//! What changes within a block, along its schema: attributes, structural ones among them, and nested blocks.

use entail::plan::Action;
use entail::schema::{AttributeSchema, BlockSchema, NestedAttributes, Nesting};
use entail::value::Value;

use super::{
    Blocks, DEEPEST, Diff, Kind, Style, combine, container, pairs_of_set, sequence, special, value,
};
use crate::view::plan::change::{Sides, items};

/// Compares a block along its schema.
pub fn block(sides: &Sides<'_>, schema: &BlockSchema, depth: usize) -> Diff {
    if sides.before_sensitive || sides.after_sensitive {
        let bare = Sides { before_sensitive: false, after_sensitive: false, ..sides.clone() };
        let (before, after, inner) =
            (sides.before_sensitive, sides.after_sensitive, block(&bare, schema, depth).action);
        let action = if inner == Action::NoOp && before != after { Action::Update } else { inner };
        return Diff::new(Kind::SensitiveBlock { before, after, inner }, action, sides);
    }
    if sides.unknown {
        let before = sides.before.map(|_| {
            Box::new(block(&Sides { unknown_beneath: true, ..sides.as_delete() }, schema, depth))
        });
        let explicit = Sides { after_explicit: true, ..sides.clone() };
        return Diff::new(Kind::Unknown(before), explicit.action(), sides);
    }
    if depth > DEEPEST {
        return Diff::new(Kind::TooDeep, sides.action(), sides);
    }

    let mut action = sides.action_of_container();
    let mut attributes = Vec::new();
    // Whether write-only attributes are shown depends on what happens to all others.
    for is_write_only in [false, true] {
        for (name, attribute) in
            schema.attributes.iter().filter(|it| it.1.write_only == is_write_only)
        {
            if let Some(diff) = block_attribute(sides.key(name), attribute, action, depth) {
                action = combine(action, diff.action);
                attributes.push((name.clone(), diff));
            }
        }
    }
    attributes.sort_by(|a, b| a.0.cmp(&b.0));

    let mut blocks = Vec::new();
    for (name, nested) in &schema.blocks {
        let part = sides.key(name).only_relevant();
        let group = blocks_of_type(&part, nested.nesting, &nested.block, depth + 1);
        let inner = action_of_blocks(&part, &group);
        if inner == Action::NoOp && part.is_empty() && !part.unknown {
            continue;
        }
        action = combine(action, inner);
        blocks.push((name.clone(), group));
    }
    Diff::new(Kind::Block(attributes, blocks), action, sides)
}

fn action_of_blocks(sides: &Sides<'_>, group: &Blocks) -> Action {
    match (group.nesting, group.blocks.as_slice()) {
        // Blocks that are not known yet change nothing that is.
        _ if sides.unknown => Action::NoOp,
        (Nesting::Single | Nesting::Group, [(_, only)]) => only.action,
        (_, blocks) => {
            blocks.iter().fold(sides.action_of_container(), |whole, it| combine(whole, it.1.action))
        }
    }
}

fn block_attribute(
    sides: Sides<'_>,
    schema: &AttributeSchema,
    parent: Action,
    depth: usize,
) -> Option<Diff> {
    let sides = sides.only_relevant();
    // A legacy provider cannot tell an empty string from none.
    let some = |it: &&Value| it.as_str() != Some("");
    let part =
        Sides { before: sides.before.filter(some), after: sides.after.filter(some), ..sides }
            .implicit();
    let diff = attribute(&part, schema, parent, depth + 1);
    let is_shown = diff.action != Action::NoOp || !part.is_empty() || schema.write_only;
    is_shown.then_some(diff)
}

fn attribute(sides: &Sides<'_>, schema: &AttributeSchema, parent: Action, depth: usize) -> Diff {
    if schema.write_only {
        let action =
            if parent == Action::NoOp && sides.replace.is_here() { Action::Update } else { parent };
        return Diff::new(Kind::WriteOnly, action, sides);
    }
    match &schema.nested {
        Some(nested) => structural(sides, nested, nested.nesting, depth),
        None => value(sides, schema.ty, depth),
    }
}

/// Compares an attribute that has attributes of its own.
fn structural(
    sides: &Sides<'_>,
    schema: &NestedAttributes,
    nesting: Nesting,
    depth: usize,
) -> Diff {
    let sides = Sides { unknown_beneath: sides.unknown || sides.unknown_beneath, ..sides.clone() };
    if let Some(diff) = special(&sides, |it| structural(it, schema, nesting, depth)) {
        return diff;
    }
    if depth > DEEPEST {
        return Diff::new(Kind::TooDeep, sides.action(), &sides);
    }
    let one = |it: Sides<'_>| structural(&it, schema, Nesting::Single, depth + 1);
    match nesting {
        Nesting::Single | Nesting::Group => {
            let mut action = sides.action_of_container();
            let mut parts = Vec::new();
            for (name, schema) in &schema.attributes {
                let part = sides.key(name).only_relevant().implicit();
                let diff = attribute(&part, schema, action, depth + 1);
                if diff.action != Action::NoOp || !part.is_empty() {
                    action = combine(action, diff.action);
                    parts.push((name.clone(), diff));
                }
            }
            Diff::new(Kind::Object(parts, Style::Nested), action, &sides)
        }
        Nesting::Map => {
            let sides = Sides { unknown_beneath: false, ..sides };
            let parts = sides.keys().into_iter().map(|key| {
                let diff = one(sides.key(&key).only_relevant());
                (key, diff)
            });
            container(&sides, parts.collect(), |all| Kind::Map(all, Style::Nested))
        }
        Nesting::List => sequence(&sides, by_position(&sides).map(one).collect(), |all| {
            Kind::List(all, Style::Nested)
        }),
        Nesting::Set => {
            let parts = pairs_of_set(&sides).into_iter().map(one).collect();
            sequence(&sides, parts, |all| Kind::Set(all, Style::Nested))
        }
    }
}

fn by_position<'s, 'a>(sides: &'s Sides<'a>) -> impl Iterator<Item = Sides<'a>> + use<'s, 'a> {
    let length = items(sides.before).len().max(items(sides.after).len());
    (0..length).map(|at| sides.element(at, at).only_relevant())
}

fn blocks_of_type(
    sides: &Sides<'_>,
    nesting: Nesting,
    schema: &BlockSchema,
    depth: usize,
) -> Blocks {
    let one = |it: &Sides<'_>| (None, block(it, schema, depth));
    let bare = Sides { before_sensitive: false, after_sensitive: false, ..sides.clone() };
    let blocks = match nesting {
        _ if sides.unknown => vec![one(&bare)],
        Nesting::Single | Nesting::Group => vec![one(&bare)],
        Nesting::List => by_position(&bare).map(|it| one(&it)).collect(),
        Nesting::Set => pairs_of_set(&bare).iter().map(one).collect(),
        Nesting::Map => bare
            .keys()
            .into_iter()
            .map(|key| {
                let diff = block(&bare.key(&key).only_relevant(), schema, depth);
                (Some(key), diff)
            })
            .collect(),
    };
    Blocks {
        blocks,
        nesting,
        replace: sides.replace.is_here(),
        before_sensitive: sides.before_sensitive,
        after_sensitive: sides.after_sensitive,
    }
}
