//! Key sets that only the walk could know: their values are asked for; what follows from them is lowered and concluded as
//! everything before the walk was.

use entail_rules::Node;

use super::late::{self, Found, Tracing};
use super::walk::{Part, Progress};
use crate::address::{InstanceKey, ModuleInstance};
use crate::config::Repetition;
use crate::config::expansion::{self, Keys};
use crate::expression;
use crate::lower::structure::{CallId, ModuleId, NodeKind, ResourceId};
use crate::lower::trace::{Entries, existing_modules};
use crate::observe::Observer;

/// Expands what is waiting for it: everything that could be looked at has been by now, so that this is the same in each
/// run, and in the order of nodes, whichever answer came first.
pub fn expand(observer: &mut Observer<'_>, progress: &mut Progress, tracing: &mut Tracing<'_>) {
    let mut waiting = std::mem::take(&mut progress.to_expand);
    waiting.sort_unstable();
    for node in waiting {
        let known = match observer.values.structure.kind(node).clone() {
            NodeKind::Pending(resource) => resource_keys(observer, progress, node, resource),
            NodeKind::CallKeys(call) => call_keys(observer, progress, call),
            _ => None,
        };
        match known {
            Some(found) => late::take_in(observer, progress, tracing, node, found),
            None => progress.by_node.fail(node),
        }
        progress.schedule.again(node.0);
    }
}

fn resource_keys(
    observer: &Observer<'_>,
    progress: &Progress,
    pending: Node,
    id: ResourceId,
) -> Option<Found> {
    let resource = observer.values.structure.resource(id);
    let module = resource.module?;
    let block = observer.values.structure.block(id)?;
    let existing = || {
        let known = observer.state.resources.get(&resource.address);
        let keys = known.into_iter().flat_map(|it| it.instances.keys());
        Some(Found::Skipped(id, keys.map(|it| (it.clone(), None)).collect()))
    };
    if progress.part(pending) != Part::Selected {
        let recorded = recorded_keys(observer, module, &block.repetition);
        return recorded.map(|keys| Found::Resource(id, keys)).or_else(existing);
    }
    let what = resource.address.to_string();
    match keys(observer, module, &block.repetition, &what) {
        Some(keys) => Some(Found::Resource(id, keys)),
        None if observer.request.precedes_destroy => existing(),
        None => None,
    }
}

fn call_keys(observer: &Observer<'_>, progress: &Progress, id: CallId) -> Option<Found> {
    let structure = &observer.values.structure;
    let call = structure.call(id);
    let above: &ModuleInstance = &structure.module(call.parent).address;
    let block = structure.module(call.parent).config.calls.get(&call.name)?;
    let existing =
        || Some(Found::SkippedCall(id, existing_modules(observer.state, above, &call.name)));
    if !progress.evaluate_all && !call.all_instances().any(|it| takes_part(observer, progress, it))
    {
        let recorded = recorded_keys(observer, call.parent, &block.repetition);
        return recorded.map(|keys| Found::Call(id, keys)).or_else(existing);
    }
    let what = above.child(&call.name, InstanceKey::None).to_string();
    match keys(observer, call.parent, &block.repetition, &what) {
        Some(keys) => Some(Found::Call(id, keys)),
        None if observer.request.precedes_destroy => existing(),
        None => None,
    }
}

/// The keys of what takes no part in this run, as far as they can be had from what exists; no trouble is worth telling.
fn recorded_keys(
    observer: &Observer<'_>,
    module: ModuleId,
    repetition: &Repetition,
) -> Option<Entries> {
    let (value, problems) =
        expression::evaluate(repetition.expression()?, &observer.values.scope(module));
    match expansion::keys(repetition, &value) {
        Keys::Known(keys) if !problems.has_errors() => Some(keys),
        _ => None,
    }
}

/// Whether anything in a module whose instances are not known takes part in the run: only then its keys are asked for.
fn takes_part(observer: &Observer<'_>, progress: &Progress, module: ModuleId) -> bool {
    let structure = &observer.values.structure;
    let node = structure.module(module);
    let is_selected = |it: &ResourceId| {
        structure.resource(*it).pending.is_some_and(|it| progress.part(it) == Part::Selected)
    };
    let mut nested = node.calls.values().flat_map(|it| structure.call(*it).all_instances());
    node.resources.values().any(is_selected) || nested.any(|it| takes_part(observer, progress, it))
}

/// Evaluates a repetition; `None` where it cannot be used, which has been reported.
fn keys(
    observer: &Observer<'_>,
    module: ModuleId,
    repetition: &Repetition,
    what: &str,
) -> Option<Entries> {
    let Some(expression) = repetition.expression() else {
        return Some(vec![(InstanceKey::None, None)]);
    };
    let scope = observer.values.scope(module);
    let (value, problems) = expression::evaluate(expression, &scope);
    let failed = problems.has_errors();
    observer.values.report(problems);
    if failed {
        return None;
    }
    match expansion::keys(repetition, &value) {
        Keys::Known(keys) => Some(keys),
        Keys::Invalid(problem) => {
            let problem = expansion::blamed(*problem, repetition, &value, expression, &scope);
            observer.values.report([problem]);
            None
        }
        // What exists is destroyed, whatever was to be declared.
        Keys::Unknown if observer.request.precedes_destroy => None,
        Keys::Unknown => {
            let problem = expansion::not_known(repetition, what);
            let problem = expansion::blamed(problem, repetition, &value, expression, &scope);
            observer.values.report([problem]);
            None
        }
    }
}
