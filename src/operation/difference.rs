//! `diff`: what one plan does that another does not do, or does otherwise.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::Action;
use serde_json::{Value as Json, json};

use super::explain::causes::{shown, shown_path};
use crate::address::Instance;
use crate::plan::{Change, OutputChange, Plan, action_tokens};
use crate::value::difference::differences;
use crate::value::{Str, Value};
use crate::world::falsifies;

/// Something that two plans do not do alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The object, or `output.NAME`.
    pub address: String,
    /// The module instance; empty for the root module.
    pub module: String,
    /// What the one plan does with it; nothing where it does nothing.
    pub before: Option<Action>,
    /// What the other does.
    pub after: Option<Action>,
    /// Attributes that become something else: path, and what they become in the one and in the other, as far as it may be shown.
    pub attributes: Vec<(String, String, String)>,
}

/// How two plans differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Objects, then outputs, in address order.
    pub all: Vec<Difference>,
}

/// Returns how two plans differ in what they do.
pub fn between(one: &Plan, other: &Plan) -> Differences {
    let mut all: Vec<Difference> = Vec::new();
    let (before, after) = (steps(one), steps(other));
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).cloned().collect();
    for key in keys {
        let (one, other) = (before.get(&key).copied(), after.get(&key).copied());
        let (address, deposed) = &key;
        let name = match deposed {
            Some(key) => format!("{address} (deposed object {key})"),
            None => address.to_string(),
        };
        let attributes = match (one, other) {
            (Some(one), Some(other)) => attributes(&one.after, &other.after),
            _ => Vec::new(),
        };
        all.push(Difference {
            address: name,
            module: address.module.to_string(),
            before: one.map(|it| it.action),
            after: other.map(|it| it.action),
            attributes,
        });
    }
    let names: BTreeSet<&Str> = one.outputs.keys().chain(other.outputs.keys()).collect();
    for name in names {
        let of = |plan: &Plan| plan.outputs.get(name).cloned();
        all.push(output(name, of(one), of(other)));
    }
    all.retain(|it| it.before != it.after || !it.attributes.is_empty());
    all.retain(|it| it.after.is_some() || !falsifies("diff"));
    Differences { all }
}

type Key = (Instance, Option<Str>);

fn steps(plan: &Plan) -> BTreeMap<Key, &Change> {
    let done = plan.changes.iter().filter(|it| it.does_something());
    done.map(|it| ((it.address.clone(), it.deposed.clone()), it)).collect()
}

fn output(name: &Str, one: Option<OutputChange>, other: Option<OutputChange>) -> Difference {
    let action = |it: &Option<OutputChange>| {
        it.as_ref().map(|it| it.action).filter(|it| *it != Action::NoOp)
    };
    let after = |it: Option<&OutputChange>| it.map_or(Value::NULL, |it| it.after.clone());
    let hidden = [&one, &other].iter().any(|it| it.as_ref().is_some_and(|it| it.sensitive));
    let mut found = Difference {
        address: format!("output.{name}"),
        module: String::new(),
        before: action(&one),
        after: action(&other),
        attributes: Vec::new(),
    };
    if found.before.is_some() && found.after.is_some() {
        found.attributes = attributes(&after(one.as_ref()), &after(other.as_ref()));
        if hidden {
            let secret = || "(sensitive value)".to_owned();
            found.attributes.iter_mut().for_each(|it| (it.1, it.2) = (secret(), secret()));
        }
    }
    found
}

/// Where two planned values become something else. What is known after apply in both is no difference.
fn attributes(one: &Value, other: &Value) -> Vec<(String, String, String)> {
    use super::explain::causes::look;
    let mut found = Vec::new();
    let forward = differences(one, other).into_iter().map(|it| it.0);
    for path in forward {
        let (before, after) = (look(one, &path), look(other, &path));
        let (before, after) = (before.unwrap_or(Value::NULL), after.unwrap_or(Value::NULL));
        if !before.is_known() && !after.is_known() {
            continue;
        }
        found.push((shown_path(&path), shown(&before), shown(&after)));
    }
    found
}

impl Difference {
    /// Returns what kind of difference it is.
    pub fn kind(&self) -> &'static str {
        match (self.before, self.after) {
            (None, _) => "appears",
            (_, None) => "disappears",
            (one, other) if one != other => "action",
            _ => "attributes",
        }
    }

    fn text(&self) -> String {
        let address = &self.address;
        let (before, after) = (verb(self.before), verb(self.after));
        let head = match self.kind() {
            "appears" => format!("only in B: {after} {address}"),
            "disappears" => format!("only in A: {before} {address}"),
            "action" => format!("{address}: {before} in A, {after} in B"),
            _ => format!("{address}: {after} in both, with other values"),
        };
        let mut out = format!("  {head}\n");
        for (path, before, after) in &self.attributes {
            let path = if path.is_empty() { "value" } else { path };
            out.push_str(&format!("      {path}: {before} → {after}\n"));
        }
        out
    }
}

/// The verb for an action: what a plan does with an object or an output.
fn verb(action: Option<Action>) -> &'static str {
    match action {
        None | Some(Action::NoOp) => "keep",
        Some(Action::Create) => "create",
        Some(Action::Read) => "read",
        Some(Action::Update) => "update",
        Some(Action::Delete) => "destroy",
        Some(Action::DeleteThenCreate | Action::CreateThenDelete) => "replace",
        Some(Action::Forget | Action::Drop) => "forget",
        Some(Action::ForgetThenCreate) => "forget and create",
    }
}

impl Differences {
    /// Returns how many there are of a kind: `appears`, `disappears`, `action`, `attributes`.
    pub fn count(&self, kind: &str) -> usize {
        self.all.iter().filter(|it| it.kind() == kind).count()
    }

    /// Returns them as text, by module.
    pub fn text(&self) -> String {
        if self.all.is_empty() {
            return "Both plans do the same.\n".to_owned();
        }
        let mut modules: BTreeMap<&str, Vec<&Difference>> = BTreeMap::new();
        for it in &self.all {
            modules.entry(&it.module).or_default().push(it);
        }
        let mut out = String::new();
        for (module, all) in modules {
            let is_root = module.is_empty();
            out.push_str(if is_root { "The root module:" } else { module });
            out.push_str(if is_root { "\n" } else { ":\n" });
            all.iter().for_each(|it| out.push_str(&it.text()));
        }
        out.push_str(&format!(
            "\n{} only in B, {} only in A, {} with another action, {} with other values.\n",
            self.count("appears"),
            self.count("disappears"),
            self.count("action"),
            self.count("attributes")
        ));
        out
    }

    /// Returns them as JSON.
    pub fn to_json(&self) -> Json {
        let tokens = |it: Option<Action>| it.map(action_tokens);
        let all = self.all.iter().map(|it| {
            let attributes = it.attributes.iter();
            let attributes: Vec<Json> = attributes
                .map(
                    |(path, before, after)| json!({"path": path, "before": before, "after": after}),
                )
                .collect();
            json!({
                "address": it.address, "module": it.module, "kind": it.kind(),
                "before": tokens(it.before), "after": tokens(it.after), "attributes": attributes,
            })
        });
        json!({
            "format_version": "1.0",
            "differences": all.collect::<Vec<_>>(),
            "summary": {
                "appears": self.count("appears"),
                "disappears": self.count("disappears"),
                "action": self.count("action"),
                "attributes": self.count("attributes"),
            },
        })
    }
}
