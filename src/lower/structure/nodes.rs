//! What a node of the structure can be: an object, a module, a call, a resource as a whole.

use std::sync::Arc;

use entail_rules::Node;

use super::members::Members;
use super::places::Places;
use super::{CallId, ModuleId, ProviderId, ResourceId, serial};
use crate::address::{
    InstanceKey, Keyed, Module, ModuleInstance, ProviderConfig, RareMap, Resource,
};
use crate::config;
use crate::rarely::{Rarely, plain};
use crate::value::{Str, Value};

/// What a node stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum NodeKind {
    /// A current object: declared, in the state, or both.
    Object(ResourceId, InstanceKey),
    /// A deposed object.
    Deposed(ResourceId, Box<InstanceKey>, Str),
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
    /// One output of all instances of a module call, which a `depends_on` names.
    Given(CallId, Str),
    /// Everything inside all instances of a module call.
    Inside(CallId),
    /// A provider instance.
    Provider(ProviderId),
    /// A check block of a module instance.
    Check(ModuleId, Str),
}

impl NodeKind {
    /// Returns which object a node stands for: its resource, the key of the instance, and its own where it is deposed.
    pub fn object(&self) -> Option<(ResourceId, &InstanceKey, Option<&Str>)> {
        match self {
            NodeKind::Object(resource, key) => Some((*resource, key, None)),
            NodeKind::Deposed(resource, key, deposed) => Some((*resource, key, Some(deposed))),
            _ => None,
        }
    }
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

    /// Returns the argument that makes a block repeat so: `count`, `for_each` or `enabled`.
    pub fn word(self) -> &'static str {
        match self {
            Style::Count => "count",
            Style::ForEach => "for_each",
            Style::Single | Style::Enabled => "enabled",
        }
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
    /// Whether its call's (or an outer call's) keys are not known before the walk.
    pub pending: bool,
    /// The node that everything in it hangs on; `None` where nothing hangs on anything.
    #[serde(with = "serial::option_node")]
    pub node: Option<Node>,
    /// Nodes of its variables.
    #[serde(skip)]
    pub variables: Members,
    /// Nodes of its outputs.
    #[serde(skip)]
    pub outputs: Members,
    /// Its resources that have a block, in the order in which they were found.
    #[serde(skip)]
    pub resources: Vec<ResourceId>,
    /// Those that were made for a block, by the place of the block in the configuration.
    #[serde(skip)]
    pub places: Places<ResourceId>,
    /// What else there is of it, of most nothing.
    #[serde(skip)]
    pub besides: Rarely<ModuleNodeBesides>,
}

/// What there is of few module instances.
#[derive(Clone, Debug, Default)]
pub struct ModuleNodeBesides {
    /// Its `each.value`, as far as known without providers.
    pub each_value: Option<Value>,
    /// Nodes of its local values.
    pub locals: Members,
    /// Its calls, by the place of the block in the configuration.
    pub calls: Places<CallId>,
    /// Nodes of its checks.
    pub checks: Members,
}

plain!(ModuleNodeBesides);

impl ModuleNode {
    /// Returns a module instance that nobody calls, and in which nothing has been found yet.
    pub fn new(address: ModuleInstance, path: Module, config: Arc<config::Module>) -> ModuleNode {
        ModuleNode {
            address,
            path,
            config,
            parent: None,
            key: InstanceKey::None,
            pending: false,
            node: None,
            variables: Members::default(),
            outputs: Members::default(),
            resources: Vec::new(),
            places: Places::default(),
            besides: Rarely::default(),
        }
    }
}

impl ModuleNode {
    /// Says which nodes its local values and checks have.
    pub(super) fn set_rare_members(&mut self, locals: Members, checks: Members) {
        if !(locals.is_empty() && checks.is_empty()) {
            (self.besides.locals, self.besides.checks) = (locals, checks);
        }
    }
}

/// One module call in one module instance.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct CallNode {
    /// Where it stands.
    pub parent: ModuleId,
    /// Its name.
    pub name: Str,
    /// Where its block is likely to stand among those of the module instance; there it does once it was added.
    #[serde(skip)]
    pub place: u32,
    /// How it repeats.
    pub style: Style,
    /// The node of its key set; that of all its outputs where there is nothing to know about its keys.
    #[serde(with = "serial::bare_node")]
    pub keys: Node,
    /// The node of all its outputs.
    #[serde(with = "serial::bare_node")]
    pub all: Node,
    /// The node of everything inside, where a `depends_on` names that, or everything in a call around it.
    #[serde(with = "serial::option_node")]
    pub inside: Option<Node>,
    /// The nodes of single outputs, by name: of those that a `depends_on` names.
    #[serde(skip)]
    pub given: RareMap<Str, Node>,
    /// Its instances; one without key where pending.
    #[serde(with = "serial::keyed")]
    pub instances: Keyed<ModuleId>,
    /// Whether its keys are not known before the walk.
    pub pending: bool,
    /// Until they are: stand-ins for instances that something names by key.
    #[serde(skip)]
    pub named: RareMap<InstanceKey, ModuleId>,
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
    /// Its block in that module, if any.
    #[serde(skip)]
    pub block: Option<Arc<config::Resource>>,
    /// The number of that block in the graph of blocks, where the address alone says which one it is.
    #[serde(skip)]
    pub number: Option<u32>,
    /// Where the state is likely to have it among its resources.
    #[serde(skip)]
    pub recorded: u32,
    /// Whether the block exists in that module.
    pub declared: bool,
    /// How it repeats; `Single` where the block is gone.
    pub style: Style,
    /// The node of all instances together: the one instance where it does not repeat.
    #[serde(with = "serial::option_node")]
    pub collection: Option<Node>,
    /// The declared instances.
    #[serde(with = "serial::keyed_nodes")]
    pub instances: Keyed<Node>,
    /// The provider configuration that serves it.
    pub provider: Option<Arc<ProviderConfig>>,
    /// What else there is of it, mostly nothing.
    // A plan of a program that knew nothing of it is refused: so written, a missing one is an error.
    #[serde(deserialize_with = "serde::Deserialize::deserialize")]
    pub besides: Rarely<ResourceNodeBesides>,
}

/// What there is of few resources.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ResourceNodeBesides {
    /// The node of its key set; `None` where it cannot vary.
    #[serde(with = "serial::option_node")]
    pub repetition: Option<Node>,
    /// The pending node, where the key set is not known before the walk.
    #[serde(with = "serial::option_node")]
    pub pending: Option<Node>,
    /// `each.value` of each instance, as far as known without providers (`for_each` only).
    #[serde(skip)]
    pub each_values: RareMap<InstanceKey, Value>,
    /// Instances in the state that are not declared (or not known to be).
    #[serde(with = "serial::node_pairs")]
    pub others: RareMap<InstanceKey, Node>,
    /// Deposed objects.
    #[serde(with = "serial::node_pairs")]
    pub deposed: RareMap<(InstanceKey, Str), Node>,
}

plain!(ResourceNodeBesides);

impl ResourceNode {
    /// What only the state knew, or a stand-in was for, has a block in a module instance now.
    pub(super) fn becomes_declared(&mut self, module: ModuleId, block: Arc<config::Resource>) {
        (self.declared, self.style) = (true, Style::of(&block.besides.repetition));
        (self.module, self.block) = (Some(module), Some(block));
        self.has_no_key_set();
    }

    fn has_no_key_set(&mut self) {
        self.collection = None;
        if !self.besides.is_plain() {
            (self.besides.repetition, self.besides.pending) = (None, None);
        }
    }

    /// What stood in for an instance of its module is there no more, and there is none.
    pub fn is_declared_no_more(&mut self) {
        (self.module, self.block, self.number) = (None, None, None);
        (self.declared, self.style) = (false, Style::Single);
        self.has_no_key_set();
    }

    /// Says which node stands for it until its key set is known.
    pub fn set_pending(&mut self, pending: Option<Node>) {
        if self.besides.pending != pending {
            self.besides.pending = pending;
        }
    }

    /// Returns the node of an instance, declared or not.
    pub fn instance(&self, key: &InstanceKey) -> Option<Node> {
        self.instances.get(key).or_else(|| self.besides.others.get(key)).copied()
    }
}
