//! The expanded configuration: every module instance, resource and instance, and the node that stands for each.
//!
//! Nodes are the atoms of the rules. A resource that does not repeat is its own collection; one whose repetition cannot
//! be known before the walk is one pending node.

mod serial;
mod names;
mod saved;

use std::collections::BTreeMap;
use std::sync::Arc;

use entail_rules::Node;
use rustc_hash::FxHashMap;

use crate::address::{
    Instance, InstanceKey, Mode, Module, ModuleInstance, ProviderConfig, ProviderInstance,
    Resource, ResourceName,
};
use crate::config;
use crate::expression::Subject;
use crate::value::{Str, Value};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub struct $name(pub u32);
        impl $name {
            /// Returns the position in its table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
id!(
    /// A module instance of a [`Structure`].
    ModuleId
);
id!(
    /// A resource of one module instance.
    ResourceId
);
id!(
    /// A module call of one module instance.
    CallId
);
id!(
    /// A provider instance.
    ProviderId
);

/// What a node stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum NodeKind {
    /// A current object: declared, in the state, or both.
    Object(ResourceId, InstanceKey),
    /// A deposed object.
    Deposed(ResourceId, InstanceKey, Str),
    /// The key set of a resource.
    Repetition(ResourceId),
    /// All instances of a resource together.
    Collection(ResourceId),
    /// A resource whose key set is not known before the walk.
    Pending(ResourceId),
    /// An input variable of a module instance.
    Variable(ModuleId, Str),
    /// A local value of a module instance.
    Local(ModuleId, Str),
    /// An output of a module instance.
    Output(ModuleId, Str),
    /// A root output that only the state has.
    Recorded(Str),
    /// A module instance: what everything in it hangs on.
    Module(ModuleId),
    /// The key set of a module call.
    CallKeys(CallId),
    /// All outputs of all instances of a module call.
    Call(CallId),
    /// Everything inside all instances of a module call.
    Inside(CallId),
    /// A provider instance.
    Provider(ProviderId),
    /// A check block of a module instance.
    Check(ModuleId, Str),
}

/// How a block repeats, without its expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Style {
    /// Once.
    Single,
    /// `count`
    Count,
    /// `for_each`
    ForEach,
    /// `enabled`
    Enabled,
}

impl Style {
    /// Returns whether a block that repeats so may have an instance of that key.
    pub fn may_have(self, key: &InstanceKey) -> bool {
        matches!(
            (self, key),
            (Style::Single | Style::Enabled, InstanceKey::None)
                | (Style::Count, InstanceKey::Int(_))
                | (Style::ForEach, InstanceKey::Str(_))
        )
    }

    /// Returns the style of a repetition.
    pub fn of(repetition: &config::Repetition) -> Style {
        match repetition {
            config::Repetition::Single => Style::Single,
            config::Repetition::Count(_) => Style::Count,
            config::Repetition::ForEach(_) => Style::ForEach,
            config::Repetition::Enabled(_) => Style::Enabled,
        }
    }
}

/// One module instance.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ModuleNode {
    /// Its address. Of a pending one, the last key is missing.
    pub address: ModuleInstance,
    /// The module without keys.
    pub path: Module,
    /// Its configuration.
    #[serde(skip)]
    pub config: Arc<config::Module>,
    /// The calling module instance and the call.
    pub parent: Option<(ModuleId, CallId)>,
    /// Its key in the call.
    pub key: InstanceKey,
    /// Its `each.value`, as far as known without providers.
    #[serde(skip)]
    pub each_value: Option<Value>,
    /// Whether its call's (or an outer call's) keys are not known before the walk.
    pub pending: bool,
    /// The node that everything in it hangs on; `None` where nothing hangs on anything.
    #[serde(with = "serial::option_node")]
    pub node: Option<Node>,
    /// Nodes of its variables.
    #[serde(skip)]
    pub variables: FxHashMap<Str, Node>,
    /// Nodes of its local values.
    #[serde(skip)]
    pub locals: FxHashMap<Str, Node>,
    /// Nodes of its outputs.
    #[serde(skip)]
    pub outputs: BTreeMap<Str, Node>,
    /// Its resources.
    #[serde(with = "serial::pairs")]
    pub resources: BTreeMap<ResourceName, ResourceId>,
    /// Its calls.
    pub calls: BTreeMap<Str, CallId>,
    /// Nodes of its checks.
    #[serde(skip)]
    pub checks: BTreeMap<Str, Node>,
}

/// One module call in one module instance.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct CallNode {
    /// Where it stands.
    pub parent: ModuleId,
    /// Its name.
    pub name: Str,
    /// How it repeats.
    pub style: Style,
    /// The node of its key set.
    #[serde(with = "serial::bare_node")]
    pub keys: Node,
    /// The node of all its outputs.
    #[serde(with = "serial::bare_node")]
    pub all: Node,
    /// The node of everything inside.
    #[serde(with = "serial::bare_node")]
    pub inside: Node,
    /// Its instances; one without key where pending.
    #[serde(with = "serial::pairs")]
    pub instances: BTreeMap<InstanceKey, ModuleId>,
    /// Whether its keys are not known before the walk.
    pub pending: bool,
    /// Until they are: stand-ins for instances that something names by key.
    #[serde(skip)]
    pub named: BTreeMap<InstanceKey, ModuleId>,
}

impl CallNode {
    /// Returns its instances, and what stands in for them.
    pub fn all_instances(&self) -> impl Iterator<Item = ModuleId> {
        self.instances.values().chain(self.named.values()).copied()
    }
}

/// One resource of one module instance.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ResourceNode {
    /// Its address.
    pub address: Resource,
    /// The module instance, where it exists in the configuration.
    pub module: Option<ModuleId>,
    /// Whether the block exists in that module.
    pub declared: bool,
    /// How it repeats; `Single` where the block is gone.
    pub style: Style,
    /// The node of its key set; `None` where it cannot vary.
    #[serde(with = "serial::option_node")]
    pub repetition: Option<Node>,
    /// The node of all instances together: the one instance where it does not repeat.
    #[serde(with = "serial::option_node")]
    pub collection: Option<Node>,
    /// The pending node, where the key set is not known before the walk.
    #[serde(with = "serial::option_node")]
    pub pending: Option<Node>,
    /// The declared instances.
    #[serde(with = "serial::node_pairs")]
    pub instances: BTreeMap<InstanceKey, Node>,
    /// `each.value` of each instance, as far as known without providers (`for_each` only).
    #[serde(skip)]
    pub each_values: BTreeMap<InstanceKey, Value>,
    /// Instances in the state that are not declared (or not known to be).
    #[serde(with = "serial::node_pairs")]
    pub others: BTreeMap<InstanceKey, Node>,
    /// Deposed objects.
    #[serde(with = "serial::node_pairs")]
    pub deposed: BTreeMap<(InstanceKey, Str), Node>,
    /// The provider configuration that serves it.
    pub provider: Option<ProviderConfig>,
}

impl ResourceNode {
    /// What only the state knew, or a stand-in was for, has a block in a module instance now.
    fn becomes_declared(&mut self, module: Option<ModuleId>, style: Style) {
        (self.module, self.declared, self.style) = (module, true, style);
        (self.repetition, self.collection, self.pending) = (None, None, None);
    }

    /// What stood in for an instance of its module is there no more, and there is none.
    pub fn is_declared_no_more(&mut self) {
        (self.module, self.declared, self.style) = (None, false, Style::Single);
        (self.repetition, self.collection, self.pending) = (None, None, None);
    }

    /// Returns the node of an instance, declared or not.
    pub fn instance(&self, key: &InstanceKey) -> Option<Node> {
        self.instances.get(key).or_else(|| self.others.get(key)).copied()
    }
}

/// The expanded configuration.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// What each node stands for.
    pub nodes: Vec<NodeKind>,
    /// Module instances; the root is the first.
    pub modules: Vec<ModuleNode>,
    /// Module instances by address.
    pub module_ids: FxHashMap<ModuleInstance, ModuleId>,
    /// Resources.
    pub resources: Vec<ResourceNode>,
    /// Resources by address.
    pub resource_ids: FxHashMap<Resource, ResourceId>,
    /// Module calls.
    pub calls: Vec<CallNode>,
    /// Provider instances.
    pub providers: Vec<(ProviderInstance, Node)>,
    /// Provider instances by address.
    pub provider_ids: FxHashMap<ProviderInstance, ProviderId>,
}

impl Structure {
    /// The root module instance.
    pub const ROOT: ModuleId = ModuleId(0);

    /// Returns a new node for `kind`.
    pub fn add(&mut self, kind: NodeKind) -> Node {
        self.nodes.push(kind);
        Node(self.nodes.len() as u32 - 1)
    }

    /// Returns how many nodes there are.
    pub fn size(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether so many more instances can be planned.
    pub fn has_room_for(&self, more: usize) -> bool {
        self.nodes.len().saturating_add(more) <= config::expansion::MOST
    }

    /// Returns what a node stands for.
    pub fn kind(&self, node: Node) -> &NodeKind {
        &self.nodes[node.0 as usize]
    }

    /// Returns a module instance.
    pub fn module(&self, id: ModuleId) -> &ModuleNode {
        &self.modules[id.index()]
    }

    /// Returns a resource.
    pub fn resource(&self, id: ResourceId) -> &ResourceNode {
        &self.resources[id.index()]
    }

    /// Returns a call.
    pub fn call(&self, id: CallId) -> &CallNode {
        &self.calls[id.index()]
    }

    /// Returns the block of a resource.
    pub fn block(&self, id: ResourceId) -> Option<&config::Resource> {
        let resource = self.resource(id);
        self.module(resource.module?)
            .config
            .resources
            .get(&resource.address.resource)
            .map(|it| &**it)
    }

    /// Returns the node of all that a reference names: of a call what it gives, or `everything` in it.
    pub fn whole(&self, module: ModuleId, subject: &Subject, everything: bool) -> Option<Node> {
        let module = self.module(module);
        match subject {
            Subject::Variable(name) => module.variables.get(name).copied(),
            Subject::Local(name) => module.locals.get(name).copied(),
            Subject::Module(name) => {
                let call = self.call(*module.calls.get(name)?);
                Some(if everything { call.inside } else { call.all })
            }
            Subject::Resource(mode, kind, name) => {
                let name = ResourceName { mode: *mode, kind: kind.clone(), name: name.clone() };
                self.resource(*module.resources.get(&name)?).collection
            }
            _ => None,
        }
    }

    /// Returns the key set of the outermost call around a resource whose keys are not known.
    pub fn keys_from(&self, id: ResourceId) -> Option<Node> {
        let mut module = self.module(self.resource(id).module?);
        let mut keys = None;
        while let Some((parent, call)) = module.parent.filter(|_| module.pending) {
            keys = Some(self.call(call).keys);
            module = self.module(parent);
        }
        keys
    }

    /// Returns a module instance with its value nodes; its resources and calls come as they are expanded.
    pub fn add_module(&mut self, node: ModuleNode) -> ModuleId {
        let id = ModuleId(self.modules.len() as u32);
        let config = node.config.clone();
        self.module_ids.insert(node.address.clone(), id);
        self.modules.push(node);
        for name in config.variables.keys() {
            let node = self.add(NodeKind::Variable(id, name.clone()));
            self.modules[id.index()].variables.insert(name.clone(), node);
        }
        for name in config.locals.keys() {
            let node = self.add(NodeKind::Local(id, name.clone()));
            self.modules[id.index()].locals.insert(name.clone(), node);
        }
        for name in config.outputs.keys() {
            let node = self.add(NodeKind::Output(id, name.clone()));
            self.modules[id.index()].outputs.insert(name.clone(), node);
        }
        for name in config.checks.keys() {
            let node = self.add(NodeKind::Check(id, name.clone()));
            self.modules[id.index()].checks.insert(name.clone(), node);
        }
        id
    }

    /// Returns a resource, made without instances where it is new.
    pub fn add_resource(
        &mut self,
        address: Resource,
        module: Option<ModuleId>,
        style: Style,
        declared: bool,
    ) -> ResourceId {
        let known = self.resource_ids.get(&address).copied();
        let id = known.unwrap_or(ResourceId(self.resources.len() as u32));
        if let Some(module) = module.filter(|_| declared) {
            self.modules[module.index()].resources.insert(address.resource.clone(), id);
        }
        if known.is_some() {
            if declared {
                self.resources[id.index()].becomes_declared(module, style);
            }
            return id;
        }
        self.resource_ids.insert(address.clone(), id);
        self.resources.push(ResourceNode {
            address,
            module,
            declared,
            style,
            repetition: None,
            collection: None,
            pending: None,
            instances: BTreeMap::new(),
            each_values: BTreeMap::new(),
            others: BTreeMap::new(),
            deposed: BTreeMap::new(),
            provider: None,
        });
        id
    }

    /// Returns the node of a declared instance, made where it is new.
    pub fn add_instance(&mut self, resource: ResourceId, key: InstanceKey) -> Node {
        if let Some(node) = self.resources[resource.index()].others.remove(&key) {
            self.resources[resource.index()].instances.insert(key, node);
            return node;
        }
        if let Some(&node) = self.resources[resource.index()].instances.get(&key) {
            return node;
        }
        let node = self.add(NodeKind::Object(resource, key.clone()));
        self.resources[resource.index()].instances.insert(key, node);
        node
    }

    /// Returns the node of a provider instance, made where it is new.
    pub fn add_provider(&mut self, provider: ProviderInstance) -> (ProviderId, Node) {
        if let Some(&id) = self.provider_ids.get(&provider) {
            return (id, self.providers[id.index()].1);
        }
        let id = ProviderId(self.providers.len() as u32);
        let node = self.add(NodeKind::Provider(id));
        self.provider_ids.insert(provider.clone(), id);
        self.providers.push((provider, node));
        (id, node)
    }

    /// Returns the provider instance that a node stands for.
    pub fn provider(&self, node: Node) -> Option<&ProviderInstance> {
        match self.kind(node) {
            NodeKind::Provider(id) => Some(&self.providers[id.index()].0),
            _ => None,
        }
    }

    /// Returns the instance that a node stands for: a current or deposed object.
    pub fn instance(&self, node: Node) -> Option<Instance> {
        match self.kind(node) {
            NodeKind::Object(resource, key) | NodeKind::Deposed(resource, key, _) => {
                Some(self.resource(*resource).address.instance(key.clone()))
            }
            _ => None,
        }
    }

    /// Returns whether a node stands for a current object of a mode.
    pub fn is_object(&self, node: Node, mode: Mode) -> bool {
        match self.kind(node) {
            NodeKind::Object(resource, _) | NodeKind::Pending(resource) => {
                self.resource(*resource).address.resource.mode == mode
            }
            NodeKind::Deposed(..) => mode == Mode::Managed,
            _ => false,
        }
    }
}
