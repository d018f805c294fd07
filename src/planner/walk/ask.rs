//! What the walk asks of an object: who serves it, what there is now, what its provider plans.

use std::sync::Arc;

use entail_rules::Node;

use super::serve::serve;
use super::{Asked, Part};
use crate::address::{Instance, InstanceKey, Mode};
use crate::diagnostic::Diagnostic;
use crate::lower::structure::ResourceId;
use crate::observe::data::Question;
use crate::observe::object::{ObjectContext, Planned, Prior, Refresh};
use crate::observe::{Observer, problems};
use crate::provider::Provider;
use crate::request::PlanMode;
use crate::schema::Schema;
use crate::state::InstanceState;
use crate::value::{Type, Value};

/// What was answered of a node, before the rules decide.
pub(super) enum Answer {
    /// Nothing to ask.
    Nothing,
    /// It takes no part; its value for those that read it.
    Frozen(Option<Value>),
    /// It could not be answered; the problem has been reported.
    Failed,
    Planned(Box<Planned>),
    Existing(Box<Prior>),
    Asked(Box<Question>),
    /// The arguments of a provider instance were evaluated.
    Configured {
        /// Whether they are wholly known before apply.
        is_known: bool,
    },
}

/// What the rules do not allow to be asked of a provider.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Premises {
    /// The object keeps its recorded state.
    pub is_unrefreshed: bool,
    /// No object is imported.
    pub is_not_imported: bool,
}

/// Returns what is needed to speak of an object: its resource, schema and configured provider.
pub async fn subject<'o>(
    observer: &'o Observer<'_>,
    resource: ResourceId,
    key: &InstanceKey,
) -> Option<ObjectContext<'o>> {
    let structure = &observer.values.structure;
    let node = structure.resource(resource);
    let mut block = structure.block(resource)?;
    if block.besides.generated
        && let Some((generated, _)) = observer.imports.generated(|| node.address.config())
    {
        block = &generated.block;
    }
    let address = node.address.instance(key.clone());
    let (schema, provider) = schema_and_provider(observer, node.instance(key)?, &address).await?;
    Some(ObjectContext {
        resource,
        module: node.module?,
        key: key.clone(),
        address,
        block,
        schema,
        provider,
    })
}

/// Asks what only values and providers know of an object: as much as the rules want to know.
pub(super) async fn ask(
    observer: &Observer<'_>,
    node: Node,
    part: Part,
    (asked, premises): (Asked, Premises),
) -> Answer {
    let structure = &observer.values.structure;
    let Some((resource, key, deposed)) = structure.kind(node).object() else {
        return Answer::Nothing;
    };
    let (key, deposed) = (key.clone(), deposed.cloned());
    if part != Part::Selected {
        return Answer::Frozen(observer.frozen(node).await);
    }
    let address = &structure.resource(resource).address;
    let _permit = observer.calls.acquire().await;
    match (asked, address.resource.mode) {
        (Asked::Nothing, mode) => {
            // Others may be protected, or served, by what it was.
            if mode == Mode::Data
                && observer.request.mode == PlanMode::Destroy
                && let Some(value) = observer.frozen(node).await
            {
                observer.values.record(node, value);
            }
            Answer::Nothing
        }
        (Asked::Existing | Asked::Recorded, _) => {
            let address = address.instance(key.clone());
            if deposed.is_none() && observer.adopts(&address).is_some() {
                return adopting(observer, resource, &key, premises).await;
            }
            let look = match asked {
                Asked::Recorded => Look::Unasked,
                _ if premises.is_unrefreshed || !observer.request.is_refreshed() => Look::Recorded,
                _ => Look::Refreshed,
            };
            existing(observer, (node, resource), (&address, deposed.as_deref()), look).await
        }
        (Asked::Whole, Mode::Managed) => declared(observer, resource, &key, premises).await,
        (Asked::Whole, Mode::Data | Mode::Ephemeral) => data(observer, resource, &key).await,
    }
}

/// What the state has of an instance.
fn recorded<'o>(
    observer: &Observer<'o>,
    resource: ResourceId,
    address: &Instance,
) -> Option<&'o InstanceState> {
    let near = observer.values.structure.resource(resource).recorded;
    observer.state.instance_near(address, near)
}

async fn declared(
    observer: &Observer<'_>,
    resource: ResourceId,
    key: &InstanceKey,
    premises: Premises,
) -> Answer {
    let Some(mut subject) = subject(observer, resource, key).await else { return Answer::Failed };
    let address = &subject.address;
    let recorded = recorded(observer, resource, address);
    let prior = match recorded.and_then(|it| it.current.as_deref()) {
        Some(stored) => {
            let refresh = match premises.is_unrefreshed || !observer.request.is_refreshed() {
                true => Refresh::Skip,
                false => Refresh::Current,
            };
            observer.prior(address, stored, subject.schema, &subject.provider, refresh).await
        }
        None => match observer.import_target(address) {
            Err(()) => None,
            Ok(Some(_)) if recorded.is_none() && premises.is_not_imported => {
                refuse_import(observer, &subject)
            }
            Ok(Some(target)) if recorded.is_none() => observer.import(&subject, &target).await,
            Ok(_) => Some(Prior::absent(subject.schema)),
        },
    };
    let Some(prior) = prior else { return Answer::Failed };
    if subject.block.besides.generated && prior.besides.imported.is_some() {
        match observer.generate(&subject, &prior) {
            Some(generated) => subject.block = &generated.block,
            None => return Answer::Failed,
        }
    }
    match observer.plan(&subject, prior).await {
        Some(planned) => Answer::Planned(Box::new(planned)),
        None => Answer::Failed,
    }
}

/// What `import` finds at once, for an instance that must not have an object yet.
async fn adopting(
    observer: &Observer<'_>,
    resource: ResourceId,
    key: &InstanceKey,
    premises: Premises,
) -> Answer {
    let Some(subject) = subject(observer, resource, key).await else { return Answer::Failed };
    if premises.is_not_imported {
        return refuse_import(observer, &subject)
            .map_or(Answer::Failed, |it| Answer::Existing(Box::new(it)));
    }
    match observer.adopt(&subject).await {
        Some(prior) => Answer::Existing(Box::new(prior)),
        None => Answer::Failed,
    }
}

/// Says that an object cannot be imported through a provider whose configuration is not known.
fn refuse_import(observer: &Observer<'_>, subject: &ObjectContext<'_>) -> Option<Prior> {
    let structure = &observer.values.structure;
    let node = structure.resource(subject.resource).instance(&subject.key);
    let instance = node.and_then(|it| serve(observer, it));
    observer.values.report(instance.map(|it| problems::import_not_known(&subject.address, &it)));
    None
}

/// How an object that exists is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// Its provider says what became of it.
    Refreshed,
    /// As the state has it; its provider plans its removal.
    Recorded,
    /// As the state has it; its provider need not be configured.
    Unasked,
}

async fn existing(
    observer: &Observer<'_>,
    (node, resource): (Node, ResourceId),
    (address, deposed): (&Instance, Option<&str>),
    look: Look,
) -> Answer {
    let instance = recorded(observer, resource, address);
    let stored = instance.and_then(|it| match deposed {
        Some(key) => it.deposed.get(key),
        None => it.current.as_ref(),
    });
    let records = observer.request.mode == PlanMode::RefreshOnly && deposed.is_none();
    let Some(stored) = stored else {
        if records {
            conditions(observer, resource, &address.key, &Value::NULL).await;
        }
        return Answer::Nothing;
    };
    let found = match look {
        Look::Unasked => schema_alone(observer, resource, address),
        Look::Recorded | Look::Refreshed => schema_and_provider(observer, node, address).await,
    };
    let Some((schema, provider)) = found else { return Answer::Failed };
    let refresh = match deposed {
        _ if look != Look::Refreshed => Refresh::Skip,
        None => Refresh::Current,
        Some(key) => Refresh::Deposed(key),
    };
    let Some(prior) = observer.prior(address, stored, schema, &provider, refresh).await else {
        return Answer::Failed;
    };
    if records {
        conditions(observer, resource, &address.key, &prior.value).await;
    }
    Answer::Existing(Box::new(prior))
}

/// Checks the conditions of an object that is only refreshed: what fails is a warning. Of one that is not there, nothing is
/// known: what its postconditions come to is not known either.
async fn conditions(
    observer: &Observer<'_>,
    resource: ResourceId,
    key: &InstanceKey,
    found: &Value,
) {
    let structure = &observer.values.structure;
    let is_declared = structure.resource(resource).instances.contains_key(key);
    let has_any = structure.block(resource).is_some_and(|it| it.besides.lifecycle.has_conditions());
    if !is_declared || !has_any {
        return;
    }
    if let Some(subject) = subject(observer, resource, key).await {
        observer.preconditions(&subject);
        let absent = Value::unknown(Type::DYNAMIC);
        observer.postconditions(&subject, if found.is_null() { &absent } else { found });
    }
}

/// The schema and provider of an object that may have no block any more.
pub(super) async fn schema_and_provider<'o>(
    observer: &'o Observer<'_>,
    node: Node,
    address: &Instance,
) -> Option<(&'o Arc<Schema>, Arc<dyn Provider>)> {
    let instance = serve(observer, node)?;
    let kind = &instance.config.provider;
    let resource = &address.resource;
    let Some(schema) = observer.pool.resource_schema(kind, resource.mode, &resource.kind) else {
        observer.values.report([unknown_type(address, &kind.to_string())]);
        return None;
    };
    let provider = observer.provider_for(&instance, address).await?;
    Some((schema, provider))
}

/// The schema of a recorded object, and a process of its provider that is not configured.
fn schema_alone<'o>(
    observer: &'o Observer<'_>,
    resource: ResourceId,
    address: &Instance,
) -> Option<(&'o Arc<Schema>, Arc<dyn Provider>)> {
    let near = observer.values.structure.resource(resource).recorded;
    let kind = &observer.state.resources.of_near(address, near)?.provider.provider;
    let name = &address.resource;
    let Some(schema) = observer.pool.resource_schema(kind, name.mode, &name.kind) else {
        observer.values.report([unknown_type(address, &kind.to_string())]);
        return None;
    };
    Some((schema, observer.pool.unconfigured(kind)?))
}

fn unknown_type(address: &Instance, provider: &str) -> Diagnostic {
    Diagnostic::error("Invalid resource type").about(address).detail(format!(
        "The provider {provider} does not support resource type \"{}\", which {address} is of.",
        address.resource.kind
    ))
}

async fn data(observer: &Observer<'_>, resource: ResourceId, key: &InstanceKey) -> Answer {
    let Some(subject) = subject(observer, resource, key).await else { return Answer::Failed };
    match observer.ask_data(&subject) {
        Some(question) => Answer::Asked(Box::new(question)),
        None => Answer::Failed,
    }
}
