//! Conversion to types.

use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape};
use crate::value::convert::{convert, is_convertible};
use crate::value::text::shown;
use crate::value::{Kind, Type, Value};

const V: &[Parameter] = &[Parameter::any("v").or_null().or_untyped().or_marked()];

pub(super) const FUNCTIONS: &[Function] = &[
    conversion("tostring", "Converts to a string.", |it| reached(it, Type::STRING)),
    conversion("tonumber", "Converts to a number.", |it| reached(it, Type::NUMBER)),
    conversion("tobool", "Converts to a bool.", |it| reached(it, Type::BOOL)),
    conversion("tolist", "Converts to a list.", |it| reached(it, Shape::ListOfAny.ty())),
    conversion("toset", "Converts to a set.", |it| reached(it, Shape::SetOfAny.ty())),
    conversion("tomap", "Converts to a map.", |it| reached(it, Shape::MapOfAny.ty())),
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

/// The type of the result, where values of the argument's type can be converted to it at all.
fn reached(arguments: &[Value], wanted: Type) -> Result<Type, Failure> {
    let have = arguments[0].ty();
    match is_convertible(have, wanted) {
        true => Ok(wanted),
        false => Err(cannot(&have.friendly_name(), wanted, "")),
    }
}

fn cannot(what: &str, wanted: Type, why: &str) -> Failure {
    let wanted = wanted.friendly_constraint();
    Failure::argument(0, format!("cannot convert {what} to {wanted}{why}"))
}

fn to_type(call: &Call<'_>) -> CallResult {
    let (value, wanted) = (call.argument(0), call.ty);
    let cannot = |what: &str, why: &str| cannot(what, wanted, why);
    convert(value, wanted).map_err(|_| {
        let name = value.ty().friendly_name();
        match (value.bare(), wanted.kind()) {
            _ if value.contains_ephemeral() => cannot(&format!("this ephemeral {name}"), ""),
            _ if value.contains_sensitive() => cannot(&format!("this sensitive {name}"), ""),
            (Value::String(text), Kind::Bool) => {
                cannot(&shown(text), "; only the strings \"true\" or \"false\" are allowed")
            }
            (Value::String(text), Kind::Number) => {
                cannot(&shown(text), "; given string must be a decimal representation of a number")
            }
            _ => cannot(&name, ""),
        }
    })
}
