//! The finished plan: what is to be done, in which order, and what it rests on. Immutable; the executor obeys it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

pub use change_list::ChangeList;
pub use entail_rules::{Action, Reason};
pub use evaluated::EvaluatedValues;

use crate::address::{Instance, ProviderInstance};
use crate::provider::ImportName;
use crate::rarely::{Rarely, plain};
use crate::request::PlanMode;
use crate::state::{Private, State, is_same_record};
use crate::value::{Path, Str, Value};

pub mod check;
mod change_list;
mod codec;
pub mod configuration;
#[cfg(test)]
mod configuration_tests;
mod entries;
mod evaluated;
mod exchange;
pub mod file;
pub mod json;
mod provider_table;
mod reference_text;
pub mod shape;
pub mod signature;
pub mod state_json;
#[cfg(test)]
mod secrets_tests;
#[cfg(test)]
mod tests;

/// Returns what `show -json` calls an action: one word per step.
pub fn action_tokens(action: Action) -> &'static [&'static str] {
    match action {
        Action::NoOp | Action::Drop => &["no-op"],
        Action::Create => &["create"],
        Action::Read => &["read"],
        Action::Update => &["update"],
        Action::DeleteThenCreate => &["delete", "create"],
        Action::CreateThenDelete => &["create", "delete"],
        Action::Delete => &["delete"],
        Action::Forget => &["forget"],
        Action::ForgetThenCreate => &["forget", "create"],
    }
}

/// Every reason that has a name in documents. The names are those of `show -json`, but for the last, which it leaves out.
const REASONS: [(Reason, &str); 17] = [
    (Reason::ReplaceBecauseTainted, "replace_because_tainted"),
    (Reason::ReplaceBecauseCannotUpdate, "replace_because_cannot_update"),
    (Reason::ReplaceByRequest, "replace_by_request"),
    (Reason::ReplaceByTriggers, "replace_by_triggers"),
    (Reason::DeleteBecauseNoResourceConfig, "delete_because_no_resource_config"),
    (Reason::DeleteBecauseWrongRepetition, "delete_because_wrong_repetition"),
    (Reason::DeleteBecauseCountIndex, "delete_because_count_index"),
    (Reason::DeleteBecauseEachKey, "delete_because_each_key"),
    (Reason::DeleteBecauseEnabledFalse, "delete_because_enabled_false"),
    (Reason::DeleteBecauseNoModule, "delete_because_no_module"),
    (Reason::DeleteBecauseNoMoveTarget, "delete_because_no_move_target"),
    (Reason::ReadBecauseConfigUnknown, "read_because_config_unknown"),
    (Reason::ReadBecauseDependencyPending, "read_because_dependency_pending"),
    (Reason::ReadBecauseCheckNested, "read_because_check_nested"),
    (Reason::ForgotBecauseLifecycleDestroyInState, "forgot_because_lifecycle_destroy_in_state"),
    (Reason::ForgotBecauseLifecycleDestroyInConfig, "forgot_because_lifecycle_destroy_in_config"),
    (Reason::KeptForAnother, "kept_for_another"),
];

/// Returns the name of a reason in documents; nothing where the action alone says it.
pub fn reason_token(reason: Reason) -> &'static str {
    REASONS.iter().find(|it| it.0 == reason).map_or("", |it| it.1)
}

/// Returns the reason of that name.
pub fn reason_of_token(token: &str) -> Option<Reason> {
    REASONS.iter().find(|it| it.1 == token).map(|it| it.0)
}

/// What is to be done with one object, and why.
#[derive(Clone, Debug)]
pub struct Change {
    /// Which instance.
    pub address: Instance,
    /// The key of a deposed object; `None` for the current one.
    pub deposed: Option<Str>,
    /// The provider instance that serves it, one for all that it serves.
    pub served_by: Arc<ProviderInstance>,
    /// What is to be done.
    pub action: Action,
    /// Why; plain where the action alone says it.
    pub reason: Reason,
    /// The object now, marked; null when there is none.
    pub before: Value,
    /// The object afterwards, marked, unknown where decided in apply; null when there is none.
    pub after: Value,
    /// What few changes have.
    pub details: Rarely<Details>,
}

impl Change {
    /// Returns which object it is of; lists are in the order of these.
    pub fn place(&self) -> (&Instance, Option<&Str>) {
        (&self.address, self.deposed.as_ref())
    }

    /// Returns whether anything is done for the object, be it in the state alone.
    pub fn does_something(&self) -> bool {
        self.action != Action::NoOp
            || self.details.previous_address.is_some()
            || self.details.importing.is_some()
    }
}

/// What few changes have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Its address before moves, where that differs.
    pub previous_address: Option<Box<Instance>>,
    /// Paths whose change made it a replacement.
    pub replace_paths: Box<[Path]>,
    /// What the provider handed out in planning.
    pub private: Private,
    /// What it is and will be identified by.
    pub identity: Identities,
    /// What names the object that is imported, where one is.
    pub importing: Option<Box<ImportName>>,
    /// The configuration that was generated for it.
    pub generated_config: Option<Box<str>>,
    /// The key under which the old object is deposed, for `CreateThenDelete`.
    pub deposes: Option<Str>,
    /// The parts of `after` that the configuration makes sensitive. Only replacements and reads have them: of these,
    /// OpenTofu lists no parts in `planned_values` that only the schema calls sensitive.
    pub configured_secrets: Option<Box<[Path]>>,
}

plain!(Details);

/// What an object is identified by, where its provider says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identities(Option<Box<(Option<Value>, Option<Value>)>>);

impl Identities {
    /// Returns what it is identified by now, and afterwards.
    pub fn of(before: Option<Value>, after: Option<Value>) -> Identities {
        let is_any = before.is_some() || after.is_some();
        // Most have none: then they take one word.
        Identities(is_any.then(|| Box::new((before, after))))
    }

    /// Returns what it is identified by now.
    pub fn before(&self) -> Option<&Value> {
        self.0.as_ref()?.0.as_ref()
    }

    /// Returns what it will be identified by.
    pub fn after(&self) -> Option<&Value> {
        self.0.as_ref()?.1.as_ref()
    }
}

/// What happens to a root output.
#[derive(Clone, Debug)]
pub struct OutputChange {
    /// Its name.
    pub name: Str,
    /// The value in the prior state, marked; null when there is none.
    pub before: Value,
    /// The value afterwards, marked, unknown where decided in apply; null when it goes.
    pub after: Value,
    /// Create, update, delete or no-op.
    pub action: Action,
    /// Whether it is sensitive, before or afterwards.
    pub sensitive: bool,
}

/// What an excluded root holds back, for display.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct LeftOut {
    /// The address that the request names (an instance or, where it names more, the whole).
    pub root: String,
    /// Where the request names it: `-exclude=…`.
    pub flag: String,
    /// Everything left out because of it, itself included, in address order.
    pub objects: Vec<String>,
}

/// How much a run with `-target` or `-exclude` does not look at, apart from what exclusions leave out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotLookedAt {
    /// The number of objects that no target needs.
    pub untargeted: usize,
    /// The number of data sources that are not read again: their recorded results serve.
    pub data: usize,
}

/// A finished plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Normal, destroy or refresh-only.
    pub mode: PlanMode,
    /// Whether planning ended in errors; such a plan can be shown, not applied.
    pub errored: bool,
    /// Every object's change, no-ops included, in address order.
    pub changes: ChangeList,
    /// What changed outside, in address order.
    pub drift: ChangeList,
    /// Root outputs, by name. Outputs that keep their value for lack of recalculation are not listed.
    pub outputs: BTreeMap<Str, OutputChange>,
    /// The state after refresh, which the changes start from.
    pub prior_state: State,
    /// The state before refresh, after moves.
    pub previous_state: State,
    /// Root variables by name, unmarked; ephemeral ones are absent.
    pub variables: BTreeMap<Str, Value>,
    /// Those of them that were given, as they were given: before any conversion.
    pub given_variables: BTreeMap<Str, Value>,
    /// `-target` as canonical addresses.
    pub targets: Vec<String>,
    /// `-exclude` as canonical addresses.
    pub excludes: Vec<String>,
    /// `-replace` as canonical addresses.
    pub replaces: Vec<Instance>,
    /// When it was made.
    pub timestamp: chrono::DateTime<chrono::Utc>,
    /// What was left out, one entry per excluded root.
    pub left_out: Vec<LeftOut>,
    /// What else it does not look at, in numbers.
    pub not_looked_at: NotLookedAt,
    /// Results of conditions.
    pub checks: Vec<crate::state::CheckResult>,
    /// Attributes that contributed to a planned change: resource address and path. Of a plan that is not kept, and beside which
    /// nothing changed outside, they are not looked for.
    pub relevant_attributes: Vec<(String, Path)>,
    /// The workspace it was made in.
    pub workspace: String,
}

impl Plan {
    /// Returns whether nothing was left out: no targets, no exclusions.
    pub fn is_unfiltered(&self) -> bool {
        self.targets.is_empty() && self.excludes.is_empty()
    }

    /// Returns the state after refresh without the recorded results of data sources that are read during apply. OpenTofu
    /// writes and shows it so; the plan keeps those results for providers that destroy with them.
    pub fn without_deferred(&self) -> Cow<'_, State> {
        let reads = self
            .changes
            .iter()
            .filter(|it| it.action == Action::Read && it.reason != Reason::ReadBecauseCheckNested);
        let mut state = Cow::Borrowed(&self.prior_state);
        for read in reads.filter(|it| self.prior_state.current(&it.address).is_some()) {
            state.to_mut().remove_object(&read.address, None);
        }
        state
    }
}

impl Plan {
    /// Returns whether applying it would do anything.
    pub fn is_applyable(&self) -> bool {
        if self.errored {
            return false;
        }
        let only_refreshes = self.mode == PlanMode::RefreshOnly;
        let resources = self.changes.iter().any(|it| {
            let is_moved = it.details.previous_address.is_some() && !only_refreshes;
            it.action != Action::NoOp || it.details.importing.is_some() || is_moved
        });
        let outputs = self.outputs.values().any(|it| it.action != Action::NoOp);
        resources || outputs || (only_refreshes && self.has_refreshed())
    }

    /// Returns whether a refresh has found anything to record of managed objects. That they were moved is nothing that it found.
    fn has_refreshed(&self) -> bool {
        self.drift.iter().any(|it| it.action != Action::NoOp)
            || !is_same_record(&self.previous_state, &self.prior_state)
    }
}
