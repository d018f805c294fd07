//! What follows from the walk: conditions of objects, variables and outputs.

use entail_rules::Node;
use rustc_hash::FxHashSet;

use super::checks::config_name;
use crate::lower::structure::NodeKind;
use crate::observe::{Observer, conditions};
use crate::state::CheckResult;
use crate::value::{Marks, Str, Value};

impl Observer<'_> {
    /// Returns whether a variable passes its validations, checked once.
    pub fn is_valid(&self, node: Node) -> bool {
        let known = self.validated.lock().get(&node).copied();
        known.unwrap_or_else(|| {
            let passed = self.validate_variable(node);
            self.validated.lock().insert(node, passed);
            passed
        })
    }

    /// Checks the validations of a module's variable; returns whether none is an error.
    pub fn validate_variable(&self, node: Node) -> bool {
        let NodeKind::Variable(module, name) = self.values.structure.kind(node) else {
            return true;
        };
        let variable = &self.values.structure.module(*module).config.variables[name];
        if variable.validations.is_empty() {
            return true;
        }
        let address = self.values.structure.name(node);
        let scope = self.values.scope(*module);
        let mut passed = true;
        for (index, condition) in variable.validations.iter().enumerate() {
            let place = variable_place(self, *module, name).unwrap_or(variable.declared);
            let outcome =
                conditions::check_validation(condition, &scope, place, self.values.sources)
                    .of(&address);
            passed &= !outcome.problems.has_errors();
            self.checks.record(
                conditions::Kind::Variable,
                &config_name(&address),
                &address,
                index,
                &outcome,
            );
            self.values.report(outcome.problems);
        }
        passed
    }

    /// Checks the preconditions of an output; returns whether none is an error.
    pub fn output_conditions(&self, node: Node) -> bool {
        self.judge_output(node, self.request.softens_conditions())
    }

    /// Checks the preconditions of outputs that failed in a plan of which they kept nothing back: once it is carried out,
    /// that is an error.
    pub fn failed_outputs(&self, planned: &[CheckResult]) {
        let outputs = planned.iter().filter(|it| &*it.kind == "output");
        let failed = outputs.flat_map(|it| it.objects.iter().flatten());
        let failed: FxHashSet<&str> =
            failed.filter(|it| &*it.1 == "fail").map(|it| &*it.0).collect();
        let modules = self.values.structure.modules.iter().filter(|_| !failed.is_empty());
        for &node in modules.flat_map(|it| it.outputs.values()) {
            if failed.contains(&*output_address(self, node)) {
                self.judge_output(node, false);
            }
        }
    }

    fn judge_output(&self, node: Node, softens: bool) -> bool {
        let NodeKind::Output(module, name) = self.values.structure.kind(node) else { return true };
        let output = &self.values.structure.module(*module).config.outputs[name];
        if output.preconditions.is_empty() {
            return true;
        }
        let scope = self.values.scope(*module);
        let address = output_address(self, node);
        let mut passed = true;
        for (index, condition) in output.preconditions.iter().enumerate() {
            let outcome =
                conditions::check(condition, &scope, "Module output value precondition failed")
                    .of(&address);
            self.checks.record(
                conditions::Kind::Output,
                &config_name(&address),
                &address,
                index,
                &outcome,
            );
            let told = outcome.told(softens);
            passed &= !told.has_errors();
            self.values.report(told);
        }
        passed
    }
}

fn variable_place(
    observer: &Observer<'_>,
    module: crate::lower::structure::ModuleId,
    name: &Str,
) -> Option<crate::diagnostic::Span> {
    let structure = &observer.values.structure;
    let (_, call) = structure.module(module).parent?;
    let input = structure.call_block(call)?.inputs.get(name)?;
    Some(input.value.span)
}

fn output_address(observer: &Observer<'_>, node: Node) -> String {
    let NodeKind::Output(module, name) = observer.values.structure.kind(node) else {
        return String::new();
    };
    let module = &observer.values.structure.module(*module).address;
    if module.is_root() { format!("output.{name}") } else { format!("{module}.output.{name}") }
}

/// What stays unknown because an object is left out and was never made is null.
pub fn without_absent(value: &Value) -> Value {
    let marks = value.marks();
    let inner = match value.bare() {
        Value::Unknown(it) if !marks.reads.is_empty() => Value::Null(it.ty),
        it => it.map_children(&mut Vec::new(), &mut |child, _| without_absent(child)),
    };
    inner.mark(&Marks { reads: Default::default(), ..marks })
}
