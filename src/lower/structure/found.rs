//! Module instances by what they are instances of.

use super::{ModuleId, ModuleNode, Structure};
use crate::address::Module;
use crate::config::{Config, Variant};

impl Structure {
    /// Returns the first instance of a module, wherever its source is.
    pub fn first_at(&self, path: &Module) -> Option<ModuleId> {
        self.first(|it| it.path == *path)
    }

    /// Returns the first instance of a module that is one of several of its path.
    pub fn first_of(&self, config: &Config, variant: &Variant) -> Option<ModuleId> {
        self.first(|it| {
            it.path == variant.path && config.variant_of(&it.address).as_ref() == Some(variant)
        })
    }

    fn first(&self, is_it: impl Fn(&ModuleNode) -> bool) -> Option<ModuleId> {
        self.modules.iter().position(is_it).map(|it| ModuleId(it as u32))
    }
}
