//! The names of nodes, as proofs write them.

use std::fmt;

use entail_rules::Node;

use super::{CallId, ModuleId, NodeKind, Structure};
use crate::address::InstanceKey;

/// The name of a node, which is put together when it is written.
pub struct Named<'s>(&'s Structure, Node);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name(self.1))
    }
}

impl Structure {
    /// Returns the name of a node for a message that may not be needed.
    pub fn named(&self, node: Node) -> Named<'_> {
        Named(self, node)
    }

    /// Returns the name of a node as proofs write it.
    pub fn name(&self, node: Node) -> String {
        let place = |module: ModuleId, name: String| {
            let module = &self.module(module).address;
            if module.is_root() { name } else { format!("{module}.{name}") }
        };
        match self.kind(node) {
            NodeKind::Object(resource, key) => {
                self.resource(*resource).address.instance(key.clone()).to_string()
            }
            NodeKind::Deposed(resource, key, deposed) => {
                let address = self.resource(*resource).address.instance((**key).clone());
                format!("{address} (deposed object {deposed})")
            }
            NodeKind::Repetition(resource) => {
                format!("the instance keys of {}", self.resource(*resource).address)
            }
            NodeKind::Collection(resource) => {
                format!("{} (all instances)", self.resource(*resource).address)
            }
            NodeKind::Pending(resource) => {
                format!("{} (instances not yet known)", self.resource(*resource).address)
            }
            NodeKind::Variable(module, name) => place(*module, format!("var.{name}")),
            NodeKind::Local(module, name) => place(*module, format!("local.{name}")),
            NodeKind::Recorded(name) => format!("output.{name}"),
            NodeKind::Output(module, name) if *module == Structure::ROOT => {
                format!("output.{name}")
            }
            NodeKind::Output(module, name) => place(*module, name.to_string()),
            NodeKind::Module(module) => self.module(*module).address.to_string(),
            NodeKind::CallKeys(call) => format!("the instance keys of {}", self.call_name(*call)),
            NodeKind::Call(call) => format!("{} (all outputs)", self.call_name(*call)),
            NodeKind::Given(call, output) => format!("{}.{output}", self.call_name(*call)),
            NodeKind::Inside(call) => format!("everything in {}", self.call_name(*call)),
            NodeKind::Provider(provider) => self.providers[provider.index()].0.to_string(),
            NodeKind::Check(module, name) => place(*module, format!("check.{name}")),
        }
    }

    /// Returns the address of a call, without a key.
    pub fn call_name(&self, call: CallId) -> String {
        let call = self.call(call);
        self.module(call.parent).address.child(&call.name, InstanceKey::None).to_string()
    }
}
