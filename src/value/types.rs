//! Types, interned: equal types are one pointer.

use std::cell::RefCell;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock, OnceLock};

use hashbrown::hash_table::HashTable;
use parking_lot::Mutex;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::{Refinement, Str, Unknown, Value};

/// A type. `Copy`; equality is pointer equality.
#[derive(Clone, Copy)]
pub struct Type(&'static Interned);

/// A kind of type and what is asked of it often.
struct Interned {
    kind: Kind,
    has_dynamic: bool,
    has_optional: bool,
    /// The collections of this type, kept because values are asked for their types all the time.
    list: OnceLock<Type>,
    set: OnceLock<Type>,
    map: OnceLock<Type>,
    /// The unknown values of this type of which nothing is known, and that are not null: most unknown values are one of them.
    unknown: [OnceLock<Arc<Unknown>>; 2],
}

impl Interned {
    const fn new(kind: Kind, has_dynamic: bool, has_optional: bool) -> Interned {
        Interned {
            kind,
            has_dynamic,
            has_optional,
            list: OnceLock::new(),
            set: OnceLock::new(),
            map: OnceLock::new(),
            unknown: [OnceLock::new(), OnceLock::new()],
        }
    }
}

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

static DYNAMIC: Interned = Interned::new(Kind::Dynamic, true, false);
static BOOL: Interned = Interned::new(Kind::Bool, false, false);
static NUMBER: Interned = Interned::new(Kind::Number, false, false);
static STRING: Interned = Interned::new(Kind::String, false, false);

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
        *element.0.list.get_or_init(|| intern(Kind::List(element)))
    }

    /// `set(element)`
    pub fn set(element: Type) -> Type {
        *element.0.set.get_or_init(|| intern(Kind::Set(element)))
    }

    /// `map(element)`
    pub fn map(element: Type) -> Type {
        *element.0.map.get_or_init(|| intern(Kind::Map(element)))
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

    /// Returns the unknown value of this type of which at most that is known.
    pub(super) fn unknown(self, not_null: bool) -> Value {
        let known = &self.0.unknown[usize::from(not_null)];
        let made = || {
            let refinement = Refinement { not_null, ..Refinement::default() };
            Arc::new(Unknown { ty: self, refinement })
        };
        Value::Unknown(known.get_or_init(made).clone())
    }

    /// Returns what kind of type it is.
    pub fn kind(self) -> &'static Kind {
        &self.0.kind
    }

    /// Returns the element type of a list, set or map.
    pub fn element(self) -> Option<Type> {
        match &self.0.kind {
            Kind::List(it) | Kind::Set(it) | Kind::Map(it) => Some(*it),
            _ => None,
        }
    }

    /// Returns an object's attributes sorted by name; empty for other types.
    pub fn attributes(self) -> &'static [(Str, Type, bool)] {
        match &self.0.kind {
            Kind::Object(it) => it,
            _ => &[],
        }
    }

    /// Returns the position of an attribute among an object's.
    pub fn attribute_index(self, name: &str) -> Option<usize> {
        /// Of so few, the lengths mostly say which one it is.
        const FEW: usize = 8;
        let all = self.attributes();
        match all.len() {
            ..=FEW => all.iter().position(|it| *it.0 == *name),
            _ => all.binary_search_by(|it| (*it.0).cmp(name)).ok(),
        }
    }

    /// Returns whether it is a string, number or bool.
    pub fn is_primitive(self) -> bool {
        matches!(self.0.kind, Kind::Bool | Kind::Number | Kind::String)
    }

    /// Returns whether values of it are items one after the other: a list, set or tuple.
    pub fn is_sequence(self) -> bool {
        matches!(self.0.kind, Kind::List(_) | Kind::Set(_) | Kind::Tuple(_))
    }

    /// Returns whether it is a list, set or map.
    pub fn is_collection(self) -> bool {
        matches!(self.0.kind, Kind::List(_) | Kind::Set(_) | Kind::Map(_))
    }

    /// Returns whether `Dynamic` occurs in it.
    pub fn has_dynamic(self) -> bool {
        self.0.has_dynamic
    }

    /// Returns the type of one attribute of an object.
    pub fn attribute(self, name: &str) -> Option<Type> {
        self.attribute_index(name).map(|at| self.attributes()[at].1)
    }

    /// Returns the type with no attribute optional, at any depth: what values of a constraint's type have.
    pub fn without_optional(self) -> Type {
        if !self.0.has_optional {
            return self;
        }
        match &self.0.kind {
            Kind::List(it) => Type::list(it.without_optional()),
            Kind::Set(it) => Type::set(it.without_optional()),
            Kind::Map(it) => Type::map(it.without_optional()),
            Kind::Tuple(items) => {
                Type::tuple(items.iter().map(|it| it.without_optional()).collect())
            }
            Kind::Object(items) => Type::object(
                items.iter().map(|(name, ty, _)| (name.clone(), ty.without_optional())).collect(),
            ),
            _ => self,
        }
    }

    /// Returns the object type with the names of this one and other types, in its order; no attribute is optional.
    ///
    /// Values of one schema have few types in all, so these are found without their names.
    pub fn with_types(self, types: impl ExactSizeIterator<Item = Type> + Clone) -> Type {
        let hash = types
            .clone()
            .fold(FxBuildHasher.hash_one(self), |all, it| FxBuildHasher.hash_one((all, it)));
        DERIVED.with_borrow_mut(|derived| {
            let is_it =
                |it: &Derived| it.like == self && types.clone().eq(it.types.iter().copied());
            if let Some(known) = derived.find(hash, is_it) {
                return known.found;
            }
            let named = self.attributes().iter().zip(types.clone());
            let found = Type::object(named.map(|(it, ty)| (it.0.clone(), ty)).collect());
            let new = Derived { hash, like: self, types: types.collect(), found };
            derived.insert_unique(hash, new, |it| it.hash);
            found
        })
    }

    /// Names the type as messages do: `list of string`, `tuple`, `dynamic`.
    pub fn friendly_name(self) -> String {
        match &self.0.kind {
            Kind::Dynamic => "dynamic".to_owned(),
            Kind::List(it) => format!("list of {}", it.friendly_name()),
            Kind::Set(it) => format!("set of {}", it.friendly_name()),
            Kind::Map(it) => format!("map of {}", it.friendly_name()),
            Kind::Tuple(_) => "tuple".to_owned(),
            Kind::Object(_) => "object".to_owned(),
            Kind::Bool => "bool".to_owned(),
            Kind::Number => "number".to_owned(),
            Kind::String => "string".to_owned(),
        }
    }

    /// Names the type as what is asked for: `list of any single type`, `any type`.
    pub fn friendly_constraint(self) -> String {
        let of = |it: Type| match &it.0.kind {
            Kind::Dynamic => "any single type".to_owned(),
            _ => it.friendly_constraint(),
        };
        match &self.0.kind {
            Kind::Dynamic => "any type".to_owned(),
            Kind::List(it) => format!("list of {}", of(*it)),
            Kind::Set(it) => format!("set of {}", of(*it)),
            Kind::Map(it) => format!("map of {}", of(*it)),
            _ => self.friendly_name(),
        }
    }
}

/// An object type that is like another one.
struct Derived {
    hash: u64,
    like: Type,
    types: Box<[Type]>,
    found: Type,
}

thread_local! {
    static DERIVED: RefCell<HashTable<Derived>> = const { RefCell::new(HashTable::new()) };
}

fn intern(kind: Kind) -> Type {
    static ALL: LazyLock<Mutex<FxHashMap<&'static Kind, Type>>> = LazyLock::new(Mutex::default);
    thread_local! {
        static MINE: RefCell<FxHashMap<&'static Kind, Type>> = RefCell::default();
    }
    MINE.with_borrow_mut(|mine| {
        if let Some(known) = mine.get(&kind) {
            return *known;
        }
        let mut all = ALL.lock();
        let known = match all.get(&kind) {
            Some(known) => *known,
            None => {
                let known = Type(Box::leak(Box::new(interned(kind))));
                all.insert(known.kind(), known);
                known
            }
        };
        mine.insert(known.kind(), known);
        known
    })
}

fn interned(kind: Kind) -> Interned {
    let parts: Vec<Type> = match &kind {
        Kind::List(it) | Kind::Set(it) | Kind::Map(it) => vec![*it],
        Kind::Tuple(items) => items.clone(),
        Kind::Object(items) => items.iter().map(|it| it.1).collect(),
        _ => Vec::new(),
    };
    let is_optional = matches!(&kind, Kind::Object(items) if items.iter().any(|it| it.2));
    let has_dynamic = parts.iter().any(|it| it.0.has_dynamic);
    let has_optional = is_optional || parts.iter().any(|it| it.0.has_optional);
    Interned::new(kind, has_dynamic, has_optional)
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
        match &self.0.kind {
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
