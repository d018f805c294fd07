//! The data source `terraform_remote_state`: the root outputs of another configuration's state.

use std::sync::Arc;

use async_trait::async_trait;

use super::attribute::{Attribute, any, text};
use super::fields::{Fields, Read, at};
use super::resource::Problem;
use super::table::Source;
use crate::address::Instance;
use crate::backend::local::Choice;
use crate::backend::registry::{self, Kind};
use crate::backend::seal::{Part, Seals};
use crate::backend::shape::{Arguments, Unfit};
use crate::backend::store::{Store, read_beside};
use crate::backend::workspace::DEFAULT;
use crate::diagnostic::Diagnostics;
use crate::value::{Kind as ValueKind, Str, Value};
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
        self.read_at(None, world, config, result).await
    }

    async fn read_at(
        &self,
        address: Option<&Instance>,
        world: &Arc<World>,
        config: &Value,
        result: &mut Fields,
    ) -> Result<(), Problem> {
        let store = Location::of(config)?.open(world)?;
        let workspace = config.text("workspace").filter(|it| !it.is_empty());
        let content = read_beside(store, workspace.unwrap_or(DEFAULT)).await;
        let content = content.map_err(|why| not_loaded(&why))?;
        let label = address.map(label).unwrap_or_default();
        let state = Seals::of(world).read_state(Part::RemoteState(&label), &content.bytes);
        let state = state.map_err(unreadable)?.ok_or_else(nothing_there)?;
        let defaults = config.member("defaults").entries();
        let mut outputs: Vec<(Str, Value)> =
            defaults.into_iter().map(|(key, value)| (key, value.clone())).collect();
        outputs.extend(state.outputs.into_iter().map(|(name, output)| (name, output.value)));
        result.set("outputs", Value::object(outputs));
        Ok(())
    }
}

/// Returns what the encryption settings call a data source: its address without the words that all have.
fn label(address: &Instance) -> String {
    let label = address.to_string().replacen("data.terraform_remote_state.", "", 1);
    label.strip_prefix("module.").map(str::to_owned).unwrap_or(label)
}

/// Whether this is, or may turn out to be, an object or a map.
fn holds_members(value: &Value) -> bool {
    matches!(value.ty().kind(), ValueKind::Dynamic | ValueKind::Object(_) | ValueKind::Map(_))
}

/// Which backend keeps the snapshots, and where.
struct Location {
    kind: &'static Kind,
    settings: Arguments,
}

impl Location {
    fn of(config: &Value) -> Result<Location, Problem> {
        let backend = config.text("backend").unwrap_or_default();
        // What other programs call the backend of files where it must not be another.
        let name = if backend == "_local" { "local" } else { backend };
        let Some(kind) = registry::kind(name) else {
            return Err(invalid_backend(registry::why_not(backend)).at(at("backend")));
        };
        let arguments = config.member("config");
        if !holds_members(arguments) {
            return Err(invalid_arguments(kind, "the configuration must be an object"));
        }
        let mut settings = kind.unset();
        for (name, value) in arguments.entries() {
            let set = kind.setting(&name, value).map_err(|unfit| match unfit {
                Unfit::Unknown => {
                    invalid_arguments(kind, format!("unsupported attribute {name:?}"))
                }
                Unfit::Type(_) => {
                    let required = kind.settings.iter().find(|it| it.name == &*name);
                    let required = required.map(|it| it.shape.ty().to_string()).unwrap_or_default();
                    invalid_arguments(kind, format!("attribute {name:?}: {required} required"))
                }
                Unfit::Empty(what) => empty_argument(&name, what),
            })?;
            settings.insert(name.to_string(), set);
        }
        Ok(Location { kind, settings })
    }

    fn open(&self, world: &Arc<World>) -> Result<Arc<dyn Store>, Problem> {
        self.kind.open(world, &self.settings, &Choice::default()).map_err(unreadable)
    }
}

fn invalid_backend(detail: impl Into<String>) -> Problem {
    Problem::error("Invalid backend configuration", detail)
}

fn invalid_arguments(kind: &Kind, why: impl std::fmt::Display) -> Problem {
    invalid_backend(format!(
        "The given configuration is not valid for backend {:?}: {why}.",
        kind.name
    ))
    .at(at("config"))
}

fn empty_argument(name: &str, what: &str) -> Problem {
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
