//! Regular expressions, in the syntax of RE2.

use std::sync::Arc;

use regex::{Captures, Regex};

use super::re2::{self, Pattern};
use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape, fits};
use crate::value::{Kind, Str, Type, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "regex",
        description: "Returns the first match of a regular expression: as text, or its groups as a tuple or object.",
        parameters: &[Parameter::string("pattern"), Parameter::string("string")],
        variadic: None,
        returns: Returns::Computed(match_type),
        body: first_match,
    },
    Function {
        name: "regexall",
        description: "Returns every match of a regular expression as a list.",
        parameters: &[Parameter::string("pattern"), Parameter::string("string")],
        variadic: None,
        returns: Returns::Computed(|arguments| Ok(Type::list(match_type(arguments)?))),
        body: all_matches,
    },
    Function {
        name: "replace",
        description: "Replaces every occurrence of a text, or of a regular expression between slashes.",
        parameters: &[
            Parameter::string("str"),
            Parameter::string("substr"),
            Parameter::string("replace"),
        ],
        variadic: None,
        returns: Returns::Always(Shape::String),
        body: replace,
    },
];

/// The type of one match: text without groups, a tuple with unnamed groups, an object with named ones.
fn match_type(arguments: &[Value]) -> Result<Type, Failure> {
    let Some(pattern) = arguments[0].as_str() else { return Ok(Type::DYNAMIC) };
    let regex = re2::compile(pattern)
        .map_err(|why| Failure::argument(0, format!("invalid regexp pattern: {why}")))?;
    let groups: Vec<Option<&str>> = regex.groups.iter().map(Option::as_deref).collect();
    let named = groups.iter().flatten().count();
    match (groups.len() - named, named) {
        (0, 0) => Ok(Type::STRING),
        (_, 0) => Ok(Type::tuple(vec![Type::STRING; groups.len()])),
        (0, _) => Ok(Type::object(
            groups.into_iter().flatten().map(|it| (Str::from(it), Type::STRING)).collect(),
        )),
        _ => Err(Failure::argument(
            0,
            "invalid regexp pattern: cannot mix both named and unnamed capture groups",
        )),
    }
}

fn compiled(call: &Call<'_>) -> Result<Arc<Pattern>, Failure> {
    re2::compile(call.text(0))
        .map_err(|why| Failure::argument(0, format!("error parsing pattern: {why}")))
}

fn captured(pattern: &Pattern, captures: &Captures<'_>, ty: Type) -> Value {
    let group = |at: usize| {
        captures.get(at).map_or(Value::Null(Type::STRING), |it| Value::string(it.as_str()))
    };
    match ty.kind() {
        Kind::Tuple(_) => Value::tuple((1..captures.len()).map(group).collect()),
        Kind::Object(_) => {
            let names = pattern.groups.iter().enumerate();
            Value::object(
                names.filter_map(|(at, name)| Some((Str::from(name.as_deref()?), group(at + 1)))),
            )
        }
        _ => group(0),
    }
}

fn first_match(call: &Call<'_>) -> CallResult {
    let pattern = compiled(call)?;
    match pattern.regex.captures(call.text(1)) {
        Some(captures) => Ok(captured(&pattern, &captures, call.ty)),
        None => Err(Failure::call("pattern did not match any part of the given string")),
    }
}

fn all_matches(call: &Call<'_>) -> CallResult {
    let pattern = compiled(call)?;
    let element = call.ty.element().unwrap_or(Type::STRING);
    let found = pattern
        .regex
        .captures_iter(call.text(1))
        .map(|it| captured(&pattern, &it, element))
        .collect();
    Ok(Value::list(element, found))
}

/// Replaces matches; `$1` in `instead` stands for a group.
fn replaced(regex: &Regex, text: &str, instead: &str) -> Result<String, Failure> {
    let mut out = String::new();
    let mut at = 0;
    for found in regex.captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        out.push_str(&text[at..whole.start()]);
        found.expand(instead, &mut out);
        at = whole.end();
        fits(out.len())?;
    }
    out.push_str(&text[at..]);
    Ok(out)
}

fn replace(call: &Call<'_>) -> CallResult {
    let (text, wanted, instead) = (call.text(0), call.text(1), call.text(2));
    if wanted.len() > 1 && wanted.starts_with('/') && wanted.ends_with('/') {
        let pattern = re2::compile(&wanted[1..wanted.len() - 1]).map_err(|why| {
            let place = why.place.unwrap_or_default();
            Failure::call(format!("error parsing regexp: {}: `{place}`", why.what))
        })?;
        return replaced(&pattern.regex, text, instead).map(Value::string);
    }
    let times = match wanted.is_empty() {
        true => text.chars().count() + 1,
        false if instead.len() <= wanted.len() => 0,
        false => text.matches(wanted).count(),
    };
    fits(times.saturating_mul(instead.len()).saturating_add(text.len()))?;
    if wanted.is_empty() {
        // Between all characters, and at both ends.
        let mut replaced = instead.to_owned();
        for letter in text.chars() {
            replaced.push(letter);
            replaced.push_str(instead);
        }
        return Ok(Value::string(replaced));
    }
    Ok(Value::string(text.replace(wanted, instead)))
}
