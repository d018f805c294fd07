//! Values taken apart from their marks, and put together again.
//!
//! A value gives its marks away in one of four ways: [`Value::into_marked`] the outermost, [`Value::to_marked`] all of
//! them as one, [`Value::to_marked_by_path`] all of them with their places, [`Value::to_plain`] none, for what is compared,
//! sent or stored and never becomes part of a value again. The first three give a [`Marked`], and the marks come back with
//! what is made of it. No other room takes marks off.

use std::ops::Deref;

use super::{Marks, Path, PathStep, Type, Value, path};

/// Something made of values, with the marks of what it was made of.
///
/// `M` says how exact they are: [`Marks`] of the whole, or [`MarkPaths`], with their places in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marked<T, M = Marks> {
    /// INVARIANT: inside a [`Value`], itself unmarked; parts of it may be marked.
    pub(super) value: T,
    /// INVARIANT: inside a [`Value`], not empty.
    pub(super) marks: M,
}

/// A value without marks at any depth.
#[derive(Clone, Debug, PartialEq)]
pub struct Plain(Value);

/// Marks and where in a value they stand, outermost first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarkPaths(Vec<(Path, Marks)>);

/// Marks that can be put on a value.
pub trait PutOn {
    /// Returns the value with these marks beside those that it has.
    fn put_on(&self, value: Value) -> Value;
}

impl PutOn for Marks {
    fn put_on(&self, value: Value) -> Value {
        value.mark(self)
    }
}

impl PutOn for MarkPaths {
    /// A path that leads nowhere is left out. Elements of sets cannot carry marks: there, the set gets them.
    fn put_on(&self, value: Value) -> Value {
        if self.0.is_empty() { value } else { path::mark_paths(&value, &self.0) }
    }
}

impl<T, M> Marked<T, M> {
    /// Returns something with marks.
    pub fn new(value: T, marks: M) -> Marked<T, M> {
        Marked { value, marks }
    }

    /// Returns what is marked: to decide by, to show as hidden, to send. What is made of it goes through [`Marked::map`].
    pub fn value(&self) -> &T {
        &self.value
    }

    /// Returns the marks.
    pub fn marks(&self) -> &M {
        &self.marks
    }

    /// Returns both, to decide by: what a value is good for rests on its marks too.
    pub fn look(&self) -> (&T, &M) {
        (&self.value, &self.marks)
    }

    /// Makes something else of what is marked.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Marked<U, M> {
        Marked { value: change(self.value), marks: self.marks }
    }

    /// Returns what somebody else made of it, such as a provider's answer to what it was sent.
    pub fn with<U>(self, made: U) -> Marked<U, M> {
        self.map(|_| made)
    }
}

impl<T> Marked<T> {
    /// Makes other marks of the marks.
    pub fn map_marks(self, change: impl FnOnce(Marks) -> Marks) -> Marked<T> {
        Marked { marks: change(self.marks), value: self.value }
    }

    /// Makes one thing of two.
    pub fn zip<U>(self, other: Marked<U>) -> Marked<(T, U)> {
        Marked { marks: self.marks.union(&other.marks), value: (self.value, other.value) }
    }
}

impl<T: Into<Value>, M: PutOn> From<Marked<T, M>> for Value {
    /// Puts the marks back on.
    fn from(it: Marked<T, M>) -> Value {
        it.marks.put_on(it.value.into())
    }
}

impl Marks {
    /// Takes over the marks of something that goes into what these marks belong to, and returns it without them.
    pub fn take<T>(&mut self, other: Marked<T>) -> T {
        if !other.marks.is_empty() {
            *self = self.union(&other.marks);
        }
        other.value
    }
}

impl Plain {
    /// The null of a type.
    pub fn null(ty: Type) -> Plain {
        Plain(Value::Null(ty))
    }
}

impl Deref for Plain {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl From<Plain> for Value {
    fn from(it: Plain) -> Value {
        it.0
    }
}

impl MarkPaths {
    /// Returns the mark of what is sensitive, at these places: as states record it.
    pub fn sensitive<'p>(paths: impl IntoIterator<Item = &'p Path>) -> MarkPaths {
        paths.into_iter().map(|it| (it.clone(), Marks::sensitive())).collect()
    }

    /// Iterates over places and marks.
    pub fn iter(&self) -> impl Iterator<Item = (&[PathStep], &Marks)> {
        self.0.iter().map(|(path, marks)| (path.as_slice(), marks))
    }

    /// Returns where anything is sensitive.
    pub fn sensitive_paths(&self) -> Vec<Path> {
        self.0.iter().filter(|it| it.1.sensitive).map(|it| it.0.clone()).collect()
    }

    /// Leaves out that a part is ephemeral or early: what is planned and kept of a write-only argument is null.
    pub fn lasting(&self) -> MarkPaths {
        let kept = |marks: &Marks| Marks { ephemeral: false, early: false, ..marks.clone() };
        self.0
            .iter()
            .map(|(path, marks)| (path.clone(), kept(marks)))
            .filter(|it| !it.1.is_empty())
            .collect()
    }
}

impl FromIterator<(Path, Marks)> for MarkPaths {
    fn from_iter<I: IntoIterator<Item = (Path, Marks)>>(all: I) -> MarkPaths {
        MarkPaths(all.into_iter().collect())
    }
}

impl Value {
    /// Takes the outermost marks off.
    pub fn into_marked(self) -> Marked<Value> {
        let (value, marks) = self.unmark();
        Marked { value, marks }
    }

    /// Takes all marks off, at every depth, and unites them.
    pub fn to_marked(&self) -> Marked<Plain> {
        let (value, marks) = self.unmark_deep();
        Marked { value: Plain(value), marks }
    }

    /// Takes all marks off, at every depth, and keeps where they stood.
    pub fn to_marked_by_path(&self) -> Marked<Plain, MarkPaths> {
        let (value, marks) = self.unmark_paths();
        Marked { value: Plain(value), marks: MarkPaths(marks) }
    }

    /// Returns the value without any mark: to compare, to send, to store – whatever shows nothing and makes no value.
    pub fn to_plain(&self) -> Plain {
        Plain(self.unmark_deep().0)
    }

    /// Returns the marks in it and where they stand.
    pub fn mark_paths(&self) -> MarkPaths {
        MarkPaths(self.unmark_paths().1)
    }

    /// Adds marks to parts of the value.
    pub fn mark_at(self, marks: &MarkPaths) -> Value {
        marks.put_on(self)
    }
}
