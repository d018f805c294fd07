//! Expressions to values, in a scope.
//!
//! `evaluate` takes an expression and a [`Scope`] and gives a value and problems; [`body`] does the same for a whole
//! block with a provider's schema; [`functions`] has every function. Nothing here knows what a plan is.

use crate::address::ResourceNameRef;
use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::{Name, Near, Root, Step};
use crate::value::Str;

mod access;
pub mod body;
mod call;
mod compose;
mod constant;
mod constraint;
mod documents;
mod duration;
mod evaluate;
pub mod functions;
mod mismatch;
mod missing;
mod operators;
mod size;
pub mod print;
pub mod problems;
mod reference;
mod scope;
mod statement;
mod template;
#[cfg(test)]
mod tests;
mod through;

pub use access::{attribute, index};
pub use call::{
    base_name, is_type_call, is_type_function, reads_its_arguments, start_of, typed, untyped,
};
pub use constant::evaluate_constant;
pub use constraint::{Constraint, read_constraint, with_defaults};
pub use duration::parse_duration;
pub use evaluate::{evaluate, evaluate_with};
pub use missing::{miscounted, unknown_function};
pub use reference::{
    free_reference, is_of_provider, missing_resource_key, parse_reference, provider_functions_of,
    references_of, references_within,
};
pub use scope::{Around, Ask, Declared, Reached, Scope};
pub use statement::{describe_value, values_of};
pub use through::go_through;

mod splat;

/// What the first names of a traversal refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject<'a> {
    /// `var.NAME`
    Variable(&'a Str),
    /// `local.NAME`
    Local(&'a Str),
    /// `module.NAME`
    Module(&'a Str),
    /// `T.N`, `data.T.N`, `ephemeral.T.N`
    Resource(ResourceNameRef<'a>),
    /// `each.key`
    EachKey,
    /// `each.value`
    EachValue,
    /// `count.index`
    CountIndex,
    /// `path.NAME`
    Path(&'a Str),
    /// `terraform.NAME`, `tofu.NAME`
    Terraform(&'a Str),
    /// `self`
    SelfObject,
    /// A name bound by `for`, a template's `for`, `templatefile` variables or a `dynamic` iterator never gets here.
    /// Any other bare name (`foo` alone) is an error before evaluation.
    Unknown(&'a Str),
}

/// A reference found in an expression: its subject, what follows, and where.
#[derive(Clone, Debug)]
pub struct Reference<'a> {
    /// The first name, as it is written: `tofu.workspace` and `terraform.workspace` are one subject.
    pub root: &'a Root,
    /// What it refers to.
    pub subject: Subject<'a>,
    /// The steps after the subject.
    pub rest: &'a [Step],
    /// The place of the subject.
    pub subject_span: Span,
    /// The place of the whole traversal.
    pub span: Span,
}

impl<'a> Reference<'a> {
    /// Returns where the block that it names is likely to stand in its module.
    pub fn near(&self) -> &'a Near {
        &self.root.near
    }

    /// Returns the output that a reference to a module names.
    pub fn output(&self) -> Option<&'a Str> {
        match self.rest {
            [Step::Attribute(it), ..]
            | [Step::Index(..) | Step::LegacyIndex(..), Step::Attribute(it), ..] => Some(&it.text),
            _ => None,
        }
    }
}

/// A function that is not known where it is called.
fn no_such_function(name: &Name) -> Diagnostic {
    unknown_function(name, name.span)
}
