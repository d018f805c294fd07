//! Objects by attribute name: reading one, and making one.

use crate::value::objects::object_like;
use crate::value::{Path, PathStep, Type, Value};

/// An object in the making. INVARIANT: one value per attribute of `ty`, in its order.
pub(super) struct Fields {
    ty: Type,
    values: Box<[Value]>,
}

static NULL: Value = Value::NULL;

impl Fields {
    /// Returns the object of type `ty` whose attributes are all null.
    pub(super) fn empty(ty: Type) -> Fields {
        Fields { ty, values: ty.attributes().iter().map(|it| Value::Null(it.1)).collect() }
    }

    /// Returns a copy of an object, as one of type `ty`. What is no object becomes an empty one.
    pub(super) fn of(ty: Type, object: &Value) -> Fields {
        match object.bare() {
            Value::Object(it) if it.values.len() == ty.attributes().len() => {
                Fields { ty, values: it.values.clone() }
            }
            _ => Fields::empty(ty),
        }
    }

    pub(super) fn get(&self, name: &str) -> &Value {
        self.ty.attribute_index(name).map_or(&NULL, |index| &self.values[index])
    }

    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) {
        let index =
            self.ty.attribute_index(name).expect("the attribute stands in the kind's table");
        self.values[index] = value.into();
    }

    pub(super) fn set_text(&mut self, name: &str, value: impl AsRef<str>) {
        self.set(name, Value::string(value));
    }

    /// Returns the values in the type's order.
    pub(super) fn values(&self) -> &[Value] {
        &self.values
    }

    /// Returns the object. What may have any type has that of its value.
    pub(super) fn into_value(self) -> Value {
        object_like(self.ty, self.values.into())
    }
}

/// What an attribute can be read from.
pub(super) trait Read {
    /// Returns an attribute; null when there is none.
    fn member(&self, name: &str) -> &Value;

    /// Returns a known string.
    fn text(&self, name: &str) -> Option<&str> {
        self.member(name).as_str()
    }

    /// Returns a known whole number.
    fn whole(&self, name: &str) -> Option<i64> {
        self.member(name).as_int()
    }

    /// Returns a known bool.
    fn flag(&self, name: &str) -> Option<bool> {
        self.member(name).as_bool()
    }

    /// Returns whether any of these is not known yet.
    fn any_unknown(&self, names: &[&str]) -> bool {
        names.iter().any(|it| !self.member(it).is_known())
    }
}

impl Read for Fields {
    fn member(&self, name: &str) -> &Value {
        self.get(name)
    }
}

impl Read for Value {
    fn member(&self, name: &str) -> &Value {
        self.get(name).unwrap_or(&NULL)
    }
}

/// Returns whether two values of one declared type are the same. Nulls are, whatever type they carry.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    (a.is_null() && b.is_null()) || a == b
}

/// Returns the path to an attribute.
pub(super) fn at(name: &str) -> Path {
    vec![PathStep::Attribute(name.into())]
}
