//! Where the CLI configuration and the plugins of a user lie.

use std::path::PathBuf;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::world::World;

/// Returns the files that make up the CLI configuration, in the order in which they count.
pub fn files(world: &World, problems: &mut Diagnostics) -> Vec<PathBuf> {
    let files = &world.files;
    if let Some((_, given)) = only_file(world) {
        let file = world.cwd.join(given);
        if files.exists(&file) {
            return vec![file];
        }
        problems.push(missing(given));
        return Vec::new();
    }
    let Some(home) = home(world) else { return Vec::new() };
    let (own, legacy) = (home.join(".tofurc"), home.join(".terraformrc"));
    let folder = || world.variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let main = match (files.exists(&own), files.exists(&legacy)) {
        (true, _) => Some(own),
        (false, true) => Some(legacy),
        (false, false) => folder().map(|it| it.join("opentofu").join("tofurc")),
    };
    let mut found: Vec<PathBuf> = main.into_iter().filter(|it| files.exists(it)).collect();
    let Some(more) = config_folder(world) else { return found };
    let entries = files.entries(&more).unwrap_or_default();
    let mut names: Vec<PathBuf> = entries.iter().map(|it| more.join(&it.name)).collect();
    names.retain(|it| {
        let name = it.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        name.ends_with(".tfrc") || name.ends_with(".tfrc.json")
    });
    found.extend(names);
    found
}

/// Returns the variable that names one file in the place of all others, and the file.
pub fn only_file(world: &World) -> Option<(&'static str, &str)> {
    let variables = ["TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"];
    variables.into_iter().find_map(|it| Some((it, world.variable(it)?)))
}

/// Returns the folder of the user whose files belong to the CLI configuration, tokens among them.
pub fn config_folder(world: &World) -> Option<PathBuf> {
    let usual = home(world)?.join(".terraform.d");
    let other = world.variable("XDG_CONFIG_HOME").filter(|_| !world.files.exists(&usual));
    Some(other.map_or(usual, |it| PathBuf::from(it).join("opentofu")))
}

/// Returns the folders whose `plugins` are searched without being asked for, besides that of the working directory.
pub fn data_folders(world: &World) -> Vec<PathBuf> {
    let mut folders = user_folders(world);
    let data = world.variable("XDG_DATA_HOME").map(PathBuf::from);
    if let Some(home) = home(world) {
        folders.push(data.unwrap_or_else(|| home.join(".local").join("share")).join("terraform"));
    }
    let shared = world.variable("XDG_DATA_DIRS").unwrap_or("/usr/local/share:/usr/share");
    folders.extend(
        shared.split(':').filter(|it| !it.is_empty()).map(|it| PathBuf::from(it).join("terraform")),
    );
    folders
}

/// Returns the user's folders whose `plugins` may hold plugins of every kind.
pub fn user_folders(world: &World) -> Vec<PathBuf> {
    let Some(home) = home(world) else { return Vec::new() };
    let data = world.variable("XDG_DATA_HOME").map(|it| PathBuf::from(it).join("opentofu"));
    std::iter::once(home.join(".terraform.d")).chain(data).collect()
}

fn home(world: &World) -> Option<PathBuf> {
    world.variable("HOME").map(PathBuf::from)
}

fn missing(file: &str) -> Diagnostic {
    Diagnostic::warning("Unable to open CLI configuration file")
        .detail(format!("The CLI configuration file at {file:?} does not exist."))
}
