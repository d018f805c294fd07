//! What names mean: one way of looking them up, wherever an expression is evaluated.
//!
//! Early evaluation, the trace, the walk – which plans and applies – and whatever else evaluates have a [`Scope`] each. It
//! says where the values of declared things come from, what lies around the expression, and what is said of what is not
//! there. Everything else about a name is decided here.

use std::sync::Arc;

use super::{Reference, Subject, functions, problems};
use crate::address::{InstanceKey, ResourceNameRef};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::schema::FunctionSignature;
use crate::syntax::{Expression, Name, Near, Step};
use crate::value::{Marks, Number, Str, Type, Value};
use crate::world::World;

/// What a module declares.
#[derive(Clone, Copy, Debug)]
pub enum Declared<'s> {
    /// `var.NAME`
    Variable(&'s Str),
    /// `local.NAME`
    Local(&'s Str),
    /// `module.NAME`
    Module(&'s Str),
    /// `T.N`, `data.T.N`, `ephemeral.T.N`
    Resource(ResourceNameRef<'s>),
}

/// How something is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'s> {
    /// The evaluated first index step after a resource or module call, unmarked, where there is one and it is known and
    /// not null (a number or string): the value of that one instance is wanted, and the step is consumed. Else the whole.
    pub key: Option<&'s Value>,
    /// The attribute that is taken of it, where one is: the rest of it is not looked at.
    pub part: Option<&'s Str>,
    /// The place to blame.
    pub span: Span,
    /// Where the block is likely to stand in its module.
    pub near: &'s Near,
    /// The outcome of the expression is already decided without it: only its type and sensitivity matter. The value may
    /// be unknown where the real one is not at hand, and nothing counts as read.
    pub is_aside: bool,
}

/// What a traversal reached.
#[derive(Clone, Copy, Debug)]
pub struct Reached<'s> {
    /// What it refers to.
    pub reference: &'s Reference<'s>,
    /// The instance key, where it was consumed.
    pub key: Option<&'s Value>,
    /// What followed the subject and its consumed key.
    pub rest: &'s [Step],
    /// The value after all steps.
    pub value: &'s Value,
    /// Whether a `for` or a splat goes through the value: what it takes of each element is reported separately.
    pub by_element: bool,
}

/// What lies around an expression. What is left out is not there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Around<'s> {
    /// `path.module`
    pub directory: Option<&'s str>,
    /// `path.root`; `.` where it is left out.
    pub root: Option<&'s str>,
    /// `terraform.workspace`
    pub workspace: Option<&'s str>,
    /// `terraform.applying`
    pub is_applying: Option<bool>,
    /// `each.key` or `count.index`, and `each.value`
    pub each: Option<(&'s InstanceKey, Option<&'s Value>)>,
    /// `self`
    pub own: Option<&'s Value>,
}

/// Where an expression's references are looked up.
///
/// One evaluator serves planning, applying, tracing, early evaluation and the console; they differ in their scope.
pub trait Scope: Sync {
    /// Returns the value of what is declared.
    ///
    /// A problem of the sort [`Sort::InvalidIndex`](crate::diagnostic::Sort::InvalidIndex) can be caught by `try`; any other is one of the
    /// configuration itself and is always told.
    fn declared(&self, what: Declared<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics>;

    /// Returns clock, environment and folders, for functions and for `path`.
    fn world(&self) -> &World;

    /// Returns what lies around the expression.
    fn around(&self) -> Around<'_> {
        Around::default()
    }

    /// Says what a name stands for that is not there: unless a scope knows better, it is unknown.
    fn absent(&self, subject: Subject<'_>, span: Span) -> Result<Value, Diagnostics> {
        match subject {
            Subject::Unknown(name) => Err(problems::not_there(name, span).into()),
            _ => Ok(Value::unknown(usual_type(subject))),
        }
    }

    /// Tells what a traversal reached, after all its steps: for tracing.
    fn reached(&self, reached: &Reached<'_>) {
        let _ = reached;
    }

    /// Tells what was taken of an element of a collection that is gone through: for tracing.
    fn reached_of_element(&self, value: &Value, span: Span) {
        let _ = (value, span);
    }

    /// Returns what stands for each element of a collection of which nothing is known, and what the collection itself is derived
    /// from; nothing where parts of its elements are no values of their own: for tracing.
    fn stand_in(&self, collection: &Value) -> Option<(Value, Marks)> {
        let _ = collection;
        None
    }

    /// Tells of an expression that an unknown kept from being evaluated, with the names that are bound around it, and returns where
    /// its value would come from: for tracing, which counts its static references as read.
    fn unevaluated(&self, expression: &Expression, bound: &[Str]) -> Marks {
        let _ = (expression, bound);
        Marks::default()
    }

    /// Returns a pure mode's wish to see `length(x)` and `keys(x)` of a bare resource as reading only its key set.
    fn key_set(&self, subject: Subject<'_>, span: Span) -> Option<Result<Value, Diagnostics>> {
        let _ = (subject, span);
        None
    }

    /// Returns a place as messages that speak of several places name it, `main.tf:3,5-8`; empty where files are not at hand.
    fn place(&self, span: Span) -> String {
        let _ = span;
        String::new()
    }

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

    /// Returns whether objects of resources hold only what is written of them, so that what is missing in them is not known.
    fn is_partial(&self) -> bool {
        false
    }

    /// Returns whether unknown texts remember the JSON documents in them.
    fn remembers_documents(&self) -> bool {
        false
    }

    /// Returns whether the console's own function, `type`, is there.
    fn is_console(&self) -> bool {
        false
    }

    /// Returns what `provider::NAME::FUNCTION` takes and returns; `name` is the whole.
    fn provider_function(&self, name: &Name) -> Result<Arc<FunctionSignature>, Diagnostic> {
        Err(super::no_such_function(name))
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

impl dyn Scope + '_ {
    /// Returns the value of a subject. The only place that says what a name means.
    pub fn lookup(&self, subject: Subject<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        match subject {
            Subject::Variable(name) => self.declared(Declared::Variable(name), ask),
            Subject::Local(name) => self.declared(Declared::Local(name), ask),
            Subject::Module(name) => self.declared(Declared::Module(name), ask),
            Subject::Resource(name) => self.declared(Declared::Resource(name), ask),
            _ => match self.surrounding(subject) {
                Some(value) => Ok(value),
                None => self.absent(subject, ask.span),
            },
        }
    }

    /// Returns what is neither declared nor bound.
    fn surrounding(&self, subject: Subject<'_>) -> Option<Value> {
        let around = self.around();
        match subject {
            Subject::EachKey | Subject::CountIndex => Some(key_value(around.each?.0)),
            Subject::EachValue => around.each?.1.cloned(),
            Subject::SelfObject => around.own.cloned(),
            Subject::Path(name) => match &**name {
                "module" => around.directory.map(Value::string),
                "root" => Some(Value::string(around.root.unwrap_or("."))),
                "cwd" => Some(Value::string(self.world().cwd.to_string_lossy())),
                _ => None,
            },
            Subject::Terraform(name) => match &**name {
                "workspace" => around.workspace.map(Value::string),
                // Another one in every phase.
                "applying" => Some(Value::Bool(around.is_applying?).mark(&Marks::ephemeral())),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Returns the type of what a name stands for, as far as the name says it.
fn usual_type(subject: Subject<'_>) -> Type {
    match subject {
        Subject::EachKey | Subject::Path(_) => Type::STRING,
        Subject::CountIndex => Type::NUMBER,
        _ => Type::DYNAMIC,
    }
}

/// Returns the value of an instance key.
fn key_value(key: &InstanceKey) -> Value {
    match key {
        InstanceKey::None => Value::NULL,
        InstanceKey::Int(it) => Value::Number(Number::Int(*it)),
        InstanceKey::Str(it) => Value::String(it.clone()),
    }
}
