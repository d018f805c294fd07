//! What things are called: modules, resources, instances, providers. Parsed, printed and compared here.
//!
//! Printing is canonical: parsing what was printed gives the same address. Order is the order in which people see
//! addresses (`spec`: modules by length then step by step; data before managed; type; name; key none < numbers < strings).

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

mod keyed;
pub mod parse;
mod rare_map;
pub mod source;
pub mod target;
pub use crate::value::Str;
use crate::value::text::escaped;
pub use keyed::Keyed;
pub use rare_map::RareMap;

/// Which repetition of a block an instance is.
#[derive(
    Clone,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
pub enum InstanceKey {
    /// The block does not repeat.
    #[default]
    None,
    /// `count`
    Int(i64),
    /// `for_each`
    Str(Str),
}

impl fmt::Display for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstanceKey::None => Ok(()),
            InstanceKey::Int(index) => write!(f, "[{index}]"),
            InstanceKey::Str(key) => {
                f.write_str("[\"")?;
                f.write_str(&escaped(key))?;
                f.write_str("\"]")
            }
        }
    }
}

/// A module as code: the names of the calls that lead to it. Empty is the root.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
pub struct Module(pub Arc<[Str]>);

/// A module instance: calls with their keys. Empty is the root.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
pub struct ModuleInstance(pub Arc<[(Str, InstanceKey)]>);

impl Module {
    /// Returns the module that the call `name` in this module leads to.
    pub fn child(&self, name: impl Into<Str>) -> Module {
        Module(self.0.iter().cloned().chain([name.into()]).collect())
    }

    /// Returns the module that this path leads to from another module.
    pub fn within(self, outer: &Module) -> Module {
        if outer.is_root() {
            return self;
        }
        Module(outer.0.iter().chain(self.0.iter()).cloned().collect())
    }

    /// Returns whether this is the root module.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the calling module and the call's name, unless this is the root.
    pub fn parent(&self) -> Option<(Module, Str)> {
        let (last, rest) = self.0.split_last()?;
        Some((Module(rest.into()), last.clone()))
    }
}

impl ModuleInstance {
    /// Returns the module instance that this path leads to from another one.
    pub fn within(self, outer: &ModuleInstance) -> ModuleInstance {
        if outer.is_root() {
            return self;
        }
        ModuleInstance(outer.0.iter().chain(self.0.iter()).cloned().collect())
    }

    /// Returns the instance `key` of the call `name` in this module instance.
    pub fn child(&self, name: impl Into<Str>, key: InstanceKey) -> ModuleInstance {
        ModuleInstance(self.0.iter().cloned().chain([(name.into(), key)]).collect())
    }

    /// Returns whether this is the root module.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the module without its keys.
    pub fn module(&self) -> Module {
        // What is empty is shared.
        if self.is_root() {
            return Module::default();
        }
        Module(self.0.iter().map(|(name, _)| name.clone()).collect())
    }

    /// Returns the calling module instance, the call's name and the key, unless this is the root.
    pub fn parent(&self) -> Option<(ModuleInstance, Str, InstanceKey)> {
        let ((name, key), rest) = self.0.split_last()?;
        Some((ModuleInstance(rest.into()), name.clone(), key.clone()))
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            write!(f, "{}module.{name}", if index == 0 { "" } else { "." })?;
        }
        Ok(())
    }
}

impl fmt::Display for ModuleInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, key)) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "module." } else { ".module." })?;
            f.write_str(name)?;
            key.fmt(f)?;
        }
        Ok(())
    }
}

impl Ord for Module {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Module {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ModuleInstance {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for ModuleInstance {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The three kinds of resource, in their display order.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum Mode {
    /// `ephemeral "t" "n"`
    Ephemeral,
    /// `data "t" "n"`
    Data,
    /// `resource "t" "n"`
    Managed,
}

impl Mode {
    /// Returns what stands before the type in an address.
    fn prefix(self) -> &'static str {
        match self {
            Mode::Managed => "",
            Mode::Data => "data.",
            Mode::Ephemeral => "ephemeral.",
        }
    }
}

/// A resource's name within its module: mode, type, name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ResourceName {
    /// Managed, data or ephemeral.
    pub mode: Mode,
    /// The resource type.
    pub kind: Str,
    /// The block's name.
    pub name: Str,
}

impl PartialOrd for ResourceName {
    fn partial_cmp(&self, other: &ResourceName) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ResourceName {
    fn cmp(&self, other: &ResourceName) -> Ordering {
        // Where there are many resources their types are shared texts.
        let kinds = || match Str::ptr_eq(&self.kind, &other.kind) {
            true => Ordering::Equal,
            false => self.kind.cmp(&other.kind),
        };
        self.mode.cmp(&other.mode).then_with(kinds).then_with(|| self.name.cmp(&other.name))
    }
}

/// A resource's name within its module, as somebody else holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResourceNameRef<'a> {
    /// Managed, data or ephemeral.
    pub mode: Mode,
    /// The resource type.
    pub kind: &'a Str,
    /// The block's name.
    pub name: &'a Str,
}

impl ResourceNameRef<'_> {
    /// Returns the name, held by itself.
    pub fn to_owned(self) -> ResourceName {
        ResourceName { mode: self.mode, kind: self.kind.clone(), name: self.name.clone() }
    }
}

impl PartialEq<ResourceNameRef<'_>> for ResourceName {
    fn eq(&self, other: &ResourceNameRef<'_>) -> bool {
        self.as_ref() == *other
    }
}

impl fmt::Display for ResourceNameRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        [self.mode.prefix(), self.kind, ".", self.name]
            .into_iter()
            .try_for_each(|it| f.write_str(it))
    }
}

impl ResourceName {
    /// Returns the name as it is held here.
    pub fn as_ref(&self) -> ResourceNameRef<'_> {
        ResourceNameRef { mode: self.mode, kind: &self.kind, name: &self.name }
    }

    /// Returns the name of a managed resource.
    pub fn managed(kind: &str, name: &str) -> ResourceName {
        ResourceName { mode: Mode::Managed, kind: kind.into(), name: name.into() }
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

macro_rules! placed {
    ($(#[$doc:meta])* $name:ident { $module:ident: $module_type:ty, $($field:ident: $type:ty),* }, $($part:ident),*) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            /// Where the block stands.
            pub $module: $module_type,
            $(#[allow(missing_docs)] pub $field: $type,)*
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if !self.$module.is_root() {
                    self.$module.fmt(f)?;
                    f.write_str(".")?;
                }
                $(self.$part.fmt(f)?;)*
                Ok(())
            }
        }
    };
}

placed!(
    /// A resource block in the configuration: `module.m.null_resource.a`, no keys anywhere.
    ConfigResource { module: Module, resource: ResourceName }, resource
);
placed!(
    /// A resource of one module instance: `module.m[0].null_resource.a`.
    Resource { module: ModuleInstance, resource: ResourceName }, resource
);
placed!(
    /// One instance of a resource: `module.m[0].null_resource.a["x"]`.
    Instance { module: ModuleInstance, resource: ResourceName, key: InstanceKey }, resource, key
);

impl Instance {
    /// Returns the resource without the instance's key.
    pub fn of(&self) -> Resource {
        Resource { module: self.module.clone(), resource: self.resource.clone() }
    }

    /// Returns the block.
    pub fn config(&self) -> ConfigResource {
        ConfigResource { module: self.module.module(), resource: self.resource.clone() }
    }
}

impl Resource {
    /// Returns one instance.
    pub fn instance(&self, key: InstanceKey) -> Instance {
        Instance { module: self.module.clone(), resource: self.resource.clone(), key }
    }

    /// Returns the block.
    pub fn config(&self) -> ConfigResource {
        ConfigResource { module: self.module.module(), resource: self.resource.clone() }
    }
}

/// A provider's source address: `registry.opentofu.org/hashicorp/null`.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Provider {
    /// `registry.opentofu.org`
    pub host: Str,
    /// `hashicorp`
    pub namespace: Str,
    /// `null`
    pub kind: Str,
}

/// The registry that a source address without host means.
pub const DEFAULT_HOST: &str = "registry.opentofu.org";
/// The same, as every implied address shares it.
const USUAL_HOST: Str = arcstr::literal!("registry.opentofu.org");
const USUAL_NAMESPACE: Str = arcstr::literal!("hashicorp");
/// The host of the providers that are part of the program.
pub const BUILTIN_HOST: &str = "terraform.io";

impl Provider {
    /// Returns what an undeclared local name means: `hashicorp/NAME`, or the builtin one for `terraform`.
    pub fn implied(local_name: &str) -> Provider {
        if local_name == "terraform" {
            return Provider {
                host: BUILTIN_HOST.into(),
                namespace: "builtin".into(),
                kind: "terraform".into(),
            };
        }
        Provider { host: USUAL_HOST, namespace: USUAL_NAMESPACE, kind: local_name.into() }
    }

    /// Returns the address as people read it: without the host where that is the usual registry.
    pub fn short(&self) -> String {
        match &*self.host {
            DEFAULT_HOST => format!("{}/{}", self.namespace, self.kind),
            _ => self.to_string(),
        }
    }

    /// Returns whether it is part of the program (`terraform.io/builtin/…`).
    pub fn is_builtin(&self) -> bool {
        &*self.host == BUILTIN_HOST && &*self.namespace == "builtin"
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.namespace, self.kind)
    }
}

/// A provider configuration: `module.m.provider["registry.opentofu.org/hashicorp/aws"].alias`.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct ProviderConfig {
    /// The module whose block it is. Configurations are per module, not per module instance.
    pub module: Module,
    /// Which provider.
    pub provider: Provider,
    /// The alias; `None` is the default configuration. Empty where the block repeats without an alias, so that each key is
    /// one.
    pub alias: Option<Str>,
}

impl fmt::Display for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        write!(f, "provider[\"{}\"]", self.provider)?;
        match &self.alias {
            Some(alias) if !alias.is_empty() => write!(f, ".{alias}"),
            _ => Ok(()),
        }
    }
}

/// One running configuration of a provider: a configuration and, where it repeats, the key.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct ProviderInstance {
    /// The configuration.
    pub config: ProviderConfig,
    /// Its repetition.
    pub key: InstanceKey,
}

impl fmt::Display for ProviderInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.config, self.key)
    }
}
