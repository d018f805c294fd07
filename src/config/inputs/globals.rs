//! What is given for variables from outside, whatever module declares them: for tests.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Given, Origin, VariableInput, gather, read};
use crate::config::Variable;
use crate::diagnostic::{Diagnostics, Sources};
use crate::expression::evaluate_constant;
use crate::value::{Str, Value};
use crate::world::{VariableSource, World};

/// What is given for variables by flags, files and the environment, whatever module declares them: for tests.
#[derive(Clone, Debug, Default)]
pub struct Globals {
    values: BTreeMap<Str, (Given, Origin)>,
}

impl Globals {
    /// Collects them like [`collect_variables`](super::collect_variables); above all others count the files that are read by themselves in the folder of tests.
    pub fn collect(
        (directory, tests): (&Path, Option<&Path>),
        given: &[VariableSource],
        world: &World,
        sources: &Sources,
    ) -> (Globals, Diagnostics) {
        let mut collector = gather(directory, given, world, sources);
        if let Some(tests) = tests.filter(|it| world.files.is_folder(it)) {
            collector.directory = tests;
            collector.add_auto_files();
        }
        (Globals { values: collector.values }, collector.problems)
    }

    /// Returns the names.
    pub fn names(&self) -> impl Iterator<Item = &Str> {
        self.values.keys()
    }

    /// Returns what is given for a declared variable.
    pub fn of(
        &self,
        variable: &Variable,
        sources: &Sources,
    ) -> Option<Result<VariableInput, Diagnostics>> {
        let (given, origin) = self.values.get(&variable.name.text)?;
        let value = read(variable, given.clone(), sources);
        Some(value.map(|value| VariableInput { value, origin: origin.clone() }))
    }

    /// Returns what is given under a name that nobody need declare: text as it is.
    pub fn literal(&self, name: &str) -> Option<Result<Value, Diagnostics>> {
        match &self.values.get(name)?.0 {
            Given::Text(text) => Some(Ok(Value::string(text))),
            Given::Expression(expression) => Some(evaluate_constant(expression)),
        }
    }
}
