//! Who serves whom, between the rules and the walk: what was concluded before it, and the keys that it learned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use entail_rules::providers::Providers;
use entail_rules::{Facts, Node};
use rustc_hash::FxHashSet;

use super::{Inputs, Structured};
use crate::address::{InstanceKey, Provider};
use crate::config::uses;
use crate::diagnostic::Diagnostic;
use crate::lower::structure::{NodeKind, ResourceId};
use crate::lower::{Lowered, Structure, When, leave_out};
use crate::observe::Observer;
use crate::observe::lifetimes::{Need, ProviderLifetimes};
use crate::observe::pool::Pool;
use crate::observe::serving::{Grounds, Served, Serving};
use crate::syntax::is_identifier;

/// Returns what is concluded before the walk.
pub(super) fn concluded(known: &Structured, structure: &Structure) -> Serving {
    Serving::of(by_node(&known.providers, structure), grounds(known))
}

/// Returns the provider instance of each object: one for all that it serves.
pub fn by_node(providers: &Providers, structure: &Structure) -> Served {
    let of_one = providers.serves.chunk_by(|one, next| one.0 == next.0);
    of_one
        .filter_map(|it| Some((Arc::new(structure.provider(it.first()?.0)?.clone()), it)))
        .flat_map(|(instance, served)| served.iter().map(move |it| (it.1, instance.clone())))
        .collect()
}

/// Returns until when the processes of providers are kept, and ends those that the walk has no use for.
///
/// A process whose plan is carried out afterwards, or whose functions are called, is kept.
pub(super) fn lifetimes(
    inputs: &Inputs<'_>,
    known: &Structured,
    structure: &Structure,
    serving: &Serving,
    pool: &Pool,
) -> ProviderLifetimes {
    if inputs.request.carried_out || !pool.has_processes() {
        return ProviderLifetimes::default();
    }
    let selected: FxHashSet<Node> = known.selection.selected.iter().map(|it| it.0).collect();
    let need = |node: Node, resource: ResourceId| match serving.known.get(node) {
        Some(instance) if selected.contains(&node) => Some(Need::Instance(instance.clone())),
        // It is only decoded, by a process that need not be configured; or its instances, or their keys, are to come.
        _ => {
            let resource = structure.resource(resource);
            let recorded = || Some(&*inputs.state.resources.get(&resource.address)?.provider);
            let config = resource.provider.as_deref().or_else(recorded)?;
            Some(Need::Any(config.provider.clone()))
        }
    };
    let nodes = structure.nodes.iter().enumerate();
    let needs = nodes.filter_map(|(index, kind)| match kind {
        NodeKind::Object(resource, _)
        | NodeKind::Deposed(resource, ..)
        | NodeKind::Pending(resource) => {
            let node = Node(index as u32);
            Some((node, need(node, *resource)?))
        }
        _ => None,
    });
    let lifetimes = ProviderLifetimes::of(needs, called(inputs));
    pool.rest(|it| lifetimes.needs_any(it));
    lifetimes
}

/// The providers whose functions are called somewhere.
fn called(inputs: &Inputs<'_>) -> BTreeSet<Provider> {
    let modules = inputs.config.all().map(|it| it.1);
    modules
        .flat_map(|it| uses::called_providers(it).into_iter().map(|name| it.provider_of(&name)))
        .collect()
}

/// What a conclusion in the walk rests on, for the case that some key must wait for it.
fn grounds(known: &Structured) -> Grounds {
    let said = &known.lowered.facts;
    let facts = Facts {
        mode: said.mode.clone(),
        precedes_destroy: said.precedes_destroy.clone(),
        provider_block: said.provider_block.clone(),
        implied_config: said.implied_config.clone(),
        repeats_provider: said.repeats_provider.clone(),
        each_key: said.each_key.clone(),
        key_names: said.key_names.clone(),
        key_suffices: said.key_suffices.clone(),
        recorded_provider: said.recorded_provider.clone(),
        ..Facts::default()
    };
    Grounds { facts, names: known.lowered.serving.clone() }
}

/// Returns the keys that only the walk could evaluate.
pub(super) fn learn(lowered: &mut Lowered, observer: &Observer<'_>) -> Facts {
    let keys = observer.serving.take_keys().into_iter();
    let provider_key = keys.map(|(node, key)| (node, lowered.serving.key(&key))).collect();
    let mut facts = Facts { provider_key, ..Facts::default() };
    leave_out(&mut facts, When::Always);
    facts
}

/// Warns of resources whose instances OpenTofu could not read from the state: keys are aliases there, and they differ.
pub(super) fn unreadable(known: &Structured, inputs: &Inputs<'_>) -> Option<Diagnostic> {
    let structure = &known.lowered.structure;
    let mut keys: BTreeMap<ResourceId, BTreeSet<InstanceKey>> = BTreeMap::new();
    for (provider, node) in &known.providers.serves {
        let (Some(instance), NodeKind::Object(resource, _)) =
            (structure.provider(*provider), structure.kind(*node))
        else {
            continue;
        };
        if instance.config.alias.as_ref().is_some_and(|it| it.is_empty()) {
            keys.entry(*resource).or_default().insert(instance.key.clone());
        }
    }
    let is_name = |it: &InstanceKey| matches!(it, InstanceKey::Str(it) if is_identifier(it));
    keys.retain(|_, keys| keys.len() > 1 || !keys.iter().all(is_name));
    let first = keys.keys().next()?;
    let block = structure.block(*first)?;
    let config = structure.resource(*first).provider.as_ref()?;
    let repeats = known.lowered.serving.place_of(config).map(|it| inputs.sources.place(it));
    let names: Vec<String> =
        keys.keys().map(|it| format!("  {}", structure.resource(*it).address)).collect();
    Some(Diagnostic::warning("State that OpenTofu cannot read").at(block.besides.provider.as_ref().map_or(block.declared, |it| it.span)).detail(format!(
        "The provider configuration at {} repeats without an alias, and the instances of these resources use different keys of it:\n\n{}\n\nOnly this program reads such a state. Give the provider block an alias, and name instances as alias[key], to have a state that OpenTofu reads as well.",
        repeats.unwrap_or_default(),
        names.join("\n"),
    )))
}
