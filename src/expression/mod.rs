//! Expressions to values, in a scope.

use crate::address::Mode;
use crate::diagnostic::{Diagnostics, Span};
use crate::syntax::{Expression, Step};
use crate::value::{Str, Value};
use crate::world::World;

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
    fn lookup(
        &self,
        subject: &Subject,
        key: Option<&Value>,
        span: Span,
    ) -> Result<Value, Diagnostics>;

    /// Tells what a traversal reached, after all its steps: for tracing. `steps_left` is how many steps followed the
    /// subject and its consumed key.
    fn reached(
        &self,
        subject: &Subject,
        key: Option<&Value>,
        steps_left: usize,
        value: &Value,
        span: Span,
    ) {
        let _ = (subject, key, steps_left, value, span);
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

    /// Returns clock, environment and folders for functions.
    fn world(&self) -> &World;

    /// Returns whether impure functions (`timestamp`, `uuid`, `bcrypt`) give unknown: while planning.
    fn is_planning(&self) -> bool {
        true
    }

    /// Returns the fixed time of `plantimestamp()`.
    fn plan_time(&self) -> chrono::DateTime<chrono::Utc> {
        self.world().now()
    }
}
