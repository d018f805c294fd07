//! `-backend-config`: arguments of the backend from files and from the command line.

use super::{argument, problems};
use crate::backend::registry::Kind;
use crate::backend::shape::{Arguments, Unfit};
use crate::diagnostic::{Diagnostics, Sources};
use crate::expression::evaluate_constant;
use crate::syntax;
use crate::value::Value;
use crate::world::{World, as_text};

/// Returns the arguments that flags give, the later one winning; nothing where there are no flags. One empty flag takes all
/// earlier arguments back.
pub(super) fn read(
    (world, kind): (&World, &Kind),
    sources: &Sources,
    flags: &[String],
) -> Result<Option<Arguments>, Diagnostics> {
    let mut given = Arguments::new();
    if flags.is_empty() {
        return Ok(None);
    }
    let mut found = Diagnostics::new();
    for flag in flags.iter().filter(|it| !it.is_empty()) {
        match flag.split_once('=') {
            Some((name, text)) => match value(kind, sources, name, text) {
                Ok(text) => drop(given.insert(name.to_owned(), text)),
                Err(Unfit::Unknown) => found.push(problems::unexpected(name)),
                Err(Unfit::Empty(what)) => found.push(problems::empty(name, what)),
                Err(Unfit::Type(why)) => found.push(problems::unfit(name, &why)),
            },
            None => {
                if let Some(more) = found.take(read_file((world, kind), sources, flag)) {
                    given.extend(more);
                }
            }
        }
    }
    if found.has_errors() { Err(found) } else { Ok(Some(given)) }
}

/// Reads `NAME=VALUE`: text where the setting is simple, else an expression.
fn value(kind: &Kind, sources: &Sources, name: &str, text: &str) -> Result<Value, Unfit> {
    let setting = kind.settings.iter().find(|it| it.name == name);
    if setting.is_none_or(|it| it.shape.ty().is_primitive()) {
        return kind.setting(name, &Value::string(text));
    }
    let id = sources.add(format!("-backend-config={name}"), text.into());
    let read = syntax::parse_expression(id, text, 0).and_then(|it| evaluate_constant(&it));
    let read = read.map_err(|problems| {
        Unfit::Type(problems.iter().next().map(|it| it.detail.clone()).unwrap_or_default())
    });
    kind.setting(name, &read?)
}

fn read_file(
    (world, kind): (&World, &Kind),
    sources: &Sources,
    path: &str,
) -> Result<Arguments, Diagnostics> {
    let text = world
        .files
        .read(&world.root.join(path))
        .and_then(as_text)
        .map_err(|it| problems::unreadable(path, &it.to_string()))?;
    let id = sources.add(path, text.as_str().into());
    let (body, mut found) = match path.ends_with(".json") {
        true => syntax::parse_json(id, &text),
        false => syntax::parse(id, &text),
    };
    let (attributes, more) = body.just_attributes();
    found.extend(more);
    let mut given = Arguments::new();
    for it in attributes {
        let Some(value) = found.take(evaluate_constant(&it.value)) else { continue };
        let read = argument(kind, (&it.name.text, it.name.span), (&value, it.value.span));
        if let Some(text) = found.take(read) {
            given.insert(it.name.text.to_string(), text);
        }
    }
    if found.has_errors() { Err(found) } else { Ok(given) }
}
