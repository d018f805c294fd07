//! What follows from the walk: conditions of objects, root outputs, checks.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::decide::Decisions;
use entail_rules::outputs::Outputs;
use entail_rules::{Action as Decided, Node, Phase};

use super::Inputs;
use super::checks::config_name;
use crate::diagnostic::{Diagnostic, Severity};
use crate::lower::Structure;
use crate::lower::structure::NodeKind;
use crate::observe::{Observer, conditions};
use crate::plan::{Action, OutputChange};
use crate::request::PlanMode;
use crate::value::{Marks, Str, Value};

impl Observer<'_> {
    /// Returns whether a variable passes its validations, checked once.
    pub fn is_valid(&self, node: Node) -> bool {
        let known = self.validated.lock().unwrap_or_else(|it| it.into_inner()).get(&node).copied();
        known.unwrap_or_else(|| {
            let passed = self.validate_variable(node);
            self.validated.lock().unwrap_or_else(|it| it.into_inner()).insert(node, passed);
            passed
        })
    }

    /// Checks the validations of a module's variable; returns whether none is an error.
    pub fn validate_variable(&self, node: Node) -> bool {
        let NodeKind::Variable(module, name) = self.values.structure.kind(node) else {
            return true;
        };
        let variable = &self.values.structure.module(*module).config.variables[name];
        let address = self.values.structure.name(node);
        let scope = self.values.scope(*module);
        let mut passed = true;
        for (index, condition) in variable.validations.iter().enumerate() {
            let place = variable_place(self, *module, name).unwrap_or(variable.declared);
            let outcome =
                conditions::check_validation(condition, &scope, place, self.values.sources);
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
        let NodeKind::Output(module, name) = self.values.structure.kind(node) else { return true };
        let output = &self.values.structure.module(*module).config.outputs[name];
        let scope = self.values.scope(*module);
        let address = output_address(self, node);
        let mut passed = true;
        for (index, condition) in output.preconditions.iter().enumerate() {
            let outcome =
                conditions::check(condition, &scope, "Module output value precondition failed");
            self.checks.record(
                conditions::Kind::Output,
                &config_name(&address),
                &address,
                index,
                &outcome,
            );
            let told = outcome.told(self.request.mode != PlanMode::Normal);
            passed &= !told.has_errors();
            self.values.report(told);
        }
        passed
    }
}

/// Returns what stays as it is and has conditions: they are checked again when the plan is carried out.
pub(super) fn conditioned(observer: &Observer<'_>, decisions: &Decisions) -> Vec<(Node, Phase)> {
    let has_conditions = |node: Node| {
        let NodeKind::Object(resource, _) = observer.values.structure.kind(node) else {
            return false;
        };
        let block = observer.values.structure.block(*resource);
        block.is_some_and(|it| it.lifecycle.has_conditions())
    };
    let kept = decisions
        .action
        .iter()
        .filter(|it| it.1 == Decided::NoOp && observer.request.mode == PlanMode::Normal);
    kept.filter(|it| has_conditions(it.0)).map(|it| (it.0, Phase::Up)).collect()
}

fn variable_place(
    observer: &Observer<'_>,
    module: crate::lower::structure::ModuleId,
    name: &Str,
) -> Option<crate::diagnostic::Span> {
    let (parent, call) = observer.values.structure.module(module).parent?;
    let config = &observer.values.structure.module(parent).config;
    let input = config.calls.get(&observer.values.structure.call(call).name)?.inputs.get(name)?;
    Some(input.value.span)
}

fn output_address(observer: &Observer<'_>, node: Node) -> String {
    let NodeKind::Output(module, name) = observer.values.structure.kind(node) else {
        return String::new();
    };
    let module = &observer.values.structure.module(*module).address;
    if module.is_root() { format!("output.{name}") } else { format!("{module}.output.{name}") }
}

/// Evaluates the root outputs that are recalculated, and says what happens to each.
pub(super) fn outputs(
    observer: &Observer<'_>,
    settled: &Outputs,
    inputs: &Inputs<'_>,
) -> BTreeMap<Str, OutputChange> {
    let mut changes = BTreeMap::new();
    let root = observer.values.structure.module(Structure::ROOT);
    let recalculated: BTreeSet<Node> = settled.recalculated.iter().map(|it| it.0).collect();
    let unfiltered = inputs.request.is_unfiltered();
    if inputs.request.mode == PlanMode::Destroy {
        if unfiltered {
            let all = inputs.state.outputs.iter();
            changes.extend(
                all.map(|(name, old)| (name.clone(), change(name, Some(old), None, old.sensitive))),
            );
        }
        return changes;
    }
    for (name, &node) in &root.outputs {
        if !recalculated.contains(&node) || observer.values.is_stopped(node) {
            continue;
        }
        if let Some(found) = recalculate(observer, node, name, inputs, unfiltered) {
            changes.insert(name.clone(), found);
        }
    }
    if unfiltered {
        for (name, old) in inputs.state.outputs.iter().filter(|it| !root.outputs.contains_key(it.0))
        {
            changes.insert(name.clone(), change(name, Some(old), None, old.sensitive));
        }
    }
    changes
}

fn recalculate(
    observer: &Observer<'_>,
    node: Node,
    name: &Str,
    inputs: &Inputs<'_>,
    unfiltered: bool,
) -> Option<OutputChange> {
    let output = &inputs.config.root().outputs[name];
    let result =
        crate::expression::evaluate(&output.value, &observer.values.scope(Structure::ROOT));
    let (value, problems) = result;
    if problems.has_errors() {
        if unfiltered {
            observer.values.report(problems);
        } else {
            let why: Vec<String> = problems.iter().map(|it| it.detail.clone()).collect();
            observer.values.report([kept(name, &why.join(" "), output.value.span)]);
        }
        return None;
    }
    observer.values.report(problems);
    if !unfiltered && let Some(place) = rests_on_absent(observer, output) {
        observer.values.report([kept(
            name,
            "A precondition cannot be evaluated without it.",
            place,
        )]);
        return None;
    }
    if !observer.output_conditions(node) {
        return None;
    }
    if let Some(problem) = crate::observe::problems::of_output(&value, output) {
        observer.values.report([problem]);
        return None;
    }
    // What is only to be recorded says nothing of an object that is gone: the output waits for a plan that mends it.
    let value =
        if observer.request.mode == PlanMode::RefreshOnly { value } else { without_absent(&value) };
    let old = inputs.state.outputs.get(name);
    Some(change(name, old, Some(value), output.sensitive))
}

/// The place of a precondition that cannot be evaluated because something was left out and never made.
fn rests_on_absent(
    observer: &Observer<'_>,
    output: &crate::config::Output,
) -> Option<crate::diagnostic::Span> {
    let scope = observer.values.scope(Structure::ROOT);
    let undecided = output.preconditions.iter().find(|it| {
        let (value, _) = crate::expression::evaluate(&it.condition, &scope);
        let (plain, marks) = value.unmark_deep();
        !plain.is_known() && !marks.reads.is_empty()
    });
    undecided.map(|it| it.condition.span)
}

fn kept(name: &str, why: &str, span: crate::diagnostic::Span) -> Diagnostic {
    let mut warning = Diagnostic::warning("Output keeps its value").at(span).detail(format!(
        "The output \"{name}\" relies on something that this run leaves out and that does not exist. {why} The output keeps the value it has until a run includes it."
    ));
    warning.severity = Severity::Warning;
    warning
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

fn change(
    name: &Str,
    old: Option<&crate::state::OutputValue>,
    after: Option<Value>,
    sensitive: bool,
) -> OutputChange {
    let after_is_gone = after.is_none();
    let after = after.unwrap_or(Value::NULL);
    let before = old.map_or(Value::NULL, |it| it.value.clone());
    let (plain, _) = after.unmark_deep();
    let was_sensitive = old.is_some_and(|it| it.sensitive);
    let action = match old {
        None if plain.is_null() => Action::NoOp,
        None => Action::Create,
        Some(_) if plain.is_null() && after_is_gone => Action::Delete,
        Some(old)
            if plain.is_wholly_known()
                && plain == before
                && was_sensitive == sensitive
                && old.ty == plain.ty() =>
        {
            Action::NoOp
        }
        Some(_) => Action::Update,
    };
    let mark = |value: Value, sensitive: bool| {
        if sensitive { value.mark(&Marks::sensitive()) } else { value }
    };
    OutputChange {
        name: name.clone(),
        before: mark(before, was_sensitive),
        after: mark(after, sensitive),
        action,
        sensitive: sensitive || was_sensitive,
    }
}
