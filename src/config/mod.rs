//! Blocks to modules, resources, variables: what the configuration says, as written, nothing evaluated.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::address::{ConfigResource, Module as ModuleAddr, Provider};
use crate::diagnostic::{Diagnostics, Span};
use crate::syntax::Name;
use crate::value::Str;

mod assemble;
mod blocks;
mod by_name;
mod call;
pub mod check;
mod check_block;
mod condition;
mod decode;
mod draft;
mod escape;
pub mod expansion;
mod file;
pub mod files;
mod given;
mod import;
pub mod inputs;
pub mod installed;
mod lifecycle;
mod load;
mod masking;
mod moves;
mod named;
mod overrides;
pub use overrides::merge_bodies;
mod problems;
pub(crate) mod provider;
mod provisioner;
mod remote;
mod repetition;
mod resource;
pub mod serving;
mod settle;
pub mod source;
pub mod early;
mod terraform;
pub mod testing;
#[cfg(test)]
pub(crate) mod tests;
mod types;
pub mod uses;
mod variants;
pub mod version;

pub use crate::value::TypeDefaults;
pub use blocks::{
    Backend, CallBesides, Check, Condition, IgnoreChanges, Import, Lifecycle, Local, ModuleCall,
    MoveEndpoint, Moved, Output, ProviderBlock, ProviderMeta, ProviderRef, Provisioner, Removed,
    Repetition, RequiredProvider, Resource, ResourceBesides, Variable,
};
pub use by_name::{Calls, Passed, Resources};
pub use decode::is_taken_literally;
pub use given::Inputs;
pub use installed::{InstalledModule, InstalledModules};
pub(crate) use load::calls_itself;
pub use load::{
    CallSource, Folder, call_source, calls_without_modules, check_providers, instances,
    load_config, load_config_of, load_module, written_source,
};
pub use masking::{has_credentials, masked, struck_out};
pub use problems::suggest;
pub use provider::implied_provider;
pub use variants::{Kind, Variant};

/// What there is for each module, by its path and in the order of the paths. There may be half a million: one is found without a
/// search among all of them.
pub type ByPath<T> = IndexMap<ModuleAddr, T, FxBuildHasher>;

/// A whole configuration: the root module and everything it calls.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Every module that is called, by the names of the calls; the root under the empty path. Where instances come from
    /// different places, see [`Config::all`].
    pub modules: ByPath<Arc<Module>>,
    /// The root and what is inside calls that are expanded before planning, for values that are decided before there is a plan. See
    /// [`Config::static_module`].
    pub static_modules: ByPath<Arc<early::StaticModule>>,
    /// What is inside calls that are expanded before planning, by the keys of these calls alone; each with its number in `kinds`.
    pub variants: BTreeMap<crate::address::ModuleInstance, (Arc<early::StaticModule>, u32)>,
    /// The different modules of each path inside such calls. Then the one in `modules` has the names of all of them.
    pub kinds: BTreeMap<ModuleAddr, Vec<Kind>>,
}

/// One module: the blocks of one folder. Two calls of one folder share it.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The folder, relative to the root module's: `path.module` (`.` for the root).
    pub directory: String,
    /// Whether it came in a package: its own source, or that of a module around it, is no path.
    pub is_remote: bool,
    /// `variable`
    pub variables: BTreeMap<Str, Variable>,
    /// `locals`
    pub locals: BTreeMap<Str, Local>,
    /// `output`
    pub outputs: BTreeMap<Str, Output>,
    /// `resource`, `data`, `ephemeral`
    pub resources: Resources,
    /// `module`
    pub calls: Calls,
    /// `provider` blocks, in source order.
    pub providers: Vec<ProviderBlock>,
    /// `required_providers`, by local name.
    pub required_providers: BTreeMap<Str, RequiredProvider>,
    /// `moved`
    pub moved: Vec<Moved>,
    /// `removed`
    pub removed: Vec<Removed>,
    /// `import`
    pub imports: Vec<Import>,
    /// `check`
    pub checks: BTreeMap<Str, Check>,
    /// `backend` or `cloud` of the `terraform` block.
    pub backend: Option<Backend>,
    /// `encryption` of the `terraform` block.
    pub encryption: Option<Backend>,
    /// `provider_meta` of the `terraform` block.
    pub provider_metas: Vec<ProviderMeta>,
    /// How many configuration files the folder has.
    pub file_count: usize,
    /// What is wrong with its files, each by itself, and between them with what the backend's arguments may rest on.
    pub of_files: Diagnostics,
    /// `required_version` (where it counts) and `language { compatible_with { opentofu = … } }`: constraint and place.
    pub required_versions: Vec<(String, Span)>,
}

impl Module {
    /// Returns how many blocks it has that others can refer to, or that are looked at by themselves.
    pub fn block_count(&self) -> usize {
        let values = self.variables.len() + self.locals.len() + self.outputs.len();
        let others = self.calls.len() + self.providers.len() + self.checks.len();
        values + self.resources.len() + others
    }

    /// Returns whether the folder holds no configuration file at all.
    pub fn is_empty(&self) -> bool {
        self.file_count == 0
    }

    /// Returns which provider a local name means here.
    pub fn provider_of(&self, local_name: &str) -> Provider {
        match self.required_providers.get(local_name) {
            Some(it) => it.source.clone(),
            None => Provider::implied(local_name),
        }
    }

    /// Returns which provider an `import` block is for: what it says, else what its target's type implies.
    pub fn provider_of_import(&self, import: &Import) -> Option<Provider> {
        match &import.provider {
            Some(named) => Some(self.provider_of(&named.name.text)),
            None => Some(self.provider_of(&implied_provider(&import.target()?.resource.kind))),
        }
    }

    /// Returns every provider that the module itself needs, calls left out, each with the conditions on its version:
    /// `required_providers`, `provider` blocks, resources and imports.
    pub fn needs(&self) -> BTreeMap<Provider, Vec<&(String, Span)>> {
        let mut needs: BTreeMap<Provider, Vec<&(String, Span)>> = BTreeMap::new();
        for it in self.required_providers.values() {
            needs.entry(it.source.clone()).or_default().extend(&it.version);
        }
        for it in &self.providers {
            needs.entry(it.source.clone()).or_default().extend(&it.version);
        }
        for it in self.resource_providers() {
            needs.entry(it.clone()).or_default();
        }
        for it in self.imports.iter().filter_map(|it| self.provider_of_import(it)) {
            needs.entry(it).or_default();
        }
        needs
    }

    /// Returns the providers of its resources, hardly any of them twice: those of one type stand together.
    pub fn resource_providers(&self) -> impl Iterator<Item = &Provider> {
        let mut last = None;
        let all = self.resources.values().map(|it| &*it.provider_source);
        all.filter(move |it| last.replace(*it) != Some(*it))
    }

    /// Returns its `import` blocks for a block.
    ///
    /// - `path`: where the module itself is.
    pub fn imports_for(
        &self,
        path: &ModuleAddr,
        block: &ConfigResource,
    ) -> impl Iterator<Item = &Import> {
        self.imports.iter().filter(move |it| it.target_from(path).as_ref() == Some(block))
    }

    /// Returns the `provider` block of a local name and alias.
    pub fn provider_block(&self, local_name: &str, alias: Option<&str>) -> Option<&ProviderBlock> {
        self.providers.iter().find(|it| {
            *it.name.text == *local_name && it.alias.as_ref().map(|it| &*it.text) == alias
        })
    }
}

/// The blocks that imports are for, each with how deep the modules are that have an import for it.
pub type ImportTargets = FxHashMap<ConfigResource, Vec<usize>>;

impl Config {
    /// Returns a module of the configuration.
    pub fn module(&self, module: &ModuleAddr) -> Option<&Arc<Module>> {
        self.modules.get(module)
    }

    /// Returns the root module.
    pub fn root(&self) -> &Module {
        self.modules.get(&ModuleAddr::default()).expect("a configuration has a root module")
    }

    /// Returns every `import` block with the path of the module that it is in.
    pub fn imports(&self) -> impl Iterator<Item = (&ModuleAddr, &Import)> {
        self.all().flat_map(|(path, module)| module.imports.iter().map(move |it| (path, it)))
    }

    /// Returns the blocks that imports are for, each with how deep the modules are that have an import for it: 0 is the root.
    pub fn import_targets(&self) -> ImportTargets {
        let mut all = ImportTargets::default();
        for (path, import) in self.imports() {
            let Some(target) = import.target_from(path) else { continue };
            let depths = all.entry(target).or_default();
            if !depths.contains(&path.0.len()) {
                depths.push(path.0.len());
            }
        }
        all
    }

    /// Returns the root module in its place.
    pub fn root_place(&self) -> &Arc<early::StaticModule> {
        self.static_modules.get(&ModuleAddr::default()).expect("a configuration has a root module")
    }

    /// Returns a module in its place. There may be half a million of which nobody asks: most are made when they are asked for.
    pub fn static_module(&self, path: &ModuleAddr) -> Option<Arc<early::StaticModule>> {
        let known = (0..=path.0.len()).rev().find_map(|depth| {
            Some((depth, self.static_modules.get(&ModuleAddr(path.0[..depth].into()))?))
        });
        let (depth, mut place) = known.map(|it| (it.0, it.1.clone()))?;
        for name in &path.0[depth..] {
            let call = place.module().calls.get(name)?;
            let module = self.modules.get(&place.address().child(name))?;
            place = Arc::new(place.child(call, None, module.clone()));
        }
        Some(place)
    }

    /// Returns the configuration as it is where somebody calls it: what `configuration_aliases` of the root module ask
    /// for is given, each by a configuration without arguments.
    pub fn with_given_aliases(mut self) -> Config {
        let Some(root) = self.modules.get_mut(&ModuleAddr::default()) else { return self };
        let mut given = Vec::new();
        for required in root.required_providers.values() {
            for (name, alias, span) in &required.configuration_aliases {
                if root.provider_block(name, Some(alias)).is_none() {
                    let named = |text: &Str| Name::new(text.clone(), *span);
                    given.push(ProviderBlock {
                        name: named(name),
                        source: required.source.clone(),
                        alias: Some(named(alias)),
                        alias_from: None,
                        repetition: Repetition::Single,
                        body: crate::syntax::Body { span: *span, ..Default::default() },
                        version: None,
                        declared: *span,
                    });
                }
            }
        }
        if !given.is_empty() {
            Arc::make_mut(root).providers.extend(given);
        }
        self
    }

    /// Returns a resource block.
    pub fn resource(&self, address: &ConfigResource) -> Option<&Resource> {
        self.modules.get(&address.module)?.resources.get(&address.resource).map(|it| &**it)
    }
}
