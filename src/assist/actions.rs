//! What an editor can do at a place: write what is missing, declare what is not there, record a move, import, waive.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::bodies::Bodies;
use super::document::{Document, Language, whole};
use super::expected::Argument;
use super::hover::headers;
use super::index::{Entity, Manner};
use super::module::Module;
use super::problems::Problem;
use super::spelling::mended;
use super::workspace::Workspace;
use super::{Edit, Place};
use crate::address::{Mode, ResourceName};
use crate::diagnostic::Sources;
use crate::execute::Stop;
use crate::syntax::Block;
use crate::value::{Kind, Str};
use crate::workflow::names::{Where, addresses};
use crate::workflow::{Host, Nobody};

/// What an action is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// It mends something.
    Mending,
    /// It changes how something is written.
    Rewriting,
}

/// Something that can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// What it does, in a few words.
    pub title: String,
    /// What it is for.
    pub purpose: For,
    /// What it writes.
    pub edits: Vec<Edit>,
    /// What is to be at hand for pasting elsewhere, where it writes nothing.
    pub copied: Option<String>,
}

impl Action {
    fn new(title: String, purpose: For, edits: Vec<Edit>) -> Action {
        Action { title, purpose, edits, copied: None }
    }
}

/// How many names are offered where there is a choice.
const MOST: usize = 5;

/// Returns what can be done at some bytes of a file.
///
/// - `problems`: what is known to be wrong there.
pub fn actions(
    workspace: &Workspace,
    path: &Path,
    at: &Range<usize>,
    problems: &[Problem],
) -> Vec<Action> {
    let Some(document) = workspace.document(path) else { return Vec::new() };
    let mut found: Vec<Action> =
        problems.iter().filter_map(|it| respelt(it, &document, at)).collect();
    if !matches!(document.language, Language::Config | Language::Test) {
        return found;
    }
    let place = At { workspace, module: workspace.module_of(path), document: &document, at };
    found.extend(place.missing_arguments());
    found.extend(place.declarations());
    found.extend(place.moves());
    found.extend(place.import());
    found.extend(place.exclusion());
    found.extend(problems.iter().filter_map(|it| place.waiver(it)));
    // What is open may be mended; nothing else outside of the folders that are.
    let may_edit = |it: &Edit| it.place.path == path || workspace.may_edit(&it.place.path);
    found.retain(|it| it.edits.iter().all(may_edit));
    found
}

/// Writes the name that was meant.
fn respelt(problem: &Problem, document: &Document, at: &Range<usize>) -> Option<Action> {
    let place = &problem.place;
    let is_here =
        place.path == document.path && place.range.start <= at.end && at.start <= place.range.end;
    let (title, edit) = mended(problem, &document.text).filter(|_| is_here)?;
    Some(Action::new(title, For::Mending, vec![edit]))
}

struct At<'a> {
    workspace: &'a Workspace,
    module: Arc<Module>,
    document: &'a Arc<Document>,
    at: &'a Range<usize>,
}

impl At<'_> {
    fn edit(&self, at: usize, text: String) -> Edit {
        Edit { place: Place { path: self.document.path.clone(), range: at..at }, text }
    }

    /// The text before the first word of the line on which a byte lies.
    fn indent(&self, at: usize) -> &str {
        let start = self.document.text[..at].rfind('\n').map_or(0, |it| it + 1);
        let line = &self.document.text[start..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Writes the arguments that the innermost block must have and has not.
    fn missing_arguments(&self) -> Option<Action> {
        let blocks = self.document.blocks_at(self.at.start);
        let block = blocks.last()?;
        let schemas = self.workspace.schemas(&self.module.folder);
        let bodies = Bodies {
            workspace: self.workspace,
            module: &self.module,
            schemas: &schemas,
            language: self.document.language,
        };
        let expected = bodies.expected(&headers(&blocks), blocks.first().copied());
        let is_there = |name: &str| block.body.attribute(name).is_some();
        let missing: Vec<&Argument> =
            expected.arguments.iter().filter(|it| it.required && !is_there(&it.name)).collect();
        let nested: Vec<_> = expected
            .blocks
            .iter()
            .filter(|it| it.required && block.body.blocks_of(&it.name).next().is_none())
            .collect();
        let names: Vec<&str> =
            missing.iter().map(|it| &*it.name).chain(nested.iter().map(|it| &*it.name)).collect();
        if names.is_empty() {
            return None;
        }
        let outer = self.indent(block.header.start() as usize);
        let width = missing.iter().map(|it| it.name.len()).max().unwrap_or_default();
        let mut lines = String::new();
        for it in &missing {
            lines.push_str(&format!("{outer}  {:width$} = {}\n", it.name, placeholder(it)));
        }
        for it in nested {
            lines.push_str(&format!("{outer}  {} {{\n{outer}  }}\n", it.name));
        }
        let close = (block.body.span.end() as usize).checked_sub(1)?;
        let before = &self.document.text[..close];
        let line = before.rfind('\n').map_or(0, |it| it + 1);
        // A block on one line is opened.
        let edit = match before[line..].trim().is_empty() {
            true => self.edit(line, lines),
            false => self.edit(close, format!("\n{lines}{outer}")),
        };
        let title = format!("Add {}", names.join(", "));
        Some(Action::new(title, For::Mending, vec![edit]))
    }

    /// Declares the variables that are named here and not declared.
    fn declarations(&self) -> Vec<Action> {
        let touches = |it: &Range<usize>| it.start <= self.at.end && self.at.start <= it.end;
        let mut done = BTreeSet::new();
        let mut found = Vec::new();
        for it in self.document.index.uses.iter().filter(|it| touches(&it.whole)) {
            let Entity::Variable(name) = &it.entity else { continue };
            let module = match &it.call {
                Some(call) => self.workspace.called(&self.module, call),
                None => Some(self.module.clone()),
            };
            let Some(module) = module else { continue };
            let is_fixed = module.folder.components().any(|it| it.as_os_str() == ".terraform");
            if module.declares(&it.entity)
                || is_fixed
                || !done.insert((module.folder.clone(), name.clone()))
            {
                continue;
            }
            found.extend(self.declaration(&module, name));
        }
        found
    }

    fn declaration(&self, module: &Module, name: &Str) -> Option<Action> {
        let native = || module.configs().filter(|it| it.language == Language::Config);
        let file = native().find(|it| it.path.ends_with("variables.tf"));
        let file = file
            .or_else(|| native().find(|it| it.path == self.document.path))
            .or_else(|| native().next())?;
        let gap = match &*file.text {
            "" => "",
            text if text.ends_with("\n\n") => "",
            text if text.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        let end = file.text.len();
        let place = Place { path: file.path.clone(), range: end..end };
        let text = format!("{gap}variable \"{name}\" {{\n  description = \"\"\n}}\n");
        let edits = vec![Edit { place, text }];
        Some(Action::new(format!("Declare the variable {name}"), For::Mending, edits))
    }

    /// The resource whose block is here.
    fn resource(&self) -> Option<(&ResourceName, &Block)> {
        let block = *self.document.blocks_at(self.at.start).first()?;
        let declared = self.document.index.declarations.iter();
        let mut here = declared.filter(|it| it.whole == whole(block));
        let resource = here.find_map(|it| match &it.entity {
            Entity::Resource(it) if it.mode == Mode::Managed => Some(it),
            _ => None,
        })?;
        Some((resource, block))
    }

    /// Records that a resource is one that the state has under another name, and that is declared no longer.
    fn moves(&self) -> Vec<Action> {
        let Some((resource, _)) = self.resource() else { return Vec::new() };
        let world = self.workspace.world(&self.module.folder);
        let is_entry = self.workspace.entries().contains(&self.module.folder);
        if !is_entry || self.module.is_sealed(&world) {
            return Vec::new();
        }
        let stored = self.stored();
        let is_recorded = |name: &ResourceName| {
            let entity = Entity::Resource(name.clone());
            let mut uses = self.module.uses(&entity);
            uses.any(|it| it.1.manner == Manner::Records)
        };
        if stored.contains(&resource.to_string()) || is_recorded(resource) {
            return Vec::new();
        }
        let same = stored.iter().filter_map(|it| {
            let (kind, name) = it.split_once('.')?;
            let is_plain = !name.contains(['.', '[']);
            (kind == resource.kind && is_plain).then(|| ResourceName::managed(kind, name))
        });
        let lost = same
            .filter(|it| !self.module.declares(&Entity::Resource(it.clone())) && !is_recorded(it));
        let action = |old: ResourceName| {
            let title = format!("Record that {old} is {resource} now");
            let (old, new) = (Entity::Resource(old), Entity::Resource(resource.clone()));
            let edit = recorded(&self.module, &old, &new)?;
            Some(Action::new(title, For::Mending, vec![edit]))
        };
        lost.take(MOST).filter_map(action).collect()
    }

    /// The addresses that the state has, where it is at hand.
    fn stored(&self) -> BTreeSet<String> {
        let world = Arc::new(self.workspace.world(&self.module.folder));
        let sources = Sources::default();
        let host = Host {
            world: &world,
            sources: &sources,
            tell: &Nobody,
            ask: &Nobody,
            stop: &Stop::default(),
        };
        addresses(&host, Where::State)
    }

    /// Writes an `import` block for the resource here.
    fn import(&self) -> Option<Action> {
        let (resource, block) = self.resource()?;
        let is_entry = self.workspace.entries().contains(&self.module.folder);
        let is_at_header = self.at.start <= block.header.end() as usize;
        if !is_entry || !is_at_header {
            return None;
        }
        let key = match (block.body.attribute("count"), block.body.attribute("for_each")) {
            (Some(_), _) => "[0]",
            (_, Some(_)) => "[\"\"]",
            _ => "",
        };
        let text = format!("import {{\n  to = {resource}{key}\n  id = \"\"\n}}\n\n");
        let edits = vec![self.edit(whole(block).start, text)];
        Some(Action::new(format!("Import an object as {resource}"), For::Rewriting, edits))
    }

    /// Has the flag at hand that leaves out what is declared here: a resource, or a call with all that is in it.
    fn exclusion(&self) -> Option<Action> {
        let is_entry = self.workspace.entries().contains(&self.module.folder);
        let block = *self.document.blocks_at(self.at.start).first()?;
        if !is_entry || self.at.start > block.header.end() as usize {
            return None;
        }
        let declared = self.document.index.declarations.iter();
        let mut here = declared.filter(|it| it.whole == whole(block));
        let entity = here.find_map(|it| match &it.entity {
            it @ (Entity::Resource(_) | Entity::Call(_)) => Some(it),
            _ => None,
        })?;
        let flag = format!("-exclude={}", entity.address());
        let mut action = Action::new(format!("Copy {flag}"), For::Rewriting, Vec::new());
        action.copied = Some(flag);
        Some(action)
    }

    /// Waives a verdict: the reason is left to who does it.
    fn waiver(&self, problem: &Problem) -> Option<Action> {
        let is_here =
            problem.place.range.start <= self.at.end && self.at.start <= problem.place.range.end;
        if problem.said_by != "policy" || !is_here || problem.place.path != self.document.path {
            return None;
        }
        let block = *self.document.blocks_at(problem.place.range.start).first()?;
        let start = block.header.start() as usize;
        let indent = self.indent(start);
        let text = format!("# entail:allow {}: say here why this may be\n{indent}", problem.code);
        let edits = vec![self.edit(start, text)];
        Some(Action::new(format!("Waive {} here", problem.code), For::Rewriting, edits))
    }
}

/// The `moved` block for a rename that was done already: behind the block that has the new name.
fn recorded(module: &Module, old: &Entity, new: &Entity) -> Option<Edit> {
    let (document, declaration) =
        module.declarations(new).find(|it| it.0.language == Language::Config)?;
    let at = declaration.whole.end;
    let text = format!("\n\nmoved {{\n  from = {}\n  to   = {}\n}}", old.address(), new.address());
    Some(Edit { place: Place { path: document.path.clone(), range: at..at }, text })
}

/// What stands in the place of a value that is not written yet.
fn placeholder(it: &Argument) -> &'static str {
    match it.value.map(crate::value::Type::kind) {
        Some(Kind::String) => "\"\"",
        Some(Kind::Number) => "0",
        Some(Kind::Bool) => "false",
        Some(Kind::List(_) | Kind::Set(_) | Kind::Tuple(_)) => "[]",
        Some(Kind::Map(_) | Kind::Object(_)) => "{}",
        Some(Kind::Dynamic) => "null",
        None => match &*it.ty {
            "string" => "\"\"",
            "number" => "0",
            "bool" => "false",
            ty if ty.starts_with("list") || ty.starts_with("set") => "[]",
            ty if ty.starts_with("map") || ty.starts_with("object") => "{}",
            _ => "null",
        },
    }
}
