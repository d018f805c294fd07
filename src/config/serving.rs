//! Which `provider` blocks serve which resource blocks: concluded by rules, and read by the checks of a configuration.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::address::{ConfigResource, Module};

/// Who serves the resource blocks of a configuration.
#[derive(Clone, Debug, Default)]
pub struct BlocksServed {
    /// The `provider` block of each resource block that has a written one: its module, and its local name with the alias.
    pub by: FxHashMap<ConfigResource, (Module, String)>,
    /// Resource blocks for which there is no configuration.
    pub unconfigured: BTreeSet<ConfigResource>,
}
