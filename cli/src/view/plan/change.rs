//! Two sides of a value, and what can be said of them: the input of every comparison.

use entail::plan::Action;
use entail::value::{Path, PathStep, Str, Value};

/// Which parts of a value something concerns: the ends of paths.
#[derive(Clone, Debug)]
pub enum Reach<'a> {
    /// All of it.
    All,
    /// What these paths lead to, each seen from here. With the flag, also everything beneath their ends.
    Paths(Vec<&'a [PathStep]>, bool),
}

impl<'a> Reach<'a> {
    /// Returns what the ends of these paths are.
    pub fn ends(paths: &'a [Path]) -> Reach<'a> {
        Reach::Paths(paths.iter().map(Vec::as_slice).collect(), false)
    }

    /// Returns whether a path ends here.
    pub fn is_here(&self) -> bool {
        match self {
            Reach::All => true,
            Reach::Paths(paths, _) => paths.iter().any(|it| it.is_empty()),
        }
    }

    /// Returns whether a path ends here or beneath.
    pub fn is_near(&self) -> bool {
        match self {
            Reach::All => true,
            Reach::Paths(paths, _) => !paths.is_empty(),
        }
    }

    fn child(&self, step: impl Fn(&PathStep) -> bool) -> Reach<'a> {
        match self {
            Reach::All => Reach::All,
            Reach::Paths(paths, spreads) => {
                let beneath = |path: &&'a [PathStep]| match path.split_first() {
                    None => spreads.then_some(*path),
                    Some((first, rest)) => step(first).then_some(rest),
                };
                Reach::Paths(paths.iter().filter_map(beneath).collect(), *spreads)
            }
        }
    }

    /// Returns what it reaches of an attribute or map element.
    pub fn key(&self, key: &str) -> Reach<'a> {
        self.child(|step| match step {
            PathStep::Attribute(name) => **name == *key,
            PathStep::Index(index) => index.as_str() == Some(key),
        })
    }

    /// Returns what it reaches of a list or tuple element.
    pub fn index(&self, at: usize) -> Reach<'a> {
        self.child(|step| match step {
            PathStep::Attribute(_) => false,
            PathStep::Index(index) => index.as_int() == i64::try_from(at).ok(),
        })
    }
}

/// A value before and after.
///
/// A side without a value (absent, null or unknown) is `None`. A null that was written is told from an absent one by the
/// `explicit` flags.
#[derive(Clone, Debug)]
pub struct Sides<'a> {
    /// The value before, without its own marks.
    pub before: Option<&'a Value>,
    /// The value after, without its own marks.
    pub after: Option<&'a Value>,
    /// Whether the value before was there, if only as null.
    pub before_explicit: bool,
    /// Whether the value after is there, if only as null.
    pub after_explicit: bool,
    /// The value after is decided in apply.
    pub unknown: bool,
    /// The value before must not be shown.
    pub before_sensitive: bool,
    /// The value after must not be shown.
    pub after_sensitive: bool,
    /// What forces a replacement.
    pub replace: Reach<'a>,
    /// What is worth showing; everything else counts as unchanged.
    pub relevant: Reach<'a>,
    /// Attributes without a value after are shown as decided in apply.
    pub unknown_beneath: bool,
}

impl<'a> Sides<'a> {
    /// Returns the two sides of a change.
    pub fn of(
        before: &'a Value,
        after: &'a Value,
        replace: Reach<'a>,
        relevant: Reach<'a>,
    ) -> Sides<'a> {
        let sides = Sides::between(Some(before), Some(after), replace, relevant);
        Sides { before_explicit: false, after_explicit: false, ..sides }
    }

    /// Returns a value that stays as it is.
    pub fn unchanged(value: &'a Value) -> Sides<'a> {
        Sides::of(value, value, Reach::Paths(Vec::new(), false), Reach::All)
    }

    fn between(
        before: Option<&'a Value>,
        after: Option<&'a Value>,
        replace: Reach<'a>,
        relevant: Reach<'a>,
    ) -> Sides<'a> {
        let content = |it: Option<&'a Value>| {
            it.map(Value::bare).filter(|it| !matches!(it, Value::Null(_) | Value::Unknown(_)))
        };
        Sides {
            before: content(before),
            after: content(after),
            before_explicit: before.is_some(),
            after_explicit: after.is_some_and(Value::is_known),
            unknown: after.is_some_and(|it| !it.is_known()),
            before_sensitive: before.is_some_and(is_sensitive),
            after_sensitive: after.is_some_and(is_sensitive),
            replace,
            relevant,
            unknown_beneath: false,
        }
    }

    /// Returns the sides of an attribute or map element.
    pub fn key(&self, key: &str) -> Sides<'a> {
        let get = |it: Option<&'a Value>| it.and_then(|it| it.get(key));
        let sides = Sides::between(
            get(self.before),
            get(self.after),
            self.replace.key(key),
            self.relevant.key(key),
        );
        Sides { unknown: sides.unknown || self.unknown_beneath, ..sides }
    }

    /// Returns the sides of two elements by position; a position beyond the end is an absent element.
    pub fn element(&self, before: usize, after: usize) -> Sides<'a> {
        let at = if before < items(self.before).len() { before } else { after };
        Sides::between(
            items(self.before).get(before),
            items(self.after).get(after),
            self.replace.index(at),
            self.relevant.index(at),
        )
    }

    /// Returns the keys of both sides, sorted.
    pub fn keys(&self) -> Vec<Str> {
        let mut keys: Vec<Str> = [self.before, self.after]
            .into_iter()
            .flatten()
            .flat_map(Value::entries)
            .map(|it| it.0)
            .collect();
        keys.sort();
        keys.dedup();
        keys
    }

    /// Takes the irrelevant as unchanged.
    pub fn only_relevant(self) -> Sides<'a> {
        if self.relevant.is_near() {
            return self;
        }
        Sides {
            after: self.before,
            after_explicit: self.before_explicit,
            unknown: false,
            after_sensitive: self.before_sensitive,
            ..self
        }
    }

    /// Takes a null for an absent value on both sides.
    pub fn implicit(self) -> Sides<'a> {
        Sides { before_explicit: false, after_explicit: false, ..self }
    }

    /// Returns the same where the value goes.
    pub fn as_delete(&self) -> Sides<'a> {
        Sides {
            after: None,
            after_explicit: false,
            unknown: false,
            after_sensitive: false,
            ..self.clone()
        }
    }

    /// Returns the same where the value comes.
    pub fn as_create(&self) -> Sides<'a> {
        Sides { before: None, before_explicit: false, before_sensitive: false, ..self.clone() }
    }

    /// Returns whether there is nothing on either side.
    pub fn is_empty(&self) -> bool {
        self.before.is_none() && self.after.is_none()
    }

    /// Returns what happens to the value as a whole.
    pub fn action(&self) -> Action {
        let was = self.before.is_some() || self.before_explicit;
        let is = self.after.is_some() || self.after_explicit;
        match (was, is) {
            (false, true) => Action::Create,
            (true, false) => Action::Delete,
            _ if self.is_same()
                && self.before_explicit == self.after_explicit
                && self.before_sensitive == self.after_sensitive =>
            {
                Action::NoOp
            }
            _ => Action::Update,
        }
    }

    /// Returns what happens to a container before its parts are looked at.
    pub fn action_of_container(&self) -> Action {
        match (self.before, self.after) {
            (None, Some(_)) => Action::Create,
            (Some(_), None) => Action::Delete,
            _ => Action::NoOp,
        }
    }

    fn is_same(&self) -> bool {
        match (self.before, self.after) {
            (None, None) => true,
            (Some(before), Some(after)) => same(before, after),
            _ => false,
        }
    }
}

fn is_sensitive(value: &Value) -> bool {
    matches!(value, Value::Marked(it) if it.marks().sensitive)
}

/// Returns the elements of a list, set or tuple.
pub fn items(value: Option<&Value>) -> &[Value] {
    match value {
        Some(Value::List(it) | Value::Set(it)) => &it.items,
        Some(Value::Tuple(it)) => &it.items,
        _ => &[],
    }
}

/// Returns whether two values look alike: marks and the kind of container do not count, unknown is like nothing.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a.bare(), b.bare()) {
        (Value::Null(_), Value::Null(_)) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a == b,
        (Value::String(a), Value::String(b)) => a == b,
        (
            a @ (Value::List(_) | Value::Set(_) | Value::Tuple(_)),
            b @ (Value::List(_) | Value::Set(_) | Value::Tuple(_)),
        ) => {
            let (a, b) = (items(Some(a)), items(Some(b)));
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (a @ (Value::Map(_) | Value::Object(_)), b @ (Value::Map(_) | Value::Object(_))) => {
            let (a, b) = (a.entries(), b.entries());
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.0 == b.0 && same(a.1, b.1))
        }
        _ => false,
    }
}
