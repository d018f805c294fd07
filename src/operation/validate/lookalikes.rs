//! Bodies that differ in nothing but the resources they name, of which nothing is known but what they are: of one of them all is found
//! that is to be found of the others.
//!
//! Who writes a million blocks has them written, and they are alike.

use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;

use crate::config::{IgnoreChanges, Resource};
use crate::expression::{Subject, parse_reference};
use crate::lower::structure::ModuleId;
use crate::observe::values::Values;
use crate::syntax::{Attribute, Body, Expr, Expression, ObjectKey, Part, Step, Traversal};

/// So many are kept to compare others with.
const KEPT: usize = 4;

/// So many are compared before it is asked whether that is of use.
const TRIAL: u32 = 256;

/// No two expressions that lie deeper are compared.
const DEEPEST: u32 = 64;

/// Resources with nothing wrong, for others to be compared with.
#[derive(Debug, Default)]
pub(super) struct Lookalikes {
    /// The modules and the numbers of their blocks.
    kept: Mutex<Vec<(ModuleId, usize)>>,
    compared: AtomicU32,
    found: AtomicU32,
}

impl Lookalikes {
    /// Returns whether one of those that were kept is like a resource, in a module where the same names mean the same.
    pub(super) fn has<'c>(
        &self,
        values: &Values<'_>,
        (module, block): (ModuleId, &Resource),
        of: impl Fn(usize) -> Option<&'c Resource>,
    ) -> bool {
        if !self.is_of_use() {
            return false;
        }
        let pairs = Pairs { values, module };
        let is_like = |it: &(ModuleId, usize)| {
            it.0 == module && of(it.1).is_some_and(|it| pairs.resources(it, block))
        };
        self.compared.fetch_add(1, Ordering::Relaxed);
        let mut kept = self.kept.lock();
        let Some(place) = kept.iter().position(is_like) else { return false };
        kept[..=place].rotate_right(1);
        self.found.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Keeps a resource with which nothing is wrong.
    pub(super) fn keep(&self, module: ModuleId, number: usize) {
        if self.is_of_use() {
            let mut kept = self.kept.lock();
            kept.truncate(KEPT - 1);
            kept.insert(0, (module, number));
        }
    }

    fn is_of_use(&self) -> bool {
        let compared = self.compared.load(Ordering::Relaxed);
        compared < TRIAL || self.found.load(Ordering::Relaxed) > compared / 2
    }
}

/// What stands at the same place in two blocks of a module.
struct Pairs<'v, 'a> {
    values: &'v Values<'a>,
    module: ModuleId,
}

impl Pairs<'_, '_> {
    fn resources(&self, one: &Resource, other: &Resource) -> bool {
        let ignores =
            |it: &Resource| matches!(it.besides.lifecycle.ignore_changes, IgnoreChanges::Paths(_));
        one.name.kind == other.name.kind
            && one.name.mode == other.name.mode
            && one.provider_source == other.provider_source
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
        let named = [(name, one.near()), (other_name, other.near())];
        all(one.rest, other.rest, is_same_step) && self.values.mean_the_same(self.module, named)
    }
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
