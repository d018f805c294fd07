//! Objects made of the values of their attributes.

use std::sync::Arc;

use super::{Object, Type, Value};

/// An object with the attribute names of `ty` and these values in its order; the attribute types follow the values.
pub(crate) fn object_like(ty: Type, values: Vec<Value>) -> Value {
    let mut attributes = ty.attributes().iter().zip(&values);
    let ty = match attributes.all(|(it, value)| it.1 == value.ty() && !it.2) {
        true => ty,
        false => ty.with_types(values.iter().map(Value::ty)),
    };
    Value::Object(Arc::new(Object { ty, values: values.into() }))
}
