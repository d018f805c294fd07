//! Values of the language: null, unknown, known; their types and marks.
//!
//! A [`Value`] is 16 bytes and shared: cloning never copies a tree. Strings are NFC, maps and objects sorted by name,
//! sets sorted and free of duplicates; whoever builds one keeps these invariants by using the constructors below.
//! What values do (conversion, comparison, arithmetic, JSON) stands in the files beside this one.

use std::sync::Arc;

mod conform;
pub mod convert;
mod convertible;
mod defaults;
pub mod difference;
mod digits;
mod float;
mod interner;
pub mod json;
pub mod marked;
pub mod marks;
pub mod msgpack;
mod notation;
pub mod number;
pub(crate) mod common_type;
pub(crate) mod objects;
pub mod path;
pub mod set;
mod sharing;
pub mod text;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
pub mod types;
pub mod unify;
pub mod unknown;

pub use convert::{ConversionError, convert};
pub use defaults::{TypeDefaults, apply_defaults};
pub use interner::Interner;
pub use marked::{MarkPaths, Marked, Plain};
pub use marks::{Deprecation, Deprecations, Marks, Reads};
pub use notation::Notated;
pub use number::{Notation, Number};
pub use path::{Path, PathError, PathStep, ShowPath};
pub use types::{Kind, Type};
pub use unknown::{Refinement, Unknown};

/// Cheap shared text: one pointer wide, so that values and names stay small.
pub type Str = arcstr::ArcStr;

/// A value: of a known type, perhaps null, perhaps unknown, perhaps marked.
///
/// Equality (`==`) is structural and exact, marks and refinements included; the language's own `==` is
/// [`unknown::equals`].
#[derive(Clone, Debug)]
pub enum Value {
    /// No value, of a type. `Type::DYNAMIC` for an untyped null.
    Null(Type),
    /// A value that is decided later.
    Unknown(Arc<Unknown>),
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string, in NFC.
    String(Str),
    /// A list.
    List(Arc<Sequence>),
    /// A set: sorted in set order, no duplicates.
    Set(Arc<Sequence>),
    /// A map, sorted by key.
    Map(Arc<Map>),
    /// A tuple.
    Tuple(Arc<Tuple>),
    /// An object.
    Object(Arc<Object>),
    /// A value with marks. INVARIANT: the inner value is not itself `Marked`, and the marks are not empty.
    Marked(Arc<Marked<Value>>),
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        /// What is shared, as by the objects before and after a plan without changes, need not be looked through.
        fn same<T: PartialEq>(a: &Arc<T>, b: &Arc<T>) -> bool {
            Arc::ptr_eq(a, b) || a == b
        }
        match (self, other) {
            (Value::Null(a), Value::Null(b)) => a == b,
            (Value::Unknown(a), Value::Unknown(b)) => same(a, b),
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Number(a), Value::Number(b)) => a == b,
            (Value::String(a), Value::String(b)) => a == b,
            (Value::List(a), Value::List(b)) | (Value::Set(a), Value::Set(b)) => same(a, b),
            (Value::Map(a), Value::Map(b)) => same(a, b),
            (Value::Tuple(a), Value::Tuple(b)) => same(a, b),
            (Value::Object(a), Value::Object(b)) => same(a, b),
            (Value::Marked(a), Value::Marked(b)) => same(a, b),
            _ => false,
        }
    }
}

/// The elements of a list or set, and their type.
#[derive(Debug, PartialEq)]
pub struct Sequence {
    /// The type of every element; `Type::DYNAMIC` for an empty collection of no particular type.
    pub element: Type,
    /// The elements.
    pub items: Vec<Value>,
}

/// The elements of a map, sorted by key, and their type.
#[derive(Debug, PartialEq)]
pub struct Map {
    /// The type of every element.
    pub element: Type,
    /// Key and element, sorted by key bytewise.
    pub entries: Vec<(Str, Value)>,
}

/// The elements of a tuple.
#[derive(Debug, PartialEq)]
pub struct Tuple {
    /// Its type: `Kind::Tuple`.
    pub ty: Type,
    /// The elements.
    pub items: Vec<Value>,
}

/// The attributes of an object.
#[derive(Debug, PartialEq)]
pub struct Object {
    /// Its type: `Kind::Object`, which holds the names in the order of `values`.
    ///
    /// INVARIANT: no attribute is optional, and each attribute's type is the type of its value.
    pub ty: Type,
    /// One value per attribute, in the type's (sorted) order.
    pub values: Box<[Value]>,
}

impl Value {
    /// The untyped null.
    pub const NULL: Value = Value::Null(Type::DYNAMIC);

    /// Returns a string, normalised to NFC.
    pub fn string(text: impl AsRef<str>) -> Value {
        Value::String(nfc(text.as_ref()))
    }

    /// Returns a whole number.
    pub fn int(number: i64) -> Value {
        Value::Number(Number::Int(number))
    }

    /// Returns an unknown value of a type, without refinement.
    pub fn unknown(ty: Type) -> Value {
        ty.unknown(false)
    }

    /// Returns a tuple of these elements.
    pub fn tuple(items: Vec<Value>) -> Value {
        let ty = Type::tuple(items.iter().map(Value::ty).collect());
        Value::Tuple(Arc::new(Tuple { ty, items }))
    }

    /// Returns an object of these attributes, in any order; the last of two equal names wins.
    pub fn object(attributes: impl IntoIterator<Item = (Str, Value)>) -> Value {
        let mut attributes: Vec<(Str, Value)> = attributes.into_iter().collect();
        attributes.sort_by(|a, b| a.0.cmp(&b.0));
        attributes.reverse();
        attributes.dedup_by(|a, b| a.0 == b.0);
        attributes.reverse();
        let ty = Type::object(
            attributes.iter().map(|(name, value)| (name.clone(), value.ty())).collect(),
        );
        Value::Object(Arc::new(Object {
            ty,
            values: attributes.into_iter().map(|it| it.1).collect(),
        }))
    }

    /// Returns an object of type `ty` (`Kind::Object`) from values in the type's order.
    pub fn object_of(ty: Type, values: Box<[Value]>) -> Value {
        Value::Object(Arc::new(Object { ty, values }))
    }

    /// Returns a list; every element is already of type `element`.
    pub fn list(element: Type, items: Vec<Value>) -> Value {
        Value::List(Arc::new(Sequence { element, items }))
    }

    /// Returns a set of elements in any order, duplicates allowed; every element is already of type `element`.
    ///
    /// Marks of elements move to the set, as in cty.
    pub fn set(element: Type, items: Vec<Value>) -> Value {
        set::build(element, items)
    }

    /// Returns a map of entries in any order; every element is already of type `element`. The last of two equal keys wins.
    pub fn map(element: Type, entries: impl IntoIterator<Item = (Str, Value)>) -> Value {
        let mut entries: Vec<(Str, Value)> = entries.into_iter().collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries.reverse();
        entries.dedup_by(|a, b| a.0 == b.0);
        entries.reverse();
        Value::Map(Arc::new(Map { element, entries }))
    }

    /// Returns the type.
    pub fn ty(&self) -> Type {
        match self {
            Value::Null(ty) => *ty,
            Value::Unknown(it) => it.ty,
            Value::Bool(_) => Type::BOOL,
            Value::Number(_) => Type::NUMBER,
            Value::String(_) => Type::STRING,
            Value::List(it) => Type::list(it.element),
            Value::Set(it) => Type::set(it.element),
            Value::Map(it) => Type::map(it.element),
            Value::Tuple(it) => it.ty,
            Value::Object(it) => it.ty,
            Value::Marked(it) => it.value.ty(),
        }
    }

    /// Returns the value under its outermost marks.
    pub fn bare(&self) -> &Value {
        match self {
            Value::Marked(it) => &it.value,
            it => it,
        }
    }

    /// Returns whether this is null (marked or not).
    pub fn is_null(&self) -> bool {
        matches!(self.bare(), Value::Null(_))
    }

    /// Returns whether this as a whole is known. A known object may have unknown attributes.
    pub fn is_known(&self) -> bool {
        !matches!(self.bare(), Value::Unknown(_))
    }

    /// Returns whether this and everything in it is known.
    pub fn is_wholly_known(&self) -> bool {
        !self.has_part(&|it| matches!(it, Value::Unknown(_)))
    }

    /// Iterates over the elements or attributes, in their order, without keys.
    pub fn children(&self) -> Box<dyn Iterator<Item = &Value> + '_> {
        match self.bare() {
            Value::List(it) | Value::Set(it) => Box::new(it.items.iter()),
            Value::Tuple(it) => Box::new(it.items.iter()),
            Value::Object(it) => Box::new(it.values.iter()),
            Value::Map(it) => Box::new(it.entries.iter().map(|entry| &entry.1)),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Returns the attribute of a known object, or the element of a known map.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self.bare() {
            Value::Object(it) => Some(&it.values[it.ty.attribute_index(name)?]),
            Value::Map(it) => it
                .entries
                .binary_search_by(|entry| (*entry.0).cmp(name))
                .ok()
                .map(|at| &it.entries[at].1),
            _ => None,
        }
    }

    /// Returns the text of a known string.
    pub fn as_str(&self) -> Option<&str> {
        match self.bare() {
            Value::String(it) => Some(it),
            _ => None,
        }
    }

    /// Returns a known bool.
    pub fn as_bool(&self) -> Option<bool> {
        match self.bare() {
            Value::Bool(it) => Some(*it),
            _ => None,
        }
    }

    /// Returns a known number.
    pub fn as_number(&self) -> Option<&Number> {
        match self.bare() {
            Value::Number(it) => Some(it),
            _ => None,
        }
    }

    /// Returns a known whole number that fits.
    pub fn as_int(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// Returns name and value of every attribute of an object or element of a map.
    pub fn entries(&self) -> Vec<(Str, &Value)> {
        match self.bare() {
            Value::Object(it) => {
                it.ty.attributes().iter().map(|it| it.0.clone()).zip(it.values.iter()).collect()
            }
            Value::Map(it) => it.entries.iter().map(|(key, value)| (key.clone(), value)).collect(),
            _ => Vec::new(),
        }
    }
}

impl From<bool> for Value {
    fn from(it: bool) -> Value {
        Value::Bool(it)
    }
}

impl From<&str> for Value {
    fn from(it: &str) -> Value {
        Value::string(it)
    }
}

/// Reads bytes as text; each that belongs to no character is U+FFFD.
pub fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|_| text.push(char::REPLACEMENT_CHARACTER));
    }
    text
}

/// Normalises text to NFC.
pub fn nfc(text: &str) -> Str {
    use unicode_normalization::{UnicodeNormalization, is_nfc};
    if text.is_ascii() || is_nfc(text) {
        text.into()
    } else {
        text.nfc().collect::<String>().into()
    }
}
