//! Which policies are in force: those beside the root module and in called modules, those that flags and the CLI configuration name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::session::Session;
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::install::Settings;
use crate::policy::{Origin, PolicySource};
use crate::world::World;

mod held;
mod install;
mod installed;
mod lock;
mod problems;
#[cfg(test)]
mod tests;
mod wanted;

pub use held::check_plan;
pub use install::{How, Progress, install};
use installed::Installed;
pub use lock::FILE as LOCK_FILE;
use wanted::{Asked, Place, of_flag, of_settings};

/// The folder of policies beside a module's files.
pub(crate) const FOLDER: &str = "policies";

/// How the names of files of policies end.
pub(crate) const ENDING: &str = ".rules";

/// As deep as folders of policies are looked into.
const DEEPEST: usize = 16;

/// Which policies are asked for.
#[derive(Clone, Debug, Default)]
pub struct PolicyChoice {
    /// `-policy=…`: files, folders, `library:NAME`, source addresses.
    pub named: Vec<String>,
    /// `-no-policies`: none but those that are required.
    pub none: bool,
}

impl PolicyChoice {
    /// Returns whether nothing was said of policies.
    pub fn is_default(&self) -> bool {
        self.named.is_empty() && !self.none
    }
}

/// Finds the policies in force: those of the CLI configuration, of the folder, of called modules, then those that are named.
///
/// # Errors
///
/// If a file cannot be read, what is named is not there, or what is installed is not what is locked.
pub fn find(session: &Session, choice: &PolicyChoice) -> Result<Vec<PolicySource>, Diagnostics> {
    let world = &*session.world;
    let mut problems = Diagnostics::new();
    let of_settings = in_settings(world, &session.sources, choice.none);
    let mut found = problems.take(of_settings).unwrap_or_default();
    if !choice.none {
        for (directory, modules) in folders(session) {
            let folder = world.root.join(directory).join(FOLDER);
            let (group, origin) = match modules.is_empty() {
                true => (FOLDER.to_owned(), Origin::Folder),
                false => (format!("{directory}/{FOLDER}"), Origin::Module),
            };
            for path in files_below(world, &folder, ENDING) {
                let source = problems.take(read(world, &path, (&group, origin.clone())));
                found.extend(source.map(|it| PolicySource { modules: modules.clone(), ..it }));
            }
        }
        let named = named(world, &session.sources, &choice.named);
        found.extend(problems.take(named).unwrap_or_default());
    }
    // What is required comes first, and stays so.
    once(&mut found);
    if problems.has_errors() { Err(problems) } else { Ok(found) }
}

/// Returns the folders of all modules, with the calls that lead to each; none to that of the root module.
fn folders(session: &Session) -> BTreeMap<&str, Vec<String>> {
    let mut folders: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (path, module) in &session.config.modules {
        let calls: Vec<&str> = path.0.iter().map(|it| &**it).collect();
        folders.entry(&module.directory).or_default().push(calls.join("."));
    }
    // What the root module's folder says, it says of everything.
    folders.insert(".", Vec::new());
    folders
}

/// Returns the policies that words mean: files, folders, parts of the library, and what is installed of a source.
///
/// # Errors
///
/// If there are none, or what is installed is not what is locked.
pub fn named(
    world: &World,
    sources: &Sources,
    words: &[String],
) -> Result<Vec<PolicySource>, Diagnostics> {
    let mut installed = Installed::new(world, sources);
    let (mut found, mut problems) = (Vec::new(), Diagnostics::new());
    for word in words {
        let asked = Asked::Flag(word.clone());
        let all = of_flag(world, word)
            .map_err(Diagnostics::from)
            .and_then(|it| at(world, it, &asked, &mut installed));
        found.extend(problems.take(all).unwrap_or_default());
    }
    if problems.has_errors() { Err(problems) } else { Ok(found) }
}

/// Returns the policies that are required of whatever is planned, checked or applied here.
///
/// # Errors
///
/// If they cannot be had, or are not what is locked.
pub fn required(world: &World, sources: &Sources) -> Result<Vec<PolicySource>, Diagnostics> {
    in_settings(world, sources, true)
}

/// Returns the policies of the CLI configuration; of all, those that are required come first.
fn in_settings(
    world: &World,
    sources: &Sources,
    only_required: bool,
) -> Result<Vec<PolicySource>, Diagnostics> {
    let mut installed = Installed::new(world, sources);
    let (mut found, mut problems) = (Vec::new(), Diagnostics::new());
    let mut wanted = of_settings(world, &Settings::of(world), only_required)?;
    wanted.sort_by_key(|it| !it.is_required);
    for it in wanted {
        let all = problems.take(at(world, it.place, &it.asked, &mut installed));
        found.extend(all.unwrap_or_default().into_iter().map(|source| {
            let group = match source.origin {
                // Each file of the library has relations of its own.
                Origin::Library => source.group.clone(),
                _ => it.asked.group(),
            };
            PolicySource { group, is_required: it.is_required, ..source }
        }));
    }
    once(&mut found);
    if problems.has_errors() { Err(problems) } else { Ok(found) }
}

/// What is named twice is in force once: as it is named first.
fn once(found: &mut Vec<PolicySource>) {
    let mut names = BTreeSet::new();
    found.retain(|it| names.insert(it.name.clone()));
}

/// Returns the policies at a place.
fn at(
    world: &World,
    place: Place,
    asked: &Asked,
    installed: &mut Installed<'_>,
) -> Result<Vec<PolicySource>, Diagnostics> {
    match place {
        Place::Library(name) => Ok(library(&name)?),
        Place::Path(path) => Ok(of_path(world, &path, asked)?),
        Place::Elsewhere(wanted) => installed.read(&wanted),
    }
}

/// Returns the files of the library that a name means: one, or all in a folder of it.
fn library(name: &str) -> Result<Vec<PolicySource>, Diagnostic> {
    let name = name.trim_end_matches('/').trim_end_matches(ENDING);
    let file = |it: &PolicySource| it.group.trim_start_matches("library:").to_owned();
    let is_meant = |it: &PolicySource| {
        let file = file(it);
        let is_within = file.strip_prefix(name).is_some_and(|it| it.starts_with('/'));
        file == name || name == "all" || is_within
    };
    let found: Vec<PolicySource> = PolicySource::library().filter(is_meant).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let names = PolicySource::library().flat_map(|it| {
        let file = file(&it);
        [file.split('/').next().unwrap_or_default().to_owned(), file]
    });
    Err(problems::not_in_library(name, &names.collect()))
}

fn of_path(world: &World, path: &Path, asked: &Asked) -> Result<Vec<PolicySource>, Diagnostic> {
    let files = match world.files.is_folder(path) {
        true => files_below(world, path, ENDING),
        false => vec![path.to_owned()],
    };
    if files.is_empty() {
        return Err(problems::none_there(&shown(world, path)));
    }
    let group = asked.group();
    files.iter().map(|it| read(world, it, (&group, Origin::Path))).collect()
}

fn read(
    world: &World,
    path: &Path,
    (group, origin): (&str, Origin),
) -> Result<PolicySource, Diagnostic> {
    let name = shown(world, path);
    let text = world.files.read_text(path);
    let text = text.map_err(|why| problems::unreadable(&name, &why.to_string()))?;
    let group = group.to_owned();
    Ok(PolicySource { name, group, text, modules: Vec::new(), is_required: false, origin })
}

/// Every file with an ending in a folder, at any depth, by name. What begins with a dot is not looked at: repositories keep their
/// history there.
pub(crate) fn files_below(world: &World, folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in world.files.entries(&folder).unwrap_or_default() {
            let (name, path) = (entry.name.to_string_lossy(), folder.join(&entry.name));
            if name.starts_with('.') {
                continue;
            }
            if world.files.is_folder(&path) {
                // A link may lead back to where it lies.
                open.extend((depth < DEEPEST).then_some((path, depth + 1)));
            } else if name.ends_with(ending) && world.files.is_file(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A path as it is shown: relative to the root module where it lies below it.
pub(crate) fn shown(world: &World, path: &Path) -> String {
    path.strip_prefix(&world.root).unwrap_or(path).to_string_lossy().into_owned()
}
