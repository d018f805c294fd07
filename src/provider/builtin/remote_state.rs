//! The data source `terraform_remote_state`: the root outputs of another configuration's state.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value as Json;

use super::attribute::{Attribute, any, text};
use super::decode;
use super::fields::{Fields, Read, at};
use super::host::Source;
use super::resource::Problem;
use crate::value::{Kind, Str, Type, Value};
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

    async fn read(
        &self,
        world: &Arc<World>,
        config: &Value,
        result: &mut Fields,
    ) -> Result<(), Problem> {
        let file = Location::of(config)?.file(world, config.text("workspace"));
        let text = match std::fs::read_to_string(&file) {
            Ok(text) if text.trim().is_empty() => return Err(nothing_there()),
            Ok(text) => text,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Err(nothing_there()),
            Err(why) => {
                return Err(Problem::error(
                    "Error loading state error",
                    format!("error loading the remote state: {why}"),
                )
                .at(at("backend")));
            }
        };
        let mut outputs: Vec<(Str, Value)> = config
            .member("defaults")
            .entries()
            .into_iter()
            .map(|(key, value)| (key, value.clone()))
            .collect();
        outputs.extend(stored_outputs(&text).map_err(unreadable)?);
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
            return Err(invalid_backend(format!("There is no backend type named {backend:?}."))
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
            *place = as_text(value)
                .map_err(|()| invalid_arguments(format!("attribute {name:?}: string required")))?;
        }
        Ok(location)
    }

    fn file(&self, world: &World, workspace: Option<&str>) -> PathBuf {
        let given = |text: &Option<String>| text.clone().filter(|it| !it.is_empty());
        match workspace {
            None | Some("" | "default") => {
                world.root.join(given(&self.path).unwrap_or_else(|| "terraform.tfstate".to_owned()))
            }
            Some(name) => {
                let folder =
                    given(&self.workspace_dir).unwrap_or_else(|| "terraform.tfstate.d".to_owned());
                world.root.join(folder).join(name).join("terraform.tfstate")
            }
        }
    }
}

fn as_text(value: &Value) -> Result<Option<String>, ()> {
    match value.bare() {
        Value::Null(_) => Ok(None),
        Value::String(it) => Ok(Some(it.to_string())),
        Value::Bool(it) => Ok(Some(it.to_string())),
        _ => value.as_int().map(|it| Some(it.to_string())).ok_or(()),
    }
}

/// Returns the root outputs that the text of a state file records.
fn stored_outputs(text: &str) -> Result<Vec<(Str, Value)>, String> {
    let state: Json = serde_json::from_str(text).map_err(|why| why.to_string())?;
    match state.get("version").and_then(Json::as_u64) {
        Some(4) => {}
        Some(version) => {
            return Err(format!(
                "this program does not read outputs of state format version {version}"
            ));
        }
        None => return Err("it has no format version".to_owned()),
    }
    let Some(outputs) = state.get("outputs").and_then(Json::as_object) else {
        return Ok(Vec::new());
    };
    let output = |(name, output): (&String, &Json)| {
        let ty = output.get("type").map_or(Ok(Type::DYNAMIC), decode::type_of)?;
        let value = decode::value(output.get("value").unwrap_or(&Json::Null), ty)
            .map_err(|why| format!("output {name}: {why}"))?;
        Ok((name.as_str().into(), value))
    };
    outputs.iter().map(output).collect()
}

fn invalid_backend(detail: impl Into<String>) -> Problem {
    Problem::error("Invalid backend configuration", detail)
}

fn invalid_arguments(why: impl std::fmt::Display) -> Problem {
    invalid_backend(format!("The given configuration is not valid for backend \"local\": {why}."))
        .at(at("config"))
}

fn nothing_there() -> Problem {
    Problem::error(
        "Unable to find remote state",
        "No stored state was found for the given workspace in the given backend.",
    )
    .at(at("workspace"))
}

fn unreadable(why: String) -> Problem {
    Problem::error(
        "Unsupported state file format",
        format!("The state file could not be read: {why}."),
    )
}
