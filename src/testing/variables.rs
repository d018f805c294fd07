//! The values of variables: for the module of a run, and for its assertions.

use std::collections::BTreeMap;

use super::problems;
use super::suite::Suite;
use crate::config::Config;
use crate::config::inputs::{self, Origin, RootVariables, VariableInput};
use crate::config::testing::{TestFile, TestRun};
use crate::diagnostic::{Diagnostics, Sort, Span};
use crate::expression::{self, Around, Ask, Declared, Scope, Subject};
use crate::syntax::{Attribute, Expression};
use crate::value::{Str, Type, Value};
use crate::world::World;

/// The outputs of earlier runs, by name.
pub type RunOutputs = BTreeMap<Str, Value>;

/// What expressions of test files refer to: variables from outside, and outputs of earlier runs.
pub struct FileScope<'a> {
    world: &'a World,
    variables: BTreeMap<Str, Value>,
    runs: &'a RunOutputs,
}

impl<'a> FileScope<'a> {
    /// Returns what can be referred to beside the variables of a module.
    pub fn new(suite: &'a Suite, config: &Config, runs: &'a RunOutputs) -> FileScope<'a> {
        FileScope { world: &suite.world, variables: from_outside(suite, config), runs }
    }

    /// Returns the same scope with more variables.
    pub fn with(mut self, more: BTreeMap<Str, Value>) -> FileScope<'a> {
        self.variables.extend(more);
        self
    }

    /// Evaluates an expression. `run` and `var` are objects like any other, as they are in the real program: `try` catches what
    /// they do not have.
    ///
    /// # Errors
    ///
    /// If it cannot be evaluated.
    pub fn evaluate(&self, expression: &Expression) -> Result<Value, Diagnostics> {
        let object = |of: &BTreeMap<Str, Value>| Value::object(of.clone());
        let bindings = [("run".into(), object(self.runs)), ("var".into(), object(&self.variables))];
        let (value, problems) = expression::evaluate_with(expression, self, &bindings);
        if problems.has_errors() { Err(problems) } else { Ok(value) }
    }
}

impl Scope for FileScope<'_> {
    fn declared(&self, what: Declared<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        let name = match what {
            Declared::Variable(_) => "var",
            Declared::Resource(it) => it.kind,
            Declared::Local(_) => "local",
            Declared::Module(_) => "module",
        };
        Err(problems::unknown_name(name, ask.span).sort(Sort::InvalidIndex).into())
    }

    fn world(&self) -> &World {
        self.world
    }

    fn around(&self) -> Around<'_> {
        Around::default()
    }

    fn absent(&self, subject: Subject<'_>, span: Span) -> Result<Value, Diagnostics> {
        let name = match subject {
            Subject::Path(_) => "path",
            Subject::Terraform(_) => "terraform",
            Subject::EachKey | Subject::EachValue => "each",
            Subject::CountIndex => "count",
            Subject::SelfObject => "self",
            Subject::Unknown(name) => name,
            _ => "this",
        };
        Err(problems::unknown_name(name, span).sort(Sort::InvalidIndex).into())
    }

    fn is_planning(&self) -> bool {
        false
    }
}

/// Returns the variables that are given from outside, text as it is, and the defaults of others.
fn from_outside(suite: &Suite, config: &Config) -> BTreeMap<Str, Value> {
    let declared = &config.root().variables;
    let given = suite.globals.names().filter_map(|name| {
        let value = suite.globals.literal(name)?.ok()?;
        Some((name.clone(), value))
    });
    let mut values: BTreeMap<Str, Value> = given.collect();
    for (name, variable) in declared {
        if let (false, Some(default)) = (values.contains_key(name), &variable.default) {
            values.insert(name.clone(), default.clone());
        }
    }
    values
}

/// What is given to a run.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// The suite.
    pub suite: &'a Suite,
    /// The file.
    pub file: &'a TestFile,
    /// The run.
    pub run: &'a TestRun,
    /// The module that runs.
    pub config: &'a Config,
    /// The outputs of earlier runs.
    pub runs: &'a RunOutputs,
}

impl<'a> Given<'a> {
    fn written(&self, name: &str) -> Option<&'a Attribute> {
        self.run.variables.get(name).or_else(|| self.file.variables.get(name))
    }

    /// Returns the values of the module's variables.
    ///
    /// # Errors
    ///
    /// If one cannot be evaluated, has the wrong type, or is missing.
    pub fn variables(&self) -> Result<RootVariables, Diagnostics> {
        let scope = FileScope::new(self.suite, self.config, self.runs);
        let mut problems = Diagnostics::new();
        let mut variables = RootVariables::default();
        for (name, variable) in &self.config.root().variables {
            let input = match self.written(name) {
                Some(it) => Some(
                    scope
                        .evaluate(&it.value)
                        .map(|value| VariableInput { value, origin: Origin::Test(it.value.span) }),
                ),
                None => self.suite.globals.of(variable, &self.suite.sources),
            };
            let input = match input.transpose() {
                Ok(input) => input,
                Err(found) => {
                    problems.extend(found);
                    if variable.default.is_none() {
                        problems.push(inputs::no_value(variable));
                    }
                    continue;
                }
            };
            if input.is_none() && variable.default.is_none() {
                problems.push(inputs::no_value(variable));
                continue;
            }
            let address = format!("var.{name}");
            let finished = inputs::finish(variable, &address, input.as_ref(), &self.suite.sources);
            if let Some(value) = problems.take(finished) {
                variables.values.insert(name.clone(), value);
                if let Some(input) = input {
                    variables.given.insert(name.clone(), input.value);
                    variables.origins.insert(name.clone(), input.origin);
                }
            }
        }
        if problems.has_errors() { Err(problems) } else { Ok(variables) }
    }

    /// Returns every variable that assertions can name, as it was given: also what no module declares.
    pub fn for_assertions(&self) -> BTreeMap<Str, Value> {
        let mut values = from_outside(self.suite, self.config);
        let scope = FileScope::new(self.suite, self.config, self.runs);
        let written = self.file.variables.iter().chain(&self.run.variables);
        for (name, it) in written {
            let value = scope.evaluate(&it.value).unwrap_or(Value::unknown(Type::DYNAMIC));
            values.insert(name.clone(), value);
        }
        for (name, variable) in &self.config.root().variables {
            let Some(value) = values.remove(name) else { continue };
            let value = match (&variable.type_defaults, value.ty().kind()) {
                (Some(_), _) => {
                    expression::with_defaults(&value, variable.ty, variable.type_defaults.as_ref())
                        .unwrap_or(value)
                }
                _ => value,
            };
            values.insert(name.clone(), value.mark(&variable.marks()));
        }
        values
    }

    /// Returns what provider blocks of the file refer to.
    pub fn scope(&self, variables: &RootVariables) -> FileScope<'a> {
        let known = variables.given.iter().filter(|it| !it.1.is_null());
        let known = known.map(|(name, value)| (name.clone(), value.clone())).collect();
        FileScope::new(self.suite, self.config, self.runs).with(known)
    }
}
