//! Values that are known twice, kept once.

use std::sync::Arc;

use super::{Object, Value};

impl Value {
    /// Returns the same value, with those attributes of an object that are equal to another object's shared with it.
    ///
    /// An object is planned twice, and lives as it was planned first until the run is over: what came of it then costs no more
    /// than what has become known since.
    #[must_use]
    pub fn sharing(self, other: &Value) -> Value {
        let Value::Object(own) = &self else {
            return if self == *other { other.clone() } else { self };
        };
        let Value::Object(theirs) = other else { return self };
        let names = |it: &Object| it.ty.attributes().iter().map(|it| it.0.clone());
        if own.ty != theirs.ty && !names(own).eq(names(theirs)) {
            return self;
        }
        let pairs = own.values.iter().zip(&theirs.values);
        let values = pairs.map(|(own, their)| if own == their { their } else { own }.clone());
        // INVARIANT: equal values are of one type, so that the object's holds still.
        Value::Object(Arc::new(Object { ty: own.ty, values: values.collect() }))
    }
}

#[cfg(test)]
mod tests {
    use super::Value;
    use crate::value::{Str, Type};

    fn object(attributes: &[(&str, Value)]) -> Value {
        Value::object(attributes.iter().map(|(name, value)| (Str::from(*name), value.clone())))
    }

    fn text(of: &Value, name: &str) -> Str {
        let entries = of.entries();
        let found = entries.iter().find(|it| &*it.0 == name).map(|it| it.1);
        match found {
            Some(Value::String(text)) => text.clone(),
            other => panic!("no text but {other:?}"),
        }
    }

    #[test]
    fn what_is_equal_is_kept_once_and_nothing_changes() {
        let long = || Value::string("long ".repeat(100));
        let planned = object(&[("input", long()), ("id", Value::unknown(Type::STRING))]);
        let made = object(&[("input", long()), ("id", Value::string("1"))]);
        assert!(!Str::ptr_eq(&text(&made, "input"), &text(&planned, "input")));
        let shared = made.clone().sharing(&planned);
        assert_eq!(shared, made);
        assert!(Str::ptr_eq(&text(&shared, "input"), &text(&planned, "input")));
    }

    #[test]
    fn what_is_not_alike_is_left_as_it_is() {
        let made = object(&[("input", Value::string("a"))]);
        let others = [
            Value::NULL,
            object(&[("other", Value::string("a"))]),
            object(&[("input", Value::string("a")), ("more", Value::string("a"))]),
            Value::unknown(Type::DYNAMIC),
        ];
        for other in others {
            assert_eq!(made.clone().sharing(&other), made);
        }
        assert_eq!(Value::NULL.sharing(&made), Value::NULL);
    }
}
