//! Saving a structure with a plan, and reading it back.

use std::sync::Arc;

use entail_rules::Node;

use super::{
    CallId, CallNode, ModuleId, ModuleNode, NodeKind, ProviderId, ResourceId, ResourceNode,
    Structure,
};
use crate::address::{ModuleInstance, ProviderInstance};
use crate::config;
use crate::value::Str;

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

    /// Reads a saved structure back. Its modules are empty: enough to explain, and [`Structure::fit`] gives them what they had.
    ///
    /// # Errors
    ///
    /// If the text is no structure.
    pub fn load(text: &str) -> Result<Structure, serde_json::Error> {
        let saved: Saved = serde_json::from_str(text)?;
        let mut structure = Structure {
            nodes: saved.nodes,
            modules: saved.modules,
            resources: saved.resources,
            calls: saved.calls,
            providers: saved.providers.into_iter().map(|it| (it.0, Node(it.1))).collect(),
            ..Structure::default()
        };
        for id in (0..structure.modules.len() as u32).map(ModuleId) {
            structure.know_module(id);
        }
        for id in (0..structure.resources.len() as u32).map(ResourceId) {
            structure.know(id);
            let ResourceNode { module, declared, .. } = structure.resource(id);
            if let Some(module) = module.filter(|_| *declared) {
                structure.modules[module.index()].resources.push(id);
            }
        }
        for id in (0..structure.calls.len() as u32).map(CallId) {
            structure.place_call(id);
        }
        for (id, (provider, _)) in structure.providers.iter().enumerate() {
            structure.provider_ids.insert(provider.clone(), ProviderId(id as u32));
        }
        structure.find_members();
        Ok(structure)
    }

    /// Gives the modules and resources their blocks. Modules that `module` does not know stay empty.
    pub fn fit(&mut self, module: impl Fn(&ModuleInstance) -> Option<Arc<config::Module>>) {
        for node in &mut self.modules {
            node.config = module(&node.address).unwrap_or_default();
        }
        for node in &mut self.resources {
            let module = node.module.map(|it| &self.modules[it.index()]);
            let block = module.and_then(|it| it.config.resources.get(&node.address.resource));
            node.block = block.cloned();
        }
        // Calls stand in the order of their blocks.
        for node in self.modules.iter_mut().filter(|it| !it.besides.is_plain()) {
            node.besides.calls = Default::default();
        }
        for id in (0..self.calls.len() as u32).map(CallId) {
            self.place_call(id);
        }
    }

    /// Gives the modules the nodes that stand for what is in them.
    fn find_members(&mut self) {
        let Structure { nodes, modules, .. } = self;
        let mut found: Vec<[Vec<(Str, Node)>; 4]> = Vec::new();
        found.resize_with(modules.len(), Default::default);
        for (number, kind) in nodes.iter().enumerate() {
            let (module, place, name) = match kind {
                NodeKind::Variable(module, name) => (module, 0, name),
                NodeKind::Local(module, name) => (module, 1, name),
                NodeKind::Output(module, name) => (module, 2, name),
                NodeKind::Check(module, name) => (module, 3, name),
                _ => continue,
            };
            found[module.index()][place].push((name.clone(), Node(number as u32)));
        }
        for (own, found) in modules.iter_mut().zip(found) {
            let [variables, locals, outputs, checks] = found.map(|it| it.into_iter().collect());
            (own.variables, own.outputs) = (variables, outputs);
            own.set_rare_members(locals, checks);
        }
    }
}
