//! Carrying out move statements on a state, one after another.

use std::collections::BTreeMap;

use super::ends::{End, EndTarget};
use super::statements::Statement;
use super::{Movable, Moved};
use crate::address::{Instance, ModuleInstance, Resource};
use crate::config::Config;
use crate::state::State;
use crate::state::renames::Renames;

/// Carries out `statements` in this order.
pub(super) fn carry_out<'a>(
    config: &Config,
    statements: impl Iterator<Item = &'a Statement>,
    state: &mut State,
) -> Moved {
    let mut moving = Moving { config, state, moved: Moved::default() };
    for statement in statements {
        match &statement.from.subject {
            EndTarget::Call | EndTarget::Module => moving.modules(statement),
            EndTarget::Resource(_) | EndTarget::Instance(..) => moving.resources(statement),
        }
    }
    let moved = moving.moved;
    if !moved.moved.is_empty() {
        follow(state, &moved.moved);
    }
    moved
}

struct Moving<'a> {
    config: &'a Config,
    state: &'a mut State,
    moved: Moved,
}

impl Moving<'_> {
    /// Moves each recorded module instance that the statement names or contains.
    fn modules(&mut self, statement: &Statement) {
        let mut contents: BTreeMap<ModuleInstance, Vec<Resource>> = BTreeMap::new();
        for address in self.within(&statement.from) {
            contents.entry(address.module.clone()).or_default().push(address.clone());
        }
        for (module, resources) in contents {
            let to = statement.from.module_destination(&statement.to, &module);
            let to = to.filter(|_| statement.speaks_for(self.config, &module));
            let Some(to) = to else { continue };
            if self.is_taken(&to) {
                self.block(Movable::Module(module), Movable::Module(to));
                continue;
            }
            for resource in resources {
                let target = Resource { module: to.clone(), resource: resource.resource.clone() };
                self.whole(statement, &resource, target);
            }
        }
    }

    /// The recorded resources that may lie in what an end names: with the beginning of its path that has keys, and the next name.
    fn within(&self, end: &End) -> impl Iterator<Item = &Resource> {
        let (fixed, next) = end.beginning();
        let depths = fixed.len() + usize::from(next.is_some())..=self.state.resources.deepest();
        depths.flat_map(move |depth| {
            self.state.resources.behind(&fixed, next.as_ref(), depth).map(|it| it.0)
        })
    }

    /// Whether something is recorded in a module instance.
    fn is_taken(&self, module: &ModuleInstance) -> bool {
        self.state.resources.behind(&module.0, None, module.0.len()).next().is_some()
    }

    /// Moves the recorded resources or instances that the statement names.
    fn resources(&mut self, statement: &Statement) {
        let (EndTarget::Resource(name) | EndTarget::Instance(name, _)) = &statement.from.subject
        else {
            return;
        };
        let found: Vec<Resource> = match statement.from.only_module() {
            Some(module) => {
                let address = Resource { module, resource: name.clone() };
                self.state.resources.contains_key(&address).then_some(address).into_iter().collect()
            }
            None => {
                self.state.resources.keys().filter(|it| it.resource == *name).cloned().collect()
            }
        };
        for resource in found {
            let to = statement.from.resource_destination(&statement.to, &resource.module);
            let to = to.filter(|_| statement.speaks_for(self.config, &resource.module));
            let Some(module) = to else { continue };
            match (&statement.from.subject, &statement.to.subject) {
                (EndTarget::Resource(_), EndTarget::Resource(to)) => {
                    let target = Resource { module, resource: to.clone() };
                    if self.state.resources.contains_key(&target) {
                        self.block(Movable::Resource(resource), Movable::Resource(target));
                    } else {
                        self.whole(statement, &resource, target);
                    }
                }
                (EndTarget::Instance(_, key), EndTarget::Instance(to, to_key)) => {
                    let target = Resource { module, resource: to.clone() };
                    let (from, to) =
                        (resource.instance(key.clone()), target.instance(to_key.clone()));
                    self.instance(statement, from, to);
                }
                _ => {}
            }
        }
    }

    fn block(&mut self, at: Movable, wanted: Movable) {
        // What would move onto itself is refused later, as a redundant statement.
        if at != wanted {
            self.moved.blocked.insert(at, wanted);
        }
    }

    /// Moves all instances of a resource to a place where there is none.
    fn whole(&mut self, statement: &Statement, from: &Resource, to: Resource) {
        let Some(resource) = self.state.resources.remove(from) else { return };
        for key in resource.instances.keys() {
            self.record(statement, from.instance(key.clone()), to.instance(key.clone()));
        }
        self.state.resources.insert(to, resource);
    }

    fn instance(&mut self, statement: &Statement, from: Instance, to: Instance) {
        if self.state.instance(&from).is_none() {
            return;
        }
        if self.state.instance(&to).is_some() {
            self.block(Movable::Instance(from), Movable::Instance(to));
            return;
        }
        let Some(resource) = self.state.resources.get_mut(&from.of()) else { return };
        let Some(instance) = resource.instances.remove(&from.key) else { return };
        let provider = resource.provider.clone();
        if resource.instances.is_empty() {
            self.state.resources.remove(&from.of());
        }
        let target = self.state.resources.served_by(to.of(), &provider);
        target.instances.insert(to.key.clone(), instance);
        self.record(statement, from, to);
    }

    /// Remembers a move; one that goes on from an earlier one becomes one with it.
    fn record(&mut self, statement: &Statement, from: Instance, to: Instance) {
        self.moved.explicit.remove(&from);
        let origin = self.moved.moved.remove(&from).unwrap_or(from);
        if !statement.implied {
            self.moved.explicit.insert(to.clone());
        }
        self.moved.moved.insert(to, origin);
    }
}

/// Lets what other objects recorded follow the moves: our own record instance by instance, OpenTofu's by resource.
fn follow(state: &mut State, moved: &BTreeMap<Instance, Instance>) {
    let renames = Renames::of(state, moved.iter().map(|(new, old)| (old, new)));
    let recorded = state.resources.values_mut().flat_map(|it| it.instances.values_mut());
    for object in recorded.flat_map(|it| it.current.iter_mut().chain(it.deposed.values_mut())) {
        renames.follow_own(object);
        if renames.concern(object) {
            object.dependencies = renames.dependencies(object).into_iter().collect();
        }
    }
}
