//! What may be written in an expression.

use std::path::Path;

use super::keys::instance_keys;
use super::references::{self, references};
use super::{Item, Place, Sort};
use crate::assist::index::Entity;
use crate::syntax::Written;
use crate::value::{Kind, Type};

/// Returns what may be written in an expression.
pub(super) fn items(place: &Place<'_>, written: &Written) -> Vec<Item> {
    let argument = written.path.first().map_or("", String::as_str);
    let block = place.cursor.blocks.last().map_or("", |it| it.kind.as_str());
    if !written.indexed.is_empty() {
        return instance_keys(place, &written.indexed, written.text.is_some());
    }
    if let Some(text) = &written.text {
        return texts(place, (block, argument), text);
    }
    if !written.steps.is_empty() {
        return references(place, &written.steps);
    }
    if written.is_key {
        return keys(place, written);
    }
    match (block, argument) {
        ("variable", "type") => types(),
        ("run", "command") => words(&["plan", "apply"]),
        ("plan_options", "mode") => words(&["normal", "refresh-only"]),
        ("provisioner", "when") => words(&["create", "destroy"]),
        ("provisioner", "on_failure") => words(&["continue", "fail"]),
        (_, "provider") => configurations(place),
        ("module" | "run", "providers") => configurations(place),
        ("lifecycle", "ignore_changes") => ignored(place),
        ("moved" | "removed", _) | ("import", "to") => addresses(place),
        (_, "depends_on" | "replace_triggered_by") => addresses(place),
        _ => any(place, written),
    }
}

fn words(words: &[&str]) -> Vec<Item> {
    words.iter().map(|it| Item::new(*it, Sort::Word, "")).collect()
}

fn types() -> Vec<Item> {
    let plain = ["string", "number", "bool", "any"].map(|it| Item::new(it, Sort::Word, "type"));
    let made = [
        ("list", "list($1)$0"),
        ("set", "set($1)$0"),
        ("map", "map($1)$0"),
        ("object", "object({\n  $1\n})$0"),
        ("tuple", "tuple([$1])$0"),
        ("optional", "optional($1)$0"),
    ];
    let made = made.map(|(name, text)| Item::new(name, Sort::Word, "type").putting(text));
    plain.into_iter().chain(made).collect()
}

/// What stands in a string: sources of modules.
fn texts(place: &Place<'_>, (block, argument): (&str, &str), text: &str) -> Vec<Item> {
    if block != "module" || argument != "source" {
        return Vec::new();
    }
    let here = &place.module.folder;
    let folders = place.workspace.folders();
    let others = folders.iter().filter(|it| *it != here);
    let named = others.filter_map(|it| relative(here, it)).filter(|it| it.starts_with(text));
    named.map(|it| Item::new(it, Sort::Folder, "module")).collect()
}

/// A folder as a source names it from another.
fn relative(from: &Path, to: &Path) -> Option<String> {
    let shared = from.components().zip(to.components()).take_while(|it| it.0 == it.1).count();
    let up = from.components().count() - shared;
    let down: Vec<_> =
        to.components().skip(shared).map(|it| it.as_os_str().to_str()).collect::<Option<_>>()?;
    let start = if up == 0 { "./".to_owned() } else { "../".repeat(up) };
    Some(format!("{start}{}", down.join("/")).trim_end_matches('/').to_owned())
}

/// The configurations of providers.
fn configurations(place: &Place<'_>) -> Vec<Item> {
    let all = place.module.entities().filter(|it| matches!(it, Entity::Provider(..)));
    all.map(|it| Item::new(it.address(), Sort::Reference, "provider configuration")).collect()
}

/// The arguments of the resource around `lifecycle`.
fn ignored(place: &Place<'_>) -> Vec<Item> {
    let own = place.schema_around();
    let names = own
        .iter()
        .flat_map(|it| it.block.attributes.iter())
        .filter(|it| it.1.optional || it.1.required);
    let blocks = own.iter().flat_map(|it| it.block.blocks.keys());
    let names = names.map(|it| it.0).chain(blocks);
    let mut items: Vec<Item> =
        names.map(|it| Item::new(it.as_str(), Sort::Argument, "argument")).collect();
    items.push(Item::new("all", Sort::Word, "every argument"));
    items
}

/// What can be referred to as a whole: resources and calls.
fn addresses(place: &Place<'_>) -> Vec<Item> {
    let all = place.module.entities();
    let whole = all.filter(|it| matches!(it, Entity::Resource(_) | Entity::Call(_)));
    whole.map(|it| Item::new(it.address(), Sort::Reference, "address")).collect()
}

/// The keys of an object, as far as the type of the argument has any.
fn keys(place: &Place<'_>, written: &Written) -> Vec<Item> {
    let Some((argument, inner)) = written.path.split_first() else { return Vec::new() };
    let expected = place.expected();
    let Some(argument) = expected.arguments.iter().find(|it| it.name == *argument) else {
        return required_provider(place, written);
    };
    let Some(mut ty) = argument.value else { return Vec::new() };
    for key in inner {
        match element(ty).attribute(key) {
            Some(inner) => ty = inner,
            None => return Vec::new(),
        }
    }
    let attributes = element(ty).attributes().iter();
    let item = |(name, ty, is_optional): &(crate::value::Str, Type, bool)| {
        let optional = if *is_optional { ", optional" } else { "" };
        let item = Item::new(
            name.as_str(),
            Sort::Argument,
            format!("{}{optional}", ty.friendly_constraint()),
        );
        item.putting(format!("{name} = $0"))
    };
    attributes.map(item).collect()
}

/// What an entry of `required_providers` says.
fn required_provider(place: &Place<'_>, written: &Written) -> Vec<Item> {
    let is_entry = place.cursor.blocks.last().is_some_and(|it| it.kind == "required_providers");
    if !is_entry || written.path.len() != 1 {
        return Vec::new();
    }
    let names = [
        ("source", "Where it comes from: `hashicorp/aws`."),
        ("version", "Which versions will do."),
        ("configuration_aliases", "The configurations that callers pass."),
    ];
    names
        .map(|(name, about)| {
            Item::new(name, Sort::Argument, "").about(about).putting(format!("{name} = $0"))
        })
        .into()
}

/// The type of the elements of a collection, or the type itself.
fn element(ty: Type) -> Type {
    match ty.kind() {
        Kind::List(it) | Kind::Set(it) => *it,
        _ => ty,
    }
}

/// What any expression may begin with.
fn any(place: &Place<'_>, written: &Written) -> Vec<Item> {
    let expected = place.expected();
    let argument = written.path.first();
    let argument = expected.arguments.iter().find(|it| Some(&it.name) == argument);
    let mut items = references::roots(place);
    items.extend(references::functions(Some(place)));
    let is_bool = argument.is_some_and(|it| it.ty == "bool");
    if is_bool {
        items.extend(words(&["true", "false"]));
    }
    items.push(Item::new("null", Sort::Word, ""));
    items
}
