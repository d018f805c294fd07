//! Who serves whom, between the rules and the walk: what was concluded before it, and the keys that it learned.

use entail_rules::providers::Providers;
use entail_rules::{Facts, Node};
use rustc_hash::FxHashMap;

use super::Structured;
use crate::address::ProviderInstance;
use crate::lower::{Lowered, Structure};
use crate::observe::Observer;
use crate::observe::serving::Serving;

/// Returns what is concluded before the walk.
pub(super) fn concluded(known: &Structured, structure: &Structure) -> Serving {
    Serving::of(by_node(&known.providers, structure))
}

/// Returns the provider instance of each object.
pub fn by_node(providers: &Providers, structure: &Structure) -> FxHashMap<Node, ProviderInstance> {
    let instance = |it: &(Node, Node)| Some((it.1, structure.provider(it.0)?.clone()));
    providers.serves.iter().filter_map(instance).collect()
}

/// Returns the keys that only the walk could evaluate.
pub(super) fn learn(lowered: &mut Lowered, observer: &Observer<'_>) -> Facts {
    let mut facts = Facts::default();
    for (node, instance) in observer.serving.take_learned() {
        if instance.key != crate::address::InstanceKey::None {
            facts.provider_key.push((node, lowered.serving.key(&instance.key)));
        }
    }
    facts
}
