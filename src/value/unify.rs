//! The most general of several types: what elements of one list, or the arms of a conditional, become.

use super::{Kind, Type, convertible};

/// Which conversions count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mode {
    /// Those that never fail.
    Safe,
    /// Those too that depend on the value, as string to number.
    Unsafe,
}

/// Returns the type to which all can be converted, also by conversions that may fail for some values.
///
/// - Untyped parts (`Dynamic`) follow their neighbours; beside objects, tuples or collections they make the whole
///   `Dynamic`, and the caller answers with an unknown value.
/// - Objects of equal attribute names unify by attribute, else as a map; tuples of equal length by element, else as a list.
///
/// `None` where there is no such type, or no type is given. Source: go-cty 1.18, `convert.UnifyUnsafe`.
pub fn unify(types: &[Type]) -> Option<Type> {
    unify_in(types, Mode::Unsafe)
}

/// As [`unify()`], with only the conversions that never fail.
pub fn unify_safe(types: &[Type]) -> Option<Type> {
    unify_in(types, Mode::Safe)
}

/// How many types are of which kind.
#[derive(Default)]
struct Kinds {
    maps: usize,
    lists: usize,
    sets: usize,
    objects: usize,
    tuples: usize,
    dynamics: usize,
}

#[expect(clippy::mutable_key_type, reason = "types are compared and hashed by address")]
pub(super) fn unify_in(types: &[Type], mode: Mode) -> Option<Type> {
    // Equal types change nothing, and comparing is quadratic.
    let mut seen = rustc_hash::FxHashSet::default();
    let types: Vec<Type> = types.iter().copied().filter(|it| seen.insert(*it)).collect();
    match types.as_slice() {
        [] => None,
        [one] => Some(*one),
        types => unify_distinct(types, mode),
    }
}

fn unify_distinct(types: &[Type], mode: Mode) -> Option<Type> {
    let kinds = Kinds::count(types);
    let (total, dynamics) = (types.len(), kinds.dynamics);
    if kinds.maps > 0 && kinds.maps + dynamics == total {
        return elements(types, Type::map, mode);
    }
    if kinds.maps > 0
        && kinds.maps + kinds.objects + dynamics == total
        && let Some(ty) = objects_as_maps(types, mode)
    {
        return Some(ty);
    }
    if kinds.lists > 0 && kinds.lists + dynamics == total {
        return elements(types, Type::list, mode);
    }
    if kinds.lists > 0
        && kinds.lists + kinds.tuples + dynamics == total
        && let Some(ty) = tuples_as_lists(types, mode)
    {
        return Some(ty);
    }
    if kinds.sets > 0 && kinds.sets + dynamics == total {
        return elements(types, Type::set, mode);
    }
    if kinds.objects > 0 && kinds.objects + dynamics == total {
        return if dynamics > 0 { Some(Type::DYNAMIC) } else { objects(types, mode) };
    }
    if kinds.tuples > 0 && kinds.tuples + dynamics == total {
        return if dynamics > 0 { Some(Type::DYNAMIC) } else { tuples(types, mode) };
    }
    if kinds.objects > 0 && kinds.tuples > 0 {
        return None;
    }
    preferred(types, mode)
}

impl Kinds {
    fn count(types: &[Type]) -> Kinds {
        let mut kinds = Kinds::default();
        for ty in types {
            match ty.kind() {
                Kind::Map(_) => kinds.maps += 1,
                Kind::List(_) => kinds.lists += 1,
                Kind::Set(_) => kinds.sets += 1,
                Kind::Object(_) => kinds.objects += 1,
                Kind::Tuple(_) => kinds.tuples += 1,
                Kind::Dynamic => kinds.dynamics += 1,
                Kind::Bool | Kind::Number | Kind::String => {}
            }
        }
        kinds
    }
}

fn elements(types: &[Type], collection: fn(Type) -> Type, mode: Mode) -> Option<Type> {
    let elements: Vec<Type> = types.iter().filter_map(|it| it.element()).collect();
    if elements.len() < types.len() {
        return Some(Type::DYNAMIC);
    }
    let ty = collection(unify_in(&elements, mode)?);
    all_convert(types, ty, mode).then_some(ty)
}

fn objects_as_maps(types: &[Type], mode: Mode) -> Option<Type> {
    let is_object = |it: &Type| matches!(it.kind(), Kind::Object(_));
    let objects: Vec<Type> = types.iter().copied().filter(is_object).collect();
    let map = as_map(&objects, mode)?;
    let replaced: Vec<Type> =
        types.iter().map(|it| if is_object(it) { map } else { *it }).collect();
    unify_in(&replaced, mode).filter(|it| matches!(it.kind(), Kind::Map(_)))
}

fn tuples_as_lists(types: &[Type], mode: Mode) -> Option<Type> {
    let is_tuple = |it: &Type| matches!(it.kind(), Kind::Tuple(_));
    let tuples: Vec<Type> = types.iter().copied().filter(is_tuple).collect();
    let list = as_list(&tuples, mode)?;
    let replaced: Vec<Type> =
        types.iter().map(|it| if is_tuple(it) { list } else { *it }).collect();
    unify_in(&replaced, mode).filter(|it| matches!(it.kind(), Kind::List(_)))
}

fn objects(types: &[Type], mode: Mode) -> Option<Type> {
    let first = types[0].attributes();
    let has_same_names =
        |it: &Type| it.attributes().iter().map(|it| &it.0).eq(first.iter().map(|it| &it.0));
    if !types.iter().all(has_same_names) {
        return as_map(types, mode);
    }
    let mut attributes = Vec::with_capacity(first.len());
    for (at, (name, ..)) in first.iter().enumerate() {
        let across: Vec<Type> = types.iter().map(|it| it.attributes()[at].1).collect();
        attributes.push((name.clone(), unify_in(&across, mode)?));
    }
    let ty = Type::object(attributes);
    if all_convert(types, ty, mode) { Some(ty) } else { as_map(types, mode) }
}

fn as_map(types: &[Type], mode: Mode) -> Option<Type> {
    let attributes: Vec<Type> =
        types.iter().flat_map(|it| it.attributes()).map(|it| it.1).collect();
    let ty = Type::map(unify_in(&attributes, mode)?);
    all_convert(types, ty, mode).then_some(ty)
}

fn tuple_elements(ty: Type) -> &'static [Type] {
    match ty.kind() {
        Kind::Tuple(items) => items,
        _ => &[],
    }
}

fn tuples(types: &[Type], mode: Mode) -> Option<Type> {
    let length = tuple_elements(types[0]).len();
    if types.iter().any(|it| tuple_elements(*it).len() != length) {
        return as_list(types, mode);
    }
    let mut elements = Vec::with_capacity(length);
    for at in 0..length {
        let across: Vec<Type> = types.iter().map(|it| tuple_elements(*it)[at]).collect();
        elements.push(unify_in(&across, mode)?);
    }
    let ty = Type::tuple(elements);
    if all_convert(types, ty, mode) { Some(ty) } else { as_list(types, mode) }
}

fn as_list(types: &[Type], mode: Mode) -> Option<Type> {
    let elements: Vec<Type> = types.iter().flat_map(|it| tuple_elements(*it)).copied().collect();
    let ty = Type::list(unify_in(&elements, mode)?);
    all_convert(types, ty, mode).then_some(ty)
}

fn all_convert(types: &[Type], want: Type, mode: Mode) -> bool {
    types.iter().all(|have| *have == want || convertible::can_convert(*have, want, mode))
}

/// The first type, most general first, to which the others convert.
fn preferred(types: &[Type], mode: Mode) -> Option<Type> {
    by_generality(types).into_iter().find(|want| all_convert(types, *want, mode))
}

/// The types in topological order of "more general than"; what cannot be compared keeps its order.
fn by_generality(types: &[Type]) -> Vec<Type> {
    let mut above = vec![0usize; types.len()];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); types.len()];
    for i in 0..types.len() {
        for j in i + 1..types.len() {
            match compare(types[i], types[j]) {
                ..0 => {
                    below[i].push(j);
                    above[j] += 1;
                }
                1.. => {
                    below[j].push(i);
                    above[i] += 1;
                }
                0 => {}
            }
        }
    }
    let mut order: Vec<usize> = (0..types.len()).filter(|it| above[*it] == 0).collect();
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        for &it in &below[at] {
            above[it] -= 1;
            if above[it] == 0 {
                order.push(it);
            }
        }
    }
    order.into_iter().map(|it| types[it]).collect()
}

/// Negative where `a` is the more general type, positive where `b` is, 0 where they cannot be compared.
fn compare(a: Type, b: Type) -> i32 {
    match (a.kind(), b.kind()) {
        (Kind::Dynamic, Kind::Dynamic) | (Kind::String, Kind::String) => 0,
        (_, Kind::Dynamic) => -1,
        (Kind::Dynamic, _) => 1,
        (Kind::String, Kind::Bool | Kind::Number) => -1,
        (Kind::Bool | Kind::Number, Kind::String) => 1,
        (Kind::List(x), Kind::List(y))
        | (Kind::Set(x), Kind::Set(y))
        | (Kind::Map(x), Kind::Map(y)) => compare(*x, *y),
        (Kind::Tuple(_) | Kind::List(_), Kind::Set(_)) => -1,
        (Kind::Set(_), Kind::Tuple(_) | Kind::List(_)) => 1,
        (Kind::List(_), Kind::Tuple(_)) | (Kind::Map(_), Kind::Object(_)) => -1,
        (Kind::Tuple(_), Kind::List(_)) | (Kind::Object(_), Kind::Map(_)) => 1,
        (Kind::Object(x), Kind::Object(y))
            if x.iter().map(|it| &it.0).eq(y.iter().map(|it| &it.0)) =>
        {
            compare_across(x.iter().map(|it| it.1).zip(y.iter().map(|it| it.1)))
        }
        (Kind::Tuple(x), Kind::Tuple(y)) if x.len() == y.len() => {
            compare_across(x.iter().copied().zip(y.iter().copied()))
        }
        _ => 0,
    }
}

fn compare_across(pairs: impl Iterator<Item = (Type, Type)>) -> i32 {
    let (mut a_is_above, mut b_is_above) = (false, false);
    for (a, b) in pairs {
        let order = compare(a, b);
        a_is_above |= order < 0;
        b_is_above |= order > 0;
    }
    i32::from(b_is_above) - i32::from(a_is_above)
}
