//! Paths into values: following them, rebuilding along them, showing them.

use std::fmt;
use std::sync::Arc;

use super::common_type::common_type;
use super::objects::object_like;
use super::{Map, Marks, Sequence, Str, Tuple, Type, Value, unknown};
use crate::error::Error;

/// The way from a value to a part of it.
pub type Path = Vec<PathStep>;

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq)]
pub enum PathStep {
    /// To an attribute of an object.
    Attribute(Str),
    /// To an element of a list, tuple (a number), map (a string) or set (the element itself).
    Index(Value),
}

impl PathStep {
    /// Returns the step to an attribute.
    pub fn attribute(name: impl Into<Str>) -> PathStep {
        PathStep::Attribute(name.into())
    }

    /// Returns the step to the element at a position.
    pub fn index(at: usize) -> PathStep {
        PathStep::Index(Value::int(at as i64))
    }

    /// Returns the step to the element of a map.
    pub fn key(key: impl AsRef<str>) -> PathStep {
        PathStep::Index(Value::string(key))
    }
}

/// What is wrong with a part of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct PathError {
    /// Where, from the value as a whole.
    pub path: Path,
    /// What, without a full stop.
    pub message: String,
}

impl PathError {
    /// Returns an error at a path.
    pub fn new(path: &[PathStep], message: impl Into<String>) -> PathError {
        PathError { path: path.to_vec(), message: message.into() }
    }

    /// Returns the text with the path after a prefix, often an address: `null_resource.a.triggers["x"]: string required`.
    pub fn prefixed(&self, prefix: &str) -> String {
        format!("{prefix}{}: {}", ShowPath(&self.path), self.message)
    }
}

/// `.triggers["x"]: string required`; without a path only the message.
impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", ShowPath(&self.path))?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for PathError {}

impl From<PathError> for Error {
    fn from(cause: PathError) -> Error {
        Error::of(cause)
    }
}

/// Prints a path as messages do: `.triggers["a"]`, `.list[0]`; an element of a set that is no string or number is `[...]`.
pub struct ShowPath<'a>(
    /// The path.
    pub &'a [PathStep],
);

impl fmt::Display for ShowPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in self.0 {
            match step {
                PathStep::Attribute(name) => write!(f, ".{name}")?,
                PathStep::Index(key) => match key.bare() {
                    Value::Null(_) => f.write_str("[null]")?,
                    Value::Unknown(_) => f.write_str("[(not yet known)]")?,
                    Value::Number(it) => write!(f, "[{it}]")?,
                    Value::String(it) => write!(f, "[{:?}]", &**it)?,
                    _ => f.write_str("[...]")?,
                },
            }
        }
        Ok(())
    }
}

/// Follows a path; the marks of what it passes join the result.
///
/// `None` where a step leads nowhere: a missing attribute, key or position, or through null. Through an unknown value
/// the result is unknown.
pub fn get(value: &Value, path: &[PathStep]) -> Option<Value> {
    let Some((step, rest)) = path.split_first() else { return Some(value.clone()) };
    if let Value::Marked(it) = value {
        return Some(get(&it.value, path)?.mark(&it.marks));
    }
    let child = match (value, step) {
        (Value::Unknown(it), _) => Value::unknown(step_type(it.ty, step)?),
        (Value::Object(_), PathStep::Attribute(name)) => value.get(name)?.clone(),
        (Value::Map(_), PathStep::Index(key)) => value.get(key.as_str()?)?.clone(),
        (Value::List(it), PathStep::Index(key)) => {
            it.items.get(key.as_number()?.as_usize()?)?.clone()
        }
        (Value::Tuple(it), PathStep::Index(key)) => {
            it.items.get(key.as_number()?.as_usize()?)?.clone()
        }
        (Value::Set(it), PathStep::Index(key)) => {
            // An element that is not wholly known is no equal of anything, and yet it is itself.
            let is_it = |item: &&Value| {
                *item == key.bare() || unknown::known_equality(item, key.bare()) == Some(true)
            };
            it.items.iter().find(is_it)?.clone()
        }
        _ => return None,
    };
    get(&child, rest)
}

/// Returns the type of what a step leads to.
fn step_type(ty: Type, step: &PathStep) -> Option<Type> {
    use super::Kind;
    match (ty.kind(), step) {
        (Kind::Dynamic, _) => Some(Type::DYNAMIC),
        (Kind::Object(_), PathStep::Attribute(name)) => ty.attribute(name),
        (Kind::List(it) | Kind::Set(it) | Kind::Map(it), PathStep::Index(_)) => Some(*it),
        (Kind::Tuple(items), PathStep::Index(key)) => {
            items.get(key.as_number()?.as_usize()?).copied()
        }
        _ => None,
    }
}

/// Puts the marks where the paths lead; a path that leads nowhere is left out.
///
/// Elements of sets cannot carry marks: there, the set gets them.
pub(super) fn mark_paths(value: &Value, marks: &[(Path, Marks)]) -> Value {
    let marks: Vec<(&[PathStep], &Marks)> =
        marks.iter().map(|(path, marks)| (path.as_slice(), marks)).collect();
    mark_parts(value, &marks)
}

fn mark_parts(value: &Value, marks: &[(&[PathStep], &Marks)]) -> Value {
    if marks.is_empty() {
        return value.clone();
    }
    let (here, below): (Vec<_>, Vec<_>) = marks.iter().copied().partition(|it| it.0.is_empty());
    let mut own = value.marks();
    for (_, marks) in here {
        own = own.union(marks);
    }
    let inner = match value.bare() {
        Value::Set(it) => {
            let reached = below.iter().filter(|(path, _)| get(value, path).is_some());
            own = reached.fold(own, |own, (_, marks)| own.union(marks));
            Value::Set(it.clone())
        }
        inner if below.is_empty() => inner.clone(),
        inner => inner.map_steps(&mut |child, step| {
            let inside: Vec<_> = below
                .iter()
                .filter(|it| it.0[0] == step)
                .map(|(path, marks)| (&path[1..], *marks))
                .collect();
            mark_parts(child, &inside)
        }),
    };
    inner.mark(&own)
}

impl Value {
    /// Rebuilds the value with every mark replaced by what `change(path, marks)` returns, outermost first.
    pub(super) fn transform_marks(
        &self,
        path: &mut Path,
        change: &mut dyn FnMut(&[PathStep], &Marks) -> Marks,
    ) -> Value {
        let marks = match self {
            Value::Marked(it) => change(path, &it.marks),
            _ => Marks::default(),
        };
        let inner =
            self.bare().map_children(path, &mut |child, path| child.transform_marks(path, change));
        inner.mark(&marks)
    }

    /// Rebuilds an unmarked value with each child replaced; `path` leads to the child while `change` runs.
    ///
    /// The type follows the children: an object's attributes have the types of its values, a collection the common
    /// type of its elements. Where no child changes, the value itself comes back, uncopied.
    pub fn map_children(
        &self,
        path: &mut Path,
        change: &mut dyn FnMut(&Value, &mut Path) -> Value,
    ) -> Value {
        self.map_steps(&mut |child, step| {
            path.push(step);
            let new = change(child, path);
            path.pop();
            new
        })
    }

    /// As [`Value::map_children`], with only the step to each child.
    pub(crate) fn map_steps(&self, change: &mut dyn FnMut(&Value, PathStep) -> Value) -> Value {
        match self {
            Value::List(it) => self.with_items(&it.items, indexed(&it.items, change), |items| {
                list_of(it.element, items)
            }),
            Value::Set(it) => {
                let items = it
                    .items
                    .iter()
                    .map(|item| change(item, PathStep::Index(item.clone())))
                    .collect();
                self.with_items(&it.items, items, |items| set_of(it.element, items))
            }
            Value::Tuple(it) => self
                .with_items(&it.items, indexed(&it.items, change), |items| tuple_of(it.ty, items)),
            Value::Map(it) => {
                let old: Vec<Value> = it.entries.iter().map(|entry| entry.1.clone()).collect();
                let keyed = |(key, item): &(Str, Value)| {
                    change(item, PathStep::Index(Value::String(key.clone())))
                };
                let new = it.entries.iter().map(keyed).collect();
                self.with_items(&old, new, |items| map_of(it, items))
            }
            Value::Object(it) => {
                let names = it.ty.attributes().iter().map(|it| it.0.clone());
                let new = names
                    .zip(it.values.iter())
                    .map(|(name, item)| change(item, PathStep::Attribute(name)));
                let new: Vec<Value> = new.collect();
                self.with_items(&it.values, new, |items| object_like(it.ty, items))
            }
            it => it.clone(),
        }
    }

    fn with_items(
        &self,
        old: &[Value],
        new: Vec<Value>,
        build: impl FnOnce(Vec<Value>) -> Value,
    ) -> Value {
        if old.iter().zip(&new).all(|(old, new)| old.is_same(new)) {
            self.clone()
        } else {
            build(new)
        }
    }

    /// Returns whether both are the same without looking inside: one shared part, or equal small values.
    pub(crate) fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null(a), Value::Null(b)) => a == b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Number(super::Number::Int(a)), Value::Number(super::Number::Int(b))) => a == b,
            (Value::Number(super::Number::Big(a)), Value::Number(super::Number::Big(b))) => {
                Arc::ptr_eq(a, b)
            }
            (Value::String(a), Value::String(b)) => Str::ptr_eq(a, b),
            (Value::Unknown(a), Value::Unknown(b)) => Arc::ptr_eq(a, b),
            (Value::List(a), Value::List(b)) | (Value::Set(a), Value::Set(b)) => Arc::ptr_eq(a, b),
            (Value::Map(a), Value::Map(b)) => Arc::ptr_eq(a, b),
            (Value::Tuple(a), Value::Tuple(b)) => Arc::ptr_eq(a, b),
            (Value::Object(a), Value::Object(b)) => Arc::ptr_eq(a, b),
            (Value::Marked(a), Value::Marked(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

fn indexed(items: &[Value], change: &mut dyn FnMut(&Value, PathStep) -> Value) -> Vec<Value> {
    items.iter().enumerate().map(|(at, item)| change(item, PathStep::index(at))).collect()
}

/// The element type of changed items: their common type, else what it was.
fn element_of(old: Type, items: &mut [Value]) -> Type {
    common_type(items).filter(|it| *it != Type::DYNAMIC).unwrap_or(old)
}

fn list_of(element: Type, mut items: Vec<Value>) -> Value {
    Value::List(Arc::new(Sequence { element: element_of(element, &mut items), items }))
}

fn set_of(element: Type, mut items: Vec<Value>) -> Value {
    Value::set(element_of(element, &mut items), items)
}

fn map_of(old: &Map, mut items: Vec<Value>) -> Value {
    let element = element_of(old.element, &mut items);
    let entries = old.entries.iter().map(|entry| entry.0.clone()).zip(items).collect();
    Value::Map(Arc::new(Map { element, entries }))
}

fn tuple_of(ty: Type, items: Vec<Value>) -> Value {
    let super::Kind::Tuple(types) = ty.kind() else { return Value::tuple(items) };
    match types.iter().zip(&items).all(|(ty, item)| *ty == item.ty()) {
        true => Value::Tuple(Arc::new(Tuple { ty, items })),
        false => Value::tuple(items),
    }
}
