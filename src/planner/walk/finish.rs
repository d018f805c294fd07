//! What a decision asks for before a node is settled: a second planning call, a read, a removal.

use entail_rules::{Action, Node, Reason};

use super::super::alike::Decided;
use super::super::progress::{DecisionDetails, ObjectDecision};
use super::ask::{Answer, schema_and_provider, subject};
use crate::address::Mode;
use crate::lower::structure::NodeKind;
use crate::observe::Observer;
use crate::observe::data::Question;
use crate::observe::ephemeral;
use crate::observe::object::{Besides, ObjectContext, Planned, Prior};
use crate::observe::pool::Era;
use crate::planner::problems;
use crate::rarely::Rarely;
use crate::request::PlanMode;
use crate::schema;
use crate::value::{MarkPaths, Value};

/// What becomes of a node.
pub(super) enum Decision {
    Nothing,
    Failed,
    Value(Option<Value>),
    /// What a data source has given: as others read it, and as it is kept, where the schema's marks are not written down.
    Result {
        value: Value,
        kept: Value,
    },
    Found(Box<ObjectDecision>),
    /// Decided, and forbidden: it is shown, and nothing rests on it.
    Refused(Box<ObjectDecision>),
    /// It is out of the state without a change; what it was.
    Dropped(Option<Box<Prior>>),
}

/// An answer after which somebody is asked once more.
pub(super) enum Unsettled {
    Planned(Box<Planned>, (Action, Reason)),
    Existing(Box<Prior>, (Action, Reason)),
    Asked(Box<Question>),
}

/// Returns what becomes of a node where nobody need be asked for it any more: so it is with most.
pub(super) fn at_once(
    observer: &Observer<'_>,
    node: Node,
    answer: Answer,
    decided: Decided,
) -> Result<Decision, Unsettled> {
    Ok(match (answer, decided.action) {
        (Answer::Frozen(value), _) => Decision::Value(value),
        (Answer::Failed, _) => unusable(observer, node),
        (Answer::Nothing, Some((Action::Drop, _))) => Decision::Dropped(None),
        (Answer::Nothing | Answer::Configured { .. }, _) => Decision::Nothing,
        (Answer::Planned(_) | Answer::Existing(_), None) => Decision::Nothing,
        (Answer::Planned(planned), Some(action)) => {
            if decided.again || is_checked(observer, node) {
                return Err(Unsettled::Planned(planned, action));
            }
            change(*planned, action, None, |_| decided.forbidden)
        }
        (Answer::Existing(prior), Some(action)) => return Err(Unsettled::Existing(prior, action)),
        (Answer::Asked(question), _) => return Err(Unsettled::Asked(question)),
    })
}

/// Returns whether a node is an object whose block has postconditions.
fn is_checked(observer: &Observer<'_>, node: Node) -> bool {
    let structure = &observer.values.structure;
    let NodeKind::Object(resource, _) = structure.kind(node) else { return false };
    structure.block(*resource).is_some_and(|it| !it.besides.lifecycle.postconditions.is_empty())
}

/// Does what a decision asks for before the node is settled: a second planning call, a read, a removal.
pub(super) async fn finish(
    observer: &Observer<'_>,
    node: Node,
    unsettled: Unsettled,
    decided: Decided,
) -> Decision {
    let Decided { action, now: reads_now, again, forbidden, .. } = decided;
    match unsettled {
        Unsettled::Planned(planned, action) => {
            changed(observer, node, *planned, action, (again, forbidden)).await
        }
        Unsettled::Existing(prior, action) => {
            removed(observer, node, *prior, action, forbidden).await
        }
        Unsettled::Asked(question) => read(observer, node, *question, action, reads_now).await,
    }
}

async fn changed(
    observer: &Observer<'_>,
    node: Node,
    mut planned: Planned,
    action: (Action, Reason),
    (again, forbidden): (bool, bool),
) -> Decision {
    let NodeKind::Object(resource, key) = observer.values.structure.kind(node) else {
        return Decision::Nothing;
    };
    let mut recorded_marks = None;
    let Some(subject) = subject(observer, *resource, key).await else { return Decision::Failed };
    if again {
        recorded_marks = Some(planned.config.mark_paths().lasting());
        match observer.replan(&subject, &planned).await {
            Some(second) => planned = second,
            None => return Decision::Failed,
        }
    }
    // What is planned is shown even if it is not as it should be.
    let refused = |after: &Value| forbidden || !observer.postconditions(&subject, after);
    change(planned, action, recorded_marks, refused)
}

/// What is done with an object that was planned.
///
/// - `refused`: whether what it becomes must not be.
fn change(
    planned: Planned,
    (action, reason): (Action, Reason),
    recorded_marks: Option<MarkPaths>,
    refused: impl FnOnce(&Value) -> bool,
) -> Decision {
    let replaces = matches!(
        action,
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate
    );
    let stays = action == Action::NoOp || reason == Reason::KeptForAnother;
    let after = if stays { planned.prior.value.clone() } else { planned.value };
    let refused = refused(&after);
    let replace_paths = if replaces { planned.replace_paths } else { Vec::new() };
    found(
        ObjectDecision {
            action,
            reason,
            prior: (!planned.prior.is_absent()).then_some(planned.prior),
            after,
            details: Rarely::of(DecisionDetails {
                private: planned.private.into(),
                identity: planned.identity,
                replace_paths: replace_paths.into(),
                recorded_marks: recorded_marks.map(Box::new),
            }),
        },
        refused,
    )
}

/// What cannot be planned is not shown – save an object for which a block was written: the block is to be had all the same.
fn unusable(observer: &Observer<'_>, node: Node) -> Decision {
    let address = observer.values.structure.instance(node);
    let Some((_, object)) = address.and_then(|it| observer.imports.generated(|| it.config()))
    else {
        return Decision::Failed;
    };
    let Prior { previous, value, besides } = object.clone();
    let besides = Rarely::of(Besides { imported: None, ..besides.into_inner() });
    let prior = Prior { previous, value, besides };
    let after = prior.value.clone();
    found(ObjectDecision::unplanned(Action::NoOp, Reason::Plain, Some(prior), after), true)
}

fn found(found: ObjectDecision, refused: bool) -> Decision {
    if refused { Decision::Refused(Box::new(found)) } else { Decision::Found(Box::new(found)) }
}

async fn removed(
    observer: &Observer<'_>,
    node: Node,
    prior: Prior,
    (action, reason): (Action, Reason),
    forbidden: bool,
) -> Decision {
    let Some(address) = observer.values.structure.instance(node) else { return Decision::Nothing };
    let null = Value::Null(prior.value.ty());
    let (mut private, mut identity) = (prior.besides.private.clone(), None);
    match action {
        Action::Drop => return Decision::Dropped(Some(Box::new(prior))),
        Action::Delete => {
            let Some((schema, provider)) = schema_and_provider(observer, node, &address).await
            else {
                return Decision::Failed;
            };
            match observer.plan_removal(&address, schema, &provider, &prior).await {
                Some(planned) => (private, identity) = (planned.0.into(), planned.1),
                None => return Decision::Failed,
            }
        }
        Action::Forget if observer.request.mode == PlanMode::Normal => {
            observer.values.report([problems::forgotten(&address)]);
        }
        _ => {}
    }
    let after = if action == Action::NoOp { prior.value.clone() } else { null };
    let unplanned = ObjectDecision::unplanned(action, reason, Some(prior), after);
    let details = Rarely::of(DecisionDetails { private, identity, ..DecisionDetails::default() });
    found(ObjectDecision { details, ..unplanned }, forbidden)
}

async fn read(
    observer: &Observer<'_>,
    node: Node,
    question: Question,
    action: Option<(Action, Reason)>,
    reads_now: bool,
) -> Decision {
    let NodeKind::Object(resource, key) = observer.values.structure.kind(node) else {
        return Decision::Nothing;
    };
    let Some(subject) = subject(observer, *resource, key).await else { return Decision::Failed };
    if subject.address.resource.mode == Mode::Ephemeral {
        return opened(observer, node, &subject, &question, reads_now).await;
    }
    let marked = |kept: &Value| schema::mark_sensitive(kept, &subject.schema.block);
    let mut kept = None;
    if reads_now {
        observer.events.read_started(&subject.address);
        let since = std::time::Instant::now();
        kept = observer.read_data(&subject, &question.config).await;
        match &kept {
            Some(read) => {
                let read = marked(read);
                observer.events.read_finished(&subject.address, &read, since);
                if !observer.postconditions(&subject, &read) {
                    return Decision::Failed;
                }
            }
            // In a check it has only failed the check, and is read again when the plan is carried out.
            None if subject.block.besides.check.is_some() => {}
            None => return Decision::Failed,
        }
    }
    match (action, kept) {
        (Some((Action::Read, reason)), kept) => {
            let was_read = kept.is_some();
            let after = kept.map_or_else(|| unread(&subject, &question), |it| marked(&it));
            // What is known of it already may be enough to fail.
            let refused = !was_read && !observer.postconditions(&subject, &after);
            let recorded_marks = Some(question.config.mark_paths().into());
            let read = ObjectDecision::unplanned(Action::Read, reason, None, after);
            let details =
                Rarely::of(DecisionDetails { recorded_marks, ..DecisionDetails::default() });
            found(ObjectDecision { details, ..read }, refused)
        }
        (Some((Action::Drop, _)), _) => {
            observer.values.record(node, unread(&subject, &question));
            Decision::Dropped(None)
        }
        (_, kept) => match kept.or_else(|| question.recorded.clone()) {
            Some(kept) => Decision::Result { value: marked(&kept), kept },
            None => Decision::Value(Some(unread(&subject, &question))),
        },
    }
}

/// Opens an ephemeral resource, or leaves that to the apply.
async fn opened(
    observer: &Observer<'_>,
    node: Node,
    subject: &ObjectContext<'_>,
    question: &Question,
    now: bool,
) -> Decision {
    if !now {
        let why = match question.is_known {
            true => "pending dependencies",
            false => "unknown configuration",
        };
        observer.events.deferred(&subject.address, why);
        let value = ephemeral::unopened(subject, &question.config);
        return Decision::Value(Some(value));
    }
    let Some(value) = observer.open((node, Era::Current), subject, &question.config).await else {
        return Decision::Failed;
    };
    let passed = observer.postconditions(subject, &value);
    if observer.ephemeral_uses.is_idle(node) {
        observer.close(vec![node]).await;
    }
    if passed { Decision::Value(Some(value)) } else { Decision::Failed }
}

/// What is known of a data source that is read later.
fn unread(subject: &ObjectContext<'_>, question: &Question) -> Value {
    let schema = &subject.schema.block;
    schema::mark_sensitive(&schema::planned_unknown(schema, &question.config), schema)
}
