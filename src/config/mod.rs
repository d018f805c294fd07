//! Blocks to modules, resources, variables: what the configuration says, as written, nothing evaluated.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::address::{Module as ModuleAddr, Provider, ResourceName};
use crate::diagnostic::Span;
use crate::syntax::{Body, Expression, Name};
use crate::value::{Str, Type, Value};

mod assemble;
mod call;
pub mod check;
mod check_block;
mod condition;
mod decode;
mod draft;
mod escape;
pub mod expansion;
mod file;
pub mod files;
mod import;
pub mod inputs;
pub mod installed;
mod lifecycle;
mod load;
mod masking;
mod moves;
mod named;
mod overrides;
pub use overrides::merge_bodies;
mod problems;
pub(crate) mod provider;
mod provisioner;
mod repetition;
mod resource;
pub mod serving;
mod settle;
pub mod source;
pub mod early;
mod terraform;
#[cfg(test)]
pub(crate) mod tests;
mod types;
pub mod uses;
mod variants;
pub mod version;

pub use crate::value::TypeDefaults;
pub use decode::is_taken_literally;
pub use installed::{InstalledModule, InstalledModules};
pub(crate) use load::calls_itself;
pub use load::{CallSource, call_source, instances, load_config, load_module};
pub use masking::{has_credentials, masked, struck_out};
pub use problems::suggest;
pub use provider::implied_provider;
pub use variants::{Kind, Variant};

/// A whole configuration: the root module and everything it calls.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Every module that is called, by the names of the calls; the root under the empty path. Where instances come from
    /// different places, see [`Config::all`].
    pub modules: BTreeMap<ModuleAddr, Arc<Module>>,
    /// The same modules, for values that are decided before there is a plan.
    pub static_modules: BTreeMap<ModuleAddr, Arc<early::StaticModule>>,
    /// What is inside calls that are expanded before planning, by the keys of these calls alone; each with its number in `kinds`.
    pub variants: BTreeMap<crate::address::ModuleInstance, (Arc<early::StaticModule>, u32)>,
    /// The different modules of each path inside such calls. Then the one in `modules` has the names of all of them.
    pub kinds: BTreeMap<ModuleAddr, Vec<Kind>>,
}

/// One module: the blocks of one folder. Two calls of one folder share it.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The folder, relative to the root module's: `path.module` (`.` for the root).
    pub directory: String,
    /// `variable`
    pub variables: BTreeMap<Str, Variable>,
    /// `locals`
    pub locals: BTreeMap<Str, Local>,
    /// `output`
    pub outputs: BTreeMap<Str, Output>,
    /// `resource`, `data`, `ephemeral`
    pub resources: BTreeMap<ResourceName, Box<Resource>>,
    /// `module`
    pub calls: BTreeMap<Str, ModuleCall>,
    /// `provider` blocks, in source order.
    pub providers: Vec<ProviderBlock>,
    /// `required_providers`, by local name.
    pub required_providers: BTreeMap<Str, RequiredProvider>,
    /// `moved`
    pub moved: Vec<Moved>,
    /// `removed`
    pub removed: Vec<Removed>,
    /// `import`
    pub imports: Vec<Import>,
    /// `check`
    pub checks: BTreeMap<Str, Check>,
    /// `backend` or `cloud` of the `terraform` block.
    pub backend: Option<Backend>,
    /// `encryption` of the `terraform` block.
    pub encryption: Option<Backend>,
    /// `provider_meta` of the `terraform` block.
    pub provider_metas: Vec<ProviderMeta>,
    /// How many configuration files the folder has.
    pub file_count: usize,
    /// `required_version` (where it counts) and `language { compatible_with { opentofu = … } }`: constraint and place.
    pub required_versions: Vec<(String, Span)>,
}

/// `variable "name" {}`
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name, and the place of the label.
    pub name: Name,
    /// The place of the header.
    pub declared: Span,
    /// `type`, `any` where absent.
    pub ty: Type,
    /// Whether `type` was written.
    pub is_typed: bool,
    /// Defaults of `optional(…)` attributes in `type`.
    pub type_defaults: Option<TypeDefaults>,
    /// `default`, converted to the type. `None`: the variable is required.
    pub default: Option<Value>,
    /// `description`
    pub description: Option<Str>,
    /// `sensitive`
    pub sensitive: bool,
    /// `ephemeral`
    pub ephemeral: bool,
    /// `nullable`, true where absent.
    pub nullable: bool,
    /// `deprecated`
    pub deprecated: Option<Str>,
    /// `const` where written (static evaluation asserted or forbidden).
    pub constant: Option<bool>,
    /// `validation`
    pub validations: Vec<Condition>,
}

/// One `name = expression` of `locals`.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name.
    pub name: Name,
    /// Its value.
    pub value: Expression,
}

/// `output "name" {}`
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name, and the place of the label.
    pub name: Name,
    /// The place of the header.
    pub declared: Span,
    /// `value`
    pub value: Expression,
    /// `description`
    pub description: Option<Str>,
    /// `sensitive`
    pub sensitive: bool,
    /// `ephemeral`
    pub ephemeral: bool,
    /// `deprecated`
    pub deprecated: Option<Str>,
    /// `depends_on`
    pub depends_on: Vec<Expression>,
    /// `precondition`
    pub preconditions: Vec<Condition>,
}

/// `validation`, `precondition`, `postcondition`, `assert`
#[derive(Clone, Debug)]
pub struct Condition {
    /// `condition`
    pub condition: Expression,
    /// `error_message`
    pub error_message: Expression,
    /// The place of the block's header.
    pub declared: Span,
}

/// `resource`, `data` or `ephemeral`
#[derive(Clone, Debug)]
pub struct Resource {
    /// Mode, type and name.
    pub name: ResourceName,
    /// The place of the header.
    pub declared: Span,
    /// The places of the two labels: type and name.
    pub labels: (Span, Span),
    /// The body without meta-arguments and meta-blocks: what the provider's schema describes.
    pub body: Body,
    /// `count`, `for_each` or `lifecycle { enabled }`.
    pub repetition: Repetition,
    /// `provider = name.alias[key]`
    pub provider: Option<Box<ProviderRef>>,
    /// Which provider, after `required_providers`.
    pub provider_source: Provider,
    /// `depends_on`
    pub depends_on: Vec<Expression>,
    /// `lifecycle`
    pub lifecycle: Lifecycle,
    /// `provisioner` blocks in order.
    pub provisioners: Vec<Provisioner>,
    /// `connection`
    pub connection: Option<Box<Body>>,
    /// Data sources inside a `check` block: that block's name.
    pub check: Option<Str>,
    /// Whether nobody wrote it: an import without a block, for which a plan writes one.
    pub generated: bool,
}

/// How a block repeats.
#[derive(Clone, Debug, Default)]
pub enum Repetition {
    /// Once.
    #[default]
    Single,
    /// `count`
    Count(Expression),
    /// `for_each`
    ForEach(Expression),
    /// `lifecycle { enabled = … }`
    Enabled(Expression),
}

impl Repetition {
    /// Returns the expression, where there is one.
    pub fn expression(&self) -> Option<&Expression> {
        match self {
            Repetition::Single => None,
            Repetition::Count(it) | Repetition::ForEach(it) | Repetition::Enabled(it) => Some(it),
        }
    }
}

/// A reference to a provider configuration: `aws`, `aws.west`, `aws.by_region["eu"]`.
#[derive(Clone, Debug)]
pub struct ProviderRef {
    /// The local name.
    pub name: Name,
    /// The alias; empty where the configuration repeats without one.
    pub alias: Option<Name>,
    /// The instance key.
    pub key: Option<Expression>,
    /// The place of the whole.
    pub span: Span,
}

/// `lifecycle`
#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    /// `create_before_destroy` where written.
    pub create_before_destroy: Option<bool>,
    /// The place of `create_before_destroy`.
    pub create_before_destroy_span: Option<Span>,
    /// `prevent_destroy` where written.
    pub prevent_destroy: Option<Expression>,
    /// `destroy` where written (false: forget instead of destroy), and its place.
    pub destroy: Option<(bool, Span)>,
    /// `ignore_changes`
    pub ignore_changes: IgnoreChanges,
    /// `replace_triggered_by`
    pub replace_triggered_by: Vec<Expression>,
    /// `precondition`
    pub preconditions: Vec<Condition>,
    /// `postcondition`
    pub postconditions: Vec<Condition>,
}

impl Lifecycle {
    /// Returns whether anything is asked of the objects before or after they are made.
    pub fn has_conditions(&self) -> bool {
        !self.preconditions.is_empty() || !self.postconditions.is_empty()
    }
}

/// `ignore_changes`
#[derive(Clone, Debug, Default)]
pub enum IgnoreChanges {
    /// Not written.
    #[default]
    None,
    /// `all`
    All,
    /// Relative traversals: a [`crate::syntax::Expr::Traversal`] each, whose root is the first attribute.
    Paths(Vec<Expression>),
}

/// `provisioner "kind" {}`
#[derive(Clone, Debug)]
pub struct Provisioner {
    /// `local-exec` and the like.
    pub kind: Name,
    /// The arguments, without meta-arguments.
    pub body: Body,
    /// `when = destroy`
    pub on_destroy: bool,
    /// `on_failure = continue`
    pub continue_on_failure: bool,
    /// `connection`
    pub connection: Option<Body>,
    /// The place of the header.
    pub declared: Span,
}

/// `module "name" {}`
#[derive(Clone, Debug)]
pub struct ModuleCall {
    /// Its name.
    pub name: Name,
    /// The place of the header.
    pub declared: Span,
    /// `source`
    pub source: Option<Expression>,
    /// `version`
    pub version: Option<Expression>,
    /// `count`, `for_each`, `enabled`
    pub repetition: Repetition,
    /// The inputs: every other attribute.
    pub inputs: BTreeMap<Str, crate::syntax::Attribute>,
    /// `providers`: the child's name (with alias) and what is passed.
    pub providers: Vec<(ProviderRef, ProviderRef)>,
    /// `depends_on`
    pub depends_on: Vec<Expression>,
    /// Where the body begins.
    pub body_span: Span,
}

/// `provider "name" {}`
#[derive(Clone, Debug)]
pub struct ProviderBlock {
    /// The local name.
    pub name: Name,
    /// Which provider that is.
    pub source: Provider,
    /// `alias`; empty where the block repeats without one, so that each key is an alias.
    pub alias: Option<Name>,
    /// `alias`, where variables decide it; then it is no alias yet, and becomes one when the module is put in its place.
    pub alias_from: Option<Expression>,
    /// `count` or `for_each`
    pub repetition: Repetition,
    /// The arguments, without meta-arguments.
    pub body: Body,
    /// `version`, deprecated here.
    pub version: Option<(String, Span)>,
    /// The place of the header.
    pub declared: Span,
}

/// One entry of `required_providers`.
#[derive(Clone, Debug)]
pub struct RequiredProvider {
    /// The local name.
    pub name: Name,
    /// `source`, or what the name implies.
    pub source: Provider,
    /// Whether `source` was written.
    pub is_explicit: bool,
    /// `version`
    pub version: Option<(String, Span)>,
    /// `version`, where variables decide it, until the module is put in its place.
    pub version_from: Option<Expression>,
    /// `configuration_aliases`: (local name, alias)
    pub configuration_aliases: Vec<(Str, Str, Span)>,
}

/// One end of a `moved` block or the target of `removed`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveEndpoint {
    /// A module call or instance. The path is relative to the module that holds the block; keys as written.
    Module(crate::address::ModuleInstance),
    /// A resource or instance: module path, name, key.
    Resource(crate::address::Instance),
}

/// `moved {}`
#[derive(Clone, Debug)]
pub struct Moved {
    /// `from` and its place.
    pub from: (MoveEndpoint, Span),
    /// `to` and its place.
    pub to: (MoveEndpoint, Span),
    /// The place of the header.
    pub declared: Span,
}

/// `removed {}`
#[derive(Clone, Debug)]
pub struct Removed {
    /// `from` and its place.
    pub from: (MoveEndpoint, Span),
    /// `lifecycle { destroy }` where written.
    pub destroy: Option<bool>,
    /// `provisioner` blocks.
    pub provisioners: Vec<Provisioner>,
    /// The place of the header.
    pub declared: Span,
}

/// `import {}`
#[derive(Clone, Debug)]
pub struct Import {
    /// `to`: a traversal whose index keys may be expressions.
    pub to: Expression,
    /// `id`
    pub id: Option<Expression>,
    /// `identity`
    pub identity: Option<Expression>,
    /// `for_each`
    pub for_each: Option<Expression>,
    /// `provider`
    pub provider: Option<ProviderRef>,
    /// The place of the header.
    pub declared: Span,
}

/// `check "name" {}`
#[derive(Clone, Debug)]
pub struct Check {
    /// Its name.
    pub name: Name,
    /// The place of the header.
    pub declared: Span,
    /// The scoped data source: its name among the module's resources.
    pub data: Option<ResourceName>,
    /// `assert`
    pub asserts: Vec<Condition>,
}

/// `backend "kind" {}` or `cloud {}`
#[derive(Clone, Debug)]
pub struct Backend {
    /// `local` and the like; `cloud` for a cloud block.
    pub kind: Name,
    /// The arguments.
    pub body: Body,
    /// The place of the header.
    pub declared: Span,
}

/// `provider_meta "name" {}`
#[derive(Clone, Debug)]
pub struct ProviderMeta {
    /// The provider's local name.
    pub name: Name,
    /// The arguments, all constant.
    pub body: Body,
    /// The place of the header.
    pub declared: Span,
}

impl Module {
    /// Returns whether the folder holds no configuration file at all.
    pub fn is_empty(&self) -> bool {
        self.file_count == 0
    }

    /// Returns which provider a local name means here.
    pub fn provider_of(&self, local_name: &str) -> Provider {
        match self.required_providers.get(local_name) {
            Some(it) => it.source.clone(),
            None => Provider::implied(local_name),
        }
    }

    /// Returns the `provider` block of a local name and alias.
    pub fn provider_block(&self, local_name: &str, alias: Option<&str>) -> Option<&ProviderBlock> {
        self.providers.iter().find(|it| {
            *it.name.text == *local_name && it.alias.as_ref().map(|it| &*it.text) == alias
        })
    }
}

impl Config {
    /// Returns a module of the configuration.
    pub fn module(&self, module: &ModuleAddr) -> Option<&Arc<Module>> {
        self.modules.get(module)
    }

    /// Returns the root module.
    pub fn root(&self) -> &Module {
        self.modules.get(&ModuleAddr::default()).expect("a configuration has a root module")
    }

    /// Returns the root module in its place.
    pub fn root_place(&self) -> &Arc<early::StaticModule> {
        self.static_modules.get(&ModuleAddr::default()).expect("a configuration has a root module")
    }

    /// Returns a resource block.
    pub fn resource(&self, address: &crate::address::ConfigResource) -> Option<&Resource> {
        self.modules.get(&address.module)?.resources.get(&address.resource).map(|it| &**it)
    }
}
