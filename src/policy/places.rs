//! What nodes are called, and where they stand: modules, also those that only the state knows, addresses, blocks.

use std::collections::BTreeSet;

use entail_rules::Node;
use rustc_hash::FxHashMap;

use super::elsewhere;
use super::model::Model;
use crate::address::{InstanceKey, ModuleInstance};
use crate::diagnostic::Span;
use crate::lower::structure::{ModuleId, NodeKind, Style};

/// The module instances that only the state knows, and the nodes of all there are.
pub(super) type RecordedModules = (Vec<ModuleInstance>, FxHashMap<ModuleInstance, Node>);

impl Model<'_> {
    /// The node of a module instance.
    pub fn module_node(&self, module: ModuleId) -> Node {
        Node(self.structure.nodes.len() as u32 + 1 + module.0)
    }

    /// Returns the module instance that a node stands for.
    pub fn module_of_node(&self, node: Node) -> Option<ModuleId> {
        let at = node.0.checked_sub(self.structure.nodes.len() as u32 + 1)?;
        ((at as usize) < self.structure.modules.len()).then_some(ModuleId(at))
    }

    /// Returns the address of a node.
    pub fn address(&self, node: Node) -> String {
        if node == self.whole() {
            return String::new();
        }
        if let Some(elsewhere) = self.elsewhere.filter(|_| node.0 >= elsewhere::FIRST) {
            return elsewhere.address(node);
        }
        if let Some(module) = self.module_of_node(node) {
            return self.module_address(module);
        }
        if let Some(module) = self.recorded_module(node) {
            return module.to_string();
        }
        let within = |module: ModuleId, name: String| self.within_module(module, &name);
        match self.structure.kind(node) {
            NodeKind::Pending(id) => {
                let resource = self.structure.resource(*id);
                let key = if resource.besides.repetition.is_some() { "[*]" } else { "" };
                let name = format!("{}{key}", resource.address.resource);
                resource.module.map_or_else(|| self.structure.name(node), |it| within(it, name))
            }
            NodeKind::Output(module, name) => within(*module, format!("output.{name}")),
            NodeKind::Variable(module, name) => within(*module, format!("var.{name}")),
            NodeKind::Local(module, name) => within(*module, format!("local.{name}")),
            NodeKind::Object(id, key) if let Some(module) = self.structure.resource(*id).module => {
                let name = &self.structure.resource(*id).address.resource;
                within(module, format!("{name}{key}"))
            }
            _ => self.structure.name(node),
        }
    }

    /// Returns the address of something in a module instance.
    pub(super) fn within_module(&self, module: ModuleId, name: &str) -> String {
        match self.module_address(module) {
            module if module.is_empty() => name.to_owned(),
            module => format!("{module}.{name}"),
        }
    }

    /// Returns the address of a module instance; `[*]` stands for a key that is not known yet.
    fn module_address(&self, module: ModuleId) -> String {
        let node = self.structure.module(module);
        let Some((parent, call)) = node.parent.filter(|_| node.pending) else {
            return node.address.to_string();
        };
        let call = self.structure.call(call);
        let is_open = node.key == InstanceKey::None && call.style != Style::Single;
        let key = if is_open { "[*]".to_owned() } else { node.key.to_string() };
        match self.module_address(parent) {
            outer if outer.is_empty() => format!("module.{}{key}", call.name),
            outer => format!("{outer}.module.{}{key}", call.name),
        }
    }

    /// Returns whether a node stands in an instance of a module, named by its path without keys: `net.subnet`.
    pub fn is_within(&self, node: Node, module: &str) -> bool {
        let node = self.module_of_node(node).or_else(|| self.module_id(node));
        let Some(address) = node.map(|it| &self.structure.module(it).address) else {
            return false;
        };
        let path: Vec<&str> = address.0.iter().map(|it| &*it.0).collect();
        let wanted: Vec<&str> = module.split('.').collect();
        path.starts_with(&wanted)
    }

    /// Returns the node of the module instance that a node stands in: one that is declared, or that only the state knows.
    pub(super) fn module_around(&self, node: Node) -> Option<Node> {
        if let Some(module) = self.recorded_module(node) {
            return self.module_at(&module.parent()?.0);
        }
        if let Some(module) = self.module_id(node) {
            return Some(self.module_node(module));
        }
        let (NodeKind::Object(id, _) | NodeKind::Pending(id)) =
            self.structure.nodes.get(node.0 as usize)?
        else {
            return None;
        };
        self.module_at(&self.structure.resource(*id).address.module)
    }

    /// Returns the module instances that only the state knows.
    pub(super) fn recorded_modules(&self) -> impl Iterator<Item = Node> {
        let first = self.structure.nodes.len() + 1 + self.structure.modules.len();
        (first..first + self.by_state().0.len()).map(|it| Node(it as u32))
    }

    /// Returns the module instance of which only the state knows that a node stands for.
    pub(super) fn recorded_module(&self, node: Node) -> Option<&ModuleInstance> {
        let first = self.structure.nodes.len() + 1 + self.structure.modules.len();
        self.by_state().0.get((node.0 as usize).checked_sub(first)?)
    }

    fn module_at(&self, address: &ModuleInstance) -> Option<Node> {
        self.by_state().1.get(address).copied()
    }

    /// The module instances that only the state knows, and the nodes of all there are.
    fn by_state(&self) -> &RecordedModules {
        self.memo.modules.get_or_init(|| {
            let declared = (0..self.structure.modules.len() as u32).map(ModuleId);
            let mut nodes: FxHashMap<ModuleInstance, Node> = declared
                .map(|it| (self.structure.module(it).address.clone(), self.module_node(it)))
                .collect();
            let mut found = BTreeSet::new();
            for resource in self.structure.resources.iter().filter(|it| it.module.is_none()) {
                let mut at = Some(resource.address.module.clone());
                while let Some(module) = at.filter(|it| !nodes.contains_key(it)) {
                    at = module.parent().map(|it| it.0);
                    found.insert(module);
                }
            }
            let found: Vec<ModuleInstance> = found.into_iter().collect();
            let first = self.structure.nodes.len() + 1 + self.structure.modules.len();
            let numbered = found.iter().cloned().zip(first as u32..);
            nodes.extend(numbered.map(|(it, number)| (it, Node(number))));
            (found, nodes)
        })
    }

    /// Returns the module instance that a node stands in.
    pub fn module_id(&self, node: Node) -> Option<ModuleId> {
        if node.0 as usize >= self.structure.nodes.len() {
            return self.structure.module(self.module_of_node(node)?).parent.map(|it| it.0);
        }
        match self.structure.kind(node) {
            NodeKind::Object(id, _) | NodeKind::Pending(id) => {
                let resource = self.structure.resource(*id);
                resource.module.or_else(|| {
                    let mut modules = self.structure.modules.iter();
                    let at = modules.position(|it| it.address == resource.address.module)?;
                    Some(ModuleId(at as u32))
                })
            }
            NodeKind::Variable(id, _) | NodeKind::Local(id, _) | NodeKind::Output(id, _) => {
                Some(*id)
            }
            _ => None,
        }
    }

    /// Returns the file, line and column of the block of a node.
    pub fn place(&self, node: Node) -> Option<(String, usize, usize)> {
        if let Some(elsewhere) = self.elsewhere.filter(|_| node.0 >= elsewhere::FIRST) {
            let (file, line, column) = elsewhere.place(node)?;
            return Some((file, line.max(1), column.max(1)));
        }
        let span = self.declared(node)?;
        let at = self.sources.position(span.file(), span.start());
        Some((self.sources.get(span.file())?.name.clone(), at.line, at.column))
    }

    /// Returns where the block of a node is declared.
    pub fn declared(&self, node: Node) -> Option<Span> {
        if node.0 as usize >= self.structure.nodes.len() {
            let (_, call) = self.structure.module(self.module_of_node(node)?).parent?;
            return self.structure.call_block(call).map(|it| it.declared);
        }
        let of_module = |module: &ModuleId| &self.structure.module(*module).config;
        match self.structure.kind(node) {
            NodeKind::Object(id, _) | NodeKind::Pending(id) => {
                self.structure.block(*id).map(|it| it.declared)
            }
            NodeKind::Output(module, name) => {
                of_module(module).outputs.get(name).map(|it| it.declared)
            }
            NodeKind::Variable(module, name) => {
                of_module(module).variables.get(name).map(|it| it.declared)
            }
            NodeKind::Local(module, name) => {
                of_module(module).locals.get(name).map(|it| it.name.span)
            }
            _ => None,
        }
    }
}
