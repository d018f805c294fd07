//! Resource blocks that differ in nothing but the resources they name, of which no more is said than what they are: what is found of
//! one of them by looking at it with nothing decided is found of all.
//!
//! Who writes a million blocks has them written, and they are alike. They are compared while their references are followed, when they
//! are at hand anyway.

use crate::config::{IgnoreChanges, Resource, Resources};
use crate::expression::{Subject, parse_reference};
use crate::syntax::{Attribute, Body, Expr, Expression, ObjectKey, Part, Step, Traversal};

/// So many blocks of a module are kept to compare others with.
const KEPT: usize = 4;

/// So many are compared before it is asked whether that is of use.
const TRIAL: u32 = 256;

/// No two expressions that lie deeper are compared.
const DEEPEST: u32 = 64;

/// Which blocks are like which.
#[derive(Debug, Default)]
pub(super) struct Lookalikes {
    /// Of each block one more than the number of the one that stands for all that are like it, as the first of them does; 0 where
    /// none was compared with it. As long as it has to be.
    like: Vec<u32>,
}

impl Lookalikes {
    /// Returns the block that stands for all that are like a block, where that is known.
    pub fn first(&self, block: usize) -> Option<u32> {
        self.like.get(block)?.checked_sub(1)
    }

    fn note(&mut self, block: usize, first: usize) {
        self.like.resize(block, 0);
        self.like.push(first as u32 + 1);
    }
}

/// Compares the blocks of one module after the other.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// The numbers of blocks and their places in the module, the one that was met last first.
    kept: Vec<(usize, usize)>,
    compared: u32,
    found: u32,
}

impl Comparison {
    /// Begins with another module: names mean something else there.
    pub fn enter(&mut self) {
        self.kept.clear();
    }

    /// Notes whether a block, at a place of its module, is like one of those that were kept, and keeps it if not.
    pub fn compare(
        &mut self,
        (number, place): (usize, usize),
        resources: &Resources,
        lookalikes: &mut Lookalikes,
    ) {
        let Some(block) = resources.at(place).filter(|_| self.is_of_use()) else { return };
        let pairs = Pairs { resources };
        let is_like =
            |it: &(usize, usize)| resources.at(it.1).is_some_and(|it| pairs.resources(it, block));
        self.compared += 1;
        match self.kept.iter().position(is_like) {
            Some(at) => {
                self.kept[..=at].rotate_right(1);
                self.found += 1;
            }
            None => {
                self.kept.truncate(KEPT - 1);
                self.kept.insert(0, (number, place));
            }
        }
        lookalikes.note(number, self.kept[0].0);
    }

    fn is_of_use(&self) -> bool {
        self.compared < TRIAL || self.found > self.compared / 2
    }
}

/// What stands at the same place in two blocks of a module.
struct Pairs<'m> {
    resources: &'m Resources,
}

impl Pairs<'_> {
    fn resources(&self, one: &Resource, other: &Resource) -> bool {
        let ignores =
            |it: &Resource| matches!(it.besides.lifecycle.ignore_changes, IgnoreChanges::Paths(_));
        is_same_kind(one, other)
            && !ignores(one)
            && !ignores(other)
            && self.bodies(&one.body, &other.body)
    }

    fn bodies(&self, one: &Body, other: &Body) -> bool {
        let attributes = |one: &Attribute, other: &Attribute| {
            one.name.text == other.name.text && self.expressions(&one.value, &other.value, 0)
        };
        // What stands in blocks may have names of its own.
        let is_flat = |it: &Body| it.json.is_none() && it.blocks.is_empty();
        is_flat(one) && is_flat(other) && all(&one.attributes, &other.attributes, attributes)
    }

    fn expressions(&self, one: &Expression, other: &Expression, depth: u32) -> bool {
        let like = |one: &Expression, other: &Expression| {
            depth < DEEPEST && self.expressions(one, other, depth + 1)
        };
        match (&one.expr, &other.expr) {
            (Expr::Null, Expr::Null) => true,
            (Expr::Bool(one), Expr::Bool(other)) => one == other,
            (Expr::Number(one), Expr::Number(other)) => one == other,
            (Expr::String(one), Expr::String(other)) => one == other,
            (Expr::Wrapped(one), Expr::Wrapped(other))
            | (Expr::Parentheses(one), Expr::Parentheses(other)) => like(one, other),
            (Expr::Tuple(one), Expr::Tuple(other)) => all(one, other, like),
            (Expr::Template(one), Expr::Template(other)) => {
                all(one, other, |one, other| match (one, other) {
                    (Part::Literal(one), Part::Literal(other)) => one == other,
                    (Part::Interpolation(one), Part::Interpolation(other)) => like(one, other),
                    _ => false,
                })
            }
            (Expr::Object(one), Expr::Object(other)) => all(one, other, |one, other| {
                let keys = match (&one.key, &other.key) {
                    (ObjectKey::Name(one), ObjectKey::Name(other)) => one.text == other.text,
                    (ObjectKey::Expression(one), ObjectKey::Expression(other)) => like(one, other),
                    _ => false,
                };
                keys && like(&one.value, &other.value)
            }),
            (Expr::Call(one), Expr::Call(other)) => {
                one.name.text == other.name.text
                    && one.expand == other.expand
                    && all(&one.arguments, &other.arguments, like)
            }
            (Expr::Conditional(one), Expr::Conditional(other)) => {
                like(&one.condition, &other.condition)
                    && like(&one.yes, &other.yes)
                    && like(&one.no, &other.no)
            }
            (Expr::Unary(op, one), Expr::Unary(other_op, other)) => {
                op == other_op && like(one, other)
            }
            (Expr::Binary(op, left, right), Expr::Binary(other_op, other_left, other_right)) => {
                op == other_op && like(left, other_left) && like(right, other_right)
            }
            (Expr::Traversal(one), Expr::Traversal(other)) => self.traversals(one, other),
            _ => false,
        }
    }

    /// Returns whether two paths lead to the same: by the same names, or from resources that are the same but for their names.
    fn traversals(&self, one: &Traversal, other: &Traversal) -> bool {
        if one.root().text == other.root().text && all(one.steps(), other.steps(), is_same_step) {
            return true;
        }
        let reference = |it| parse_reference(Traversal::root(it), it.steps()).ok();
        let (Some(one), Some(other)) = (reference(one), reference(other)) else { return false };
        let (Subject::Resource(name), Subject::Resource(other_name)) = (one.subject, other.subject)
        else {
            return false;
        };
        let named = |name, near| self.resources.named(name, near).map(|it| &**it.1);
        let blocks = named(name, one.near()).zip(named(other_name, other.near()));
        let are_alike = |(one, other)| is_same_kind(one, other) && !repeats(one) && !repeats(other);
        blocks.is_some_and(are_alike) && all(one.rest, other.rest, is_same_step)
    }
}

fn is_same_kind(one: &Resource, other: &Resource) -> bool {
    one.name.kind == other.name.kind
        && one.name.mode == other.name.mode
        && one.provider_source == other.provider_source
}

fn repeats(it: &Resource) -> bool {
    it.besides.repetition.expression().is_some()
}

fn all<T>(one: &[T], other: &[T], like: impl Fn(&T, &T) -> bool) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| like(one, other))
}

fn is_same_step(one: &Step, other: &Step) -> bool {
    match (one, other) {
        (Step::Attribute(one), Step::Attribute(other)) => one.text == other.text,
        (Step::LegacyIndex(one), Step::LegacyIndex(other)) => one.index == other.index,
        (Step::Index(one), Step::Index(other)) => match (&one.key.expr, &other.key.expr) {
            (Expr::Number(one), Expr::Number(other)) => one == other,
            (Expr::String(one), Expr::String(other)) => one == other,
            _ => false,
        },
        _ => false,
    }
}
