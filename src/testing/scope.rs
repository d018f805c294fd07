//! What assertions refer to: everything in the module of a run as the run has left or planned it, its outputs, and earlier runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::problems;
use super::variables::RunOutputs;
use crate::config::check::references_problems;
use crate::config::{Config, suggest};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::expression::functions::Failure;
use crate::expression::index;
use crate::expression::{Around, Ask, Declared, Scope, Subject, references_of};
use crate::lower::Structure;
use crate::observe::pool::Pool;
use crate::observe::values::{ValueScope, Values};
use crate::operation::apply::stored_value;
use crate::operation::session::Session;
use crate::plan::{Action, Plan};
use crate::planner::Finished;
use crate::schema::FunctionSignature;
use crate::state::State;
use crate::syntax::{Expression, Name, Step};
use crate::value::{Marks, Str, Type, Value};
use crate::world::World;

/// What a run has come to.
#[derive(Clone, Copy)]
pub struct Outcome<'a> {
    /// The configuration it had.
    pub session: &'a Session,
    /// The plan and what it rests on.
    pub finished: &'a Finished,
    /// Its providers.
    pub pool: &'a Pool,
    /// The module's variables, converted.
    pub variables: &'a BTreeMap<Str, Value>,
    /// The state afterwards, where the plan was carried out.
    pub applied: Option<&'a State>,
}

/// Fills a table with every object that there is, or will be.
pub fn values<'a>(of: &Outcome<'a>) -> Values<'a> {
    let Outcome { session, finished, pool, variables, applied } = *of;
    let structure = finished.structure.clone();
    let mut values =
        Values::new(&session.config, structure, variables, &session.world, &session.sources);
    values.workspace = &session.workspace;
    values.plan_time = Some(finished.plan.timestamp);
    values.planning = applied.is_none();
    // What is neither there nor planned is no part of its resource.
    values.only_existing = true;
    values.pool = Some(pool);
    let schemas = values.structure.resources.iter().map(|it| pool.schema_of(it));
    values.types = schemas.map(|it| it.map_or(Type::DYNAMIC, |it| it.block.ty())).collect();
    let planned = planned_objects(&finished.plan);
    for resource in &values.structure.resources {
        for (key, &node) in &resource.instances {
            let address = resource.address.instance(key.clone());
            let value = match applied {
                Some(state) => stored_value(pool, state, &address),
                None => match planned.get(&address.to_string()) {
                    Some(value) => Some((*value).clone()),
                    None => stored_value(pool, &finished.plan.prior_state, &address),
                },
            };
            if let Some(value) = value {
                values.record(node, value);
            }
        }
    }
    values.record_pending();
    values
}

fn planned_objects(plan: &Plan) -> BTreeMap<String, &Value> {
    let current = plan.changes.iter().filter(|it| it.deposed.is_none());
    let stays =
        current.filter(|it| !matches!(it.action, Action::Delete | Action::Forget | Action::Drop));
    stays.map(|it| (it.address.to_string(), &it.after)).collect()
}

/// Returns the root outputs as a run has left or planned them; what is not known is null.
pub fn outputs(finished: &Finished, applied: Option<&State>) -> BTreeMap<Str, Value> {
    let stored = |state: &State| -> BTreeMap<Str, Value> {
        let each = state.outputs.iter().map(|(name, it)| {
            let marks = Marks { sensitive: it.sensitive, ..Marks::default() };
            (name.clone(), it.value.clone().mark(&marks))
        });
        each.collect()
    };
    if let Some(state) = applied {
        return stored(state);
    }
    let mut found = stored(&finished.plan.prior_state);
    for (name, change) in &finished.plan.outputs {
        match change.action {
            Action::Delete => drop(found.remove(name)),
            _ => drop(found.insert(name.clone(), known_or_null(&change.after))),
        }
    }
    found
}

fn known_or_null(value: &Value) -> Value {
    let marks = value.marks();
    let inner = match value.bare() {
        Value::Unknown(it) => Value::Null(it.ty),
        it => it.map_children(&mut Vec::new(), &mut |child, _| known_or_null(child)),
    };
    inner.mark(&marks)
}

/// The scope of assertions.
pub struct TestScope<'v, 'a> {
    inner: ValueScope<'v, 'a>,
    config: &'a Config,
    outputs: BTreeMap<Str, Value>,
    variables: BTreeMap<Str, Value>,
    runs: Option<&'v RunOutputs>,
}

impl<'v, 'a> TestScope<'v, 'a> {
    /// Returns the scope over a table of values.
    ///
    /// - `runs`: earlier runs, where assertions may name them.
    pub fn new(
        values: &'v Values<'a>,
        outputs: BTreeMap<Str, Value>,
        variables: BTreeMap<Str, Value>,
        runs: Option<&'v RunOutputs>,
    ) -> TestScope<'v, 'a> {
        let inner = values.scope(Structure::ROOT);
        TestScope { inner, config: values.config, outputs, variables, runs }
    }

    /// Returns what is wrong with the references of an expression.
    pub fn references(&self, expression: &Expression) -> Diagnostics {
        let (references, _) = references_of(expression);
        let mut found = Diagnostics::new();
        let mut own: Vec<Span> = Vec::new();
        for it in &references {
            match it.subject {
                Subject::Variable(name) if self.variables.contains_key(name) => own.push(it.span),
                Subject::Resource(named) if named.kind == "output" => {
                    own.push(it.span);
                    found.extend(self.check_output(named.name, it.subject_span));
                }
                Subject::Resource(named)
                    if named.kind == "run" && self.has_run_output(named.name, it.rest) =>
                {
                    own.push(it.span);
                }
                _ => {}
            }
        }
        let others = references_problems(self.config, &Default::default(), expression);
        let is_own =
            |it: &Diagnostic| it.subject.is_some_and(|at| own.iter().any(|own| own.contains(at)));
        found.extend(others.into_iter().filter(|it| !is_own(it)));
        found
    }

    /// Returns whether assertions may name a run, and the output after it exists.
    fn has_run_output(&self, run: &Str, rest: &[Step]) -> bool {
        let outputs = self.runs.and_then(|runs| runs.get(run));
        match rest.first() {
            Some(Step::Attribute(name)) => {
                outputs.is_some_and(|it| it.entries().iter().any(|entry| entry.0 == name.text))
            }
            _ => outputs.is_some(),
        }
    }

    fn check_output(&self, name: &Str, at: Span) -> Option<Diagnostic> {
        let declared = &self.config.root().outputs;
        if declared.contains_key(name) {
            return None;
        }
        let known = suggest(name, declared.keys().map(|it| &**it));
        Some(problems::undeclared_output(name, known, at))
    }

    fn output(&self, name: &Str) -> Value {
        let is_sensitive = self.config.root().outputs.get(name).is_some_and(|it| it.sensitive);
        let marks = Marks { sensitive: is_sensitive, ..Marks::default() };
        self.outputs.get(name).cloned().unwrap_or(Value::NULL).mark(&marks)
    }
}

/// Takes the step that a resource's instance key would be: here it leads into a value like any other.
fn keyed(value: Value, ask: Ask<'_>) -> Result<Value, Diagnostics> {
    match ask.key {
        Some(key) => Ok(index(&value, key, ask.span)?),
        None => Ok(value),
    }
}

impl Scope for TestScope<'_, '_> {
    fn declared(&self, what: Declared<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        match what {
            Declared::Variable(name) => match self.variables.get(name) {
                Some(value) => Ok(value.clone()),
                None => self.inner.declared(what, ask),
            },
            Declared::Resource(it) if it.kind == "output" => keyed(self.output(it.name), ask),
            Declared::Resource(it) if it.kind == "run" => {
                match self.runs.and_then(|runs| runs.get(it.name)) {
                    Some(value) => keyed(value.clone(), ask),
                    None => Err(problems::unknown_name("run", ask.span).into()),
                }
            }
            _ => self.inner.declared(what, ask),
        }
    }

    fn around(&self) -> Around<'_> {
        self.inner.around()
    }

    fn world(&self) -> &World {
        self.inner.world()
    }

    fn is_planning(&self) -> bool {
        self.inner.is_planning()
    }

    fn plan_time(&self) -> Option<chrono::DateTime<chrono::Utc>> {
        self.inner.plan_time()
    }

    fn may_be_deprecated(&self) -> bool {
        self.inner.may_be_deprecated()
    }

    fn provider_function(&self, name: &Name) -> Result<Arc<FunctionSignature>, Diagnostic> {
        self.inner.provider_function(name)
    }

    fn call_provider_function(&self, name: &Name, arguments: &[Value]) -> Result<Value, Failure> {
        self.inner.call_provider_function(name, arguments)
    }
}
