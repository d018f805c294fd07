//! The lines above a change: which object it is, what happens to it, and why.

use entail::world::PRODUCT;
use std::borrow::Cow;
use std::fmt::Write as _;

use entail::address::InstanceKey;
use entail::plan::{Action, Change, Reason};
use entail::provider::{ImportName, identity_json};
use entail::value::text::shown;

use crate::view::style::{Paint, Style};

/// Whether a change is planned, or was noticed outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It is planned.
    Planned,
    /// It happened outside.
    Noticed,
}

/// So much room is made for an address at once.
const USUAL: usize = 128;

/// Returns an empty line, with as much room behind it as the text of a change mostly takes.
pub fn room() -> String {
    let mut text = String::with_capacity(512);
    text.push('\n');
    text
}

/// Appends the lines above a change.
pub fn push(out: &mut String, change: &Change, cause: Cause, style: Style) {
    let mut address = String::with_capacity(USUAL);
    address.push_str("  # ");
    let begins = address.len();
    // Writing into a text cannot fail.
    write!(address, "{}", change.address).unwrap_or_default();
    if let Some(key) = &change.deposed {
        write!(address, " (deposed object {key})").unwrap_or_default();
    }
    let moved_only = change.action == Action::NoOp && change.details.previous_address.is_some();
    match &change.details.previous_address {
        Some(previous) if moved_only => {
            let (previous, address) =
                (format!("  # {previous}"), style.bold(&address[begins..]).into_owned());
            out.push_str(&format!("{} has moved to {address}", style.bold(&previous)));
        }
        _ => {
            out.push_str(&style.bold(&address));
            out.push_str(&verdict(change, cause, style));
            out.push_str(&because(change));
        }
    }
    if change.deposed.is_some()
        && matches!(change.action, Action::Delete | Action::Forget | Action::ForgetThenCreate)
    {
        out.push_str("\n  # (left over from a partially-failed replacement of this instance)");
    }
    out.push('\n');
    if let Some(previous) = change.details.previous_address.as_ref().filter(|_| !moved_only) {
        out.push_str(&format!("  # (moved from {previous})\n"));
    }
    imported(out, change, style);
}

fn imported(out: &mut String, change: &Change, style: Style) {
    let Some(name) = &change.details.importing else { return };
    match &**name {
        ImportName::Id(id) if id.is_empty() => out.push_str("  # (will be imported first)\n"),
        ImportName::Id(id) => out.push_str(&format!("  # (imported from \"{id}\")\n")),
        ImportName::Identity(identity) => {
            let json: serde_json::Value =
                serde_json::from_str(&identity_json(identity)).unwrap_or_default();
            let shown = format!("{json:#}").replace('\n', "\n  # ");
            out.push_str(&format!("  # imported using resource identity: {shown}\n"));
        }
    }
    if matches!(change.action, Action::CreateThenDelete | Action::DeleteThenCreate) {
        let warning =
            style.paint(&[Paint::Yellow], "Warning: this will destroy the imported resource");
        out.push_str(&format!("  # {warning}\n"));
    }
}

/// What happens, as the rest of a sentence.
fn verdict(change: &Change, cause: Cause, style: Style) -> Cow<'static, str> {
    let red = |text| style.paint(&[Paint::Bold, Paint::Red], text);
    match (change.action, cause) {
        (Action::Create, _) => " will be created".into(),
        (Action::Read, _) => " will be read during apply".into(),
        (Action::Update, Cause::Planned) => " will be updated in-place".into(),
        (Action::Update, Cause::Noticed) => " has changed".into(),
        (Action::Delete, Cause::Planned) => format!(" will be {}", red("destroyed")).into(),
        (Action::Delete, Cause::Noticed) => " has been deleted".into(),
        (Action::CreateThenDelete | Action::DeleteThenCreate, _) => replaced(change, style).into(),
        (Action::ForgetThenCreate, _) => {
            let remark = style.paint(&[Paint::Yellow], "older instance will not be destroyed");
            format!(
                "{} - {remark} ({})",
                replaced(change, style),
                style.bold("lifecycle.destroy = false")
            )
            .into()
        }
        (Action::Forget, _) => format!(
            " will be removed from the {PRODUCT} state {}",
            red("but will not be destroyed")
        )
        .into(),
        (Action::NoOp | Action::Drop, _) if change.details.importing.is_some() => {
            " will be imported".into()
        }
        (Action::NoOp | Action::Drop, _) => " stays as it is".into(),
    }
}

fn replaced(change: &Change, style: Style) -> String {
    let replaced = style.paint(&[Paint::Bold, Paint::Red], "replaced");
    match change.reason {
        Reason::ReplaceBecauseTainted => format!(" is tainted, so it must be {replaced}"),
        Reason::ReplaceByRequest => format!(" will be {replaced}, as requested"),
        Reason::ReplaceByTriggers => {
            format!(" will be {replaced} due to changes in replace_triggered_by")
        }
        _ => format!(" must be {replaced}"),
    }
}

/// Why, on a line of its own; nothing where the verdict says all.
fn because(change: &Change) -> String {
    let key = match &change.address.key {
        InstanceKey::None => String::new(),
        InstanceKey::Int(index) => index.to_string(),
        InstanceKey::Str(key) => shown(key),
    };
    let reason = match (change.reason, change.action) {
        (reason, Action::Delete | Action::Read) => reason,
        (
            reason @ (Reason::ForgotBecauseLifecycleDestroyInState
            | Reason::ForgotBecauseLifecycleDestroyInConfig),
            Action::Forget,
        ) => reason,
        _ if change.details.generated_config.as_deref().is_some_and(|it| !it.is_empty())
            && change.action == Action::NoOp =>
        {
            return "\n  # (config will be generated)".to_owned();
        }
        _ => return String::new(),
    };
    let text = match reason {
        Reason::DeleteBecauseNoResourceConfig => {
            format!("because {}.{} is not in configuration", change.address.resource.kind, change.address.resource.name)
        }
        Reason::DeleteBecauseNoMoveTarget => {
            let previous = change.details.previous_address.as_deref().unwrap_or(&change.address);
            format!("because {previous} was moved to {}, which is not in configuration", change.address)
        }
        Reason::DeleteBecauseNoModule => format!("because {} is not in configuration", change.address.module),
        Reason::DeleteBecauseWrongRepetition => match &change.address.key {
            InstanceKey::None => "because resource uses count or for_each".to_owned(),
            InstanceKey::Int(_) => "because resource does not use count".to_owned(),
            InstanceKey::Str(_) => "because resource does not use for_each".to_owned(),
        },
        Reason::DeleteBecauseCountIndex => format!("because index [{key}] is out of range for count"),
        Reason::DeleteBecauseEnabledFalse => "because enabled is false".to_owned(),
        Reason::DeleteBecauseEachKey => format!("because key [{key}] is not in for_each map"),
        Reason::ReadBecauseConfigUnknown => "config refers to values not yet known".to_owned(),
        Reason::ReadBecauseDependencyPending => "depends on a resource or a module with changes pending".to_owned(),
        Reason::ReadBecauseCheckNested => "config will be reloaded to verify a check block".to_owned(),
        Reason::ForgotBecauseLifecycleDestroyInState => {
            "because lifecycle.destroy = false was configured before this resource was removed from the configuration".to_owned()
        }
        Reason::ForgotBecauseLifecycleDestroyInConfig => "because lifecycle.destroy = false is set in the configuration".to_owned(),
        _ => return String::new(),
    };
    format!("\n  # ({text})")
}
