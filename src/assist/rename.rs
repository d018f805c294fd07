//! Another name for what is declared: everywhere it is used, and with the `moved` block that keeps its objects.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::definition::{declared, target_at, used};
use super::document::{Document, Language, whole};
use super::index::{Entity, Manner, value};
use super::module::Module;
use super::workspace::Workspace;
use super::{Edit, Place, Target};
use crate::address::Mode;
use crate::syntax::is_identifier;

/// What is written anew.
#[derive(Clone, Debug, Default)]
pub struct Renaming {
    /// All edits, by file and place; no two overlap.
    pub edits: Vec<Edit>,
}

/// Why something cannot be renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRenamed {
    /// There is no name here that is declared in an open folder.
    Nothing,
    /// This is no name.
    NoName(String),
    /// The module has one of that name: its address.
    Taken(String),
    /// It is declared in a module that was installed from elsewhere.
    NotOurs,
    /// It is used in a file that lies outside of the folders that are open.
    Outside(PathBuf),
}

impl std::fmt::Display for NotRenamed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotRenamed::Nothing => f.write_str("Nothing here has a name that could be another."),
            NotRenamed::NoName(it) => write!(
                f,
                "{it:?} is no name: a name begins with a letter or an underscore, and has letters, digits, underscores and hyphens."
            ),
            NotRenamed::Taken(it) => {
                write!(f, "The module has {it} already. Choose another name, or rename that one first.")
            }
            NotRenamed::Outside(path) => write!(
                f,
                "It is declared or used in {}, which lies outside of the folders that are open. Open that folder, too, to rename it everywhere.",
                path.display()
            ),
            NotRenamed::NotOurs => {
                f.write_str("It is declared in a module that was installed from elsewhere: what is changed there is lost with the next init.")
            }
        }
    }
}

/// Returns what would be renamed at a byte of a file: its name, and where that stands.
///
/// # Errors
///
/// If nothing there can be renamed.
pub fn renamed(
    workspace: &Workspace,
    path: &Path,
    at: usize,
) -> Result<(Target, String), NotRenamed> {
    let target = target_at(workspace, path, at).ok_or(NotRenamed::Nothing)?;
    let is_here = target.name.start <= at && at <= target.name.end;
    // The local name of a provider is part of the types of its resources.
    let is_fixed = matches!(target.entity, Entity::Provider(_, None));
    if !is_here || is_fixed || !target.module.declares(&target.entity) {
        return Err(NotRenamed::Nothing);
    }
    let is_installed = |it: &Path| it.components().any(|it| it.as_os_str() == ".terraform");
    if is_installed(&target.module.folder) {
        return Err(NotRenamed::NotOurs);
    }
    let name = target.entity.name().to_string();
    Ok((target, name))
}

/// Renames what is named at a byte of a file, in all files of its module and in those of its callers. What objects stand behind is
/// told by a `moved` block, so that they stay.
///
/// # Errors
///
/// If it cannot be renamed, or not to this.
pub fn rename(
    workspace: &Workspace,
    path: &Path,
    at: usize,
    to: &str,
) -> Result<Renaming, NotRenamed> {
    let (Target { entity, module, .. }, old) = renamed(workspace, path, at)?;
    if !is_identifier(to) {
        return Err(NotRenamed::NoName(to.to_owned()));
    }
    if old == to {
        return Ok(Renaming::default());
    }
    let new = entity.renamed(to);
    if module.declares(&new) {
        return Err(NotRenamed::Taken(new.address()));
    }
    let uses = used(workspace, &module, &entity).into_iter();
    let uses = uses.filter(|it| it.1 != Manner::Records).map(|it| it.0);
    let places: BTreeSet<Place> = declared(&module, &entity).into_iter().chain(uses).collect();
    let is_plain = |it: &Place| {
        let document = workspace.document(&it.path);
        document.is_some_and(|document| document.text.get(it.range.clone()) == Some(&*old))
    };
    let edits =
        places.into_iter().filter(is_plain).map(|place| Edit { place, text: to.to_owned() });
    let mut edits: Vec<Edit> = edits.collect();
    edits.extend(moved(&module, &entity, &new));
    edits.sort();
    match edits.iter().find(|it| !workspace.may_edit(&it.place.path)) {
        Some(it) => Err(NotRenamed::Outside(it.place.path.clone())),
        None => Ok(Renaming { edits }),
    }
}

/// The `moved` block for a rename; where one says the opposite, that one goes.
fn moved(module: &Module, old: &Entity, new: &Entity) -> Option<Edit> {
    let has_objects = match old {
        Entity::Resource(it) => it.mode == Mode::Managed,
        Entity::Call(_) => true,
        _ => false,
    };
    if !has_objects {
        return None;
    }
    if let Some((document, range)) = statement(module, &new.address(), &old.address()) {
        let place = Place { path: document.path.clone(), range };
        return Some(Edit { place, text: String::new() });
    }
    let (document, declaration) = module.declarations(old).next()?;
    let (document, at) = match document.language {
        Language::Config => (document, declaration.whole.end),
        // JSON has no place for it that any text has: a file in native syntax takes it.
        _ => {
            let native = module.configs().find(|it| it.language == Language::Config)?;
            (native, native.text.len())
        }
    };
    let text = format!("\n\nmoved {{\n  from = {}\n  to   = {}\n}}", old.address(), new.address());
    let text = if at == document.text.len() && document.text.ends_with('\n') {
        format!("{}\n", text.trim_start_matches('\n'))
    } else {
        text
    };
    Some(Edit { place: Place { path: document.path.clone(), range: at..at }, text })
}

/// The `moved` block from one address to another: its lines.
fn statement<'a>(
    module: &'a Module,
    from: &str,
    to: &str,
) -> Option<(&'a Arc<Document>, Range<usize>)> {
    for document in module.configs().filter(|it| it.language == Language::Config) {
        for block in document.body.blocks_of("moved") {
            let says = |name: &str| {
                let value = value(&block.body, name);
                value.map(|it| document.text_of(it.span).to_owned()).unwrap_or_default()
            };
            if says("from") == from && says("to") == to {
                let range = whole(block);
                let rest = &document.text[range.end..];
                let end = range.end + rest.len() - rest.trim_start_matches(['\n', '\r']).len();
                return Some((document, range.start..end));
            }
        }
    }
    None
}
