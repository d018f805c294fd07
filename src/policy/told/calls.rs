//! What modules ask for: other modules, and versions of providers.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::{Node, atom::Atom};

use super::Teller;
use crate::lower::structure::{ModuleId, ModuleNode};
use crate::policy::written::Each;
use crate::syntax::Expression;

impl Teller<'_, '_> {
    /// What each module instance calls, whether that is installed or not, and with which versions.
    pub(super) fn calls(&mut self) {
        if !self.is_read("model::module_call") && !self.is_read("model::module_version") {
            return;
        }
        for at in 0..self.model.structure.modules.len() as u32 {
            let module = ModuleId(at);
            let (node, config) = (
                self.model.module_node(module),
                self.model.structure.module(module).config.clone(),
            );
            for (name, call) in &config.calls {
                let name = self.text(name);
                if let Some(source) = &call.source {
                    let source = self.asked(node, module, source);
                    self.row("model::module_call", &[node.word(), name, source]);
                }
                if let Some(version) = &call.besides.version {
                    let version = self.asked(node, module, version);
                    self.row("model::module_version", &[node.word(), name, version]);
                }
            }
        }
    }

    fn asked(&self, node: Node, module: ModuleId, expression: &Expression) -> u64 {
        let value = self.model.value_in(node, module, &Each::Unknown, expression);
        self.model.values.word(&value)
    }

    /// The versions of a provider that any module asks for.
    pub(super) fn versions(&mut self, node: Node, provider: &str) {
        if !self.is_read("model::provider_version") {
            return;
        }
        let modules = &self.model.structure.modules;
        let required = self.required.get_or_insert_with(|| required_versions(modules));
        let versions: Vec<String> = required.get(provider).into_iter().flatten().cloned().collect();
        for version in versions {
            let row = [node.word(), self.text(&version)];
            self.row("model::provider_version", &row);
        }
    }
}

/// Which versions of each provider modules ask for.
fn required_versions(modules: &[ModuleNode]) -> BTreeMap<String, BTreeSet<String>> {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for required in modules.iter().flat_map(|it| it.config.required_providers.values()) {
        if let Some((version, _)) = &required.version {
            versions.entry(required.source.to_string()).or_default().insert(version.clone());
        }
    }
    versions
}
