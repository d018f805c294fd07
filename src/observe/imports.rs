//! `import` blocks: which existing object a declared instance without one is to adopt.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::generate::{Generated, generate};
use super::object::{Besides, ObjectContext, Prior};
use super::{Observer, problems};
use crate::address::{ConfigResource, Instance, Mode, ModuleInstance};
use crate::config::{Config, ImportTargets};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::event::Event;
use crate::expression;
use crate::lower::structure::ModuleId;
use crate::provider::{ImportName, ImportedObject, ReadObject};
use crate::rarely::Rarely;
use crate::schema;
use crate::value::Value;

mod targets;

pub use self::targets::{ImportTarget, invalid_ids};
use self::targets::{collect, conforming};

/// What the imports of one module instance ask for a block; nothing where one of them cannot be evaluated.
type Targets = OnceLock<Option<BTreeMap<Instance, ImportTarget>>>;

/// The import blocks by the block they are for; those of a module instance are evaluated when the first instance of that block asks.
#[derive(Debug, Default)]
pub struct Imports {
    /// The blocks that imports are for.
    blocks: ImportTargets,
    /// What the imports of module instances ask for blocks.
    targets: Mutex<FxHashMap<(ModuleInstance, ConfigResource), Arc<Targets>>>,
    /// Blocks written for imports that have none, with the object they were written for.
    generated: FxHashMap<ConfigResource, OnceLock<(Generated, Prior)>>,
}

impl Imports {
    /// Returns the imports of a configuration, none evaluated yet.
    pub fn of(config: &Config) -> Imports {
        let blocks = config.import_targets();
        let is_missing =
            |it: &&ConfigResource| config.resource(it).is_some_and(|block| block.besides.generated);
        let missing = blocks.keys().filter(is_missing);
        let generated = missing.map(|it| (it.clone(), OnceLock::new())).collect();
        Imports { blocks, targets: Mutex::default(), generated }
    }

    /// Returns the block that was written for an import, and the object that it was written for.
    ///
    /// - `block`: made when there is any such block.
    pub fn generated(&self, block: impl FnOnce() -> ConfigResource) -> Option<&(Generated, Prior)> {
        if self.generated.is_empty() {
            return None;
        }
        self.generated.get(&block())?.get()
    }
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

impl Observer<'_> {
    /// Returns what an instance that has no object is to adopt.
    ///
    /// # Errors
    ///
    /// If an import of the instance's block cannot be evaluated, or two are for the instance; that has been reported.
    pub(crate) fn import_target(&self, address: &Instance) -> Result<Option<ImportTarget>, ()> {
        if self.imports.blocks.is_empty() {
            return Ok(None);
        }
        let block = address.config();
        let mut found: Option<ImportTarget> = None;
        for depth in self.imports.blocks.get(&block).into_iter().flatten() {
            let declaring = ModuleInstance(address.module.0[..*depth].into());
            let Some(module) = self.values.structure.module_id(&declaring) else { continue };
            let targets = self.targets(module, &block);
            let Some(target) = targets.get().and_then(|it| it.as_ref()).ok_or(())?.get(address)
            else {
                continue;
            };
            if let Some(first) = &found {
                self.values.report([targets::twice(&self.values, address, first.declared)]);
                return Err(());
            }
            found = Some(target.clone());
        }
        Ok(found)
    }

    /// Returns what the imports of a module instance ask for a block, evaluated.
    fn targets(&self, module: ModuleId, block: &ConfigResource) -> Arc<Targets> {
        let declaring = self.values.structure.module(module).address.clone();
        let cell =
            self.imports.targets.lock().entry((declaring, block.clone())).or_default().clone();
        cell.get_or_init(|| collect(&self.values, module, block));
        cell
    }

    /// Returns the problems of imports whose instances nothing declares.
    pub fn check_imports(&self) -> Diagnostics {
        let mut problems = Diagnostics::new();
        // Nothing but a managed resource can adopt anything.
        problems.extend(self.values.config.imports().filter_map(|(path, import)| {
            let named = import.named().filter(|it| it.resource.mode != Mode::Managed)?;
            let named = ConfigResource { module: named.module.within(path), ..named };
            Some(without_block(named, Some(import.declared)))
        }));
        let targets = self.imports.targets.lock();
        let evaluated = targets.values().filter_map(|it| it.get()?.as_ref());
        let addresses: BTreeSet<&Instance> = evaluated.flat_map(|it| it.keys()).collect();
        for address in addresses {
            let structure = &self.values.structure;
            let known = structure.resource_id(&address.of());
            if known.is_none_or(|it| !structure.resource(it).instances.contains_key(&address.key)) {
                problems.push(without_block(address, None));
            }
        }
        problems
    }

    /// Evaluates the imports of blocks that have no instance to ask for them.
    pub fn resolve_imports(&self, takes_part: impl Fn(&ConfigResource) -> bool) {
        let structure = &self.values.structure;
        let mut blocks: Vec<_> = self.imports.blocks.iter().filter(|it| takes_part(it.0)).collect();
        blocks.sort_by_key(|it| it.0);
        for (block, depths) in blocks {
            for depth in depths {
                let path = &block.module.0[..*depth];
                // What cannot be evaluated has been reported.
                structure.instances_of(path).for_each(|it| drop(self.targets(it, block)));
            }
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
        let besides = Besides {
            private: read.private.into(),
            imported: Some(Box::new(name)),
            identity: read.identity,
            ..Besides::default()
        };
        Some(Prior {
            previous: Value::Null(subject.schema.block.ty()),
            value,
            besides: Rarely::of(besides),
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
        let besides = Besides {
            private: read.private.into(),
            imported: Some(Box::new(name)),
            identity: read.identity,
            ..Besides::default()
        };
        Some(Prior {
            previous: Value::Null(subject.schema.block.ty()),
            value: schema::mark_object(&read.value, &marks, &subject.schema.block),
            besides: Rarely::of(besides),
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
