//! What each kind of block of a module says, once it is read.

use std::sync::Arc;

use super::{Inputs, TypeDefaults};
use crate::address::{Provider, ResourceName};
use crate::diagnostic::Span;
use crate::rarely::{Rarely, plain};
use crate::syntax::{Body, Expression, Name};
use crate::value::{Str, Type, Value};

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
    /// `value`, converted to the `type` if there is one.
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
#[derive(Clone, Debug, PartialEq)]
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
    /// Which provider, after `required_providers`.
    pub provider_source: Arc<Provider>,
    /// What else is said of it, mostly nothing.
    pub besides: Rarely<ResourceBesides>,
}

/// What few resources say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceBesides {
    /// `count`, `for_each` or `lifecycle { enabled }`.
    pub repetition: Repetition,
    /// `provider = name.alias[key]`
    pub provider: Option<Box<ProviderRef>>,
    /// `lifecycle`
    pub lifecycle: Rarely<Lifecycle>,
    /// `depends_on`
    pub depends_on: Box<[Expression]>,
    /// `provisioner` blocks in order.
    pub provisioners: Box<[Provisioner]>,
    /// `connection`
    pub connection: Option<Box<Body>>,
    /// Data sources inside a `check` block: that block's name.
    pub check: Option<Str>,
    /// Whether nobody wrote it: an import without a block, for which a plan writes one.
    pub generated: bool,
}

plain!(ResourceBesides);
plain!(Lifecycle);

/// How a block repeats.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Repetition {
    /// Once.
    #[default]
    Single,
    /// `count`
    Count(Box<Expression>),
    /// `for_each`
    ForEach(Box<Expression>),
    /// `lifecycle { enabled = … }`
    Enabled(Box<Expression>),
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
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, Default, PartialEq)]
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

    /// Returns whether it says that objects are forgotten rather than destroyed.
    pub fn keeps_objects(&self) -> bool {
        self.destroy.is_some_and(|(destroys, _)| !destroys)
    }
}

/// `ignore_changes`
#[derive(Clone, Debug, Default, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
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
    /// `count`, `for_each`, `enabled`
    pub repetition: Repetition,
    /// The inputs: every other attribute.
    pub inputs: Inputs,
    /// Where the body begins.
    pub body_span: Span,
    /// What else is said of it, mostly nothing.
    pub besides: Rarely<CallBesides>,
}

/// What few module calls say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallBesides {
    /// `version`
    pub version: Option<Expression>,
    /// The types of blocks inside, of which no module knows any.
    pub unexpected: Vec<Name>,
    /// `providers`: the child's name (with alias) and what is passed.
    pub providers: Vec<(ProviderRef, ProviderRef)>,
    /// `depends_on`
    pub depends_on: Vec<Expression>,
}

plain!(CallBesides);

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
    /// Whether it is a `cloud` block.
    pub is_cloud: bool,
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
