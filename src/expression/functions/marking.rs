//! Functions that put marks on values and take them off.

use super::{Call, CallResult, Function, Parameter, Returns, Shape};
use crate::value::{Marks, Value};

const VALUE: Parameter = Parameter::any("value").or_anything();

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "sensitive",
        description: "Marks a value as sensitive, so that it is never shown.",
        parameters: &[VALUE],
        variadic: None,
        returns: Returns::NullableComputed(|arguments| Ok(arguments[0].ty())),
        body: |call| Ok(call.argument(0).clone().mark(&Marks::sensitive())),
    },
    Function {
        name: "nonsensitive",
        description: "Takes the sensitive mark off a value.",
        parameters: &[VALUE],
        variadic: None,
        returns: Returns::NullableComputed(|arguments| Ok(arguments[0].ty())),
        body: nonsensitive,
    },
    Function {
        name: "issensitive",
        description: "Tells whether a value is marked as sensitive.",
        parameters: &[VALUE],
        variadic: None,
        returns: Returns::Always(Shape::Bool),
        body: issensitive,
    },
    Function {
        name: "ephemeralasnull",
        description: "Replaces every ephemeral part of a value with null.",
        parameters: &[VALUE],
        variadic: None,
        returns: Returns::NullableComputed(|arguments| Ok(arguments[0].ty())),
        body: |call| Ok(without_ephemeral(call.argument(0))),
    },
];

fn nonsensitive(call: &Call<'_>) -> CallResult {
    let value = call.argument(0).clone().into_marked();
    Ok(value.map_marks(|marks| Marks { sensitive: false, ..marks }).into())
}

fn issensitive(call: &Call<'_>) -> CallResult {
    let value = call.argument(0);
    let marks = value.marks();
    // The answer itself is no secret, and may be kept.
    let kept = marks.provenance();
    if !value.is_known() {
        // It may still become sensitive, or stop being so.
        return Ok(Value::unknown(crate::value::Type::BOOL).mark(&kept));
    }
    Ok(Value::Bool(marks.sensitive).mark(&kept))
}

fn without_ephemeral(value: &Value) -> Value {
    let marks = value.marks();
    let kept = Marks { ephemeral: false, ..marks.clone() };
    if !value.is_known() {
        // What it turns out to be need not be ephemeral.
        return Value::unknown(value.ty()).mark(&kept);
    }
    if marks.ephemeral {
        return Value::Null(value.ty()).mark(&kept);
    }
    if !value.contains_ephemeral() {
        return value.clone();
    }
    value
        .bare()
        .map_children(&mut Vec::new(), &mut |child, _| without_ephemeral(child))
        .mark(&marks)
}
