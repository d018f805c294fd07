//! `import` blocks: which existing object a declared instance without one is to adopt.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::object::{Prior, Subject};
use super::repetition::{self, Keys};
use super::values::{ValueScope, Values};
use super::{Observer, problems};
use crate::address::{ConfigResource, Instance, InstanceKey, ModuleInstance};
use crate::config::{Config, Import};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::expression;
use crate::lower::Structure;
use crate::operation::event::Event;
use crate::schema;
use crate::syntax::{Expr, Expression, Step};
use crate::value::convert::convert;
use crate::value::{Type, Value};

/// What an instance is to adopt.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The import id.
    pub id: String,
    /// The place of the id.
    pub place: Span,
}

/// The import blocks by the block they are for; each is evaluated when the first instance of that block asks.
#[derive(Debug, Default)]
pub struct Imports {
    wishes: FxHashMap<ConfigResource, OnceLock<BTreeMap<Instance, Wish>>>,
}

impl Imports {
    /// Returns the imports of a configuration, none evaluated yet.
    pub fn of(config: &Config) -> Imports {
        let targets = config.root().imports.iter().filter_map(Import::target);
        Imports { wishes: targets.map(|it| (it, OnceLock::new())).collect() }
    }
}

/// The instance that `to` means, its keys evaluated.
fn resolve(import: &Import, scope: &ValueScope<'_, '_>) -> Result<Instance, Diagnostics> {
    let block = import.target().ok_or_else(|| invalid_target(import.to.span))?;
    let Expr::Traversal { steps, .. } = &*import.to.expr else {
        return Err(invalid_target(import.to.span).into());
    };
    let mut keys = Vec::new();
    let mut after_name = 1;
    for step in steps {
        match step {
            Step::Attribute(_) => after_name += 1,
            Step::Index(key, _) => keys.push((after_name, key_of(key, scope)?)),
            Step::LegacyIndex(index, _) => keys.push((after_name, InstanceKey::Int(*index as i64))),
            Step::Splat { .. } => return Err(invalid_target(import.to.span).into()),
        }
    }
    let key_at = |names: usize| {
        keys.iter().find(|it| it.0 == names).map(|it| it.1.clone()).unwrap_or_default()
    };
    let module = block
        .module
        .0
        .iter()
        .enumerate()
        .map(|(at, name)| (name.clone(), key_at((at + 1) * 2)))
        .collect();
    let key = key_at(block.module.0.len() * 2 + 2);
    Ok(Instance { module: ModuleInstance(module), resource: block.resource, key })
}

fn key_of(key: &Expression, scope: &ValueScope<'_, '_>) -> Result<InstanceKey, Diagnostics> {
    let (value, found) = expression::evaluate(key, scope);
    if found.has_errors() {
        return Err(found);
    }
    let (plain, marks) = value.unmark_deep();
    let why = match () {
        () if marks.sensitive => "it is sensitive",
        () if marks.ephemeral => "it is ephemeral",
        () if !plain.is_known() => "it is not known until apply",
        () if plain.is_null() => "it is null",
        () => match repetition::key_of(&plain) {
            Some(key) => return Ok(key),
            None => "it is neither a string nor a whole number",
        },
    };
    Err(Diagnostic::error("Import block 'to' address contains an invalid key")
        .detail(format!("Import block contained a resource address using an index which can't be used: {why}. Use a literal, or something known while planning."))
        .at(key.span)
        .into())
}

fn invalid_target(span: Span) -> Diagnostic {
    Diagnostic::error("Invalid import address expression")
        .detail("The \"to\" argument must be the address of a resource instance, such as null_resource.a or module.m.null_resource.b[\"key\"].")
        .at(span)
}

fn id_of(import: &Import, scope: &ValueScope<'_, '_>) -> Result<Option<Wish>, Diagnostics> {
    let Some(id) = &import.id else {
        return Err(Diagnostic::error("Unable to determine identity schema for import identity")
            .detail("No embedded provider has resource identities. Import by \"id\".")
            .at(import.declared)
            .into());
    };
    let (value, found) = expression::evaluate(id, scope);
    if found.has_errors() {
        return Err(found);
    }
    let (plain, marks) = value.unmark_deep();
    let invalid = |why: &str| {
        Diagnostics::from(
            Diagnostic::error("Invalid import id argument")
                .detail(format!("The import ID value is unsuitable: {why}."))
                .at(id.span),
        )
    };
    if marks.sensitive || marks.ephemeral {
        return Err(invalid("it must not be sensitive or ephemeral"));
    }
    if plain.is_null() {
        return Err(invalid("it cannot be null"));
    }
    if !plain.is_known() {
        return Err(invalid("it depends on values that cannot be determined until apply"));
    }
    let text = convert(&plain, Type::STRING).map_err(|it| {
        Diagnostic::error("Incorrect value type")
            .detail(format!("Invalid expression value: {it}."))
            .at(id.span)
    })?;
    // An empty id means no import at all.
    Ok(text
        .as_str()
        .filter(|it| !it.is_empty())
        .map(|it| Wish { id: it.to_owned(), place: id.span }))
}

fn collect(values: &Values<'_>, block: &ConfigResource) -> BTreeMap<Instance, Wish> {
    let mut wishes = BTreeMap::new();
    let imports =
        values.config.root().imports.iter().filter(|it| it.target().as_ref() == Some(block));
    for import in imports {
        for scope in scopes(values, import) {
            match resolve(import, &scope).and_then(|address| Ok((address, id_of(import, &scope)?)))
            {
                Ok((address, Some(wish))) => {
                    let place = wish.place;
                    if wishes.insert(address.clone(), wish).is_some() {
                        values.report([twice(&address, place)]);
                    }
                }
                Ok((_, None)) => {}
                Err(found) => values.report(found),
            }
        }
    }
    wishes
}

fn twice(address: &Instance, span: Span) -> Diagnostic {
    Diagnostic::error(format!("Duplicate import configuration for \"{address}\""))
        .detail("An import block for this resource instance stands elsewhere already. An instance can adopt one object only.")
        .at(span)
}

/// One scope per repetition of an import block.
fn scopes<'v, 'a>(values: &'v Values<'a>, import: &Import) -> Vec<ValueScope<'v, 'a>> {
    let Some(for_each) = &import.for_each else { return vec![values.scope(Structure::ROOT)] };
    let (value, found) = expression::evaluate(for_each, &values.scope(Structure::ROOT));
    let failed = found.has_errors();
    values.report(found);
    if failed {
        return Vec::new();
    }
    if let Value::Tuple(it) = value.bare() {
        let each = it.items.iter().enumerate();
        return each
            .map(|(at, item)| {
                values
                    .scope(Structure::ROOT)
                    .with_each(InstanceKey::Int(at as i64), Some(item.clone()))
            })
            .collect();
    }
    match repetition::for_each(&value, "for_each") {
        Keys::Known(keys) => keys
            .into_iter()
            .map(|(key, value)| values.scope(Structure::ROOT).with_each(key, value))
            .collect(),
        Keys::Unknown => {
            values.report([Diagnostic::error("Invalid for_each argument")
                .detail("The \"for_each\" of an import block must be known while planning.")
                .at(for_each.span)]);
            Vec::new()
        }
        Keys::Invalid(problem) => {
            values.report([problem.at(for_each.span)]);
            Vec::new()
        }
    }
}

impl Observer<'_> {
    /// Returns what an instance that has no object is to adopt.
    pub fn wish(&self, address: &Instance) -> Option<Wish> {
        let block = address.config();
        let cell = self.imports.wishes.get(&block)?;
        cell.get_or_init(|| collect(&self.values, &block)).get(address).cloned()
    }

    /// Adopts an existing object. `None` where that failed; the problem has been reported.
    pub async fn import(&self, subject: &Subject<'_>, wish: &Wish) -> Option<Prior> {
        let kind = &*subject.block.name.kind;
        self.events.0.event(Event::ImportStart {
            address: subject.address.clone(),
            id: wish.id.clone(),
            applying: false,
        });
        let found = subject.provider.import(kind, &wish.id).await;
        self.report_provider(&subject.address, Some(subject.block), &found.diagnostics);
        if found.failed() {
            return None;
        }
        let [object] = &found.value[..] else {
            self.values.report([problems::not_one_object(
                &subject.address,
                found.value.len(),
                wish.place,
            )]);
            return None;
        };
        let read = subject
            .provider
            .read(kind, &object.value, &object.private, object.identity.as_ref())
            .await;
        self.report_provider(&subject.address, Some(subject.block), &read.diagnostics);
        let read = read.value.filter(|_| !self.failed(&read.diagnostics))?;
        if read.value.is_null() {
            self.values.report([problems::nothing_to_import(
                &subject.address,
                &wish.id,
                wish.place,
            )]);
            return None;
        }
        let value = schema::mark_sensitive(&read.value, &subject.schema.block);
        Some(Prior {
            previous: Value::Null(subject.schema.block.ty()),
            value,
            private: read.private,
            tainted: false,
            imported: Some(wish.id.clone()),
            identity: read.identity,
        })
    }
}
