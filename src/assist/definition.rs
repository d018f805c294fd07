//! What a place names, where that is declared, and who uses it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::document::{Document, Language};
use super::index::{Entity, Manner};
use super::module::Module;
use super::workspace::Workspace;
use super::{Place, rules};
use crate::value::Str;

/// What a place names.
#[derive(Clone, Debug)]
pub struct Target {
    /// What is named.
    pub entity: Entity,
    /// The module in which it is declared, if it is declared at all.
    pub module: Arc<Module>,
    /// The name's bytes, at the place that was asked about.
    pub name: Range<usize>,
    /// The bytes of the whole reference there.
    pub whole: Range<usize>,
}

/// Returns what is named at a byte of a file.
pub fn target_at(workspace: &Workspace, path: &Path, at: usize) -> Option<Target> {
    let document = workspace.document(path)?;
    let module = workspace.module_of(path);
    let holds = |it: &Range<usize>| it.start <= at && at <= it.end;
    if let Some(it) = document.index.declarations.iter().find(|it| holds(&it.name)) {
        let (entity, name) = (it.entity.clone(), it.name.clone());
        return Some(Target { entity, module, whole: name.clone(), name });
    }
    let uses = || document.index.uses.iter().filter(|it| holds(&it.whole));
    let exact = uses().find(|it| holds(&it.name));
    // Before a name stands what it is a name of; behind it, what is asked of it.
    let nearest =
        || uses().filter(|it| holds(&(it.whole.start..it.name.end))).min_by_key(|it| it.name.end);
    let found = exact.or_else(nearest).or_else(|| uses().max_by_key(|it| it.name.end))?;
    let module = match &found.call {
        Some(call) => workspace.called(&module, call)?,
        None => module,
    };
    let (entity, name) = (found.entity.clone(), found.name.clone());
    Some(Target { entity, module, name, whole: found.whole.clone() })
}

/// Returns where what is named at a byte of a file is declared.
pub fn definition(workspace: &Workspace, path: &Path, at: usize) -> Vec<Place> {
    let Some(document) = workspace.document(path) else { return Vec::new() };
    if document.language == Language::Rules {
        return rules::definition(workspace, &document, at);
    }
    if let Some(place) = source(workspace, &document, at) {
        return vec![place];
    }
    let Some(target) = target_at(workspace, path, at) else { return Vec::new() };
    let mut found: Vec<Place> = declared(&target.module, &target.entity);
    if let (true, Entity::Provider(name, _)) = (found.is_empty(), &target.entity) {
        found.extend(required(&target.module, name));
    }
    found
}

/// Returns where something is declared.
pub(super) fn declared(module: &Module, entity: &Entity) -> Vec<Place> {
    let places = module.declarations(entity);
    places
        .map(|(document, it)| Place { path: document.path.clone(), range: it.name.clone() })
        .collect()
}

/// The module that the source under a byte leads to.
fn source(workspace: &Workspace, document: &Document, at: usize) -> Option<Place> {
    let block = document.blocks_at(at).into_iter().find(|it| it.kind.text == "module")?;
    let source = block.body.attribute("source")?.value.span;
    if !(source.start() as usize..=source.end() as usize).contains(&at) {
        return None;
    }
    let module = workspace.module_of(&document.path);
    let called = workspace.called(&module, &block.labels.first()?.text)?;
    let first = called
        .configs()
        .find(|it| it.path.ends_with("main.tf"))
        .or_else(|| called.configs().next())?;
    Some(Place { path: first.path.clone(), range: 0..0 })
}

/// Where `required_providers` has a local name.
fn required(module: &Module, name: &str) -> Option<Place> {
    for document in module.configs() {
        for terraform in document.body.blocks_of("terraform") {
            for it in terraform.body.blocks_of("required_providers") {
                if let Some(entry) = it.body.attribute(name) {
                    return Some(document.place(entry.name.span));
                }
            }
        }
    }
    None
}

/// Returns who uses what is named at a byte of a file, in its module and in those that call it.
///
/// - `with_declaration`: whether the places at which it is declared are among them.
pub fn references(
    workspace: &Workspace,
    path: &Path,
    at: usize,
    with_declaration: bool,
) -> Vec<Place> {
    if let Some(document) = workspace.document(path).filter(|it| it.language == Language::Rules) {
        return rules::references(workspace, &document, at);
    }
    let Some(target) = target_at(workspace, path, at) else { return Vec::new() };
    let mut found: BTreeSet<Place> =
        used(workspace, &target.module, &target.entity).into_iter().map(|it| it.0).collect();
    if with_declaration {
        found.extend(declared(&target.module, &target.entity));
    }
    found.into_iter().collect()
}

/// Where something is used, and what for.
pub(super) fn used(
    workspace: &Workspace,
    module: &Module,
    entity: &Entity,
) -> Vec<(Place, Manner)> {
    let place = |document: &Document, range: &Range<usize>| Place {
        path: document.path.clone(),
        range: range.clone(),
    };
    let mut found: Vec<_> =
        module.uses(entity).map(|(document, it)| (place(document, &it.name), it.manner)).collect();
    let is_seen_outside =
        matches!(entity, Entity::Variable(_) | Entity::Output(_) | Entity::Resource(_));
    if is_seen_outside {
        for (caller, call) in workspace.callers(&module.folder) {
            found.extend(through(&caller, &call, entity));
        }
    }
    found
}

/// Where a calling module names what is in the called one.
fn through(caller: &Module, call: &Str, entity: &Entity) -> Vec<(Place, Manner)> {
    let mut found = Vec::new();
    for document in &caller.documents {
        let uses = document.index.uses.iter();
        for it in uses.filter(|it| it.call.as_ref() == Some(call) && it.entity == *entity) {
            found.push((Place { path: document.path.clone(), range: it.name.clone() }, it.manner));
        }
    }
    found
}
