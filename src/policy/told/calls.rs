//! What modules ask for: other modules, and versions of providers.

use entail_rules::{Node, atom::Atom};

use super::Teller;
use crate::lower::structure::ModuleId;
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
                if let Some(version) = &call.version {
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
        let modules = self.model.structure.modules.iter();
        let required = modules.flat_map(|it| it.config.required_providers.values());
        let required = required.filter(|it| it.source.to_string() == provider);
        let versions = required.filter_map(|it| Some(it.version.as_ref()?.0.as_str()));
        let mut versions: Vec<&str> = versions.collect();
        versions.sort_unstable();
        versions.dedup();
        for version in versions {
            let row = [node.word(), self.text(version)];
            self.row("model::provider_version", &row);
        }
    }
}
