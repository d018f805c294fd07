//! What `import` blocks name: which object is to be taken in, and under which name the provider knows it.

use std::collections::BTreeMap;

use super::super::object::ObjectContext;
use super::super::values::{ValueScope, Values};
use crate::address::{ConfigResource, Instance, InstanceKey, ModuleInstance};
use crate::config::Import;
use crate::config::expansion::{self, Keys};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::expression;
use crate::lower::structure::ModuleId;
use crate::provider::ImportName;
use crate::syntax::{Expression, Step};
use crate::value::convert::convert;
use crate::value::{Str, Type, Value};
use crate::world::PRODUCT;

/// What an instance is to adopt.
#[derive(Clone, Debug)]
pub struct ImportTarget {
    /// What names the object. An identity is not of the announced type yet.
    pub name: ImportName,
    /// The place of the name.
    pub place: Span,
    /// The place of the block's header.
    pub declared: Span,
}

/// The instance that `to` means, its keys evaluated.
///
/// - `declaring`: the module instance that the import is in.
fn resolve(
    import: &Import,
    declaring: &ModuleInstance,
    scope: &ValueScope<'_, '_>,
) -> Result<Instance, Diagnostics> {
    let block = import.target().ok_or_else(|| invalid_target(import.to.span))?;
    let Some((_, steps)) = import.to.as_traversal() else {
        return Err(invalid_target(import.to.span).into());
    };
    let mut keys = Vec::new();
    let mut after_name = 1;
    for step in steps {
        match step {
            Step::Attribute(_) => after_name += 1,
            Step::Index(it) => keys.push((after_name, key_of(&it.key, scope)?)),
            Step::LegacyIndex(it) => keys.push((after_name, InstanceKey::Int(it.index as i64))),
            Step::Splat(_) => return Err(invalid_target(import.to.span).into()),
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
    let module = ModuleInstance(module).within(declaring);
    Ok(Instance { module, resource: block.resource, key })
}

fn key_of(key: &Expression, scope: &ValueScope<'_, '_>) -> Result<InstanceKey, Diagnostics> {
    let (value, found) = expression::evaluate(key, scope);
    if found.has_errors() {
        return Err(found);
    }
    let value = value.to_marked();
    let (plain, marks) = value.look();
    let why = match () {
        () if !plain.is_known() => {
            "that is only known after apply: only what is known while planning can be an index"
        }
        () if plain.is_null() => "which is null",
        () if marks.sensitive => "which is sensitive",
        () if marks.ephemeral => "which is ephemeral",
        () => match expansion::key_of(plain) {
            Some(key) => return Ok(key),
            None => "which is not valid for a resource instance (not a string or a number)",
        },
    };
    Err(Diagnostic::error("Import block 'to' address contains an invalid key")
        .detail(format!("Import block contained a resource address using an index {why}."))
        .at(key.span)
        .into())
}

fn invalid_target(span: Span) -> Diagnostic {
    Diagnostic::error("Invalid import address expression")
        .detail("The \"to\" argument must be the address of a resource instance, such as null_resource.a or module.m.null_resource.b[\"key\"].")
        .at(span)
}

/// Evaluates what names an object: the id as text, or the identity. Unknown where it is not decided yet.
fn written_name(
    import: &Import,
    scope: &ValueScope<'_, '_>,
) -> Result<(&'static str, Value, Span), Diagnostics> {
    let (word, expression) = match (&import.id, &import.identity) {
        (Some(id), _) => ("id", id),
        (None, Some(identity)) => ("identity", identity),
        (None, None) => {
            return Err(invalid_name("id", "The import id cannot be null.", import.declared).into());
        }
    };
    let (value, found) = expression::evaluate(expression, scope);
    if found.has_errors() {
        return Err(found);
    }
    let value = value.to_marked();
    let (plain, marks) = value.look();
    let plain = match word {
        "id" => convert(plain, Type::STRING)
            .map_err(|it| wrong_type(&it.to_string(), expression.span))?,
        _ => plain.clone().into(),
    };
    let why = match () {
        () if plain.is_null() => "null",
        () if !plain.is_wholly_known() => return Ok((word, plain, expression.span)),
        () if marks.sensitive => "sensitive",
        () if marks.ephemeral => "ephemeral",
        () => return Ok((word, plain, expression.span)),
    };
    Err(invalid_name(word, &format!("The import {word} cannot be {why}."), expression.span).into())
}

fn wrong_type(why: &str, span: Span) -> Diagnostic {
    Diagnostic::error("Incorrect value type")
        .detail(format!("Invalid expression value: {why}."))
        .at(span)
}

fn invalid_name(word: &str, why: &str, span: Span) -> Diagnostic {
    Diagnostic::error(format!("Invalid import {word} argument")).detail(why).at(span)
}

fn target_of(
    import: &Import,
    scope: &ValueScope<'_, '_>,
) -> Result<Option<ImportTarget>, Diagnostics> {
    let (word, value, place) = written_name(import, scope)?;
    if !value.is_wholly_known() {
        return Err(invalid_name(word, &format!("The import block {word:?} argument depends on resource attributes that cannot be determined until apply, so {PRODUCT} cannot plan to import this resource."), place).into());
    }
    let name = match value.as_str() {
        // An empty id means no import at all.
        Some("") if word == "id" => return Ok(None),
        Some(id) if word == "id" => ImportName::Id(id.to_owned()),
        _ => ImportName::Identity(value),
    };
    Ok(Some(ImportTarget { name, place, declared: import.declared }))
}

/// Brings what names an object into the form that its provider takes.
pub(super) fn conforming(
    subject: &ObjectContext<'_>,
    target: &ImportTarget,
) -> Result<ImportName, Diagnostic> {
    let ImportName::Identity(written) = &target.name else { return Ok(target.name.clone()) };
    let Some(known) = &subject.schema.identity else {
        return Err(Diagnostic::error("Unable to determine identity schema for import identity")
            .detail(format!("The provider of {} does not describe identities for resources of this type, so the object to import cannot be named by \"identity\". Name it by \"id\".", subject.address))
            .at(target.place));
    };
    let entries = written.entries();
    let is_given = |name: &Str| entries.iter().any(|it| it.0 == *name && !it.1.is_null());
    let mut required = known.attributes.iter().filter(|it| it.1.required).map(|it| it.0);
    if let Some(missing) = required.find(|it| !is_given(it)) {
        return Err(wrong_type(&format!("attribute {missing:?} is required"), target.place));
    }
    let attributes = known.ty.attributes();
    if let Some((odd, _)) =
        entries.iter().find(|it| !attributes.iter().any(|known| known.0 == it.0))
    {
        return Err(wrong_type(&format!("unexpected attribute {odd:?}"), target.place));
    }
    let whole = attributes.iter().map(|(name, ty, _)| {
        let given = entries.iter().find(|it| it.0 == *name).map(|it| it.1.clone());
        (name.clone(), given.unwrap_or(Value::Null(*ty)))
    });
    let whole = convert(&Value::object(whole), known.ty);
    whole.map(ImportName::Identity).map_err(|it| wrong_type(&it.to_string(), target.place))
}

/// Returns what is wrong with import ids whatever becomes of that which is not decided yet.
pub fn invalid_ids(values: &Values<'_>) -> Diagnostics {
    let mut problems = Diagnostics::new();
    let modules = (0..).map(ModuleId).zip(&values.structure.modules);
    let imports = modules.flat_map(|(id, it)| it.config.imports.iter().map(move |it| (id, it)));
    for (module, import) in imports {
        let scopes = match &import.for_each {
            None => vec![values.scope(module)],
            Some(for_each) => match keys_of(values, module, for_each) {
                Ok(Keys::Known(keys)) => each(values, module, keys),
                Ok(Keys::Unknown) => continue,
                Ok(Keys::Invalid(problem)) => {
                    problems.push(problem.at(for_each.span));
                    continue;
                }
                Err(found) => {
                    problems.extend(found);
                    continue;
                }
            },
        };
        for scope in scopes {
            problems.extend(written_name(import, &scope).err().into_iter().flatten());
        }
    }
    problems.once()
}

/// Evaluates the imports of a module instance for a block; `None` where that fails, which has been reported.
pub(super) fn collect(
    values: &Values<'_>,
    module: ModuleId,
    block: &ConfigResource,
) -> Option<BTreeMap<Instance, ImportTarget>> {
    let mut targets: BTreeMap<Instance, ImportTarget> = BTreeMap::new();
    let mut failed = false;
    let declaring = values.structure.module(module);
    for import in declaring.config.imports_for(&declaring.path, block) {
        let Some(scopes) = scopes(values, module, import) else {
            failed = true;
            continue;
        };
        for scope in scopes {
            match resolve(import, &declaring.address, &scope)
                .and_then(|address| Ok((address, target_of(import, &scope)?)))
            {
                Ok((address, Some(target))) => {
                    if let Some(first) = targets.get(&address) {
                        values.report([twice(values, &address, first.declared)]);
                        failed = true;
                    }
                    targets.insert(address, target);
                }
                Ok((_, None)) => {}
                Err(found) => {
                    values.report(found);
                    failed = true;
                }
            }
        }
    }
    (!failed).then_some(targets)
}

pub(super) fn twice(values: &Values<'_>, address: &Instance, first: Span) -> Diagnostic {
    let place = values.sources.range(first);
    let address = crate::value::text::shown(&address.to_string());
    Diagnostic::error(format!("Duplicate import configuration for {address}"))
        .detail(format!("An import block for the resource {address} was already declared at {place}. A resource can have only one import block."))
        .at(first)
}

/// One scope per repetition of an import block; `None` where the repetition cannot be used, which has been reported.
fn scopes<'v, 'a>(
    values: &'v Values<'a>,
    module: ModuleId,
    import: &Import,
) -> Option<Vec<ValueScope<'v, 'a>>> {
    let Some(for_each) = &import.for_each else { return Some(vec![values.scope(module)]) };
    let unusable = |problems: Diagnostics| {
        values.report(problems);
        None
    };
    match keys_of(values, module, for_each) {
        Ok(Keys::Known(keys)) => Some(each(values, module, keys)),
        Ok(Keys::Unknown) => unusable(
            Diagnostic::error("Invalid for_each argument")
                .detail("The \"for_each\" of an import block must be known while planning.")
                .at(for_each.span)
                .into(),
        ),
        Ok(Keys::Invalid(problem)) => unusable(problem.at(for_each.span).into()),
        Err(problems) => unusable(problems),
    }
}

fn each<'v, 'a>(
    values: &'v Values<'a>,
    module: ModuleId,
    keys: Vec<(InstanceKey, Option<Value>)>,
) -> Vec<ValueScope<'v, 'a>> {
    keys.into_iter().map(|(key, value)| values.scope(module).with_each(key, value)).collect()
}

/// The keys of an import's `for_each`, which may be a tuple as well.
fn keys_of(
    values: &Values<'_>,
    module: ModuleId,
    for_each: &Expression,
) -> Result<Keys, Diagnostics> {
    let (value, found) = expression::evaluate(for_each, &values.scope(module));
    if found.has_errors() {
        return Err(found);
    }
    if let (Value::Tuple(it), false) = (value.bare(), value.marks().sensitive) {
        let items = it.items.iter().enumerate();
        return Ok(Keys::Known(
            items.map(|(at, item)| (InstanceKey::Int(at as i64), Some(item.clone()))).collect(),
        ));
    }
    Ok(expansion::for_each(&value))
}
