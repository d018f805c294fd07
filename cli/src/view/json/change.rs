//! Messages of changes: planned, noticed as drift, imported, moved.

use entail::address::{Instance, InstanceKey};
use entail::event::ChangeNote;
use entail::plan::{Action, Reason};
use entail::provider::{ImportName, identity_json};
use entail::value::json::{Escape, quote};
use serde::Serialize;
use serde_json::value::RawValue;

use super::raw;

/// A resource instance, taken apart.
#[derive(Serialize)]
pub(super) struct Resource {
    addr: String,
    module: String,
    resource: String,
    implied_provider: String,
    resource_type: String,
    resource_name: String,
    resource_key: Box<RawValue>,
}

impl From<&Instance> for Resource {
    fn from(address: &Instance) -> Resource {
        let name = &address.resource;
        Resource {
            addr: address.to_string(),
            module: address.module.to_string(),
            resource: format!("{name}{}", address.key),
            implied_provider: name.kind.split('_').next().unwrap_or_default().to_owned(),
            resource_type: name.kind.to_string(),
            resource_name: name.name.to_string(),
            resource_key: raw(match &address.key {
                InstanceKey::None => "null".to_owned(),
                InstanceKey::Int(index) => index.to_string(),
                InstanceKey::Str(key) => quote(key, Escape::Html),
            }),
        }
    }
}

/// A change that is planned or was noticed.
#[derive(Serialize)]
pub(super) struct ChangeMessage<'a> {
    resource: Resource,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_resource: Option<Resource>,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    importing: Option<Importing<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generated_config: Option<&'a str>,
}

#[derive(Serialize)]
struct Importing<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<Box<RawValue>>,
}

impl<'a> Importing<'a> {
    fn of(name: &'a ImportName) -> Importing<'a> {
        let identity = name.identity().map(identity_json);
        Importing {
            id: name.id(),
            identity: identity.and_then(|it| RawValue::from_string(it).ok()),
        }
    }
}

pub(super) fn change(note: &ChangeNote) -> ChangeMessage<'_> {
    ChangeMessage {
        resource: (&note.address).into(),
        previous_resource: note.previous_address.as_ref().map(Resource::from),
        action: change_action(note),
        reason: reason_name(note.reason),
        importing: note.importing.as_ref().map(Importing::of),
        generated_config: note.generated_config.as_deref().filter(|it| !it.is_empty()),
    }
}

/// A move or an import counts as an action where nothing else happens.
pub(super) fn change_action(note: &ChangeNote) -> &'static str {
    match note.action {
        Action::NoOp if note.previous_address.is_some() => "move",
        Action::NoOp if note.importing.is_some() => "import",
        action => action_name(action),
    }
}

/// Where the action says it there is none; and none for what OpenTofu does not do.
fn reason_name(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::Plain | Reason::KeptForAnother => return None,
        Reason::ReplaceBecauseTainted => "tainted",
        Reason::ReplaceByRequest => "requested",
        Reason::ReplaceByTriggers => "replace_triggered_by",
        Reason::ReplaceBecauseCannotUpdate => "cannot_update",
        Reason::DeleteBecauseNoResourceConfig => "delete_because_no_resource_config",
        Reason::DeleteBecauseWrongRepetition => "delete_because_wrong_repetition",
        Reason::DeleteBecauseCountIndex => "delete_because_count_index",
        Reason::DeleteBecauseEachKey => "delete_because_each_key",
        Reason::DeleteBecauseEnabledFalse => "delete_because_enabled_false",
        Reason::DeleteBecauseNoModule => "delete_because_no_module",
        Reason::DeleteBecauseNoMoveTarget => "delete_because_no_move_target",
        Reason::ReadBecauseConfigUnknown => "read_because_config_unknown",
        Reason::ReadBecauseDependencyPending => "read_because_dependency_pending",
        Reason::ReadBecauseCheckNested => "read_because_check_nested",
        Reason::ForgotBecauseLifecycleDestroyInState => "forgot_because_lifecycle_destroy_in_state",
        Reason::ForgotBecauseLifecycleDestroyInConfig => {
            "forgot_because_lifecycle_destroy_in_config"
        }
    })
}

pub(super) fn action_name(action: Action) -> &'static str {
    match action {
        Action::NoOp | Action::Drop | Action::ForgetThenCreate => "noop",
        Action::Create => "create",
        Action::Read => "read",
        Action::Update => "update",
        Action::DeleteThenCreate | Action::CreateThenDelete => "replace",
        Action::Delete => "delete",
        Action::Forget => "remove",
    }
}
