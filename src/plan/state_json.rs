//! The document that `show -json` prints of a state; plans hold one of the state they start from.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::shape::{Schemas, concrete_type, write_known, write_sensitive};
use crate::address::{InstanceKey, Mode, ModuleInstance, Provider, Resource, ResourceName};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::schema::{Schema, mark_object};
use crate::state::text::{JsonWriter, Layout};
use crate::state::{Attributes, CheckResult, Object, ResourceState, State, Status, names};
use crate::value::{MarkPaths, Str, Value, json};

/// Writes the document of a state, on one line.
pub fn state_document(state: &State, schemas: &Schemas<'_>) -> Result<String, Diagnostic> {
    let mut json = JsonWriter::new(Layout::Compact);
    write_state(&mut json, state, state.written_by.as_deref(), schemas)?;
    Ok(json.finish())
}

/// Writes a state as the next value.
pub(super) fn write_state(
    json: &mut JsonWriter,
    state: &State,
    written_by: Option<&str>,
    schemas: &Schemas<'_>,
) -> Result<(), Diagnostic> {
    json.open('{');
    json.member("format_version", "1.0");
    if !state.is_empty() {
        json.member_unless_empty("terraform_version", written_by.unwrap_or_default());
        json.key("values");
        json.open('{');
        write_outputs(json, state);
        json.key("root_module");
        let mut tree: BTreeMap<ModuleInstance, Vec<(&Resource, &ResourceState)>> = BTreeMap::new();
        for (address, resource) in &state.resources {
            tree.entry(address.module.clone()).or_default().push((address, resource));
        }
        write_tree(json, &tree, &mut |json, (address, resource)| {
            write_resource(json, address, resource, schemas)
        })?;
        json.close('}');
        write_checks(json, state.checks.as_deref().unwrap_or_default());
    }
    json.close('}');
    Ok(())
}

fn write_outputs(json: &mut JsonWriter, state: &State) {
    if state.outputs.is_empty() {
        return;
    }
    json.key("outputs");
    json.open('{');
    for (name, output) in &state.outputs {
        json.key(name);
        json.open('{');
        json.key("sensitive");
        json.literal(output.sensitive);
        json.member_unless_empty("deprecated", output.deprecated.as_deref().unwrap_or_default());
        json.key("value");
        write_known(json, &output.value);
        json.member_raw("type", &json::type_to_json(concrete_type(&output.value)));
        json.close('}');
    }
    json.close('}');
}

/// Writes the modules of a tree from the root on, as the next value; `each` writes one resource as the next value.
pub(super) fn write_modules<T>(
    json: &mut JsonWriter,
    tree: &BTreeMap<ModuleInstance, Vec<T>>,
    each: &mut dyn FnMut(&mut JsonWriter, &T) -> Result<(), Diagnostic>,
) -> Result<(), Diagnostic> {
    write_tree(json, tree, &mut |json, it| {
        json.element();
        each(json, it)
    })
}

/// As [`write_modules`], where one entry may become several elements, which `each` starts itself.
fn write_tree<T>(
    json: &mut JsonWriter,
    tree: &BTreeMap<ModuleInstance, Vec<T>>,
    each: &mut dyn FnMut(&mut JsonWriter, &T) -> Result<(), Diagnostic>,
) -> Result<(), Diagnostic> {
    let mut children: BTreeMap<ModuleInstance, BTreeMap<String, ModuleInstance>> = BTreeMap::new();
    for module in tree.keys() {
        let mut module = module.clone();
        while let Some((parent, _, _)) = module.parent() {
            children.entry(parent.clone()).or_default().insert(module.to_string(), module);
            module = parent;
        }
    }
    write_module(json, &ModuleInstance::default(), tree, &children, each)
}

fn write_module<T>(
    json: &mut JsonWriter,
    module: &ModuleInstance,
    tree: &BTreeMap<ModuleInstance, Vec<T>>,
    children: &BTreeMap<ModuleInstance, BTreeMap<String, ModuleInstance>>,
    each: &mut dyn FnMut(&mut JsonWriter, &T) -> Result<(), Diagnostic>,
) -> Result<(), Diagnostic> {
    json.open('{');
    if let Some(resources) = tree.get(module).filter(|it| !it.is_empty()) {
        json.key("resources");
        json.open('[');
        for resource in resources {
            each(json, resource)?;
        }
        json.close(']');
    }
    json.member_unless_empty("address", &module.to_string());
    if let Some(children_here) = children.get(module) {
        json.key("child_modules");
        json.open('[');
        for child in children_here.values() {
            json.element();
            write_module(json, child, tree, children, each)?;
        }
        json.close(']');
    }
    json.close('}');
    Ok(())
}

/// Writes all objects of a resource, each as an element.
fn write_resource(
    json: &mut JsonWriter,
    address: &Resource,
    resource: &ResourceState,
    schemas: &Schemas<'_>,
) -> Result<(), Diagnostic> {
    let provider = &resource.provider.provider;
    let schema = schema_of(schemas, provider, &address.resource, &address.to_string())?;
    for (key, instance) in &resource.instances {
        let current = instance.current.iter().map(|it| (None, it));
        for (deposed, object) in
            current.chain(instance.deposed.iter().map(|(key, it)| (Some(key), it)))
        {
            json.element();
            write_object(json, (address, key, deposed), (provider, &schema), object)?;
        }
    }
    Ok(())
}

fn write_object(
    json: &mut JsonWriter,
    (address, key, deposed): (&Resource, &InstanceKey, Option<&Str>),
    (provider, schema): (&Provider, &Schema),
    object: &Object,
) -> Result<(), Diagnostic> {
    if deposed.is_none() && object.schema_version != schema.version {
        return Err(other_version(address, object.schema_version, schema.version));
    }
    let value = decoded(object, schema).map_err(|why| undecodable(address, &why))?;
    json.open('{');
    json.member("address", &address.instance(key.clone()).to_string());
    write_names(json, &address.resource);
    json.member_instance_key("index", key);
    json.member("provider_name", &provider.to_string());
    json.key("schema_version");
    // Only the current object's version is told.
    json.literal(if deposed.is_none() { object.schema_version } else { 0 });
    if !value.entries().is_empty() {
        json.key("values");
        write_known(json, &value);
    }
    json.key("sensitive_values");
    let marks = MarkPaths::sensitive(&object.besides.sensitive);
    write_sensitive(json, &mark_object(&value, &marks, &schema.block));
    json.member_strings("depends_on", &object.dependencies);
    json.member_if_true("tainted", object.status == Status::Tainted);
    json.member_unless_empty("deposed_key", deposed.map(|it| &**it).unwrap_or_default());
    if let Some((identity, version)) = object.besides.identity.as_deref() {
        json.member_raw("identity", identity);
        json.key("identity_schema_version");
        json.literal(version);
    }
    json.close('}');
    Ok(())
}

fn decoded(object: &Object, schema: &Schema) -> Result<Value, Error> {
    match &object.attributes {
        Attributes::Json(text) => Ok(json::from_stored_json(text, schema.block.ty())?),
        Attributes::Flat(_) => {
            Err("it is stored in the form of an older version, which a refresh brings up to date"
                .into())
        }
    }
}

/// Writes `mode`, `type` and `name`.
pub(super) fn write_names(json: &mut JsonWriter, resource: &ResourceName) {
    json.member("mode", mode_name(resource.mode));
    json.member("type", &resource.kind);
    json.member("name", &resource.name);
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Managed => "managed",
        Mode::Data => "data",
        Mode::Ephemeral => "ephemeral",
    }
}

/// Finds the schema of a resource.
pub(super) fn schema_of(
    schemas: &Schemas<'_>,
    provider: &Provider,
    resource: &ResourceName,
    address: &str,
) -> Result<Arc<Schema>, Diagnostic> {
    let schema = schemas(provider).and_then(|it| it.of(resource.mode, &resource.kind).cloned());
    schema.ok_or_else(|| no_schema(address, provider))
}

/// Writes `checks`, unless there is none.
pub(super) fn write_checks(json: &mut JsonWriter, checks: &[CheckResult]) {
    if checks.is_empty() {
        return;
    }
    let mut checks: Vec<&CheckResult> = checks.iter().collect();
    checks.sort_by(|a, b| a.config_address.cmp(&b.config_address));
    json.key("checks");
    json.open('[');
    for check in checks {
        json.element();
        json.open('{');
        json.key("address");
        write_block_address(json, check);
        json.member("status", &check.status);
        let mut objects: Vec<_> = check.objects.iter().flatten().collect();
        objects.sort_by(|a, b| a.0.cmp(&b.0));
        if !objects.is_empty() {
            json.key("instances");
            json.open('[');
            for (address, status, messages) in objects {
                json.element();
                write_check_object(json, &check.kind, address, status, messages);
            }
            json.close(']');
        }
        json.close('}');
    }
    json.close(']');
}

/// Writes what a condition's block is called, members in the order of their names.
fn write_block_address(json: &mut JsonWriter, check: &CheckResult) {
    let (module, rest) = split_module(&check.config_address);
    json.open('{');
    match names::instance(rest).filter(|_| &*check.kind == "resource") {
        Some(address) => {
            json.member("kind", "resource");
            json.member("mode", mode_name(address.resource.mode));
            json.member_unless_empty("module", module);
            json.member("name", &address.resource.name);
            json.member("to_display", &check.config_address);
            json.member("type", &address.resource.kind);
        }
        None => {
            json.member(
                "kind",
                if &*check.kind == "output" { "output_value" } else { &check.kind },
            );
            json.member_unless_empty("module", module);
            json.member("name", rest.split_once('.').map_or(rest, |it| it.1));
            json.member("to_display", &check.config_address);
        }
    }
    json.close('}');
}

fn write_check_object(
    json: &mut JsonWriter,
    kind: &str,
    address: &str,
    status: &str,
    messages: &[Str],
) {
    let key = names::instance(address)
        .filter(|_| kind == "resource")
        .map(|it| it.key)
        .unwrap_or_default();
    json.open('{');
    json.key("address");
    json.open('{');
    match &key {
        InstanceKey::None => {}
        InstanceKey::Int(index) => {
            json.key("instance_key");
            json.literal(index);
        }
        InstanceKey::Str(key) => json.member("instance_key", key),
    }
    json.member_unless_empty("module", split_module(address).0);
    json.member("to_display", address);
    json.close('}');
    json.member("status", status);
    if !messages.is_empty() {
        let mut messages: Vec<&Str> = messages.iter().collect();
        messages.sort();
        json.key("problems");
        json.open('[');
        for message in messages {
            json.element();
            json.open('{');
            json.member("message", message);
            json.close('}');
        }
        json.close(']');
    }
    json.close('}');
}

/// Splits `module.a["x.y"].module.b.check.c` before the last two names.
fn split_module(address: &str) -> (&str, &str) {
    let mut rest = address;
    while let Some(after) = rest.strip_prefix("module.") {
        let end = end_of_step(after);
        rest = after[end..].strip_prefix('.').unwrap_or("");
    }
    let module = &address[..address.len() - rest.len()];
    (module.strip_suffix('.').unwrap_or(module), rest)
}

/// Returns where `name["key"]` ends: at the next dot outside quotes.
fn end_of_step(text: &str) -> usize {
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'.' if !is_quoted => return at,
            _ => {}
        }
    }
    text.len()
}

/// The provider of a resource is not there, or does not know its type.
fn no_schema(address: &str, provider: &Provider) -> Diagnostic {
    Diagnostic::error("Failed to load plugin schemas")
        .detail(format!("no schema found for {address} (in provider {provider})"))
}

/// The object is of another schema version than the provider's.
fn other_version(address: &Resource, stored: u64, current: u64) -> Diagnostic {
    Diagnostic::error("Failed to marshal state to json").detail(format!(
        "schema version {stored} for {address} in state does not match version {current} from the provider"
    ))
}

/// The object does not fit the schema.
fn undecodable(address: &Resource, why: &Error) -> Diagnostic {
    Diagnostic::error("Failed to marshal state to json")
        .detail(format!("{address} cannot be decoded: {why}"))
}
