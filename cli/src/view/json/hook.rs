//! Messages of what happens to one object: it is read, changed, provisioned, opened.

use std::time::Duration;

use entail::address::Instance;
use entail::event::{Event, EventObject, Phase};
use entail::plan::Action;
use serde::Serialize;

use super::super::progress::{id, opened, opening};
use super::super::style::duration;
use super::change::{Resource, action_name};

/// A message: its type, its text and what it carries.
type Message<'a> = (&'static str, String, Hook<'a>);

/// Returns the message of an event about one object; `None` for other events.
pub(super) fn message(event: &Event) -> Option<Message<'_>> {
    Some(match event {
        Event::RefreshStart(it) => {
            let text = format!("{}: Refreshing state...{}", it.address, id(it));
            ("refresh_start", text, Hook::with_id(it))
        }
        Event::RefreshComplete(it) => {
            let text = format!("{}: Refresh complete{}", it.address, id(it));
            ("refresh_complete", text, Hook::with_id(it))
        }
        Event::ApplyStart(it, action) => {
            let text = format!("{}: {}...{}", it.address, starting(*action), id(it));
            ("apply_start", text, Hook::of_apply(it, *action))
        }
        Event::ApplyProgress(it, action, elapsed) => progress(it, *action, *elapsed),
        Event::ApplyComplete(it, action, elapsed) => {
            let (what, time) = (done(*action), duration(*elapsed));
            let text = format!("{}: {what} complete after {time}{}", it.address, id(it));
            ("apply_complete", text, Hook::of_apply(it, *action).after(*elapsed))
        }
        Event::ApplyErrored(it, action, elapsed) => {
            let (what, time) = (done(*action), duration(*elapsed));
            let text = format!("{}: {what} errored after {time}", it.address);
            ("apply_errored", text, Hook::of_apply(it, *action).without_id().after(*elapsed))
        }
        Event::ProvisionStart(address, kind) => {
            let text = format!("{address}: Provisioning with '{kind}'...");
            ("provision_start", text, Hook::provisioned(address, kind))
        }
        Event::ProvisionComplete(address, kind) => {
            let text = format!("{address}: ({kind}) Provisioning complete");
            ("provision_complete", text, Hook::provisioned(address, kind))
        }
        Event::ProvisionErrored(address, kind) => {
            let text = format!("{address}: ({kind}) Provisioning errored");
            ("provision_errored", text, Hook::provisioned(address, kind))
        }
        Event::EphemeralStart(address, phase) => {
            ephemeral("ephemeral_action_started", address, format!("{}...", opening(*phase)))
        }
        Event::EphemeralComplete(address, phase, _) => {
            ephemeral("ephemeral_action_complete", address, completion(*phase))
        }
        _ => return None,
    })
}

fn progress(it: &EventObject, action: Action, elapsed: Duration) -> Message<'_> {
    let (what, time) = (starting(action).to_lowercase(), duration(elapsed));
    let text = format!("{}: Still {what}... [{time} elapsed]", it.address);
    ("apply_progress", text, Hook::of_apply(it, action).without_id().after(elapsed))
}

fn ephemeral<'a>(kind: &'static str, address: &Instance, text: String) -> Message<'a> {
    (kind, format!("{address}: {text}"), Hook { message: Some(text), ..Hook::of(address) })
}

fn completion(phase: Phase) -> String {
    format!("{} complete", opened(phase))
}

/// What an event about one object carries.
#[derive(Serialize)]
pub(super) struct Hook<'a> {
    resource: Resource,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elapsed_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provisioner: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
    #[serde(rename = "Msg", skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl<'a> Hook<'a> {
    fn of(address: &Instance) -> Hook<'a> {
        Hook {
            resource: address.into(),
            action: None,
            id_key: None,
            id_value: None,
            elapsed_seconds: None,
            provisioner: None,
            output: None,
            message: None,
        }
    }

    fn with_id(subject: &'a EventObject) -> Hook<'a> {
        let id = subject.id.as_ref();
        Hook {
            id_key: id.map(|it| it.0),
            id_value: id.map(|it| it.1.as_str()),
            ..Hook::of(&subject.address)
        }
    }

    fn of_apply(subject: &'a EventObject, action: Action) -> Hook<'a> {
        Hook { action: Some(action_name(action)), ..Hook::with_id(subject) }
    }

    fn without_id(self) -> Hook<'a> {
        Hook { id_key: None, id_value: None, ..self }
    }

    /// What a provisioner of the object printed.
    pub(super) fn printed(address: &Instance, kind: &'a str, line: &'a str) -> Hook<'a> {
        Hook { output: Some(line), ..Hook::provisioned(address, kind) }
    }

    fn provisioned(address: &Instance, kind: &'a str) -> Hook<'a> {
        Hook { provisioner: Some(kind), ..Hook::of(address) }
    }

    fn after(self, elapsed: Duration) -> Hook<'a> {
        Hook {
            elapsed_seconds: Some(elapsed.as_secs() + u64::from(elapsed.subsec_millis() >= 500)),
            ..self
        }
    }
}

fn starting(action: Action) -> &'static str {
    match action {
        Action::Create => "Creating",
        Action::Update => "Modifying",
        Action::Delete => "Destroying",
        Action::Read => "Refreshing",
        Action::CreateThenDelete | Action::DeleteThenCreate => "Replacing",
        Action::Forget => "Removing",
        Action::NoOp | Action::Drop | Action::ForgetThenCreate => "Applying",
    }
}

fn done(action: Action) -> &'static str {
    match action {
        Action::Create => "Creation",
        Action::Update => "Modifications",
        Action::Delete => "Destruction",
        Action::Read => "Refresh",
        Action::CreateThenDelete | Action::DeleteThenCreate => "Replacement",
        Action::Forget => "Removal",
        Action::NoOp | Action::Drop | Action::ForgetThenCreate => "Apply",
    }
}
