//! `providers`: which providers a configuration and a state need, where they come from, and who serves what.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::Lack;

use super::session::Session;
use crate::address::{Module as ModuleAddr, Provider};
use crate::config::Config;
use crate::config::version::normal_text;
use crate::install::Plugins;
use crate::planner::Structured;
use crate::state::State;

/// What one module needs, and the modules that it calls.
#[derive(Debug)]
pub struct Required {
    /// The call; empty for the root module.
    pub name: String,
    /// The providers, each with its version constraints as text.
    pub providers: Vec<Need>,
    /// The called modules.
    pub modules: Vec<Required>,
}

/// One provider that is needed.
#[derive(Debug)]
pub struct Need {
    /// The provider.
    pub provider: Provider,
    /// Its version constraints, empty where there are none.
    pub versions: String,
    /// What it is: part of this program, a plugin, or missing.
    pub origin: &'static str,
    /// Why it is that.
    pub reason: String,
}

impl Need {
    /// Returns what is needed, and where it comes from.
    pub fn new(plugins: &Plugins, provider: Provider, versions: String) -> Need {
        let (origin, reason) = match plugins.locate(&provider) {
            Ok(located) => (located.kind(), located.why),
            Err(why) => ("missing", why.into()),
        };
        Need { origin, reason, provider, versions }
    }
}

/// A provider instance, and what it serves.
#[derive(Debug)]
pub struct Served {
    /// Its address.
    pub instance: String,
    /// Where its block stands; empty where nobody wrote one.
    pub place: String,
    /// The objects, in address order.
    pub objects: Vec<String>,
}

/// Returns what every module needs; `name` is that of the root.
pub fn required(config: &Config, plugins: &Plugins, name: String) -> Required {
    of_module((config, plugins), &ModuleAddr::default(), name)
}

fn of_module(
    (config, plugins): (&Config, &Plugins),
    address: &ModuleAddr,
    name: String,
) -> Required {
    let mut found = Required { name, providers: Vec::new(), modules: Vec::new() };
    let Some(module) = config.module(address) else { return found };
    let needs = module
        .needs()
        .into_iter()
        .map(|(provider, said)| Need::new(plugins, provider, normal_text(&said)));
    found.providers.extend(needs);
    for call in module.calls.keys() {
        let child = address.child(call);
        if config.module(&child).is_some() {
            found.modules.push(of_module((config, plugins), &child, format!("module.{call}")));
        }
    }
    found
}

/// Returns what the objects of a state need.
pub fn of_state(state: &State, plugins: &Plugins) -> Vec<Need> {
    let all: BTreeSet<&Provider> =
        state.resources.values().map(|it| &it.provider.provider).collect();
    all.into_iter().map(|it| Need::new(plugins, it.clone(), String::new())).collect()
}

/// Returns every provider instance, those that serve nothing included.
pub fn instances(session: &Session, known: &Structured) -> Vec<Served> {
    let structure = &known.lowered.structure;
    let mut objects: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (provider, node) in &known.providers.serves {
        let name = structure.instance(*node).map(|it| (Some(it), structure.name(*node)));
        let name = name.unwrap_or_else(|| (None, structure.name(*node)));
        objects.entry(*provider).or_default().insert(name);
    }
    let written: BTreeSet<_> = known.lowered.serving.blocks.keys().copied().collect();
    let mut found = Vec::new();
    let instances = known.providers.provider_instance.iter();
    for (node, config, _) in instances.chain(&known.providers.former_instance) {
        let Some(instance) = structure.provider(*node) else { continue };
        let served = objects.remove(node).unwrap_or_default();
        if served.is_empty() && !written.contains(config) {
            continue;
        }
        let place = known.lowered.serving.blocks.get(config);
        found.push(Served {
            instance: instance.to_string(),
            place: place.map(|it| session.sources.place(*it)).unwrap_or_default(),
            objects: served.into_iter().map(|it| it.1).collect(),
        });
    }
    found.sort_by(|a, b| a.instance.cmp(&b.instance));
    found
}

/// An object that no provider instance serves.
#[derive(Debug)]
pub struct Lacking {
    /// Its address.
    pub object: String,
    /// The provider instance that it asks for, or what it lacks instead.
    pub wants: String,
}

/// Returns the objects that cannot be served, in the order of their names.
pub fn lacking(known: &Structured) -> Vec<Lacking> {
    let names = &known.lowered.serving;
    let chosen: BTreeMap<_, _> =
        known.providers.chosen.iter().map(|it| (it.0, (it.1, it.2))).collect();
    let one = |(node, lack): &(_, Lack)| {
        let instance = chosen.get(node).and_then(|it| names.instance(it.0, it.1));
        let wants = instance.map_or_else(|| format!("no {}", lack.text()), |it| it.to_string());
        Lacking { object: known.lowered.structure.name(*node), wants }
    };
    let mut found: Vec<Lacking> = known.providers.lacks.iter().map(one).collect();
    found.sort_by(|a, b| a.object.cmp(&b.object));
    found
}
