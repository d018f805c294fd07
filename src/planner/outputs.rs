//! The root outputs: evaluates those that are due, tells the rules what came of it, and lists what they conclude.

use std::collections::BTreeMap;

use entail_rules::changes::Changes;
use entail_rules::decide::Decisions;
use entail_rules::outputs::Outputs;
use entail_rules::selection::Selection;
use entail_rules::{Facts, Ledger, Node};

use super::Inputs;
use super::results::without_absent;
use crate::config;
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::expression::evaluate;
use crate::lower::structure::NodeKind;
use crate::lower::{Structure, When, leave_out};
use crate::observe::{Observer, problems};
use crate::plan::OutputChange;
use crate::state::OutputValue;
use crate::value::{Marks, Str, Value};

/// What becomes of the root outputs.
pub(super) struct Settled {
    /// Which are recalculated, and which keep their value.
    pub outputs: Outputs,
    /// What is done with those that are.
    pub changes: Changes,
    /// The same with values, by name.
    pub listed: BTreeMap<Str, OutputChange>,
}

/// What evaluating an output showed.
enum Evaluated {
    Value(Value, Diagnostics),
    /// It has none: what is wrong, why in words, and where.
    None(Diagnostics, String, Span),
}

/// Evaluates the outputs that are due, adds the answers to the facts, and lets the rules conclude from them.
pub(super) fn outputs(
    observer: &Observer<'_>,
    inputs: &Inputs<'_>,
    facts: &mut Facts,
    selection: &Selection,
    decisions: &Decisions,
) -> Settled {
    let engine = inputs.engine();
    let mut outputs: Outputs = engine.conclude(&Ledger::of(facts).with(selection).with(decisions));
    let is_whole = facts.filtered.is_empty();
    let answers: BTreeMap<Node, Evaluated> = (outputs.evaluated_output.iter())
        .filter_map(|it| Some((it.0, answer(observer, declared(observer, it.0)?, is_whole))))
        .collect();
    let lacking = answers.iter().filter(|it| matches!(it.1, Evaluated::None(..)));
    facts.lacks_value.extend(lacking.map(|it| (*it.0,)));
    leave_out(facts, When::Always);
    if !facts.lacks_value.is_empty() {
        outputs = engine.conclude(&Ledger::of(facts).with(selection).with(decisions));
    }
    let mut values = BTreeMap::new();
    for (node, answer) in answers {
        let is_kept = outputs.recalculated.binary_search(&(node,)).is_err();
        match value(observer, node, answer, is_kept) {
            Some(value) => drop(values.insert(node, value)),
            None if is_kept => {}
            None => facts.failed.push((node,)),
        }
    }
    facts.failed.sort_unstable();
    let differing = values.iter().filter(|(node, value)| {
        let output = declared(observer, **node);
        output
            .is_none_or(|it| differs(inputs.state.outputs.get(&it.name.text), value, it.sensitive))
    });
    facts.differs.extend(differing.map(|it| (*it.0,)));
    facts.differs.sort_unstable();
    let undecided = values.iter().filter(|it| !it.1.is_wholly_known());
    facts.config_unknown.extend(undecided.map(|it| (*it.0,)));
    facts.config_unknown.sort_unstable();
    let ledger = Ledger::of(facts).with(selection).with(&outputs).with(decisions);
    let changes = engine.conclude(&ledger);
    let listed = list(observer, inputs, &changes, values);
    Settled { outputs, changes, listed }
}

/// The block of an output, where there is one.
fn declared<'o>(observer: &'o Observer<'_>, node: Node) -> Option<&'o config::Output> {
    let NodeKind::Output(module, name) = observer.values.structure.kind(node) else { return None };
    observer.values.structure.module(*module).config.outputs.get(name)
}

/// - `is_whole`: nothing is left out of this run, so that no precondition can rest on what is.
fn answer(observer: &Observer<'_>, output: &config::Output, is_whole: bool) -> Evaluated {
    let scope = observer.values.scope(Structure::ROOT);
    let (value, problems) = evaluate(&output.value, &scope);
    if problems.has_errors() {
        let why: Vec<String> = problems.iter().map(|it| it.detail.clone()).collect();
        return Evaluated::None(problems, why.join(" "), output.value.span);
    }
    // What is left out and was never made is unknown, and says that it was read.
    let undecided = output.preconditions.iter().filter(|_| !is_whole).find(|it| {
        let value = evaluate(&it.condition, &scope).0.to_marked();
        !value.value().is_known() && !value.marks().reads.is_empty()
    });
    match undecided {
        Some(it) => {
            let why = "A precondition cannot be evaluated without it.".to_owned();
            Evaluated::None(problems, why, it.condition.span)
        }
        None => Evaluated::Value(value, problems),
    }
}

/// Reports what came of an output, and returns its value where it may have it.
fn value(observer: &Observer<'_>, node: Node, answer: Evaluated, is_kept: bool) -> Option<Value> {
    let output = declared(observer, node)?;
    let (value, problems) = match answer {
        Evaluated::Value(value, problems) => (value, problems),
        Evaluated::None(problems, why, place) => {
            match is_kept {
                true => observer.values.report([kept(&output.name.text, &why, place)]),
                false => observer.values.report(problems),
            }
            return None;
        }
    };
    observer.values.report(problems);
    if !observer.output_conditions(node) {
        return None;
    }
    if let Some(problem) = problems::of_output(&value, output) {
        observer.values.report([problem]);
        return None;
    }
    // What is only to be recorded says nothing of an object that is gone: the output waits for a plan that mends it.
    Some(if observer.values.only_records { value } else { without_absent(&value) })
}

fn kept(name: &str, why: &str, place: Span) -> Diagnostic {
    Diagnostic::warning("Output keeps its value").at(place).detail(format!(
        "The output \"{name}\" relies on something that this run leaves out and that does not exist. {why} The output keeps the value it has until a run includes it."
    ))
}

/// Whether a value is not known to be the one that is recorded.
fn differs(old: Option<&OutputValue>, value: &Value, sensitive: bool) -> bool {
    let plain = value.to_plain();
    match old {
        None => !plain.is_null(),
        Some(old) => {
            !(plain.is_wholly_known()
                && *plain == old.value
                && old.sensitive == sensitive
                && old.ty == plain.ty())
        }
    }
}

/// Writes down what is done with each output.
fn list(
    observer: &Observer<'_>,
    inputs: &Inputs<'_>,
    changes: &Changes,
    mut values: BTreeMap<Node, Value>,
) -> BTreeMap<Str, OutputChange> {
    let mut listed = BTreeMap::new();
    for &(node, action) in &changes.output_action {
        let (NodeKind::Output(_, name) | NodeKind::Recorded(name)) =
            observer.values.structure.kind(node)
        else {
            continue;
        };
        let old = inputs.state.outputs.get(name);
        let after = values.remove(&node);
        let was_sensitive = old.is_some_and(|it| it.sensitive);
        let is_sensitive = match (&after, declared(observer, node)) {
            (Some(_), Some(output)) => output.sensitive,
            _ => was_sensitive,
        };
        let mark = |value: Value, sensitive: bool| match sensitive {
            true => value.mark(&Marks::sensitive()),
            false => value,
        };
        let change = OutputChange {
            name: name.clone(),
            before: mark(old.map_or(Value::NULL, |it| it.value.clone()), was_sensitive),
            after: mark(after.unwrap_or(Value::NULL), is_sensitive),
            action,
            sensitive: is_sensitive || was_sensitive,
        };
        listed.insert(name.clone(), change);
    }
    listed
}
