//! Plans in; the screens that show them out.

use std::sync::Arc;

use entail::address::{
    Instance, InstanceKey, ModuleInstance, ProviderConfig, ProviderInstance, ResourceName,
};
use entail::plan::Reason;
use entail::schema::{NestedAttributes, NestedBlock, Nesting, ProviderSchema, Schema};
use entail::state::State;
use entail::value::{Marks, PathStep, Str};
use expect_test::{Expect, expect};

use super::*;

mod blocks;
mod readings;
mod screens;
mod values;

/// Reads a value from JSON: `"?"` is unknown, `{"!": x}` is sensitive.
fn value(text: &str) -> Value {
    fn read(json: serde_json::Value) -> Value {
        match json {
            serde_json::Value::String(it) if it == "?" => Value::unknown(Type::DYNAMIC),
            serde_json::Value::Array(items) => Value::tuple(items.into_iter().map(read).collect()),
            serde_json::Value::Object(mut members) => match members.remove("!") {
                Some(inner) => read(inner).mark(&Marks::sensitive()),
                None => {
                    Value::object(members.into_iter().map(|(key, it)| (Str::from(key), read(it))))
                }
            },
            json => diff::value_of_json(json, 0).expect("it is not deep"),
        }
    }
    read(serde_json::from_str(text).expect("the test gives JSON"))
}

fn provider() -> Provider {
    Provider::implied("test")
}

fn change(action: Action, before: &str, after: &str) -> Change {
    Change {
        address: Instance {
            module: ModuleInstance::default(),
            resource: ResourceName::managed("test_thing", "a"),
            key: InstanceKey::None,
        },
        deposed: None,
        served_by: ProviderInstance {
            config: ProviderConfig {
                module: Default::default(),
                provider: provider(),
                alias: None,
            },
            key: InstanceKey::None,
        }
        .into(),
        action,
        reason: Reason::Plain,
        before: value(before),
        after: value(after),
        details: Default::default(),
    }
}

fn output(name: &str, action: Action, before: &str, after: &str) -> OutputChange {
    OutputChange {
        name: name.into(),
        before: value(before),
        after: value(after),
        action,
        sensitive: false,
    }
}

fn plan(changes: Vec<Change>, outputs: Vec<OutputChange>) -> Plan {
    Plan {
        mode: PlanMode::Normal,
        errored: false,
        changes: changes.into_iter().collect(),
        drift: Default::default(),
        outputs: outputs.into_iter().map(|it| (it.name.clone(), it)).collect(),
        prior_state: State::default(),
        previous_state: State::default(),
        variables: BTreeMap::new(),
        given_variables: BTreeMap::new(),
        targets: Vec::new(),
        excludes: Vec::new(),
        replaces: Vec::new(),
        timestamp: Default::default(),
        left_out: Vec::new(),
        not_looked_at: Default::default(),
        checks: Vec::new(),
        relevant_attributes: Vec::new(),
        workspace: "default".into(),
    }
}

fn attribute(ty: Type) -> AttributeSchema {
    AttributeSchema::of(ty)
}

fn schemas(block: BlockSchema) -> Schemas {
    let schema = Arc::new(Schema { block, ..Schema::default() });
    let resources = [(Str::from("test_thing"), schema.clone())].into();
    let data_sources = [(Str::from("test_thing"), schema)].into();
    [(
        provider(),
        Arc::new(ProviderSchema { resources, data_sources, ..ProviderSchema::default() }),
    )]
    .into()
}

/// `id`, a string; every other attribute of the objects, of any type.
fn loose() -> Schemas {
    let any = |name: &str| (Str::from(name), attribute(Type::DYNAMIC));
    let attributes = ["input", "output", "triggers_replace"].map(any).into_iter();
    let attributes = attributes.chain([(Str::from("id"), attribute(Type::STRING))]).collect();
    schemas(BlockSchema { attributes, ..BlockSchema::default() })
}

fn screen(plan: &Plan, schemas: &Schemas, look: Look) -> String {
    read(plan, schemas, look, &Reading::default())
}

fn read(plan: &Plan, schemas: &Schemas, look: Look, reading: &Reading) -> String {
    let mut out = Vec::new();
    write(&mut out, (plan, schemas), look, reading).expect("memory takes everything");
    String::from_utf8(out).expect("it is text")
}

/// Shows one change: what stands between the introduction and the summary.
#[track_caller]
fn check_change(change: Change, schemas: &Schemas, expected: Expect) {
    let text = screen(&plan(vec![change], Vec::new()), schemas, Look::default());
    let start =
        text.find("following actions:\n\n").map_or(0, |it| it + "following actions:\n\n".len());
    let end = text.rfind("\nPlan:").unwrap_or(text.len());
    expected.assert_eq(&dedent(&text[start..end]));
}

/// Takes off what all lines are indented by: an expectation cannot hold it.
fn dedent(text: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let common = text.lines().filter(|it| !it.is_empty()).map(indent).min().unwrap_or(0);
    text.lines().map(|it| format!("{}\n", it.get(common..).unwrap_or_default())).collect()
}
