//! Types, interned: equal types are one pointer.

use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, Mutex};

use rustc_hash::{FxHashMap, FxHashSet};

use super::Str;

/// A type. `Copy`; equality is pointer equality.
#[derive(Clone, Copy)]
pub struct Type(&'static Kind);

/// What kind of type it is.
#[derive(Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Any type; of an untyped null, or of an unknown value whose type is not known.
    Dynamic,
    /// `bool`
    Bool,
    /// `number`
    Number,
    /// `string`
    String,
    /// `list(T)`
    List(Type),
    /// `set(T)`
    Set(Type),
    /// `map(T)`
    Map(Type),
    /// `tuple([T…])`
    Tuple(Vec<Type>),
    /// `object({…})`, sorted by name. The flag says that the attribute is optional (in type constraints only).
    Object(Vec<(Str, Type, bool)>),
}

static DYNAMIC: Kind = Kind::Dynamic;
static BOOL: Kind = Kind::Bool;
static NUMBER: Kind = Kind::Number;
static STRING: Kind = Kind::String;

impl Type {
    /// Any type.
    pub const DYNAMIC: Type = Type(&DYNAMIC);
    /// `bool`
    pub const BOOL: Type = Type(&BOOL);
    /// `number`
    pub const NUMBER: Type = Type(&NUMBER);
    /// `string`
    pub const STRING: Type = Type(&STRING);

    /// `list(element)`
    pub fn list(element: Type) -> Type {
        intern(Kind::List(element))
    }

    /// `set(element)`
    pub fn set(element: Type) -> Type {
        intern(Kind::Set(element))
    }

    /// `map(element)`
    pub fn map(element: Type) -> Type {
        intern(Kind::Map(element))
    }

    /// `tuple([…])`
    pub fn tuple(elements: Vec<Type>) -> Type {
        intern(Kind::Tuple(elements))
    }

    /// `object({…})`; attributes in any order, names unique.
    pub fn object(attributes: Vec<(Str, Type)>) -> Type {
        Type::object_with_optional(
            attributes.into_iter().map(|(name, ty)| (name, ty, false)).collect(),
        )
    }

    /// `object({…})` with optional attributes; in any order, names unique.
    pub fn object_with_optional(mut attributes: Vec<(Str, Type, bool)>) -> Type {
        attributes.sort_by(|a, b| a.0.cmp(&b.0));
        intern(Kind::Object(attributes))
    }

    /// Returns what kind of type it is.
    pub fn kind(self) -> &'static Kind {
        self.0
    }

    /// Returns the element type of a list, set or map.
    pub fn element(self) -> Option<Type> {
        match self.0 {
            Kind::List(it) | Kind::Set(it) | Kind::Map(it) => Some(*it),
            _ => None,
        }
    }

    /// Returns an object's attributes sorted by name; empty for other types.
    pub fn attributes(self) -> &'static [(Str, Type, bool)] {
        match self.0 {
            Kind::Object(it) => it,
            _ => &[],
        }
    }

    /// Returns the position of an attribute among an object's.
    pub fn attribute_index(self, name: &str) -> Option<usize> {
        self.attributes().binary_search_by(|it| (*it.0).cmp(name)).ok()
    }

    /// Returns whether it is a string, number or bool.
    pub fn is_primitive(self) -> bool {
        matches!(self.0, Kind::Bool | Kind::Number | Kind::String)
    }

    /// Returns whether `Dynamic` occurs in it.
    pub fn has_dynamic(self) -> bool {
        match self.0 {
            Kind::Dynamic => true,
            Kind::List(it) | Kind::Set(it) | Kind::Map(it) => it.has_dynamic(),
            Kind::Tuple(items) => items.iter().any(|it| it.has_dynamic()),
            Kind::Object(items) => items.iter().any(|it| it.1.has_dynamic()),
            _ => false,
        }
    }
}

fn intern(kind: Kind) -> Type {
    static ALL: LazyLock<Mutex<FxHashSet<&'static Kind>>> = LazyLock::new(Mutex::default);
    thread_local! {
        static MINE: RefCell<FxHashMap<u64, Vec<&'static Kind>>> = RefCell::default();
    }
    let mut hasher = rustc_hash::FxHasher::default();
    kind.hash(&mut hasher);
    let hash = hasher.finish();
    MINE.with_borrow_mut(|mine| {
        let bucket = mine.entry(hash).or_default();
        if let Some(known) = bucket.iter().find(|it| ***it == kind) {
            return Type(known);
        }
        let mut all = ALL.lock().unwrap_or_else(|it| it.into_inner());
        let known = match all.get(&kind) {
            Some(known) => *known,
            None => {
                let known: &'static Kind = Box::leak(Box::new(kind));
                all.insert(known);
                known
            }
        };
        bucket.push(known);
        Type(known)
    })
}

impl PartialEq for Type {
    fn eq(&self, other: &Type) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Type {}

impl Hash for Type {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Prints the type as a constraint: `list(string)`, `object({a=number})`, `any`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Dynamic => f.write_str("any"),
            Kind::Bool => f.write_str("bool"),
            Kind::Number => f.write_str("number"),
            Kind::String => f.write_str("string"),
            Kind::List(it) => write!(f, "list({it})"),
            Kind::Set(it) => write!(f, "set({it})"),
            Kind::Map(it) => write!(f, "map({it})"),
            Kind::Tuple(items) => {
                f.write_str("tuple([")?;
                for (index, it) in items.iter().enumerate() {
                    write!(f, "{}{it}", if index == 0 { "" } else { "," })?;
                }
                f.write_str("])")
            }
            Kind::Object(items) => {
                f.write_str("object({")?;
                for (index, (name, ty, optional)) in items.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { "," })?;
                    if *optional {
                        write!(f, "{name}=optional({ty})")?
                    } else {
                        write!(f, "{name}={ty}")?
                    }
                }
                f.write_str("})")
            }
        }
    }
}
