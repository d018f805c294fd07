//! Objects made of the values of their attributes.

use std::sync::Arc;

use super::{Object, Type, Value};

/// An object with the attribute names of `ty` and these values in its order; the attribute types follow the values.
pub(crate) fn object_like(ty: Type, values: Vec<Value>) -> Value {
    let attributes = ty.attributes();
    let ty = match attributes
        .iter()
        .zip(&values)
        .all(|(attribute, value)| attribute.1 == value.ty() && !attribute.2)
    {
        true => ty,
        false => Type::object(
            attributes.iter().zip(&values).map(|(it, value)| (it.0.clone(), value.ty())).collect(),
        ),
    };
    Value::Object(Arc::new(Object { ty, values: values.into() }))
}
