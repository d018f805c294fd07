//! The one place that calls a provider: objects go in as JSON, answers come out as text.
//!
//! In JSON the string `?` stands for an unknown value. Answers print one line per attribute that is not null.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::address;
use crate::diagnostic::Severity;
use crate::provider::ImportName;
use crate::provider::{ApplyCall, PlanCall, Provider, ProviderDiagnostic};
use crate::value::{PathStep, Str, Type, Value};
use crate::world::World;

/// A running provider under test.
pub struct Probe {
    provider: Arc<dyn Provider>,
    schema: Arc<crate::schema::ProviderSchema>,
}

/// A world whose clock stands at 2024-01-31T10:20:30Z, rooted at `root`.
pub fn world(root: &Path) -> World {
    let now = chrono::DateTime::from_timestamp(1_706_696_430, 0);
    World {
        cwd: root.to_path_buf(),
        root: root.to_path_buf(),
        environment: World::of_this_process().environment,
        files: Default::default(),
        fixed_time: now,
        given: Default::default(),
        kept: Default::default(),
        stop: Default::default(),
        is_trusted: true,
    }
}

/// Runs a call to its end.
pub fn run<T>(call: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime starts")
        .block_on(call)
}

impl Probe {
    pub fn new(provider: &str) -> Probe {
        Probe::within(provider, Path::new("/nowhere"))
    }

    pub fn within(provider: &str, root: &Path) -> Probe {
        let provider =
            super::super::start(&address::Provider::implied(provider), &Arc::new(world(root)))
                .expect("the provider is embedded");
        let schema = run(provider.schema()).value;
        Probe { provider, schema }
    }

    /// Returns an object of a resource type; JSON null is no object.
    pub fn object(&self, kind: &str, json: &Json) -> Value {
        object_of(self.schema.resources[kind].block.ty(), json)
    }

    pub fn validate(&self, kind: &str, config: Json) -> String {
        problems(&run(self.provider.validate_resource(kind, &self.object(kind, &config))))
    }

    pub fn validate_data(&self, kind: &str, config: Json) -> String {
        problems(&run(self
            .provider
            .validate_data(kind, &object_of(self.schema.data_sources[kind].block.ty(), &config))))
    }

    pub fn plan(&self, kind: &str, prior: Json, config: Json) -> String {
        let (prior, config) = (self.object(kind, &prior), self.object(kind, &config));
        let proposed = self.proposed(kind, &prior, &config);
        let response = run(self.provider.plan(PlanCall {
            kind,
            prior: &prior,
            proposed: &proposed,
            config: &config,
            private: &[],
            identity: None,
        }));
        let mut text = problems(&response.diagnostics);
        if let Some(it) = response.value {
            text += &print(&it.planned);
            if !it.requires_replace.is_empty() {
                text += &format!(
                    "replaced for {}\n",
                    it.requires_replace.iter().map(path).collect::<Vec<_>>().join(", ")
                );
            }
        }
        text
    }

    /// Plans and applies; what is planned as replacement is not made one.
    pub fn apply(&self, kind: &str, prior: Json, config: Json) -> (Value, String) {
        let (prior, config) = (self.object(kind, &prior), self.object(kind, &config));
        let proposed = self.proposed(kind, &prior, &config);
        let plan = run(self.provider.plan(PlanCall {
            kind,
            prior: &prior,
            proposed: &proposed,
            config: &config,
            private: &[],
            identity: None,
        }));
        let planned = plan.value.expect("a plan").planned;
        let response = run(self.provider.apply(ApplyCall {
            kind,
            prior: &prior,
            planned: &planned,
            config: &config,
            private: &[],
            identity: None,
        }));
        let value = response.value.expect("an object").value;
        let text = problems(&response.diagnostics) + &print(&value);
        (value, text)
    }

    /// Creates an object and returns it.
    pub fn create(&self, kind: &str, config: Json) -> Value {
        let (value, text) = self.apply(kind, Json::Null, config);
        assert!(value.is_known() && !value.is_null() && value.is_wholly_known(), "{text}");
        value
    }

    pub fn read(&self, kind: &str, prior: &Value) -> String {
        let response = run(self.provider.read(kind, prior, &[], None));
        problems(&response.diagnostics)
            + &response.value.map(|it| print(&it.value)).unwrap_or_default()
    }

    pub fn upgrade(&self, kind: &str, version: u64, stored: Json) -> String {
        let stored = serde_json::value::to_raw_value(&stored).expect("JSON");
        let response = run(self.provider.upgrade(kind, version, stored.get()));
        problems(&response.diagnostics) + &response.value.map(|it| print(&it)).unwrap_or_default()
    }

    pub fn import(&self, kind: &str, id: &str) -> String {
        let response = run(self.provider.import(kind, &ImportName::Id(id.into())));
        problems(&response.diagnostics)
            + &response.value.iter().map(|it| print(&it.value)).collect::<String>()
    }

    pub fn take_over(&self, from: &str, stored: Json, kind: &str) -> String {
        let stored = serde_json::value::to_raw_value(&stored).expect("JSON");
        let response = run(self.provider.move_state(
            "registry.opentofu.org/hashicorp/null",
            from,
            0,
            stored.get(),
            kind,
        ));
        problems(&response.diagnostics)
            + &response.value.map(|it| print(&it.value)).unwrap_or_default()
    }

    pub fn read_data(&self, kind: &str, config: Json) -> String {
        let response = run(self
            .provider
            .read_data(kind, &object_of(self.schema.data_sources[kind].block.ty(), &config)));
        problems(&response.diagnostics) + &response.value.map(|it| print(&it)).unwrap_or_default()
    }

    pub fn open(&self, kind: &str, config: Json) -> Value {
        let response = run(self
            .provider
            .open(kind, &object_of(self.schema.ephemeral[kind].block.ty(), &config)));
        assert_eq!(problems(&response.diagnostics), "");
        response.value.expect("a value").value
    }

    pub fn call(&self, name: &str, arguments: &[Json]) -> String {
        let arguments: Vec<Value> = arguments.iter().map(inferred).collect();
        match run(self.provider.call(name, &arguments)) {
            Ok(value) => text(&value),
            Err((argument, why)) => format!("error in argument {argument:?}: {why}"),
        }
    }

    /// Configuration merged with the prior object, as the core does it for objects without nested blocks.
    fn proposed(&self, kind: &str, prior: &Value, config: &Value) -> Value {
        let ty = config.ty();
        if config.is_null() {
            return config.clone();
        }
        let attributes = &self.schema.resources[kind].block.attributes;
        let value = |(name, schema): (&Str, &crate::schema::AttributeSchema)| {
            let configured = config.get(name).expect("of the schema's type");
            let old = prior.get(name).cloned();
            if schema.computed && configured.is_null() {
                old.unwrap_or(Value::Null(schema.ty))
            } else {
                configured.clone()
            }
        };
        Value::object_of(ty, attributes.iter().map(value).collect())
    }
}

/// Returns an object as JSON, to be given in again.
pub fn json_of(value: &Value) -> Json {
    match value {
        Value::Null(_) => Json::Null,
        Value::Unknown(_) => json!("?"),
        Value::Bool(it) => json!(it),
        Value::Number(_) => json!(value.as_int().expect("a small number")),
        Value::String(it) => json!(**it),
        Value::Map(_) | Value::Object(_) => {
            value.entries().into_iter().map(|(key, it)| (key.to_string(), json_of(it))).collect()
        }
        other => other.children().map(json_of).collect(),
    }
}

fn object_of(ty: Type, json: &Json) -> Value {
    let Some(members) = json.as_object() else { return Value::Null(ty) };
    for name in members.keys() {
        assert!(ty.attribute_index(name).is_some(), "{name} is no attribute");
    }
    let value = |(name, ty, _): &(Str, Type, bool)| match members.get(&**name) {
        None | Some(Json::Null) => Value::Null(*ty),
        Some(Json::String(it)) if it == "?" => Value::unknown(*ty),
        Some(it) if *ty == Type::DYNAMIC => inferred(it),
        Some(Json::Object(it)) if it.values().any(|it| it == "?") => {
            let entry = |(key, it): (&String, &Json)| (Str::from(key.as_str()), inferred_text(it));
            Value::map(Type::STRING, it.iter().map(entry))
        }
        Some(it) => crate::value::json::from_json(&it.to_string(), *ty).expect("a fitting value"),
    };
    Value::object_of(ty, ty.attributes().iter().map(value).collect())
}

fn inferred(json: &Json) -> Value {
    match json {
        Json::Null => Value::NULL,
        Json::Bool(it) => Value::Bool(*it),
        Json::Number(it) => Value::int(it.as_i64().expect("a small number")),
        Json::String(it) if it == "?" => Value::unknown(Type::DYNAMIC),
        Json::String(it) => Value::string(it),
        Json::Array(it) => Value::tuple(it.iter().map(inferred).collect()),
        Json::Object(it) => Value::object(
            it.iter().map(|(key, it)| (key.as_str().into(), inferred(it))).collect::<Vec<_>>(),
        ),
    }
}

/// A member of a map of strings.
fn inferred_text(json: &Json) -> Value {
    match json.as_str() {
        None => Value::Null(Type::STRING),
        Some("?") => Value::unknown(Type::STRING),
        Some(it) => Value::string(it),
    }
}

fn problems(found: &[ProviderDiagnostic]) -> String {
    let line = |it: &ProviderDiagnostic| {
        let severity = if it.severity == Severity::Error { "error" } else { "warning" };
        let attribute = if it.attribute.is_empty() {
            String::new()
        } else {
            format!(" ({})", path(&it.attribute))
        };
        format!("{severity}: {}{attribute}\n", it.summary)
    };
    found.iter().map(line).collect()
}

fn path(path: &crate::value::Path) -> String {
    let step = |it: &PathStep| match it {
        PathStep::Attribute(name) => name.to_string(),
        PathStep::Index(it) => text(it),
    };
    path.iter().map(step).collect::<Vec<_>>().join(".")
}

/// Prints an object, one attribute per line.
pub fn print(object: &Value) -> String {
    if object.is_null() {
        return "gone\n".to_owned();
    }
    let shown = object.entries().into_iter().filter(|(_, it)| !it.is_null());
    shown.map(|(name, it)| format!("{name} = {}\n", text(it))).collect()
}

fn text(value: &Value) -> String {
    let list = |value: &Value| value.children().map(text).collect::<Vec<_>>().join(", ");
    let members = |value: &Value| {
        value
            .entries()
            .into_iter()
            .map(|(key, it)| format!("{key} = {}", text(it)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match value {
        Value::Null(_) => "null".to_owned(),
        Value::Unknown(_) => "?".to_owned(),
        Value::Bool(it) => it.to_string(),
        Value::Number(_) => value.as_number().expect("a number").to_string(),
        Value::String(it) => format!("{it:?}"),
        Value::List(_) | Value::Set(_) | Value::Tuple(_) => format!("[{}]", list(value)),
        Value::Map(_) | Value::Object(_) => format!("{{{}}}", members(value)),
        Value::Marked(_) => "marked".to_owned(),
    }
}
