//! Which `provider` blocks serve which resource blocks: concluded by rules, and read by the checks of a configuration.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::Variant;
use crate::address::ResourceName;

/// Who serves the resource blocks of a configuration.
#[derive(Clone, Debug, Default)]
pub struct BlocksServed {
    /// The `provider` block of each resource block that has a written one: its module, and its local name with the alias.
    pub by: FxHashMap<(Variant, ResourceName), (Variant, String)>,
    /// The `provider` block, which repeats, of each resource block that names no key of it.
    pub without_key: FxHashMap<(Variant, ResourceName), (Variant, String)>,
    /// Resource blocks for which there is no configuration.
    pub unconfigured: BTreeSet<(Variant, ResourceName)>,
}
