//! The calls of module instances: how they are found by their names, and what is written of them.

use super::{CallId, CallNode, ModuleId, Structure};
use crate::config::ModuleCall;
use crate::syntax::Near;

impl Structure {
    /// Adds a call to the module instance where it stands, which has none of that name yet.
    pub fn add_call(&mut self, call: CallNode) -> CallId {
        let id = CallId(self.calls.len() as u32);
        self.calls.push(call);
        self.place_call(id);
        id
    }

    /// Gives a call its place among those of its module. One of which nothing is written stands behind all that are.
    pub(super) fn place_call(&mut self, id: CallId) {
        let CallNode { parent, place, ref name, .. } = self.calls[id.index()];
        let module = &mut self.modules[parent.index()];
        let written = module.config.calls.len();
        let place = match module.config.calls.get_near(place as usize, name) {
            Some((place, _)) => place,
            None => written.max(module.besides.calls.len()),
        };
        module.besides.calls.set(place, id, written);
        self.calls[id.index()].place = place as u32;
    }

    /// Returns the call of that name in a module instance.
    pub fn call_in(&self, module: ModuleId, name: &str) -> Option<CallId> {
        self.call_named(module, name, &Near::default())
    }

    /// Returns the call that a reference in a module instance names.
    pub fn call_named(&self, module: ModuleId, name: &str, near: &Near) -> Option<CallId> {
        let module = self.module(module);
        match module.config.calls.named(name, near) {
            Some((place, _)) => module.besides.calls.get(place),
            None => module
                .besides
                .calls
                .behind(module.config.calls.len())
                .find(|it| *self.call(*it).name == *name),
        }
    }

    /// Returns what is written of a call.
    pub fn call_block(&self, id: CallId) -> Option<&ModuleCall> {
        let CallNode { parent, place, .. } = self.call(id);
        self.module(*parent).config.calls.at(*place as usize).map(|it| &**it)
    }
}
