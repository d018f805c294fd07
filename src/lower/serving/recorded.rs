//! What the state says served each object, where nothing but the state may tell.

use std::collections::BTreeSet;

use entail_rules::{Alias, Key, Node};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Serving, stands_for};
use crate::address::{InstanceKey, ProviderConfig, ProviderInstance};
use crate::config::Variant;
use crate::config::expansion::key_text;
use crate::lower::structure::ResourceId;
use crate::lower::{Documents, Lowered};

/// Writes `recorded_provider`, with `key_names`, `implied_config` and `provider_node` of what is named there; and
/// `of` and `block_gone` of deposed objects.
///
/// Only of objects whose instance a key chooses, or whose block is gone: all others are served as their block is.
pub(super) fn lower(lowered: &mut Lowered, documents: &Documents<'_>, serving: &mut Serving) {
    let keyed: FxHashSet<_> =
        documents.graph.configured.concluded.keyed.iter().map(|it| it.0).collect();
    let gone: FxHashSet<Node> = lowered.facts.block_gone.iter().map(|it| it.0).collect();
    if keyed.is_empty() && gone.is_empty() && lowered.facts.deposed_of.is_empty() {
        return;
    }
    let of: FxHashMap<Node, _> = lowered.facts.of.iter().copied().collect();
    for (node, current) in lowered.facts.deposed_of.clone() {
        if gone.contains(&current) {
            lowered.facts.block_gone.push((node,));
        } else if let Some(&block) = of.get(&current) {
            lowered.facts.of.push((node, block));
        }
    }
    let is_open =
        |node: &Node| gone.contains(node) || of.get(node).is_some_and(|it| keyed.contains(it));
    let current = lowered.facts.in_state.iter().map(|it| it.0).filter(&is_open);
    // Of an instance whose block is gone, nothing but deposed objects may be left.
    let deposed = lowered.facts.deposed_of.iter().filter(|it| is_open(&it.1));
    let open: BTreeSet<Node> = deposed.flat_map(|it| [it.0, it.1]).chain(current).collect();
    for node in open {
        if let Some((id, key, _)) = lowered.structure.kind(node).clone().object() {
            record(lowered, documents, serving, node, (id, key));
        }
    }
}

fn record(
    lowered: &mut Lowered,
    documents: &Documents<'_>,
    serving: &mut Serving,
    node: Node,
    (id, key): (ResourceId, &InstanceKey),
) {
    let address = &lowered.structure.resource(id).address;
    let Some(resource) = documents.state.resources.get(address) else { return };
    let instance = resource.instances.get(key);
    let key = instance.map(|it| it.provider_key.clone()).unwrap_or_default();
    let ProviderConfig { module, provider, alias } = &*resource.provider;
    let alias_atom = serving.alias(alias.as_ref());
    let key_atom = serving.key(&key);
    // An alias may have become a key since, or a key an alias.
    if alias_atom == Alias::KEYS {
        let name = Some(key_text(&key)).filter(|it| !it.is_empty());
        let name = serving.alias(name.as_ref());
        lowered.facts.key_names.push((key_atom, name));
    } else if let Some(alias) = alias.as_ref().filter(|_| key_atom == Key::NONE) {
        let named = serving.key(&InstanceKey::Str(alias.clone()));
        lowered.facts.key_names.push((named, alias_atom));
    }
    // Nothing in the configuration may use this provider any more.
    let family = serving.family(provider);
    if let Some((config, implied)) = serving.implied(provider) {
        lowered.facts.implied_config.push((family, implied));
        if !serving.blocks.contains_key(&implied) {
            stands_for(lowered, serving, ProviderInstance { config, key: InstanceKey::None });
        }
    }
    let module = serving.module(&Variant { path: module.clone(), number: 0 });
    lowered.facts.recorded_provider.push((node, module, family, alias_atom, key_atom));
}
