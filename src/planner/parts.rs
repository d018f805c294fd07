//! What a plan and the state that it starts from are put together from.

use std::collections::BTreeMap;
use std::sync::Arc;

use entail_rules::outputs::Outputs;
use entail_rules::selection::Selection;
use entail_rules::spread::Spread;
use entail_rules::{Facts, Node};

use super::Inputs;
use super::progress::{Found, Progress};
use crate::address::ProviderInstance;
use crate::observe::Observer;
use crate::plan::OutputChange;
use crate::value::Str;

/// What a plan is put together from.
pub(super) struct Parts<'p, 'a> {
    pub inputs: &'p Inputs<'a>,
    pub observer: &'p mut Observer<'a>,
    pub progress: &'p Progress,
    pub outputs: BTreeMap<Str, OutputChange>,
    pub concluded: &'p Outputs,
    pub selection: &'p Selection,
    pub flags: &'p [String],
    pub facts: &'p Facts,
    pub spread: &'p Spread,
    /// What was found of each object.
    pub found: Found,
}

impl Parts<'_, '_> {
    /// Returns the provider instance of an object: as concluded; of one that only moves and that nothing serves, as recorded.
    pub fn served_by(&self, node: Node) -> Option<Arc<ProviderInstance>> {
        let recorded = || {
            let address = self.observer.values.structure.instance(node)?;
            let resource = self.inputs.state.resources.of(&address)?;
            let key = resource.instances.get(&address.key)?.provider_key.clone();
            let config = resource.provider.clone().into_inner();
            Some(ProviderInstance { config, key }.into())
        };
        self.observer.serving.known.get(node).cloned().or_else(recorded)
    }
}
