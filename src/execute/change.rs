//! Steps that make or change something: evaluated anew, planned anew, compared with the plan, applied, recorded.

use std::time::Instant;

use entail_rules::Node;

use super::remove::written;
use super::{Context, Counted, Outcome};
use crate::state::objects as record;
use crate::address::InstanceKey;
use crate::diagnostic::Diagnostic;
use crate::lower::existing::MOST_DEPENDENCIES;
use crate::lower::structure::{NodeKind, ResourceId};
use crate::observe::object::{Planned, Prior, Subject};
use crate::operation::event::{Event, Sink, Subject as EventSubject};
use crate::plan::{Action, Change, Reason};
use crate::provider::{ApplyCall, AppliedObject, Response};
use crate::schema;
use crate::state::journal::Record;
use crate::state::{Object, Status};
use crate::value::{Str, Value};

fn place(ctx: &Context<'_>, node: Node) -> Option<(ResourceId, InstanceKey)> {
    match ctx.observer.values.structure.kind(node) {
        NodeKind::Object(resource, key) => Some((*resource, key.clone())),
        _ => None,
    }
}

/// Creates, updates, or makes the new half of a replacement.
pub(super) async fn make(ctx: &Context<'_>, change: &Change, node: Node, existing: Option<Object>) -> Outcome {
    let failed = || Outcome { failed: true, ..Outcome::default() };
    let Some((resource, key)) = place(ctx, node) else { return failed() };
    let Some(subject) = crate::planner::subject(ctx.observer, resource, &key).await else { return failed() };
    if !inputs_are_valid(ctx, node) {
        return failed();
    }
    let mut records = Vec::new();
    if change.action == Action::CreateThenDelete && let Some(old) = &existing {
        // The old object makes room before its successor is made.
        records.push(written(change, change.deposes.as_ref(), old.clone()));
        records.push(Record::Removed { address: change.address.clone(), deposed: None });
    }
    let creates = change.action != Action::Update;
    let Some(planned) = plan_again(ctx, &subject, change, existing.as_ref().filter(|_| !creates)).await else {
        return Outcome { records, ..failed() };
    };
    let started = Instant::now();
    let shown = if creates { Action::Create } else { Action::Update };
    let told = EventSubject::at_start(&change.address, None, if creates { &Value::NULL } else { &change.before });
    ctx.sink.event(Event::ApplyStart(told.clone(), shown));
    let only_marks = !creates && !planned.differs();
    let applied = if only_marks { None } else { Some(apply(&subject, &planned).await) };
    let (object, problems) = result(ctx, &subject, change, &planned, applied, existing.as_ref());
    let has_failed = problems;
    if let Some((value, object)) = object {
        let subject_after = EventSubject::of(&change.address, None, &value);
        let object = finished(ctx, node, change, object);
        let tainted = object.status == Status::Tainted;
        records.push(written(change, None, object));
        let passed = has_failed || tainted || ctx.observer.postconditions(&subject, &value);
        return Outcome {
            records,
            value: (!has_failed).then_some(value),
            failed: has_failed || !passed,
            counts: (!has_failed).then_some(if creates { Counted::Added } else { Counted::Changed }),
            reported: Some((subject_after, shown, started.elapsed())),
        };
    }
    if change.action == Action::CreateThenDelete {
        // Nothing was made: the old object is the current one again.
        if let Some(old) = existing {
            records.push(Record::Removed { address: change.address.clone(), deposed: change.deposes.clone() });
            records.push(written(change, None, old));
        }
    }
    Outcome { records, failed: true, reported: Some((told, shown, started.elapsed())), ..Outcome::default() }
}

/// Plans with what is known now, and checks that it is what was planned.
async fn plan_again(ctx: &Context<'_>, subject: &Subject<'_>, change: &Change, existing: Option<&Object>) -> Option<Planned> {
    let prior = match existing {
        Some(object) => Prior { previous: change.before.clone(), value: change.before.clone(), private: object.private.clone(), tainted: false, imported: None },
        None => Prior { private: change.private.clone(), ..Prior::absent(subject.schema) },
    };
    let creates = existing.is_none();
    let prior = if creates && change.action == Action::Create { Prior { private: Vec::new(), ..prior } } else { prior };
    let planned = ctx.observer.plan(subject, prior).await?;
    let (before, _) = change.after.unmark_deep();
    let (now, _) = planned.value.unmark_deep();
    let errors = schema::check_compatible(&subject.schema.block, &before, &now);
    if !errors.is_empty() {
        ctx.observer.values.report(errors.iter().map(|it| inconsistent_plan(subject, &it.to_string())));
        return None;
    }
    Some(planned)
}

fn inconsistent_plan(subject: &Subject<'_>, what: &str) -> Diagnostic {
    Diagnostic::error("Provider produced inconsistent final plan").about(&subject.address).at(subject.block.declared).detail(format!(
        "When expanding the plan for {} to include new values learned so far during apply, the provider produced an invalid new value{what}.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
        subject.address
    ))
}

async fn apply(subject: &Subject<'_>, planned: &Planned) -> Response<Option<AppliedObject>> {
    let (prior, _) = planned.prior.value.unmark_deep();
    let (value, _) = planned.value.unmark_deep();
    let (config, _) = planned.config.unmark_deep();
    let call = ApplyCall { kind: &subject.block.name.kind, prior: &prior, planned: &value, config: &config, private: &planned.private };
    subject.provider.apply(call).await
}

/// What exists once the provider has answered, and whether anything went wrong.
fn result(
    ctx: &Context<'_>,
    subject: &Subject<'_>,
    change: &Change,
    planned: &Planned,
    applied: Option<Response<Option<AppliedObject>>>,
    existing: Option<&Object>,
) -> (Option<(Value, Object)>, bool) {
    let creates = change.action != Action::Update;
    let config_marks = planned.config.unmark_paths().1;
    let marked = |value: &Value| schema::mark_sensitive(&crate::value::path::mark_paths(value, &config_marks), &subject.schema.block);
    let Some(response) = applied else {
        let value = marked(&planned.value.unmark_deep().0);
        let mut object = existing.cloned().unwrap_or_else(|| record::new_object(&value, subject.schema));
        record::encode(&mut object, &value, subject.schema);
        return (Some((value, object)), false);
    };
    ctx.observer.report_provider(&subject.address, Some(subject.block), &response.diagnostics);
    let mut failed = response.failed();
    let Some(applied) = response.value.filter(|it| !it.value.is_null()) else {
        if !failed {
            ctx.observer.values.report([nothing_made(subject)]);
        }
        // The provider lost sight of it; the next read will find out.
        return (None, true);
    };
    if !applied.value.is_wholly_known() {
        failed = true;
        ctx.observer.values.report([not_known(subject)]);
    }
    let value = record::known_only(&applied.value);
    if !failed && !applied.legacy_types {
        let (expected, _) = planned.value.unmark_deep();
        let errors = schema::check_compatible(&subject.schema.block, &expected, &value);
        failed = !errors.is_empty();
        ctx.observer.values.report(errors.iter().map(|it| inconsistent_result(subject, &it.to_string())));
    }
    let value = marked(&value);
    let mut object = record::new_object(&value, subject.schema);
    object.private = applied.private;
    object.status = match (failed, creates) {
        (false, _) => Status::Ready,
        // Half made: the next plan replaces it.
        (true, true) => Status::Tainted,
        // A failed update may have changed nothing, so what was whole stays whole.
        (true, false) => existing.map_or(Status::Ready, |it| it.status),
    };
    (Some((value, object)), failed)
}

fn nothing_made(subject: &Subject<'_>) -> Diagnostic {
    Diagnostic::error("Provider produced invalid object").about(&subject.address).at(subject.block.declared).detail(format!(
        "The provider returned no object after applying {}, and no error either. This is a bug in the provider.",
        subject.address
    ))
}

fn not_known(subject: &Subject<'_>) -> Diagnostic {
    Diagnostic::error("Provider returned invalid result object after apply").about(&subject.address).at(subject.block.declared).detail(format!(
        "After the apply operation, the provider still indicated an unknown value for {}. All values must be known after apply, so this is always a bug in the provider; unknown values are saved as null.",
        subject.address
    ))
}

fn inconsistent_result(subject: &Subject<'_>, what: &str) -> Diagnostic {
    Diagnostic::error("Provider produced inconsistent result after apply").about(&subject.address).at(subject.block.declared).detail(format!(
        "When applying changes to {}, the provider produced an unexpected new value: {what}.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
        subject.address
    ))
}

/// Adds to an object what the core records of it.
fn finished(ctx: &Context<'_>, node: Node, change: &Change, mut object: Object) -> Object {
    let config = change.address.config();
    object.dependencies = ctx.graph.dependencies(&config, MOST_DEPENDENCIES);
    object.reads = rests_on(ctx, node);
    let block = ctx.config.resource(&config);
    object.skip_destroy = block.is_some_and(|it| it.lifecycle.destroy.is_some_and(|it| !it.0));
    object.create_before_destroy = change.action == Action::CreateThenDelete || ctx.is_create_before_destroy(node);
    object
}

/// Checks the validations of every module variable that an object is made from.
fn inputs_are_valid(ctx: &Context<'_>, node: Node) -> bool {
    let validates = |it: &std::sync::Arc<crate::config::Module>| it.variables.values().any(|it| !it.validations.is_empty());
    if !ctx.config.modules.values().any(validates) {
        return true;
    }
    let mut seen = rustc_hash::FxHashSet::from_iter([node]);
    let mut open: Vec<Node> = ctx.reads_of(node).collect();
    let mut passed = true;
    while let Some(next) = open.pop() {
        if !seen.insert(next) {
            continue;
        }
        match ctx.observer.values.structure.kind(next) {
            NodeKind::Object(..) | NodeKind::Collection(_) | NodeKind::Pending(_) => {}
            NodeKind::Variable(..) => {
                passed &= ctx.observer.is_valid(next);
                open.extend(ctx.reads_of(next));
            }
            _ => open.extend(ctx.reads_of(next)),
        }
    }
    passed
}

/// The instances that an object was made from, through values; a whole resource by its address without key.
/// `None` where they are too many to record.
fn rests_on(ctx: &Context<'_>, node: Node) -> Option<Vec<Str>> {
    let structure = &ctx.observer.values.structure;
    let mut seen = rustc_hash::FxHashSet::from_iter([node]);
    let mut open: Vec<Node> = ctx.reads_of(node).collect();
    let mut found: Vec<Str> = Vec::new();
    while let Some(next) = open.pop() {
        if !seen.insert(next) {
            continue;
        }
        match structure.kind(next) {
            NodeKind::Object(resource, key) => found.push(structure.resource(*resource).address.instance(key.clone()).to_string().into()),
            NodeKind::Collection(resource) | NodeKind::Pending(resource) => found.push(structure.resource(*resource).address.to_string().into()),
            _ => open.extend(ctx.reads_of(next)),
        }
        if found.len() > MOST_DEPENDENCIES {
            return None;
        }
    }
    found.sort();
    found.dedup();
    Some(found)
}

/// Reads a data source whose turn came only now.
pub(super) async fn read(ctx: &Context<'_>, change: &Change, node: Node) -> Outcome {
    let failed = || Outcome { failed: true, ..Outcome::default() };
    let Some((resource, key)) = place(ctx, node) else { return failed() };
    let Some(subject) = crate::planner::subject(ctx.observer, resource, &key).await else { return failed() };
    let started = Instant::now();
    let told = EventSubject { address: change.address.clone(), deposed: None, id: None };
    ctx.sink.event(Event::ApplyStart(told, Action::Read));
    let Some(question) = ctx.observer.ask_data(&subject) else { return failed() };
    if !question.is_known {
        ctx.observer.values.report([crate::observe::problems::data_not_known(&change.address)]);
        return failed();
    }
    let Some(value) = ctx.observer.read_data(&subject, &question.config).await else { return failed() };
    let passed = ctx.observer.postconditions(&subject, &value);
    let object = record::new_result(&value, subject.schema);
    let reported = Some((EventSubject::of(&change.address, None, &value), Action::Read, started.elapsed()));
    let softened = change.reason == Some(Reason::ReadBecauseCheckNested);
    Outcome { records: vec![written(change, None, object)], value: Some(value), failed: !passed && !softened, counts: None, reported }
}

impl Context<'_> {
    /// What a node reads.
    fn reads_of(&self, node: Node) -> impl Iterator<Item = Node> {
        let start = self.facts.reads.partition_point(|it| it.0 < node);
        self.facts.reads[start..].iter().take_while(move |it| it.0 == node).map(|it| it.1)
    }

    fn is_create_before_destroy(&self, node: Node) -> bool {
        self.facts.cbd.binary_search(&(node,)).is_ok()
    }
}
