//! References walked step by step, a second time.

use super::{Checker, Use};
use crate::datalog::check::{Reference, Step, Term};
use crate::value::{Kind, Marks, Type, Value};

/// What a reference leads to.
pub(super) struct Found {
    pub value: Value,
    pub is_certain: bool,
}

impl Checker<'_> {
    /// Returns everything that a reference leads to; nothing where its root has no value.
    pub(super) fn walked(&self, reference: &Reference, used: &Use<'_>) -> Option<Vec<Found>> {
        let mut found = Vec::new();
        if let Some(root) = self.root(reference, used)? {
            let root = Found { value: root, is_certain: true };
            self.walk(root, (&reference.steps, false), used, &mut found);
        }
        Some(found)
    }

    fn walk(
        &self,
        at: Found,
        (steps, is_element): (&[Step], bool),
        used: &Use<'_>,
        found: &mut Vec<Found>,
    ) {
        let marks = at.value.marks();
        let bare = at.value.bare().clone();
        let under = |value: &Value| value.clone().mark(&marks);
        if !bare.is_known() {
            let is_certain = at.is_certain && steps.is_empty() && is_there(&bare);
            let value = if steps.is_empty() { bare } else { Value::unknown(Type::DYNAMIC) };
            return found.push(Found { value: under(&value), is_certain });
        }
        let is_keyed = matches!(bare, Value::Object(_) | Value::Map(_));
        let is_listed = matches!(bare, Value::List(_) | Value::Tuple(_) | Value::Set(_));
        let Some((step, rest)) = steps.split_first() else {
            let is_empty = (is_keyed || is_listed) && bare.children().next().is_none();
            if !bare.is_null() && (is_element || !is_empty) {
                found.push(Found { value: at.value, is_certain: at.is_certain });
            }
            return;
        };
        let mut go = |value: &Value, is_certain: bool, is_element: bool| {
            let next = Found { value: under(value), is_certain: at.is_certain && is_certain };
            self.walk(next, (rest, is_element), used, found);
        };
        match step {
            Step::Name(name) if is_keyed => {
                if let Some(value) = bare.get(name) {
                    go(value, true, false);
                }
            }
            // A name behind a list goes through its elements.
            Step::Name(_) if is_listed => {
                for element in bare.children() {
                    let next = Found { value: under(element), is_certain: at.is_certain };
                    self.walk(next, (steps, true), used, found);
                }
            }
            Step::Name(_) => {}
            Step::Key(Term::Any | Term::InTense(..)) => {
                bare.children().for_each(|it| go(it, true, true));
            }
            Step::Key(term) => {
                let wanted = match term {
                    Term::Variable(it) => used.words[*it],
                    Term::Word(it) => Some(*it),
                    Term::Any | Term::InTense(..) => None,
                };
                let wanted = wanted.and_then(|it| self.domain.values().value(it));
                for (key, value) in keyed(&bare) {
                    match wanted.as_ref().map(|it| self.equal(&key, it)) {
                        Some(Some(is_certain)) => go(value, is_certain, true),
                        Some(None) => {}
                        // A key that is counted over has no value of its own.
                        None => go(value, true, true),
                    }
                }
            }
        }
    }
}

/// The elements of a list or map with their indexes or keys; those of a set have none.
fn keyed(value: &Value) -> Vec<(Value, &Value)> {
    match value {
        Value::Object(_) | Value::Map(_) => {
            let entries = value.entries().into_iter();
            entries.map(|(name, it)| (Value::String(name), it)).collect()
        }
        Value::List(_) | Value::Tuple(_) => {
            let all = value.children().enumerate();
            all.map(|(at, it)| (Value::int(at as i64), it)).collect()
        }
        _ => Vec::new(),
    }
}

/// What `in` goes through: the elements of a list, set or tuple; anything else is one itself.
pub(super) fn elements(of: &Found) -> Vec<Found> {
    let marks: Marks = of.value.marks();
    let bare = of.value.bare();
    match bare {
        Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
            let elements = bare
                .children()
                .map(|it| Found { value: it.clone().mark(&marks), is_certain: of.is_certain });
            elements.collect()
        }
        _ if !bare.is_known() => {
            let value = Value::unknown(Type::DYNAMIC).mark(&marks);
            vec![Found { value, is_certain: false }]
        }
        _ => vec![Found { value: of.value.clone(), is_certain: of.is_certain }],
    }
}

/// Whether an unknown value will be something: not null, and no empty collection.
fn is_there(value: &Value) -> bool {
    let Value::Unknown(it) = value else { return true };
    let may_be_empty = !matches!(it.ty.kind(), Kind::Bool | Kind::Number | Kind::String);
    let has_some = it.refinement.min_length.is_some_and(|it| it > 0);
    let is_object = matches!(it.ty.kind(), Kind::Object(_));
    it.refinement.not_null && (!may_be_empty || has_some || is_object)
}
