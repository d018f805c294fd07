//! What stands behind flags and words: addresses, workspaces, relations, rules, files.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use clap::Arg;
use entail::install::Settings;
use entail::operation::policies::PolicyChoice;
use entail::policy::catalogue;
use entail::workflow::names::{self, Where};
use entail::workflow::policy::lints;
use entail::world::World;

use super::{Candidate, split_path};
use crate::run::usual_view;
use crate::ui::Ui;

/// A kind of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What blocks declare, and what the state holds.
    Address,
    /// What the state holds.
    Stored,
    /// Variables, local values, outputs and checks.
    Other,
    /// `NAME=` of a variable.
    Assignment,
    /// Outputs of the root module.
    Output,
    /// Workspaces of a backend.
    Workspace,
    /// Relations: the public ones, and those of the planner.
    Relation,
    /// Rules of the policies in force.
    Rule,
    /// Files of saved plans, and folders on the way to them.
    Plan,
    /// Any file.
    File,
    /// Any folder.
    Folder,
    /// Shells that there is a script for.
    Shell,
    /// Hosts of which the CLI configuration speaks.
    Host,
}

/// Returns what a command takes as its word of this number.
pub fn positional(command: &str, number: usize) -> &'static [Kind] {
    match (command, number) {
        ("why" | "impact", _) => &[Kind::Address, Kind::Other],
        ("import", 0) => &[Kind::Address],
        ("taint" | "untaint" | "state show", 0) => &[Kind::Stored],
        ("state list" | "state rm", _) | ("state mv", 0 | 1) => &[Kind::Stored],
        ("workspace select" | "workspace delete" | "env select" | "env delete", 0) => {
            &[Kind::Workspace]
        }
        ("facts", 0) => &[Kind::Relation],
        ("output", 0) => &[Kind::Output],
        ("apply", 0) | ("diff", 0 | 1) => &[Kind::Plan],
        ("policy docs", 0) => &[Kind::Rule],
        ("policy test" | "policy fmt" | "policy lint" | "fmt", _) => &[Kind::File],
        ("validate" | "policy check" | "providers mirror" | "man", 0) => &[Kind::Folder],
        ("state push" | "show", 0) => &[Kind::File],
        ("completion", 0) => &[Kind::Shell],
        ("login" | "logout", 0) => &[Kind::Host],
        _ => &[],
    }
}

/// Returns what stands behind a flag.
pub fn of_flag(command: &str, name: &str, flag: &Arg) -> &'static [Kind] {
    let value = flag.get_value_names().and_then(<[_]>::first).map_or("", |it| it.as_str());
    match (name, value) {
        ("policy", _) if command == "why" => &[Kind::Rule],
        ("override", _) => &[Kind::Rule],
        ("of", _) => &[Kind::Relation],
        ("workspace", _) => &[Kind::Workspace],
        ("var", _) => &[Kind::Assignment],
        ("plan", _) => &[Kind::Plan],
        (_, "ADDRESS" | "INSTANCE") => &[Kind::Address],
        (_, "RULE") => &[Kind::Rule],
        (_, "RELATION") => &[Kind::Relation],
        (_, "DIR" | "FOLDER") => &[Kind::Folder],
        (_, "FILE" | "KEY" | "PATH" | "PATH|SOURCE") => &[Kind::File],
        _ => &[],
    }
}

/// Returns the hosts that the CLI configuration names.
fn hosts(world: &World) -> BTreeSet<String> {
    let settings = Settings::of(world);
    settings.hosts.keys().chain(settings.credentials.keys()).cloned().collect()
}

/// The names of one folder.
pub struct Names {
    world: Arc<World>,
    ui: Ui,
}

impl Names {
    /// Returns the names of the world's root.
    pub fn of(world: Arc<World>) -> Names {
        let ui = Ui::of_this_process(&usual_view(), &world);
        Names { world, ui }
    }

    /// Returns the names of a kind, each behind `before`; `value` is what is there of one.
    pub fn of_kind(&self, kind: Kind, value: &str, before: &str) -> Vec<Candidate> {
        let host = self.ui.host(&self.world);
        let words = match kind {
            Kind::Address => names::addresses(&host, Where::Everywhere),
            Kind::Stored => names::addresses(&host, Where::State),
            Kind::Other => names::others(&host),
            Kind::Output => names::outputs(&host),
            Kind::Workspace => names::workspaces(&host),
            Kind::Relation => catalogue::names().collect(),
            Kind::Rule => self.rules(),
            Kind::Shell => {
                ["bash", "elvish", "fish", "powershell", "zsh"].map(str::to_owned).into()
            }
            Kind::Host => hosts(&self.world),
            Kind::Assignment => {
                let all = names::variables(&host).into_iter();
                return all.map(|it| part(format!("{before}{it}="))).collect();
            }
            Kind::Plan | Kind::File | Kind::Folder => return self.files(kind, value, before),
        };
        words.into_iter().map(|it| Candidate::of(format!("{before}{it}"))).collect()
    }

    fn rules(&self) -> BTreeSet<String> {
        let named = lints::Named { words: Vec::new(), choice: PolicyChoice::default() };
        let found = lints::rules(&self.ui.host(&self.world), &named);
        let rules = found.map(|it| it.0.rules).unwrap_or_default();
        rules.into_iter().map(|it| it.name.to_string()).collect()
    }

    fn files(&self, kind: Kind, value: &str, before: &str) -> Vec<Candidate> {
        let (folder, typed) = split_path(value);
        let Ok(entries) = fs::read_dir(self.world.root.join(&folder)) else { return Vec::new() };
        let entries = entries.filter_map(Result::ok).filter_map(|it| {
            let name = it.file_name().into_string().ok()?;
            let is_hidden = name.starts_with('.') && !value[typed.len()..].starts_with('.');
            let path = it.path();
            let word = format!("{before}{typed}{name}");
            match () {
                () if is_hidden => None,
                () if path.is_dir() => Some(part(format!("{word}/"))),
                () if kind == Kind::Folder => None,
                () if kind == Kind::Plan && !(path.is_file() && is_plan(&path)) => None,
                () => Some(Candidate::of(word)),
            }
        });
        entries.collect()
    }
}

/// Returns whether a file begins as a saved plan does.
fn is_plan(path: &Path) -> bool {
    let mut start = [0; 64];
    let read = fs::File::open(path).and_then(|mut it| it.read(&mut start)).unwrap_or_default();
    let start = &start[..read];
    // A sealed one is a document.
    start.starts_with(b"PK") || start.starts_with(b"{\"meta\"")
}

fn part(word: String) -> Candidate {
    Candidate { goes_on: true, ..Candidate::of(word) }
}
