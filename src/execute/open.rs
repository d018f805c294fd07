//! The step that opens an ephemeral resource: what it gives is used by the steps after it, and written nowhere.

use entail_rules::Node;

use super::dependencies::inputs_are_valid;
use super::{Context, StepResult};
use crate::address::Mode;
use crate::lower::structure::NodeKind;
use crate::observe::pool::Era;
use crate::observe::problems;

/// Returns whether a node is an ephemeral resource.
pub(super) fn is_ephemeral(ctx: &Context<'_>, node: Node) -> bool {
    let structure = &ctx.observer.values.structure;
    structure.instance(node).is_some_and(|it| it.resource.mode == Mode::Ephemeral)
}

/// Opens it with the arguments as they are known now.
pub(super) async fn open(ctx: &Context<'_>, node: Node) -> StepResult {
    let failure = || StepResult { failed: true, ..StepResult::default() };
    let observer = ctx.observer;
    let NodeKind::Object(resource, key) = observer.values.structure.kind(node) else {
        return StepResult::default();
    };
    let subject = crate::planner::subject(observer, *resource, key);
    let Some(subject) = ctx.stop.unless_asked(subject).await else { return StepResult::halted() };
    let Some(subject) = subject.filter(|_| inputs_are_valid(ctx, node)) else { return failure() };
    let Some(question) = observer.ask_data(&subject) else { return failure() };
    if !question.is_known {
        observer.values.report([problems::data_not_known(&subject.address)]);
        return failure();
    }
    let Some(value) = observer.open((node, Era::Current), &subject, &question.config).await else {
        return failure();
    };
    let passed = observer.postconditions(&subject, &value);
    StepResult { value: Some(value), failed: !passed, ..StepResult::default() }
}
