//! Saving a structure with a plan, and reading it back.

use std::sync::Arc;

use entail_rules::Node;

use super::{
    CallNode, ModuleId, ModuleNode, NodeKind, ProviderId, ResourceId, ResourceNode, Structure,
};
use crate::address::{ModuleInstance, ProviderInstance};
use crate::config;

/// What is saved of a structure; the rest follows from it and the configuration.
#[derive(serde::Serialize, serde::Deserialize)]
struct Saved {
    nodes: Vec<NodeKind>,
    modules: Vec<ModuleNode>,
    resources: Vec<ResourceNode>,
    calls: Vec<CallNode>,
    providers: Vec<(ProviderInstance, u32)>,
}

impl Structure {
    /// Returns the structure as text, to be saved with a plan.
    pub fn save(&self) -> String {
        let saved = Saved {
            nodes: self.nodes.clone(),
            modules: self.modules.clone(),
            resources: self.resources.clone(),
            calls: self.calls.clone(),
            providers: self.providers.iter().map(|it| (it.0.clone(), it.1.0)).collect(),
        };
        serde_json::to_string(&saved).expect("a structure holds only what can be written")
    }

    /// Reads a saved structure back. Modules that `module` does not know stay empty: enough to explain, not to apply.
    pub fn load(
        text: &str,
        module: impl Fn(&ModuleInstance) -> Option<Arc<config::Module>>,
    ) -> Result<Structure, serde_json::Error> {
        let saved: Saved = serde_json::from_str(text)?;
        let mut structure = Structure {
            nodes: saved.nodes,
            modules: saved.modules,
            resources: saved.resources,
            calls: saved.calls,
            providers: saved.providers.into_iter().map(|it| (it.0, Node(it.1))).collect(),
            ..Structure::default()
        };
        for (id, node) in structure.modules.iter_mut().enumerate() {
            node.config = module(&node.address).unwrap_or_default();
            structure.module_ids.insert(node.address.clone(), ModuleId(id as u32));
        }
        for node in &mut structure.resources {
            let module = node.module.map(|it| &structure.modules[it.index()]);
            let block = module.and_then(|it| it.config.resources.get(&node.address.resource));
            node.block = block.cloned();
        }
        for id in (0..structure.resources.len() as u32).map(ResourceId) {
            structure.know(id);
            let ResourceNode { module, declared, .. } = structure.resource(id);
            if let Some(module) = module.filter(|_| *declared) {
                structure.modules[module.index()].resources.push(id);
            }
        }
        for (id, (provider, _)) in structure.providers.iter().enumerate() {
            structure.provider_ids.insert(provider.clone(), ProviderId(id as u32));
        }
        for (number, kind) in structure.nodes.iter().enumerate() {
            let node = Node(number as u32);
            match kind {
                NodeKind::Variable(module, name) => {
                    structure.modules[module.index()].variables.insert(name.clone(), node);
                }
                NodeKind::Local(module, name) => {
                    structure.modules[module.index()].locals.insert(name.clone(), node);
                }
                NodeKind::Output(module, name) => {
                    structure.modules[module.index()].outputs.insert(name.clone(), node);
                }
                NodeKind::Check(module, name) => {
                    structure.modules[module.index()].checks.insert(name.clone(), node);
                }
                _ => {}
            }
        }
        Ok(structure)
    }
}
