//! Whose provider it is: states that Terraform wrote name its registry where OpenTofu means its own.

use std::collections::BTreeSet;

use super::State;
use crate::address::{DEFAULT_HOST, Provider};

/// The registry that Terraform means by a source address without host.
pub const TRANSITIONAL_HOST: &str = "registry.terraform.io";

impl State {
    /// Moves resources from Terraform's registry to OpenTofu's, except those whose provider the configuration requires
    /// from there in so many words. Returns whether anything moved.
    ///
    /// - `required`: every provider that the configuration requires, as it names them.
    pub fn adopt_providers(&mut self, required: &BTreeSet<Provider>) -> bool {
        let mut moved = false;
        for resource in self.resources.values_mut() {
            let provider = &mut resource.provider.provider;
            if &*provider.host == TRANSITIONAL_HOST && !required.contains(provider) {
                provider.host = DEFAULT_HOST.into();
                moved = true;
            }
        }
        moved
    }
}
