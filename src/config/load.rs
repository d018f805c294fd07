//! From folders to a configuration: reads a module's files, and the modules that it calls.

use crate::world::{PRODUCT, PROGRAM};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use crate::address::ModuleInstance;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity, Sort, Sources, Span};
use crate::world::Files;

use super::assemble::{assemble, keep_incompatibility};
use super::decode::{Decoder, FileKind};
use super::early::{Each, EarlyContext, StaticModule};
use super::file::{self, File};
use super::files::{config_files, is_tofu_file};
use super::installed::{InstalledModule, InstalledModules};
use super::source::ModuleSource;
use super::{Config, Module, ModuleCall, check, early, problems, settle};

pub(super) mod source;

pub use self::source::{CallSource, call_source, written_source};
use self::source::{because_of, source_changed, source_span, version_changed};

/// Reads the module of one folder. `shown_as` is the folder as users would write it, `.` for the root module's.
///
/// Nothing is returned where the folder cannot be read. A module with errors holds what could be understood.
pub fn load_module(
    files: &Files,
    directory: &Path,
    shown_as: &str,
    sources: &Sources,
) -> (Option<Arc<Module>>, Diagnostics) {
    let Some(found) = config_files(files, directory) else {
        return (None, problems::unreadable_directory(shown_as).into());
    };
    let mut decoder = Decoder { sources, file: FileKind::default(), problems: Diagnostics::new() };
    let mut read = |names: &[String], is_override| -> Vec<File> {
        let kind = |name: &str| FileKind {
            is_override,
            is_json: name.ends_with(".json"),
            is_tofu: is_tofu_file(name),
        };
        names
            .iter()
            .filter_map(|name| {
                let bytes = files.read_regular(&directory.join(name));
                read_file(&mut decoder, bytes, (shown_as, name), kind(name))
            })
            .collect()
    };
    let primary = read(&found.primary, false);
    let overriding = read(&found.overriding, true);
    let of_files = decoder.problems.clone();
    let mut module = assemble(&mut decoder, primary, overriding);
    module.directory = shown_as.to_owned();
    module.file_count = found.primary.len() + found.overriding.len();
    let problems = keep_incompatibility(decoder.problems);
    if !problems.iter().any(|it| it.sort == Sort::IncompatibleModule) {
        let of_settings = problems.iter().skip(of_files.0.len()).filter(|it| is_of_settings(it));
        module.of_files = of_files.iter().chain(of_settings).cloned().collect::<Vec<_>>().into();
    }
    (Some(Arc::new(module)), problems)
}

/// Returns whether a problem between files is one of what the backend's arguments may rest on, or of the backend itself.
fn is_of_settings(problem: &Diagnostic) -> bool {
    const SUMMARIES: [&str; 7] = [
        "Duplicate variable declaration",
        "Missing base variable declaration to override",
        "Invalid default value for variable",
        "Duplicate local value definition",
        "Missing base local value definition to override",
        "Duplicate backend configuration",
        "Duplicate cloud configurations",
    ];
    SUMMARIES.contains(&&*problem.summary)
}

fn read_file(
    decoder: &mut Decoder,
    bytes: std::io::Result<Vec<u8>>,
    (shown_as, name): (&str, &str),
    kind: FileKind,
) -> Option<File> {
    let shown = if shown_as == "." { name.to_owned() } else { format!("{shown_as}/{name}") };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(why) => {
            decoder.report(problems::unreadable_file(&shown, &why));
            return None;
        }
    };
    let Ok(text) = String::from_utf8(bytes) else {
        decoder.report(problems::not_utf8(&shown));
        return None;
    };
    let text: Arc<str> = text.into();
    let id = decoder.sources.add(shown, text.clone());
    let (file, problems) = file::read(decoder.sources, id, &text, kind);
    drop(text);
    decoder.sources.pack(id);
    decoder.problems.extend(problems);
    Some(file)
}

/// Reads the root module in `root` and every module that it calls, where they were installed.
///
/// Each folder is read once, however many calls lead to it. Where something is wrong the configuration holds what could be read, at
/// least the root module; nothing where that cannot be read.
///
/// - `context`: what values rest on that decide where modules come from.
pub fn load_config(
    files: &Files,
    root: &Path,
    sources: &Sources,
    installed: &InstalledModules,
    context: &Arc<EarlyContext>,
) -> (Option<Config>, Diagnostics) {
    let folder = Folder { root, directory: "." };
    let (config, mut problems) = load_config_of(files, folder, sources, installed, context);
    if let Some(config) = config.as_ref().filter(|_| !problems.has_errors()) {
        problems.extend(check_providers(config, sources));
    }
    (config, problems)
}

/// Returns what is wrong with provider configurations: blocks, and what is passed to modules.
pub fn check_providers(config: &Config, sources: &Sources) -> Diagnostics {
    let mut problems = check::providers::check(config);
    problems.extend(check::keyless::check_references(config, sources));
    problems.extend(check::repeating::check(config, sources));
    problems
}

/// The folder of a module that stands at the root of a configuration.
#[derive(Clone, Copy, Debug)]
pub struct Folder<'a> {
    /// What all other folders are relative to.
    pub root: &'a Path,
    /// Where the module itself lies: `.`, or a folder below.
    pub directory: &'a str,
}

/// Like [`load_config`], for a module in any folder, with provider configurations that [`check_providers`] is still to look at.
pub fn load_config_of(
    files: &Files,
    Folder { root, directory }: Folder<'_>,
    sources: &Sources,
    installed: &InstalledModules,
    context: &Arc<EarlyContext>,
) -> (Option<Config>, Diagnostics) {
    let (module, mut problems) = load_module(files, &root.join(directory), directory, sources);
    let Some(module) = module else { return (None, problems) };
    let root_place = StaticModule::root(module.clone(), context.clone());
    let (root_place, found) = match problems.has_errors() {
        true => (root_place, Diagnostics::new()),
        false => settle::settled(root_place),
    };
    problems.extend(found);
    let place = Arc::new(root_place);
    let mut loader = Loader {
        files,
        root,
        sources,
        installed,
        read: BTreeMap::new(),
        broken: BTreeSet::new(),
        config: Config::default(),
        problems: Diagnostics::new(),
    };
    loader.config.add(place.clone());
    // What a broken module calls need not be what its author means.
    if !problems.has_errors() {
        loader.load_all(&place);
        problems.extend(loader.problems);
    }
    loader.config.sort();
    (Some(loader.config), problems)
}

struct Loader<'a> {
    files: &'a Files,
    root: &'a Path,
    sources: &'a Sources,
    installed: &'a InstalledModules,
    read: BTreeMap<String, Option<Arc<Module>>>,
    /// Folders of modules with errors.
    broken: BTreeSet<String>,
    config: Config,
    problems: Diagnostics,
}

/// A module whose calls are still to be followed, and the folders that led to it.
struct Open {
    place: Arc<StaticModule>,
    trail: Rc<Trail>,
}

/// The folders from the root to a module, innermost first.
struct Trail {
    directory: String,
    caller: Option<Rc<Trail>>,
}

impl Trail {
    fn has(&self, directory: &str) -> bool {
        let mut at = Some(self);
        while let Some(it) = at {
            if it.directory == directory {
                return true;
            }
            at = it.caller.as_deref();
        }
        false
    }
}

impl Loader<'_> {
    /// Follows calls until no further one turns out to be expanded before planning.
    fn load_all(&mut self, root: &Arc<StaticModule>) {
        let before = (self.config.clone(), self.problems.clone());
        loop {
            let expanded = root.context().expanded();
            self.load_calls(root.clone());
            if root.context().expanded() == expanded {
                return;
            }
            (self.config, self.problems) = before.clone();
            (self.read, self.broken) = Default::default();
        }
    }

    /// Follows calls depth first, in the order of their names.
    fn load_calls(&mut self, root: Arc<StaticModule>) {
        let trail = Rc::new(Trail { directory: root.module().directory.clone(), caller: None });
        let mut open = vec![Open { place: root, trail }];
        while let Some(Open { place, trail }) = open.pop() {
            self.problems.extend(place.check_constants());
            let mut called = Vec::new();
            self.config.reserve(place.module().calls.len());
            for call in place.module().calls.values() {
                let Some(instances) = self.problems.take(instances(&place, call)) else { continue };
                let mut children = Vec::new();
                for each in instances {
                    let at = place.child_at(call, each.as_ref());
                    let Some(module) = self.load_call(&at, call, &place, each.as_ref(), &trail)
                    else {
                        continue;
                    };
                    let trail = Rc::new(Trail {
                        directory: module.directory.clone(),
                        caller: Some(trail.clone()),
                    });
                    let is_broken = self.broken.contains(&module.directory);
                    let child = place.child(call, each, module);
                    let (child, found) = match is_broken {
                        true => (child, Diagnostics::new()),
                        false => settle::settled(child),
                    };
                    self.problems.extend(found);
                    let child = Arc::new(child);
                    self.config.add(child.clone());
                    children.push(child.clone());
                    // What a broken module calls need not be what its author means.
                    if !is_broken {
                        called.push(Open { place: child, trail });
                    }
                }
                self.problems.extend(check::alike::check(call, &children, self.sources));
            }
            open.extend(called.into_iter().rev());
        }
    }

    fn load_call(
        &mut self,
        child: &ModuleInstance,
        call: &ModuleCall,
        place: &StaticModule,
        each: Option<&Each>,
        trail: &Trail,
    ) -> Option<Arc<Module>> {
        let found = call_source(call, place, each);
        if let (Err(problems), true) = (&found, self.installed.in_place) {
            // Where only what is there is looked at, a source that is not known is one that is not there.
            let told = problems.iter().cloned();
            let told = told.map(|it| Diagnostic { severity: Severity::Warning, ..it });
            self.problems.extend(told.collect::<Vec<_>>());
            return None;
        }
        let CallSource { source, version } = self.problems.take(found)?;
        let caller = &place.module().directory;
        let record = self.installed.of_source(child, &source, caller).or_else(|| {
            if self.installed.in_place {
                self.problems.push(not_there(&source, call.declared));
                return None;
            }
            // One that is installed for each instance tells whether it has to be.
            self.problems.push(not_installed(call.declared));
            self.installed.of_an_instance(child).map(Cow::Borrowed)
        })?;
        let changed = changes(child, (&source, version.as_deref()), &record, call, place);
        let directory = &*record.directory;
        // One that is not there at all has not changed.
        if !changed.is_empty()
            && self.read.get(directory).is_none_or(Option::is_some)
            && self.files.is_folder(&self.root.join(directory))
        {
            self.problems.extend(changed);
        }
        if trail.has(directory) {
            self.problems.push(calls_itself(&call.name.text, directory, call.declared));
            return None;
        }
        if let Some(known) = self.read.get(directory) {
            if known.is_none() && !self.installed.in_place {
                self.problems.push(cache_unreadable(directory, call.declared));
            }
            return known.clone();
        }
        let (mut module, problems) =
            load_module(self.files, &self.root.join(directory), directory, self.sources);
        if let Some(fresh) = module.as_mut().and_then(Arc::get_mut) {
            fresh.is_remote = place.module().is_remote || !matches!(source, ModuleSource::Local(_));
        }
        match &module {
            None if self.installed.in_place => {
                self.problems.push(not_there(&source, call.declared));
            }
            None => self.problems.push(cache_unreadable(directory, call.declared)),
            Some(module) => {
                if problems.has_errors() {
                    self.broken.insert(directory.to_owned());
                }
                self.problems.extend(problems);
                self.check_child(module);
            }
        }
        self.read.insert(directory.to_owned(), module.clone());
        module
    }

    /// Complains of what only a root module may say.
    fn check_child(&mut self, module: &Module) {
        if let Some(backend) = module.backend.as_ref().filter(|it| !it.is_cloud) {
            let detail = format!(
                "Any selected backend applies to the entire configuration, so {PRODUCT} expects backend configurations only in the root module. This block will have no effect."
            );
            self.problems.push(problems::questionable(
                "Backend configuration ignored",
                detail,
                backend.declared,
            ));
        }
        for provider in module.imports.iter().filter_map(|it| it.provider.as_ref()) {
            self.problems.push(problems::provider_of_import(provider.span));
        }
    }
}

/// Says in what a call differs from what is installed for it.
fn changes(
    child: &ModuleInstance,
    (source, version): (&ModuleSource, Option<&str>),
    record: &InstalledModule,
    call: &ModuleCall,
    place: &StaticModule,
) -> Vec<Diagnostic> {
    let mut changed = Vec::new();
    if source.recorded() != record.source {
        let because = because_of(place, call.source.as_ref());
        changed.push(source_changed(child, &record.source, source, &because, source_span(call)));
    }
    let because = because_of(place, call.besides.version.as_ref());
    changed.extend(version_changed(version, record.version.as_deref(), &because, call));
    changed
}

/// Returns the repetitions of a call that is expanded before planning, and one nothing for any other.
pub fn instances(
    place: &StaticModule,
    call: &ModuleCall,
) -> Result<Vec<Option<Each>>, Diagnostics> {
    match place.is_expanded_early(call) {
        true => Ok(early::instances(place, call)?.into_iter().map(Some).collect()),
        false => Ok(vec![None]),
    }
}

/// Returns which calls of the root module lead nowhere because nothing was installed for them: what OpenTofu says before a plan beside
/// what is wrong with that module.
pub fn calls_without_modules(root: &StaticModule, installed: &InstalledModules) -> Diagnostics {
    let is_lost = |call: &&Arc<ModuleCall>| {
        call.source.is_some() && installed.of_an_instance(&root.child_at(call, None)).is_none()
    };
    let lost = root.module().calls.values().filter(is_lost);
    lost.map(|it| not_installed(it.declared)).collect::<Vec<_>>().into()
}

fn not_installed(at: Span) -> Diagnostic {
    let detail = format!(
        "This module is not yet installed. Run \"{PROGRAM} init\" to install all modules required by this configuration."
    );
    problems::invalid("Module not installed", detail, at)
}

/// A module that is only looked at, and is not here.
fn not_there(source: &ModuleSource, at: Span) -> Diagnostic {
    Diagnostic::warning("Module not available")
        .detail(format!(
            "The module {source} is not installed, so that what it makes is not known here, nor are its outputs. Run init to install it."
        ))
        .at(at)
}

fn cache_unreadable(directory: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "This module's local cache directory {directory} could not be read. Run \"{PROGRAM} init\" to install all modules required by this configuration."
    );
    problems::invalid("Module not installed", detail, at)
}

/// A module is called, directly or through others, by the module in the same folder.
pub(crate) fn calls_itself(name: &str, directory: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "The module call {name:?} leads to the folder {directory}, which is one of those that lead to this call. A module cannot contain itself; change the source of one of the calls."
    );
    problems::invalid("Module calls itself", detail, at)
}
