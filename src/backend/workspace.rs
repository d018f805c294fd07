//! Workspaces: which one is selected, and which states and folders belong to it.

use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::world::World;

/// The workspace that always exists.
pub const DEFAULT: &str = "default";

/// Returns the folder for what belongs to the working directory: `TF_DATA_DIR` or `.terraform`.
pub fn data_folder(world: &World) -> PathBuf {
    world.root.join(world.variable("TF_DATA_DIR").unwrap_or(".terraform"))
}

/// Returns the name of the selected workspace, from `TF_WORKSPACE` or the working directory.
pub fn selected(world: &World) -> Result<String, Diagnostic> {
    if let Some(name) = world.variable("TF_WORKSPACE") {
        return if is_valid_name(name) { Ok(name.into()) } else { Err(invalid_name(name)) };
    }
    let name = crate::world::read_text(&data_folder(world).join("environment")).unwrap_or_default();
    let name = name.trim();
    Ok(if name.is_empty() { DEFAULT.into() } else { name.into() })
}

/// Returns whether the environment decides which workspace is selected.
pub fn is_overridden(world: &World) -> bool {
    world.variable("TF_WORKSPACE").is_some()
}

/// Selects a workspace for later commands in this working directory.
pub fn select(world: &World, name: &str) -> std::io::Result<()> {
    let data = data_folder(world);
    std::fs::create_dir_all(&data)?;
    super::files::replace(&data.join("environment"), name.as_bytes())
}

/// Returns whether a name may be a workspace's: not empty, and the same when it stands in a URL's path.
pub fn is_valid_name(name: &str) -> bool {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-_.~$&+=:@".contains(&it);
    !name.is_empty() && name.bytes().all(is_plain)
}

/// Lists the workspaces that have a folder under `folder`, sorted, the default one first.
pub fn list(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders =
        entries.filter(|it| it.path().is_dir()).filter_map(|it| it.file_name().into_string().ok());
    let mut names: Vec<String> = folders.filter(|it| it != DEFAULT).collect();
    names.sort();
    names.insert(0, DEFAULT.into());
    names
}

fn invalid_name(name: &str) -> Diagnostic {
    Diagnostic::error("Invalid workspace name").detail(format!(
        "The workspace name {name:?} in TF_WORKSPACE cannot be used: it must be safe in a URL's path without escapes."
    ))
}
