//! Functions of lists and tuples.

use super::sets::is_open;
use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape, are_few};
use crate::value::convert::convert;
use crate::value::unify::unify;
use crate::value::{Kind, Marks, Refinement, Type, Value, unknown};

mod pick;

use self::pick::{chunklist, element, element_type, index, slice, slice_type};

const LIST: Parameter = Parameter::any("list");

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "concat",
        description: "Puts lists or tuples after each other.",
        parameters: &[],
        variadic: Some(Parameter::any("seqs").or_marked()),
        returns: Returns::Computed(concat_type),
        body: concat,
    },
    Function {
        name: "element",
        description: "Returns one element by its index, counted on from the start after the end.",
        parameters: &[LIST.or_marked(), Parameter::number("index")],
        variadic: None,
        returns: Returns::NullableComputed(element_type),
        body: element,
    },
    Function {
        name: "reverse",
        description: "Returns the elements in reverse order.",
        parameters: &[LIST.or_marked()],
        variadic: None,
        returns: Returns::Computed(reverse_type),
        body: reverse,
    },
    Function {
        name: "slice",
        description: "Returns the elements from a start index up to an end index, which is left out.",
        parameters: &[
            LIST.or_marked(),
            Parameter::number("start_index"),
            Parameter::number("end_index"),
        ],
        variadic: None,
        returns: Returns::Computed(slice_type),
        body: slice,
    },
    Function {
        name: "sort",
        description: "Sorts strings by their bytes.",
        parameters: &[Parameter::new("list", Shape::ListOfString)],
        variadic: None,
        returns: Returns::Always(Shape::ListOfString),
        body: sort,
    },
    Function {
        name: "distinct",
        description: "Removes every element that has come before.",
        parameters: &[Parameter::new("list", Shape::ListOfAny)],
        variadic: None,
        returns: Returns::Computed(|arguments| Ok(arguments[0].ty())),
        body: distinct,
    },
    Function {
        name: "compact",
        description: "Removes null and empty strings.",
        parameters: &[Parameter::new("list", Shape::ListOfString)],
        variadic: None,
        returns: Returns::Always(Shape::ListOfString),
        body: compact,
    },
    Function {
        name: "chunklist",
        description: "Cuts a list into lists of at most a given size.",
        parameters: &[
            Parameter::new("list", Shape::ListOfAny).or_marked(),
            Parameter::number("size")
                .about("How long each list is, but the last one, which has the rest.")
                .or_marked(),
        ],
        variadic: None,
        returns: Returns::Computed(|arguments| Ok(Type::list(arguments[0].ty()))),
        body: chunklist,
    },
    Function {
        name: "flatten",
        description: "Replaces every element that is a list, set or tuple with its elements, at every depth.",
        parameters: &[LIST.or_marked()],
        variadic: None,
        returns: Returns::Computed(flatten_type),
        body: flatten,
    },
    Function {
        name: "matchkeys",
        description: "Returns the values whose key, at the same position of another list, is in a set.",
        parameters: &[
            Parameter::new("values", Shape::ListOfAny),
            Parameter::new("keys", Shape::ListOfAny),
            Parameter::new("searchset", Shape::ListOfAny),
        ],
        variadic: None,
        returns: Returns::Computed(matchkeys_type),
        body: matchkeys,
    },
    Function {
        name: "index",
        description: "Returns the position of the first element that equals a value.",
        parameters: &[LIST, Parameter::any("value")],
        variadic: None,
        returns: Returns::Always(Shape::Number),
        body: index,
    },
];

/// The elements of a list, set or tuple, whatever its own marks.
fn items(value: &Value) -> Vec<Value> {
    value.children().cloned().collect()
}

fn concat_type(arguments: &[Value]) -> Result<Type, Failure> {
    if arguments.is_empty() {
        return Err(Failure::call("at least one argument is required"));
    }
    let counts = arguments.iter().map(|it| it.children().count());
    are_few(counts.fold(0, usize::saturating_add))?;
    let types: Vec<Type> = arguments.iter().map(Value::ty).collect();
    if types.iter().all(|it| matches!(it.kind(), Kind::List(_)))
        && let Some(common) = unify(&types)
    {
        return Ok(common);
    }
    let mut elements = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        match argument.ty().kind() {
            Kind::Tuple(types) => elements.extend_from_slice(types),
            Kind::List(_) if !argument.is_known() => return Ok(Type::DYNAMIC),
            Kind::List(element) => elements.extend(argument.children().map(|_| *element)),
            _ => {
                let name = argument.ty().friendly_name();
                return Err(Failure::argument(
                    at,
                    format!("all arguments must be lists or tuples; got {name}"),
                ));
            }
        }
    }
    Ok(Type::tuple(elements))
}

fn concat(call: &Call<'_>) -> CallResult {
    let marks: Marks = call.arguments.iter().map(Value::marks).collect();
    let mut all = Vec::new();
    for (at, argument) in call.arguments.iter().enumerate() {
        match call.ty.kind() {
            Kind::List(_) => {
                let list = convert(argument, call.ty)
                    .map_err(|error| Failure::argument(at, error.message))?;
                all.extend(items(&list));
            }
            _ => all.extend(items(argument)),
        }
    }
    Ok(match call.ty.kind() {
        Kind::List(element) => Value::list(*element, all),
        _ => Value::tuple(all),
    }
    .mark(&marks))
}

fn empty_list() -> Failure {
    Failure::call("cannot use element function with an empty list")
}

fn reverse_type(arguments: &[Value]) -> Result<Type, Failure> {
    match arguments[0].ty().kind() {
        Kind::Tuple(types) => Ok(Type::tuple(types.iter().rev().copied().collect())),
        Kind::List(element) | Kind::Set(element) => Ok(Type::list(*element)),
        _ => {
            let name = arguments[0].ty().friendly_name();
            Err(Failure::argument(0, format!("can only reverse list or tuple values, not {name}")))
        }
    }
}

fn reverse(call: &Call<'_>) -> CallResult {
    let mut items = items(call.argument(0));
    items.reverse();
    Ok(same_kind(call.ty, items).mark(&call.argument(0).marks()))
}

/// A list where `ty` is one, else a tuple.
fn same_kind(ty: Type, items: Vec<Value>) -> Value {
    match ty.kind() {
        Kind::List(element) => Value::list(*element, items),
        _ => Value::tuple(items),
    }
}

fn sort(call: &Call<'_>) -> CallResult {
    let list = call.argument(0);
    if !list.is_wholly_known() {
        // The order is not known yet, the number of elements may be.
        let (low, max_length) = unknown::length_bounds(list);
        let refinement = Refinement {
            not_null: true,
            min_length: Some(low),
            max_length,
            ..Refinement::default()
        };
        return Ok(unknown::refined(call.ty, refinement));
    }
    let mut texts = Vec::new();
    for (at, item) in list.children().enumerate() {
        match item {
            Value::String(text) => texts.push(text.clone()),
            _ => {
                return Err(Failure::call(format!(
                    "given list element {at} is null; a null string cannot be sorted"
                )));
            }
        }
    }
    texts.sort();
    Ok(Value::list(Type::STRING, texts.into_iter().map(Value::String).collect()))
}

fn distinct(call: &Call<'_>) -> CallResult {
    let list = call.argument(0);
    if !list.is_wholly_known() {
        return Ok(Value::unknown(call.ty));
    }
    let element = call.ty.element().unwrap_or(Type::DYNAMIC);
    if element.is_primitive() {
        return Ok(Value::list(element, distinct_primitives(list)));
    }
    let mut kept: Vec<Value> = Vec::new();
    for item in list.children() {
        if !kept.iter().any(|it| unknown::equals(it, item).as_bool() == Some(true)) {
            kept.push(item.clone());
        }
    }
    Ok(Value::list(element, kept))
}

/// Finds what has come before by its text, so that long lists take no square of time.
fn distinct_primitives(list: &Value) -> Vec<Value> {
    let mut seen = rustc_hash::FxHashSet::default();
    list.children()
        .filter(|item| {
            let text = match item {
                Value::String(it) => Some(it.to_string()),
                Value::Number(it) if it.sign() == 0 => Some("0".to_owned()),
                Value::Number(it) => Some(it.to_string()),
                Value::Bool(it) => Some(it.to_string()),
                _ => None,
            };
            seen.insert(text)
        })
        .cloned()
        .collect()
}

fn compact(call: &Call<'_>) -> CallResult {
    let list = call.argument(0);
    if !list.is_wholly_known() {
        return Ok(Value::unknown(call.ty));
    }
    let kept = list
        .children()
        .filter(|it| it.as_str().is_some_and(|it| !it.is_empty()))
        .cloned()
        .collect();
    Ok(Value::list(Type::STRING, kept))
}

/// What flattening gives: the elements, the marks of all lists, and whether all of them are known.
fn flattened(list: &Value, into: &mut Vec<Value>, marks: &mut Marks) -> bool {
    *marks = marks.union(&list.marks());
    if !list.is_known() {
        return false;
    }
    let mut known = !is_open(list);
    for item in list.children() {
        known &= item.is_known() || item.ty() != Type::DYNAMIC;
        if !item.is_null() && item.ty().is_sequence() {
            known &= flattened(item, into, marks);
        } else {
            into.push(item.clone());
        }
    }
    known
}

fn flatten_type(arguments: &[Value]) -> Result<Type, Failure> {
    if !arguments[0].is_wholly_known() {
        return Ok(Type::DYNAMIC);
    }
    if !arguments[0].ty().is_sequence() {
        return Err(Failure::call("can only flatten lists, sets and tuples"));
    }
    let mut all = Vec::new();
    flattened(&arguments[0], &mut all, &mut Marks::default());
    Ok(Type::tuple(all.iter().map(Value::ty).collect()))
}

fn flatten(call: &Call<'_>) -> CallResult {
    if !call.argument(0).ty().is_sequence() {
        return Ok(Value::unknown(Type::DYNAMIC).mark(&call.argument(0).marks()));
    }
    let (mut all, mut marks) = (Vec::new(), Marks::default());
    let known = flattened(call.argument(0), &mut all, &mut marks);
    Ok(if known { Value::tuple(all) } else { Value::unknown(Type::DYNAMIC) }.mark(&marks))
}

fn matchkeys_type(arguments: &[Value]) -> Result<Type, Failure> {
    match unify(&[arguments[1].ty(), arguments[2].ty()]) {
        Some(_) => Ok(arguments[0].ty()),
        None => Err(Failure::call("keys and searchset must be of the same type")),
    }
}

fn matchkeys(call: &Call<'_>) -> CallResult {
    let element = call.ty.element().unwrap_or(Type::DYNAMIC);
    let values = items(call.argument(0));
    let ty = unify(&[call.argument(1).ty(), call.argument(2).ty()]).unwrap_or(Type::DYNAMIC);
    let convert = |at: usize| {
        convert(call.argument(at), ty).map_err(|error| Failure::argument(at, error.message))
    };
    let (keys, wanted) = (convert(1)?, convert(2)?);
    if values.len() != keys.children().count() {
        return Err(Failure::call("length of keys and values should be equal"));
    }
    if wanted.children().next().is_none() {
        return Ok(Value::list(element, Vec::new()));
    }
    if !call.argument(0).is_wholly_known() || !keys.is_wholly_known() {
        return Ok(Value::unknown(call.ty));
    }
    let mut kept = Vec::new();
    for (value, key) in values.into_iter().zip(keys.children()) {
        for candidate in wanted.children() {
            match unknown::equals(key, candidate).as_bool() {
                Some(true) => {
                    kept.push(value.clone());
                    break;
                }
                Some(false) => {}
                None => return Ok(Value::list(element, Vec::new())),
            }
        }
    }
    Ok(Value::list(element, kept))
}
