//! `ignore_changes`: configuration with the parts put back that changes of are ignored.

use std::collections::BTreeMap;

use super::BlockSchema;
use crate::value::{Kind, Path, PathStep, Str, Type, Value, path};

/// Which changes of the configuration are ignored.
#[derive(Clone, Copy, Debug)]
pub enum Ignored<'a> {
    /// All of them.
    All,
    /// Those at and below these paths.
    Paths(&'a [Path]),
}

/// Returns the configuration as if ignored changes had not been made.
///
/// - `prior`: what exists; where it is null, nothing is ignored.
/// - A path that ends in the key of a map keeps that one element, present or absent; paths that lead nowhere in either
///   value are passed over.
/// - With [`Ignored::All`] the prior object is the configuration, without what only the provider can set.
///
/// Both values may be marked.
pub fn apply_ignore_changes(
    prior: &Value,
    config: &Value,
    ignored: Ignored<'_>,
    schema: &BlockSchema,
) -> Value {
    if prior.is_null() {
        return config.clone();
    }
    match ignored {
        Ignored::All => without_computed(prior, schema, &mut Vec::new()),
        Ignored::Paths(_) if config.is_null() => config.clone(),
        Ignored::Paths(paths) => {
            let kept: Vec<Kept<'_>> =
                paths.iter().filter_map(|it| kept(prior, config, it)).collect();
            restore(config, &kept.iter().map(|it| (it.path, it)).collect::<Vec<_>>())
        }
    }
}

fn without_computed(value: &Value, schema: &BlockSchema, path: &mut Path) -> Value {
    if schema.attribute_at(path).is_some_and(|it| it.computed && !it.optional) {
        return Value::Null(value.ty()).mark(&value.marks());
    }
    let inner =
        value.bare().map_children(path, &mut |child, path| without_computed(child, schema, path));
    inner.mark(&value.marks())
}

/// A prior value that stays.
struct Kept<'a> {
    /// Where, without the key of a map at its end.
    path: &'a [PathStep],
    value: Value,
    /// The one element of a map that stays.
    key: Option<&'a str>,
}

fn kept<'a>(prior: &Value, config: &Value, whole: &'a Path) -> Option<Kept<'a>> {
    let (path, key) = match whole.split_last()? {
        (PathStep::Index(key), rest) if key.as_str().is_some() => (rest, key.as_str()),
        _ => (whole.as_slice(), None),
    };
    let value = path::get(prior, path)?;
    let configured = path::get(config, path)?;
    (value != configured).then_some(Kept { path, value, key })
}

/// Puts the kept values where the remaining paths lead, the innermost first.
fn restore(value: &Value, kept: &[(&[PathStep], &Kept<'_>)]) -> Value {
    if kept.is_empty() {
        return value.clone();
    }
    let (here, below): (Vec<_>, Vec<_>) = kept.iter().copied().partition(|it| it.0.is_empty());
    let value = match below.is_empty() {
        true => value.clone(),
        false => {
            let inner = value.bare().map_steps(&mut |child, step| {
                let inside = below
                    .iter()
                    .filter(|it| it.0[0] == step)
                    .map(|(path, kept)| (&path[1..], *kept));
                restore(child, &inside.collect::<Vec<_>>())
            });
            inner.mark(&value.marks())
        }
    };
    match (value.ty().kind(), here.first()) {
        (_, None) => value,
        (Kind::Map(element), _) => restore_map(&value, *element, &here),
        (_, Some((_, first))) => first.value.clone(),
    }
}

fn restore_map(value: &Value, element: Type, kept: &[(&[PathStep], &Kept<'_>)]) -> Value {
    if !value.is_known() {
        return value.clone();
    }
    let mut entries: BTreeMap<Str, Value> =
        value.entries().into_iter().map(|(key, it)| (key, it.clone())).collect();
    for (_, kept) in kept {
        let Some(key) = kept.key else { return kept.value.clone() };
        match kept.value.get(key) {
            Some(prior) => entries.insert(key.into(), prior.clone()),
            None => entries.remove(key),
        };
    }
    if entries.is_empty() && value.is_null() {
        return value.clone();
    }
    Value::map(element, entries).mark(&value.marks())
}
