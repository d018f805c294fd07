//! Provider instances that must not be called yet: what their arguments read is not settled.

use parking_lot::Mutex;
use rustc_hash::FxHashSet;

use crate::address::ProviderInstance;

/// The provider instances that must not be called yet. Empty where nothing is planned.
#[derive(Debug, Default)]
pub struct Awaiting(Mutex<FxHashSet<ProviderInstance>>);

impl Awaiting {
    /// Returns the set of these instances.
    pub fn of(instances: impl Iterator<Item = ProviderInstance>) -> Awaiting {
        Awaiting(Mutex::new(instances.collect()))
    }

    /// Returns whether an instance must not be called yet.
    pub fn has(&self, instance: &ProviderInstance) -> bool {
        self.0.lock().contains(instance)
    }

    /// Says that what the arguments of an instance read is settled.
    pub fn settle(&self, instance: &ProviderInstance) {
        self.0.lock().remove(instance);
    }
}
