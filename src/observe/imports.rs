//! `import` blocks: which existing object a declared instance without one is to adopt.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::generate::{Generated, generate};
use super::object::{ObjectContext, Prior};
use super::values::{ValueScope, Values};
use super::{Observer, problems};
use crate::address::{ConfigResource, Instance, InstanceKey, ModuleInstance};
use crate::config::expansion::{self, Keys};
use crate::config::{Config, Import};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::event::Event;
use crate::expression;
use crate::lower::Structure;
use crate::provider::{ImportName, ImportedObject, ReadObject};
use crate::schema;
use crate::syntax::{Expression, Step};
use crate::value::convert::convert;
use crate::value::{Str, Type, Value};

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

/// The import blocks by the block they are for; each is evaluated when the first instance of that block asks.
#[derive(Debug, Default)]
pub struct Imports {
    /// What the blocks ask for; `None` where one of them cannot be evaluated.
    targets: FxHashMap<ConfigResource, OnceLock<Option<BTreeMap<Instance, ImportTarget>>>>,
    /// Blocks written for imports that have none, with the object they were written for.
    generated: FxHashMap<ConfigResource, OnceLock<(Generated, Prior)>>,
}

impl Imports {
    /// Returns the imports of a configuration, none evaluated yet.
    pub fn of(config: &Config) -> Imports {
        let targets = || config.root().imports.iter().filter_map(Import::target);
        let is_missing =
            |it: &ConfigResource| config.resource(it).is_some_and(|block| block.generated);
        Imports {
            targets: targets().map(|it| (it, OnceLock::new())).collect(),
            generated: targets().filter(is_missing).map(|it| (it, OnceLock::new())).collect(),
        }
    }

    /// Returns the block that was written for an import, and the object that it was written for.
    pub fn generated(&self, block: &ConfigResource) -> Option<&(Generated, Prior)> {
        self.generated.get(block)?.get()
    }
}

/// The instance that `to` means, its keys evaluated.
fn resolve(import: &Import, scope: &ValueScope<'_, '_>) -> Result<Instance, Diagnostics> {
    let block = import.target().ok_or_else(|| invalid_target(import.to.span))?;
    let Some((_, steps)) = import.to.as_traversal() else {
        return Err(invalid_target(import.to.span).into());
    };
    let mut keys = Vec::new();
    let mut after_name = 1;
    for step in steps {
        match step {
            Step::Attribute(_) => after_name += 1,
            Step::Index(key, _) => keys.push((after_name, key_of(key, scope)?)),
            Step::LegacyIndex(index, _) => keys.push((after_name, InstanceKey::Int(*index as i64))),
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
    Ok(Instance { module: ModuleInstance(module), resource: block.resource, key })
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
        return Err(invalid_name(word, &format!("The import block {word:?} argument depends on resource attributes that cannot be determined until apply, so OpenTofu cannot plan to import this resource."), place).into());
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
fn conforming(
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
    for import in &values.config.root().imports {
        let scopes = match &import.for_each {
            None => vec![values.scope(Structure::ROOT)],
            Some(for_each) => match keys_of(values, for_each) {
                Ok(Keys::Known(keys)) => each(values, keys),
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

/// Evaluates the imports of a block; `None` where that fails, which has been reported.
fn collect(
    values: &Values<'_>,
    block: &ConfigResource,
) -> Option<BTreeMap<Instance, ImportTarget>> {
    let mut targets: BTreeMap<Instance, ImportTarget> = BTreeMap::new();
    let mut failed = false;
    let imports =
        values.config.root().imports.iter().filter(|it| it.target().as_ref() == Some(block));
    for import in imports {
        let Some(scopes) = scopes(values, import) else {
            failed = true;
            continue;
        };
        for scope in scopes {
            match resolve(import, &scope)
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

/// An import is for a resource that the configuration does not have.
pub fn without_block(address: impl std::fmt::Display, declared: Option<Span>) -> Diagnostic {
    let problem = Diagnostic::error("Configuration for import target does not exist").detail(format!(
        "The configuration for the given import {address} does not exist. All target instances must have an associated configuration to be imported."
    ));
    match declared {
        Some(span) => problem.at(span),
        None => problem,
    }
}

fn twice(values: &Values<'_>, address: &Instance, first: Span) -> Diagnostic {
    let place = values.sources.range(first);
    let address = crate::value::text::shown(&address.to_string());
    Diagnostic::error(format!("Duplicate import configuration for {address}"))
        .detail(format!("An import block for the resource {address} was already declared at {place}. A resource can have only one import block."))
        .at(first)
}

/// One scope per repetition of an import block; `None` where the repetition cannot be used, which has been reported.
fn scopes<'v, 'a>(values: &'v Values<'a>, import: &Import) -> Option<Vec<ValueScope<'v, 'a>>> {
    let Some(for_each) = &import.for_each else {
        return Some(vec![values.scope(Structure::ROOT)]);
    };
    let unusable = |problems: Diagnostics| {
        values.report(problems);
        None
    };
    match keys_of(values, for_each) {
        Ok(Keys::Known(keys)) => Some(each(values, keys)),
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
    keys: Vec<(InstanceKey, Option<Value>)>,
) -> Vec<ValueScope<'v, 'a>> {
    let root = || values.scope(Structure::ROOT);
    keys.into_iter().map(|(key, value)| root().with_each(key, value)).collect()
}

/// The keys of an import's `for_each`, which may be a tuple as well.
fn keys_of(values: &Values<'_>, for_each: &Expression) -> Result<Keys, Diagnostics> {
    let (value, found) = expression::evaluate(for_each, &values.scope(Structure::ROOT));
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

impl Observer<'_> {
    /// Returns what an instance that has no object is to adopt.
    ///
    /// # Errors
    ///
    /// If an import of the instance's block cannot be evaluated; that has been reported.
    pub(crate) fn import_target(&self, address: &Instance) -> Result<Option<ImportTarget>, ()> {
        Ok(self.targets(&address.config())?.and_then(|it| it.get(address).cloned()))
    }

    fn targets(
        &self,
        block: &ConfigResource,
    ) -> Result<Option<&BTreeMap<Instance, ImportTarget>>, ()> {
        let Some(cell) = self.imports.targets.get(block) else { return Ok(None) };
        cell.get_or_init(|| collect(&self.values, block)).as_ref().map(Some).ok_or(())
    }

    /// Returns the problems of imports whose instances nothing declares.
    pub fn check_imports(&self) -> Diagnostics {
        let mut problems = Diagnostics::new();
        let mut blocks: Vec<_> = self.imports.targets.iter().collect();
        blocks.sort_by_key(|it| it.0);
        let evaluated = blocks.into_iter().filter_map(|it| it.1.get()?.as_ref());
        for (address, _) in evaluated.flatten() {
            let structure = &self.values.structure;
            let known = structure.resource_ids.get(&address.of());
            if known.is_none_or(|it| !structure.resource(*it).instances.contains_key(&address.key))
            {
                problems.push(without_block(address, None));
            }
        }
        problems
    }

    /// Evaluates the imports of blocks that have no instance to ask for them.
    pub fn resolve_imports(&self, takes_part: impl Fn(&ConfigResource) -> bool) {
        for block in self.imports.targets.keys().filter(|it| takes_part(it)) {
            // What cannot be evaluated has been reported.
            let _ = self.targets(block);
        }
    }

    /// Writes the block of an import that has none; `None` where that failed, which has been reported.
    pub fn generate(&self, subject: &ObjectContext<'_>, object: &Prior) -> Option<&Generated> {
        let cell = self.imports.generated.get(&subject.address.config())?;
        let name = self.request.generate_config_out.as_deref().and_then(|it| it.file_name());
        let name = name.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        let written = generate(
            subject.block,
            &subject.schema.block,
            &object.value,
            &name,
            self.values.sources,
        );
        match written {
            Ok(generated) => Some(&cell.get_or_init(|| (generated, object.clone())).0),
            Err(problems) => {
                self.values.report(problems);
                None
            }
        }
    }

    /// Adopts an existing object. `None` where that failed; the problem has been reported.
    pub async fn import(
        &self,
        subject: &ObjectContext<'_>,
        target: &ImportTarget,
    ) -> Option<Prior> {
        let name = match conforming(subject, target) {
            Ok(name) => name,
            Err(problem) => {
                self.values.report([problem]);
                return None;
            }
        };
        let address = subject.address.clone();
        self.events.0.event(Event::ImportStart { address, name: name.clone(), applying: false });
        let object = self.find(subject, &name, Some(target.place)).await?;
        let read = self.read_found(subject, &object, &name, Some(target.place)).await?;
        let value = schema::mark_sensitive(&read.value, &subject.schema.block);
        Some(Prior {
            previous: Value::Null(subject.schema.block.ty()),
            value,
            private: read.private,
            tainted: false,
            imported: Some(name),
            identity: read.identity,
            previous_identity: None,
        })
    }

    /// Returns the import id for which the command `import` wants an object at an address.
    pub fn adopts(&self, address: &Instance) -> Option<&str> {
        self.request.adopts.as_ref().filter(|it| it.0 == *address).map(|it| it.1.as_str())
    }

    /// Adopts the object that `import` asks for. `None` where that failed; the problem has been reported.
    pub async fn adopt(&self, subject: &ObjectContext<'_>) -> Option<Prior> {
        let id = self.adopts(&subject.address)?;
        let address = subject.address.clone();
        self.events.0.event(Event::AdoptionStart { address: address.clone(), id: id.to_owned() });
        let name = ImportName::Id(id.to_owned());
        let object = self.find(subject, &name, None).await?;
        let kind = object.kind.clone();
        self.events.0.event(Event::AdoptionPrepared { address: address.clone(), kind });
        if self.state.instance(&address).is_some() {
            self.values.report([problems::already_managed(&address)]);
            return None;
        }
        let read = self.read_found(subject, &object, &name, None).await?;
        // The block may be incomplete: all that counts here is what it makes sensitive.
        let scope = self.instance_scope(subject.module, subject.resource, &subject.key);
        let (config, _) =
            expression::body::decode_body(&subject.block.body, &subject.schema.block, &scope, &[]);
        let marks = config.mark_paths();
        Some(Prior {
            previous: Value::Null(subject.schema.block.ty()),
            value: schema::mark_object(&read.value, &marks, &subject.schema.block),
            private: read.private,
            tainted: false,
            imported: Some(name),
            identity: read.identity,
            previous_identity: None,
        })
    }

    /// Asks the provider for the one object of a name.
    async fn find(
        &self,
        subject: &ObjectContext<'_>,
        name: &ImportName,
        place: Option<Span>,
    ) -> Option<ImportedObject> {
        let found = subject.provider.import(&subject.block.name.kind, name).await;
        self.report_provider(&subject.address, Some(subject.block), &found.diagnostics);
        if found.failed() {
            return None;
        }
        match <[ImportedObject; 1]>::try_from(found.value) {
            Ok([object]) => Some(object),
            Err(objects) => {
                let count = objects.len();
                self.values.report([problems::not_one_object(
                    &subject.address,
                    name,
                    count,
                    place,
                )]);
                None
            }
        }
    }

    /// Reads an object that was found by its import id: what is adopted must exist.
    async fn read_found(
        &self,
        subject: &ObjectContext<'_>,
        object: &ImportedObject,
        name: &ImportName,
        place: Option<Span>,
    ) -> Option<ReadObject> {
        let kind = &*subject.block.name.kind;
        self.events.refresh_started(&subject.address, None, &object.value);
        let read = subject
            .provider
            .read(kind, &object.value, &object.private, object.identity.as_ref())
            .await;
        self.report_provider(&subject.address, Some(subject.block), &read.diagnostics);
        let read = read.value.filter(|_| !self.failed(&read.diagnostics))?;
        if read.value.is_null() {
            self.values.report([problems::nothing_to_import(&subject.address, name, place)]);
            return None;
        }
        self.events.refresh_finished(&subject.address, None, &read.value);
        Some(read)
    }
}
