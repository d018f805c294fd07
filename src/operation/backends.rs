//! Which backend a working directory has: what the configuration says beside what `init` has set up.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::backend::local::{Choice, Local, Paths};
use crate::backend::settings::{self, Arguments, Settings};
use crate::backend::workspace;
use crate::config::Backend as Block;
use crate::config::early::{StaticModule, not_yet, settings as evaluated};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::value::{Type, Value, convert};
use crate::world::World;

mod asking;
mod init;
mod migrate;
mod overriding;
mod problems;
#[cfg(test)]
mod tests;

pub use asking::{Asking, Event};
pub use init::{Init, initialize};

/// The arguments of `backend "local"`.
const ARGUMENTS: [&str; 2] = ["path", "workspace_dir"];

/// What the configuration says of the backend, evaluated.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub kind: String,
    pub arguments: Arguments,
    pub hash: u64,
}

/// Evaluates the backend block of the root module; nothing without one.
pub(super) fn declared(root: &StaticModule) -> Result<Option<Declared>, Diagnostics> {
    let Some(block) = &root.module().backend else { return Ok(None) };
    let kind = block.kind.text.to_string();
    let given = evaluated::backend_arguments(root, block)?;
    if kind != "local" {
        return Err(unsupported(block).into());
    }
    let mut problems = Diagnostics::new();
    let mut arguments: Arguments = ARGUMENTS.iter().map(|it| ((*it).to_owned(), None)).collect();
    for it in given {
        let text = problems.take(argument(&it.name.text, &it.value, it.name.span, it.at));
        arguments.insert(it.name.text.to_string(), text.flatten());
    }
    if problems.has_errors() {
        return Err(problems);
    }
    let hash = settings::hash(&kind, &arguments);
    Ok(Some(Declared { kind, arguments, hash }))
}

/// Reads one argument as text.
fn argument(
    name: &str,
    value: &Value,
    named: Span,
    at: Span,
) -> Result<Option<String>, Diagnostic> {
    if !ARGUMENTS.contains(&name) {
        return Err(problems::unsupported_argument(name, named));
    }
    let text = convert(value, Type::STRING)
        .map_err(|why| problems::inappropriate(name, &why.to_string(), at))?;
    if !text.is_null() && text.as_str().is_none() {
        return Err(problems::inappropriate(name, "the value must be known", at));
    }
    let text = text.as_str().map(str::to_owned);
    match text.as_deref() {
        Some("") => Err(problems::empty(name).at(at)),
        _ => Ok(text),
    }
}

fn unsupported(block: &Block) -> Diagnostic {
    let what = match &*block.kind.text {
        "cloud" => "A cloud backend".to_owned(),
        kind => format!("The backend \"{kind}\""),
    };
    not_yet("Unsupported backend type", &what, block.declared)
}

/// Returns the files that a backend's arguments lead to; flags come first.
fn chosen(arguments: &Arguments, choice: &Choice) -> Choice {
    let path = |name: &str| arguments.get(name).cloned().flatten().map(PathBuf::from);
    Choice { path: path("path"), workspace_folder: path("workspace_dir"), ..choice.clone() }
}

/// Returns the files of the backend that was set up, if the configuration still says the same.
///
/// # Errors
///
/// If `init` has to run first; the message says why.
pub fn set_up(root: &StaticModule, choice: &Choice, data: &Path) -> Result<Choice, Diagnostics> {
    let declared = declared(root)?;
    let saved = settings::read(data)?;
    match (declared, saved) {
        (None, None) => Ok(choice.clone()),
        (None, Some(saved)) => Err(problems::unset(&saved.kind).into()),
        (Some(declared), None) => Err(problems::initial(&declared.kind).into()),
        (Some(declared), Some(saved)) => match is_unchanged(&declared, &saved) {
            true => Ok(chosen(&saved.arguments, choice)),
            false => {
                let because = variables(root);
                Err(problems::changed(&saved.kind, &declared.kind, &because).into())
            }
        },
    }
}

/// Returns whether what is set up still is what the configuration says.
fn is_unchanged(declared: &Declared, saved: &Settings) -> bool {
    saved.kind == declared.kind
        && (saved.hash == declared.hash || saved.arguments == declared.arguments)
}

/// Says which variables decide the backend's arguments.
fn variables(root: &StaticModule) -> String {
    let Some(block) = &root.module().backend else { return String::new() };
    let mut found: Vec<String> = Vec::new();
    for it in &block.body.attributes {
        for (name, value) in root.decided_by(&it.value) {
            let text = format!("var.{name}, which is now {value}");
            if !found.contains(&text) {
                found.push(text);
            }
        }
    }
    found.join(", and on ")
}

/// Returns the files of the backend as far as they can be told, whatever `init` has set up: for commands that must not fail.
pub fn likely(root: &StaticModule, choice: &Choice, data: &Path) -> Result<Choice, Diagnostics> {
    let Some(block) = &root.module().backend else { return Ok(choice.clone()) };
    if let Some(saved) = settings::read(data).ok().flatten()
        && saved.kind == "local"
    {
        return Ok(chosen(&saved.arguments, choice));
    }
    if &*block.kind.text != "local" {
        return Ok(choice.clone());
    }
    Ok(match declared(root)? {
        Some(declared) => chosen(&declared.arguments, choice),
        None => choice.clone(),
    })
}

/// A local backend with all its workspaces.
#[derive(Clone, Debug)]
pub struct Place {
    world: Arc<World>,
    choice: Choice,
}

impl Place {
    /// Returns the place of the states that these files belong to.
    pub fn new(world: Arc<World>, choice: Choice) -> Place {
        Place { world, choice }
    }

    /// Returns the folder of the workspaces' states.
    pub fn folder(&self) -> PathBuf {
        let usual = || crate::backend::local::WORKSPACE_FOLDER.into();
        self.world.root.join(self.choice.workspace_folder.clone().unwrap_or_else(usual))
    }

    /// Lists the workspaces, the default one first.
    pub fn workspaces(&self) -> Vec<String> {
        workspace::list(&self.folder())
    }

    /// Returns the backend of one workspace.
    pub fn backend(&self, workspace: &str) -> Local {
        Local::new(self.world.clone(), Paths::new(&self.choice, workspace))
    }

    /// Makes the folder of a workspace.
    pub fn create(&self, workspace: &str) -> std::io::Result<()> {
        match workspace {
            workspace::DEFAULT => Ok(()),
            name => std::fs::create_dir_all(self.folder().join(name)),
        }
    }

    /// Removes the states of a workspace.
    pub fn delete(&self, workspace: &str) -> Result<(), String> {
        match workspace {
            "" => Err("empty state name".to_owned()),
            workspace::DEFAULT => Err("cannot delete default state".to_owned()),
            name => std::fs::remove_dir_all(self.folder().join(name)).map_err(|it| it.to_string()),
        }
    }
}
