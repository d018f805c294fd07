//! Functions of sets.

use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape};
use crate::value::convert::convert;
use crate::value::unify::unify;
use crate::value::{Kind, Marks, Refinement, Type, Unknown, Value, unknown};

const FIRST: Parameter = Parameter::new("first_set", Shape::SetOfAny).or_untyped();
const OTHERS: Option<Parameter> = Some(Parameter::new("other_sets", Shape::SetOfAny).or_untyped());

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "setunion",
        description: "Returns what is in any of the sets.",
        parameters: &[FIRST],
        variadic: OTHERS,
        returns: Returns::Computed(common_set),
        body: |call| combine(call, true, |all, set| all.extend(set)),
    },
    Function {
        name: "setintersection",
        description: "Returns what is in all of the sets.",
        parameters: &[FIRST],
        variadic: OTHERS,
        returns: Returns::Computed(common_set),
        body: |call| combine(call, false, |all, set| all.retain(|it| has(&set, it))),
    },
    Function {
        name: "setsubtract",
        description: "Returns what is in the first set and not in the second.",
        parameters: &[
            Parameter::new("a", Shape::SetOfAny).or_untyped(),
            Parameter::new("b", Shape::SetOfAny).or_untyped(),
        ],
        variadic: None,
        returns: Returns::Computed(common_set),
        body: |call| combine(call, false, |all, set| all.retain(|it| !has(&set, it))),
    },
    Function {
        name: "setproduct",
        description: "Returns every combination of one element of each.",
        parameters: &[],
        variadic: Some(Parameter::any("sets").about("Sets, lists or tuples. If there is no set among them, the result keeps their order.").or_marked().or_unknown()),
        returns: Returns::Computed(product_type),
        body: product,
    },
];

fn has(set: &[Value], wanted: &Value) -> bool {
    set.iter().any(|it| unknown::equals(it, wanted).as_bool() == Some(true))
}

fn common_set(arguments: &[Value]) -> Result<Type, Failure> {
    let elements: Vec<Type> = arguments
        .iter()
        .filter(|it| it.ty() != Type::DYNAMIC)
        .filter_map(|it| {
            let element = it.ty().element()?;
            // An empty set of nothing in particular suits any type.
            let fits_all =
                element == Type::DYNAMIC && it.is_known() && it.children().next().is_none();
            (!fits_all).then_some(element)
        })
        .collect();
    if arguments.iter().any(|it| it.ty() == Type::DYNAMIC) {
        return Ok(Type::DYNAMIC);
    }
    if elements.is_empty() {
        return Ok(Type::set(Type::DYNAMIC));
    }
    match unify(&elements) {
        Some(element) => Ok(Type::set(element)),
        None => Err(Failure::call("given sets must all have compatible element types")),
    }
}

fn combine(
    call: &Call<'_>,
    unknown_elements: bool,
    step: fn(&mut Vec<Value>, Vec<Value>),
) -> CallResult {
    let Some(element) = call.ty.element() else { return Ok(Value::unknown(call.ty)) };
    let mut all: Option<Vec<Value>> = None;
    for (at, argument) in call.arguments.iter().enumerate() {
        let set =
            convert(argument, call.ty).map_err(|error| Failure::argument(at, error.message))?;
        if !set.is_known() || (!unknown_elements && !set.is_wholly_known()) {
            return Ok(Value::unknown(call.ty));
        }
        let items = set.children().cloned().collect();
        match &mut all {
            None => all = Some(items),
            Some(all) => step(all, items),
        }
    }
    Ok(Value::set(element, all.unwrap_or_default()))
}

fn product_type(arguments: &[Value]) -> Result<Type, Failure> {
    if arguments.len() < 2 {
        return Err(Failure::call("at least two arguments are required"));
    }
    let mut ordered = true;
    let mut elements = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        elements.push(match argument.ty().kind() {
            Kind::Set(element) => {
                ordered = false;
                *element
            }
            Kind::List(element) => *element,
            Kind::Tuple(types) if types.is_empty() => Type::DYNAMIC,
            Kind::Tuple(types) => unify(types)
                .ok_or_else(|| Failure::argument(at, "all elements must be of the same type"))?,
            _ => return Err(Failure::argument(at, "a set or a list is required")),
        });
    }
    let tuple = Type::tuple(elements);
    Ok(if ordered { Type::list(tuple) } else { Type::set(tuple) })
}

/// More combinations than anybody wants are refused before they fill the memory.
const MOST_COMBINATIONS: usize = 10_000_000;

fn product(call: &Call<'_>) -> CallResult {
    let marks: Marks = call.arguments.iter().map(Value::marks).collect();
    let Some(Kind::Tuple(types)) = call.ty.element().map(Type::kind) else {
        return Ok(Value::unknown(call.ty).mark(&marks));
    };
    if call.arguments.iter().any(|it| !it.is_known() || is_open(it)) {
        return Ok(unknown_product(call).mark(&marks));
    }
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for (at, (argument, ty)) in call.arguments.iter().zip(types).enumerate() {
        let mut items = Vec::new();
        for item in argument.children() {
            items.push(convert(item, *ty).map_err(|error| Failure::argument(at, error.message))?);
        }
        if rows.len().saturating_mul(items.len()) > MOST_COMBINATIONS {
            return Err(Failure::call(format!(
                "the result would have more than {MOST_COMBINATIONS} elements"
            )));
        }
        rows = rows
            .iter()
            .flat_map(|row| {
                items.iter().map(|item| row.iter().cloned().chain([item.clone()]).collect())
            })
            .collect();
    }
    let element = Type::tuple(types.clone());
    let rows: Vec<Value> = rows.into_iter().map(Value::tuple).collect();
    Ok(match call.ty.kind() {
        Kind::List(_) => Value::list(element, rows),
        _ => Value::set(element, rows),
    }
    .mark(&marks))
}

/// Whether elements of a set that are not known may turn out to be the same one.
pub(super) fn is_open(set: &Value) -> bool {
    matches!(set.bare(), Value::Set(it) if it.items.len() > 1) && !set.is_wholly_known()
}

/// The product of sets of which one is unknown: empty where another is empty, else bounded where all are.
fn unknown_product(call: &Call<'_>) -> Value {
    let most = call.arguments.iter().try_fold(1_u64, |product, it| {
        let length = match it.bare() {
            Value::Unknown(unknown) => match unknown.ty.kind() {
                Kind::Tuple(types) => types.len() as u64,
                _ => unknown.refinement.max_length?,
            },
            known if is_open(known) => return None,
            known => known.children().count() as u64,
        };
        product.checked_mul(length).filter(|it| *it <= 2048)
    });
    match most {
        Some(0) => match call.ty.kind() {
            Kind::List(element) => Value::list(*element, Vec::new()),
            Kind::Set(element) => Value::set(*element, Vec::new()),
            _ => Value::unknown(call.ty),
        },
        most => {
            let refinement = Refinement {
                not_null: true,
                min_length: most.map(|_| 1),
                max_length: most,
                ..Refinement::default()
            };
            Value::Unknown(Unknown { ty: call.ty, refinement }.into())
        }
    }
}
