//! Installs the modules that a configuration calls: finds them, fetches what lies elsewhere, and writes down where they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::address::ModuleInstance;
use crate::backend::files::{self, Fresh};
use crate::config::early::{Each, EarlyContext, StaticModule};
use crate::config::source::{ModuleSource, RegistryAddress, RemoteAddress, join_path};
use crate::config::version::{Constraints, Version};
use crate::config::{
    CallSource, InstalledModule, InstalledModules, Module, ModuleCall, call_source, installed,
    instances, load_module, masked,
};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::install::Settings;
use crate::world::Files;

mod archive;
mod bucket;
mod copying;
pub(super) mod fetch;
mod git;
mod hg;
mod images;
pub(super) mod package;
mod problems;
mod program;
mod registry;
#[cfg(test)]
pub(super) mod tests;
mod web;

pub use copying::copy_module;
use fetch::Fetcher;

/// One module that was found, for the terminal: `- net.subnet in modules/subnet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The call's path, joined with dots.
    pub key: String,
    /// The folder, relative to the root module's.
    pub directory: String,
}

/// What is told while modules are installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The root module calls others.
    Begun,
    /// A package is fetched: from where, which version, and for which call.
    Downloading(String, Option<String>, String),
    /// A module is in its place.
    Found(Installed),
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

/// How modules are installed.
#[derive(Clone, Copy)]
pub struct How<'a> {
    /// Fetches everything again, and the newest versions.
    pub upgrade: bool,
    /// The CLI configuration: addresses of registries and credentials, by host.
    pub settings: &'a Settings,
    /// Is told of every step.
    pub tell: &'a dyn Fn(Progress),
}

/// Tells nobody, with a CLI configuration that says nothing.
#[cfg(test)]
pub(crate) fn quietly() -> How<'static> {
    static DEFAULT: std::sync::LazyLock<Settings> = std::sync::LazyLock::new(Settings::default);
    How { upgrade: false, settings: &DEFAULT, tell: &|_| {} }
}

/// Finds every module that the root module calls, directly or not, fetches those that lie elsewhere, and writes
/// `modules/modules.json` under `data` (the root's `.terraform`). What fails leaves what was installed before as it was.
///
/// - `more`: calls that stand in no module, with the address before their names: those of tests.
pub fn install_modules(
    context: &Arc<EarlyContext>,
    data: &Path,
    more: &[(ModuleInstance, ModuleCall)],
    how: How<'_>,
) -> (Installation, Diagnostics) {
    let (root, sources) = (&context.world.root, &context.sources);
    let (module, mut problems) = load_module(&context.world.files, root, ".", sources);
    let Some(module) = module else { return (Installation::default(), problems) };
    if problems.has_errors() {
        return (Installation::default(), problems);
    }
    let before = InstalledModules::read(&context.world.files, data).unwrap_or_default();
    let mut installer = Installer {
        files: &context.world.files,
        root,
        data,
        sources,
        before,
        how,
        fetches: true,
        fetcher: Fetcher::new(&context.world, data.join("modules"), how.settings),
        done: Installation::default(),
        problems: Diagnostics::new(),
        told: BTreeSet::new(),
        listed: BTreeMap::new(),
        more: more
            .iter()
            .map(|(at, call)| {
                Arc::new(StaticModule::calling(at.clone(), call.clone(), context.clone()))
            })
            .collect(),
    };
    installer.done.has_calls = !module.calls.is_empty() || !more.is_empty();
    if installer.done.has_calls {
        (installer.how.tell)(Progress::Begun);
    }
    installer.install_all(&Arc::new(StaticModule::root(module, context.clone())));
    let Installer { mut done, problems: more, before, .. } = installer;
    problems.extend(more);
    if problems.has_errors() {
        // What could not be installed now may still be there from before.
        for (key, record) in &before.records {
            done.modules.records.entry(key.clone()).or_insert_with(|| record.clone());
        }
    }
    if done.modules.records.len() > 1 || !before.records.is_empty() {
        problems.extend(write(data, &done.modules).err());
    }
    (done, problems)
}

struct Installer<'a> {
    files: &'a Files,
    root: &'a Path,
    data: &'a Path,
    sources: &'a Sources,
    before: InstalledModules,
    how: How<'a>,
    /// Whether what lies elsewhere is fetched, and not left out.
    fetches: bool,
    fetcher: Fetcher,
    done: Installation,
    problems: Diagnostics,
    /// Folders whose own problems were told.
    told: BTreeSet<String>,
    /// The versions of registry modules that were asked for.
    listed: BTreeMap<String, Vec<Version>>,
    /// What calls modules beside the root module.
    more: Vec<Arc<StaticModule>>,
}

/// A module whose calls are still to be followed.
struct Open {
    place: Arc<StaticModule>,
    /// The folders from the root to this module.
    trail: Vec<String>,
    /// The folder of the package that it belongs to; nothing in the root module's own.
    package: Option<String>,
}

/// Where a module was put.
struct Put {
    directory: String,
    version: Option<String>,
    package: Option<String>,
}

/// One instance of a call that is to be installed.
struct Wanted<'a> {
    at: ModuleInstance,
    key: String,
    call: &'a ModuleCall,
    caller: &'a Open,
}

impl Installer<'_> {
    /// Installs until no further call turns out to be expanded before planning. What lies beside its caller tells that
    /// without anything being fetched: it is looked at first, and nobody is told.
    fn install_all(&mut self, root: &Arc<StaticModule>) {
        let how = self.how;
        (self.how, self.fetches) = (How { tell: &|_| {}, ..how }, false);
        self.follow_until_expanded(root);
        self.start_again();
        (self.how, self.fetches) = (how, true);
        self.follow_until_expanded(root);
    }

    fn follow_until_expanded(&mut self, root: &Arc<StaticModule>) {
        loop {
            let expanded = root.context().expanded();
            self.follow_calls(root.clone());
            if root.context().expanded() == expanded {
                return;
            }
            self.start_again();
        }
    }

    fn start_again(&mut self) {
        (self.problems, self.told) = Default::default();
        self.done.installed = Vec::new();
        self.done.modules = InstalledModules::default();
    }

    /// Follows calls depth first, in the order of their names.
    fn follow_calls(&mut self, root: Arc<StaticModule>) {
        self.done.modules.insert(root.at(), InstalledModule::of("", None, "."));
        let beside = self.more.iter().cloned();
        // What a test names may be the root module itself.
        let beside = beside.map(|place| Open { place, trail: Vec::new(), package: None });
        let mut open: Vec<Open> = beside.rev().collect();
        open.push(Open { place: root, trail: vec![".".to_owned()], package: None });
        while let Some(caller) = open.pop() {
            let mut called = Vec::new();
            for call in caller.place.module().calls.values() {
                let all = self.problems.take(instances(&caller.place, call)).unwrap_or_default();
                called.extend(all.into_iter().filter_map(|it| self.install(call, it, &caller)));
            }
            open.extend(called.into_iter().rev());
        }
    }

    fn install(
        &mut self,
        call: &Arc<ModuleCall>,
        each: Option<Each>,
        caller: &Open,
    ) -> Option<Open> {
        let CallSource { source, version } =
            self.problems.take(call_source(call, &caller.place, each.as_ref()))?;
        let at = caller.place.child_at(call, each.as_ref());
        let wanted = Wanted { key: installed::key(&at), at, call, caller };
        let put = match &source {
            ModuleSource::Local(path) => self.problems.take(local(&wanted, path))?,
            _ if !self.fetches => {
                self.known(&wanted, &source, constraints(version.as_deref()).as_ref())?
            }
            other => {
                let put = self.fetch(&wanted, other, version.as_deref());
                self.problems.take(put)?
            }
        };
        if self.files.is_folder(&self.root.join(&put.directory)) {
            // What is wrong with it is told where it lies, whoever asks next.
            let (source, version) = (source.recorded(), put.version.as_deref());
            let record = InstalledModule::of(&source, version, &put.directory);
            self.done.modules.insert(&wanted.at, record);
        }
        let module = self.load(&wanted, &put)?;
        let is_known = self
            .before
            .get(&wanted.at)
            .is_some_and(|it| it.directory == put.directory && it.source == source.recorded());
        if !is_known || self.how.upgrade {
            let it = Installed { key: wanted.key.clone(), directory: put.directory.clone() };
            (self.how.tell)(Progress::Found(it.clone()));
            self.done.installed.push(it);
        }
        let place = Arc::new(caller.place.child(call, each, module));
        let trail = caller.trail.iter().cloned().chain([put.directory.clone()]).collect();
        Some(Open { place, trail, package: put.package })
    }

    /// Reads the module that was put somewhere.
    fn load(&mut self, wanted: &Wanted, put: &Put) -> Option<Arc<Module>> {
        let (name, directory) = (&wanted.call.name.text, &put.directory);
        if wanted.caller.trail.contains(directory) {
            self.problems.push(problems::calls_itself(name, directory, wanted.call.declared));
            return None;
        }
        let (module, problems) =
            load_module(self.files, &self.root.join(directory), directory, self.sources);
        let Some(module) = module else {
            self.problems.push(problems::unreadable(directory, name, wanted));
            return None;
        };
        let is_broken = problems.has_errors();
        if self.told.insert(directory.clone()) {
            self.problems.extend(problems);
        }
        // What a broken module calls need not be what its author means.
        (!is_broken).then_some(module)
    }

    /// Fetches a module that lies elsewhere, unless it is there already.
    fn fetch(
        &mut self,
        wanted: &Wanted,
        source: &ModuleSource,
        version: Option<&str>,
    ) -> Result<Put, Diagnostics> {
        let constraints = constraints(version);
        if let Some(known) = self.known(wanted, source, constraints.as_ref()) {
            return Ok(known);
        }
        let folder = self.data.join("modules").join(folder_name(&wanted.key));
        let shown = shown(self.root, &folder);
        let (address, version) = match source {
            ModuleSource::Registry(text) => {
                let registry = RegistryAddress::parse(text);
                let version = self.choose(wanted, &registry, constraints.as_ref())?;
                self.tell_download(&registry.package(), Some(&version), wanted);
                let found = self.fetcher.located(&registry, &version);
                let address = found.map_err(|why| {
                    problems::registry_failed(&registry, Some(&version), &why, wanted)
                })?;
                let folder = join_folder(&address.folder, &registry.folder);
                (RemoteAddress { folder, ..address }, Some(version))
            }
            _ => {
                let address = RemoteAddress::parse(&source.to_string())
                    .map_err(|why| problems::not_fetched(wanted, &source.to_string(), &why))?;
                self.tell_download(&masked(&address.package()), None, wanted);
                (address, None)
            }
        };
        self.fetcher
            .fetch(&address, &folder)
            .map_err(|why| problems::not_fetched(wanted, &address.package(), &why))?;
        let directory = match address.folder.as_str() {
            "" => shown.clone(),
            inner => join_path(&shown, inner),
        };
        if !self.files.is_folder(&self.root.join(&directory)) {
            return Err(problems::no_subdirectory(wanted, &address.folder).into());
        }
        Ok(Put { directory, version, package: Some(shown) })
    }

    fn tell_download(&self, package: &str, version: Option<&str>, wanted: &Wanted) {
        let version = version.map(str::to_owned);
        (self.how.tell)(Progress::Downloading(package.to_owned(), version, wanted.key.clone()));
    }

    /// Returns where a module is that was fetched before and still fits.
    fn known(
        &self,
        wanted: &Wanted,
        source: &ModuleSource,
        constraints: Option<&Constraints>,
    ) -> Option<Put> {
        let record = self.before.get(&wanted.at)?;
        let version = record.version.as_deref().and_then(Version::parse);
        let fits = constraints.is_none_or(|it| version.as_ref().is_some_and(|at| it.allow(at)));
        let is_there = self.files.is_folder(&self.root.join(&*record.directory));
        if self.how.upgrade || *record.source != source.recorded() || !fits || !is_there {
            return None;
        }
        let folder = self.data.join("modules").join(folder_name(&wanted.key));
        Some(Put {
            directory: record.directory.to_string(),
            version: record.version.as_deref().map(str::to_owned),
            package: Some(shown(self.root, &folder)),
        })
    }

    /// Chooses the newest version of a registry module that its call allows.
    fn choose(
        &mut self,
        wanted: &Wanted,
        registry: &RegistryAddress,
        constraints: Option<&Constraints>,
    ) -> Result<String, Diagnostics> {
        let package = registry.package();
        if !self.listed.contains_key(&package) {
            let listed = self.fetcher.versions(registry);
            let listed = listed.map_err(|why| match why {
                registry::Trouble::NotFound => problems::not_in_registry(registry, wanted),
                registry::Trouble::Failed(why) => {
                    problems::registry_failed(registry, None, &why, wanted)
                }
            })?;
            self.listed.insert(package.clone(), listed);
        }
        let all = &self.listed[&package];
        let Some(newest) = all.last() else {
            return Err(problems::no_versions(registry, wanted).into());
        };
        let found = all.iter().rev().find(|it| match constraints {
            Some(constraints) => constraints.allow(it),
            None => it.prerelease.is_empty(),
        });
        match found {
            Some(version) => Ok(version.to_string()),
            None => {
                Err(problems::no_matching_version(registry, &newest.to_string(), wanted).into())
            }
        }
    }
}

fn constraints(version: Option<&str>) -> Option<Constraints> {
    version.and_then(Constraints::parse)
}

/// Returns where a module is that lies beside its caller.
fn local(wanted: &Wanted, path: &str) -> Result<Put, Diagnostics> {
    let caller = wanted.caller.trail.last().map_or(".", |it| it.as_str());
    let directory = join_path(caller, path);
    let package = wanted.caller.package.clone();
    if let Some(package) = &package
        && directory != *package
        && !directory.starts_with(&format!("{package}/"))
    {
        return Err(problems::escapes(wanted, path, package).into());
    }
    Ok(Put { directory, version: None, package })
}

fn join_folder(outer: &str, inner: &str) -> String {
    match (outer, inner) {
        (outer, "") => outer.to_owned(),
        ("", inner) => inner.to_owned(),
        (outer, inner) => join_path(outer, inner),
    }
}

/// Returns a folder as users would write it, relative to the root module's.
fn shown(root: &Path, folder: &Path) -> String {
    folder.strip_prefix(root).unwrap_or(folder).to_string_lossy().replace('\\', "/")
}

/// Returns the name of a call's folder; keys of instances can hold anything, folders' names cannot.
fn folder_name(key: &str) -> PathBuf {
    let is_plain = |it: char| it.is_alphanumeric() || "._-".contains(it);
    if key.chars().all(is_plain) {
        return key.into();
    }
    let plain: String = key.chars().map(|it| if is_plain(it) { it } else { '_' }).collect();
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    format!("{plain}-{:08x}", key.bytes().fold(0x811c_9dc5, step)).into()
}

/// Writes the list of modules, whole or not at all.
fn write(data: &Path, modules: &InstalledModules) -> Result<(), Diagnostic> {
    let path = InstalledModules::path(data);
    let written = files::replace(&path, modules.to_json().as_bytes(), Fresh::Usual);
    written.map_err(|error| problems::not_written(&path, &error))
}
