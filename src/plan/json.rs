//! The document that `show -json` prints of a plan.

use std::collections::BTreeMap;

use super::shape::{
    Schemas, concrete_type, write_known, write_path, write_sensitive, write_sensitive_at,
    write_unknown,
};
use super::state_json::{self, write_checks};
use super::{Action, Change, OutputChange, Plan, Reason};
use crate::address::{Mode, ModuleInstance};
use crate::config::Config;
use crate::diagnostic::{Diagnostic, Sources};
use crate::provider::ImportName;
use crate::request::PlanMode;
use crate::schema::{Schema, mark_sensitive, sensitive_paths};
use crate::state::text::{JsonWriter, Layout};
use crate::state::write::WRITTEN_VERSION;
use crate::value::{MarkPaths, Marked, Path, Str, Value, json};

/// Writes the document of a plan, on one line.
///
/// - `config`: the configuration it was made from, for defaults of variables and as a part of the document.
/// - `sources`: the texts of the configuration.
pub fn plan_document(
    plan: &Plan,
    config: &Config,
    schemas: &Schemas<'_>,
    sources: &Sources,
) -> Result<String, Diagnostic> {
    let mut json = JsonWriter::new(Layout::Compact);
    json.open('{');
    json.member("format_version", "1.2");
    json.member("terraform_version", WRITTEN_VERSION);
    write_variables(&mut json, plan, config);
    json.key("planned_values");
    write_planned_values(&mut json, plan, schemas)?;
    // Elsewhere what only moved is among the changes.
    let drift = plan
        .drift
        .iter()
        .filter(|it| plan.mode == PlanMode::RefreshOnly || it.action != Action::NoOp);
    write_changes(&mut json, "resource_drift", drift, schemas)?;
    write_changes(&mut json, "resource_changes", plan.changes.iter(), schemas)?;
    write_output_changes(&mut json, &plan.outputs);
    let prior_state = plan.without_deferred();
    if !prior_state.is_empty() {
        json.key("prior_state");
        let written_by = prior_state.written_by.as_deref().or(Some(WRITTEN_VERSION));
        state_json::write_state(&mut json, &prior_state, written_by, schemas)?;
    }
    json.member_raw("configuration", &super::configuration::document(config, schemas, sources));
    write_relevant(&mut json, plan);
    write_checks(&mut json, &plan.checks);
    write_left_out(&mut json, plan);
    json.member("timestamp", &plan.timestamp.to_rfc3339_opts(chrono::SecondsFormat::Secs, true));
    json.key("errored");
    json.literal(plan.errored);
    json.close('}');
    Ok(json.finish())
}

fn write_variables(json: &mut JsonWriter, plan: &Plan, config: &Config) {
    let mut variables: BTreeMap<&Str, &Value> = plan.variables.iter().collect();
    variables.extend(&plan.given_variables);
    let root = config.module(&Default::default());
    for (name, variable) in root.into_iter().flat_map(|it| &it.variables) {
        if let Some(default) = &variable.default {
            variables.entry(name).or_insert(default);
        }
    }
    if variables.is_empty() {
        return;
    }
    json.key("variables");
    json.open('{');
    for (name, value) in variables {
        json.key(name);
        json.open('{');
        json.key("value");
        write_known(json, value);
        json.close('}');
    }
    json.close('}');
}

/// An output's value as planned: what does not change stays of the type it had, nothing at all where it is new.
fn planned_output(output: &OutputChange) -> &Value {
    if output.action == Action::NoOp { &output.before } else { &output.after }
}

fn write_planned_values(
    json: &mut JsonWriter,
    plan: &Plan,
    schemas: &Schemas<'_>,
) -> Result<(), Diagnostic> {
    json.open('{');
    let outputs: Vec<&OutputChange> =
        plan.outputs.values().filter(|it| it.action != Action::Delete).collect();
    if !outputs.is_empty() {
        json.key("outputs");
        json.open('{');
        for it in outputs {
            json.key(&it.name);
            json.open('{');
            json.key("sensitive");
            json.literal(it.sensitive);
            if it.after.is_wholly_known() {
                json.member_raw("type", &json::type_to_json(concrete_type(planned_output(it))));
                json.key("value");
                write_known(json, &it.after);
            }
            json.close('}');
        }
        json.close('}');
    }
    let mut tree: BTreeMap<ModuleInstance, Vec<(String, &Change)>> = BTreeMap::new();
    let is_planned = |it: &&Change| {
        it.deposed.is_none()
            && it.action != Action::Delete
            && it.address.resource.mode != Mode::Ephemeral
    };
    for change in plan.changes.iter().filter(is_planned) {
        tree.entry(change.address.module.clone())
            .or_default()
            .push((change.address.to_string(), change));
    }
    for resources in tree.values_mut() {
        resources.sort_by(|a, b| a.0.cmp(&b.0));
    }
    json.key("root_module");
    state_json::write_modules(json, &tree, &mut |json, (address, change)| {
        write_planned(json, address, change, schemas)
    })?;
    json.close('}');
    Ok(())
}

fn write_planned(
    json: &mut JsonWriter,
    address: &str,
    change: &Change,
    schemas: &Schemas<'_>,
) -> Result<(), Diagnostic> {
    let resource = &change.address.resource;
    let schema =
        state_json::schema_of(schemas, &change.served_by.config.provider, resource, address)?;
    json.open('{');
    json.member("address", address);
    state_json::write_names(json, resource);
    json.member_instance_key("index", &change.address.key);
    json.member("provider_name", &change.served_by.config.provider.to_string());
    json.key("schema_version");
    json.literal(schema.version);
    let has_known = || change.after.entries().iter().any(|it| it.1.is_known());
    if change.after.is_known() && !change.after.is_null() && has_known() {
        json.key("values");
        write_known(json, &change.after);
    }
    json.key("sensitive_values");
    match &change.details.configured_secrets {
        Some(paths) => write_sensitive(json, &configured(&change.after, paths)),
        None => write_sensitive(json, &change.after),
    }
    if let Some(identity) = change.details.identity.after()
        && let Some(known) = &schema.identity
    {
        write_identity(json, "identity", identity);
        json.key("identity_schema_version");
        json.literal(known.version);
    }
    json.close('}');
    Ok(())
}

/// Marks only what the configuration makes sensitive.
pub(super) fn configured(value: &Value, paths: &[Path]) -> Value {
    Marked::new(value.to_plain(), MarkPaths::sensitive(paths)).into()
}

/// Writes an identity. One that is not wholly known is not written.
fn write_identity(json: &mut JsonWriter, name: &str, identity: &Value) {
    if let Ok(text) = json::to_state_json(identity, identity.ty()) {
        json.member_raw(name, &text);
    }
}

fn write_changes<'a>(
    json: &mut JsonWriter,
    name: &str,
    changes: impl Iterator<Item = &'a Change>,
    schemas: &Schemas<'_>,
) -> Result<(), Diagnostic> {
    // A data source that is gone only leaves the state; nobody is told.
    let is_shown =
        |it: &&Change| it.address.resource.mode != Mode::Data || it.action != Action::Delete;
    let mut changes: Vec<&Change> = changes.filter(is_shown).collect();
    changes.sort_by(|a, b| a.address.cmp(&b.address).then_with(|| a.deposed.cmp(&b.deposed)));
    if changes.is_empty() {
        return Ok(());
    }
    json.key(name);
    json.open('[');
    for change in changes {
        json.element();
        write_resource_change(json, change, schemas)?;
    }
    json.close(']');
    Ok(())
}

fn write_resource_change(
    json: &mut JsonWriter,
    change: &Change,
    schemas: &Schemas<'_>,
) -> Result<(), Diagnostic> {
    let address = change.address.to_string();
    let resource = &change.address.resource;
    let schema =
        state_json::schema_of(schemas, &change.served_by.config.provider, resource, &address)?;
    json.open('{');
    json.member("address", &address);
    if let Some(previous) = &change.details.previous_address {
        json.member("previous_address", &previous.to_string());
    }
    json.member_unless_empty("module_address", &change.address.module.to_string());
    state_json::write_names(json, resource);
    json.member_instance_key("index", &change.address.key);
    json.member("provider_name", &change.served_by.config.provider.to_string());
    json.member_unless_empty("deposed", change.deposed.as_deref().unwrap_or_default());
    json.key("change");
    write_change(json, change, &schema);
    // That something left out rests on it has no name in OpenTofu's document.
    let reason = Some(change.reason).filter(|it| *it != Reason::KeptForAnother);
    json.member_unless_empty("action_reason", reason.map(super::reason_token).unwrap_or_default());
    json.close('}');
    Ok(())
}

fn write_change(json: &mut JsonWriter, change: &Change, schema: &Schema) {
    let marked = |value: &Value| match change.address.resource.mode {
        // What is ephemeral is planned for, never shown.
        Mode::Ephemeral => Value::NULL,
        _ if value.is_null() => value.clone(),
        _ => mark_sensitive(value, &schema.block),
    };
    let (before, after) = (marked(&change.before), marked(&change.after));
    json.open('{');
    write_actions(json, change.action);
    write_sides(json, &before, &after);
    json.key("after_unknown");
    match after.is_wholly_known() {
        true => json.literal("{}"),
        false => write_unknown(json, &after),
    }
    json.key("before_sensitive");
    write_sensitive(json, &before);
    json.key("after_sensitive");
    match &change.details.configured_secrets {
        Some(paths) if !after.is_null() => {
            let of_schema = sensitive_paths(&schema.block, &after);
            write_sensitive_at(json, &configured(&after, paths), &of_schema);
        }
        _ => write_sensitive(json, &after),
    }
    if !change.details.replace_paths.is_empty() {
        json.key("replace_paths");
        json.open('[');
        for path in &change.details.replace_paths {
            json.element();
            write_path(json, path);
        }
        json.close(']');
    }
    if let Some(name) = &change.details.importing {
        json.key("importing");
        json.open('{');
        match &**name {
            ImportName::Id(id) => json.member_unless_empty("id", id),
            ImportName::Identity(identity) => write_identity(json, "identity", identity),
        }
        json.close('}');
    }
    json.member_unless_empty(
        "generated_config",
        change.details.generated_config.as_deref().unwrap_or_default(),
    );
    let (before, after) = (change.details.identity.before(), change.details.identity.after());
    for (name, identity) in [("before_identity", before), ("after_identity", after)] {
        if let Some(identity) = identity {
            write_identity(json, name, identity);
        }
    }
    json.close('}');
}

fn write_actions(json: &mut JsonWriter, action: Action) {
    json.member_strings("actions", super::action_tokens(action));
}

/// Writes what is known of both sides; a side that is unknown as a whole is left out.
fn write_sides(json: &mut JsonWriter, before: &Value, after: &Value) {
    for (name, value) in [("before", before), ("after", after)] {
        if value.is_known() {
            json.key(name);
            write_known(json, value);
        }
    }
}

fn write_output_changes(json: &mut JsonWriter, outputs: &BTreeMap<Str, OutputChange>) {
    if outputs.is_empty() {
        return;
    }
    json.key("output_changes");
    json.open('{');
    for (name, change) in outputs {
        json.key(name);
        json.open('{');
        write_actions(json, change.action);
        write_sides(json, &change.before, &change.after);
        json.key("after_unknown");
        match change.after.is_wholly_known() {
            true => json.literal(false),
            false => write_unknown(json, &change.after),
        }
        for name in ["before_sensitive", "after_sensitive"] {
            json.key(name);
            json.literal(change.sensitive);
        }
        json.close('}');
    }
    json.close('}');
}

/// What exclusions hold back, and through what; a field of ours, which is there only where something is.
fn write_left_out(json: &mut JsonWriter, plan: &Plan) {
    if plan.left_out.is_empty() {
        return;
    }
    json.key("left_out");
    json.open('[');
    for root in &plan.left_out {
        json.element();
        json.open('{');
        json.member("root", &root.root);
        json.member("flag", &root.flag);
        json.key("objects");
        json.open('[');
        for object in &root.objects {
            json.element();
            json.string(object);
        }
        json.close(']');
        json.close('}');
    }
    json.close(']');
}

fn write_relevant(json: &mut JsonWriter, plan: &Plan) {
    if plan.relevant_attributes.is_empty() {
        return;
    }
    let mut sorted: Vec<_> = plan.relevant_attributes.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    json.key("relevant_attributes");
    json.open('[');
    for (resource, path) in sorted {
        json.element();
        json.open('{');
        json.member("resource", resource);
        json.key("attribute");
        write_path(json, path);
        json.close('}');
    }
    json.close(']');
}
