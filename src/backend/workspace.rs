//! Workspaces: which one is selected, and which states and folders belong to it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::files::{self, Fresh};
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
    let path = data_folder(world).join("environment");
    let bytes = files::read(&path).map_err(|it| unreadable(&path, &it))?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    match text.trim() {
        "" => Ok(DEFAULT.into()),
        name if is_valid_name(name) => Ok(name.into()),
        name => Err(invalid_selection(&path, name)),
    }
}

/// Returns whether the environment decides which workspace is selected.
pub fn is_overridden(world: &World) -> bool {
    world.variable("TF_WORKSPACE").is_some()
}

/// Selects a workspace for later commands in this working directory.
pub fn select(world: &World, name: &str) -> std::io::Result<()> {
    let data = data_folder(world);
    std::fs::create_dir_all(&data)?;
    files::replace(&data.join("environment"), name.as_bytes(), Fresh::Usual)
}

/// Returns whether a name may be a workspace's: the same when it stands in a URL's path, and that of a folder of its own.
pub fn is_valid_name(name: &str) -> bool {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-_.~$&+=:@".contains(&it);
    !["", ".", ".."].contains(&name) && name.bytes().all(is_plain)
}

/// Checks that a workspace is one that can be deleted.
///
/// # Errors
///
/// If it is the one that always exists, or has no name.
pub(super) fn check_deletable(name: &str) -> std::io::Result<()> {
    match name {
        "" => Err(std::io::Error::other("empty state name")),
        DEFAULT => Err(std::io::Error::other("cannot delete default state")),
        _ => Ok(()),
    }
}

/// Lists the workspaces that have a folder under `folder`, sorted, the default one first.
pub fn list(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders =
        entries.filter(|it| it.path().is_dir()).filter_map(|it| it.file_name().into_string().ok());
    listed(folders.filter(|it| is_valid_name(it)))
}

/// Lists workspaces in the order in which they are told: the default one first, which is always there, the others sorted. A name with
/// control characters is left out: it would read as several names, and no command can select it.
pub fn listed(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let is_shown = |it: &String| it != DEFAULT && !it.contains(char::is_control);
    let others: BTreeSet<String> = names.into_iter().filter(is_shown).collect();
    std::iter::once(DEFAULT.to_owned()).chain(others).collect()
}

/// The file of the selected workspace holds what no workspace is called.
fn invalid_selection(path: &Path, name: &str) -> Diagnostic {
    Diagnostic::error("Invalid workspace name").detail(format!(
        "{} selects the workspace {name:?}, which cannot be one: its name must be safe in a URL's path, and not \".\" or \"..\". Remove \
         the file to select the default workspace.",
        path.display()
    ))
}

/// The file of the selected workspace cannot be read: it might select another one than the default.
fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Failed to read the selected workspace").detail(format!(
        "{} cannot be read: {error}. Make it readable, or remove it to select the default workspace.",
        path.display()
    ))
}

fn invalid_name(name: &str) -> Diagnostic {
    Diagnostic::error("Invalid workspace name").detail(format!(
        "The workspace name {name:?} in TF_WORKSPACE cannot be used: it must be safe in a URL's path without escapes, and not \".\" or \"..\"."
    ))
}
