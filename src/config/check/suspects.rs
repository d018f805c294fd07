//! What may wait for itself, as the graph of all blocks tells: the rest need not be looked at again.

use rustc_hash::FxHashSet;

use crate::address::ResourceName;
use crate::config::{Config, Variant};

/// Blocks that may wait for themselves.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    /// Whether some blocks wait for each other, or for themselves.
    pub is_circular: bool,
    /// The resource blocks that refer to themselves.
    pub selves: FxHashSet<(Variant, ResourceName)>,
}

impl Suspects {
    /// Returns whether there may be a circle. The graph of blocks has every link but those of the keys of the provider
    /// configurations that a call passes: all of the called module waits for these.
    pub(super) fn may_be_circular(&self, config: &Config) -> bool {
        let mut calls = config.modules.values().flat_map(|it| it.calls.values());
        self.is_circular || calls.any(|it| it.providers.iter().any(|it| it.1.key.is_some()))
    }
}
