//! Steps that take something away.

use std::sync::Arc;
use std::time::Instant;

use entail_rules::Node;

use super::response::{Asked, Failed, Holds, Received, judge};
use super::{Context, Counted, Report, StepResult, problems, provision};
use crate::address::Mode;
use crate::event::{Event, EventObject, Sink};
use crate::plan::{Action, Change};
use crate::provider::{ApplyCall, Provider};
use crate::state::journal::Record;
use crate::state::{Object, Status, objects};
use crate::value::{Str, Value};

/// Destroys an object. Whatever the provider does not confirm stays recorded.
pub(super) async fn destroy(
    ctx: &Context<'_>,
    change: &Change,
    deposed: Option<&Str>,
    existing: Option<Object>,
) -> StepResult {
    let Some(existing) = existing else { return StepResult::default() };
    let started = Instant::now();
    let subject = EventObject::at_start(&change.address, deposed, &change.before);
    ctx.sink.event(Event::ApplyStart(subject.clone(), Action::Delete));
    let is_deposed = deposed.is_some();
    let has_part = deposed.is_none() && existing.status != Status::Tainted;
    let may_go = !has_part || provision::before_destroy(ctx, change).await;
    let provider =
        async { ctx.observer.provider_to_destroy(&change.served_by, &change.address).await };
    let provider = ctx.stop.unless_asked(provider).await;
    let halted = may_go && provider.is_none();
    let (records, failed) = match provider.flatten().filter(|_| may_go) {
        Some(provider) => removed(ctx, change, deposed, (existing, provider)).await,
        None => (Vec::new(), true),
    };
    StepResult {
        records,
        failed,
        halted,
        counts: (!failed).then_some(Counted::Destroyed),
        // That a deposed object is still there is told by the problem alone.
        reported: (!failed || !is_deposed).then(|| Report {
            subject: EventObject { id: None, ..subject },
            action: Action::Delete,
            elapsed: started.elapsed(),
            errored: failed,
        }),
        ..StepResult::default()
    }
}

/// What is to be recorded once the provider was asked to destroy an object, and whether anything went wrong.
async fn removed(
    ctx: &Context<'_>,
    change: &Change,
    deposed: Option<&Str>,
    (existing, provider): (Object, Arc<dyn Provider>),
) -> (Vec<Record>, bool) {
    let kind = &change.address.resource.kind;
    let schema = ctx.observer.pool.resource_schema(
        &change.served_by.config.provider,
        change.address.resource.mode,
        kind,
    );
    let Some(schema) = schema else { return (Vec::new(), true) };
    let prior = change.before.to_plain();
    let null = Value::Null(schema.block.ty());
    let call = ApplyCall {
        kind,
        prior: &prior,
        planned: &null,
        config: &null,
        private: &change.details.private,
        identity: change.details.identity.after(),
    };
    let response = provider.apply(call).await;
    ctx.observer.report_provider(&change.address, None, &response.diagnostics);
    let answer = response.value.as_ref().map(|it| &it.value);
    let answer = match response.is_unanswered() {
        true => Received::Lost,
        false => Received::of(answer, &schema.block),
    };
    let failed = if response.failed() { Failed::Told } else { Failed::No };
    let (holds, fault) = judge(Asked::Delete, Some(existing.status), answer, failed);
    ctx.observer.values.report(fault.map(|it| problems::fault(change, it, holds)));
    match (holds, response.value) {
        (Holds::Nothing, _) => (
            vec![Record::Removed { address: change.address.clone(), deposed: deposed.cloned() }],
            false,
        ),
        (Holds::Response(status), Some(left)) => {
            let identity = objects::stored_identity(left.identity.as_ref(), schema);
            let create_before_destroy = false;
            let mut object = Object { status, create_before_destroy, ..existing }
                .kept_with(left.private.into(), identity);
            objects::encode(&mut object, &left.value, schema);
            (vec![written(change, deposed, object)], true)
        }
        _ => (Vec::new(), true),
    }
}

/// Returns the record of an object as it is now.
pub(super) fn written(change: &Change, deposed: Option<&Str>, object: Object) -> Record {
    Record::Written {
        address: change.address.clone(),
        deposed: deposed.cloned(),
        provider: change.served_by.config.clone(),
        provider_key: change.served_by.key.clone(),
        object: Box::new(object),
    }
}

/// Takes what a data source gave out of the state. Nobody is asked, and nothing is told: there is no change of it.
pub(super) fn result(ctx: &Context<'_>, node: Node) -> StepResult {
    let address =
        ctx.observer.values.structure.instance(node).filter(|it| it.resource.mode == Mode::Data);
    let records = address.map(|address| Record::Removed { address, deposed: None });
    StepResult { records: records.into_iter().collect(), ..StepResult::default() }
}

/// Takes an object out of the state and leaves it alone.
pub(super) fn forget(change: &Change) -> StepResult {
    StepResult {
        records: vec![Record::Removed {
            address: change.address.clone(),
            deposed: change.deposed.clone(),
        }],
        counts: Some(Counted::Forgotten),
        ..StepResult::default()
    }
}
