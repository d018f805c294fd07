//! `assume…`: promises about values that are not known yet, checked once they are.

use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape};
use crate::value::convert::convert;
use crate::value::{Refinement, Type, Value, unknown};

const VALUE: Parameter = assumed(Shape::Any);
const LEAST: Parameter = Parameter::number("min_length");
const MOST: Parameter = Parameter::number("max_length");

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "assumeequal",
        description: "Returns the second value, which the first one will equal; fails where it does not.",
        parameters: &[
            Parameter::any("actual_value").or_anything(),
            Parameter::any("expected_value").or_anything(),
        ],
        variadic: None,
        returns: Returns::NullableComputed(|arguments| Ok(arguments[1].ty())),
        body: assumeequal,
    },
    Function {
        name: "assumenotnull",
        description: "Returns a value that will not be null; fails where it is.",
        parameters: &[VALUE],
        variadic: None,
        returns: Returns::NullableComputed(|arguments| Ok(arguments[0].ty())),
        body: |call| match call.argument(0).ty() == Type::DYNAMIC {
            true => Err(Failure::argument(0, "given value must have a known type")),
            false => promise(call, |it| it.not_null = true, |_| true),
        },
    },
    Function {
        name: "assumestringprefix",
        description: "Returns a string that will begin with a text; fails where it does not.",
        parameters: &[assumed(Shape::String), Parameter::string("prefix")],
        variadic: None,
        returns: Returns::Nullable(Shape::String),
        body: |call| {
            // What might combine with the next character is not promised.
            let prefix = unknown::safe_prefix(call.text(1));
            if call.argument(0).is_null() {
                return Ok(call.argument(0).clone());
            }
            let known = call.text(0);
            let holds = prefix.as_ref().is_none_or(|it| known.starts_with(&**it));
            promise(call, |it| it.prefix = prefix.or(it.prefix.take()), |_| holds)
        },
    },
    length(
        "assumelistlength",
        "Returns a list whose length will lie within bounds.",
        Shape::ListOfAny,
        &[LIST, LEAST, MOST],
        both,
    ),
    length(
        "assumelistlengthmin",
        "Returns a list that will have a least length.",
        Shape::ListOfAny,
        &[LIST, LEAST],
        least,
    ),
    length(
        "assumelistlengthmax",
        "Returns a list that will have a greatest length.",
        Shape::ListOfAny,
        &[LIST, MOST],
        most,
    ),
    length(
        "assumesetlength",
        "Returns a set whose length will lie within bounds.",
        Shape::SetOfAny,
        &[SET, LEAST, MOST],
        both,
    ),
    length(
        "assumesetlengthmin",
        "Returns a set that will have a least length.",
        Shape::SetOfAny,
        &[SET, LEAST],
        least,
    ),
    length(
        "assumesetlengthmax",
        "Returns a set that will have a greatest length.",
        Shape::SetOfAny,
        &[SET, MOST],
        most,
    ),
    length(
        "assumemaplength",
        "Returns a map whose length will lie within bounds.",
        Shape::MapOfAny,
        &[MAP, LEAST, MOST],
        both,
    ),
    length(
        "assumemaplengthmin",
        "Returns a map that will have a least length.",
        Shape::MapOfAny,
        &[MAP, LEAST],
        least,
    ),
    length(
        "assumemaplengthmax",
        "Returns a map that will have a greatest length.",
        Shape::MapOfAny,
        &[MAP, MOST],
        most,
    ),
];

const LIST: Parameter = assumed(Shape::ListOfAny);
const SET: Parameter = assumed(Shape::SetOfAny);
const MAP: Parameter = assumed(Shape::MapOfAny);

/// The value that something is promised of.
const fn assumed(shape: Shape) -> Parameter {
    Parameter::new("value", shape).or_null().or_unknown().or_untyped()
}

const fn length(
    name: &'static str,
    description: &'static str,
    shape: Shape,
    parameters: &'static [Parameter],
    body: fn(&Call<'_>) -> CallResult,
) -> Function {
    let returns = Returns::Nullable(shape);
    Function { name, description, parameters, variadic: None, returns, body }
}

fn broken() -> Failure {
    Failure::argument(0, "assumption was not upheld")
}

/// Adds what is promised to an unknown value, or checks a known one.
fn promise(
    call: &Call<'_>,
    refine: impl FnOnce(&mut Refinement),
    holds: impl FnOnce(&Value) -> bool,
) -> CallResult {
    let value = call.argument(0);
    match value {
        Value::Null(_) => Err(broken()),
        Value::Unknown(it) => {
            let mut refinement = it.refinement.clone();
            refine(&mut refinement);
            Ok(unknown::refined(it.ty, refinement))
        }
        known if holds(known) => Ok(value.clone()),
        _ => Err(broken()),
    }
}

fn bound(call: &Call<'_>, at: usize) -> Result<u64, Failure> {
    let whole = call.argument(at).as_int().filter(|it| *it < i64::MAX).ok_or_else(|| {
        let why = format!("must be a whole number between 0 and {}", i64::MAX);
        Failure::argument(at, why)
    })?;
    Ok(u64::try_from(whole).unwrap_or(0))
}

fn between(call: &Call<'_>, low: Option<u64>, high: Option<u64>) -> CallResult {
    let refine = |it: &mut Refinement| {
        it.min_length = low.or(it.min_length).filter(|it| *it > 0);
        it.max_length = high.or(it.max_length);
    };
    promise(call, refine, |value| {
        let (least, most) = unknown::length_bounds(value);
        low.is_none_or(|low| most.is_none_or(|it| it >= low))
            && high.is_none_or(|high| least <= high)
    })
}

fn both(call: &Call<'_>) -> CallResult {
    between(call, Some(bound(call, 1)?), Some(bound(call, 2)?))
}

fn least(call: &Call<'_>) -> CallResult {
    between(call, Some(bound(call, 1)?), None)
}

fn most(call: &Call<'_>) -> CallResult {
    between(call, None, Some(bound(call, 1)?))
}

fn assumeequal(call: &Call<'_>) -> CallResult {
    let (actual, assumed) = (call.argument(0), call.argument(1));
    let actual = convert(actual, assumed.ty()).map_err(|_| {
        let (have, want) = (actual.ty().friendly_name(), assumed.ty().friendly_name());
        let why = format!("actual value type {have} does not match assumed value type {want}");
        Failure::argument(0, why)
    })?;
    let equal = unknown::equals(&actual.to_plain(), &assumed.to_plain());
    match equal.as_bool() {
        Some(false) => {
            Err(Failure::argument(0, "the actual value does not match the assumed value"))
        }
        _ => Ok(assumed.clone()),
    }
}
