//! Where states are, as those that read them name the place, and as their own configuration does.

use entail::address::Mode;
use entail::backend::registry;
use entail::value::Value;
use entail::value::json::to_plain_json;
use entail::workflow::recorded::Concluded;
use entail_rules::Node;
use serde_json::Value as Json;

/// The places of states that data sources of type `terraform_remote_state` name.
pub(super) fn states_read(
    it: &Concluded<'_>,
    root: &std::path::Path,
    is_state: bool,
) -> Vec<String> {
    let structure = it.model.structure;
    let mut found = Vec::new();
    for number in 0..structure.nodes.len() as u32 {
        let node = Node(number);
        let Some(address) = structure.instance(node) else { continue };
        let is_remote = address.resource.mode == Mode::Data
            && &*address.resource.kind == "terraform_remote_state";
        if !is_remote {
            continue;
        }
        let value = match (is_state, it.model.state) {
            (true, Some(state)) => it.model.recorded(node, state),
            _ => Some(it.model.written(node)),
        };
        found.extend(value.and_then(|it| place_read(&it, root)));
    }
    found
}

/// The place that arguments of a data source name, as [`place_of`] has it.
fn place_read(value: &Value, root: &std::path::Path) -> Option<String> {
    let backend = value.get("backend")?.as_str()?.to_owned();
    let workspace = value.get("workspace").and_then(|it| it.as_str().map(str::to_owned));
    let config = value.get("config")?;
    let kind = registry::kind(&backend)?;
    let mut arguments = kind.unset();
    for (name, it) in config.entries() {
        let set = kind.setting(&name, it).ok()?;
        arguments.insert(name.to_string(), set);
    }
    Some(place_of(&backend, &arguments, workspace.as_deref(), root))
}

/// Returns what tells the place of a state from all others: the backend, its arguments that are not secret, and the workspace.
pub fn place_of(
    backend: &str,
    arguments: &entail::backend::shape::Arguments,
    workspace: Option<&str>,
    root: &std::path::Path,
) -> String {
    let usual = entail::backend::workspace::DEFAULT;
    let workspace = workspace.filter(|it| *it != usual).unwrap_or_default();
    if backend == "local" {
        let path = arguments.get("path").and_then(Value::as_str).unwrap_or("terraform.tfstate");
        return format!("local {} {workspace}", settled(&root.join(path)).display());
    }
    let secret = registry::kind(backend).map_or(&[][..], |it| it.settings);
    let shown = arguments.iter().filter(|(name, it)| {
        let is_sensitive = secret.iter().any(|it| it.name == **name && it.is_sensitive);
        !it.is_null() && !is_sensitive && WHERE.contains(&name.as_str())
    });
    let shown: Vec<String> = shown
        .map(|(name, it)| {
            format!("{name}={}", to_plain_json(it).unwrap_or_else(|_| Json::Null.to_string()))
        })
        .collect();
    format!("{backend} {} {workspace}", shown.join(" "))
}

/// A path without detours, whether or not its file is there.
fn settled(path: &std::path::Path) -> std::path::PathBuf {
    let folder = path.parent().and_then(|it| it.canonicalize().ok());
    match (path.canonicalize(), folder, path.file_name()) {
        (Ok(path), ..) => path,
        (_, Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// The arguments of backends that say where a state is, and not how one gets there.
const WHERE: &[&str] = &[
    "address",
    "bucket",
    "container_name",
    "key",
    "namespace",
    "path",
    "prefix",
    "schema_name",
    "secret_suffix",
    "storage_account_name",
    "workspace_key_prefix",
];
