//! Steps that make or change something: evaluated anew, planned anew, compared with the plan, applied, recorded.

use std::time::Instant;

use entail_rules::Node;

use super::dependencies::{finished, inputs_are_valid};
use super::provision::{self, Provisioners, When};
use super::remove::written;
use super::response::{Asked, Failed, Holds, Received, judge};
use super::{Context, Counted, Creation, Report, StepResult, problems};
use crate::address::InstanceKey;
use crate::event::{Event, EventObject, Sink};
use crate::lower::structure::{NodeKind, ResourceId};
use crate::observe::object::{Besides, ObjectContext, Planned, Prior};
use crate::plan::{Action, Change, Reason};
use crate::provider::{AppliedObject, ApplyCall, Response};
use crate::rarely::Rarely;
use crate::schema;
use crate::state::journal::Record;
use crate::state::objects as record;
use crate::state::{Object, Status};
use crate::value::Value;

fn place(ctx: &Context<'_>, node: Node) -> Option<(ResourceId, InstanceKey)> {
    match ctx.observer.values.structure.kind(node) {
        NodeKind::Object(resource, key) => Some((*resource, key.clone())),
        _ => None,
    }
}

async fn subject<'o>(ctx: &'o Context<'_>, node: Node) -> Option<ObjectContext<'o>> {
    let (resource, key) = place(ctx, node)?;
    crate::planner::subject(ctx.observer, resource, &key).await
}

fn failure(records: Vec<Record>) -> StepResult {
    StepResult { records, failed: true, ..StepResult::default() }
}

/// What is left to do, now that everything is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Create,
    Update,
    /// Only what is sensitive has changed: the provider has no part in it.
    Marks,
    /// With what is known by now, the object is as it should be.
    Nothing,
}

impl Work {
    fn of(change: &Change, planned: &Planned) -> Work {
        match change.action {
            Action::Update if planned.differs() => Work::Update,
            Action::Update if planned.marks_differ() => Work::Marks,
            Action::Update => Work::Nothing,
            _ => Work::Create,
        }
    }

    fn counted(self) -> Counted {
        if self == Work::Create { Counted::Added } else { Counted::Changed }
    }
}

/// What came of asking a provider to create or change an object.
enum Made {
    /// An object, to be recorded.
    Object(Box<(Value, Object)>),
    /// Nothing new.
    Nothing,
    /// Nothing that is known: no answer came.
    Unconfirmed,
}

impl Made {
    fn creation(&self) -> Creation {
        if matches!(self, Made::Unconfirmed) { Creation::Unanswered } else { Creation::None }
    }
}

/// Creates, updates, or makes the new half of a replacement.
pub(super) async fn make(
    ctx: &Context<'_>,
    change: &Change,
    node: Node,
    existing: Option<Object>,
) -> StepResult {
    let Some(found) = ctx.stop.unless_asked(subject(ctx, node)).await else {
        return StepResult::halted();
    };
    let Some(subject) = found.filter(|_| inputs_are_valid(ctx, node)) else {
        return failure(Vec::new());
    };
    let mut records = room_for_successor(change, existing.as_ref());
    let previous = existing
        .filter(|_| change.action == Action::Update || change.action == Action::CreateThenDelete);
    let updated = previous.as_ref().filter(|_| change.action == Action::Update);
    // What is only planned leaves nothing behind. Once the change is asked for, its answer is waited for.
    let again = ctx.stop.unless_asked(plan_again(ctx, &subject, change, updated)).await;
    let Some(again) = again else { return StepResult::halted() };
    let Some(planned) = again else { return failure(records) };
    let work = Work::of(change, &planned);
    if work == Work::Nothing {
        let failed = !ctx.observer.postconditions(&subject, &planned.value);
        return StepResult { records, value: Some(planned.value), failed, ..StepResult::default() };
    }
    if is_forbidden(ctx, node, &planned.value) {
        return failure(records);
    }
    let started = Instant::now();
    let (shown, before) = match work {
        Work::Create => (Action::Create, &Value::NULL),
        _ => (Action::Update, &change.before),
    };
    let told = EventObject::at_start(&change.address, None, before);
    ctx.sink.event(Event::ApplyStart(told.clone(), shown));
    let report = |subject: EventObject, errored: bool| {
        Some(Report { subject, action: shown, elapsed: started.elapsed(), errored })
    };
    let (made, mut errored) = match work {
        Work::Marks => (Made::Object(with_new_marks(&subject, &planned, updated)), false),
        _ => {
            let answer = apply(&subject, &planned).await;
            taken_in(ctx, &subject, change, &planned, answer, updated)
        }
    };
    let Made::Object(made) = made else {
        records.extend(restored(change, previous));
        let created = made.creation();
        return StepResult { reported: report(told, true), created, ..failure(records) };
    };
    let (value, object) = *made;
    let mut object = finished(ctx, node, change, object);
    let provisioners = Provisioners::of(subject.block, When::Create);
    if work == Work::Create && !errored && !provisioners.is_empty() {
        // Until its provisioners are done it is half made, whatever ends this run.
        records.push(written(change, None, Object { status: Status::Tainted, ..object.clone() }));
        ctx.notes.note_early(&change.address, std::mem::take(&mut records));
        // The connection may name the object.
        ctx.observer.values.record(node, value.clone());
        let scope = ctx
            .observer
            .instance_scope(subject.module, subject.resource, &subject.key)
            .with_self(value.clone());
        errored = !provision::run(ctx, &change.address, &provisioners, &scope).await;
        object.status = if errored { Status::Tainted } else { object.status };
    }
    records.push(written(change, None, object));
    let passed = errored
        || ctx.observer.postconditions(&subject, &value) && !is_forbidden(ctx, node, &value);
    StepResult {
        records,
        failed: errored || !passed,
        counts: (!errored).then_some(work.counted()),
        reported: report(EventObject::of(&change.address, None, &value), errored),
        value: (!errored).then_some(value),
        created: Creation::of(work == Work::Create || !errored),
        ..StepResult::default()
    }
}

/// Judges what is known of an object now. Returns whether something forbids it, which is reported.
fn is_forbidden(ctx: &Context<'_>, node: Node, value: &Value) -> bool {
    let Some(watch) = ctx.watch else { return false };
    let problems = watch.learn(node, value);
    let is_forbidden = problems.has_errors();
    ctx.observer.values.report(problems);
    is_forbidden
}

/// Where the new object is made first, the old one makes room before.
fn room_for_successor(change: &Change, existing: Option<&Object>) -> Vec<Record> {
    match existing.filter(|_| change.action == Action::CreateThenDelete) {
        Some(old) => vec![
            written(change, change.details.deposes.as_ref(), old.clone()),
            Record::Removed { address: change.address.clone(), deposed: None },
        ],
        None => Vec::new(),
    }
}

/// Where no new object was made, the old one is the current one again.
fn restored(change: &Change, previous: Option<Object>) -> Vec<Record> {
    match previous.filter(|_| change.action == Action::CreateThenDelete) {
        Some(old) => vec![
            Record::Removed {
                address: change.address.clone(),
                deposed: change.details.deposes.clone(),
            },
            written(change, None, old),
        ],
        None => Vec::new(),
    }
}

/// Plans with what is known now, and checks that it is what was planned.
async fn plan_again(
    ctx: &Context<'_>,
    subject: &ObjectContext<'_>,
    change: &Change,
    updated: Option<&Object>,
) -> Option<Planned> {
    let prior = match updated {
        Some(object) => Prior {
            previous: change.before.clone(),
            value: change.before.clone(),
            besides: Rarely::of(Besides {
                private: object.besides.private.clone(),
                identity: change.details.identity.before().cloned(),
                previous_identity: change.details.identity.before().cloned(),
                ..Besides::default()
            }),
        },
        None if change.action == Action::Create => Prior::absent(subject.schema),
        None => {
            let private = change.details.private.clone();
            let besides = Rarely::of(Besides { private, ..Besides::default() });
            Prior { besides, ..Prior::absent(subject.schema) }
        }
    };
    let planned = ctx.observer.plan(subject, prior).await?;
    let (before, now) = (change.after.to_plain(), planned.value.to_plain());
    let errors = schema::check_compatible(&subject.schema.block, &before, &now);
    let mut found: Vec<_> =
        errors.iter().map(|it| problems::inconsistent_plan(subject, &it.to_string())).collect();
    if found.is_empty() && updated.is_some() && !planned.replace_paths.is_empty() {
        found.push(problems::action_changed(subject));
    }
    if found.is_empty() && !planned.config.is_wholly_known() {
        found.push(problems::unknown_arguments(subject));
    }
    let is_sound = found.is_empty();
    ctx.observer.values.report(found);
    // The plan stays until the end of the run: what is known already need not be held twice.
    let value = planned.value.sharing(&change.after);
    is_sound.then_some(Planned { value, ..planned })
}

async fn apply(subject: &ObjectContext<'_>, planned: &Planned) -> Response<Option<AppliedObject>> {
    let call = ApplyCall {
        kind: &subject.block.name.kind,
        prior: &planned.prior.value.to_plain(),
        planned: &planned.value.to_plain(),
        config: &planned.config.to_plain(),
        private: &planned.private,
        identity: planned.identity.as_ref(),
    };
    subject.provider.apply(call).await
}

fn marked(subject: &ObjectContext<'_>, planned: &Planned, value: &Value) -> Value {
    let marks = planned.config.mark_paths().lasting();
    schema::mark_object(value, &marks, &subject.schema.block)
}

/// The object as it was, with what is sensitive about it as it is now.
fn with_new_marks(
    subject: &ObjectContext<'_>,
    planned: &Planned,
    updated: Option<&Object>,
) -> Box<(Value, Object)> {
    let value = marked(subject, planned, &planned.value.to_plain());
    let mut object = updated.cloned().unwrap_or_else(|| record::new_object(&value, subject.schema));
    record::encode(&mut object, &value, subject.schema);
    Box::new((value, object))
}

/// What is to be recorded once the provider has answered, and whether anything went wrong.
fn taken_in(
    ctx: &Context<'_>,
    subject: &ObjectContext<'_>,
    change: &Change,
    planned: &Planned,
    response: Response<Option<AppliedObject>>,
    updated: Option<&Object>,
) -> (Made, bool) {
    ctx.observer.report_provider(&subject.address, Some(subject.block), &response.diagnostics);
    let asked = if updated.is_some() { Asked::Update } else { Asked::Create };
    let answer = match response.is_unanswered() {
        true => Received::Lost,
        false => Received::of(response.value.as_ref().map(|it| &it.value), &subject.schema.block),
    };
    let mut failed = if response.failed() { Failed::Told } else { Failed::No };
    let compared =
        response.value.as_ref().filter(|_| matches!(answer, Received::Object | Received::Null));
    let told = failed == Failed::Told;
    if compared.is_some_and(|it| !is_as_planned(ctx, subject, planned, it, told)) && !told {
        failed = Failed::Wrong;
    }
    let (holds, fault) = judge(asked, updated.map(|it| it.status), answer, failed);
    ctx.observer.values.report(fault.map(|it| problems::fault(change, it, holds)));
    if holds == Holds::Planned {
        ctx.observer.values.report([problems::may_exist(change)]);
        return (Made::Object(as_planned(subject, planned).into()), true);
    }
    let (Holds::Response(status), Some(applied)) = (holds, response.value) else {
        let is_lost = holds == Holds::Unconfirmed;
        return (if is_lost { Made::Unconfirmed } else { Made::Nothing }, true);
    };
    let value = marked(subject, planned, &record::known_only(&applied.value));
    let value = value.sharing(&planned.value);
    let identity = record::stored_identity(applied.identity.as_ref(), subject.schema);
    let object = record::new_object(&value, subject.schema);
    let object = Object { status, ..object }.kept_with(applied.private.into(), identity);
    (Made::Object((value, object).into()), failed != Failed::No)
}

/// The object that may have been made, with all that is known of it: what was planned.
fn as_planned(subject: &ObjectContext<'_>, planned: &Planned) -> (Value, Object) {
    let value = marked(subject, planned, &record::known_only(&planned.value.to_plain()));
    let identity = planned.identity.as_ref().filter(|it| it.is_wholly_known());
    let identity = record::stored_identity(identity, subject.schema);
    let object = record::new_object(&value, subject.schema);
    let object = Object { status: Status::Tainted, ..object }
        .kept_with(planned.private.clone().into(), identity);
    (value, object)
}

/// Returns whether the object is wholly known and what was planned; reports where it is not.
fn is_as_planned(
    ctx: &Context<'_>,
    subject: &ObjectContext<'_>,
    planned: &Planned,
    applied: &AppliedObject,
    failed: bool,
) -> bool {
    if !applied.value.is_wholly_known() {
        ctx.observer.values.report([problems::not_known(subject)]);
        return false;
    }
    if failed || applied.legacy_types {
        // The errors that came with it are the explanation.
        return true;
    }
    let expected = planned.value.to_plain();
    let errors = schema::check_compatible(&subject.schema.block, &expected, &applied.value);
    ctx.observer
        .values
        .report(errors.iter().map(|it| problems::inconsistent_result(subject, &it.to_string())));
    errors.is_empty()
}

/// Checks the conditions of an object that stays as it is: what they rest on is known by now.
pub(super) async fn check(ctx: &Context<'_>, change: &Change, node: Node) -> StepResult {
    let Some(found) = ctx.stop.unless_asked(subject(ctx, node)).await else {
        return StepResult::halted();
    };
    let Some(subject) = found.filter(|_| inputs_are_valid(ctx, node)) else {
        return failure(Vec::new());
    };
    let passed = ctx.observer.preconditions(&subject)
        && ctx.observer.postconditions(&subject, &change.after);
    StepResult { failed: !passed, ..StepResult::default() }
}

/// Reads a data source whose turn came only now.
pub(super) async fn read(ctx: &Context<'_>, change: &Change, node: Node) -> StepResult {
    let Some(found) = ctx.stop.unless_asked(subject(ctx, node)).await else {
        return StepResult::halted();
    };
    let Some(subject) = found else { return failure(Vec::new()) };
    let started = Instant::now();
    let told = EventObject { address: change.address.clone(), deposed: None, id: None };
    ctx.sink.event(Event::ApplyStart(told.clone(), Action::Read));
    let report = |subject: EventObject, errored: bool| {
        Some(Report { subject, action: Action::Read, elapsed: started.elapsed(), errored })
    };
    let softened = change.reason == Reason::ReadBecauseCheckNested;
    let Some(kept) = ctx.stop.unless_asked(read_now(ctx, change, &subject)).await else {
        return StepResult { reported: report(told, true), ..StepResult::halted() };
    };
    let Some(kept) = kept else {
        // Of a check it is only the check that failed, which says so.
        let failed = subject.block.besides.check.is_none();
        let reported = failed.then(|| report(told, true)).flatten();
        return StepResult { reported, failed, ..StepResult::default() };
    };
    let value = schema::mark_sensitive(&kept, &subject.schema.block);
    let passed = ctx.observer.postconditions(&subject, &value) && !is_forbidden(ctx, node, &value);
    StepResult {
        records: vec![written(change, None, record::new_object(&kept, subject.schema))],
        reported: report(EventObject::of(&change.address, None, &value), false),
        value: Some(value),
        failed: !passed && !softened,
        ..StepResult::default()
    }
}

async fn read_now(
    ctx: &Context<'_>,
    change: &Change,
    subject: &ObjectContext<'_>,
) -> Option<Value> {
    let question = ctx.observer.ask_data(subject)?;
    if !question.is_known {
        ctx.observer.values.report([crate::observe::problems::data_not_known(&change.address)]);
        return None;
    }
    ctx.observer.read_data(subject, &question.config).await
}
