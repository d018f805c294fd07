//! What an operation tells while it runs, and who listens.
//!
//! The walk and the executor emit [`Event`]s; a terminal or a JSON stream is a [`Sink`]. Nothing here prints.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::address::{Instance, Mode};
use crate::diagnostic::Diagnostic;
use crate::plan::{Action, Change, LeftOut, OutputChange, Plan, Reason};
use crate::provider::ImportName;
use crate::request::PlanMode;
use crate::state::OutputValue;
use crate::value::{Kind, Str, Type, Value};

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// A sentence for people, such as `Stopping operation...`.
    Message(String),
    /// A problem. One that is also returned from the operation must not be emitted.
    Diagnostic(Box<Diagnostic>),
    /// An object is about to be read.
    RefreshStart(EventObject),
    /// An object was read; the subject's id is that of the new value.
    RefreshComplete(EventObject),
    /// An object changed outside.
    Drift(Box<ChangeNote>),
    /// A change that is planned.
    PlannedChange(Box<ChangeNote>),
    /// What the request leaves out, for one of the things that it names.
    LeftOut(Box<LeftOut>),
    /// How much is planned or done.
    ChangeSummary(Summary),
    /// Root outputs as planned (action alone) or as stored (type and value).
    Outputs(BTreeMap<Str, OutputNote>),
    /// An object is about to be created, updated, deleted, read or forgotten. `NoOp` is not told.
    ApplyStart(EventObject, Action),
    /// It still goes on.
    ApplyProgress(EventObject, Action, Duration),
    /// It is done; the subject's id is that of the new object, none after a delete.
    ApplyComplete(EventObject, Action, Duration),
    /// It failed. The problem itself is returned by the operation.
    ApplyErrored(EventObject, Action, Duration),
    /// An object left the state and was left alone.
    Forgotten(Instance),
    /// An import is about to be planned or (`applying`) to be made.
    ImportStart {
        /// The instance it becomes.
        address: Instance,
        /// What names the object.
        name: ImportName,
        /// Whether the plan is being carried out.
        applying: bool,
    },
    /// An import was made.
    ImportComplete {
        /// The instance it became.
        address: Instance,
        /// What names the object.
        name: ImportName,
    },
    /// The command `import` looks for an object.
    AdoptionStart {
        /// The instance that is to adopt it.
        address: Instance,
        /// The import id.
        id: String,
    },
    /// The command `import` found an object, which will be read next.
    AdoptionPrepared {
        /// The instance that is to adopt it.
        address: Instance,
        /// The type of what was found.
        kind: String,
    },
    /// A provisioner starts.
    ProvisionStart(Instance, Str),
    /// A provisioner printed something, perhaps several lines.
    ProvisionProgress(Instance, Str, String),
    /// A provisioner is done.
    ProvisionComplete(Instance, Str),
    /// A provisioner failed.
    ProvisionErrored(Instance, Str),
    /// An ephemeral resource is about to be opened, renewed or closed.
    EphemeralStart(Instance, Phase),
    /// It was opened, renewed or closed.
    EphemeralComplete(Instance, Phase, Duration),
    /// An ephemeral resource is not opened before the plan is carried out, for the reason given.
    EphemeralDeferred(Instance, &'static str),
}

/// Who listens to [`Event`]s.
pub trait Sink: Send + Sync {
    /// Takes an event. Called from several threads; events of one object come in order. It is waited for and cannot be cancelled:
    /// it must not block for long, and not wait for the run that it listens to.
    fn event(&self, event: Event);
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence;

impl Sink for Silence {
    fn event(&self, _: Event) {}
}

/// What happens to an ephemeral resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Phase {
    Open,
    Renew,
    Close,
}

/// The object that an event is about.
#[derive(Clone, Debug, PartialEq)]
pub struct EventObject {
    /// Its address.
    pub address: Instance,
    /// The key of a deposed object.
    pub deposed: Option<Str>,
    /// What people know it by: (`id`, its value).
    pub id: Option<(&'static str, Str)>,
}

impl EventObject {
    /// Returns the subject for an object whose value is known, known by its `id`, else its `name`.
    pub fn of(address: &Instance, deposed: Option<&Str>, object: &Value) -> EventObject {
        EventObject { address: address.clone(), deposed: deposed.cloned(), id: object_id(object) }
    }

    /// Returns the subject at the start of applying: known by `id`, `name`, or a name among its `tags`.
    pub fn at_start(address: &Instance, deposed: Option<&Str>, object: &Value) -> EventObject {
        let id = object_id(object).or_else(|| object_name(object));
        EventObject { address: address.clone(), deposed: deposed.cloned(), id }
    }
}

/// Returns the attribute by which people know an object that is imported, and its text.
pub fn import_label(name: &ImportName) -> Option<(&'static str, Str)> {
    match name {
        ImportName::Id(id) => Some(("id", id.as_str().into())),
        ImportName::Identity(identity) => object_id(identity).or_else(|| object_name(identity)),
    }
}

/// Returns the attribute by which people know an object, and its text. Never a sensitive or ephemeral one.
fn object_id(object: &Value) -> Option<(&'static str, Str)> {
    let has_id =
        object.bare().ty().attributes().iter().any(|it| &*it.0 == "id" && it.1 == Type::STRING);
    let name = if has_id { "id" } else { "name" };
    shown_text(object.get(name)?).map(|text| (name, text))
}

/// Returns a human-friendly name of an object: `name`, or a name among its `tags`.
fn object_name(object: &Value) -> Option<(&'static str, Str)> {
    if let Some(text) = object.get("name").and_then(shown_text) {
        return Some(("name", text));
    }
    let tags = object.get("tags")?;
    if hides(tags) || !tags.is_wholly_known() || !matches!(tags.ty().kind(), Kind::Map(_)) {
        return None;
    }
    let tag = |name: &str| tags.get(name).and_then(shown_text);
    tag("name")
        .map(|text| ("tags.name", text))
        .or_else(|| tag("Name").map(|text| ("tags.Name", text)))
}

fn shown_text(value: &Value) -> Option<Str> {
    match value.bare() {
        Value::String(text) if !text.is_empty() && !hides(value) => Some(text.clone()),
        _ => None,
    }
}

fn hides(value: &Value) -> bool {
    matches!(value, Value::Marked(it) if it.marks().sensitive || it.marks().ephemeral)
}

/// What a listener is told of a change: everything but the values.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeNote {
    /// Which instance.
    pub address: Instance,
    /// Its address before moves, where that differs.
    pub previous_address: Option<Instance>,
    /// What is to be done.
    pub action: Action,
    /// Why, where the action alone does not say.
    pub reason: Reason,
    /// What names the object that is imported, where one is.
    pub importing: Option<ImportName>,
    /// The configuration that was generated for it.
    pub generated_config: Option<String>,
}

impl From<&Change> for ChangeNote {
    fn from(change: &Change) -> ChangeNote {
        ChangeNote {
            address: change.address.clone(),
            previous_address: change.details.previous_address.as_deref().cloned(),
            action: change.action,
            reason: change.reason,
            importing: change.details.importing.as_deref().cloned(),
            generated_config: change.details.generated_config.as_deref().map(Into::into),
        }
    }
}

/// What a listener is told of a root output.
#[derive(Clone, Debug, Default)]
pub struct OutputNote {
    /// Whether it is sensitive; then a value is never told.
    pub sensitive: bool,
    /// `deprecated`
    pub deprecated: Option<Str>,
    /// What is planned; absent after applying.
    pub action: Option<Action>,
    /// Type and value as stored; absent in a plan.
    pub stored: Option<(Type, Value)>,
}

impl From<&OutputChange> for OutputNote {
    fn from(change: &OutputChange) -> OutputNote {
        OutputNote {
            sensitive: change.sensitive,
            action: Some(change.action),
            ..OutputNote::default()
        }
    }
}

impl From<&OutputValue> for OutputNote {
    fn from(output: &OutputValue) -> OutputNote {
        OutputNote {
            sensitive: output.sensitive,
            deprecated: output.deprecated.clone(),
            action: None,
            stored: Some((output.ty, output.value.clone())),
        }
    }
}

/// What a [`Summary`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// What a plan would do.
    #[default]
    Plan,
    /// What was done.
    Apply,
    /// What was destroyed.
    Destroy,
}

/// How many objects a plan or a run concerns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Planned or done.
    pub stage: Stage,
    /// Imported.
    pub import: usize,
    /// Created, replacements included.
    pub add: usize,
    /// Updated in place.
    pub change: usize,
    /// Deleted, replacements included.
    pub remove: usize,
    /// Taken out of the state, not deleted.
    pub forget: usize,
}

impl Summary {
    /// Counts what a plan would do.
    pub fn of_plan(plan: &Plan) -> Summary {
        let mut summary = Summary::default();
        for change in plan.changes.iter().filter(|it| is_told(it)) {
            summary.import += usize::from(change.details.importing.is_some());
            summary.count(change.action);
        }
        summary
    }

    /// Counts one action.
    pub fn count(&mut self, action: Action) {
        match action {
            Action::Create => self.add += 1,
            Action::Update => self.change += 1,
            Action::Delete => self.remove += 1,
            Action::DeleteThenCreate | Action::CreateThenDelete => {
                self.add += 1;
                self.remove += 1;
            }
            Action::Forget => self.forget += 1,
            Action::ForgetThenCreate => {
                self.add += 1;
                self.forget += 1;
            }
            Action::NoOp | Action::Drop | Action::Read => {}
        }
    }
}

/// Returns whether people are told of a change at all: never of ephemeral ones, nor of data that goes.
pub fn is_told(change: &Change) -> bool {
    match change.address.resource.mode {
        Mode::Ephemeral => false,
        Mode::Data => change.action != Action::Delete,
        Mode::Managed => true,
    }
}

/// Returns whether a change is one of those that a plan lists: something is done, or it has moved, or it is imported.
pub fn is_listed(change: &Change) -> bool {
    is_told(change) && change.does_something()
}

/// Tells a finished plan: drift, changes, what is left out, their number, outputs.
pub fn tell_plan(plan: &Plan, sink: &dyn Sink) {
    for change in &plan.drift {
        // A move alone is drift only where nothing else would tell of it.
        if change.action != Action::NoOp || plan.mode == PlanMode::RefreshOnly {
            sink.event(Event::Drift(Box::new(change.into())));
        }
    }
    tell_changes(plan, sink, Change::does_something);
    for root in &plan.left_out {
        sink.event(Event::LeftOut(Box::new(root.clone())));
    }
    sink.event(Event::ChangeSummary(Summary::of_plan(plan)));
    if !plan.outputs.is_empty() {
        let outputs = plan.outputs.iter().map(|(name, change)| (name.clone(), change.into()));
        sink.event(Event::Outputs(outputs.collect()));
    }
}

/// Tells those changes of a plan that are worth a note.
pub fn tell_changes(plan: &Plan, sink: &dyn Sink, is_noted: impl Fn(&Change) -> bool) {
    for change in plan.changes.iter().filter(|it| is_told(it) && is_noted(it)) {
        sink.event(Event::PlannedChange(Box::new(change.into())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::{InstanceKey, ModuleInstance, ResourceName};
    use crate::value::Marks;

    fn instance() -> Instance {
        Instance {
            module: ModuleInstance::default(),
            resource: ResourceName::managed("t", "a"),
            key: InstanceKey::None,
        }
    }

    fn object(attributes: &[(&str, Value)]) -> Value {
        Value::object(attributes.iter().map(|(name, value)| (Str::from(*name), value.clone())))
    }

    #[test]
    fn an_object_is_known_by_its_id_else_its_name() {
        let known = |value: &Value| {
            EventObject::of(&instance(), None, value).id.map(|it| format!("{}={}", it.0, it.1))
        };
        assert_eq!(
            known(&object(&[("id", "x".into()), ("name", "n".into())])),
            Some("id=x".into())
        );
        assert_eq!(known(&object(&[("name", "n".into())])), Some("name=n".into()));
        assert_eq!(
            known(&object(&[("id", Value::unknown(Type::STRING)), ("name", "n".into())])),
            None
        );
        assert_eq!(known(&object(&[("id", Value::from("x").mark(&Marks::sensitive()))])), None);
        assert_eq!(known(&Value::NULL), None);
    }

    #[test]
    fn at_its_start_an_object_is_also_known_by_a_tag() {
        let tags = Value::map(Type::STRING, [("Name".into(), "web".into())]);
        let subject = EventObject::at_start(&instance(), None, &object(&[("tags", tags)]));
        assert_eq!(subject.id, Some(("tags.Name", "web".into())));
    }

    #[test]
    fn a_replacement_counts_as_added_and_destroyed() {
        let mut summary = Summary::default();
        summary.count(Action::DeleteThenCreate);
        summary.count(Action::Update);
        summary.count(Action::Read);
        assert_eq!(summary, Summary { add: 1, remove: 1, change: 1, ..Summary::default() });
    }
}
