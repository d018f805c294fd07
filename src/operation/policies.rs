//! Which policies are in force: those beside the root module and in called modules, those that flags name, those of the library.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use entail_rules::library::LIBRARY;

use super::session::Session;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::policy::PolicySource;
use crate::world::World;

/// The folder of policies beside a module's files.
pub(crate) const FOLDER: &str = "policies";

/// How the names of files of policies end.
pub(crate) const ENDING: &str = ".rules";

/// As deep as folders of policies are looked into.
const DEEPEST: usize = 16;

/// Which policies are asked for.
#[derive(Clone, Debug, Default)]
pub struct PolicyChoice {
    /// `-policy=…`: files, folders, `library:NAME`.
    pub named: Vec<String>,
    /// `-no-policies`: none but those that are required.
    pub none: bool,
}

/// Finds the policies in force: those of the folder, of called modules, then those that are named.
///
/// # Errors
///
/// If a file cannot be read, or what is named is not there.
pub fn find(session: &Session, choice: &PolicyChoice) -> Result<Vec<PolicySource>, Diagnostics> {
    let world = &*session.world;
    let mut found = Vec::new();
    if choice.none {
        return Ok(found);
    }
    let mut problems = Diagnostics::new();
    let mut read = |path: &Path, shown: String, group: &str, module: Option<String>| match world
        .files
        .read_text(path)
    {
        Ok(text) => found.push(PolicySource {
            name: shown,
            group: group.to_owned(),
            text,
            module,
            is_required: false,
        }),
        Err(error) => problems.push(unreadable(&shown, &error.to_string())),
    };
    for path in files_below(world, &world.root.join(FOLDER), ENDING) {
        read(&path, shown(world, &path), FOLDER, None);
    }
    let mut seen = BTreeSet::from([".".to_owned()]);
    for (path, module) in &session.config.modules {
        if !seen.insert(module.directory.clone()) {
            continue;
        }
        let folder = world.root.join(&module.directory).join(FOLDER);
        let group = format!("{}/{FOLDER}", module.directory);
        let calls: Vec<&str> = path.0.iter().map(|it| &**it).collect();
        for path in files_below(world, &folder, ENDING) {
            read(&path, shown(world, &path), &group, Some(calls.join(".")));
        }
    }
    for it in &choice.named {
        found.extend(problems.take(named(world, it)).unwrap_or_default());
    }
    // What is named twice is in force once.
    let mut names = BTreeSet::new();
    found.retain(|it| names.insert(it.name.clone()));
    if problems.has_errors() { Err(problems) } else { Ok(found) }
}

/// Returns the policies that a word means: a file, those of a folder, or a part of the library.
///
/// # Errors
///
/// If there are none.
pub fn named(world: &World, word: &str) -> Result<Vec<PolicySource>, Diagnostic> {
    match word.strip_prefix("library:") {
        Some(name) => library(name),
        None => of_path(world, word),
    }
}

/// Returns the files of the library that a name means: one, or all in a folder of it.
fn library(name: &str) -> Result<Vec<PolicySource>, Diagnostic> {
    let name = name.trim_end_matches('/').trim_end_matches(".rules");
    let is_meant = |it: &PolicySource| {
        let file = it.group.trim_start_matches("library:");
        file == name
            || name == "all"
            || file.strip_prefix(name).is_some_and(|it| it.starts_with('/'))
    };
    let found: Vec<PolicySource> = PolicySource::library().filter(is_meant).collect();
    if found.is_empty() { Err(not_in_library(name)) } else { Ok(found) }
}

fn of_path(world: &World, named: &str) -> Result<Vec<PolicySource>, Diagnostic> {
    let path = match named {
        "." => world.root.clone(),
        named => world.root.join(named),
    };
    let files = match world.files.is_folder(&path) {
        true => files_below(world, &path, ENDING),
        false => vec![path],
    };
    if files.is_empty() {
        return Err(Diagnostic::error("No policies there").detail(format!(
            "The folder {named} holds no file whose name ends in .rules, at any depth."
        )));
    }
    let read = |path: PathBuf| {
        let text = world.files.read_text(&path);
        let text = text.map_err(|error| unreadable(named, &error.to_string()))?;
        Ok(PolicySource {
            name: shown(world, &path),
            group: named.to_owned(),
            text,
            module: None,
            is_required: false,
        })
    };
    files.into_iter().map(read).collect()
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

fn unreadable(name: &str, why: &str) -> Diagnostic {
    Diagnostic::error("Policy cannot be read").detail(format!("{name} cannot be read: {why}."))
}

fn not_in_library(name: &str) -> Diagnostic {
    let names: BTreeSet<&str> =
        LIBRARY.iter().flat_map(|it| [it.0, it.0.split('/').next().unwrap_or_default()]).collect();
    let near = names.iter().min_by_key(|it| strsim::damerau_levenshtein(it, name));
    let near = near.filter(|it| strsim::damerau_levenshtein(it, name) <= 3);
    let hint = near.map_or(String::new(), |it| format!(" Did you mean library:{it}?"));
    let all: Vec<&str> = names.into_iter().collect();
    Diagnostic::error("Not in the library").detail(format!(
        "The library has no policies called {name}.{hint} It has: {}.",
        all.join(", ")
    ))
}
