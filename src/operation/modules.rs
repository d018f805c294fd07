//! Installs the modules that a configuration calls: finds them and writes down where they are.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::address::Module as ModuleAddr;
use crate::config::source::{ModuleSource, join_path};
use crate::config::statics::{Ground, StaticModule};
use crate::config::{CallSource, InstalledModules, Module, ModuleCall, call_source, load_module};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources, Span};

/// One module that was found, for the terminal: `- net.subnet in modules/subnet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The call's path, joined with dots.
    pub key: String,
    /// The folder, relative to the root module's.
    pub directory: String,
}

/// What an installation did.
#[derive(Clone, Debug, Default)]
pub struct Installation {
    /// Modules that were not installed before, or elsewhere, in the order in which they were found.
    pub installed: Vec<Installed>,
    /// Where everything is now.
    pub modules: InstalledModules,
    /// Whether anything is called at all.
    pub has_calls: bool,
}

/// Finds every module that the root module in `root` calls, directly or not, and writes `modules/modules.json` under `data`
/// (the root's `.terraform`). Where something is wrong nothing is written.
///
/// Only local modules (`./`, `../`) can be installed.
pub fn install_modules(ground: &Arc<Ground>, data: &Path) -> (Installation, Diagnostics) {
    let (root, sources) = (&ground.world.root, &ground.sources);
    let (module, mut problems) = load_module(root, ".", sources);
    let Some(module) = module else { return (Installation::default(), problems) };
    if problems.has_errors() {
        return (Installation::default(), problems);
    }
    let before = InstalledModules::read(data).unwrap_or_default();
    let mut installer = Installer {
        root,
        sources,
        before,
        done: Installation::default(),
        problems: Diagnostics::new(),
        told: BTreeSet::new(),
    };
    installer.done.has_calls = !module.calls.is_empty();
    installer.install_all(Arc::new(StaticModule::root(module, ground.clone())));
    let Installer { done, problems: more, before, .. } = installer;
    problems.extend(more);
    if !problems.has_errors() && (done.has_calls || !before.records.is_empty()) {
        problems.extend(write(data, &done.modules).err());
    }
    (done, problems)
}

struct Installer<'a> {
    root: &'a Path,
    sources: &'a Sources,
    before: InstalledModules,
    done: Installation,
    problems: Diagnostics,
    /// Folders whose own problems were told.
    told: BTreeSet<String>,
}

/// A module whose calls are still to be followed.
struct Open {
    place: Arc<StaticModule>,
    /// The folders from the root to this module.
    trail: Vec<String>,
}

impl Installer<'_> {
    /// Follows calls depth first, in the order of their names.
    fn install_all(&mut self, root: Arc<StaticModule>) {
        self.done.modules.insert(&ModuleAddr::default(), String::new(), None, ".".to_owned());
        let mut open = vec![Open { place: root, trail: vec![".".to_owned()] }];
        while let Some(Open { place, trail }) = open.pop() {
            let mut called = Vec::new();
            for call in place.module().calls.values() {
                let child = place.address().child(&call.name.text);
                let Some((module, directory)) = self.install(&child, call, &place, &trail) else {
                    continue;
                };
                let trail = trail.iter().cloned().chain([directory]).collect();
                let place = Arc::new(place.child(child, call, None, module));
                called.push(Open { place, trail });
            }
            open.extend(called.into_iter().rev());
        }
    }

    fn install(
        &mut self,
        address: &ModuleAddr,
        call: &ModuleCall,
        place: &StaticModule,
        trail: &[String],
    ) -> Option<(Arc<Module>, String)> {
        let CallSource { source, .. } = self.problems.take(call_source(call, place, None))?;
        let at = call.source.as_ref().map_or(call.declared, |it| it.span);
        let ModuleSource::Local(path) = &source else {
            self.problems.push(not_local(&call.name.text, &source, at));
            return None;
        };
        let caller = trail.last().map_or(".", |it| it.as_str());
        let directory = join_path(caller, path);
        if trail.contains(&directory) {
            self.problems.push(calls_itself(&call.name.text, &directory, call.declared));
            return None;
        }
        let (module, problems) = load_module(&self.root.join(&directory), &directory, self.sources);
        let Some(module) = module else {
            self.problems.push(unreadable(&directory, &call.name.text, at));
            return None;
        };
        let is_broken = problems.has_errors();
        if self.told.insert(directory.clone()) {
            self.problems.extend(problems);
        }
        // What a broken module calls need not be what its author means.
        if is_broken {
            return None;
        }
        let is_known = self
            .before
            .get(address)
            .is_some_and(|it| it.directory == directory && it.source == source.to_string());
        if !is_known {
            let key = address.0.join(".");
            self.done.installed.push(Installed { key, directory: directory.clone() });
        }
        self.done.modules.insert(address, source.to_string(), None, directory.clone());
        Some((module, directory))
    }
}

/// Writes the list of modules, whole or not at all.
fn write(data: &Path, modules: &InstalledModules) -> Result<(), Diagnostic> {
    let path = InstalledModules::path(data);
    let folder = data.join("modules");
    let attempt = || -> std::io::Result<()> {
        use std::io::Write;
        std::fs::create_dir_all(&folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&folder)?;
        file.write_all(modules.to_json().as_bytes())?;
        file.persist(&path).map_err(|it| it.error)?;
        Ok(())
    };
    attempt().map_err(|error| not_written(&path, &error))
}

fn not_written(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Failed to update module manifest")
        .detail(format!("Unable to write the module manifest file {}: {error}.", path.display()))
}

fn not_local(name: &str, source: &ModuleSource, at: Span) -> Diagnostic {
    let kind = if matches!(source, ModuleSource::Registry(_)) {
        "a module registry"
    } else {
        "a remote location"
    };
    Diagnostic::error("Module source is not supported")
        .detail(format!("The source {:?} of module {name:?} leads to {kind}, which is not supported yet. Only local modules, whose source begins with \"./\" or \"../\", can be installed.", source.to_string()))
        .at(at)
}

fn unreadable(directory: &str, name: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Unreadable module directory")
        .detail(format!("The directory {directory} could not be read for module {name:?}. It does not exist, or its permissions forbid it."))
        .at(at)
}

fn calls_itself(name: &str, directory: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Module calls itself")
        .detail(format!("The module call {name:?} leads to the folder {directory}, which is one of those that lead to this call. A module cannot contain itself; change the source of one of the calls."))
        .at(at)
}
