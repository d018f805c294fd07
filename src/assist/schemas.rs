//! What the providers of a folder announce: embedded ones, and those that are installed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::document::Language;
use super::index::Entity;
use super::module::{Module, value_text};
use super::workspace::Workspace;
use crate::address::{Mode, Provider};
use crate::config::implied_provider;
use crate::diagnostic::Sources;
use crate::observe::pool::Pool;
use crate::observe::provider_sources::ProviderSources;
use crate::provider::builtin;
use crate::schema::{ProviderSchema, Schema};
use crate::syntax::Block;
use crate::value::Str;
use crate::workflow::with_room;

/// What providers announce, by their source addresses.
#[derive(Debug, Default)]
pub struct Schemas(BTreeMap<Provider, Arc<ProviderSchema>>);

/// The local names that hardly need a declaration: their providers are part of the program.
const EMBEDDED: [&str; 5] = ["local", "null", "random", "terraform", "time"];

impl Schemas {
    /// Asks the providers that a folder's modules name. What is not installed is left out.
    pub(super) fn of(workspace: &Workspace, folder: &Path) -> Schemas {
        let mut needed: BTreeSet<Provider> =
            EMBEDDED.iter().map(|it| Provider::implied(it)).collect();
        let root = root_of(workspace, folder);
        for folder in workspace.reached(&root) {
            needed.extend(named(&workspace.module(&folder)));
        }
        let world = Arc::new(workspace.world(&root));
        let known = with_room(|runtime| {
            let sources = ProviderSources::of(&world, &Sources::default());
            let installed: Vec<Provider> = match sources.plugins() {
                Ok(plugins) => needed.into_iter().filter(|it| plugins.locate(it).is_ok()).collect(),
                Err(_) => needed.into_iter().filter(|it| builtin::version(it).is_some()).collect(),
            };
            let (pool, _) = runtime.block_on(Pool::schemas_only(&sources, installed));
            pool.schemas().map(|(address, schema)| (address.clone(), schema.clone())).collect()
        });
        Schemas(known.unwrap_or_default())
    }

    /// Returns what a provider announces.
    pub fn provider(&self, provider: &Provider) -> Option<&Arc<ProviderSchema>> {
        self.0.get(provider)
    }

    /// Returns the schema of a resource type, by the provider that a block names or its type implies.
    pub fn resource(
        &self,
        module: &Module,
        (mode, kind): (Mode, &str),
        block: Option<&Block>,
    ) -> Option<&Arc<Schema>> {
        let named = block.and_then(|it| super::index::value(&it.body, "provider"));
        let named = named.as_ref().and_then(|it| it.as_traversal()).map(|it| it.0.text.clone());
        let local = named.unwrap_or_else(|| implied_provider(kind));
        let schema = self.provider(&module.provider(&local))?;
        schema.of(mode, kind)
    }

    /// Iterates over every type of a mode, with its provider.
    pub fn kinds(&self, mode: Mode) -> impl Iterator<Item = (&Str, &Provider)> {
        self.0.iter().flat_map(move |(provider, it)| {
            let kinds = match mode {
                Mode::Managed => &it.resources,
                Mode::Data => &it.data_sources,
                Mode::Ephemeral => &it.ephemeral,
            };
            kinds.keys().map(move |kind| (kind, provider))
        })
    }

    /// Iterates over the providers.
    pub fn all(&self) -> impl Iterator<Item = (&Provider, &Arc<ProviderSchema>)> {
        self.0.iter()
    }
}

/// The folder whose lock file says which providers a module is used with: one that leads to it.
fn root_of(workspace: &Workspace, folder: &Path) -> std::path::PathBuf {
    let is_locked = |it: &Path| workspace.files().is_file(&it.join(".terraform.lock.hcl"));
    if is_locked(folder) {
        return folder.to_owned();
    }
    let entries = workspace.entries();
    let leads = |it: &&std::path::PathBuf| is_locked(it) && workspace.reached(it).contains(folder);
    entries.iter().find(leads).map_or_else(|| folder.to_owned(), Clone::clone)
}

/// The providers that a module's blocks name.
fn named(module: &Module) -> BTreeSet<Provider> {
    let mut found = BTreeSet::new();
    let mut locals: BTreeSet<Str> = BTreeSet::new();
    for entity in module.entities() {
        match entity {
            Entity::Resource(it) => drop(locals.insert(implied_provider(&it.kind))),
            Entity::Provider(name, _) => drop(locals.insert(name.clone())),
            _ => {}
        }
    }
    for document in module.documents.iter().filter(|it| it.language == Language::Config) {
        for terraform in document.body.blocks_of("terraform") {
            for it in terraform.body.blocks_of("required_providers") {
                locals.extend(it.body.attributes.iter().map(|it| it.name.text.clone()));
            }
        }
    }
    found.extend(locals.iter().map(|it| module.provider(it)));
    found
}

/// Returns the type and the name of a resource's block.
pub(super) fn resource_of(block: &Block) -> Option<(Mode, Str)> {
    let mode = match &*block.kind.text {
        "resource" => Mode::Managed,
        "data" => Mode::Data,
        "ephemeral" => Mode::Ephemeral,
        _ => return None,
    };
    Some((mode, block.labels.first()?.text.clone()))
}

/// Returns the text of a call's source.
pub(super) fn source_of(block: &Block) -> Option<Str> {
    value_text(block, "source")
}
