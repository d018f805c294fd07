//! Runs a course with a program, and checks the law after every command.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::OnceLock;

use serde_json::Value;

use super::course::{Command, Course, Step};
use super::model::Model;
use super::text;
use crate::support::binary;

/// The program that runs, with its environment.
#[derive(Clone, Debug)]
pub struct Program {
    pub path: PathBuf,
    /// Further environment variables.
    pub variables: Vec<(String, String)>,
}

/// Why the law is broken, or that a command failed.
#[derive(Debug)]
pub struct Broken(pub String);

/// An object in the state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Recorded {
    pub address: String,
    pub deposed: Option<String>,
    /// Its file.
    pub file: String,
}

/// A folder in which a course runs.
pub struct Place {
    program: Program,
    folder: tempfile::TempDir,
    /// Files whose objects the user has given up: they are no longer in the state.
    pub abandoned: BTreeSet<String>,
    /// The commands and what they said.
    pub log: String,
    /// The features that showed only in running.
    pub features: BTreeSet<&'static str>,
}

/// How a message begins that lists objects which exist and are not in the state.
pub const LOST: &str = "these objects exist and are not in the state: [\"";

/// How a message begins that lists objects which a plan does not name.
pub const HIDDEN: &str = "the plan hides objects: ";

/// Errors that refuse a command before anything is done: an import through a provider whose arguments are unknown, and
/// targets that leave out what a `moved` block names.
const REFUSALS: [&str; 3] = [
    "cannot be determined until apply",
    "Invalid provider configuration",
    "Moved resource instances excluded by targeting",
];

fn is_refusal(text: &str) -> bool {
    REFUSALS.iter().any(|it| text.contains(it))
}

/// Returns the settings of all programs: a mirror with the provider, which a script starts.
fn settings() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let package = format!(
            "mirror/example.com/test/folder/1.0.0/{}",
            entail::install::Platform::current()
        );
        let package = folder.path().join(package);
        std::fs::create_dir_all(&package).expect("it is made");
        let program = package.join("terraform-provider-folder_v1.0.0");
        let plugin = binary::plugins().join("terraform-provider-folder");
        let script = format!("#!/bin/sh\nexec {}\n", plugin.display());
        std::fs::write(&program, script).expect("it is written");
        let permissions = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(program, permissions).expect("it is executable");
        let mirror = folder.path().join("mirror").display().to_string();
        let text = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n"
        );
        std::fs::write(folder.path().join("cli.tfrc"), text).expect("it is written");
        folder
    });
    folder.path()
}

/// Returns all files under a folder, by their paths from `root`.
fn files_under(root: &Path, folder: &str, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true => files_under(root, &name, found),
            false => {
                found.insert(name);
            }
        }
    }
}

impl Place {
    pub fn new(program: &Program) -> Place {
        Place {
            program: program.clone(),
            folder: tempfile::tempdir().expect("a folder"),
            abandoned: BTreeSet::new(),
            log: String::new(),
            features: BTreeSet::new(),
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes the configuration and what goes wrong.
    pub fn write(&self, model: &Model, control: &str) {
        for (name, text) in text::files(model) {
            self.write_file(&name, &text);
        }
        self.write_file("control", control);
    }

    pub fn write_file(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
        std::fs::write(path, text).expect("it is written");
    }

    /// Returns a command that is not started yet.
    pub fn command(&self, arguments: &[&str]) -> Process {
        let mut command = binary::process(&self.program.path, self.path());
        command
            .args(arguments)
            .env("HOME", self.path())
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_INPUT", "0")
            .env("TF_CLI_CONFIG_FILE", settings().join("cli.tfrc"))
            .env("ENTAIL_PLUGIN_CACHE", settings().join("cache"))
            .envs(self.program.variables.iter().map(|it| (&it.0, &it.1)));
        command
    }

    /// Runs a command. Returns its output and whether it succeeded.
    pub fn run(&mut self, arguments: &[&str]) -> Result<(String, bool), Broken> {
        let output = self.command(arguments).output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        let stdout = String::from_utf8_lossy(&output.stdout);
        let is_document = arguments.first() == Some(&"show");
        let shown = if is_document { "" } else { &stdout };
        let code = output.status.code();
        let _ = writeln!(self.log, "$ {}\n{shown}{said}exit {code:?}", arguments.join(" "));
        if said.contains("panicked at") || code.is_none() {
            return Err(Broken(format!("{arguments:?} crashed")));
        }
        Ok((format!("{stdout}{}", if is_document { "" } else { &said }), code == Some(0)))
    }

    /// Returns the files of all objects.
    pub fn world(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for folder in ["world", "unconfigured"] {
            files_under(self.path(), folder, &mut found);
        }
        found
    }

    /// Returns the objects in the state.
    pub fn state(&self) -> Vec<Recorded> {
        let text = std::fs::read_to_string(self.path().join("terraform.tfstate"));
        let state: Value = serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default();
        let mut recorded = Vec::new();
        for resource in state["resources"].as_array().into_iter().flatten() {
            if resource["type"] != "folder_file" {
                continue;
            }
            let module = resource["module"].as_str().map(|it| format!("{it}."));
            let name = resource["name"].as_str().unwrap_or_default();
            for instance in resource["instances"].as_array().into_iter().flatten() {
                let key = match &instance["index_key"] {
                    Value::Null => String::new(),
                    key => format!("[{key}]"),
                };
                let of = |name: &str| instance["attributes"][name].as_str().unwrap_or_default();
                recorded.push(Recorded {
                    address: format!(
                        "{}folder_file.{name}{key}",
                        module.as_deref().unwrap_or_default()
                    ),
                    deposed: instance["deposed"].as_str().map(str::to_owned),
                    file: format!("{}/{}", of("made_in"), of("id")),
                });
            }
        }
        recorded.sort();
        recorded
    }

    /// Checks that the objects that exist are exactly the objects in the state.
    pub fn check_law(&mut self, model: &Model, before: &[Recorded]) -> Result<(), Broken> {
        let (world, state) = (self.world(), self.state());
        let recorded: BTreeSet<&String> = state.iter().map(|it| &it.file).collect();
        for object in before.iter().filter(|it| !recorded.contains(&it.file)) {
            let block = object.address.split('[').next().unwrap_or_default();
            if model.removed.iter().any(|it| it.0 == block && !it.1) {
                self.abandoned.insert(object.file.clone());
            }
        }
        let lost: Vec<&String> = world
            .iter()
            .filter(|it| !recorded.contains(it) && !self.abandoned.contains(*it))
            .collect();
        let imagined: Vec<&&String> = recorded.iter().filter(|it| !world.contains(**it)).collect();
        if !lost.is_empty() {
            let list = format!("{lost:?}");
            return Err(Broken(format!("{LOST}{}", list.trim_start_matches("[\""))));
        }
        if !imagined.is_empty() {
            return Err(Broken(format!("these are in the state and do not exist: {imagined:?}")));
        }
        match recorded.len() == state.len() {
            true => Ok(()),
            false => Err(Broken(format!("the state has an object twice: {state:?}"))),
        }
    }

    /// Makes a plan, and checks that it names every object in the state. Returns whether there is one.
    fn plan(&mut self, flags: &[&str]) -> Result<bool, Broken> {
        let (_, is_planned) = self.run(&[&["plan", "-out=saved"], flags].concat())?;
        if !is_planned {
            return Ok(false);
        }
        let before = self.state();
        let (text, _) = self.run(&["show", "-json", "saved"])?;
        let plan: Value = serde_json::from_str(&text).map_err(|it| Broken(it.to_string()))?;
        let changes = plan["resource_changes"].as_array().cloned().unwrap_or_default();
        let shows = |object: &&Recorded| {
            changes.iter().any(|it| {
                let is_it = |name: &str| it[name].as_str() == Some(&object.address);
                // A plan that destroys everything names moved objects as they are called after the move.
                let of = &it["change"]["before"];
                let file = of["made_in"].as_str().zip(of["name"].as_str());
                let is_file =
                    file.is_some_and(|(folder, name)| object.file == format!("{folder}/{name}"));
                (is_it("address") || is_it("previous_address") || is_file)
                    && it["deposed"].as_str() == object.deposed.as_deref()
            })
        };
        let hidden: Vec<&Recorded> = before.iter().filter(|it| !shows(it)).collect();
        match hidden.is_empty() {
            true => Ok(true),
            false => Err(Broken(format!("{HIDDEN}{hidden:?}"))),
        }
    }

    fn plan_and_apply(&mut self, flags: &[&str]) -> Result<(String, bool), Broken> {
        match self.plan(flags)? {
            true => self.run(&["apply", "saved"]),
            false => Ok((String::new(), false)),
        }
    }

    /// Removes an object from the state and imports it again.
    fn import(&mut self, step: &Step, by_block: bool) -> Result<(String, bool), Broken> {
        let wanted = step.model.addresses();
        let is_moved =
            |it: &Recorded| step.model.moved.iter().any(|to| it.address.starts_with(&to.1));
        let mut objects = self.state();
        objects.retain(|it| it.deposed.is_none() && wanted.contains(&it.address) && !is_moved(it));
        if objects.is_empty() {
            return Ok((String::new(), true));
        }
        let object = objects[step.number % objects.len()].clone();
        let id = object.file.rsplit('/').next().unwrap_or_default().to_owned();
        // What was deposed goes out of the state with it, and nothing imports that.
        let deposed = self.state().into_iter().filter(|it| it.address == object.address);
        let deposed = deposed.filter(|it| it.deposed.is_some()).map(|it| it.file);
        self.abandoned.extend(deposed);
        let (text, is_removed) = self.run(&["state", "rm", &object.address])?;
        if !is_removed {
            return Err(Broken(format!("state rm fails: {text}")));
        }
        let (text, is_imported) = if by_block {
            let imports = vec![(object.address.clone(), id)];
            self.write(&Model { imports, ..step.model.clone() }, "");
            self.run(&["apply", "-auto-approve"])?
        } else {
            self.run(&["import", &object.address, &id])?
        };
        if !is_imported && is_refusal(&text) {
            // The user knows that it is out of the state, and removes it.
            let _ = std::fs::remove_file(self.path().join(&object.file));
            return Ok((text, true));
        }
        Ok((text, is_imported))
    }

    /// Runs the command of a step. Returns its output and whether it succeeded.
    fn carry_out(&mut self, step: &Step, before: &[Recorded]) -> Result<(String, bool), Broken> {
        let named = named(step, before);
        let with = |flag: &str| format!("-{flag}={named}");
        match step.command {
            Command::Plan => Ok((String::new(), self.plan(&[])?)),
            Command::SavedPlan => self.plan_and_apply(&[]),
            Command::SavedDestroy => self.plan_and_apply(&["-destroy"]),
            Command::SavedRefreshOnly => {
                match self.run(&["plan", "-refresh-only", "-out=saved"])? {
                    (_, true) => self.run(&["apply", "saved"]),
                    failed => Ok(failed),
                }
            }
            Command::Refresh => self.run(&["refresh"]),
            Command::RefreshOnly => self.run(&["apply", "-auto-approve", "-refresh-only"]),
            Command::Destroy => self.run(&["destroy", "-auto-approve"]),
            Command::Target => self.run(&["apply", "-auto-approve", &with("target")]),
            Command::Exclude => self.run(&["apply", "-auto-approve", &with("exclude")]),
            Command::DestroyTarget => self.run(&["destroy", "-auto-approve", &with("target")]),
            Command::DestroyExclude => self.run(&["destroy", "-auto-approve", &with("exclude")]),
            Command::NoRefresh => self.run(&["apply", "-auto-approve", "-refresh=false"]),
            Command::Import => self.import(step, false),
            Command::ImportBlock => self.import(step, true),
            Command::Replace | Command::Depose => {
                let flag = replaced(step, before).map(|it| format!("-replace={it}"));
                let mut arguments = vec!["apply", "-auto-approve"];
                arguments.extend(flag.as_deref());
                self.run(&arguments)
            }
            Command::Apply
            | Command::FailingDelete
            | Command::FailingCreate
            | Command::SpoiledCreate => self.run(&["apply", "-auto-approve"]),
        }
    }

    /// Runs a step and checks the law.
    pub fn step(&mut self, step: &Step) -> Result<(), Broken> {
        self.write(&step.model, step.command.control());
        let before = self.state();
        let (text, is_done) = self.carry_out(step, &before)?;
        self.check_law(&step.model, &before)?;
        let after = self.state();
        let deposed = |objects: &[Recorded]| objects.iter().any(|it| it.deposed.is_some());
        if deposed(&before) && !deposed(&after) {
            self.features.insert("gone: deposed");
        }
        if !is_done && is_refusal(&text) {
            return Ok(());
        }
        if !is_done && step.command.control().is_empty() {
            return Err(Broken("the command fails".to_owned()));
        }
        let wanted = match step.command {
            Command::Destroy | Command::SavedDestroy => BTreeSet::new(),
            Command::Apply | Command::SavedPlan | Command::NoRefresh | Command::Replace => {
                step.model.addresses()
            }
            _ => return Ok(()),
        };
        check_addresses(&wanted, &after)
    }

    /// Runs a course to its end: a last apply leaves what the configuration says, and `destroy` leaves nothing.
    pub fn go(&mut self, course: &Course) -> Result<(), Broken> {
        let first = &course.steps[0];
        self.write(&first.model, "");
        if !self.run(&["init"])?.1 {
            return Err(Broken("init fails".to_owned()));
        }
        for step in &course.steps {
            self.step(step)?;
        }
        let model = course.steps.last().map(|it| it.model.clone()).unwrap_or_default();
        self.finish(&model)
    }

    /// Applies what is left, checks that nothing is left to do then, and destroys everything.
    pub fn finish(&mut self, model: &Model) -> Result<(), Broken> {
        let of = |command| Step { model: model.clone(), command, number: 0 };
        self.step(&of(Command::Apply))?;
        if !self.run(&["plan", "-detailed-exitcode"])?.1 {
            return Err(Broken("something is left to do after an apply".to_owned()));
        }
        self.step(&of(Command::Destroy))
    }
}

fn check_addresses(wanted: &BTreeSet<String>, after: &[Recorded]) -> Result<(), Broken> {
    let current: BTreeMap<&String, bool> =
        after.iter().map(|it| (&it.address, it.deposed.is_some())).collect();
    let is_equal = wanted.iter().eq(current.keys().copied()) && after.len() == wanted.len();
    match is_equal && !current.values().any(|it| *it) {
        true => Ok(()),
        false => Err(Broken(format!("the state has {after:?}, the configuration has {wanted:?}"))),
    }
}

/// Returns the address that `-replace` names, if there is an object. To depose one, its replacement must be created first.
fn replaced<'a>(step: &Step, before: &'a [Recorded]) -> Option<&'a str> {
    let wanted = step.model.addresses();
    let created_first = step.model.addresses_created_first();
    let fit = |it: &&Recorded| it.deposed.is_none() && wanted.contains(&it.address);
    let mut objects: Vec<&Recorded> = before.iter().filter(fit).collect();
    if step.command == Command::Depose
        && objects.iter().any(|it| created_first.contains(&it.address))
    {
        objects.retain(|it| created_first.contains(&it.address));
    }
    let at = step.number.checked_rem(objects.len())?;
    Some(&objects[at].address)
}

/// Returns the address that `-target` or `-exclude` names: of an instance, a block or a module.
fn named(step: &Step, before: &[Recorded]) -> String {
    let mut all: BTreeSet<String> = step.model.addresses();
    all.extend(before.iter().map(|it| it.address.clone()));
    let blocks: Vec<String> = all
        .iter()
        .filter(|it| it.ends_with(']'))
        .filter_map(|it| Some(it.rsplit_once('[')?.0.to_owned()))
        .collect();
    all.extend(blocks);
    all.extend(step.model.modules.iter().map(|it| format!("module.{}", it.name)));
    let all: Vec<String> = all.into_iter().collect();
    match all.is_empty() {
        true => "terraform_data.none".to_owned(),
        false => all[step.number % all.len()].clone(),
    }
}
