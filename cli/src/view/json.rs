//! The stream of JSON messages: one per line, keys and texts as OpenTofu's tools expect them.

use entail::address::{Instance, InstanceKey};
use entail::diagnostic::{Diagnostic, Position, Severity, Sources};
use entail::operation::event::{ChangeNote, Event, OutputNote, Phase, Stage, Subject, Summary};
use entail::plan::shape::difference;
use entail::plan::{Action, Reason};
use entail::provider::{ImportName, identity_json};
use entail::value::json::{Escape, quote, to_json, type_to_json};
use entail::value::{Str, Value};
use serde::Serialize;
use serde_json::value::RawValue;

use super::function::{SignatureForm, signature};
use super::progress::{id, opened, opening, output_lines, summary};
use super::snippet::{is_shown, snippet};
use super::style::duration;
use super::{COMPATIBLE_VERSION, PRODUCT};

#[cfg(test)]
mod tests;

/// The version of the messages' form.
const FORM: &str = "1.2";

/// Returns the first message of every stream.
pub fn version(timestamp: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let text = format!("{PRODUCT} {version}");
    let line = Line::new("info", &text, timestamp)
        .with("entail", &version)
        .with("tofu", &COMPATIBLE_VERSION);
    line.with("type", &"version").with("ui", &FORM).end()
}

/// Returns the message that lists workspaces.
pub fn workspaces(names: &[String], selected: &str, timestamp: &str) -> String {
    Line::new("info", "list of workspaces", timestamp)
        .with("current_workspace", &selected)
        .with("type", &"workspace_list")
        .with("workspaces", &names)
        .end()
}

/// Returns one message for each address of the state.
pub fn addresses<'a>(listed: impl IntoIterator<Item = &'a Instance>, timestamp: &str) -> String {
    let line = |it: &Instance| {
        Line::new("info", &it.to_string(), timestamp).with("type", &"resource_address").end()
    };
    listed.into_iter().map(line).collect()
}

/// Returns the message that tells which resources get another provider.
pub fn replaced_provider(from: &str, to: &str, resources: &[String], timestamp: &str) -> String {
    let number = resources.len();
    let text =
        format!("{PRODUCT} will replace provider from {from} to {to} for {number} resources");
    Line::new("info", &text, timestamp)
        .with("from", &from)
        .with("resources", &resources)
        .with("to", &to)
        .with("type", &"replace_provider")
        .end()
}

/// Returns the messages for an event, each with its newline; none for those that only people are told.
pub fn messages(event: &Event, sources: &Sources, timestamp: &str) -> String {
    let info = |text: &str| Line::new("info", text, timestamp);
    match event {
        Event::Message(text) => info(text).end(),
        Event::Diagnostic(it) => diagnostic_message(it, sources, timestamp),
        Event::Drift(it) => {
            let text = format!("{}: Drift detected ({})", it.address, change_action(it));
            info(&text).with("change", &change(it)).with("type", &"resource_drift").end()
        }
        Event::PlannedChange(it) => {
            let text = format!("{}: Plan to {}", it.address, change_action(it));
            info(&text).with("change", &change(it)).with("type", &"planned_change").end()
        }
        Event::LeftOut(it) => {
            let text = format!("{}: Left out ({})", it.root, it.flag);
            info(&text).with("left_out", it).with("type", &"left_out").end()
        }
        Event::ChangeSummary(it) => {
            info(&summary(it)).with("changes", &changes(it)).with("type", &"change_summary").end()
        }
        Event::Outputs(it) => {
            let outputs = it.iter().map(|(name, note)| (name.clone(), output(note)));
            let outputs: std::collections::BTreeMap<Str, Output> = outputs.collect();
            let text = format!("Outputs: {}", outputs.len());
            info(&text).with("outputs", &outputs).with("type", &"outputs").end()
        }
        Event::ImportStart { .. }
        | Event::ImportComplete { .. }
        | Event::AdoptionStart { .. }
        | Event::AdoptionPrepared { .. }
        | Event::Forgotten(_) => String::new(),
        Event::ProvisionProgress(address, kind, text) => output_lines(text)
            .map(|line| {
                let hook =
                    Hook { provisioner: Some(kind), output: Some(line), ..Hook::of(address) };
                let text = format!("{address}: ({kind}): {line}");
                info(&text).with("hook", &hook).with("type", &"provision_progress").end()
            })
            .collect(),
        event => {
            let Some((kind, text, hook)) = hook(event) else { return String::new() };
            info(&text).with("hook", &hook).with("type", &kind).end()
        }
    }
}

/// Type, text and payload of an event about one object.
fn hook(event: &Event) -> Option<(&'static str, String, Hook<'_>)> {
    let of_apply = |it, action| Hook { action: Some(action_name(action)), ..Hook::with_id(it) };
    Some(match event {
        Event::RefreshStart(it) => (
            "refresh_start",
            format!("{}: Refreshing state...{}", it.address, id(it)),
            Hook::with_id(it),
        ),
        Event::RefreshComplete(it) => (
            "refresh_complete",
            format!("{}: Refresh complete{}", it.address, id(it)),
            Hook::with_id(it),
        ),
        Event::ApplyStart(it, action) => (
            "apply_start",
            format!("{}: {}...{}", it.address, starting(*action), id(it)),
            of_apply(it, *action),
        ),
        Event::ApplyProgress(it, action, elapsed) => {
            let text = format!(
                "{}: Still {}... [{} elapsed]",
                it.address,
                starting(*action).to_lowercase(),
                duration(*elapsed)
            );
            (
                "apply_progress",
                text,
                Hook { id_key: None, id_value: None, ..of_apply(it, *action) }.after(*elapsed),
            )
        }
        Event::ApplyComplete(it, action, elapsed) => {
            let text = format!(
                "{}: {} complete after {}{}",
                it.address,
                done(*action),
                duration(*elapsed),
                id(it)
            );
            ("apply_complete", text, of_apply(it, *action).after(*elapsed))
        }
        Event::ApplyErrored(it, action, elapsed) => {
            let text =
                format!("{}: {} errored after {}", it.address, done(*action), duration(*elapsed));
            (
                "apply_errored",
                text,
                Hook { id_key: None, id_value: None, ..of_apply(it, *action) }.after(*elapsed),
            )
        }
        Event::ProvisionStart(address, kind) => (
            "provision_start",
            format!("{address}: Provisioning with '{kind}'..."),
            Hook::provisioned(address, kind),
        ),
        Event::ProvisionComplete(address, kind) => (
            "provision_complete",
            format!("{address}: ({kind}) Provisioning complete"),
            Hook::provisioned(address, kind),
        ),
        Event::ProvisionErrored(address, kind) => (
            "provision_errored",
            format!("{address}: ({kind}) Provisioning errored"),
            Hook::provisioned(address, kind),
        ),
        Event::EphemeralStart(address, phase) => {
            let text = format!("{}...", opening(*phase));
            (
                "ephemeral_action_started",
                format!("{address}: {text}"),
                Hook { message: Some(text), ..Hook::of(address) },
            )
        }
        Event::EphemeralComplete(address, phase, _) => {
            let text = completion(*phase);
            (
                "ephemeral_action_complete",
                format!("{address}: {text}"),
                Hook { message: Some(text), ..Hook::of(address) },
            )
        }
        _ => return None,
    })
}

fn completion(phase: Phase) -> String {
    format!("{} complete", opened(phase))
}

/// A message under construction. Keys are given in order.
struct Line(String);

impl Line {
    fn new(level: &str, text: &str, timestamp: &str) -> Line {
        let line = Line(String::from("{"));
        line.with("@level", &level)
            .with("@message", &text)
            .with("@module", &"tofu.ui")
            .with("@timestamp", &timestamp)
    }

    fn with(mut self, key: &str, value: &impl Serialize) -> Line {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        // These types have string keys and no maps that fail, so serialising them cannot fail.
        let value = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        self.0.push_str(&format!("\"{key}\":{value}"));
        self
    }

    fn end(self) -> String {
        format!("{}}}\n", self.0)
    }
}

/// A resource instance, taken apart.
#[derive(Serialize)]
struct Resource {
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

/// What an event about one object carries.
#[derive(Serialize)]
struct Hook<'a> {
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

    fn with_id(subject: &'a Subject) -> Hook<'a> {
        let id = subject.id.as_ref();
        Hook {
            id_key: id.map(|it| it.0),
            id_value: id.map(|it| it.1.as_str()),
            ..Hook::of(&subject.address)
        }
    }

    fn provisioned(address: &Instance, kind: &'a str) -> Hook<'a> {
        Hook { provisioner: Some(kind), ..Hook::of(address) }
    }

    fn after(self, elapsed: std::time::Duration) -> Hook<'a> {
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
        Action::NoOp | Action::ForgetThenCreate => "Applying",
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
        Action::NoOp | Action::ForgetThenCreate => "Apply",
    }
}

fn action_name(action: Action) -> &'static str {
    match action {
        Action::NoOp | Action::ForgetThenCreate => "noop",
        Action::Create => "create",
        Action::Read => "read",
        Action::Update => "update",
        Action::DeleteThenCreate | Action::CreateThenDelete => "replace",
        Action::Delete => "delete",
        Action::Forget => "remove",
    }
}

/// A change that is planned or was noticed.
#[derive(Serialize)]
struct ChangeMessage<'a> {
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

fn change(note: &ChangeNote) -> ChangeMessage<'_> {
    ChangeMessage {
        resource: (&note.address).into(),
        previous_resource: note.previous_address.as_ref().map(Resource::from),
        action: change_action(note),
        reason: note.reason.map(reason_name),
        importing: note.importing.as_ref().map(Importing::of),
        generated_config: note.generated_config.as_deref().filter(|it| !it.is_empty()),
    }
}

/// A move or an import counts as an action where nothing else happens.
fn change_action(note: &ChangeNote) -> &'static str {
    match note.action {
        Action::NoOp if note.previous_address.is_some() => "move",
        Action::NoOp if note.importing.is_some() => "import",
        action => action_name(action),
    }
}

fn reason_name(reason: Reason) -> &'static str {
    match reason {
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
    }
}

#[derive(Serialize)]
struct Changes {
    add: usize,
    change: usize,
    import: usize,
    remove: usize,
    forget: usize,
    operation: &'static str,
}

fn changes(summary: &Summary) -> Changes {
    let Summary { import, add, change, remove, forget, .. } = *summary;
    let operation = match summary.stage {
        Stage::Plan => "plan",
        Stage::Apply => "apply",
        Stage::Destroy => "destroy",
    };
    Changes { add, change, import, remove, forget, operation }
}

#[derive(Serialize)]
struct Output {
    sensitive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecated: Option<Str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    ty: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
}

/// Embeds text that is JSON already.
fn raw(json: String) -> Box<RawValue> {
    RawValue::from_string(json).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Returns a stored value as JSON. Stored values are known; whatever is not has no JSON.
pub fn value_json(value: &Value) -> String {
    to_json(&value.unmark_deep().0).unwrap_or_else(|_| "null".to_owned())
}

fn output(note: &OutputNote) -> Output {
    let shown = note.stored.as_ref().filter(|_| !note.sensitive);
    Output {
        sensitive: note.sensitive,
        deprecated: note.deprecated.clone(),
        ty: note.stored.as_ref().map(|(ty, _)| raw(type_to_json(*ty))),
        value: shown.map(|(_, value)| raw(value_json(value))),
        action: note.action.map(action_name),
    }
}

/// A problem in its JSON form, as in streams and in `validate -json`.
#[derive(Serialize)]
pub struct DiagnosticForm {
    severity: &'static str,
    summary: String,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<RangeForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<SnippetForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<serde_json::Value>,
}

#[derive(Serialize)]
struct RangeForm {
    filename: String,
    start: PositionForm,
    end: PositionForm,
}

#[derive(Serialize)]
struct PositionForm {
    line: usize,
    column: usize,
    byte: usize,
}

#[derive(Serialize)]
struct SnippetForm {
    context: Option<String>,
    code: String,
    start_line: usize,
    highlight_start_offset: usize,
    highlight_end_offset: usize,
    values: Vec<ValueForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<CallForm>,
}

#[derive(Serialize)]
struct ValueForm {
    traversal: String,
    statement: String,
}

#[derive(Serialize)]
struct CallForm {
    called_as: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<SignatureForm>,
}

impl From<Position> for PositionForm {
    fn from(it: Position) -> PositionForm {
        PositionForm { line: it.line, column: it.column, byte: it.byte }
    }
}

/// Brings a problem into its JSON form.
pub fn diagnostic(problem: &Diagnostic, sources: &Sources) -> DiagnosticForm {
    let shown = snippet(problem, sources);
    let range = shown.as_ref().map(|it| RangeForm {
        filename: it.file.clone(),
        start: it.start.into(),
        end: it.end.into(),
    });
    let mut values = problem.values.clone();
    values.sort();
    let snippet = shown.filter(|it| is_shown(&it.file)).map(|it| SnippetForm {
        context: it.block,
        code: it.code,
        start_line: it.first_line,
        highlight_start_offset: it.highlight_start,
        highlight_end_offset: it.highlight_end,
        values: values
            .into_iter()
            .map(|(traversal, statement)| ValueForm { traversal, statement })
            .collect(),
        function_call: problem
            .function
            .as_ref()
            .map(|it| CallForm { called_as: it.0.clone(), signature: signature(&it.0) }),
    });
    DiagnosticForm {
        severity: severity_name(problem.severity),
        summary: problem.summary.clone(),
        detail: problem.detail.clone(),
        address: problem.address.clone(),
        range,
        snippet,
        difference: problem
            .difference
            .as_deref()
            .and_then(|(left, right)| serde_json::from_str(&difference(left, right)).ok()),
    }
}

fn diagnostic_message(problem: &Diagnostic, sources: &Sources, timestamp: &str) -> String {
    let (level, title) = match problem.severity {
        Severity::Error => ("error", "Error"),
        Severity::Warning => ("warn", "Warning"),
    };
    let text = format!("{title}: {}", problem.summary);
    let line = Line::new(level, &text, timestamp).with("diagnostic", &diagnostic(problem, sources));
    line.with("type", &"diagnostic").end()
}

fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
