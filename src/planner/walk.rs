//! The walk that plans: asks of each node what only values and providers know, as soon as what it reads is settled.
//!
//! Questions run side by side; answers are decided by the rules, node by node, a batch being whatever has arrived.

use std::collections::VecDeque;
use std::iter;

use entail_rules::calls::Calls;
use entail_rules::decide::Decisions;
use entail_rules::violations::Violations;
use entail_rules::{Facts, Ledger, Node};
use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use rustc_hash::FxHashSet;

use super::alike::{Decided, Taken};
use super::progress::{Asked, Ending, Part, Progress};
use super::protection::Protected;
use super::said::{Answered, Said, What};
use crate::address::{InstanceKey, ProviderInstance};
use crate::lower::structure::{CallId, NodeKind};
use crate::lower::{When, leave_out};
use crate::observe::Observer;
use crate::observe::object::{Outside, Prior};
use crate::observe::pool::Era;
use crate::observe::values::Values;
use crate::request::PlanMode;
use crate::schedule::begin;

mod ahead;
mod ask;
mod finish;
mod serve;
mod triggers;

use ahead::AHEAD;
pub use ask::subject;
use ask::{Answer, Premises, ask};
use finish::{Decision, at_once, finish};
pub(super) use serve::serving_undeclared;

/// The most questions that are open at once; provider calls are bounded separately.
const OPEN: usize = 1024;

/// Looks at everything that is ready until nothing is, or key sets must be expanded first.
pub async fn run(observer: &Observer<'_>, progress: &mut Progress) {
    let mut open = FuturesUnordered::new();
    let mut batch: Vec<(Node, Answer)> = Vec::new();
    let mut next: VecDeque<Node> = VecDeque::new();
    loop {
        while open.len() < OPEN && batch.len() < OPEN {
            if next.is_empty() {
                next.extend(iter::from_fn(|| progress.schedule.take_ready()).take(AHEAD).map(Node));
                ahead::read(observer, next.iter().copied().filter(|it| !progress.is_left(*it)));
            }
            let Some(node) = next.pop_front() else { break };
            let is_blocked = is_blocked(observer, progress, node);
            if is_blocked || !needs_provider(observer, node) {
                let answer = value_node(observer, progress, (node, is_blocked));
                if let Some(answer) = answer {
                    batch.push((node, answer));
                }
            } else {
                if progress.is_left(node) {
                    batch.push((node, Answer::Frozen(None)));
                    continue;
                }
                let part = progress.part(node);
                let asked = progress.asked.get(&node).copied().unwrap_or_default();
                if triggers::forbid(observer, progress, node) {
                    batch.push((node, Answer::Failed));
                    continue;
                }
                let premises = premises(observer, progress, node);
                let question =
                    ask(observer, node, part, (asked, premises)).map(move |it| (node, it));
                batch.extend(begin(question, &mut open).await);
            }
        }
        if batch.is_empty() {
            match open.next().await {
                Some(answer) => batch.push(answer),
                None => return,
            }
        }
        while batch.len() < OPEN && !open.is_empty() {
            match open.next().now_or_never() {
                Some(Some(answer)) => batch.push(answer),
                _ => break,
            }
        }
        conclude(observer, progress, std::mem::take(&mut batch)).await;
    }
}

/// Lets the rules say what may be asked of the provider of a node. Mostly everything: its configuration is known.
fn premises(observer: &Observer<'_>, progress: &Progress, node: Node) -> Premises {
    if progress.facts.provider_unknown.is_empty() {
        return Premises::default();
    }
    let Some(mut facts) = progress.by_node.premises(node) else { return Premises::default() };
    facts.skips_refresh.extend(observer.request.skip_refresh.then_some(()));
    let found: Calls = observer.engine().conclude(&Ledger::of(&facts));
    Premises {
        is_unrefreshed: !found.unrefreshed.is_empty(),
        is_not_imported: !found.not_imported.is_empty(),
    }
}

/// Lets the rules say whether something before a node makes it pointless to ask anything of the node.
fn is_blocked(observer: &Observer<'_>, progress: &mut Progress, node: Node) -> bool {
    if !progress.by_node.may_be_blocked(node) {
        return false;
    }
    let mut said = Vec::new();
    progress.by_node.describe(&mut said, node, observer.values.structure.kind(node));
    let Progress { alike, by_node, .. } = progress;
    let asked = (node, &said[..]);
    alike.decide(observer.engine(), by_node.of_run(), asked, &mut Taken::default()).blocked
}

fn needs_provider(observer: &Observer<'_>, node: Node) -> bool {
    matches!(observer.values.structure.kind(node), NodeKind::Object(..) | NodeKind::Deposed(..))
}

/// Nodes that need no provider: values, key sets, collections – and whatever is blocked.
fn value_node(
    observer: &Observer<'_>,
    progress: &mut Progress,
    (node, is_blocked): (Node, bool),
) -> Option<Answer> {
    let values = &observer.values;
    // What could not be expanded is asked for once.
    if is_blocked || progress.by_node.has_failed(node) {
        return Some(Answer::Nothing);
    }
    match values.structure.kind(node) {
        NodeKind::Pending(_) if progress.expanded.contains(&node) => Some(Answer::Nothing),
        NodeKind::Pending(_) => {
            progress.to_expand.push(node);
            None
        }
        NodeKind::CallKeys(call)
            if values.structure.call(*call).pending && !is_stand_in(values, call) =>
        {
            progress.to_expand.push(node);
            None
        }
        NodeKind::Variable(module, _)
        | NodeKind::Local(module, _)
        | NodeKind::Output(module, _)
            if values.structure.module(*module).pending =>
        {
            Some(Answer::Nothing)
        }
        NodeKind::Provider(id) => {
            let instance = &values.structure.providers[id.index()].0;
            observer.awaiting.settle(instance);
            let is_looked_at =
                progress.is_evaluated(node) || observer.request.mode == PlanMode::Destroy;
            Some(Answer::Configured { is_known: !is_looked_at || is_known(observer, instance) })
        }
        NodeKind::Variable(..) | NodeKind::Local(..) if progress.is_evaluated(node) => {
            let failed = values.value(node).is_err() || !observer.validate_variable(node);
            Some(if failed { Answer::Failed } else { Answer::Nothing })
        }
        NodeKind::Output(module, _)
            if progress.is_evaluated(node) && *module != crate::lower::Structure::ROOT =>
        {
            let failed = values.value(node).is_err() || !observer.output_conditions(node);
            Some(if failed { Answer::Failed } else { Answer::Nothing })
        }
        _ => Some(Answer::Nothing),
    }
}

/// Returns whether the arguments of a provider instance are wholly known. What is wrong with them is told when it is called.
fn is_known(observer: &Observer<'_>, instance: &ProviderInstance) -> bool {
    // What stands for all instances of a configuration has no arguments of its own.
    let is_whole = instance.key == InstanceKey::None
        && observer
            .block_of(&instance.config)
            .is_some_and(|it| it.0.repetition.expression().is_some());
    if is_whole || observer.pool.mocks.replaces(&instance.config) {
        return true;
    }
    let arguments = observer.provider_arguments(instance, Era::Current);
    arguments.is_none_or(|(value, found)| found.has_errors() || value.is_wholly_known())
}

/// Returns whether a value belongs to a module instance that stands in for those that are not known yet.
fn is_stand_in(values: &Values<'_>, call: &CallId) -> bool {
    values.structure.module(values.structure.call(*call).parent).pending
}

/// Lets the rules decide a batch, does what the decisions ask for, and settles its nodes.
async fn conclude(observer: &Observer<'_>, progress: &mut Progress, answers: Vec<(Node, Answer)>) {
    let mut guarded = None;
    let decided = answers.iter().map(|it| decide(observer, progress, (it.0, &it.1), &mut guarded));
    let decided: Vec<Decided> = decided.collect();
    let forbidden = match guarded {
        Some(guarded) => forbidden(observer, &mut progress.facts, &guarded.decisions),
        None => FxHashSet::default(),
    };
    let mut unsettled = Vec::new();
    for ((node, answer), decided) in answers.into_iter().zip(decided) {
        let decided = Decided { forbidden: forbidden.contains(&node), ..decided };
        match at_once(observer, node, answer, decided) {
            Ok(outcome) => settle(observer, progress, node, outcome).await,
            Err(it) => unsettled.push((node, it, decided)),
        }
    }
    // Mostly there is none, and of a chain each batch is one node.
    if unsettled.is_empty() {
        return;
    }
    let finished = unsettled.into_iter().map(|(node, it, decided)| {
        finish(observer, node, it, decided).map(move |outcome| (node, outcome))
    });
    let mut second: FuturesUnordered<_> = finished.collect();
    while let Some((node, outcome)) = second.next().await {
        settle(observer, progress, node, outcome).await;
    }
}

/// Lets the rules decide a node, from what is known of it and what was answered.
///
/// - `guarded`: takes in once more what is decided of nodes whose `prevent_destroy` is asked for.
fn decide(
    observer: &Observer<'_>,
    progress: &mut Progress,
    (node, answer): (Node, &Answer),
    guarded: &mut Option<Taken>,
) -> Decided {
    let is_frozen = matches!(answer, Answer::Frozen(_));
    let is_plain = matches!(answer, Answer::Nothing) && progress.part(node) == Part::NoObject;
    if is_frozen || (is_plain && !progress.by_node.matters(node)) {
        return Decided::default();
    }
    let mut said = std::mem::take(&mut progress.said);
    said.clear();
    progress.by_node.describe(&mut said, node, observer.values.structure.kind(node));
    answered(progress, node, answer, &mut said);
    let Progress { alike, by_node, taken, facts, .. } = progress;
    let (engine, asked) = (observer.engine(), (node, &said[..]));
    let decided = alike.decide(engine, by_node.of_run(), asked, taken);
    if decided.asks_protection {
        alike.decide(engine, by_node.of_run(), asked, guarded.get_or_insert_default());
    }
    by_node.learn(&taken.told);
    by_node.keep(facts, node, &said);
    progress.said = said;
    decided
}

/// Takes in what became of a node, and lets go what waited for it.
async fn settle(observer: &Observer<'_>, progress: &mut Progress, node: Node, outcome: Decision) {
    record(observer, progress, node, outcome);
    observer.values.decide(node);
    // What could not be expanded leaves nothing to wait for.
    for waited in progress.late.remove(&node).unwrap_or_default() {
        progress.schedule.release(waited.0);
    }
    progress.schedule.complete(node.0);
    observer.close(observer.ephemeral_uses.done(node)).await;
    observer.let_go(node);
}

/// Asks what `prevent_destroy` says of what was decided, keeps the answers, and returns what the rules forbid then.
fn forbidden(observer: &Observer<'_>, kept: &mut Facts, decisions: &Decisions) -> FxHashSet<Node> {
    let asked = decisions.asks_protection.iter().map(|it| it.0);
    let protected: Vec<(Node, Protected)> =
        asked.filter_map(|it| Some((it, observer.protected(it)?))).collect();
    if protected.is_empty() {
        return FxHashSet::default();
    }
    let answers = protected.iter().map(|it| (it.0, it.1.answer)).collect();
    let mut facts = Facts { protection: answers, ..Facts::default() };
    leave_out(&mut facts, When::Always);
    let found: Violations = observer.engine().conclude(&Ledger::of(&facts).with(decisions));
    kept.protection.append(&mut facts.protection);
    let forbidden: FxHashSet<Node> = found.violation.iter().map(|it| it.1).collect();
    for (_, it) in protected.into_iter().filter(|it| forbidden.contains(&it.0)) {
        observer.values.report(it.problems);
    }
    forbidden
}

/// Says what was answered of a node.
fn answered(progress: &Progress, node: Node, answer: &Answer, said: &mut Vec<Said>) {
    let say = |it: Answered| Said { what: What::Answered(it), other: node };
    let existing = |prior: &Prior| {
        let is_there = !prior.value.is_null();
        let outside = prior.changed_outside().map(|it| match it {
            Outside::Changed => Answered::ChangedOutside,
            Outside::Gone => Answered::GoneOutside,
        });
        let own = [
            is_there.then_some(Answered::Prior),
            (is_there && prior.besides.tainted).then_some(Answered::Tainted),
            outside,
        ];
        own.into_iter().flatten().map(say)
    };
    match answer {
        Answer::Failed => said.push(say(Answered::Failed)),
        Answer::Existing(prior) => said.extend(existing(prior)),
        Answer::Planned(planned) => {
            said.extend(existing(&planned.prior));
            if planned.differs() {
                said.push(say(Answered::Differs));
            } else if planned.marks_differ() {
                said.push(say(Answered::MarksDiffer));
            }
            if !planned.replace_paths.is_empty() || planned.write_only_replace {
                said.push(say(Answered::MustReplace));
            }
            let what = What::Answered(Answered::TriggerDiffers);
            said.extend(triggers::differing(progress, node).map(|other| Said { what, other }));
        }
        Answer::Asked(question) => {
            said.extend((!question.is_known).then(|| say(Answered::ConfigUnknown)));
            said.extend(question.recorded.as_ref().map(|_| say(Answered::RecordedResult)));
        }
        Answer::Configured { is_known } => {
            said.push(say(Answered::Configured));
            said.extend((!is_known).then(|| say(Answered::ProviderUnknown)));
        }
        Answer::Nothing | Answer::Frozen(_) => {}
    }
}

/// Returns how an outcome leaves its object.
fn ending(progress: &Progress, node: Node, outcome: &Decision) -> Ending {
    let takes_part = progress.parts[node.0 as usize] == Part::Selected;
    match outcome {
        Decision::Failed => Ending::Failed,
        Decision::Dropped(_) => Ending::Dropped,
        Decision::Found(it) => Ending::Planned(it.action, it.reason),
        Decision::Refused(it) => Ending::Refused(it.action, it.reason),
        Decision::Nothing if progress.by_node.is_blocked(node) => Ending::Blocked,
        Decision::Nothing | Decision::Value(_) if !takes_part => Ending::Left,
        Decision::Nothing => Ending::Silent,
        Decision::Value(_) | Decision::Result { .. } => Ending::Valued,
    }
}

fn record(observer: &Observer<'_>, progress: &mut Progress, node: Node, outcome: Decision) {
    if !progress.is_value(node) {
        progress.endings.push((node, ending(progress, node, &outcome)));
    }
    match outcome {
        Decision::Nothing | Decision::Value(None) => {}
        Decision::Failed => progress.by_node.fail(node),
        Decision::Value(Some(value)) => observer.values.record(node, value),
        Decision::Result { value, kept } => {
            observer.values.record(node, value);
            progress.results.insert(node, kept);
        }
        Decision::Dropped(prior) => {
            progress.dropped.push(node);
            progress.gone.extend(prior.map(|it| (node, *it)));
        }
        Decision::Refused(found) => {
            progress.by_node.fail(node);
            progress.found.insert(node, found);
        }
        Decision::Found(found) => {
            match &found.prior {
                // What is destroyed is there until then: others may be protected, or served, by what it is.
                Some(prior) if observer.request.mode == PlanMode::Destroy => {
                    observer.values.record(node, prior.value.clone());
                }
                _ if found.after.is_null() => {}
                _ => observer.values.record(node, found.after.clone()),
            }
            progress.found.insert(node, found);
        }
    }
}
