//! The two ends of a move statement, as patterns over addresses: matching, and how patterns overlap.

use std::fmt;

use super::Movable;
use crate::address::{Instance, InstanceKey, Module, ModuleInstance, Resource, ResourceName, Str};
use crate::config::MoveEndpoint;

/// One end of a statement. The steps of the module that holds the statement match any key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// How many of `path`'s steps lead to the module that holds the statement.
    pub base: usize,
    /// The modules down to the subject, itself included where it is one. Without a key, any key matches.
    path: Vec<StepPattern>,
    pub subject: EndTarget,
}

/// A module call, and its key. Without one, any key matches.
pub(super) type StepPattern = (Str, Option<InstanceKey>);

/// What an end names, at the end of its path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum EndTarget {
    Call,
    Module,
    Resource(ResourceName),
    Instance(ResourceName, InstanceKey),
}

/// Reads both ends of a `moved` block of `module`. Where either has a key, both name instances.
pub(super) fn unify(module: &Module, from: &MoveEndpoint, to: &MoveEndpoint) -> (End, End) {
    let keyed = last_key(from) != InstanceKey::None || last_key(to) != InstanceKey::None;
    (End::written(module, from, keyed), End::written(module, to, keyed))
}

fn last_key(end: &MoveEndpoint) -> InstanceKey {
    match end {
        MoveEndpoint::Module(path) => path.0.last().map(|it| it.1.clone()).unwrap_or_default(),
        MoveEndpoint::Resource(it) => it.key.clone(),
    }
}

impl End {
    fn written(module: &Module, end: &MoveEndpoint, keyed: bool) -> End {
        let (relative, subject) = match end {
            MoveEndpoint::Module(path) if keyed => (path, EndTarget::Module),
            MoveEndpoint::Module(path) => (path, EndTarget::Call),
            MoveEndpoint::Resource(it) if keyed => {
                (&it.module, EndTarget::Instance(it.resource.clone(), it.key.clone()))
            }
            MoveEndpoint::Resource(it) => (&it.module, EndTarget::Resource(it.resource.clone())),
        };
        let base = module.0.iter().map(|name| (name.clone(), None));
        let relative = relative.0.iter().map(|(name, key)| (name.clone(), Some(key.clone())));
        let mut path: Vec<_> = base.chain(relative).collect();
        if let (EndTarget::Call, Some(last)) = (&subject, path.last_mut()) {
            last.1 = None;
        }
        End { base: module.0.len(), path, subject }
    }

    /// Returns the end that names just this instance.
    pub fn instance(address: &Instance) -> End {
        let subject = EndTarget::Instance(address.resource.clone(), address.key.clone());
        End { base: 0, path: exact(&address.module), subject }
    }

    /// Returns the end that names just this module instance.
    pub fn module(address: &ModuleInstance) -> End {
        End { base: 0, path: exact(address), subject: EndTarget::Module }
    }

    /// Returns whether modules are what moves.
    pub fn names_module(&self) -> bool {
        matches!(self.subject, EndTarget::Call | EndTarget::Module)
    }

    /// Returns the modules down to the subject.
    pub fn path(&self) -> &[StepPattern] {
        &self.path
    }

    /// Returns the module that holds the statement.
    pub fn base(&self) -> Module {
        Module(self.path[..self.base].iter().map(|it| it.0.clone()).collect())
    }

    /// Returns what this end names in one instance of the module that holds the statement.
    pub fn within(&self, base: &ModuleInstance) -> Movable {
        let mut steps: Vec<_> = base.0.to_vec();
        let relative = self.path[self.base..].iter();
        steps.extend(relative.map(|(name, key)| (name.clone(), key.clone().unwrap_or_default())));
        match &self.subject {
            EndTarget::Call => {
                let name = steps.pop().map(|it| it.0).unwrap_or_default();
                Movable::Call(ModuleInstance(steps.into()), name)
            }
            EndTarget::Module => Movable::Module(ModuleInstance(steps.into())),
            EndTarget::Resource(it) => Movable::Resource(Resource {
                module: ModuleInstance(steps.into()),
                resource: it.clone(),
            }),
            EndTarget::Instance(it, key) => Movable::Instance(Instance {
                module: ModuleInstance(steps.into()),
                resource: it.clone(),
                key: key.clone(),
            }),
        }
    }

    /// Returns the one module instance that the path can match, where every step has a key.
    pub fn only_module(&self) -> Option<ModuleInstance> {
        let step = |(name, key): &(Str, Option<InstanceKey>)| Some((name.clone(), key.clone()?));
        Some(ModuleInstance(self.path.iter().map(step).collect::<Option<_>>()?))
    }

    /// Returns the steps that have keys, up to the first that has none, and the name of that one.
    pub fn beginning(&self) -> (Vec<(Str, InstanceKey)>, Option<Str>) {
        let step = |(name, key): &(Str, Option<InstanceKey>)| Some((name.clone(), key.clone()?));
        let fixed: Vec<_> = self.path.iter().map_while(step).collect();
        let next = self.path.get(fixed.len()).map(|it| it.0.clone());
        (fixed, next)
    }

    /// Returns whether the path leads to just this module instance: it is named, or a resource in it is.
    pub fn selects_module(&self, module: &ModuleInstance) -> bool {
        self.path.len() == module.0.len() && self.starts(module)
    }

    /// Returns whether this end names the resource or an instance of it.
    pub fn selects_resource(&self, address: &Resource) -> bool {
        let (EndTarget::Resource(it) | EndTarget::Instance(it, _)) = &self.subject else {
            return false;
        };
        *it == address.resource && self.selects_module(&address.module)
    }

    /// Returns whether `module` lies at the end of the path or below.
    fn starts(&self, module: &ModuleInstance) -> bool {
        self.path.len() <= module.0.len()
            && self.path.iter().zip(module.0.iter()).all(|(pattern, step)| {
                pattern.0 == step.0 && pattern.1.as_ref().is_none_or(|key| *key == step.1)
            })
    }

    /// Returns where a module instance goes that lies in what this end names.
    pub fn module_destination(&self, to: &End, module: &ModuleInstance) -> Option<ModuleInstance> {
        if !self.starts(module) {
            return None;
        }
        // Without a key at the destination the call moves as a whole, and each instance keeps its key.
        let last = &module.0[self.path.len() - 1].1;
        let relative = to.path[self.base..].iter();
        let replaced =
            relative.map(|(name, key)| (name.clone(), key.as_ref().unwrap_or(last).clone()));
        let (before, behind) = (&module.0[..self.base], &module.0[self.path.len()..]);
        Some(ModuleInstance(
            before.iter().cloned().chain(replaced).chain(behind.iter().cloned()).collect(),
        ))
    }

    /// Returns where the contents of a module instance go to that holds the resource which this end names.
    pub fn resource_destination(
        &self,
        to: &End,
        module: &ModuleInstance,
    ) -> Option<ModuleInstance> {
        if !self.selects_module(module) {
            return None;
        }
        let relative = to.path[self.base..].iter();
        let replaced = relative.map(|(name, key)| (name.clone(), key.clone().unwrap_or_default()));
        Some(ModuleInstance(module.0[..self.base].iter().cloned().chain(replaced).collect()))
    }

    /// Returns whether what this end names can be what `other` names.
    pub fn can_equal(&self, other: &End) -> bool {
        self.path.len() == other.path.len()
            && self.overlaps(other)
            && match (&self.subject, &other.subject) {
                (EndTarget::Call | EndTarget::Module, EndTarget::Call | EndTarget::Module) => true,
                (this, other) => this == other,
            }
    }

    /// Returns whether what this end names lies within something that `other` names.
    pub fn lies_within(&self, other: &End) -> bool {
        if other.path.len() > self.path.len() || !other.overlaps(self) {
            return false;
        }
        let is_deeper = self.path.len() > other.path.len();
        match (&other.subject, &self.subject) {
            (EndTarget::Call, EndTarget::Call)
            | (EndTarget::Module, EndTarget::Call | EndTarget::Module) => is_deeper,
            (EndTarget::Call | EndTarget::Module, _) => true,
            (EndTarget::Resource(whole), EndTarget::Instance(it, _)) => !is_deeper && whole == it,
            _ => false,
        }
    }

    /// Returns whether the paths agree as far as both go.
    fn overlaps(&self, other: &End) -> bool {
        self.path
            .iter()
            .zip(&other.path)
            .all(|(a, b)| a.0 == b.0 && (a.1.is_none() || b.1.is_none() || a.1 == b.1))
    }

    /// Returns whether a move from here to `to` changes nothing but keys of one module.
    pub fn only_changes_keys(&self, to: &End) -> bool {
        self.names_module()
            && (&self.subject, &to.subject) != (&EndTarget::Call, &EndTarget::Call)
            && self.path.len() == to.path.len()
            && self.path.iter().zip(&to.path).all(|(a, b)| a.0 == b.0)
    }
}

fn exact(module: &ModuleInstance) -> Vec<(Str, Option<InstanceKey>)> {
    module.0.iter().map(|(name, key)| (name.clone(), Some(key.clone()))).collect()
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, key)) in self.path.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            match key {
                Some(key) => write!(f, "{dot}module.{name}{key}")?,
                None => write!(f, "{dot}module.{name}[*]")?,
            }
        }
        let dot = if self.path.is_empty() { "" } else { "." };
        match &self.subject {
            EndTarget::Call | EndTarget::Module => Ok(()),
            EndTarget::Resource(it) => write!(f, "{dot}{it}[*]"),
            EndTarget::Instance(it, key) => write!(f, "{dot}{it}{key}"),
        }
    }
}
