//! Repetitions that are known besides the trace: by who judges a configuration as it is written.

use std::collections::BTreeMap;

use super::Trace;
use crate::address::{Instance, ModuleInstance};
use crate::diagnostic::Span;
use crate::lower::structure::ModuleId;
use crate::value::{Marks, Str, Value};

/// Values of `count`, `for_each` and `enabled` by the module instance and the place of their expression.
#[derive(Clone, Debug, Default)]
pub struct Repetitions(pub BTreeMap<(ModuleInstance, Span), Repeated>);

/// The value of a repetition.
#[derive(Clone, Debug)]
pub struct Repeated {
    /// The value, without what it was made of.
    pub value: Value,
    /// By key, the instances that the element was made of.
    pub reads: BTreeMap<Str, Vec<Instance>>,
}

impl Repetitions {
    /// None.
    pub const NONE: &'static Repetitions = &Repetitions(BTreeMap::new());
}

impl Trace<'_> {
    /// Returns the value of a repetition where somebody knows it, each element with what it reads.
    pub(super) fn known_repetition(&self, module: ModuleId, at: Span) -> Option<Value> {
        let key = (self.structure.module(module).address.clone(), at);
        let Repeated { value, reads } = self.input.repetitions.0.get(&key)?;
        if reads.is_empty() {
            return Some(value.clone());
        }
        let marked = |(name, element): (Str, &Value)| {
            let made_of = reads.get(&name).into_iter().flatten();
            let nodes = made_of.filter_map(|it| self.node_of(it));
            let marks: Marks = nodes.map(Marks::read).collect();
            (name, element.clone().mark(&marks))
        };
        Some(Value::object(value.entries().into_iter().map(marked)))
    }

    fn node_of(&self, instance: &Instance) -> Option<u32> {
        let id = self.structure.resource_id(&instance.of())?;
        let resource = self.structure.resource(id);
        let node = resource.instances.get(&instance.key).or(resource.collection.as_ref());
        node.map(|it| it.0)
    }
}
