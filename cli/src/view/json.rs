//! The stream of JSON messages: one per line, keys and texts as OpenTofu's tools expect them.

mod change;
mod hook;
mod problem;
mod test;

use entail::address::Instance;
use entail::diagnostic::{Diagnostic, Severity, Sources};
use entail::event::{Event, OutputNote, Stage, Summary};
use entail::policy::rules::Level;
use entail::policy::{Report, Verdict};
use entail::value::json::{to_json, type_to_json};
use entail::value::{Str, Value};
use entail::world::{PRODUCT, PROGRAM};
use serde::Serialize;
use serde_json::value::RawValue;

use self::change::{action_name, change, change_action};
use self::hook::Hook;
pub use self::problem::{DiagnosticForm, diagnostic};
pub use self::test::*;
use super::COMPATIBLE_VERSION;
use super::progress::{output_lines, summary};

#[cfg(test)]
mod tests;

/// The version of the messages' form.
const FORM: &str = "1.2";

/// Returns the first message of every stream.
pub fn version(timestamp: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let shown = if PROGRAM.is_in_place_of_another() { COMPATIBLE_VERSION } else { version };
    let text = format!("{PRODUCT} {shown}");
    let line = Line::new("info", &text, timestamp)
        .with("entail", &version)
        .with("tofu", &COMPATIBLE_VERSION);
    line.with("type", &"version").with("ui", &FORM).end()
}

/// Returns a message that is only a text.
pub fn plain(level: &str, text: &str, timestamp: &str) -> String {
    Line::new(level, text, timestamp).end()
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

/// Returns one message for each verdict of policies, and one with their numbers.
pub fn verdicts(report: &Report, timestamp: &str) -> String {
    let verdicts = report.verdicts.iter().map(|it| verdict(it, timestamp));
    let out: String = verdicts.collect();
    let denials = report.count(Level::Deny);
    let text = format!("Policies: {denials} denials");
    let line = Line::new("info", &text, timestamp).with("summary", &report.summary());
    out + &line.with("type", &"policy_summary").end()
}

/// Returns the message for a verdict of a policy.
pub fn verdict(verdict: &Verdict, timestamp: &str) -> String {
    let level = if verdict.level == Level::Deny && verdict.counts() { "error" } else { "info" };
    let text = format!("{}: {}", verdict.name, verdict.message);
    Line::new(level, &text, timestamp)
        .with("type", &"policy_verdict")
        .with("verdict", &verdict.to_json())
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
                let hook = Hook::printed(address, kind, line);
                let text = format!("{address}: ({kind}): {line}");
                info(&text).with("hook", &hook).with("type", &"provision_progress").end()
            })
            .collect(),
        event => {
            let Some((kind, text, hook)) = hook::message(event) else { return String::new() };
            info(&text).with("hook", &hook).with("type", &kind).end()
        }
    }
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
    to_json(&value.to_plain()).unwrap_or_else(|_| "null".to_owned())
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

fn diagnostic_message(problem: &Diagnostic, sources: &Sources, timestamp: &str) -> String {
    let (level, title) = match problem.severity {
        Severity::Error => ("error", "Error"),
        Severity::Warning => ("warn", "Warning"),
    };
    let text = format!("{title}: {}", problem.summary);
    let line = Line::new(level, &text, timestamp).with("diagnostic", &diagnostic(problem, sources));
    line.with("type", &"diagnostic").end()
}
