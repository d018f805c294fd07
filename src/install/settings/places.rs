//! Where the CLI configuration and the plugins of a user lie.

use std::path::PathBuf;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::world::World;

/// Returns the files that make up the CLI configuration, in the order in which they count.
pub fn files(world: &World, problems: &mut Diagnostics) -> Vec<PathBuf> {
    let given = world.variable("TF_CLI_CONFIG_FILE").or_else(|| world.variable("TERRAFORM_CONFIG"));
    if let Some(given) = given {
        let file = world.cwd.join(given);
        if file.exists() {
            return vec![file];
        }
        problems.push(missing(given));
        return Vec::new();
    }
    let Some(home) = home(world) else { return Vec::new() };
    let (own, legacy) = (home.join(".tofurc"), home.join(".terraformrc"));
    let folder = || world.variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let main = match (own.exists(), legacy.exists()) {
        (true, _) => Some(own),
        (false, true) => Some(legacy),
        (false, false) => folder().map(|it| it.join("opentofu").join("tofurc")),
    };
    let mut files: Vec<PathBuf> = main.into_iter().filter(|it| it.exists()).collect();
    let mut more = home.join(".terraform.d");
    if !more.exists()
        && let Some(folder) = folder()
    {
        more = folder.join("opentofu");
    }
    let entries = std::fs::read_dir(&more).into_iter().flatten().flatten();
    let mut names: Vec<PathBuf> = entries.map(|it| it.path()).collect();
    names.retain(|it| {
        let name = it.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        name.ends_with(".tfrc") || name.ends_with(".tfrc.json")
    });
    names.sort();
    files.extend(names);
    files
}

/// Returns the folders whose `plugins` are searched without being asked for, besides that of the working directory.
pub fn data_folders(world: &World) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let data = world.variable("XDG_DATA_HOME").map(PathBuf::from);
    if let Some(home) = home(world) {
        folders.push(home.join(".terraform.d"));
        folders.extend(data.iter().map(|it| it.join("opentofu")));
        folders.push(data.unwrap_or_else(|| home.join(".local").join("share")).join("terraform"));
    }
    let shared = world.variable("XDG_DATA_DIRS").unwrap_or("/usr/local/share:/usr/share");
    folders.extend(
        shared.split(':').filter(|it| !it.is_empty()).map(|it| PathBuf::from(it).join("terraform")),
    );
    folders
}

fn home(world: &World) -> Option<PathBuf> {
    world.variable("HOME").map(PathBuf::from)
}

fn missing(file: &str) -> Diagnostic {
    Diagnostic::warning("Unable to open CLI configuration file")
        .detail(format!("The CLI configuration file at {file:?} does not exist."))
}
