//! Whether provider configurations are named as they should be, and module calls pass those that modules expect.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::address::{DEFAULT_HOST, Module as ModuleAddr, Provider};
use crate::diagnostic::{Diagnostics, Span};
use crate::value::Str;
use crate::world::PRODUCT;

use super::super::provider::{implied_provider, local_name};
use super::super::{Config, Module, ModuleCall, ProviderRef, Variant};
use super::{module_text, problems};

/// Checks how providers are named and passed through the whole configuration.
pub fn check(config: &Config) -> Diagnostics {
    let mut problems = Diagnostics::new();
    let passed: BTreeSet<Variant> = config.passing_calls().map(|it| it.2.0).collect();
    let mut quiet = Silence::default();
    for (variant, module) in config.all_variants() {
        if quiet.holds(module) && !passed.contains(&variant) {
            continue;
        }
        let view = View::of(config, &variant, module);
        view.check_names(&mut problems);
        view.check_keys(&mut problems);
        view.check_calls(&mut problems);
        if let Some((parent, call)) = &view.caller {
            view.check_configured(config, &parent.path, call, &mut problems);
            view.check_passed(config, parent, call, &mut problems);
            view.suggest_requirements(&mut problems);
        }
    }
    problems
}

/// Whether a module says nothing of providers; many calls in a row lead to the same one.
#[derive(Default)]
struct Silence(Option<(Arc<Module>, bool)>);

impl Silence {
    fn holds(&mut self, module: &Arc<Module>) -> bool {
        if let Some((last, is_quiet)) = &self.0
            && Arc::ptr_eq(last, module)
        {
            return *is_quiet;
        }
        let is_quiet = module.providers.is_empty()
            && module.required_providers.is_empty()
            && module.calls.values().all(|it| it.besides.providers.is_empty())
            && module.resources.values().all(|it| it.besides.provider.is_none());
        self.0 = Some((module.clone(), is_quiet));
        is_quiet
    }
}

/// One module as its providers see it.
struct View<'a> {
    address: &'a ModuleAddr,
    module: &'a Module,
    caller: Option<(Variant, &'a ModuleCall)>,
    /// Names with a `provider` block that says something.
    configured: BTreeMap<String, Span>,
    /// Names with an empty `provider` block.
    empty: BTreeMap<String, Span>,
    /// Names whose block has `for_each`.
    instanced: BTreeSet<String>,
}

impl<'a> View<'a> {
    fn of(config: &'a Config, variant: &'a Variant, module: &'a Module) -> View<'a> {
        let address = &variant.path;
        let caller = config.caller(variant).and_then(|(caller, name)| {
            let call = config.variant(&caller)?.calls.get(&name)?;
            Some((caller, &**call))
        });
        let (mut configured, mut empty, mut instanced) =
            (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        for block in &module.providers {
            let has_members = block
                .body
                .json
                .as_ref()
                .is_some_and(|it| it.members.iter().any(|it| &*it.0.text != "//"));
            let says = !block.body.attributes.is_empty()
                || !block.body.blocks.is_empty()
                || has_members
                || block.version.is_some();
            if says { &mut configured } else { &mut empty }
                .insert(block.local_name(), block.declared);
            if block.repetition.expression().is_some() {
                instanced.insert(block.local_name());
            }
        }
        View { address, module, caller, configured, empty, instanced }
    }

    /// One provider under two names.
    fn check_names(&self, problems: &mut Diagnostics) {
        let required = &self.module.required_providers;
        let mut seen: BTreeMap<&Provider, &Str> = BTreeMap::new();
        for entry in required.values() {
            let name = &entry.name.text;
            let implied = &entry.source.kind;
            let detail = if let Some(first) = seen.get(&entry.source) {
                format!(
                    "Provider {} with the local name {name:?} was previously required as {first:?}. A provider can only be required once within required_providers.",
                    display(&entry.source)
                )
            } else if Provider::implied(implied) == entry.source
                && name != implied
                && self.module.providers.iter().any(|it| it.name.text == *implied)
            {
                format!(
                    "Provider {} with the local name {name:?} was implicitly required via a configuration block as {implied:?}. The provider configuration block name must match the name used in required_providers.",
                    display(&entry.source)
                )
            } else {
                seen.insert(&entry.source, name);
                continue;
            };
            seen.insert(&entry.source, name);
            problems.push(problems::provider_warning(
                "Duplicate required provider",
                detail,
                entry.name.span,
            ));
        }
        // Without requirements, no provider has two names.
        let resources = (!required.is_empty()).then(|| self.module.resources.values());
        let resources = resources.into_iter().flatten().filter(|it| it.besides.provider.is_none());
        let mut by_kind: BTreeMap<&Str, (Provider, Vec<&Str>)> = BTreeMap::new();
        for resource in resources {
            let (implied, others) = by_kind.entry(&resource.name.kind).or_insert_with_key(|kind| {
                let local = implied_provider(kind);
                let implied = Provider::implied(&local);
                let of_source = required.values().filter(|it| it.source == implied);
                let others = of_source.map(|it| &it.name.text);
                let others =
                    if required.contains_key(&local) { Vec::new() } else { others.collect() };
                (implied, others)
            });
            for other in others {
                let detail = format!(
                    "Provider \"{implied}\" was implicitly required via resource \"{}\", but listed in required_providers as {other:?}. Either the local name in required_providers must match the resource name, or the {other:?} provider must be assigned within the resource block.",
                    resource.name
                );
                problems.push(problems::provider_warning(
                    "Duplicate required provider",
                    detail,
                    resource.declared,
                ));
            }
        }
    }

    /// Keys stand where, and only where, a configuration repeats.
    fn check_keys(&self, problems: &mut Diagnostics) {
        for (child, own) in self.module.calls.values().flat_map(|it| &it.besides.providers) {
            if let Some(key) = &child.key {
                let detail = "Instance keys are not allowed on the left side of a provider configuration assignment.".to_owned();
                problems.push(problems::provider_problem(
                    "Invalid module provider configuration",
                    detail,
                    key.span,
                ));
            }
            self.check_key("module", own, problems);
        }
        for own in self.module.resources.values().filter_map(|it| it.besides.provider.as_ref()) {
            self.check_key("resource", own, problems);
        }
    }

    fn check_key(&self, kind: &str, reference: &ProviderRef, problems: &mut Diagnostics) {
        let name = reference.local_name();
        let repeats = self.instanced.contains(&name);
        let is_written = self.configured.contains_key(&name) || self.empty.contains_key(&name);
        if reference.key.is_some()
            && !is_written
            && reference.alias.as_ref().is_some_and(|it| it.text.is_empty())
        {
            let name = &reference.name.text;
            let detail = format!(
                "Provider assignment requires an alias when specifying an instance key, in the form of provider.name[instance_key], unless this module has a provider {name:?} block that repeats without an alias."
            );
            problems.push(problems::provider_problem(
                "Invalid provider configuration reference",
                detail,
                reference.span,
            ));
            return;
        }
        let (detail, at) = match (&reference.key, repeats) {
            (Some(_), false) if !is_written => {
                let alias = reference.alias.as_ref().map_or("", |it| &it.text);
                (format!("This module doesn't declare a provider {:?} block with alias = {alias:?}, which is required for use with for_each.", reference.name.text), reference.name.span)
            }
            (Some(key), false) => ("An instance key can be specified only for a provider configuration that uses for_each.".to_owned(), key.span),
            (None, true) => (
                "A reference to a provider configuration which uses for_each requires an instance key. Passing a collection of provider instances into a child module is not allowed.".to_owned(),
                reference.name.span,
            ),
            _ => return,
        };
        problems.push(problems::provider_problem(
            &format!("Invalid {kind} provider configuration"),
            detail,
            at,
        ));
    }

    /// What calls pass must be known here by that name.
    fn check_calls(&self, problems: &mut Diagnostics) {
        let parent_text = self
            .address
            .parent()
            .map_or_else(|| module_text(self.address), |it| module_text(&it.0));
        for (_, own) in self
            .module
            .calls
            .values()
            .flat_map(|it| &it.besides.providers)
            .filter(|it| it.1.alias.is_none())
        {
            let name = own.local_name();
            let is_configured = self.configured.contains_key(&name);
            let implied = format!("hashicorp/{name}");
            if !is_configured && !self.module.required_providers.contains_key(&*name) {
                let module = module_text(self.address);
                let detail = format!(
                    "There is no explicit declaration for local provider name {name:?} in {module}, so {PRODUCT} is assuming you mean to pass a configuration for provider {implied:?}.\n\nTo clarify your intent and silence this warning, add to {parent_text} a required_providers entry named {name:?} with source = {implied:?}, or a different source address if appropriate."
                );
                problems.push(problems::provider_warning(
                    "Reference to undefined provider",
                    detail,
                    own.name.span,
                ));
                continue;
            }
            if let Some((_, call)) = &self.caller
                && !is_configured
                && passed_as(call, &name).is_none()
            {
                let detail = format!(
                    "The configuration for {} expects to inherit a configuration for provider {implied} with local name {name:?}, but {parent_text} doesn't pass a configuration under that name.\n\nTo satisfy this requirement, add an entry for {name:?} to the \"providers\" argument in the module {:?} block.",
                    module_text(self.address),
                    call.name.text
                );
                problems.push(problems::provider_warning(
                    "Missing required provider configuration",
                    detail,
                    call.declared,
                ));
            }
        }
    }

    /// A module with configurations of its own cannot repeat, and takes none for the same names; aliases it declares must be given.
    fn check_configured(
        &self,
        config: &Config,
        parent: &ModuleAddr,
        call: &ModuleCall,
        problems: &mut Diagnostics,
    ) {
        if let (false, Some(at)) =
            (self.configured.is_empty(), repeating_call(config, self.address))
        {
            let source =
                call.source.as_ref().and_then(|it| it.as_static_string()).map_or("", |it| it);
            let detail = format!(
                "The module at {} is a legacy module which contains its own local provider configurations, and so calls to it may not use the count, for_each, enabled or depends_on arguments.\n\nIf you also control the module {source:?}, consider updating this module to instead expect provider configurations to be passed by its caller.",
                self.address
            );
            problems.push(problems::provider_problem(
                "Module is incompatible with count, for_each, enabled and depends_on",
                detail,
                at,
            ));
        }
        for name in self.configured.keys() {
            if let Some((child, _)) = passed_as(call, name) {
                let detail = format!(
                    "The configuration of {} has its own local configuration for {name}, and so it cannot accept an overridden configuration provided by {}.",
                    module_text(self.address),
                    module_text(parent)
                );
                problems.push(problems::provider_problem(
                    "Cannot override provider configuration",
                    detail,
                    child.name.span,
                ));
            }
        }
        for entry in self.module.required_providers.values() {
            for (local, alias, _) in &entry.configuration_aliases {
                let name = local_name(local, Some(alias));
                if !self.configured.contains_key(&name) && passed_as(call, &name).is_none() {
                    let detail = format!(
                        "The child module requires an additional configuration for provider {}, with the local name {name:?}.\n\nAdd an entry for {name} in the \"providers\" meta-argument in the module block to choose which provider configuration the module should use for that purpose.",
                        display(&entry.source)
                    );
                    problems.push(problems::provider_problem(
                        "Missing required provider configuration",
                        detail,
                        call.declared,
                    ));
                }
            }
        }
    }

    /// What a call passes must be wanted, and of the right type.
    fn check_passed(
        &self,
        config: &Config,
        caller: &Variant,
        call: &ModuleCall,
        problems: &mut Diagnostics,
    ) {
        let Some(calling) = config.variant(caller) else { return };
        let parent = &caller.path;
        let required = &self.module.required_providers;
        let is_alias = |name: &str| {
            required
                .values()
                .flat_map(|it| &it.configuration_aliases)
                .any(|it| local_name(&it.0, Some(&it.1)) == name)
        };
        for (child, own) in &call.besides.providers {
            let name = child.local_name();
            let provider = passed_type(self.module, &child.name.text);
            let shown = display(&provider);
            let is_known =
                required.contains_key(&*name) || is_alias(&name) || self.empty.contains_key(&name);
            if !is_known {
                let module = module_text(self.address);
                if &*provider.namespace == "hashicorp" {
                    let detail = format!(
                        "There is no explicit declaration for local provider name {name:?} in {module}, so {PRODUCT} is assuming you mean to pass a configuration for {shown:?}.\n\nIf you also control the child module, add a required_providers entry named {name:?} with the source address {shown:?}."
                    );
                    problems.push(problems::provider_warning(
                        "Reference to undefined provider",
                        detail,
                        child.name.span,
                    ));
                } else {
                    let detail = format!(
                        "The child module does not declare any provider requirement with the local name {name:?}.\n\nIf you also control the child module, you can add a required_providers entry named {name:?} with the source address {shown:?} to accept this provider configuration."
                    );
                    problems.push(problems::provider_problem(
                        "Reference to undefined provider",
                        detail,
                        child.name.span,
                    ));
                }
            }
            if own.key.is_some() && !knows(calling, &own.name.text) {
                // That there is no such configuration is told already.
                continue;
            }
            let given_type = passed_type(calling, &own.name.text);
            if given_type != provider {
                let given = display(&given_type);
                let (here, there) = (module_text(parent), module_text(self.address));
                let (own_name, child_name) = (own.local_name(), &name);
                // Another name may have been meant, which the child has for that provider.
                let meant = required.values().find(|it| it.source == given_type);
                let at = meant.map_or(own, |_| child).name.span;
                let detail = format!(
                    "The local name {own_name:?} in {here} represents provider {given:?}, but {child_name:?} in {there} represents {shown:?}.\n\nEach provider has its own distinct configuration schema and provider types, so this module's {child_name:?} can be assigned only a configuration for {shown}."
                );
                problems.push(problems::provider_problem("Provider type mismatch", detail, at));
            }
        }
    }

    /// Empty `provider` blocks of child modules say what `required_providers` says better.
    fn suggest_requirements(&self, problems: &mut Diagnostics) {
        let mut first: BTreeMap<&str, Span> = BTreeMap::new();
        for (name, at) in &self.empty {
            first.entry(name.split_once(['.', '[']).map_or(name, |it| it.0)).or_insert(*at);
        }
        for (name, at) in first {
            let detail = format!(
                "Earlier versions of OpenTofu used empty provider blocks (\"proxy provider configurations\") for child modules to declare their need to be passed a provider configuration by their callers. That approach was ambiguous and is now deprecated.\n\nIf you control this module, remove all of the empty provider {name:?} blocks and add an entry {name:?} with source = \"{}\" to the required_providers block of {}, with configuration_aliases for those that have an alias.",
                self.module.provider_of(name),
                module_text(self.address)
            );
            problems.push(problems::provider_warning("Redundant empty provider block", detail, at));
        }
    }
}

/// Returns the type of a configuration that is passed: what is required by that name, else `hashicorp/NAME` whatever the name.
pub fn passed_type(module: &Module, name: &str) -> Provider {
    match module.required_providers.get(name) {
        Some(it) => it.source.clone(),
        None => {
            Provider { host: DEFAULT_HOST.into(), namespace: "hashicorp".into(), kind: name.into() }
        }
    }
}

/// Returns whether a module says anything of a provider by that name.
fn knows(module: &Module, name: &str) -> bool {
    module.required_providers.contains_key(name)
        || module.providers.iter().any(|it| *it.name.text == *name)
}

/// Prints a provider as people write it: without the usual registry.
fn display(provider: &Provider) -> String {
    if *provider.host == *DEFAULT_HOST {
        format!("{}/{}", provider.namespace, provider.kind)
    } else {
        provider.to_string()
    }
}

/// Returns what a call passes under a name of the child's.
fn passed_as<'a>(call: &'a ModuleCall, name: &str) -> Option<&'a (ProviderRef, ProviderRef)> {
    call.besides.providers.iter().find(|it| it.0.local_name() == name)
}

/// Returns what makes the nearest call on the way to a module repeat or wait, if one does.
fn repeating_call(config: &Config, address: &ModuleAddr) -> Option<Span> {
    let mut at = address.clone();
    while let Some((parent, name)) = at.parent() {
        let call = config.module(&parent)?.calls.get(&name)?;
        if let Some(it) = call.repetition.expression().or_else(|| call.besides.depends_on.first()) {
            return Some(it.span);
        }
        at = parent;
    }
    None
}
