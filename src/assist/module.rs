//! The texts of one folder, and what they declare together.

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::document::{Document, Language};
use super::index::{Declaration, Entity, Use, value};
use crate::config::InstalledModules;
use crate::config::source::ModuleSource;
use crate::syntax::Block;
use crate::value::Str;
use crate::world::World;

/// A module as it is being written: the texts of its folder.
#[derive(Debug, Default)]
pub struct Module {
    /// The folder.
    pub folder: PathBuf,
    /// Its documents, by name: configuration first, then values of variables, then tests.
    pub documents: Vec<Arc<Document>>,
    /// What was installed for its calls.
    pub(super) installed: InstalledModules,
    declared: FxHashMap<Entity, Vec<(usize, usize)>>,
}

impl Module {
    pub(super) fn new(
        folder: PathBuf,
        documents: Vec<Arc<Document>>,
        installed: InstalledModules,
    ) -> Module {
        let mut declared: FxHashMap<Entity, Vec<(usize, usize)>> = FxHashMap::default();
        for (at, document) in documents.iter().enumerate() {
            for (number, it) in document.index.declarations.iter().enumerate() {
                declared.entry(it.entity.clone()).or_default().push((at, number));
            }
        }
        Module { folder, documents, installed, declared }
    }

    /// Iterates over the documents that make up the configuration.
    pub fn configs(&self) -> impl Iterator<Item = &Arc<Document>> {
        self.documents.iter().filter(|it| it.language.is_config())
    }

    /// Returns whether the folder holds any configuration.
    pub fn is_empty(&self) -> bool {
        self.configs().next().is_none()
    }

    /// Iterates over the places at which something is declared. Blocks of override files are among them.
    pub fn declarations<'a>(
        &'a self,
        entity: &Entity,
    ) -> impl Iterator<Item = (&'a Arc<Document>, &'a Declaration)> {
        let places = self.declared.get(entity).into_iter().flatten();
        places.map(|it| (&self.documents[it.0], &self.documents[it.0].index.declarations[it.1]))
    }

    /// Iterates over everything that has a name here.
    pub fn entities(&self) -> impl Iterator<Item = &Entity> {
        self.declared.keys()
    }

    /// Returns whether something of this name is declared.
    pub fn declares(&self, entity: &Entity) -> bool {
        self.declared.contains_key(entity)
    }

    /// Returns the block in which something is declared; of a local value, the block around it.
    pub fn block(&self, entity: &Entity) -> Option<(&Arc<Document>, &Block)> {
        let (document, declaration) = self.declarations(entity).next()?;
        let block = document.blocks_at(declaration.name.start);
        // The data source of a check stands in the check's block.
        Some((document, block.last().copied()?))
    }

    /// Iterates over the uses of something that is declared here, in the texts of the folder itself.
    pub fn uses<'a>(
        &'a self,
        entity: &'a Entity,
    ) -> impl Iterator<Item = (&'a Arc<Document>, &'a Use)> {
        let all =
            self.documents.iter().flat_map(|it| it.index.uses.iter().map(move |used| (it, used)));
        all.filter(move |(_, it)| it.call.is_none() && it.entity == *entity)
    }

    /// Returns where the module of a call comes from, as it is written.
    pub fn source(&self, call: &str) -> Option<ModuleSource> {
        let (_, block) = self.block(&Entity::Call(call.into()))?;
        let text = value_text(block, "source")?;
        ModuleSource::parse(&text, block.body.literal("version").is_some()).ok()
    }

    /// Returns the names of all calls.
    pub fn calls(&self) -> Vec<Str> {
        let calls = self.declared.keys().filter_map(|it| match it {
            Entity::Call(name) => Some(name.clone()),
            _ => None,
        });
        let mut calls: Vec<Str> = calls.collect();
        calls.sort();
        calls
    }

    /// Returns whether states and plans of this module may be sealed: then they are left alone, for opening them may run programs.
    pub(super) fn is_sealed(&self, world: &World) -> bool {
        let mut blocks = self.configs().flat_map(|it| it.body.blocks_of("terraform"));
        let says = blocks.any(|it| {
            it.body.blocks_of("encryption").next().is_some()
                || it
                    .body
                    .json
                    .iter()
                    .any(|it| it.members.iter().any(|it| it.0.text == "encryption"))
        });
        says || world.variable("TF_ENCRYPTION").is_some()
    }

    /// Returns the source address of a provider by its local name.
    pub fn provider(&self, local: &str) -> crate::address::Provider {
        let blocks = self.configs().flat_map(|it| it.body.blocks_of("terraform"));
        let entries = blocks.filter_map(|it| it.body.blocks_of("required_providers").next());
        let named = entries.filter_map(|it| it.body.attribute(local).map(|it| it.value.clone()));
        for entry in named {
            let items = entry.as_object().unwrap_or_default();
            let source =
                items.iter().find(|it| it.key.as_static_string().is_some_and(|it| it == "source"));
            let source = source.and_then(|it| it.value.as_static_string());
            if let Some(Ok(provider)) = source.map(|it| it.parse()) {
                return provider;
            }
        }
        crate::address::Provider::implied(local)
    }
}

/// The text of an argument that is written out.
pub(super) fn value_text(block: &Block, name: &str) -> Option<Str> {
    value(&block.body, name)
        .and_then(|it| it.as_static_string().cloned())
        .or_else(|| block.body.literal(name).and_then(|it| it.as_static_string().cloned()))
}

/// Sorts documents as [`Module`] has them.
pub(super) fn order(document: &Document) -> (u8, PathBuf) {
    let rank = match document.language {
        Language::Config | Language::Json => 0,
        Language::Values | Language::JsonValues => 1,
        Language::Test => 2,
        Language::Rules => 3,
    };
    (rank, document.path.clone())
}
