//! Which stacks there are: patterns of `fleet.hcl` become root modules and states, each with a name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use entail::backend::local::Choice;
use entail::backend::registry;
use entail::backend::shape::Arguments;
use entail::backend::store::wait;
use entail::config::files::config_files;
use entail::diagnostic::{Diagnostic, Diagnostics, Span};
use entail::value::Value;
use entail::world::World;

use crate::patterns;
use crate::settings::{Group, Kind, Modules, Settings, States};

/// One stack.
#[derive(Clone, Debug)]
pub struct Stack {
    /// What it is called: its path from `fleet.hcl`.
    pub name: String,
    /// What `fleet.hcl` says of it.
    pub labels: BTreeMap<String, String>,
    /// Names of stacks, with `*`, that come before it.
    pub after: Vec<String>,
    /// Where it is.
    pub place: Place,
}

/// Where a stack is.
#[derive(Clone, Debug)]
pub enum Place {
    /// A root module.
    Module {
        /// Its folder.
        folder: PathBuf,
        /// Values for root variables.
        variables: BTreeMap<String, String>,
        /// Files of values.
        var_files: Vec<String>,
        /// The file of a saved plan, from the folder.
        plan: Option<String>,
    },
    /// A state without a configuration.
    State {
        /// The kind of backend.
        backend: &'static str,
        /// Its arguments.
        config: Arguments,
        /// The workspace.
        workspace: String,
        /// The file, where it is one of this machine.
        file: Option<PathBuf>,
    },
}

impl Stack {
    /// Returns where its saved plan is, where `fleet.hcl` names one.
    pub fn plan(&self) -> Option<PathBuf> {
        match &self.place {
            Place::Module { folder, plan: Some(plan), .. } => Some(folder.join(plan)),
            _ => None,
        }
    }
}

/// A stack that was named, or why it cannot be used.
#[derive(Clone, Debug)]
pub struct Named {
    /// What it is called.
    pub name: String,
    /// The labels of its block.
    pub labels: BTreeMap<String, String>,
    /// The stack, or what is wrong with it.
    pub stack: Result<Stack, Diagnostics>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The stacks, by name.
    pub stacks: Vec<Named>,
    /// What is wrong beside them: patterns that mean nothing.
    pub problems: Diagnostics,
}

/// Finds the stacks that `fleet.hcl` names.
pub fn find(world: &Arc<World>, settings: &Settings) -> Found {
    let mut found = Found::default();
    for group in &settings.groups {
        match &group.kind {
            Kind::Modules(modules) => found.modules(world, settings, group, modules),
            Kind::States(states) if states.backend == "local" => {
                found.files(settings, group, states);
            }
            Kind::States(states) => found.workspaces(world, group, states),
        }
    }
    found.stacks.sort_by(|a, b| a.name.cmp(&b.name));
    let mut names = BTreeSet::new();
    for named in &mut found.stacks {
        if !names.insert(named.name.clone()) {
            named.stack = Err(named_twice(&named.name).into());
        }
    }
    found
}

impl Found {
    fn modules(
        &mut self,
        world: &Arc<World>,
        settings: &Settings,
        group: &Group,
        modules: &Modules,
    ) {
        for (pattern, span) in &modules.directories {
            let mut is_any = false;
            for path in self.paths(&settings.root, pattern, *span) {
                let is_module = config_files(&world.files, &path)
                    .is_some_and(|it| !it.primary.is_empty() || !it.overriding.is_empty());
                if !is_module {
                    continue;
                }
                is_any = true;
                self.add(group, &name_of(&settings.root, &path), || Place::Module {
                    folder: path,
                    variables: modules.variables.clone(),
                    var_files: modules.var_files.clone(),
                    plan: modules.plan.clone(),
                });
            }
            if !is_any {
                self.problems.push(nothing_there(pattern, "root module", *span));
            }
        }
    }

    fn files(&mut self, settings: &Settings, group: &Group, states: &States) {
        for (pattern, span) in &states.paths {
            let mut is_any = false;
            for path in self.paths(&settings.root, pattern, *span) {
                if path.is_dir() {
                    continue;
                }
                is_any = true;
                let name = name_of(&settings.root, &path);
                let name = name.strip_suffix(".tfstate").unwrap_or(&name).to_owned();
                self.add(group, &name, || {
                    let mut config = states.config.clone();
                    let text = path.to_string_lossy();
                    config.insert("path".to_owned(), Value::string(&text));
                    let workspace = entail::backend::workspace::DEFAULT.to_owned();
                    Place::State { backend: "local", config, workspace, file: Some(path) }
                });
            }
            if !is_any {
                self.problems.push(nothing_there(pattern, "file", *span));
            }
        }
    }

    /// The workspaces that a backend lists are stacks of their own.
    fn workspaces(&mut self, world: &Arc<World>, group: &Group, states: &States) {
        let listed = || -> Result<Vec<String>, Diagnostics> {
            let kind = registry::kind(states.backend).ok_or_else(Diagnostics::new)?;
            let store = kind.open(world, &states.config, &Choice::default())?;
            if !store.has_workspaces() {
                return Ok(vec![entail::backend::workspace::DEFAULT.to_owned()]);
            }
            wait(&*store, store.list()).map_err(|why| not_listed(&store.name(""), &why).into())
        };
        let names = match listed() {
            Ok(names) => names,
            Err(problems) => {
                let (name, labels) = (group.name.clone(), group.labels.clone());
                return self.stacks.push(Named { name, labels, stack: Err(problems) });
            }
        };
        for workspace in names.into_iter().filter(|it| it.starts_with(&states.prefix)) {
            let name = match workspace == entail::backend::workspace::DEFAULT {
                true => group.name.clone(),
                false => format!("{}/{workspace}", group.name),
            };
            self.add(group, &name, || Place::State {
                backend: states.backend,
                config: states.config.clone(),
                workspace,
                file: None,
            });
        }
    }

    fn add(&mut self, group: &Group, name: &str, place: impl FnOnce() -> Place) {
        let labels = group.labels.clone();
        let after = group.after.iter().map(|it| it.0.clone()).collect();
        let stack = Stack { name: name.to_owned(), labels: labels.clone(), after, place: place() };
        self.stacks.push(Named { name: name.to_owned(), labels, stack: Ok(stack) });
    }

    /// The paths that a pattern means, sorted.
    fn paths(&mut self, root: &Path, pattern: &str, span: Span) -> Vec<PathBuf> {
        let root = glob::Pattern::escape(&root.to_string_lossy());
        let whole = match Path::new(pattern).is_absolute() {
            true => pattern.to_owned(),
            false => format!("{root}/{pattern}"),
        };
        match patterns::paths(&whole) {
            Ok(paths) => paths,
            Err(why) => {
                self.problems.push(no_pattern(pattern, &why).at(span));
                Vec::new()
            }
        }
    }
}

/// A path as a stack is called by it.
fn name_of(root: &Path, path: &Path) -> String {
    let within = path.strip_prefix(root).unwrap_or(path);
    let name = within.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    if name.is_empty() { ".".to_owned() } else { name }
}

/// Returns whether a name of a stack is one of a pattern.
pub fn is_named(pattern: &str, name: &str) -> bool {
    let options =
        glob::MatchOptions { require_literal_separator: true, ..glob::MatchOptions::default() };
    pattern == name || glob::Pattern::new(pattern).is_ok_and(|it| it.matches_with(name, options))
}

fn named_twice(name: &str) -> Diagnostic {
    Diagnostic::error("Two stacks of one name").detail(format!(
        "Another stack is called `{name}` already: fleet.hcl names it twice, or a folder and a state beside it have one path."
    ))
}

fn nothing_there(pattern: &str, what: &str, at: Span) -> Diagnostic {
    Diagnostic::warning("No stacks there")
        .detail(format!("No {what} is where `{pattern}` says."))
        .at(at)
}

fn no_pattern(pattern: &str, why: &glob::PatternError) -> Diagnostic {
    Diagnostic::error("Invalid pattern").detail(format!("`{pattern}` is no pattern: {}.", why.msg))
}

fn not_listed(place: &str, why: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Cannot list the states")
        .detail(format!("The states of {place} cannot be listed: {why}."))
}
