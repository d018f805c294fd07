//! Values that are decided before there is a plan: sources of modules, the backend's arguments, what providers repeat over.
//!
//! A [`StaticModule`] is a module in its place: it evaluates expressions of its module with the language's one evaluator, in a
//! scope that knows `var`, `local`, `path` and the workspace, and nothing that a run decides. Values are found when something
//! asks for them, once; a variable of a called module is evaluated where the call stands.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::address::{InstanceKey, Module as ModuleAddr, ModuleInstance};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources, Span};
use crate::expression::{Subject, provider_functions_of, references_of};
use crate::syntax::Expression;
use crate::value::{Str, Value};
use crate::world::World;

use super::inputs::{self, Refused, VariableInput};
use super::{Module, ModuleCall, Variable};

mod decided;
mod problems;
mod repetition;
mod scope;
pub mod settings;
#[cfg(test)]
mod tests;

pub use problems::not_yet;
pub use repetition::instances;

/// What static evaluation starts from: the world, the workspace, and what is given for the root module's variables.
#[derive(Debug)]
pub struct EarlyContext {
    /// Clock, environment, folders, and what the user gives.
    pub world: Arc<World>,
    /// The selected workspace.
    pub workspace: String,
    /// Where files are registered that are read for values.
    pub sources: Sources,
    recorded: Option<BTreeMap<Str, Value>>,
    given: OnceLock<(BTreeMap<Str, VariableInput>, Diagnostics)>,
    /// Calls whose repetition something inside rests on: they are expanded before planning, too. By the address that their
    /// instances have without a key.
    expanded: Mutex<BTreeSet<ModuleInstance>>,
}

impl EarlyContext {
    /// Starts from what flags, files and the environment give for the root's variables.
    pub fn new(world: Arc<World>, workspace: impl Into<String>, sources: Sources) -> EarlyContext {
        EarlyContext {
            world,
            workspace: workspace.into(),
            sources,
            recorded: None,
            given: OnceLock::new(),
            expanded: Mutex::default(),
        }
    }

    /// Starts from the values that a saved plan has recorded.
    pub fn recorded(self, values: BTreeMap<Str, Value>) -> EarlyContext {
        EarlyContext { recorded: Some(values), ..self }
    }

    /// Returns how many calls are expanded before planning because something inside rests on their repetition. Where that grows
    /// while modules are read, what was read of these calls holds for no single instance: it is read again.
    pub fn expanded(&self) -> usize {
        self.calls_expanded().len()
    }

    fn calls_expanded(&self) -> parking_lot::MutexGuard<'_, BTreeSet<ModuleInstance>> {
        self.expanded.lock()
    }

    /// Returns what is given for a variable of the root module; nothing where its default counts.
    fn root_value(
        &self,
        module: &Module,
        variable: &Variable,
    ) -> Result<Option<Value>, Diagnostics> {
        let name = &variable.name.text;
        if let Some(recorded) = &self.recorded {
            return Ok(recorded.get(name).cloned());
        }
        let (given, problems) = self.given.get_or_init(|| {
            let world = &self.world;
            let files = &world.given.variables;
            inputs::collect_variables(module, &world.root, files, world, &self.sources)
        });
        match given.get(name) {
            Some(input) => Ok(Some(input.value.clone())),
            None if problems.has_errors() && variable.default.is_none() => Err(problems.clone()),
            None => Ok(None),
        }
    }
}

/// One repetition of a call that is expanded before planning.
#[derive(Clone, Debug, PartialEq)]
pub struct Each {
    /// Its key.
    pub key: InstanceKey,
    /// `each.value`, for calls with `for_each`.
    pub value: Option<Value>,
}

/// A name on the way from what asks for a value to what it rests on, as messages print it.
#[derive(Clone, Debug)]
struct Frame {
    text: String,
    declared: Span,
}

/// A module in its place, for values that are decided before there is a plan.
pub struct StaticModule {
    module: Arc<Module>,
    address: ModuleAddr,
    /// The address with the keys of calls that are expanded before planning, and no other keys.
    at: ModuleInstance,
    context: Arc<EarlyContext>,
    caller: Option<Caller>,
    known: Mutex<BTreeMap<Named, Result<Value, Diagnostics>>>,
}

/// Who calls a module, and with which repetition.
struct Caller {
    module: Arc<StaticModule>,
    call: Arc<ModuleCall>,
    each: Option<Each>,
}

/// A value of a module that has a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    Variable(Str),
    Local(Str),
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Named::Variable(name) => write!(f, "var.{name}"),
            Named::Local(name) => write!(f, "local.{name}"),
        }
    }
}

impl fmt::Debug for StaticModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StaticModule({})", self.at)
    }
}

impl StaticModule {
    /// Returns the root module in its place.
    pub fn root(module: Arc<Module>, context: Arc<EarlyContext>) -> StaticModule {
        StaticModule {
            module,
            address: ModuleAddr::default(),
            at: ModuleInstance::default(),
            context,
            caller: None,
            known: Mutex::default(),
        }
    }

    /// Returns a module that only calls others, at an address of its own: as tests do.
    pub fn calling(
        at: ModuleInstance,
        call: ModuleCall,
        context: Arc<EarlyContext>,
    ) -> StaticModule {
        let mut module = Module { directory: ".".to_owned(), ..Module::default() };
        module.calls.extend([Arc::new(call)]);
        let root = StaticModule::root(Arc::new(module), context);
        StaticModule { address: at.module(), at, ..root }
    }

    /// Returns a module that one of this module's calls leads to.
    ///
    /// - `each`: the repetition, for a call that is expanded before planning.
    pub fn child(
        self: &Arc<StaticModule>,
        call: &Arc<ModuleCall>,
        each: Option<Each>,
        module: Arc<Module>,
    ) -> StaticModule {
        StaticModule {
            module,
            address: self.address.child(&call.name.text),
            at: self.child_at(call, each.as_ref()),
            context: self.context.clone(),
            caller: Some(Caller { module: self.clone(), call: call.clone(), each }),
            known: Mutex::default(),
        }
    }

    /// Returns the same place with another module in it, of which nothing is evaluated yet.
    pub(super) fn with(self, module: Arc<Module>) -> StaticModule {
        StaticModule { module, known: Mutex::default(), ..self }
    }

    /// Returns the address of a module that a call leads to, with the keys of calls that are expanded before planning.
    pub fn child_at(&self, call: &ModuleCall, each: Option<&Each>) -> ModuleInstance {
        self.at.child(&call.name.text, each.map_or(InstanceKey::None, |it| it.key.clone()))
    }

    /// Returns the address with the keys of calls that are expanded before planning, and no other keys.
    pub fn at(&self) -> &ModuleInstance {
        &self.at
    }

    /// Returns whether some call on the way here is expanded before planning.
    pub fn is_variant(&self) -> bool {
        self.at.0.iter().any(|it| it.1 != InstanceKey::None)
    }

    /// Returns the module itself.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// Returns what its values rest on in the end.
    pub fn context(&self) -> &Arc<EarlyContext> {
        &self.context
    }

    /// Returns the module's address.
    pub fn address(&self) -> &ModuleAddr {
        &self.address
    }

    /// Evaluates an expression of this module.
    ///
    /// - `needed_by`: what needs the value, as messages name it within the module: `module.net.source`,
    ///   `provider.aws.by_region.for_each`.
    ///
    /// # Errors
    ///
    /// If it refers to what only a run decides, or to nothing, or fails: one problem for the cause, and one for each name on
    /// the way to it.
    pub fn evaluate(&self, expression: &Expression, needed_by: &str) -> Result<Value, Diagnostics> {
        self.evaluate_each(expression, needed_by, None)
    }

    /// Like [`StaticModule::evaluate`], for an expression that may read `each` and `count`.
    pub fn evaluate_each(
        &self,
        expression: &Expression,
        needed_by: &str,
        each: Option<&Each>,
    ) -> Result<Value, Diagnostics> {
        let frame = Frame { text: self.name(needed_by), declared: expression.span };
        self.value(expression, &mut vec![frame], each).map_err(Diagnostics::once)
    }

    /// Evaluates the variables that are declared to be static.
    pub fn check_constants(&self) -> Diagnostics {
        let declared = self.caller.as_ref().map_or(Span::default(), |it| it.call.declared);
        let mut problems = Diagnostics::new();
        for variable in self.module.variables.values().filter(|it| it.constant == Some(true)) {
            let mut stack = vec![Frame { text: self.name(""), declared }];
            let name = Named::Variable(variable.name.text.clone());
            problems.take(self.named(&name, variable.declared, &mut stack));
        }
        problems.once()
    }

    /// Returns a name of this module as messages print it.
    pub(super) fn name(&self, text: &str) -> String {
        match self.address.is_root() {
            true => text.to_owned(),
            false => format!("{}:{text}", self.at),
        }
    }

    fn value(
        &self,
        expression: &Expression,
        stack: &mut Vec<Frame>,
        each: Option<&Each>,
    ) -> Result<Value, Diagnostics> {
        let (references, mut problems) = references_of(expression);
        let needed_by = stack.last().map_or("", |it| &it.text).to_owned();
        for name in provider_functions_of(expression) {
            problems.push(problems::provider_function(name, &needed_by));
        }
        for it in &references {
            problems.extend(self.check(it, &needed_by, each));
        }
        if problems.has_errors() {
            return Err(problems);
        }
        let mut values = BTreeMap::new();
        for it in &references {
            problems.extend(scope::check_attribute(it));
            let name = match it.subject {
                Subject::Variable(name) => Named::Variable(name.clone()),
                Subject::Local(name) => Named::Local(name.clone()),
                _ => continue,
            };
            if values.contains_key(&name) {
                continue;
            }
            match self.named(&name, it.span, stack) {
                Ok(value) => drop(values.insert(name, value)),
                Err(found) => problems.extend(found),
            }
        }
        if problems.has_errors() {
            return Err(problems);
        }
        scope::evaluate(self, expression, values, each)
    }

    /// Returns the value of a variable or local, for the name on top of `stack`.
    fn named(&self, name: &Named, at: Span, stack: &mut Vec<Frame>) -> Result<Value, Diagnostics> {
        let declared = match name {
            Named::Variable(it) => match self.module.variables.get(it) {
                None => return Err(problems::undefined("variable", name, at).into()),
                Some(it) if it.constant == Some(false) => {
                    return Err(problems::never_static(&it.name.text, at).into());
                }
                Some(it) => it.declared,
            },
            Named::Local(it) => match self.module.locals.get(it) {
                None => return Err(problems::undefined("local", name, at).into()),
                Some(it) => it.name.span.to(it.value.span),
            },
        };
        let frame = Frame { text: self.name(&name.to_string()), declared };
        if stack.iter().any(|it| it.text == frame.text) {
            return Err(problems::circular(&frame.text, declared).into());
        }
        let known = self.known().get(name).cloned();
        let result = known.unwrap_or_else(|| {
            let result = match name {
                Named::Variable(it) => self.variable(&self.module.variables[it]),
                Named::Local(it) => {
                    stack.push(frame.clone());
                    let result = self.value(&self.module.locals[it].value, stack, None);
                    stack.pop();
                    result
                }
            };
            // What fails because of who asked may succeed for another.
            if result.is_ok() {
                self.known().insert(name.clone(), result.clone());
            }
            result
        });
        result.map_err(|mut problems| {
            if let Some(top) = stack.last() {
                problems.push(problems::not_available(&top.text, &frame.text, top.declared));
            }
            problems
        })
    }

    fn known(&self) -> parking_lot::MutexGuard<'_, BTreeMap<Named, Result<Value, Diagnostics>>> {
        self.known.lock()
    }

    /// Returns the value of a variable: given, converted to its type, and marked.
    fn variable(&self, variable: &Variable) -> Result<Value, Diagnostics> {
        let given = match &self.caller {
            None => self.context.root_value(&self.module, variable)?,
            Some(caller) => caller.input(&self.at, &variable.name.text)?,
        };
        let place = || self.context.sources.range(variable.declared);
        inputs::taken(variable, given.as_ref()).map_err(|refused| {
            let problem = match refused {
                Refused::Missing => self.missing(variable),
                Refused::Null => problems::null_value(variable, &place()),
                Refused::Unsuitable(why) => problems::unsuitable(variable, &place(), why.words()),
            };
            problem.into()
        })
    }

    /// Nobody gives a value that is needed. At the root the user may still be asked.
    fn missing(&self, variable: &Variable) -> Diagnostic {
        match &self.caller {
            Some(caller) => problems::missing_input(caller.call.body_span),
            None => {
                self.context.world.given.want(&variable.name.text);
                problems::not_asked(variable)
            }
        }
    }

    /// Returns the root module's variables that an expression of this module rests on, directly or not, with their values as
    /// they are shown to people.
    pub fn decided_by(&self, expression: &Expression) -> Vec<(Str, String)> {
        let mut found = BTreeSet::new();
        decided::collect(self, expression, &mut BTreeSet::new(), &mut found);
        found.into_iter().collect()
    }
}

impl Caller {
    /// Returns what the call gives for a variable of its module; nothing where it gives nothing.
    fn input(&self, child: &ModuleInstance, name: &str) -> Result<Option<Value>, Diagnostics> {
        let Some(input) = self.call.inputs.get(name) else { return Ok(None) };
        if self.each.is_none() {
            repetition::ask_for_expansion(&self.module, &self.call, &input.value)?;
        }
        let frame = Frame { text: format!("{child}:var.{name}"), declared: input.span() };
        self.module.value(&input.value, &mut vec![frame], self.each.as_ref()).map(Some)
    }
}
