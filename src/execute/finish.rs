//! What follows the last step: root outputs, conditions, checks.

use std::collections::BTreeSet;

use entail_rules::changes::Changes;
use entail_rules::closing::Closing;
use entail_rules::{Facts, Ledger, Node};

use super::failure::Failures;
use super::{Context, Done, checks};
use crate::lower::structure::NodeKind;
use crate::lower::{Structure, When, leave_out};
use crate::plan::Change;
use crate::planner::without_absent;
use crate::reason::shipped;
use crate::state::OutputValue;
use crate::state::journal::Record;
use crate::state::objects as record;
use crate::value::Str;

/// Evaluates the outputs that the plan lists, and checks what is checked at the end.
pub(super) fn finish(
    ctx: &Context<'_>,
    done: &mut Done,
    failures: &Failures<'_>,
    unbegun: &[&Change],
) {
    let closing = close(ctx, done, failures);
    let structure = &ctx.observer.values.structure;
    for (node, name) in closing.removed_last.iter().filter_map(|it| output(structure, it.0)) {
        debug_assert!(ctx.plan.outputs.contains_key(name), "{node:?} is in the plan");
        set(ctx, done, Record::Output { name: name.clone(), value: None });
    }
    let only_records = ctx.observer.values.only_records;
    if only_records && !done.stopped {
        ctx.observer.failed_outputs(&ctx.plan.checks);
    }
    for (node, name) in closing.written_last.iter().filter_map(|it| output(structure, it.0)) {
        // Of what is only recorded, the plan has judged it.
        if !only_records && !ctx.observer.output_conditions(node) {
            continue;
        }
        let Some(output) = ctx.config.root().outputs.get(name) else { continue };
        let (value, problems) =
            crate::expression::evaluate(&output.value, &ctx.observer.values.scope(Structure::ROOT));
        let has_errors = problems.has_errors();
        ctx.observer.values.report(problems);
        if has_errors {
            continue;
        }
        // What was not known when the plan was made is judged now.
        if let Some(problem) = crate::observe::problems::of_output(&value, output) {
            ctx.observer.values.report([problem]);
            continue;
        }
        let stored = match only_records {
            // What is gone is told as a null: the output is declared, and has no value now.
            true => {
                Some(value.to_plain()).filter(|it| !it.is_null()).map(|it| record::known_only(&it))
            }
            false => Some(record::known_only(&without_absent(&value).to_plain()))
                .filter(|it| !it.is_null()),
        };
        let stored = stored.map(|value| OutputValue {
            ty: value.ty(),
            value,
            sensitive: output.sensitive,
            deprecated: output.deprecated.clone(),
        });
        set(ctx, done, Record::Output { name: name.clone(), value: stored });
    }
    done.state.checks = Some(checks::judge_last(ctx, &closing)).filter(|it| !it.is_empty());
    done.imported = ctx.plan.changes.iter().filter(|it| it.details.importing.is_some()).count();
    done.state.resources.retain(|_, it| !it.instances.is_empty());
    for change in unbegun {
        // As OpenTofu does, until a later run ends well.
        done.state.resources.served_by(change.address.of(), &change.served_by.config);
    }
}

/// Lets the rules conclude what is looked at now.
fn close(ctx: &Context<'_>, done: &Done, failures: &Failures<'_>) -> Closing {
    let structure = &ctx.observer.values.structure;
    let nodes = (0..structure.nodes.len() as u32).map(Node);
    let outputs = nodes.filter_map(|it| output(structure, it));
    let actions = outputs.filter_map(|it| Some((it.0, ctx.plan.outputs.get(it.1)?.action)));
    let changes = Changes { output_action: actions.collect(), ..Changes::default() };
    let mut facts = Facts {
        mode: ctx.facts.mode.clone(),
        filtered: ctx.facts.filtered.clone(),
        object: ctx.facts.object.clone(),
        data: ctx.facts.data.clone(),
        module_output: ctx.facts.module_output.clone(),
        reads: ctx.facts.reads.clone(),
        check_block: ctx.facts.check_block.clone(),
        evaluated_last: ctx.facts.evaluated_last.clone(),
        config_unknown: ctx.facts.config_unknown.clone(),
        step_failed: failures.failed(),
        stopped: done.stopped.then_some(()).into_iter().collect(),
        ..Facts::default()
    };
    leave_out(&mut facts, When::Always);
    let whole = || Facts {
        step_failed: facts.step_failed.clone(),
        stopped: facts.stopped.clone(),
        ..ctx.facts.clone()
    };
    if let Err(problem) = shipped::note_met(ctx.observer.values.world, whole) {
        ctx.observer.values.report([problem]);
    }
    let ledger = Ledger::of(&facts).with(ctx.order).with(&changes);
    let closing: Closing = ctx.observer.engine().conclude(&ledger);
    debug_assert!(
        done.stopped
            || failures.held().collect::<BTreeSet<_>>()
                == closing.held_back.iter().map(|it| (it.0, it.1)).collect(),
        "what was held back one by one is what all of it together holds back"
    );
    closing
}

/// The name of a root output, declared or recorded.
fn output(structure: &Structure, node: Node) -> Option<(Node, &Str)> {
    match structure.kind(node) {
        NodeKind::Output(Structure::ROOT, name) | NodeKind::Recorded(name) => Some((node, name)),
        _ => None,
    }
}

fn set(ctx: &Context<'_>, done: &mut Done, record: Record) {
    ctx.notes.note(vec![record]);
    ctx.notes.take_into(&mut done.state);
}
