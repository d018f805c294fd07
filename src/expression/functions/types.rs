//! Conversion to types.

use super::{Call, Failure, Function, Outcome, Parameter, Returns, Shape};
use crate::value::convert::{convert, is_convertible};
use crate::value::{Kind, Type, Value};

const V: &[Parameter] = &[Parameter::any("v").or_null().or_untyped().or_marked()];

pub(super) const FUNCTIONS: &[Function] = &[
    conversion("tostring", "Converts to a string.", |_| Ok(Type::STRING)),
    conversion("tonumber", "Converts to a number.", |_| Ok(Type::NUMBER)),
    conversion("tobool", "Converts to a bool.", |_| Ok(Type::BOOL)),
    conversion("tolist", "Converts to a list.", |_| Ok(Shape::ListOfAny.ty())),
    conversion("toset", "Converts to a set.", |_| Ok(Shape::SetOfAny.ty())),
    conversion("tomap", "Converts to a map.", |_| Ok(Shape::MapOfAny.ty())),
];

/// A conversion function; `wanted` gives the type.
const fn conversion(
    name: &'static str,
    description: &'static str,
    wanted: fn(&[Value]) -> Result<Type, Failure>,
) -> Function {
    Function {
        name,
        description,
        parameters: V,
        variadic: None,
        returns: Returns::NullableComputed(wanted),
        body: to_type,
    }
}

fn to_type(call: &Call<'_>) -> Outcome {
    let (value, wanted) = (call.argument(0), call.ty);
    let have = value.ty();
    let cannot = |what: &str, why: &str| {
        Failure::argument(
            0,
            format!("cannot convert {what} to {}{why}", wanted.friendly_constraint()),
        )
    };
    if !is_convertible(have, wanted) {
        return Err(cannot(&have.friendly_name(), ""));
    }
    convert(value, wanted).map_err(|_| {
        let name = have.friendly_name();
        match (value.bare(), wanted.kind()) {
            _ if value.contains_ephemeral() => cannot(&format!("this ephemeral {name}"), ""),
            _ if value.contains_sensitive() => cannot(&format!("this sensitive {name}"), ""),
            (Value::String(text), Kind::Bool) => {
                cannot(&format!("{text:?}"), "; only the strings \"true\" or \"false\" are allowed")
            }
            (Value::String(text), Kind::Number) => cannot(
                &format!("{text:?}"),
                "; given string must be a decimal representation of a number",
            ),
            _ => cannot(&name, ""),
        }
    })
}
