//! Whose provider it is: states that Terraform wrote name its registry where OpenTofu means its own.

use std::collections::BTreeSet;

use super::{Shared, State};
use crate::address::{DEFAULT_HOST, Provider, ProviderConfig};

/// The registry that Terraform means by a source address without host.
pub const TRANSITIONAL_HOST: &str = "registry.terraform.io";

impl State {
    /// Moves resources from Terraform's registry to OpenTofu's, except those whose provider the configuration requires
    /// from there in so many words. Returns whether anything moved.
    ///
    /// - `required`: every provider that the configuration requires, as it names them.
    pub fn adopt_providers(&mut self, required: &BTreeSet<Provider>) -> bool {
        let moves = |it: &Provider| &*it.host == TRANSITIONAL_HOST && !required.contains(it);
        // What is only looked at stays shared: by other copies of the state, and by the resources of one provider.
        if !self.resources.values().any(|it| moves(&it.provider.provider)) {
            return false;
        }
        let mut last: Option<(Shared<ProviderConfig>, Shared<ProviderConfig>)> = None;
        for resource in self.resources.values_mut().filter(|it| moves(&it.provider.provider)) {
            let known = last.take().filter(|it| it.0 == resource.provider);
            let (from, to) = known.unwrap_or_else(|| {
                let mut to = resource.provider.clone();
                to.provider.host = DEFAULT_HOST.into();
                (resource.provider.clone(), to)
            });
            resource.provider = to.clone();
            last = Some((from, to));
        }
        true
    }
}
