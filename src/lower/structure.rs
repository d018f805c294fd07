//! The expanded configuration: every module instance, resource and instance, and the node that stands for each.
//!
//! Nodes are the atoms of the rules. A resource that does not repeat is its own collection; one whose repetition cannot
//! be known before the walk is one pending node.

mod calls;
mod finding;
mod serial;
mod names;
mod members;
mod node_map;
mod nodes;
mod places;
mod saved;
mod sorted;

use entail_rules::Node;
use hashbrown::hash_table::HashTable;
use rustc_hash::FxHashMap;

use crate::address::{
    ConfigResource, Instance, InstanceKey, Keyed, Mode, ProviderInstance, RareMap, Resource,
};
use crate::config;
use crate::expression::{Reference, Subject};
use crate::rarely::Rarely;
use crate::value::Str;

pub use self::finding::Nearby;
use self::members::Members;
pub use self::node_map::NodeMap;
pub use self::nodes::{CallNode, ModuleNode, NodeKind, ResourceNode, Style};

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
        impl From<u32> for $name {
            fn from(number: u32) -> $name {
                $name(number)
            }
        }
        impl From<$name> for u32 {
            fn from(id: $name) -> u32 {
                id.0
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

/// The expanded configuration.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// What each node stands for.
    pub nodes: Vec<NodeKind>,
    /// Module instances; the root is the first.
    pub modules: Vec<ModuleNode>,
    /// Module instances by address: numbers alone, for the addresses stand in them.
    by_module: HashTable<ModuleId>,
    /// Resources.
    pub resources: Vec<ResourceNode>,
    /// Resources by address that no module has at a place of its own: numbers alone, for the addresses stand in them.
    by_address: HashTable<ResourceId>,
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

    /// Returns an empty structure, with room for what these modules make at least where nothing repeats and no call waits for
    /// anything: lists that grow are copied each time.
    pub fn with_room<'m>(modules: impl Iterator<Item = &'m config::Module>) -> Structure {
        let mut structure = Structure::default();
        let (mut count, mut resources, mut calls, mut nodes) = (0, 0, 0, 0);
        for module in modules {
            count += 1;
            resources += module.resources.len();
            calls += module.calls.len();
            nodes += module.block_count();
        }
        structure.modules.reserve_exact(count);
        structure.resources.reserve_exact(resources);
        structure.calls.reserve_exact(calls);
        structure.by_module = HashTable::with_capacity(count);
        // Nearly always there is more, if only a provider of which nobody wrote a block: a list that is full doubles.
        structure.nodes.reserve_exact(nodes + nodes / 64 + 64);
        structure
    }

    /// Returns a new node for `kind`.
    pub fn add(&mut self, kind: NodeKind) -> Node {
        self.nodes.push(kind);
        Node(self.nodes.len() as u32 - 1)
    }

    /// Returns whether the keys of any block are not known yet.
    pub fn has_pending(&self) -> bool {
        self.nodes.iter().any(|it| matches!(it, NodeKind::Pending(_)))
            || self.calls.iter().any(|it| it.pending)
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
        self.resource(id).block.as_deref()
    }

    /// Returns the node of what an item of `depends_on` names: of a call one output, or everything in it.
    pub fn depended_on(&self, module: ModuleId, item: &Reference<'_>) -> Option<Node> {
        let Subject::Module(name) = item.subject else { return self.whole(module, item.subject) };
        let call = self.call(self.call_named(module, name, item.near())?);
        match item.output() {
            Some(output) => call.given.get(output).copied(),
            None => call.inside,
        }
    }

    /// Returns the node of all that a reference names: of a call what it gives.
    pub fn whole(&self, module: ModuleId, subject: Subject<'_>) -> Option<Node> {
        let id = module;
        let module = self.module(module);
        match subject {
            Subject::Variable(name) => module.variables.get(name).copied(),
            Subject::Local(name) => module.besides.locals.get(name).copied(),
            Subject::Module(name) => Some(self.call(self.call_in(id, name)?).all),
            Subject::Resource(name) => self.resource(self.resource_in(id, name)?).collection,
            _ => None,
        }
    }

    /// Returns the key set of the outermost call around a resource whose keys are not known.
    pub fn keys_from(&self, id: ResourceId) -> Option<Node> {
        Some(self.outermost_pending(self.resource(id).module?)?.keys)
    }

    /// Returns whether a module instance is there, or may still turn out to be: what stood in for one stands for nothing once
    /// the keys are known.
    pub fn stands(&self, id: ModuleId) -> bool {
        self.outermost_pending(id).is_none_or(|it| it.pending)
    }

    /// Returns the outermost call around a module instance that stands in for others.
    fn outermost_pending(&self, id: ModuleId) -> Option<&CallNode> {
        let mut module = self.module(id);
        let mut outermost = None;
        while let Some((parent, call)) = module.parent.filter(|_| module.pending) {
            outermost = Some(self.call(call));
            module = self.module(parent);
        }
        outermost
    }

    /// Returns a module instance with its value nodes; its resources and calls come as they are expanded.
    pub fn add_module(&mut self, node: ModuleNode) -> ModuleId {
        let id = ModuleId(self.modules.len() as u32);
        let config = node.config.clone();
        self.modules.push(node);
        if let Some(before) = self.know_module(id) {
            // What stood in for this module keeps its resources, which are found by their address from now on.
            let placed = std::mem::take(&mut self.modules[before.index()].places);
            placed.all().for_each(|it| self.know(it));
        }
        let variables = config.variables.keys();
        let variables = self.members(variables, |name| NodeKind::Variable(id, name));
        let locals = self.members(config.locals.keys(), |name| NodeKind::Local(id, name));
        let outputs = self.members(config.outputs.keys(), |name| NodeKind::Output(id, name));
        let checks = self.members(config.checks.keys(), |name| NodeKind::Check(id, name));
        let own = &mut self.modules[id.index()];
        (own.variables, own.outputs) = (variables, outputs);
        own.set_rare_members(locals, checks);
        id
    }

    fn members<'n>(
        &mut self,
        names: impl Iterator<Item = &'n Str>,
        kind: impl Fn(Str) -> NodeKind,
    ) -> Members {
        names.map(|it| (it.clone(), self.add(kind(it.clone())))).collect()
    }

    /// Returns the resource of the block at a place of a module instance's configuration, made without instances where it is new.
    pub fn declare(&mut self, module: ModuleId, place: usize) -> ResourceId {
        let of = self.module(module);
        let blocks = &of.config.resources;
        let block = blocks.at(place).expect("the block is one of its module").clone();
        let known = of.places.get(place);
        let Some(known) = known.or_else(|| self.find_apart(&of.address, block.name.as_ref()))
        else {
            let count = blocks.len();
            let address = Resource { module: of.address.clone(), resource: block.name.clone() };
            let id = self.add_resource(address);
            let of = &mut self.modules[module.index()];
            of.resources.push(id);
            of.places.set(place, id, count);
            self.resources[id.index()].becomes_declared(module, block);
            return id;
        };
        let node = &mut self.resources[known.index()];
        if !node.declared || node.module != Some(module) {
            self.modules[module.index()].resources.push(known);
        }
        node.becomes_declared(module, block);
        known
    }

    /// Adds a resource that only the state has, without instances.
    pub fn add_recorded(&mut self, address: &Resource) -> ResourceId {
        let id = self.add_resource(address.clone());
        self.know(id);
        id
    }

    /// Adds a resource that nothing is known of yet, and by which nothing finds it.
    fn add_resource(&mut self, address: Resource) -> ResourceId {
        let id = ResourceId(self.resources.len() as u32);
        self.resources.push(ResourceNode {
            address,
            module: None,
            block: None,
            number: None,
            recorded: 0,
            declared: false,
            style: Style::Single,
            collection: None,
            instances: Keyed::new(),
            besides: Rarely::default(),
            provider: None,
        });
        id
    }

    /// Returns the resources of every module instance by their block.
    pub fn resources_by_config(&self) -> FxHashMap<ConfigResource, Vec<ResourceId>> {
        let mut all: FxHashMap<ConfigResource, Vec<ResourceId>> = FxHashMap::default();
        for (number, resource) in self.resources.iter().enumerate() {
            all.entry(resource.address.config()).or_default().push(ResourceId(number as u32));
        }
        all
    }

    /// Returns the node of a declared instance, made where it is new.
    pub fn add_instance(&mut self, resource: ResourceId, key: InstanceKey) -> Node {
        let known = &mut self.resources[resource.index()];
        let was_other =
            if known.besides.others.is_empty() { None } else { known.besides.others.remove(&key) };
        if let Some(node) = was_other {
            known.instances.insert(key, node);
            return node;
        }
        if let Some(&node) = known.instances.get(&key) {
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
        let (resource, key, _) = self.kind(node).object()?;
        Some(self.resource(resource).address.instance(key.clone()))
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
