//! State formats 1 to 3, as programs before version 0.12 wrote them, brought to today's model on reading.
//!
//! Attributes of these formats are flat maps; the provider turns them into objects when it upgrades them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Attributes, Object, OutputValue, State, Status, names, problems, recognise, stored};
use crate::address::{
    InstanceKey, Mode, Module, ModuleInstance, ProviderConfig, Resource, ResourceName, Str,
};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::error::{Error, ErrorContext};
use crate::rarely::Rarely;
use crate::syntax::identifiers;

#[derive(Deserialize)]
struct File<'a> {
    #[serde(default)]
    terraform_version: Option<String>,
    #[serde(default)]
    serial: i64,
    #[serde(default)]
    lineage: String,
    #[serde(borrow, default)]
    modules: Option<Vec<ModuleState<'a>>>,
}

#[derive(Deserialize)]
struct ModuleState<'a> {
    #[serde(default)]
    path: Option<Vec<String>>,
    #[serde(borrow, default)]
    outputs: Option<BTreeMap<String, &'a RawValue>>,
    #[serde(borrow, default)]
    resources: Option<BTreeMap<String, OldResource<'a>>>,
}

#[derive(Deserialize)]
struct OldResource<'a> {
    #[serde(borrow, default)]
    primary: Option<OldObject<'a>>,
    #[serde(borrow, default)]
    tainted: Option<Vec<Option<OldObject<'a>>>>,
    #[serde(borrow, default)]
    deposed: Option<Vec<Option<OldObject<'a>>>>,
    #[serde(default)]
    provider: Option<String>,
}

#[derive(Deserialize)]
struct OldObject<'a> {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    attributes: Option<BTreeMap<String, String>>,
    #[serde(borrow, default)]
    meta: Option<BTreeMap<String, &'a RawValue>>,
    #[serde(default)]
    tainted: Option<bool>,
}

/// Reads a state of format 1, 2 or 3.
pub(super) fn read(source: &str, version: u64) -> Result<State, Diagnostics> {
    let file: File<'_> =
        serde_json::from_str(source).map_err(|error| recognise::shape_problem(source, &error))?;
    let failed = |why: Error| Diagnostics::from(problems::upgrade_failed(version, why));
    let serial = u64::try_from(file.serial)
        .map_err(|_| failed("state has serial less than zero, which is invalid".into()))?;
    let mut state = State {
        lineage: file.lineage,
        serial,
        written_by: file.terraform_version.filter(|it| !it.is_empty()),
        ..State::default()
    };
    for module in file.modules.unwrap_or_default() {
        add_module(&mut state, module, version).map_err(failed)?;
    }
    Ok(state)
}

fn add_module(state: &mut State, old: ModuleState<'_>, version: u64) -> Result<(), Error> {
    let path = old.path.filter(|it| !it.is_empty()).unwrap_or_else(|| vec!["root".into()]);
    let Some(("root", calls)) = path.split_first().map(|(first, rest)| (first.as_str(), rest))
    else {
        return Err(format!("state contains invalid module path {path:?}").into());
    };
    if let Some(name) = calls.iter().find(|it| !is_identifier(it)) {
        return Err(format!(
            "state contains invalid module path {path:?}: {name:?} is not a valid identifier"
        )
        .into());
    }
    let module = ModuleInstance(
        calls.iter().map(|it| (Str::from(it.as_str()), InstanceKey::None)).collect(),
    );
    for (name, resource) in old.resources.unwrap_or_default() {
        add_resource(state, &module, &name, resource, version)?;
    }
    if module.is_root() {
        for (name, output) in old.outputs.unwrap_or_default() {
            state.outputs.insert(Str::from(name.as_str()), output_value(&name, output, version)?);
        }
    }
    Ok(())
}

fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(identifiers::may_begin)
        && chars.all(|it| it == '-' || identifiers::may_go_on(it))
}

fn add_resource(
    state: &mut State,
    module: &ModuleInstance,
    name: &str,
    old: OldResource<'_>,
    version: u64,
) -> Result<(), Error> {
    let (resource, key) = address(name)?;
    let provider =
        provider(old.provider.as_deref().unwrap_or_default(), &module.module(), &resource)
            .ok_or_else(|| {
                format!(
                    "invalid provider config reference {:?} for {name}",
                    old.provider.unwrap_or_default()
                )
            })?;
    let address = Resource { module: module.clone(), resource };
    // All instances of a resource have one provider today; the first one found decides.
    let resource = state.resources.served_by(address, &provider);
    let instance = resource.instances.or_default(key);
    if let Some(primary) = old.primary {
        instance.current = Some(object(primary)?.into());
    } else if let Some(tainted) =
        old.tainted.into_iter().flatten().flatten().next().filter(|_| version == 1)
    {
        instance.current = Some(Object { status: Status::Tainted, ..object(tainted)? }.into());
    }
    for (index, deposed) in old.deposed.into_iter().flatten().flatten().enumerate() {
        instance.deposed.insert(Str::from(format!("{:08x}", index + 1)), object(deposed)?.into());
    }
    Ok(())
}

/// Reads `type.name`, `type.name.0`, `data.type.name` and `data.type.name.0`.
fn address(text: &str) -> Result<(ResourceName, InstanceKey), Error> {
    let invalid = || Error::from(format!("invalid internal resource address format: {text}"));
    let mut parts: Vec<&str> = text.split('.').collect();
    let mode = match parts.first() {
        Some(&"data") if parts.len() > 2 => {
            parts.remove(0);
            Mode::Data
        }
        _ => Mode::Managed,
    };
    let (kind, name, key) = match parts[..] {
        [kind, name] => (kind, name, InstanceKey::None),
        [kind, name, index] => {
            (kind, name, InstanceKey::Int(index.parse().map_err(|_| invalid())?))
        }
        _ => return Err(invalid()),
    };
    Ok((ResourceName { mode, kind: kind.into(), name: name.into() }, key))
}

fn provider(text: &str, module: &Module, resource: &ResourceName) -> Option<ProviderConfig> {
    if text.contains("provider.") {
        return names::provider(text).map(|it| it.0);
    }
    let implied = resource.kind.split('_').next().unwrap_or(&resource.kind);
    let (name, alias) = match text.split_once('.') {
        _ if text.is_empty() => (implied, None),
        Some((name, alias)) => (name, Some(alias)),
        None => (text, None),
    };
    names::legacy_provider(module.clone(), name, alias)
}

fn object(old: OldObject<'_>) -> Result<Object, Error> {
    let mut meta = old.meta.unwrap_or_default();
    let schema_version =
        meta.get("schema_version").and_then(|it| it.get().trim_matches('"').parse().ok());
    if schema_version.is_some() {
        meta.remove("schema_version");
    }
    let private = match meta.is_empty() {
        true => Vec::new(),
        false => serde_json::to_vec(&meta).context("cannot keep private data")?,
    };
    let mut attributes = old.attributes.unwrap_or_default();
    if let Some(id) = old.id.filter(|it| !it.is_empty()) {
        let known = attributes.entry("id".into()).or_default();
        if known.is_empty() {
            *known = id;
        }
    }
    let object = Object {
        status: if old.tainted == Some(true) { Status::Tainted } else { Status::Ready },
        schema_version: schema_version.unwrap_or_default(),
        attributes: Attributes::Flat(attributes.into()),
        dependencies: Box::default(),
        reads: None,
        recorded_as: None,
        create_before_destroy: false,
        skip_destroy: false,
        besides: Rarely::default(),
    };
    Ok(object.kept_with(private.into(), None))
}

/// Reads an output: format 1 has bare strings, the later ones a value with a type that says little.
fn output_value(name: &str, output: &RawValue, version: u64) -> Result<OutputValue, Error> {
    #[derive(Deserialize)]
    struct Old<'a> {
        #[serde(default)]
        sensitive: Option<bool>,
        #[serde(borrow, default)]
        value: Option<&'a RawValue>,
    }
    let failed = |why: Diagnostic| why.to_string();
    if version == 1 {
        let (value, ty) = stored::read_implied(output.get())
            .map_err(|why| failed(problems::bad_output_value(name, &why)))?;
        return Ok(OutputValue { value, ty, sensitive: false, deprecated: None });
    }
    let old: Old<'_> = serde_json::from_str(output.get())?;
    let value = old.value.map_or("null", RawValue::get);
    let (value, ty) = stored::read_implied(value)
        .map_err(|why| failed(problems::bad_output_value(name, &why)))?;
    Ok(OutputValue { value, ty, sensitive: old.sensitive.unwrap_or_default(), deprecated: None })
}
