//! Expressions to values, in a scope.
//!
//! `evaluate` takes an expression and a [`Scope`] and gives a value and problems; [`body`] does the same for a whole
//! block with a provider's schema; [`functions`] has every function. Nothing here knows what a plan is.

use std::sync::Arc;

use crate::address::Mode;
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::schema::FunctionSignature;
use crate::syntax::{Expression, Name, Step};
use crate::value::{Str, Value};
use crate::world::World;

mod access;
pub mod body;
mod call;
mod compose;
mod constant;
mod constraint;
mod duration;
mod evaluate;
pub mod functions;
mod mismatch;
mod missing;
mod operators;
pub mod print;
pub mod problems;
mod reference;
mod statement;
mod template;
#[cfg(test)]
mod tests;

pub use access::{attribute, index};
pub use call::{is_type_call, is_type_function, start_of};
pub use constant::evaluate_constant;
pub use constraint::{Constraint, read_constraint, with_defaults};
pub use duration::parse_duration;
pub use evaluate::{evaluate, evaluate_with};
pub use missing::unknown_function;
pub use reference::{
    missing_resource_key, parse_reference, provider_functions_of, references_of, references_within,
};
pub use statement::{describe_value, values_of};

/// What the first names of a traversal refer to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// `var.NAME`
    Variable(Str),
    /// `local.NAME`
    Local(Str),
    /// `module.NAME`
    Module(Str),
    /// `T.N`, `data.T.N`, `ephemeral.T.N`
    Resource(Mode, Str, Str),
    /// `each.key`
    EachKey,
    /// `each.value`
    EachValue,
    /// `count.index`
    CountIndex,
    /// `path.NAME`
    Path(Str),
    /// `terraform.NAME`, `tofu.NAME`
    Terraform(Str),
    /// `self`
    SelfObject,
    /// A name bound by `for`, a template's `for`, `templatefile` variables or a `dynamic` iterator never gets here.
    /// Any other bare name (`foo` alone) is an error before evaluation.
    Unknown(Str),
}

/// A reference found in an expression: its subject, what follows, and where.
#[derive(Clone, Debug)]
pub struct Reference<'a> {
    /// What it refers to.
    pub subject: Subject,
    /// The steps after the subject.
    pub rest: &'a [Step],
    /// The place of the subject.
    pub subject_span: Span,
    /// The place of the whole traversal.
    pub span: Span,
}

/// Where an expression's references are looked up.
///
/// One evaluator serves planning, applying, tracing, static evaluation and the console; they differ in their scope.
pub trait Scope: Sync {
    /// Returns the value of a subject.
    ///
    /// - `key`: the evaluated first index step after a resource or module call, unmarked, where there is one and it is
    ///   known and not null (a number or string); then the value of that one instance is returned, and the step is consumed.
    ///   When the step is absent, unknown or a splat, `key` is `None` and the whole is returned.
    /// - `span`: the place to blame.
    ///
    /// A problem whose summary is "Invalid index" (no such instance) can be caught by `try`; any other is one of the
    /// configuration itself and is always told.
    fn lookup(
        &self,
        subject: &Subject,
        key: Option<&Value>,
        span: Span,
    ) -> Result<Value, Diagnostics>;

    /// Returns the value of a subject in an expression whose outcome is already decided without it: only its type and
    /// sensitivity matter. May be an unknown where the real value is not at hand. Nothing is told through
    /// [`Scope::reached`] for it.
    fn lookup_aside(
        &self,
        subject: &Subject,
        key: Option<&Value>,
        span: Span,
    ) -> Result<Value, Diagnostics> {
        self.lookup(subject, key, span)
    }

    /// Tells what a traversal reached, after all its steps: for tracing. `rest` is what followed the subject and its
    /// consumed key.
    fn reached(
        &self,
        subject: &Subject,
        key: Option<&Value>,
        rest: &[Step],
        value: &Value,
        span: Span,
    ) {
        let _ = (subject, key, rest, value, span);
    }

    /// Tells of an expression that an unknown kept from being evaluated, with the names that are bound around it: for
    /// tracing, which counts its static references as read.
    fn unevaluated(&self, expression: &Expression, bound: &[Str]) {
        let _ = (expression, bound);
    }

    /// Returns a pure mode's wish to see `length(x)` and `keys(x)` of a bare resource as reading only its key set.
    fn key_set(&self, subject: &Subject, span: Span) -> Option<Result<Value, Diagnostics>> {
        let _ = (subject, span);
        None
    }

    /// Returns a place as messages that speak of several places name it, `main.tf:3,5-8`; empty where files are not at hand.
    fn place(&self, span: Span) -> String {
        let _ = span;
        String::new()
    }

    /// Returns clock, environment and folders for functions.
    fn world(&self) -> &World;

    /// Returns whether impure functions (`timestamp`, `uuid`, `bcrypt`) give unknown: while planning.
    fn is_planning(&self) -> bool {
        true
    }

    /// Returns the fixed time of `plantimestamp()`; `None` while it is not decided.
    fn plan_time(&self) -> Option<chrono::DateTime<chrono::Utc>> {
        Some(self.world().now())
    }

    /// Returns whether values may be derived from what should not be used any more.
    fn may_be_deprecated(&self) -> bool {
        false
    }

    /// Returns whether the console's own function, `type`, is there.
    fn is_console(&self) -> bool {
        false
    }

    /// Returns what `provider::NAME::FUNCTION` takes and returns; `name` is the whole.
    fn provider_function(&self, name: &Name) -> Result<Arc<FunctionSignature>, Diagnostic> {
        Err(unknown_function(name, name.span))
    }

    /// Calls a function of a provider with converted, unmarked arguments. `Err` blames an argument, by its number, or
    /// the call.
    fn call_provider_function(
        &self,
        name: &Name,
        arguments: &[Value],
    ) -> Result<Value, functions::Failure> {
        let _ = arguments;
        Err(functions::Failure::call(format!("function {} is not available here", name.text)))
    }
}
