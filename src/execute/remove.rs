//! Steps that take something away.

use std::time::Instant;

use super::{Context, Counted, Outcome};
use crate::address::ProviderInstance;
use crate::diagnostic::Diagnostic;
use crate::operation::event::{Event, Sink, Subject};
use crate::plan::{Action, Change};
use crate::provider::ApplyCall;
use crate::state::Object;
use crate::state::journal::Record;
use crate::value::{Str, Value};

/// Destroys an object. Whatever the provider does not confirm stays recorded.
pub(super) async fn destroy(ctx: &Context<'_>, change: &Change, deposed: Option<&Str>, existing: Option<Object>) -> Outcome {
    let Some(existing) = existing else { return Outcome::default() };
    let started = Instant::now();
    let subject = Subject::at_start(&change.address, deposed, &change.before);
    ctx.sink.event(Event::ApplyStart(subject.clone(), Action::Delete));
    let outcome = |failed: bool, records: Vec<Record>| Outcome {
        records,
        failed,
        counts: (!failed).then_some(Counted::Destroyed),
        reported: Some((Subject { id: None, ..subject.clone() }, Action::Delete, started.elapsed())),
        value: None,
    };
    let kind = &change.address.resource.kind;
    let instance = ProviderInstance { config: change.provider.clone(), key: change.provider_key.clone() };
    let schema = ctx.observer.pool.resource_schema(&change.provider.provider, change.address.resource.mode, kind);
    let (Some(schema), Some(provider)) = (schema, ctx.observer.provider(&instance).await) else { return outcome(true, Vec::new()) };
    let (prior, _) = change.before.unmark_deep();
    let null = Value::Null(schema.block.ty());
    let call = ApplyCall { kind, prior: &prior, planned: &null, config: &null, private: &change.private };
    let response = provider.apply(call).await;
    ctx.observer.report_provider(&change.address, None, &response.diagnostics);
    let failed = response.failed();
    let left = response.value.map(|it| (it.value, it.private));
    match left {
        Some((value, _)) if value.is_null() && !failed => {
            outcome(false, vec![Record::Removed { address: change.address.clone(), deposed: deposed.cloned() }])
        }
        Some((value, private)) if !value.is_null() => {
            let mut object = existing;
            crate::state::objects::encode(&mut object, &value, schema);
            object.private = private;
            if !failed {
                ctx.observer.values.report([not_gone(change)]);
            }
            outcome(true, vec![written(change, deposed, object)])
        }
        _ => outcome(true, Vec::new()),
    }
}

fn not_gone(change: &Change) -> Diagnostic {
    Diagnostic::error("Provider returned invalid result object after apply").about(&change.address).detail(format!(
        "After applying a destroy, the provider still returned an object for {}. This is a bug in the provider; the object is kept in the state.",
        change.address
    ))
}

/// Returns the record of an object as it is now.
pub(super) fn written(change: &Change, deposed: Option<&Str>, object: Object) -> Record {
    Record::Written {
        address: change.address.clone(),
        deposed: deposed.cloned(),
        provider: change.provider.clone(),
        provider_key: change.provider_key.clone(),
        object: Box::new(object),
    }
}

/// Takes an object out of the state and leaves it alone.
pub(super) fn forget(change: &Change) -> Outcome {
    Outcome {
        records: vec![Record::Removed { address: change.address.clone(), deposed: change.deposed.clone() }],
        counts: Some(Counted::Forgotten),
        ..Outcome::default()
    }
}
