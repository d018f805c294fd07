//! The expanded configuration: every module instance, resource and instance, and the node that stands for each.
//!
//! Nodes are the atoms of the rules. A resource that does not repeat is its own collection; one whose repetition cannot
//! be known before the walk is one pending node.

use std::collections::BTreeMap;
use std::sync::Arc;

use entail_rules::Node;
use rustc_hash::FxHashMap;

use crate::address::{
    Instance, InstanceKey, Mode, Module, ModuleInstance, ProviderConfig, ProviderInstance,
    Resource, ResourceName,
};
use crate::config;
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
    #[serde(with = "option_node")]
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
    #[serde(with = "pairs")]
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
    #[serde(with = "bare_node")]
    pub keys: Node,
    /// The node of all its outputs.
    #[serde(with = "bare_node")]
    pub all: Node,
    /// The node of everything inside.
    #[serde(with = "bare_node")]
    pub inside: Node,
    /// Its instances; one without key where pending.
    #[serde(with = "pairs")]
    pub instances: BTreeMap<InstanceKey, ModuleId>,
    /// Whether its keys are not known before the walk.
    pub pending: bool,
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
    #[serde(with = "option_node")]
    pub repetition: Option<Node>,
    /// The node of all instances together: the one instance where it does not repeat.
    #[serde(with = "option_node")]
    pub collection: Option<Node>,
    /// The pending node, where the key set is not known before the walk.
    #[serde(with = "option_node")]
    pub pending: Option<Node>,
    /// The declared instances.
    #[serde(with = "node_pairs")]
    pub instances: BTreeMap<InstanceKey, Node>,
    /// `each.value` of each instance, as far as known without providers (`for_each` only).
    #[serde(skip)]
    pub each_values: BTreeMap<InstanceKey, Value>,
    /// Instances in the state that are not declared (or not known to be).
    #[serde(with = "node_pairs")]
    pub others: BTreeMap<InstanceKey, Node>,
    /// Deposed objects.
    #[serde(with = "node_pairs")]
    pub deposed: BTreeMap<(InstanceKey, Str), Node>,
    /// The provider configuration that serves it.
    pub provider: Option<ProviderConfig>,
}

impl ResourceNode {
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
        if let Some(&id) = self.resource_ids.get(&address) {
            return id;
        }
        let id = ResourceId(self.resources.len() as u32);
        self.resource_ids.insert(address.clone(), id);
        if let Some(module) = module.filter(|_| declared) {
            self.modules[module.index()].resources.insert(address.resource.clone(), id);
        }
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
                format!(
                    "{} (deposed object {deposed})",
                    self.resource(*resource).address.instance(key.clone())
                )
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
            NodeKind::Output(module, name) if *module == Structure::ROOT => {
                format!("output.{name}")
            }
            NodeKind::Output(module, name) => place(*module, name.to_string()),
            NodeKind::Module(module) => self.module(*module).address.to_string(),
            NodeKind::CallKeys(call) => format!("the instance keys of {}", self.call_name(*call)),
            NodeKind::Call(call) => format!("{} (all outputs)", self.call_name(*call)),
            NodeKind::Inside(call) => format!("everything in {}", self.call_name(*call)),
            NodeKind::Provider(provider) => self.providers[provider.index()].0.to_string(),
            NodeKind::Check(module, name) => place(*module, format!("check.{name}")),
        }
    }

    fn call_name(&self, call: CallId) -> String {
        let call = self.call(call);
        self.module(call.parent).address.child(&call.name, InstanceKey::None).to_string()
    }
}

/// Maps whose keys are no text, as lists of pairs.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(map)
    }

    pub fn deserialize<
        'de,
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    >(
        from: D,
    ) -> Result<BTreeMap<K, V>, D::Error> {
        Ok(Vec::<(K, V)>::deserialize(from)?.into_iter().collect())
    }
}

/// The same for nodes, which the rules' crate knows nothing of serialising.
mod node_pairs {
    use std::collections::BTreeMap;

    use entail_rules::Node;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<K: Serialize, S: Serializer>(
        map: &BTreeMap<K, Node>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(map.iter().map(|(key, node)| (key, node.0)))
    }

    pub fn deserialize<'de, K: Deserialize<'de> + Ord, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<K, Node>, D::Error> {
        Ok(Vec::<(K, u32)>::deserialize(from)?
            .into_iter()
            .map(|(key, node)| (key, Node(node)))
            .collect())
    }
}

mod option_node {
    use entail_rules::Node;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "the shape that serde asks for")]
    pub fn serialize<S: Serializer>(node: &Option<Node>, to: S) -> Result<S::Ok, S::Error> {
        node.map(|it| it.0).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Node>, D::Error> {
        Ok(Option::<u32>::deserialize(from)?.map(Node))
    }
}

mod bare_node {
    use entail_rules::Node;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(node: &Node, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u32(node.0)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Node, D::Error> {
        u32::deserialize(from).map(Node)
    }
}

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
        for (id, node) in structure.resources.iter().enumerate() {
            structure.resource_ids.insert(node.address.clone(), ResourceId(id as u32));
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
