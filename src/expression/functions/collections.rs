//! Functions that look at collections of any kind: length, membership, choice.

use std::sync::{Arc, LazyLock};

use super::graphemes::count_graphemes;
use super::sets::is_open;
use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape};
use crate::value::convert::convert;
use crate::value::unify::unify;
use crate::value::{Kind, Number, Refinement, Type, Unknown, Value, unknown};
use crate::world::PRODUCT;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "length",
        description: "Returns the number of elements, attributes or characters.",
        parameters: &[Parameter::any("value").or_untyped().or_unknown().or_marked()],
        variadic: None,
        returns: Returns::Computed(length_type),
        body: length,
    },
    Function {
        name: "contains",
        description: "Tells whether a value is an element of a list, set or tuple.",
        parameters: &[Parameter::any("list"), Parameter::any("value").or_null()],
        variadic: None,
        returns: Returns::Always(Shape::Bool),
        body: contains,
    },
    Function {
        name: "alltrue",
        description: "Tells whether all elements are true.",
        parameters: &[Parameter::new("list", Shape::ListOfBool)],
        variadic: None,
        returns: Returns::Always(Shape::Bool),
        body: alltrue,
    },
    Function {
        name: "anytrue",
        description: "Tells whether any element is true.",
        parameters: &[Parameter::new("list", Shape::ListOfBool)],
        variadic: None,
        returns: Returns::Always(Shape::Bool),
        body: anytrue,
    },
    Function {
        name: "coalesce",
        description: "Returns the first value that is neither null nor an empty string.",
        parameters: &[],
        variadic: Some(Parameter::any("vals").or_unknown().or_untyped().or_null()),
        returns: Returns::Computed(coalesce_type),
        body: coalesce,
    },
    Function {
        name: "coalescelist",
        description: "Returns the first list or tuple that is not empty.",
        parameters: &[],
        variadic: Some(
            Parameter::any("vals")
                .about("Lists and tuples, in the order in which they are tried.")
                .or_unknown()
                .or_untyped()
                .or_null(),
        ),
        returns: Returns::Computed(coalescelist_type),
        body: coalescelist,
    },
    Function {
        name: "one",
        description: "Returns the only element, or null where there is none.",
        parameters: &[Parameter::any("list")],
        variadic: None,
        returns: Returns::NullableComputed(one_type),
        body: one,
    },
    Function {
        name: "list",
        description: "Not available any more; use tolist.",
        parameters: &[],
        variadic: Some(Parameter::any("vals").or_unknown().or_untyped().or_null()),
        returns: Returns::Computed(|_| Err(gone("list", "tolist([ ... ])"))),
        body: |_| Err(gone("list", "tolist([ ... ])")),
    },
    Function {
        name: "map",
        description: "Not available any more; use tomap.",
        parameters: &[],
        variadic: Some(Parameter::any("vals").or_unknown().or_untyped().or_null()),
        returns: Returns::Computed(|_| Err(gone("map", "tomap({ ... })"))),
        body: |_| Err(gone("map", "tomap({ ... })")),
    },
];

fn gone(name: &str, instead: &str) -> Failure {
    Failure::call(format!(
        "the {name:?} function was deprecated in Terraform v0.12 and is not available in {PRODUCT}; use {instead} syntax to write \
         a literal {name}"
    ))
}

fn length_type(arguments: &[Value]) -> Result<Type, Failure> {
    match arguments[0].ty().kind() {
        Kind::Bool | Kind::Number => {
            Err(Failure::call("argument must be a string, a collection type, or a structural type"))
        }
        _ => Ok(Type::NUMBER),
    }
}

fn length(call: &Call<'_>) -> CallResult {
    let value = call.argument(0);
    let count = match (value.ty().kind(), value.bare()) {
        (Kind::Tuple(types), _) => types.len(),
        (Kind::Object(attributes), _) => attributes.len(),
        (Kind::Dynamic, _) => {
            return Ok(Value::unknown_not_null(Type::NUMBER).mark(&value.marks()));
        }
        (Kind::String, Value::Unknown(_)) => {
            let prefix = count_graphemes(&unknown::known_prefix(value));
            return Ok(between(Some(prefix as u64), None).mark(&value.marks()));
        }
        (_, Value::Unknown(it)) => {
            let Refinement { min_length, max_length, .. } = it.refinement;
            let most = max_length.unwrap_or(i64::MAX as u64);
            return Ok(between(min_length, Some(most)).mark(&value.marks()));
        }
        (_, Value::String(text)) => count_graphemes(text),
        (_, it) if is_open(it) => {
            return Ok(between(Some(1), Some(it.children().count() as u64)).mark(&value.marks()));
        }
        (_, it) => it.children().count(),
    };
    Ok(Value::int(count as i64).mark(&value.marks()))
}

/// A length of which nothing is known, or that it is not zero.
static OPEN_LENGTHS: LazyLock<[Value; 2]> = LazyLock::new(|| [0, 1].map(|it| refined(it, None)));

/// A length that is not known, between two bounds.
fn between(low: Option<u64>, high: Option<u64>) -> Value {
    match (low, high) {
        (Some(low), Some(high)) if low == high => Value::Number(whole(low)),
        (None | Some(0), None) => OPEN_LENGTHS[0].clone(),
        (Some(1), None) => OPEN_LENGTHS[1].clone(),
        _ => refined(low.unwrap_or(0), high),
    }
}

fn whole(number: u64) -> Number {
    Number::Int(number.min(i64::MAX as u64) as i64)
}

fn refined(low: u64, high: Option<u64>) -> Value {
    Value::Unknown(Arc::new(Unknown {
        ty: Type::NUMBER,
        refinement: Refinement {
            not_null: true,
            lower: Some((whole(low), true)),
            upper: high.map(|it| (whole(it), true)),
            ..Refinement::default()
        },
    }))
}

fn contains(call: &Call<'_>) -> CallResult {
    let list = call.argument(0);
    if !list.ty().is_sequence() {
        return Err(Failure::call("argument must be list, tuple, or set"));
    }
    let mut undecided = false;
    for item in list.children() {
        match unknown::equals(call.argument(1), item).as_bool() {
            Some(true) => return Ok(Value::Bool(true)),
            Some(false) => {}
            None => undecided = true,
        }
    }
    Ok(if undecided { Value::unknown(Type::BOOL) } else { Value::Bool(false) })
}

fn alltrue(call: &Call<'_>) -> CallResult {
    for item in call.argument(0).children() {
        match item {
            Value::Unknown(_) => return Ok(Value::unknown(Type::BOOL)),
            it if it.as_bool() != Some(true) => return Ok(Value::Bool(false)),
            _ => {}
        }
    }
    Ok(Value::Bool(true))
}

fn anytrue(call: &Call<'_>) -> CallResult {
    let mut undecided = false;
    for item in call.argument(0).children() {
        match item.as_bool() {
            Some(true) => return Ok(Value::Bool(true)),
            _ => undecided |= !item.is_known(),
        }
    }
    Ok(if undecided { Value::unknown(Type::BOOL) } else { Value::Bool(false) })
}

fn coalesce_type(arguments: &[Value]) -> Result<Type, Failure> {
    let types: Vec<Type> = arguments.iter().map(Value::ty).collect();
    match types.is_empty() {
        true => Err(Failure::call("all arguments must have the same type")),
        false => {
            unify(&types).ok_or_else(|| Failure::call("all arguments must have the same type"))
        }
    }
}

fn coalesce(call: &Call<'_>) -> CallResult {
    for (at, argument) in call.arguments.iter().enumerate() {
        let value =
            convert(argument, call.ty).map_err(|error| Failure::argument(at, error.message))?;
        if !value.is_known() {
            return Ok(Value::unknown(call.ty));
        }
        if !value.is_null() && value.as_str() != Some("") {
            return Ok(value);
        }
    }
    Err(Failure::call("no non-null, non-empty-string arguments"))
}

fn coalescelist_type(arguments: &[Value]) -> Result<Type, Failure> {
    let Some(first) = arguments.first() else {
        return Err(Failure::call("at least one argument is required"));
    };
    for argument in arguments {
        if !argument.is_known() {
            return Ok(Type::DYNAMIC);
        }
        if !matches!(argument.ty().kind(), Kind::List(_) | Kind::Tuple(_)) {
            return Err(Failure::call("coalescelist arguments must be lists or tuples"));
        }
    }
    let same = arguments.iter().all(|it| it.ty() == first.ty());
    Ok(if same { first.ty() } else { Type::DYNAMIC })
}

fn coalescelist(call: &Call<'_>) -> CallResult {
    for argument in call.arguments {
        if !argument.is_known() {
            return Ok(Value::unknown(call.ty));
        }
        if argument.children().next().is_some() {
            return Ok(argument.clone());
        }
    }
    Err(Failure::call("no non-null arguments"))
}

fn not_one() -> Failure {
    Failure::argument(0, "must be a list, set, or tuple value with either zero or one elements")
}

fn one_type(arguments: &[Value]) -> Result<Type, Failure> {
    match arguments[0].ty().kind() {
        Kind::List(element) | Kind::Set(element) => Ok(*element),
        Kind::Tuple(types) => match types[..] {
            [] => Ok(Type::DYNAMIC),
            [only] => Ok(only),
            _ => Err(not_one()),
        },
        _ => Err(not_one()),
    }
}

fn one(call: &Call<'_>) -> CallResult {
    let list = call.argument(0);
    let mut items = list.children();
    match (items.next(), items.next()) {
        (None, _) => Ok(Value::Null(call.ty)),
        (Some(only), None) => Ok(only.clone()),
        // Its elements may turn out to be equal.
        _ if matches!(list.bare(), Value::Set(_)) && !list.is_wholly_known() => {
            Ok(Value::unknown(call.ty))
        }
        _ => Err(not_one()),
    }
}
