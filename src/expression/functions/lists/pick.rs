//! Parts of lists: one element, a slice, chunks, and where an element stands.

use super::super::{Call, CallResult, Failure};
use super::{empty_list, items, same_kind};
use crate::value::{Kind, Type, Value, unknown};

pub(super) fn element_type(arguments: &[Value]) -> Result<Type, Failure> {
    match arguments[0].ty().kind() {
        Kind::List(element) => Ok(*element),
        Kind::Tuple(types) => {
            if !arguments[1].is_known() {
                return Ok(Type::DYNAMIC);
            }
            let at = whole_index(&arguments[1])?;
            if types.is_empty() {
                return Err(empty_list());
            }
            Ok(types[at.rem_euclid(types.len() as i64) as usize])
        }
        _ => Err(Failure::call(format!(
            "cannot read elements from {}",
            arguments[0].ty().friendly_name()
        ))),
    }
}

fn whole_index(index: &Value) -> Result<i64, Failure> {
    index.as_int().ok_or_else(|| {
        Failure::call("invalid index: value must be a whole number, between -9223372036854775808 and 9223372036854775807")
    })
}

pub(super) fn element(call: &Call<'_>) -> CallResult {
    let (list, at) = (call.argument(0), whole_index(call.argument(1))?);
    if !list.is_known() {
        return Ok(Value::unknown(call.ty).mark(&list.marks()));
    }
    let items = items(list);
    if items.is_empty() {
        return Err(empty_list());
    }
    Ok(items[at.rem_euclid(items.len() as i64) as usize].clone().mark(&list.marks()))
}

/// Start and end, each `None` while unknown.
fn slice_bounds(arguments: &[Value]) -> Result<(Option<usize>, Option<usize>), Failure> {
    let length = match arguments[0].ty().kind() {
        Kind::Tuple(types) => Some(types.len()),
        _ => arguments[0].is_known().then(|| arguments[0].children().count()),
    };
    let bound = |at: usize, which: &str| -> Result<Option<usize>, Failure> {
        if !arguments[at].is_known() {
            return Ok(None);
        }
        let wrong = |what: String| Err(Failure::argument(at, what));
        let Some(index) = arguments[at].as_int() else {
            return wrong(format!(
                "invalid {which} index: value must be a whole number, between -9223372036854775808 and 9223372036854775807"
            ));
        };
        match usize::try_from(index) {
            Err(_) => wrong(format!("{which} index must not be less than zero")),
            Ok(index) if length.is_some_and(|length| index > length) => {
                wrong(format!("{which} index must not be greater than the length of the list"))
            }
            Ok(index) => Ok(Some(index)),
        }
    };
    let (start, end) = (bound(1, "start")?, bound(2, "end")?);
    if let (Some(start), Some(end)) = (start, end)
        && start > end
    {
        return Err(Failure::argument(1, "start index must not be greater than end index"));
    }
    Ok((start, end))
}

pub(super) fn slice_type(arguments: &[Value]) -> Result<Type, Failure> {
    let ty = arguments[0].ty();
    let types = match ty.kind() {
        Kind::List(_) => {
            slice_bounds(arguments)?;
            return Ok(ty);
        }
        Kind::Tuple(types) => types,
        Kind::Set(_) => {
            return Err(Failure::argument(
                0,
                "cannot slice a set, because its elements do not have indices; explicitly convert to a list if the ordering of \
                 the result is not important",
            ));
        }
        _ => return Err(Failure::argument(0, "must be a list or tuple value")),
    };
    Ok(match slice_bounds(arguments)? {
        (Some(start), Some(end)) => Type::tuple(types[start..end].to_vec()),
        _ => Type::DYNAMIC,
    })
}

pub(super) fn slice(call: &Call<'_>) -> CallResult {
    let list = call.argument(0);
    let (Some(start), Some(end)) = slice_bounds(call.arguments)? else {
        return Ok(Value::unknown(call.ty).mark(&list.marks()));
    };
    Ok(same_kind(call.ty, items(list)[start..end].to_vec()).mark(&list.marks()))
}

pub(super) fn chunklist(call: &Call<'_>) -> CallResult {
    let (list, size) = (call.argument(0), call.argument(1));
    let marks = list.marks().union(&size.marks());
    let whole = size.as_int().ok_or_else(|| {
        Failure::call("invalid size: value must be a whole number, between -9223372036854775808 and 9223372036854775807")
    })?;
    let size =
        usize::try_from(whole).map_err(|_| Failure::call("the size argument must be positive"))?;
    let items = items(list);
    let (ty, element) = (list.ty(), list.ty().element().unwrap_or(Type::DYNAMIC));
    let chunks = match size {
        _ if items.is_empty() => Vec::new(),
        0 => vec![Value::list(element, items)],
        size => items.chunks(size).map(|it| Value::list(element, it.to_vec())).collect(),
    };
    Ok(Value::list(ty, chunks).mark(&marks))
}

pub(super) fn index(call: &Call<'_>) -> CallResult {
    let list = call.argument(0);
    if !matches!(list.ty().kind(), Kind::List(_) | Kind::Tuple(_)) {
        return Err(Failure::call("argument must be a list or tuple"));
    }
    if list.children().next().is_none() {
        return Err(Failure::call("cannot search an empty list"));
    }
    for (at, item) in list.children().enumerate() {
        match unknown::equals(item, call.argument(1)).as_bool() {
            Some(true) => return Ok(Value::int(at as i64)),
            Some(false) => {}
            None => return Ok(Value::unknown(Type::NUMBER)),
        }
    }
    Err(Failure::call("item not found"))
}
