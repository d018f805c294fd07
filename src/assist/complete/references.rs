//! What can be referred to, and the attributes of it.

use std::sync::Arc;

use super::{Item, Place, Sort, keys_of_local};
use crate::address::{Mode, ResourceName};
use crate::assist::index::Entity;
use crate::assist::schemas::resource_of;
use crate::expression::functions::{self, REMOVED, SPECIAL};
use crate::expression::read_constraint;
use crate::schema::Schema;
use crate::syntax::Block;
use crate::value::{Kind, Type};

/// Returns what a reference may begin with.
pub(super) fn roots(place: &Place<'_>) -> Vec<Item> {
    let mut found: Vec<Item> = Vec::new();
    let fixed = [("path", "folders"), ("terraform", "the run")];
    found.extend(fixed.map(|(name, words)| Item::new(name, Sort::Reference, words)));
    for entity in place.module.entities() {
        let item = match entity {
            Entity::Variable(_) | Entity::Local(_) | Entity::Call(_) => {
                Item::new(entity.address(), Sort::Reference, words(entity))
            }
            Entity::Resource(_) => Item::new(entity.address(), Sort::Reference, words(entity)),
            _ => continue,
        };
        found.push(item);
    }
    let (outer, _) = place.blocks();
    let repeats = |name: &str| outer.is_some_and(|it| it.body.attribute(name).is_some());
    if repeats("for_each") {
        found.extend(
            ["each.key", "each.value"].map(|it| Item::new(it, Sort::Reference, "the instance")),
        );
    }
    if repeats("count") {
        found.push(Item::new("count.index", Sort::Reference, "the instance"));
    }
    let inner = place.cursor.blocks.last().map_or("", |it| it.kind.as_str());
    if ["provisioner", "connection", "postcondition"].contains(&inner) {
        found.push(Item::new("self", Sort::Reference, "the object"));
    }
    found
}

fn words(entity: &Entity) -> &'static str {
    match entity {
        Entity::Variable(_) => "variable",
        Entity::Local(_) => "local value",
        Entity::Call(_) => "module",
        _ => "resource",
    }
}

/// Returns the functions; those of providers where a place is known.
pub(super) fn functions(place: Option<&Place<'_>>) -> Vec<Item> {
    let ordinary = functions::all().into_iter().filter(|it| !REMOVED.contains(&it.name));
    let item = |name: &str, signature: String, about: &str| {
        let item = Item::new(name, Sort::Function, format!("{name}{signature}"));
        item.about(about).putting(format!("{name}($1)$0"))
    };
    let mut found: Vec<Item> =
        ordinary.map(|it| item(it.name, it.signature(), it.description)).collect();
    found.extend(SPECIAL.iter().map(|it| item(it.name, "(…)".to_owned(), it.description)));
    for (address, schema) in place.iter().flat_map(|it| it.schemas.all()) {
        for (name, it) in &schema.functions {
            let names: Vec<&str> = it.parameters.iter().map(|it| it.name.as_str()).collect();
            let name = format!("provider::{}::{name}", address.kind);
            let about = it.description.as_ref().or(it.summary.as_ref());
            found.push(item(
                &name,
                format!("({})", names.join(", ")),
                about.map_or("", |it| it.as_str()),
            ));
        }
    }
    found
}

/// Returns what may follow some names that are joined by dots.
pub(super) fn references(place: &Place<'_>, steps: &[String]) -> Vec<Item> {
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let named = |pick: fn(&Entity) -> Option<String>, detail: &str| -> Vec<Item> {
        let names = place.module.entities().filter_map(pick);
        names.map(|it| Item::new(it, Sort::Reference, detail)).collect()
    };
    match &*steps {
        ["var"] => named(|it| variant(it, |it| matches!(it, Entity::Variable(_))), "variable"),
        ["local"] => named(|it| variant(it, |it| matches!(it, Entity::Local(_))), "local value"),
        ["module"] => named(|it| variant(it, |it| matches!(it, Entity::Call(_))), "module"),
        ["output"] => named(|it| variant(it, |it| matches!(it, Entity::Output(_))), "output"),
        ["run"] => named(|it| variant(it, |it| matches!(it, Entity::Run(_))), "run"),
        ["module", call] | ["module", call, "[]"] => outputs(place, call),
        ["local", name] => keys_of_local(&place.module, name),
        ["var", name, inner @ ..] => keys_of_variable(place, name, inner),
        ["each"] => words_of(&["key", "value"]),
        ["count"] => words_of(&["index"]),
        ["path"] => words_of(&["module", "root", "cwd"]),
        ["terraform" | "tofu"] => words_of(&["workspace"]),
        ["self", inner @ ..] => {
            place.schema_around().map(|it| attributes(&it, inner)).unwrap_or_default()
        }
        ["data", rest @ ..] => resources(place, Mode::Data, rest),
        ["ephemeral", rest @ ..] => resources(place, Mode::Ephemeral, rest),
        ["resource", rest @ ..] => resources(place, Mode::Managed, rest),
        all => resources(place, Mode::Managed, all),
    }
}

fn variant(entity: &Entity, is_meant: fn(&Entity) -> bool) -> Option<String> {
    is_meant(entity).then(|| entity.name().to_string())
}

fn words_of(words: &[&str]) -> Vec<Item> {
    words.iter().map(|it| Item::new(*it, Sort::Reference, "")).collect()
}

fn outputs(place: &Place<'_>, call: &str) -> Vec<Item> {
    let Some(called) = place.workspace.called(&place.module, call) else { return Vec::new() };
    let outputs = called.entities().filter(|it| matches!(it, Entity::Output(_)));
    outputs
        .map(|it| {
            let about = called
                .block(it)
                .and_then(|it| super::super::module::value_text(it.1, "description"));
            let item = Item::new(it.name().as_str(), Sort::Reference, "output");
            item.about(about.map(|it| it.to_string()).unwrap_or_default())
        })
        .collect()
}

/// The attributes that the type of a variable has, as it is written.
fn keys_of_variable(place: &Place<'_>, name: &str, inner: &[&str]) -> Vec<Item> {
    let entity = Entity::Variable(name.into());
    let block = place.module.block(&entity);
    let Some(ty) = block.and_then(|it| super::value(&it.1.body, "type")) else { return Vec::new() };
    let mut ty = read_constraint(&ty).0.ty;
    for step in inner {
        let next = if *step == "[]" { ty.element() } else { ty.attribute(step) };
        match next {
            Some(next) => ty = next,
            None => return Vec::new(),
        }
    }
    of_type(ty)
}

fn resources(place: &Place<'_>, mode: Mode, steps: &[&str]) -> Vec<Item> {
    let all = place.module.entities().filter_map(|it| match it {
        Entity::Resource(it) if it.mode == mode => Some(it),
        _ => None,
    });
    match steps {
        [] => all.map(|it| Item::new(it.kind.as_str(), Sort::Reference, "type")).collect(),
        [kind] => {
            let named = all.filter(|it| it.kind == *kind);
            named.map(|it| Item::new(it.name.as_str(), Sort::Reference, "resource")).collect()
        }
        [kind, name, rest @ ..] => {
            let resource = ResourceName { mode, kind: (*kind).into(), name: (*name).into() };
            let entity = Entity::Resource(resource);
            let Some((_, block)) = place.module.block(&entity) else { return Vec::new() };
            let Some(schema) = place.schemas.resource(&place.module, (mode, kind), Some(block))
            else {
                return Vec::new();
            };
            let rest = match rest {
                ["[]", rest @ ..] if repeats(block) => rest,
                _ if repeats(block) => return Vec::new(),
                rest => rest,
            };
            attributes(schema, rest)
        }
    }
}

pub(in crate::assist) fn repeats(block: &Block) -> bool {
    block.body.attribute("count").is_some() || block.body.attribute("for_each").is_some()
}

/// The attributes of an object, along some names.
fn attributes(schema: &Schema, steps: &[&str]) -> Vec<Item> {
    if steps.is_empty() {
        let attributes = schema.block.attributes.iter();
        let items = attributes.map(|(name, it)| {
            let words = super::super::bodies::attribute(name, it);
            Item::new(name.as_str(), Sort::Argument, words.words()).about(words.about)
        });
        let blocks = schema.block.blocks.iter();
        let blocks = blocks.map(|(name, it)| {
            let about = it.block.documentation.text.as_ref().map(ToString::to_string);
            Item::new(name.as_str(), Sort::Argument, it.ty().friendly_constraint())
                .about(about.unwrap_or_default())
        });
        return items.chain(blocks).collect();
    }
    let mut ty = schema.block.ty();
    for step in steps {
        let next = if *step == "[]" { ty.element() } else { ty.attribute(step) };
        match next {
            Some(next) => ty = next,
            None => return Vec::new(),
        }
    }
    of_type(ty)
}

fn of_type(ty: Type) -> Vec<Item> {
    match ty.kind() {
        Kind::Object(..) => ty
            .attributes()
            .iter()
            .map(|it| Item::new(it.0.as_str(), Sort::Argument, it.1.friendly_constraint()))
            .collect(),
        _ => Vec::new(),
    }
}

impl Place<'_> {
    /// The schema of the resource around the place.
    pub(in crate::assist) fn schema_around(&self) -> Option<Arc<Schema>> {
        let (outer, _) = self.blocks();
        let (mode, kind) = resource_of(outer?)?;
        self.schemas.resource(&self.module, (mode, &kind), outer).cloned()
    }
}
