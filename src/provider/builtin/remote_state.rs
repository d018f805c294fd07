//! The data source `terraform_remote_state`: the root outputs of another configuration's state.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

use super::attribute::{Attribute, any, text};
use super::fields::{Fields, Read, at};
use super::host::Source;
use super::resource::Problem;
use crate::backend::files;
use crate::diagnostic::Diagnostics;
use crate::state::read::read;
use crate::value::{Kind, Str, Type, Value, convert};
use crate::world::World;

pub(super) struct RemoteState;

#[async_trait]
impl Source for RemoteState {
    fn name(&self) -> &'static str {
        "terraform_remote_state"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                text("backend").required(),
                any("config").optional(),
                any("defaults").optional(),
                any("outputs").computed(),
                text("workspace").optional(),
            ]
        }
    }

    fn check(&self, config: &Value, found: &mut Vec<Problem>) {
        let arguments = config.member("config");
        if arguments.is_wholly_known() && config.member("backend").is_known() {
            found.extend(Location::of(config).err());
        } else if !holds_members(arguments) {
            found.push(
                invalid_backend("The configuration must be an object value.").at(at("config")),
            );
        }
        if !holds_members(config.member("defaults")) {
            found.push(
                Problem::error(
                    "Invalid default values",
                    "Defaults must be given in an object value.",
                )
                .at(at("defaults")),
            );
        }
    }

    fn afterword(&self) -> Option<Problem> {
        Some(Problem::error("Unable to read remote state", "").naming_object())
    }

    async fn read(
        &self,
        world: &Arc<World>,
        config: &Value,
        result: &mut Fields,
    ) -> Result<(), Problem> {
        let file = Location::of(config)?.file(world, config.text("workspace"));
        let found = files::read(&file).map_err(|why| not_loaded(&why))?;
        let bytes = found.ok_or_else(nothing_there)?;
        let state = read(&bytes).map_err(unreadable)?.ok_or_else(nothing_there)?;
        let defaults = config.member("defaults").entries();
        let mut outputs: Vec<(Str, Value)> =
            defaults.into_iter().map(|(key, value)| (key, value.clone())).collect();
        outputs.extend(state.outputs.into_iter().map(|(name, output)| (name, output.value)));
        result.set("outputs", Value::object(outputs));
        Ok(())
    }
}

/// Whether this is, or may turn out to be, an object or a map.
fn holds_members(value: &Value) -> bool {
    matches!(value.ty().kind(), Kind::Dynamic | Kind::Object(_) | Kind::Map(_))
}

/// Where the `local` backend keeps the snapshots of each workspace.
struct Location {
    path: Option<String>,
    workspace_dir: Option<String>,
}

impl Location {
    fn of(config: &Value) -> Result<Location, Problem> {
        let backend = config.text("backend").unwrap_or_default();
        if backend != "local" && backend != "_local" {
            return Err(invalid_backend(format!(
                "There is no backend type named {backend:?} here; only \"local\" can be read."
            ))
            .at(at("backend")));
        }
        let arguments = config.member("config");
        if !holds_members(arguments) {
            return Err(invalid_arguments("the configuration must be an object"));
        }
        let mut location = Location { path: None, workspace_dir: None };
        for (name, value) in arguments.entries() {
            let place = match &*name {
                "path" => &mut location.path,
                "workspace_dir" => &mut location.workspace_dir,
                _ => return Err(invalid_arguments(format!("unsupported attribute {name:?}"))),
            };
            let text = convert(value, Type::STRING)
                .map_err(|_| invalid_arguments(format!("attribute {name:?}: string required")))?;
            *place = text.as_str().map(str::to_owned);
            if place.as_deref() == Some("") {
                return Err(empty_argument(&name));
            }
        }
        Ok(location)
    }

    fn file(&self, world: &World, workspace: Option<&str>) -> PathBuf {
        match workspace {
            None | Some("" | "default") => {
                world.root.join(self.path.as_deref().unwrap_or("terraform.tfstate"))
            }
            Some(name) => {
                let folder = self.workspace_dir.as_deref().unwrap_or("terraform.tfstate.d");
                world.root.join(folder).join(name).join("terraform.tfstate")
            }
        }
    }
}

fn invalid_backend(detail: impl Into<String>) -> Problem {
    Problem::error("Invalid backend configuration", detail)
}

fn invalid_arguments(why: impl std::fmt::Display) -> Problem {
    invalid_backend(format!("The given configuration is not valid for backend \"local\": {why}."))
        .at(at("config"))
}

fn empty_argument(name: &str) -> Problem {
    let what =
        if name == "path" { "local state file path" } else { "local workspace directory path" };
    let detail = format!("The {name:?} attribute value must not be empty.");
    Problem::error(format!("Invalid {what}"), detail).at(at(name))
}

fn nothing_there() -> Problem {
    Problem::error(
        "Unable to find remote state",
        "No stored state was found for the given workspace in the given backend.",
    )
    .at(at("workspace"))
}

fn not_loaded(why: &std::io::Error) -> Problem {
    let detail = format!("error loading the remote state: {why}");
    Problem::error("Error loading state error", detail).at(at("backend"))
}

/// Passes on the first of the problems that the state room found.
fn unreadable(found: Diagnostics) -> Problem {
    match found.into_iter().next() {
        Some(first) => Problem::error(first.summary, first.detail),
        None => Problem::error("Error loading state error", "The state could not be read."),
    }
}
