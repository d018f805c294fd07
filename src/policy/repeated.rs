//! Keys of blocks that rest on what other blocks write: a configuration alone knows them.

use std::collections::BTreeMap;

use super::model::Model;
use super::written::Each;
use crate::address::Instance;
use crate::config::Repetition;
use crate::config::expansion::{self, Keys};
use crate::lower::structure::ModuleId;
use crate::lower::trace::{KnownRepetition, Repetitions};
use crate::value::{MarkPaths, Marks, Str, Value};

impl Model<'_> {
    /// Returns what is known of repetitions that only rest on what is written.
    pub fn written_repetitions(&self) -> Repetitions {
        let mut found = Repetitions::default();
        let structure = self.structure;
        for (at, resource) in structure.resources.iter().enumerate() {
            let (Some(node), Some(module)) = (resource.besides.pending, resource.module) else {
                continue;
            };
            let id = crate::lower::structure::ResourceId(at as u32);
            if let Some(block) = structure.block(id) {
                self.add(&mut found, node, module, &block.besides.repetition);
            }
        }
        for (at, call) in structure.calls.iter().enumerate().filter(|it| it.1.pending) {
            if let Some(block) = structure.call_block(crate::lower::structure::CallId(at as u32)) {
                self.add(&mut found, call.keys, call.parent, &block.repetition);
            }
        }
        found
    }

    fn add(
        &self,
        found: &mut Repetitions,
        node: entail_rules::Node,
        module: ModuleId,
        repetition: &Repetition,
    ) {
        let Some(expression) = repetition.expression() else { return };
        // What is in a module of which nobody knows how often it is there waits for the module.
        if self.structure.module(module).pending {
            return;
        }
        let value = self.value_in(node, module, &Each::None, expression);
        if !matches!(expansion::keys(repetition, &value), Keys::Known(_)) {
            return;
        }
        let reads = value.entries().into_iter().map(|(name, it)| (name, self.made_of(it)));
        let reads: BTreeMap<Str, Vec<Instance>> = match value.bare() {
            Value::Object(_) | Value::Map(_) => reads.collect(),
            _ => BTreeMap::new(),
        };
        let key = (self.structure.module(module).address.clone(), expression.span);
        // Nodes have other numbers when the configuration is traced again.
        let kept = |marks: &Marks| Marks { reads: Default::default(), ..marks.clone() };
        let paths = value.mark_paths();
        let marks: MarkPaths = paths.iter().map(|it| (it.0.to_vec(), kept(it.1))).collect();
        let value = Value::from(value.to_plain()).mark_at(&marks);
        found.0.insert(key, KnownRepetition { value, reads });
    }

    fn made_of(&self, value: &Value) -> Vec<Instance> {
        let mut found = Vec::new();
        let mut see = |it| found.extend(self.structure.instance(entail_rules::Node(it)));
        value.deep_marks().reads.visit(&mut see);
        found
    }
}
