//! Marks: what travels with a value through every operation – sensitivity, and where the value came from.

use std::sync::Arc;

use super::{Marked, Path, Value};

/// The marks of a value. The default is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// Never shown.
    pub sensitive: bool,
    /// Never stored.
    pub ephemeral: bool,
    /// Computed before everything that it reads was decided: it may be another one later in the same run.
    pub early: bool,
    /// Whoever wrote its source advises against using it.
    pub deprecated: Deprecations,
    /// The nodes it was computed from, while structure is traced (numbers are the tracer's own).
    pub reads: Reads,
}

/// What a value is derived from that should not be used any more.
pub type Deprecations = Option<Arc<std::collections::BTreeSet<Deprecation>>>;

/// One thing that should not be used any more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deprecation {
    /// What it is, as users refer to it.
    pub source: super::Str,
    /// What to do instead. May be empty.
    pub advice: super::Str,
    /// Whether the module that declares it came in a package, so that another author has to mend it.
    pub is_remote: bool,
}

/// A set of node numbers as a shared union tree: cheap to unite, never copied.
#[derive(Clone, Debug, Default)]
pub struct Reads(Option<Arc<ReadTree>>);

#[derive(Debug)]
enum ReadTree {
    Leaf(u32),
    Union(Vec<Arc<ReadTree>>),
}

impl Reads {
    /// Returns the set of one node.
    pub fn one(node: u32) -> Reads {
        Reads(Some(Arc::new(ReadTree::Leaf(node))))
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the union of both.
    pub fn union(&self, other: &Reads) -> Reads {
        match (&self.0, &other.0) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            (Some(a), Some(b)) if Arc::ptr_eq(a, b) => self.clone(),
            (Some(a), Some(b)) => match (&**a, &**b) {
                (ReadTree::Leaf(x), ReadTree::Leaf(y)) if x == y => self.clone(),
                (ReadTree::Union(parts), _) if parts.iter().any(|it| Arc::ptr_eq(it, b)) => {
                    self.clone()
                }
                (_, ReadTree::Union(parts)) if parts.iter().any(|it| Arc::ptr_eq(it, a)) => {
                    other.clone()
                }
                _ => Reads(Some(Arc::new(ReadTree::Union(vec![a.clone(), b.clone()])))),
            },
        }
    }

    /// Calls `each` for every node, perhaps more than once; shared parts are visited once.
    pub fn visit(&self, each: &mut impl FnMut(u32)) {
        let Some(root) = &self.0 else { return };
        let mut seen = rustc_hash::FxHashSet::default();
        let mut open = vec![root];
        while let Some(tree) = open.pop() {
            match &**tree {
                ReadTree::Leaf(node) => each(*node),
                ReadTree::Union(parts) => {
                    if seen.insert(Arc::as_ptr(tree)) {
                        open.extend(parts);
                    }
                }
            }
        }
    }
}

impl Drop for ReadTree {
    /// Takes deep trees apart in a loop, so that a chain of unions never overflows the stack.
    fn drop(&mut self) {
        let ReadTree::Union(parts) = self else { return };
        let mut open = std::mem::take(parts);
        while let Some(part) = open.pop() {
            if let Some(mut tree) = Arc::into_inner(part)
                && let ReadTree::Union(parts) = &mut tree
            {
                open.append(parts);
            }
        }
    }
}

impl PartialEq for Reads {
    fn eq(&self, other: &Reads) -> bool {
        let collect = |reads: &Reads| {
            let mut nodes = std::collections::BTreeSet::new();
            reads.visit(&mut |node| {
                nodes.insert(node);
            });
            nodes
        };
        collect(self) == collect(other)
    }
}

impl Marks {
    /// The mark of a sensitive value.
    pub fn sensitive() -> Marks {
        Marks { sensitive: true, ..Marks::default() }
    }

    /// The mark of an ephemeral value.
    pub fn ephemeral() -> Marks {
        Marks { ephemeral: true, ..Marks::default() }
    }

    /// The mark of a value read from a node.
    pub fn read(node: u32) -> Marks {
        Marks { reads: Reads::one(node), ..Marks::default() }
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        !self.sensitive
            && !self.ephemeral
            && !self.early
            && self.deprecated.is_none()
            && self.reads.is_empty()
    }

    /// Returns whether what is marked must not be shown.
    pub fn is_secret(&self) -> bool {
        self.sensitive || self.ephemeral
    }

    /// Returns the union of both.
    pub fn union(&self, other: &Marks) -> Marks {
        Marks {
            sensitive: self.sensitive || other.sensitive,
            ephemeral: self.ephemeral || other.ephemeral,
            early: self.early || other.early,
            deprecated: match (&self.deprecated, &other.deprecated) {
                (Some(a), Some(b)) if !Arc::ptr_eq(a, b) => {
                    Some(Arc::new(a.union(b).cloned().collect()))
                }
                (a, b) => a.as_ref().or(b.as_ref()).cloned(),
            },
            reads: self.reads.union(&other.reads),
        }
    }

    /// Returns the marks that say how a value came about, not what it is. No function may lose them.
    pub fn provenance(&self) -> Marks {
        Marks { early: self.early, reads: self.reads.clone(), ..Marks::default() }
    }

    /// Returns where values and their parts came from.
    pub fn provenance_of<'v>(values: impl IntoIterator<Item = &'v Value>) -> Marks {
        let marked = values.into_iter().filter(|it| it.contains_marked());
        marked.map(|it| it.deep_marks().provenance()).collect()
    }

    /// The mark of a value whose source should not be used any more.
    pub fn deprecated(source: Deprecation) -> Marks {
        let one = std::collections::BTreeSet::from([source]);
        Marks { deprecated: Some(Arc::new(one)), ..Marks::default() }
    }
}

/// The union of all.
impl FromIterator<Marks> for Marks {
    fn from_iter<I: IntoIterator<Item = Marks>>(all: I) -> Marks {
        all.into_iter().fold(Marks::default(), |marks, it| marks.union(&it))
    }
}

impl Value {
    /// Returns the outermost marks.
    pub fn marks(&self) -> Marks {
        match self {
            Value::Marked(it) => it.marks.clone(),
            _ => Marks::default(),
        }
    }

    /// Adds marks to the value as a whole.
    pub fn mark(self, marks: &Marks) -> Value {
        if marks.is_empty() {
            return self;
        }
        match self {
            Value::Marked(it) => Value::Marked(Arc::new(Marked {
                marks: it.marks.union(marks),
                value: it.value.clone(),
            })),
            value => Value::Marked(Arc::new(Marked { marks: marks.clone(), value })),
        }
    }

    /// Takes the outermost marks off.
    pub(super) fn unmark(self) -> (Value, Marks) {
        match self {
            Value::Marked(it) => match Arc::try_unwrap(it) {
                Ok(it) => (it.value, it.marks),
                Err(it) => (it.value.clone(), it.marks.clone()),
            },
            value => (value, Marks::default()),
        }
    }

    /// Returns whether this or any part of it is marked.
    pub fn contains_marked(&self) -> bool {
        self.has_part(&|it| matches!(it, Value::Marked(_)))
    }

    /// Returns whether this or any part of it is sensitive.
    pub fn contains_sensitive(&self) -> bool {
        self.has_part(&|it| matches!(it, Value::Marked(it) if it.marks.sensitive))
    }

    /// Returns whether this or any part of it is ephemeral.
    pub fn contains_ephemeral(&self) -> bool {
        self.has_part(&|it| matches!(it, Value::Marked(it) if it.marks.ephemeral))
    }

    /// Returns whether this or any part of it was computed before everything it reads was decided.
    pub fn is_early(&self) -> bool {
        self.has_part(&|it| matches!(it, Value::Marked(it) if it.marks.early))
    }

    /// Returns whether `test` holds for this or any part of it.
    pub fn has_part(&self, test: &dyn Fn(&Value) -> bool) -> bool {
        let bare = self.bare();
        // What is marked is tested with its marks and without.
        test(self)
            || (matches!(self, Value::Marked(_)) && test(bare))
            || match bare {
                Value::List(it) | Value::Set(it) => it.items.iter().any(|it| it.has_part(test)),
                Value::Tuple(it) => it.items.iter().any(|it| it.has_part(test)),
                Value::Object(it) => it.values.iter().any(|it| it.has_part(test)),
                Value::Map(it) => it.entries.iter().any(|it| it.1.has_part(test)),
                _ => false,
            }
    }

    /// Returns the union of all marks in it.
    pub fn deep_marks(&self) -> Marks {
        let own = self.marks();
        self.children().fold(own, |marks, child| marks.union(&child.deep_marks()))
    }

    /// Takes all marks off, at every depth, and returns their union.
    pub(super) fn unmark_deep(&self) -> (Value, Marks) {
        if !self.contains_marked() {
            return (self.clone(), Marks::default());
        }
        let mut union = Marks::default();
        let value = self.transform_marks(&mut Vec::new(), &mut |_, marks| {
            union = union.union(marks);
            Marks::default()
        });
        (value, union)
    }

    /// Takes off what says that sources should not be used any more, and returns it by path.
    pub fn undeprecated(&self) -> (Value, Vec<(Path, Deprecations)>) {
        if !self.has_part(&|it| matches!(it, Value::Marked(it) if it.marks.deprecated.is_some())) {
            return (self.clone(), Vec::new());
        }
        let mut found = Vec::new();
        let value = self.transform_marks(&mut Vec::new(), &mut |path, marks| {
            if marks.deprecated.is_some() {
                found.push((path.to_vec(), marks.deprecated.clone()));
            }
            Marks { deprecated: None, ..marks.clone() }
        });
        (value, found)
    }

    /// Takes all marks off and returns them by path, outermost first.
    pub(super) fn unmark_paths(&self) -> (Value, Vec<(Path, Marks)>) {
        if !self.contains_marked() {
            return (self.clone(), Vec::new());
        }
        let mut found = Vec::new();
        let value = self.transform_marks(&mut Vec::new(), &mut |path, marks| {
            found.push((path.to_vec(), marks.clone()));
            Marks::default()
        });
        (value, found)
    }
}
