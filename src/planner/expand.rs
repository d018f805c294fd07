//! Key sets that only the walk could know: their values are asked for; what follows from them is lowered and concluded as
//! everything before the walk was.

use entail_rules::Node;

use super::late::{self, LateKeys, Repeats, Tracing};
use super::progress::{KeysAsked, Progress};
use crate::address::InstanceKey;
use crate::config::Repetition;
use crate::config::expansion::{self, Keys};
use crate::expression;
use crate::lower::structure::{ModuleId, NodeKind};
use crate::lower::trace::{Entries, existing_instances, existing_modules};
use crate::observe::Observer;

/// Expands what is waiting for it: everything that could be looked at has been by now, so that this is the same in each
/// run, and in the order of nodes, whichever answer came first.
pub fn expand(observer: &mut Observer<'_>, progress: &mut Progress, tracing: &mut Tracing<'_>) {
    let mut waiting = std::mem::take(&mut progress.to_expand);
    waiting.sort_unstable();
    for node in waiting {
        let block = match observer.values.structure.kind(node) {
            NodeKind::Pending(id) => Some(Repeats::Resource(*id)),
            NodeKind::CallKeys(id) => Some(Repeats::Call(*id)),
            _ => None,
        };
        match block.and_then(|it| Some((it, found(observer, progress, node, it)?))) {
            Some((block, found)) => {
                late::take_in(observer, progress, tracing, (node, block), found);
            }
            None => progress.by_node.fail(node),
        }
        progress.schedule.again(node.0);
    }
    late::select_awaiting(observer, progress, tracing);
}

/// The keys of a block, or those that the state has where this run does not ask; `None` where they cannot be had.
fn found(
    observer: &Observer<'_>,
    progress: &Progress,
    node: Node,
    block: Repeats,
) -> Option<LateKeys> {
    let structure = &observer.values.structure;
    let (module, repetition, what) = match block {
        Repeats::Resource(id) => {
            let resource = structure.resource(id);
            (
                resource.module?,
                &structure.block(id)?.besides.repetition,
                resource.address.to_string(),
            )
        }
        Repeats::Call(id) => {
            let call = structure.call(id);
            let parent = structure.module(call.parent);
            let what = parent.address.child(&call.name, InstanceKey::None).to_string();
            (call.parent, &structure.call_block(id)?.repetition, what)
        }
    };
    let asked = progress.keys_asked(node);
    let keys = match asked {
        KeysAsked::Not => recorded_keys(observer, module, repetition),
        _ => keys(observer, module, repetition, (&what, asked)),
    };
    match (keys, asked) {
        (Some(entries), _) => Some(LateKeys { entries, is_skipped: false }),
        (None, KeysAsked::Required) => None,
        (None, _) => Some(LateKeys { entries: existing(observer, block), is_skipped: true }),
    }
}

/// The keys that the state has of a block.
fn existing(observer: &Observer<'_>, block: Repeats) -> Entries {
    let structure = &observer.values.structure;
    match block {
        Repeats::Resource(id) => {
            existing_instances(observer.state, &structure.resource(id).address)
        }
        Repeats::Call(id) => {
            let call = structure.call(id);
            let above = &structure.module(call.parent).address;
            existing_modules(observer.state, above, &call.name)
        }
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

/// Evaluates a repetition; `None` where it cannot be used, which has been reported.
fn keys(
    observer: &Observer<'_>,
    module: ModuleId,
    repetition: &Repetition,
    (what, asked): (&str, KeysAsked),
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
        Keys::Known(keys) if !observer.values.structure.has_room_for(keys.len()) => {
            let asked = observer.values.structure.size() + keys.len();
            observer.values.report([expansion::too_many(asked).at(expression.span)]);
            None
        }
        Keys::Known(keys) => Some(keys),
        Keys::Invalid(problem) => {
            let problem = expansion::blamed(*problem, repetition, &value, expression, &scope);
            observer.values.report([problem]);
            None
        }
        Keys::Unknown if asked != KeysAsked::Required => None,
        Keys::Unknown => {
            let problem = expansion::not_known(repetition, what);
            let problem = expansion::blamed(problem, repetition, &value, expression, &scope);
            observer.values.report([problem]);
            None
        }
    }
}
