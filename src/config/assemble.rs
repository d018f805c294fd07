//! The files of one folder become one module: names are unique, and each resource finds its provider.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::address::{Mode, Provider};
use crate::diagnostic::{Diagnostic, Diagnostics, Sort, Span};
use crate::value::Str;

use super::decode::Decoder;
use super::draft::Draft;
use super::file::File;
use super::named::{OutputBlock, VariableBlock};
use super::provider::implied_provider;
use super::{Check, Import, Local, Module, ProviderRef, Resource, overrides, problems};

mod providers;

use self::providers::{KeyedNames, held_in_a_value};

/// Puts ordinary and override files together.
pub(super) fn assemble(decoder: &mut Decoder, primary: Vec<File>, overriding: Vec<File>) -> Module {
    let mut draft = Draft::default();
    for file in primary {
        draft.add(decoder, file);
    }
    for file in overriding {
        overrides::merge(decoder, &mut draft, file);
    }
    draft.finish(decoder)
}

impl Draft {
    fn add(&mut self, decoder: &mut Decoder, file: File) {
        decoder.file = file.kind;
        for it in file.terraform.required_providers {
            self.add_required_providers(decoder, it);
        }
        self.module.required_versions.extend(file.terraform.required_versions);
        self.add_backends(decoder, file.terraform.backends, file.terraform.clouds);
        for it in file.terraform.encryptions {
            let first = self.module.encryption.as_ref().map(|it| it.declared);
            let what = "A module may have only one encryption configuration. Encryption was previously configured";
            let texts = ("Duplicate encryption configuration", what, "");
            if !complain(decoder, first, it.declared, texts) {
                self.module.encryption = Some(it);
            }
        }
        for it in file.terraform.provider_metas {
            self.add_provider_meta(decoder, it);
        }
        for it in file.providers {
            self.add_provider(decoder, it);
        }
        self.add_named(decoder, file.variables, file.locals, file.outputs);
        self.module.calls.reserve(file.calls.len());
        for it in file.calls {
            let Err(again) = self.module.calls.add(Arc::new(it)) else { continue };
            let Some(first) = self.module.calls.get_mut(&again.name.text) else { continue };
            let what = format!("A module call named {:?} was already defined", again.name.text);
            let why = "Module calls must have unique names within a module.";
            let texts = ("Duplicate module call", &*what, why);
            complain(decoder, Some(first.declared), again.declared, texts);
            *first = again;
        }
        self.module.resources.reserve(file.resources.len());
        for it in file.resources {
            self.add_resource(decoder, it);
        }
        for (check, data) in file.checks {
            self.add_check(decoder, check, data);
        }
        self.module.moved.extend(file.moved);
        self.module.removed.extend(file.removed);
        for it in file.imports {
            self.add_import(decoder, it);
        }
    }

    fn add_named(
        &mut self,
        decoder: &mut Decoder,
        variables: Vec<VariableBlock>,
        locals: Vec<Local>,
        outputs: Vec<OutputBlock>,
    ) {
        for it in variables {
            let what = format!("A variable named {:?} was already declared", it.name.text);
            let first = self.variables.get(&it.name.text).map(|it| it.declared);
            complain(
                decoder,
                first,
                it.declared,
                (
                    "Duplicate variable declaration",
                    &what,
                    "Variable names must be unique within a module.",
                ),
            );
            self.variables.insert(it.name.text.clone(), it);
        }
        for it in locals {
            let what = format!("A local value named {:?} was already defined", it.name.text);
            let first =
                self.module.locals.get(&it.name.text).map(|it| it.name.span.to(it.value.span));
            let here = it.name.span.to(it.value.span);
            complain(
                decoder,
                first,
                here,
                (
                    "Duplicate local value definition",
                    &what,
                    "Local value names must be unique within a module.",
                ),
            );
            self.module.locals.insert(it.name.text.clone(), it);
        }
        for it in outputs {
            let what = format!("An output named {:?} was already defined", it.name.text);
            let first = self.outputs.get(&it.name.text).map(|it| it.declared);
            complain(
                decoder,
                first,
                it.declared,
                (
                    "Duplicate output definition",
                    &what,
                    "Output names must be unique within a module.",
                ),
            );
            self.outputs.insert(it.name.text.clone(), it);
        }
    }

    /// Adds a check and its data source, which is one of the module's.
    fn add_check(&mut self, decoder: &mut Decoder, check: Check, data: Option<Resource>) {
        if let Some(data) = data
            && !self.add_resource(decoder, Arc::new(data))
        {
            return;
        }
        let first = self.module.checks.get(&check.name.text).map(|it| it.declared);
        let name = check.name.text.clone();
        let (summary, what) = (
            format!("Duplicate check {name:?} configuration"),
            format!("A check block named {name:?} was already declared"),
        );
        if !complain(
            decoder,
            first,
            check.declared,
            (&summary, &what, "Check blocks must be unique within each module."),
        ) {
            self.module.checks.insert(name, check);
        }
    }

    /// Adds a resource unless it is there already.
    fn add_resource(&mut self, decoder: &mut Decoder, mut resource: Arc<Resource>) -> bool {
        // There are few types, and many resources of each.
        match self.kinds.get(&resource.name.kind) {
            Some(known) => Arc::make_mut(&mut resource).name.kind = known.clone(),
            None => drop(self.kinds.insert(resource.name.kind.clone())),
        }
        let Err(again) = self.module.resources.add(resource) else { return true };
        let first = self.module.resources.get(&again.name).map(|it| it.declared);
        first.into_iter().for_each(|first| complain_twice(decoder, first, &again));
        false
    }

    fn add_import(&mut self, decoder: &mut Decoder, import: Import) {
        let Some(address) = import.fixed_target() else { return self.module.imports.push(import) };
        match self.imported.entry(address) {
            Entry::Vacant(it) => {
                it.insert(import.declared);
                self.module.imports.push(import);
            }
            Entry::Occupied(first) => {
                let name = first.key().to_string();
                let what =
                    format!("An import block for the resource {name:?} was already declared");
                let summary = format!("Duplicate import configuration for {name:?}");
                complain(
                    decoder,
                    Some(*first.get()),
                    import.declared,
                    (&summary, &what, "A resource can have only one import block."),
                );
            }
        }
    }

    fn finish(mut self, decoder: &mut Decoder) -> Module {
        self.module.variables =
            self.variables.into_iter().map(|(name, it)| (name, it.finish(decoder))).collect();
        self.module.outputs =
            self.outputs.into_iter().filter_map(|(name, it)| Some((name, it.finish()?))).collect();
        let mut module = self.module;
        module.resources.sort();
        module.calls.sort();
        module.backend = module.backend.or(self.cloud);
        let mut sources: BTreeMap<Str, Arc<Provider>> = module
            .required_providers
            .iter()
            .map(|(name, it)| (name.clone(), it.source.clone().into()))
            .collect();
        let mut source_of = |name: &str| match sources.get(name) {
            Some(known) => known.clone(),
            None => {
                let implied = Arc::new(Provider::implied(name));
                sources.insert(name.into(), implied.clone());
                implied
            }
        };
        for it in &mut module.providers {
            it.source = Provider::clone(&source_of(&it.name.text));
        }
        let mut named: Vec<&ProviderRef> =
            module.resources.values().filter_map(|it| it.besides.provider.as_deref()).collect();
        named.extend(module.calls.values().flat_map(|it| &it.besides.providers).map(|it| &it.1));
        let held: Vec<_> =
            named.into_iter().filter_map(|it| held_in_a_value(&module, it)).collect();
        held.into_iter().for_each(|it| decoder.report(it));
        let keyed = KeyedNames::of(&module);
        // There are few types, and many resources of each.
        let mut implied: FxHashMap<Str, Arc<Provider>> = FxHashMap::default();
        for it in module.resources.values_mut().map(Arc::make_mut) {
            let named = it.besides.boxed_mut().and_then(|it| it.provider.as_mut());
            named.into_iter().for_each(|it| keyed.resolve(it));
            it.provider_source = match &it.besides.provider {
                Some(named) => source_of(&named.name.text),
                None => (implied.entry(it.name.kind.clone()))
                    .or_insert_with(|| source_of(&implied_provider(&it.name.kind)))
                    .clone(),
            };
        }
        let calls = module.calls.values_mut().map(Arc::make_mut);
        for it in calls.filter_map(|it| it.besides.boxed_mut()).flat_map(|it| &mut it.providers) {
            keyed.resolve(&mut it.1);
        }
        module
            .imports
            .iter_mut()
            .filter_map(|it| it.provider.as_mut())
            .for_each(|it| keyed.resolve(it));
        module
    }
}

/// Complains of a resource that is there already.
fn complain_twice(decoder: &mut Decoder, first: Span, resource: &Resource) {
    let kind = &resource.name.kind;
    let (summary, adjective) = match resource.name.mode {
        Mode::Managed => (format!("Duplicate resource {kind:?} configuration"), "resource"),
        Mode::Data => (format!("Duplicate data {kind:?} configuration"), "data resource"),
        Mode::Ephemeral => {
            (format!("Duplicate ephemeral resource {kind:?} configuration"), "ephemeral resource")
        }
    };
    let what = format!("A {kind} {adjective} named {:?} was already declared", resource.name.name);
    let rule = match resource.besides.check {
        Some(_) => {
            "Resource names must be unique per type in each module, including within check blocks."
        }
        None => "Resource names must be unique per type in each module.",
    };
    complain(decoder, Some(first), resource.declared, (&summary, &what, rule));
}

/// Complains where something is declared already, and returns whether it is. The texts: summary, what was declared, rule.
fn complain(
    decoder: &mut Decoder,
    first: Option<Span>,
    again: Span,
    (summary, what, rule): (&str, &str, &str),
) -> bool {
    let Some(first) = first else { return false };
    let place = decoder.place(first);
    decoder.report(problems::duplicate(summary, what, rule, &place, again));
    true
}

/// Keeps only the message that the module wants another version of the program, where there is one: nothing else in it
/// need make sense to this version.
pub(super) fn keep_incompatibility(problems: Diagnostics) -> Diagnostics {
    let is_incompatible = |it: &Diagnostic| it.sort == Sort::IncompatibleModule;
    if !problems.iter().any(is_incompatible) {
        return problems;
    }
    Diagnostics(problems.into_iter().filter(is_incompatible).collect())
}
