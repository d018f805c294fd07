//! What a plan, a run and a state come to, in few lines that are written and read by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::binary::{Ran, program};

/// Where a case keeps the plan that it is looking at.
const PLAN: &str = "tfplan";

/// What every plan with `-exclude` or `-target` says; here it goes without saying.
const PARTIAL: &str = "Warning: Resource targeting is in effect\n";
const PARTIALLY_APPLIED: &str = "Warning: Applied changes may be incomplete\n";

/// Plans with `flags` and lists what would be done: one line per object that changes, one per output that does.
pub fn actions(flags: &[String], folder: &Path) -> Result<String, String> {
    let (said, document) = plan(flags, folder)?;
    let Some(document) = document else { return Ok(said) };
    Ok(format!("{}{said}", list(&document)))
}

/// Plans and applies with `flags`; lists what was planned, and every way in which what was done differs.
pub fn deploy(flags: &[String], folder: &Path) -> Result<String, String> {
    let (said, document) = plan(flags, folder)?;
    let Some(document) = document else { return Ok(said) };
    let (result, done) = apply(folder)?;
    let mut text = format!("{}{said}{result}", list(&document));
    let planned = operations(&document);
    let done_once: BTreeSet<String> = done.iter().cloned().collect();
    for it in planned.difference(&done_once) {
        text.push_str(&format!("not done: {it}\n"));
    }
    for it in done_once.difference(&planned) {
        text.push_str(&format!("not planned: {it}\n"));
    }
    text.push_str(&outputs_differ(&document, folder)?);
    Ok(text)
}

/// Plans and applies with `flags`; lists what was done, in the order in which it was.
pub fn steps(flags: &[String], folder: &Path) -> Result<String, String> {
    let (said, document) = plan(flags, folder)?;
    if document.is_none() {
        return Ok(said);
    }
    let (result, done) = apply(folder)?;
    Ok(format!("{}{result}", done.iter().map(|it| format!("{it}\n")).collect::<String>()))
}

/// Lists which provider the state file names: at the resource, and at each instance.
pub fn served(folder: &Path) -> Result<String, String> {
    let Ok(text) = std::fs::read_to_string(folder.join("terraform.tfstate")) else {
        return Ok("no state\n".into());
    };
    let state: Value = serde_json::from_str(&text).map_err(|it| format!("the state: {it}"))?;
    let mut text = String::new();
    for resource in items(&state["resources"]) {
        let of = |key: &str| resource[key].as_str().unwrap_or_default().to_owned();
        let module = match &*of("module") {
            "" => String::new(),
            module => format!("{module}."),
        };
        let own = match &*of("provider") {
            "" => "no provider".to_owned(),
            provider => provider.to_owned(),
        };
        text.push_str(&format!("{module}{}.{}: {own}\n", of("type"), of("name")));
        for instance in items(&resource["instances"]) {
            if let Some(provider) = instance["provider"].as_str() {
                text.push_str(&format!("  {}: {provider}\n", instance["index_key"]));
            }
        }
    }
    Ok(text)
}

/// Lists what the state file holds: addresses, and outputs with their values.
pub fn state(folder: &Path) -> Result<String, String> {
    let Ok(text) = std::fs::read_to_string(folder.join("terraform.tfstate")) else {
        return Ok("no state\n".into());
    };
    let state: Value = serde_json::from_str(&text).map_err(|it| format!("the state: {it}"))?;
    let mut lines = Vec::new();
    for resource in items(&state["resources"]) {
        for instance in items(&resource["instances"]) {
            let tainted = if instance["status"] == "tainted" { " (tainted)" } else { "" };
            let deposed = instance["deposed"].as_str().map_or("", |_| " (deposed)");
            lines
                .push(format!("{}{tainted}{deposed}\n", address(resource, &instance["index_key"])));
        }
    }
    lines.sort();
    for (name, output) in state["outputs"].as_object().into_iter().flatten() {
        lines.push(format!("output {name} = {}\n", output["value"]));
    }
    if lines.is_empty() {
        lines.push("an empty state\n".into());
    }
    Ok(lines.concat())
}

fn address(resource: &Value, key: &Value) -> String {
    let text = |name: &str| resource[name].as_str().unwrap_or_default();
    let module = resource["module"].as_str().map_or(String::new(), |it| format!("{it}."));
    let mode = if resource["mode"] == "data" { "data." } else { "" };
    let key = if key.is_null() { String::new() } else { format!("[{key}]") };
    format!("{module}{mode}{}.{}{key}", text("type"), text("name"))
}

/// Plans; returns what went wrong or was warned of, and the plan as JSON unless it failed.
fn plan(flags: &[String], folder: &Path) -> Result<(String, Option<Value>), String> {
    let out = format!("-out={PLAN}");
    let mut arguments = vec!["plan".to_owned(), out];
    arguments.extend_from_slice(flags);
    let planned = program(&arguments, folder)?;
    let said = planned.summaries().replace(PARTIAL, "");
    if planned.code != Some(0) {
        return Ok((format!("{said}{}", planned.exit()), None));
    }
    let shown = program(&["show".into(), "-json".into(), PLAN.into()], folder)?;
    let document = serde_json::from_str(&shown.stdout)
        .map_err(|it| format!("show -json: {it}\n{}{}", shown.stdout, shown.stderr))?;
    Ok((said, Some(document)))
}

/// Applies the plan step by step; returns what went wrong, and the finished operations in order.
fn apply(folder: &Path) -> Result<(String, Vec<String>), String> {
    let arguments = ["apply", "-json", "-parallelism=1", PLAN].map(str::to_owned);
    let applied = program(&arguments, folder)?;
    let (mut text, mut done) = (String::new(), Vec::new());
    for line in applied.stdout.lines() {
        let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
        let hook = &event["hook"];
        match event["type"].as_str() {
            Some("apply_complete") => {
                let word = |it: &Value| it.as_str().unwrap_or_default().to_owned();
                done.push(format!("{} {}", word(&hook["action"]), word(&hook["resource"]["addr"])));
            }
            Some("diagnostic") => {
                let problem = &event["diagnostic"];
                let kind = if problem["severity"] == "error" { "Error" } else { "Warning" };
                text.push_str(&format!(
                    "{kind}: {}\n",
                    problem["summary"].as_str().unwrap_or_default()
                ));
            }
            _ => {}
        }
    }
    text = text.replace(PARTIALLY_APPLIED, "");
    text.push_str(&applied.exit());
    Ok((text, done))
}

/// One line per object and output that changes.
fn list(document: &Value) -> String {
    let mut lines = Vec::new();
    for change in items(&document["resource_changes"]) {
        let action = action(&change["change"]["actions"]);
        let previous = change["previous_address"].as_str();
        if action == "no-op" && previous.is_none() {
            continue;
        }
        let mut line = format!("{action} {}", change["address"].as_str().unwrap_or_default());
        line.extend(change["deposed"].as_str().map(|_| " (deposed)"));
        line.extend(previous.map(|it| format!(" (was {it})")));
        line.extend(change["action_reason"].as_str().map(|it| format!(" [{it}]")));
        lines.push(line + "\n");
    }
    for drift in items(&document["resource_drift"]) {
        lines.push(format!(
            "outside: {} {}\n",
            action(&drift["change"]["actions"]),
            drift["address"].as_str().unwrap_or_default()
        ));
    }
    for (name, change) in document["output_changes"].as_object().into_iter().flatten() {
        let action = action(&change["actions"]);
        if action == "no-op" {
            continue;
        }
        let after =
            if action == "delete" { String::new() } else { format!(" = {}", planned(change)) };
        lines.push(format!("{action} output {name}{after}\n"));
    }
    if lines.is_empty() {
        lines.push("nothing\n".into());
    }
    lines.concat()
}

fn action(actions: &Value) -> String {
    let words: Vec<&str> = items(actions).iter().filter_map(Value::as_str).collect();
    match &words[..] {
        ["delete", "create"] => "replace".into(),
        ["create", "delete"] => "replace, create first,".into(),
        _ => words.join(" "),
    }
}

/// The value that an output will have; `?` is what is not known yet.
fn planned(change: &Value) -> String {
    fn mix(after: &Value, unknown: &Value) -> String {
        match (after, unknown) {
            (_, Value::Bool(true)) => "?".into(),
            (Value::Array(after), Value::Array(unknown)) => {
                let none = Value::Null;
                let all = after
                    .iter()
                    .enumerate()
                    .map(|it| mix(it.1, unknown.get(it.0).unwrap_or(&none)));
                format!("[{}]", all.collect::<Vec<_>>().join(","))
            }
            (Value::Object(after), Value::Object(unknown)) => {
                let keys: BTreeSet<&String> = after.keys().chain(unknown.keys()).collect();
                let one = |it: &String| {
                    let (after, unknown) = (after.get(it), unknown.get(it));
                    let none = Value::Null;
                    format!("{it:?}:{}", mix(after.unwrap_or(&none), unknown.unwrap_or(&none)))
                };
                format!("{{{}}}", keys.into_iter().map(one).collect::<Vec<_>>().join(","))
            }
            (after, _) => after.to_string(),
        }
    }
    mix(&change["after"], &change["after_unknown"])
}

/// The operations that a plan promises.
fn operations(document: &Value) -> BTreeSet<String> {
    let mut operations = BTreeSet::new();
    for change in items(&document["resource_changes"]) {
        let address = change["address"].as_str().unwrap_or_default();
        for action in items(&change["change"]["actions"]).iter().filter_map(Value::as_str) {
            // Forgetting and doing nothing are no operations on objects.
            if !["no-op", "forget"].contains(&action) {
                operations.insert(format!("{action} {address}"));
            }
        }
    }
    operations
}

/// Compares the outputs in the state with what the plan said of them, also where it said that nothing changes.
fn outputs_differ(document: &Value, folder: &Path) -> Result<String, String> {
    let path = folder.join("terraform.tfstate");
    let text = std::fs::read_to_string(path).unwrap_or_else(|_| "{}".into());
    let state: Value = serde_json::from_str(&text).map_err(|it| format!("the state: {it}"))?;
    let mut stored: BTreeMap<&str, &Value> = BTreeMap::new();
    for (name, output) in state["outputs"].as_object().into_iter().flatten() {
        stored.insert(name, &output["value"]);
    }
    let prior = &document["prior_state"]["values"]["outputs"];
    let mut expected: BTreeMap<&str, &Value> = BTreeMap::new();
    for (name, output) in prior.as_object().into_iter().flatten() {
        expected.insert(name, &output["value"]);
    }
    let mut text = String::new();
    for (name, change) in document["output_changes"].as_object().into_iter().flatten() {
        match action(&change["actions"]).as_str() {
            "no-op" => continue,
            "delete" => expected.remove(&**name),
            _ if fits(stored.get(&**name).copied(), &change["after"], &change["after_unknown"]) => {
                expected.insert(name, stored.get(&**name).copied().unwrap_or(&Value::Null))
            }
            _ => expected.insert(name, &change["after"]),
        };
    }
    // An output whose value is null is not kept in a state.
    let names: BTreeSet<&&str> = stored.keys().chain(expected.keys()).collect();
    for name in names {
        let (stored, expected) = (stored.get(*name), expected.get(*name));
        let null = &Value::Null;
        if stored.unwrap_or(&null) != expected.unwrap_or(&null) {
            let show = |it: Option<&&Value>| it.map_or("nothing".to_owned(), |it| it.to_string());
            text.push_str(&format!(
                "output {name}: planned {}, stored {}\n",
                show(expected),
                show(stored)
            ));
        }
    }
    Ok(text)
}

/// Returns whether a value is what was planned, wherever that was known.
fn fits(stored: Option<&Value>, after: &Value, unknown: &Value) -> bool {
    match (stored, after, unknown) {
        (_, _, Value::Bool(true)) => true,
        (Some(Value::Array(stored)), Value::Array(after), Value::Array(unknown)) => {
            stored.len() == after.len().max(unknown.len())
                && stored.iter().enumerate().all(|(at, it)| {
                    let none = Value::Null;
                    fits(Some(it), after.get(at).unwrap_or(&none), unknown.get(at).unwrap_or(&none))
                })
        }
        (Some(Value::Object(stored)), Value::Object(after), Value::Object(unknown)) => {
            let keys: BTreeSet<&String> = stored.keys().chain(after.keys()).collect();
            keys.into_iter().all(|it| {
                let none = Value::Null;
                fits(
                    stored.get(it),
                    after.get(it).unwrap_or(&none),
                    unknown.get(it).unwrap_or(&none),
                )
            })
        }
        (stored, after, _) => stored.unwrap_or(&Value::Null) == after,
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

impl Ran {
    /// The line that says how it ended, unless all was well.
    pub fn exit(&self) -> String {
        match self.code {
            Some(0) => String::new(),
            Some(code) => format!("exit {code}\n"),
            None => "killed\n".into(),
        }
    }

    /// The lines that say what kind of problems there are.
    pub fn summaries(&self) -> String {
        let is_summary = |it: &&str| it.starts_with("Error: ") || it.starts_with("Warning: ");
        let lines = self.stdout.lines().chain(self.stderr.lines());
        lines
            .map(|it| it.trim_start_matches(['│', '╷', ' ', '|']))
            .filter(is_summary)
            .map(|it| format!("{it}\n"))
            .collect()
    }
}
