//! What can be named in a folder, for shells that complete words: read in a moment, from the configuration and a state that lies
//! at hand. No provider is started, nothing is planned, nothing is asked, and what cannot be read has no names.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::host::Host;
use super::state::OpenState;
use crate::backend::local::Choice;
use crate::config::{Config, Module};
use crate::operation::session::{Readings, Session};
use crate::operation::workspaces;
use crate::value::text::quoted;

/// Where names are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// What blocks declare, and what the state holds.
    Everywhere,
    /// The state alone.
    State,
}

/// Addresses of objects, of resources and of modules.
pub fn addresses(host: &Host<'_>, place: Where) -> BTreeSet<String> {
    let mut all = stored(host);
    if place == Where::Everywhere {
        for (module, found) in loaded(host).iter().flat_map(|it| it.modules.iter()) {
            let module = module.to_string();
            all.extend((!module.is_empty()).then(|| module.clone()));
            all.extend(found.resources.keys().map(|it| within(&module, &it.to_string())));
        }
    }
    all
}

/// What else can be asked for: variables, local values, outputs, checks, providers of the root module and outputs of calls.
pub fn others(host: &Host<'_>) -> BTreeSet<String> {
    let Some(config) = loaded(host) else { return BTreeSet::new() };
    let mut all = BTreeSet::new();
    for (module, found) in &config.modules {
        let module = module.to_string();
        all.extend(of_module(found).map(|it| within(&module, &it)));
    }
    all
}

fn of_module(module: &Module) -> impl Iterator<Item = String> {
    let variables = module.variables.keys().map(|it| format!("var.{it}"));
    let locals = module.locals.keys().map(|it| format!("local.{it}"));
    let outputs = module.outputs.keys().map(|it| format!("output.{it}"));
    let checks = module.checks.keys().map(|it| format!("check.{it}"));
    variables.chain(locals).chain(outputs).chain(checks)
}

/// What an expression of the root module can refer to.
pub fn references(host: &Host<'_>) -> BTreeSet<String> {
    let mut all = of_root(host, |it| {
        let resources = it.resources.keys().map(ToString::to_string);
        let calls = it.calls.keys().map(|it| format!("module.{it}"));
        let values = of_module(it).filter(|it| it.starts_with("var.") || it.starts_with("local."));
        resources.chain(calls).chain(values).collect()
    });
    all.extend(["path.module", "path.root", "path.cwd", "terraform.workspace"].map(str::to_owned));
    all
}

/// The variables of the root module.
pub fn variables(host: &Host<'_>) -> BTreeSet<String> {
    of_root(host, |it| it.variables.keys().map(ToString::to_string).collect())
}

/// The outputs of the root module.
pub fn outputs(host: &Host<'_>) -> BTreeSet<String> {
    of_root(host, |it| it.outputs.keys().map(ToString::to_string).collect())
}

/// The workspaces of a backend that answers at once.
pub fn workspaces(host: &Host<'_>) -> BTreeSet<String> {
    let found = workspaces::list(host.world, host.sources);
    found.map(|it| it.0.into_iter().collect()).unwrap_or_default()
}

fn of_root(host: &Host<'_>, names: impl Fn(&Module) -> BTreeSet<String>) -> BTreeSet<String> {
    loaded(host).map(|it| names(it.root())).unwrap_or_default()
}

fn loaded(host: &Host<'_>) -> Option<Config> {
    let loaded = Session::load(host.world.clone(), host.sources.clone(), Readings::One);
    Some(loaded.ok()?.0.config)
}

fn within(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}.{name}") }
}

/// As much of a state as names need.
#[derive(Deserialize)]
struct Brief {
    #[serde(default)]
    resources: Vec<BriefResource>,
}

#[derive(Deserialize)]
struct BriefResource {
    #[serde(default)]
    module: String,
    mode: String,
    #[serde(rename = "type")]
    kind: String,
    name: String,
    #[serde(default)]
    instances: Vec<BriefInstance>,
}

#[derive(Deserialize)]
struct BriefInstance {
    index_key: Option<Key>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Key {
    Number(i64),
    Text(String),
}

/// The names of a state, its values unread: that takes long where there are many objects.
fn stored(host: &Host<'_>) -> BTreeSet<String> {
    let bytes =
        OpenState::open(host, &Choice::default()).ok().and_then(|it| it.backend().at_hand());
    let brief = bytes.and_then(|it| serde_json::from_slice::<Brief>(&it).ok());
    let mut all = BTreeSet::new();
    for resource in brief.into_iter().flat_map(|it| it.resources) {
        let mode = match resource.mode.as_str() {
            "data" => "data.",
            _ => "",
        };
        let name = within(&resource.module, &format!("{mode}{}.{}", resource.kind, resource.name));
        all.extend(resource.instances.iter().map(|it| match &it.index_key {
            None => name.clone(),
            Some(Key::Number(number)) => format!("{name}[{number}]"),
            Some(Key::Text(text)) => format!("{name}[{}]", quoted(text)),
        }));
        all.extend((!resource.module.is_empty()).then_some(resource.module));
        all.insert(name);
    }
    all
}
