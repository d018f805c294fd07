//! What may be written at a place.

mod items;
mod json;
mod keys;
mod references;
mod rules;
mod values;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::bodies::{Bodies, Header, inputs_of};
use super::document::{Document, Language};
use super::expected::{Argument, Nested};
use super::index::{Entity, value};
use super::module::Module;
use super::schemas::Schemas;
use super::workspace::Workspace;
use crate::syntax::{At, Block, Cursor, Expr, cursor};
use crate::value::Kind as TypeKind;

/// What something is that may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// An argument or an attribute.
    Argument,
    /// A block.
    Block,
    /// A type of resource, of a backend, of a provisioner.
    Kind,
    /// Something that can be referred to.
    Reference,
    /// A function.
    Function,
    /// A word of the language, or a value that is written out.
    Word,
    /// A folder or a file.
    Folder,
    /// A relation of rules.
    Relation,
}

/// Something that may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it is called.
    pub label: String,
    /// What it is.
    pub sort: Sort,
    /// A few words on it.
    pub detail: String,
    /// What it is for.
    pub about: String,
    /// What is put in, with places to fill in as `$1`, `${2:name}`, and `$0` for the last; nothing where that is the label.
    pub snippet: Option<String>,
}

impl Item {
    pub(super) fn new(label: impl Into<String>, sort: Sort, detail: impl Into<String>) -> Item {
        let (label, detail) = (label.into(), detail.into());
        Item { label, sort, detail, about: String::new(), snippet: None }
    }

    fn about(self, about: impl Into<String>) -> Item {
        Item { about: about.into(), ..self }
    }

    fn putting(self, snippet: impl Into<String>) -> Item {
        Item { snippet: Some(snippet.into()), ..self }
    }
}

/// What may be written, and what it takes the place of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// In no particular order.
    pub items: Vec<Item>,
    /// The bytes of what is begun.
    pub word: Range<usize>,
    /// Whether there is more than was listed: what is typed next may bring it up.
    pub is_incomplete: bool,
}

/// How many items are listed at once.
const MOST: usize = 500;

/// Returns what may be written at a byte of a file.
pub fn complete(workspace: &Workspace, path: &Path, at: usize) -> Completion {
    let Some(document) = workspace.document(path) else { return Completion::default() };
    let (mut items, word) = match document.language {
        Language::Rules => rules::items(workspace, &document, at),
        Language::Json | Language::JsonValues => json::found(workspace, &document, at),
        _ => {
            let cursor = cursor(&document.text, at);
            let place = Place::new(workspace, document.clone(), cursor, at);
            (place.items(), place.cursor.word.clone())
        }
    };
    let begun = document.text.get(word.clone()).unwrap_or_default().to_lowercase();
    let is_incomplete = items.len() > MOST;
    if is_incomplete {
        items.retain(|it| it.label.to_lowercase().starts_with(&begun));
        items.truncate(MOST);
    }
    items.sort_by(|a, b| (a.sort, &a.label).cmp(&(b.sort, &b.label)));
    items.dedup_by(|a, b| (a.sort, &a.label) == (b.sort, &b.label));
    Completion { items, word, is_incomplete }
}

/// A place at which something is written.
pub(super) struct Place<'a> {
    pub workspace: &'a Workspace,
    pub document: Arc<Document>,
    pub module: Arc<Module>,
    pub schemas: Arc<Schemas>,
    pub cursor: Cursor,
    pub at: usize,
}

impl<'a> Place<'a> {
    pub fn new(
        workspace: &'a Workspace,
        document: Arc<Document>,
        cursor: Cursor,
        at: usize,
    ) -> Place<'a> {
        let module = workspace.module_of(&document.path);
        let schemas = workspace.schemas(&module.folder);
        Place { workspace, document, module, schemas, cursor, at }
    }

    /// The blocks around the place, as bodies are looked up by.
    pub fn headers(&self) -> Vec<Header<'_>> {
        let blocks = self.cursor.blocks.iter();
        blocks
            .map(|it| (it.kind.as_str(), it.labels.iter().map(String::as_str).collect()))
            .collect()
    }

    /// The tree of the outermost block around the place, and that of the innermost, as far as they can be read.
    pub fn blocks(&self) -> (Option<&Block>, Option<&Block>) {
        let starts = |block: &Block, at: Option<&crate::syntax::Around>| {
            at.is_some_and(|it| it.start == block.header.start() as usize)
        };
        let all = self.document.blocks_at(self.at);
        let outer = all.first().copied().filter(|it| starts(it, self.cursor.blocks.first()));
        let inner = all.last().copied().filter(|it| starts(it, self.cursor.blocks.last()));
        (outer, inner)
    }

    pub fn expected(&self) -> super::expected::Expected {
        let bodies = Bodies {
            workspace: self.workspace,
            module: &self.module,
            schemas: &self.schemas,
            language: self.document.language,
        };
        bodies.expected(&self.headers(), self.blocks().0)
    }

    fn items(&self) -> Vec<Item> {
        match &self.cursor.at {
            At::Item if self.document.language == Language::Values => self.variables(),
            At::Item => self.inside(),
            At::Label(kind, before, is_quoted) => items::labels(self, kind, before, *is_quoted),
            At::Value(written) => values::items(self, written),
            At::Nothing => Vec::new(),
        }
    }

    /// The variables that a file of values may give, but for those that it gives.
    fn variables(&self) -> Vec<Item> {
        let given = &self.document.body;
        let inputs = inputs_of(&self.module).into_iter();
        let free = inputs
            .filter(|it| !is_there(given.attributes.iter().map(|it| &*it.name.text), &it.name));
        free.map(|it| argument(&it)).collect()
    }

    /// What the body at hand may still have.
    fn inside(&self) -> Vec<Item> {
        let expected = self.expected();
        let (_, block) = self.blocks();
        let body = block.map(|it| &it.body);
        let names: Vec<&str> =
            body.iter().flat_map(|it| &it.attributes).map(|it| &*it.name.text).collect();
        let kinds: Vec<&str> =
            body.iter().flat_map(|it| &it.blocks).map(|it| &*it.kind.text).collect();
        let is_own = |name: &str| is_there(names.iter().copied(), name);
        let arguments =
            expected.arguments.iter().filter(|it| !it.is_read_only && !is_own(&it.name));
        let blocks = expected.blocks.iter();
        let blocks =
            blocks.filter(|it| !it.is_single || !is_there(kinds.iter().copied(), &it.name));
        arguments.map(argument).chain(blocks.map(nested)).collect()
    }
}

fn is_there<'a>(mut names: impl Iterator<Item = &'a str>, name: &str) -> bool {
    names.any(|it| it == name)
}

fn argument(it: &Argument) -> Item {
    let value = match it.value.map(crate::value::Type::kind) {
        Some(TypeKind::String) => "\"$1\"",
        Some(TypeKind::List(_) | TypeKind::Set(_) | TypeKind::Tuple(_)) => "[$1]",
        Some(TypeKind::Map(_) | TypeKind::Object(..)) => "{\n  $1\n}",
        _ => "$1",
    };
    let value = if it.value.is_none() && it.ty == "string" { "\"$1\"" } else { value };
    let item = Item::new(&it.name, Sort::Argument, it.words()).about(&it.about);
    item.putting(format!("{} = {value}$0", it.name))
}

fn nested(it: &Nested) -> Item {
    let labels = it.labels.iter().enumerate();
    let labels: String = labels.map(|(at, name)| format!(" \"${{{}:{name}}}\"", at + 1)).collect();
    let detail = if it.required { "block, required" } else { "block" };
    let item = Item::new(&it.name, Sort::Block, detail).about(&it.about);
    item.putting(format!("{}{labels} {{\n  $0\n}}", it.name))
}

/// The keys that a local value has, where it is an object that is written out.
fn keys_of_local(module: &Module, name: &str) -> Vec<Item> {
    let entity = Entity::Local(name.into());
    let Some((document, declaration)) = module.declarations(&entity).next() else {
        return Vec::new();
    };
    let blocks = document.blocks_at(declaration.name.start);
    let found = blocks.last().and_then(|it| value(&it.body, name));
    let Some(Expr::Object(items)) = found.map(|it| it.expr) else { return Vec::new() };
    let keys = items.iter().filter_map(|it| it.key.as_static_string().map(ToString::to_string));
    keys.map(|it| Item::new(it, Sort::Argument, "key")).collect()
}
