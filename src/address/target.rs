//! What `-target` and `-exclude` name, and what that contains.

use super::{Instance, ModuleInstance, Resource};

/// An address that a flag names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A module call (every instance where the last step has no key) and everything in it.
    Module(ModuleInstance),
    /// A resource with all its instances.
    Resource(Resource),
    /// One instance.
    Instance(Instance),
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Module(it) => it.fmt(f),
            Target::Resource(it) => it.fmt(f),
            Target::Instance(it) => it.fmt(f),
        }
    }
}
