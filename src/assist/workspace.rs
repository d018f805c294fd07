//! Folders that are open in an editor, and the texts that are laid over their files; what was read is kept until it changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::document::{Document, Language};
use super::module::{self, Module};
use super::schemas::Schemas;
use crate::backend::workspace::data_folder;
use crate::config::InstalledModules;
use crate::config::files::config_files;
use crate::config::source::{ModuleSource, clean_path};
use crate::value::Str;
use crate::world::files::{by_name, real};
use crate::world::{Files, World};

/// The folders of tests and of policies beside a module.
const BESIDE: [&str; 2] = ["tests", "policies"];

/// How deep folders are looked through, how many of them, and how many modules are found at most: somebody may open all of a disk.
const DEEPEST: usize = 24;
const LOOKED_AT: usize = 50_000;
const MOST: usize = 20_000;

/// Folders, and the texts that are laid over their files.
#[derive(Debug, Default)]
pub struct Workspace {
    world: Option<World>,
    /// The folders that are open.
    pub roots: Vec<PathBuf>,
    files: Files,
    laid: FxHashMap<PathBuf, Arc<str>>,
    languages: FxHashMap<PathBuf, Language>,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    documents: FxHashMap<PathBuf, Arc<Document>>,
    modules: FxHashMap<PathBuf, Arc<Module>>,
    folders: Option<Arc<Vec<PathBuf>>>,
    schemas: FxHashMap<PathBuf, Arc<Schemas>>,
}

impl Workspace {
    /// Returns folders with nothing laid over them.
    pub fn new(world: World, roots: Vec<PathBuf>) -> Workspace {
        let files = world.files.clone();
        Workspace { world: Some(world), roots, files, ..Workspace::default() }
    }

    /// Returns the files, with what is laid over them.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Returns whether the editor says that programs of its folders may be started.
    pub fn is_trusted(&self) -> bool {
        self.world.as_ref().is_none_or(|it| it.is_trusted)
    }

    /// Returns a world whose root is this folder.
    pub fn world(&self, root: &Path) -> World {
        let base = self.world.clone().unwrap_or_else(World::of_this_process);
        World { root: root.to_owned(), cwd: root.to_owned(), files: self.files.clone(), ..base }
    }

    /// Lays a text over a file. A document without a file has a path that is not absolute, and is a module by itself.
    pub fn lay(&mut self, path: &Path, language: Language, text: impl Into<Arc<str>>) {
        let text = text.into();
        let is_new = !self.files.exists(path);
        if path.is_absolute() {
            self.files.lay(path, text.clone());
        }
        self.laid.insert(path.to_owned(), text);
        self.languages.insert(path.to_owned(), language);
        self.forget(path, is_new);
    }

    /// Takes away what was laid over a file.
    pub fn lift(&mut self, path: &Path) {
        self.files.lift(path);
        self.laid.remove(path);
        self.languages.remove(path);
        self.forget(path, true);
    }

    /// Returns the text that is laid over a file.
    pub fn laid(&self, path: &Path) -> Option<&Arc<str>> {
        self.laid.get(path)
    }

    /// Returns whether a file may be changed for the user: it lies in a folder that is open, wherever links lead; where none is, in the
    /// folder of an open text.
    pub fn may_edit(&self, path: &Path) -> bool {
        if !path.is_absolute() {
            return self.laid.contains_key(path);
        }
        let path = real(path);
        let is_in = |folder: &Path| path.starts_with(real(folder));
        match self.roots.is_empty() {
            true => self.laid.keys().any(|it| it.is_absolute() && is_in(&folder_of(it))),
            false => self.roots.iter().any(|it| is_in(it)),
        }
    }

    /// Iterates over the files that have texts laid over them.
    pub fn open(&self) -> impl Iterator<Item = &PathBuf> {
        self.laid.keys()
    }

    /// Says that a file of the disk has changed, is there, or is gone.
    pub fn changed(&mut self, path: &Path) {
        self.forget(path, true);
    }

    /// Says that any file of the disk may have changed. What has not is not read anew.
    pub fn all_changed(&mut self) {
        let mut kept = self.kept.lock();
        kept.modules.clear();
        (kept.folders, kept.schemas) = Default::default();
    }

    fn forget(&mut self, path: &Path, is_listed_anew: bool) {
        let mut kept = self.kept.lock();
        let folder = folder_of(path);
        kept.modules.remove(&folder);
        if is_listed_anew {
            kept.folders = None;
        }
        let is_lock = path.file_name().is_some_and(|it| it == ".terraform.lock.hcl");
        if is_lock || path.components().any(|it| it.as_os_str() == ".terraform") {
            kept.schemas.clear();
            kept.modules.clear();
        }
    }

    /// Returns a document.
    pub fn document(&self, path: &Path) -> Option<Arc<Document>> {
        let language = self.languages.get(path).copied().or_else(|| Language::of(path))?;
        let text = match self.laid.get(path) {
            Some(text) => text.clone(),
            None => self.files.read_text(path).ok()?.into(),
        };
        let known = self.kept.lock().documents.get(path).cloned();
        if let Some(known) = known.filter(|it| it.text == text && it.language == language) {
            return Some(known);
        }
        let document = Arc::new(Document::read(path, language, text));
        self.kept.lock().documents.insert(path.to_owned(), document.clone());
        Some(document)
    }

    /// Returns the module that a file belongs to.
    pub fn module_of(&self, path: &Path) -> Arc<Module> {
        if path.is_absolute() {
            return self.module(&folder_of(path));
        }
        let document = self.document(path).into_iter().collect();
        Arc::new(Module::new(path.to_owned(), document, InstalledModules::default()))
    }

    /// Returns the module of a folder; without documents where there is none.
    pub fn module(&self, folder: &Path) -> Arc<Module> {
        if let Some(known) = self.kept.lock().modules.get(folder) {
            return known.clone();
        }
        let module = Arc::new(self.read_module(folder));
        self.kept.lock().modules.insert(folder.to_owned(), module.clone());
        module
    }

    fn read_module(&self, folder: &Path) -> Module {
        let names = |folder: &Path| {
            let entries = self.files.entries(folder).unwrap_or_default();
            entries
                .into_iter()
                .filter(|it| !it.is_folder)
                .map(|it| folder.join(it.name))
                .collect::<Vec<_>>()
        };
        let found = config_files(&self.files, folder).unwrap_or_default();
        let mut paths: BTreeSet<PathBuf> =
            found.primary.iter().chain(&found.overriding).map(|it| folder.join(it)).collect();
        let is_beside = |it: &PathBuf| Language::of(it).is_some_and(|it| !it.is_config());
        paths.extend(names(folder).into_iter().filter(is_beside));
        for name in BESIDE {
            paths.extend(names(&folder.join(name)).into_iter().filter(is_beside));
        }
        let mut documents: Vec<_> = paths.iter().filter_map(|it| self.document(it)).collect();
        documents.sort_by_key(|it| module::order(it));
        let data = data_folder(&self.world(folder));
        let installed = InstalledModules::read(&self.files, &data).unwrap_or_default();
        Module::new(folder.to_owned(), documents, installed)
    }

    /// Returns every folder with configuration, of those that are open and of documents.
    pub fn folders(&self) -> Arc<Vec<PathBuf>> {
        if let Some(known) = &self.kept.lock().folders {
            return known.clone();
        }
        let mut found: BTreeSet<PathBuf> =
            self.laid.keys().filter(|it| it.is_absolute()).map(|it| folder_of(it)).collect();
        for root in &self.roots {
            self.find(root, &mut found);
        }
        let is_module =
            |it: &PathBuf| config_files(&self.files, it).is_some_and(|it| !it.is_empty());
        let found: Arc<Vec<PathBuf>> = Arc::new(found.into_iter().filter(is_module).collect());
        self.kept.lock().folders = Some(found.clone());
        found
    }

    fn find(&self, root: &Path, found: &mut BTreeSet<PathBuf>) {
        let mut open = vec![(by_name(root), 0)];
        let mut looked_at = 0;
        while let Some((folder, depth)) = open.pop() {
            looked_at += 1;
            if found.len() >= MOST || looked_at > LOOKED_AT {
                return;
            }
            let mut is_module = false;
            for entry in self.files.entries(&folder).unwrap_or_default() {
                let name = entry.name.to_string_lossy();
                let path = folder.join(&entry.name);
                if entry.is_folder {
                    let is_looked_at = !name.starts_with('.') && name != "node_modules";
                    open.extend((is_looked_at && depth < DEEPEST).then_some((path, depth + 1)));
                } else {
                    is_module |= Language::of(&path).is_some_and(Language::is_config);
                }
            }
            if is_module {
                found.insert(folder);
            }
        }
    }

    /// Returns the module that a call leads to, where it is at hand.
    pub fn called(&self, module: &Module, call: &str) -> Option<Arc<Module>> {
        let folder = self.called_folder(module, call)?;
        Some(self.module(&folder)).filter(|it| !it.is_empty())
    }

    fn called_folder(&self, module: &Module, call: &str) -> Option<PathBuf> {
        match module.source(call)? {
            ModuleSource::Local(path) => Some(by_name(&module.folder.join(path))),
            _ => {
                let record = module.installed.records.get(call)?;
                Some(by_name(&module.folder.join(clean_path(&record.directory))))
            }
        }
    }

    /// Returns the calls that lead to a folder: the calling module, and the call's name.
    pub fn callers(&self, folder: &Path) -> Vec<(Arc<Module>, Str)> {
        let mut found = Vec::new();
        for other in self.folders().iter() {
            let module = self.module(other);
            for call in module.calls() {
                if self.called_folder(&module, &call).is_some_and(|it| it == folder) {
                    found.push((module.clone(), call));
                }
            }
        }
        found
    }

    /// Returns the folders that no other one calls: what is checked as a whole.
    pub fn entries(&self) -> Vec<PathBuf> {
        let folders = self.folders();
        let mut called = BTreeSet::new();
        for folder in folders.iter() {
            let module = self.module(folder);
            let calls = module.calls();
            called.extend(
                calls
                    .iter()
                    .filter_map(|it| self.called_folder(&module, it))
                    .filter(|it| it != folder),
            );
        }
        let entries: Vec<PathBuf> =
            folders.iter().filter(|it| !called.contains(*it)).cloned().collect();
        // Folders that call each other are all entries.
        if entries.is_empty() { folders.to_vec() } else { entries }
    }

    /// Returns the folders that a folder's module calls, and those that these call, with itself.
    pub fn reached(&self, folder: &Path) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut open = vec![folder.to_owned()];
        while let Some(folder) = open.pop() {
            if found.insert(folder.clone()) {
                let module = self.module(&folder);
                open.extend(module.calls().iter().filter_map(|it| self.called_folder(&module, it)));
            }
        }
        found
    }

    /// Returns what the providers of a folder announce, as far as that is known already.
    pub fn schemas(&self, folder: &Path) -> Arc<Schemas> {
        if let Some(known) = self.kept.lock().schemas.get(folder) {
            return known.clone();
        }
        let schemas = Arc::new(Schemas::of(self, folder));
        self.kept.lock().schemas.insert(folder.to_owned(), schemas.clone());
        schemas
    }
}

/// The folder of the module that a file belongs to: tests and policies may lie in a folder below it.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().unwrap_or(path);
    let is_config = Language::of(path).is_none_or(Language::is_config);
    let name = folder.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    match folder.parent() {
        Some(above) if !is_config && BESIDE.contains(&name) => above.to_owned(),
        _ => folder.to_owned(),
    }
}
