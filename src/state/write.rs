//! A state to bytes of format version 4, as OpenTofu writes them.

use std::collections::BTreeMap;

use base64::Engine as _;

use super::text::{JsonWriter, Layout};
use super::{
    Attributes, CheckResult, InstanceState, Object, OutputValue, ResourceState, State, Status,
    stored, unconfirmed,
};
use crate::address::{InstanceKey, Mode, ModuleInstance, ProviderConfig, Resource};
use crate::value::Str;

/// The program version that is written into states. OpenTofu and Terraform read a format 4 state whatever its writer;
/// older versions of either want one that they know.
pub const WRITTEN_VERSION: &str = "1.12.6";

/// Writes the whole file as `apply` leaves it: indented, an empty line last.
pub fn write(state: &State) -> String {
    write_as(state, &state.lineage, state.serial)
}

/// Writes the whole file under another lineage and serial.
pub fn write_as(state: &State, lineage: &str, serial: u64) -> String {
    let mut text = document(state, lineage, serial, Layout::Indented);
    text.push_str("\n\n");
    text
}

/// Writes the whole file on one line, as `state pull` prints it.
pub fn write_compact(state: &State) -> String {
    let mut text = document(state, &state.lineage, state.serial, Layout::Compact);
    text.push('\n');
    text
}

/// Returns what stands after lineage and serial in the text of a file that looks as [`write_as`] writes it; `None` for
/// any other.
pub fn body_of<'a>(text: &'a [u8], lineage: &str, serial: u64) -> Option<&'a [u8]> {
    let mut json = JsonWriter::new(Layout::Indented);
    write_head(&mut json, lineage, serial);
    text.strip_prefix(json.finish().as_bytes())
}

fn document(state: &State, lineage: &str, serial: u64, layout: Layout) -> String {
    let mut json = JsonWriter::with_capacity(layout, size(state));
    write_head(&mut json, lineage, serial);
    write_body(&mut json, state);
    json.close('}');
    json.finish()
}

/// Returns how long the text of a state may become, so that it is not moved while it grows, which takes twice its room. What is not
/// written to costs nothing: rather too much than too little.
fn size(state: &State) -> usize {
    /// A line's end and how far it is indented where attributes have two levels below them.
    const LINE: usize = 19;
    let lines = |text: &str| {
        text.bytes().filter(|it| matches!(it, b',' | b'{' | b'}' | b'[' | b']')).count()
    };
    let raw = |text: &str| text.len() + lines(text) * LINE;
    let length = |it: &Object| {
        let attributes = match &it.attributes {
            Attributes::Json(text) => raw(text),
            Attributes::Flat(_) => 0,
        };
        let names = it.dependencies.iter().chain(it.reads.iter().flatten());
        attributes
            + it.besides.private.len() / 2 * 3
            + names.map(|it| it.len() + LINE + 4).sum::<usize>()
            + 160 * it.besides.sensitive.len()
    };
    let instances = state.resources.values().flat_map(|it| it.instances.values());
    let objects = instances.flat_map(|it| it.current.iter().chain(it.deposed.values()));
    let outputs = state.outputs.values().map(|it| 1024 + it.value.as_str().map_or(0, str::len));
    1024 + objects.map(|it| 640 + length(it)).sum::<usize>() + outputs.sum::<usize>()
}

fn write_head(json: &mut JsonWriter, lineage: &str, serial: u64) {
    json.open('{');
    json.key("version");
    json.literal(4);
    json.member("terraform_version", WRITTEN_VERSION);
    json.key("serial");
    json.literal(serial);
    json.member("lineage", lineage);
}

fn write_body(json: &mut JsonWriter, state: &State) {
    write_outputs(json, &state.outputs);
    json.key("resources");
    json.open('[');
    for (module, resources) in in_file_order(state) {
        for (address, resource) in resources {
            write_resource(json, &module, address, resource);
        }
    }
    json.close(']');
    write_checks(json, state.checks.as_deref());
    write_own(json, state);
}

pub(super) fn write_outputs(json: &mut JsonWriter, outputs: &BTreeMap<Str, OutputValue>) {
    json.key("outputs");
    json.open('{');
    for (name, output) in outputs {
        json.key(name);
        write_output(json, output);
    }
    json.close('}');
}

/// Writes an output as the next value.
pub(super) fn write_output(json: &mut JsonWriter, output: &OutputValue) {
    json.open('{');
    json.member_raw("value", &stored::write_value(&output.value, output.ty));
    json.member_raw("type", &stored::write_type(output.ty));
    json.member_if_true("sensitive", output.sensitive);
    json.member_unless_empty("deprecated", output.deprecated.as_deref().unwrap_or_default());
    json.close('}');
}

/// Resources of one module instance, under the module's address as text.
type InModule<'a> = (String, Vec<(&'a Resource, &'a ResourceState)>);

/// Returns the resources that have objects, or no instance at all (their making has failed), by module as text, mode as
/// text, type, name: bytewise.
pub(super) fn in_file_order(state: &State) -> Vec<InModule<'_>> {
    let mut modules: BTreeMap<&ModuleInstance, InModule<'_>> = BTreeMap::new();
    for (address, resource) in &state.resources {
        let is_filled =
            resource.instances.values().any(|it| it.current.is_some() || !it.deposed.is_empty());
        if (is_filled || resource.instances.is_empty()) && address.resource.mode != Mode::Ephemeral
        {
            let module = modules
                .entry(&address.module)
                .or_insert_with(|| (address.module.to_string(), Vec::new()));
            module.1.push((address, resource));
        }
    }
    // Within a module the order of addresses is the file's order already: data before managed, then type, then name.
    let mut modules: Vec<InModule<'_>> = modules.into_values().collect();
    modules.sort_by(|a, b| a.0.cmp(&b.0));
    modules
}

fn write_resource(
    json: &mut JsonWriter,
    module: &str,
    address: &Resource,
    resource: &ResourceState,
) {
    let named = Named::of(resource);
    json.element();
    json.open('{');
    write_resource_head(json, module, address, &named);
    json.key("instances");
    json.open('[');
    for (key, instance) in &resource.instances {
        let provider = named.apart(instance);
        for (deposed, object) in objects(instance) {
            json.element();
            write_object(json, key, deposed, provider.as_deref(), object);
        }
    }
    json.close(']');
    json.close('}');
}

pub(super) fn write_resource_head(
    json: &mut JsonWriter,
    module: &str,
    address: &Resource,
    named: &Named<'_>,
) {
    json.member_unless_empty("module", module);
    json.member("mode", if address.resource.mode == Mode::Data { "data" } else { "managed" });
    json.member("type", &address.resource.kind);
    json.member("name", &address.resource.name);
    if let Some(provider) = named.together() {
        json.member("provider", &provider);
    }
}

/// How the provider instances of a resource are written.
pub(super) enum Named<'a> {
    /// All alike, at the resource.
    Together(String),
    /// Each at its instance, as OpenTofu does where a configuration repeats.
    Apart(&'a ProviderConfig),
    /// Each at its instance, and the configuration at the resource: where keys are aliases and differ.
    Both(&'a ProviderConfig),
}

impl Named<'_> {
    pub(super) fn of(resource: &ResourceState) -> Named<'_> {
        let config = &resource.provider;
        let mut keys = resource.instances.values().map(|it| &it.provider_key);
        let first = keys.next().unwrap_or(&InstanceKey::None);
        let are_alike = keys.all(|it| it == first);
        let is_keyed = !are_alike || *first != InstanceKey::None;
        match (config.alias.as_deref(), is_keyed) {
            (Some(""), true) => match as_alias(config, first).filter(|_| are_alike) {
                Some(alias) => Named::Together(alias.to_string()),
                None => Named::Both(config),
            },
            (_, true) => Named::Apart(config),
            (_, false) => Named::Together(config.to_string()),
        }
    }

    /// What is written at the resource.
    fn together(&self) -> Option<String> {
        match self {
            Named::Together(text) => Some(text.clone()),
            Named::Apart(_) => None,
            Named::Both(config) => Some(config.to_string()),
        }
    }

    /// What is written at an instance.
    pub(super) fn apart(&self, instance: &InstanceState) -> Option<String> {
        let key = &instance.provider_key;
        match self {
            Named::Together(_) => None,
            Named::Apart(config) => Some(format!("{config}{key}")),
            Named::Both(config) => Some(match as_alias(config, key) {
                Some(alias) => alias.to_string(),
                None => format!("{config}{key}"),
            }),
        }
    }
}

/// Returns a key as the alias that it is, where it is a name.
fn as_alias(config: &ProviderConfig, key: &InstanceKey) -> Option<ProviderConfig> {
    match key {
        InstanceKey::Str(key) if crate::syntax::is_identifier(key) => {
            Some(ProviderConfig { alias: Some(key.clone()), ..config.clone() })
        }
        _ => None,
    }
}

pub(super) fn objects(instance: &InstanceState) -> impl Iterator<Item = (Option<&Str>, &Object)> {
    let current = instance.current.iter().map(|it| (None, &**it));
    current.chain(instance.deposed.iter().map(|(key, it)| (Some(key), &**it)))
}

/// Writes an object as the next value.
pub(super) fn write_object(
    json: &mut JsonWriter,
    key: &InstanceKey,
    deposed: Option<&Str>,
    provider: Option<&str>,
    object: &Object,
) {
    json.open('{');
    json.member_instance_key("index_key", key);
    if object.status == Status::Tainted {
        json.member("status", "tainted");
    }
    json.member_unless_empty("deposed", deposed.map(|it| &**it).unwrap_or_default());
    json.member_unless_empty("provider", provider.unwrap_or_default());
    json.key("schema_version");
    json.literal(object.schema_version);
    match &object.attributes {
        Attributes::Json(text) => json.member_raw("attributes", text),
        Attributes::Flat(flat) if flat.is_empty() => {}
        Attributes::Flat(flat) => {
            json.key("attributes_flat");
            json.open('{');
            for (name, text) in flat {
                json.member(name, text);
            }
            json.close('}');
        }
    }
    match object.besides.sensitive.is_empty() {
        true => json.member_raw("sensitive_attributes", "[]"),
        false => {
            json.member_raw("sensitive_attributes", &stored::write_paths(&object.besides.sensitive))
        }
    }
    if !object.besides.private.is_empty() {
        json.member(
            "private",
            &base64::engine::general_purpose::STANDARD.encode(object.besides.private.as_slice()),
        );
    }
    json.member_strings("dependencies", &object.dependencies);
    json.member_if_true("create_before_destroy", object.create_before_destroy);
    json.member_if_true("skip_destroy", object.skip_destroy);
    if let Some((identity, version)) = object.besides.identity.as_deref() {
        json.member_raw("identity", identity);
        json.key("identity_schema_version");
        json.literal(version);
    }
    json.close('}');
}

/// Writes our own record: the instances that each object read, and what may exist without a record. It stands apart from what other
/// programs know, as a member of the whole document, which they ignore and drop when they write next.
pub(super) fn write_own(json: &mut JsonWriter, state: &State) {
    let has_reads = write_made_from(json, state);
    if !state.unconfirmed.is_empty() {
        if !has_reads {
            json.key("entail");
            json.open('{');
        }
        unconfirmed::write(json, &state.unconfirmed);
    }
    if has_reads || !state.unconfirmed.is_empty() {
        json.close('}');
    }
}

/// Writes the instances that each object read, and leaves our own record open. Returns whether there were any.
fn write_made_from(json: &mut JsonWriter, state: &State) -> bool {
    let mut is_open = false;
    for (address, instance) in state.resources.iter().flat_map(|(address, resource)| {
        resource
            .instances
            .iter()
            .map(move |(key, instance)| (address.instance(key.clone()), instance))
    }) {
        for (deposed, object) in objects(instance) {
            let Some(reads) = own_reads(object) else { continue };
            if !is_open {
                json.key("entail");
                json.open('{');
                json.key("made_from");
                json.open('{');
                is_open = true;
            }
            json.key(&own_key(&address.to_string(), deposed));
            write_reads(json, reads);
        }
    }
    if is_open {
        json.close('}');
    }
    is_open
}

/// Returns what our own record says that an object read.
pub(super) fn own_reads(object: &Object) -> Option<&[Str]> {
    // What rests on nothing has no dependencies either, which says the same.
    object.reads.as_deref().filter(|it| !it.is_empty() || !object.dependencies.is_empty())
}

/// Returns the name of an object in our own record.
pub(super) fn own_key(address: &str, deposed: Option<&Str>) -> String {
    match deposed {
        None => address.into(),
        Some(key) => format!("{address} {key}"),
    }
}

/// Writes the addresses that an object read, as the next value.
pub(super) fn write_reads(json: &mut JsonWriter, reads: &[Str]) {
    json.open('[');
    for address in reads {
        json.element();
        json.string(address);
    }
    json.close(']');
}

pub(super) fn write_checks(json: &mut JsonWriter, checks: Option<&[CheckResult]>) {
    let Some(checks) = checks.filter(|it| !it.is_empty()) else {
        return json.member_raw("check_results", "null");
    };
    json.key("check_results");
    json.open('[');
    for check in checks {
        json.element();
        json.open('{');
        json.member("object_kind", &check.kind);
        json.member("config_addr", &check.config_address);
        json.member("status", &check.status);
        match check.objects.as_deref().filter(|it| !it.is_empty()) {
            None => json.member_raw("objects", "null"),
            Some(objects) => {
                json.key("objects");
                json.open('[');
                for (address, status, messages) in objects {
                    json.element();
                    json.open('{');
                    json.member("object_addr", address);
                    json.member("status", status);
                    json.member_strings("failure_messages", messages);
                    json.close('}');
                }
                json.close(']');
            }
        }
        json.close('}');
    }
    json.close(']');
}
