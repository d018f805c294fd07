//! What is noted of a step before a provider is asked for it, so that a crash in between leaves a name.

use super::run::shown_action;
use crate::plan::{Action, Change};
use crate::state::journal::Begun;
use crate::state::{Object, State};
use crate::value::Value;
use entail_rules::Phase;

/// No more attributes than this are noted.
const MOST: usize = 8;
/// No longer value is noted.
const LONGEST: usize = 200;

/// Returns what is to be noted; nothing where no provider is asked to make, change or destroy anything.
pub(super) fn begun(change: &Change, phase: Phase) -> Option<Begun> {
    let action = match shown_action(change, phase) {
        Action::Create => "create",
        Action::Update => "update",
        Action::Delete => "delete",
        _ => return None,
    };
    let value = if action == "create" { &change.after } else { &change.before };
    let deposed = match (action, change.action) {
        ("delete", Action::CreateThenDelete) => change.details.deposes.clone(),
        _ => change.deposed.clone(),
    };
    Some(Begun {
        address: change.address.clone(),
        deposed,
        action: action.to_owned(),
        provider: change.served_by.config.provider.to_string(),
        known: telling(value),
    })
}

/// Returns the attributes that may tell which object it is: short texts that are known and no secret.
fn telling(value: &Value) -> Vec<(String, String)> {
    if value.marks().is_secret() {
        return Vec::new();
    }
    let all = value.entries().into_iter().filter(|(_, it)| !it.marks().is_secret());
    let texts = all.filter_map(|(name, it)| Some((name.to_string(), it.as_str()?.to_owned())));
    texts.filter(|it| !it.1.is_empty() && it.1.len() <= LONGEST).take(MOST).collect()
}

impl State {
    /// Returns a copy of the object that a change is about: the current one, or the one it deposed.
    pub(super) fn object_of(&self, change: &Change) -> Option<Object> {
        let instance = self.instance(&change.address)?;
        let deposed = change
            .deposed
            .as_ref()
            .or(change.details.deposes.as_ref())
            .and_then(|it| instance.deposed.get(it));
        deposed
            .or(instance.current.as_ref().filter(|_| change.deposed.is_none()))
            .map(|it| (**it).clone())
    }
}
