//! Where provisioner plugins are: executable files `terraform-provisioner-NAME` in folders that are searched in order.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::Platform;
use super::settings::user_folders;
use crate::backend::files::{self, Fresh};
use crate::backend::workspace::data_folder;
use crate::config::version::Version;
use crate::diagnostic::Diagnostic;
use crate::world::World;

/// How the name of each file begins.
const PREFIX: &str = "terraform-provisioner-";

/// The file that holds the folders of `init -plugin-dir`: a JSON list.
const FORCED: &str = "plugin_path";

/// Returns the folders that are searched, the first ones first: those of `init -plugin-dir` alone, or the usual ones.
fn folders(world: &World) -> Vec<PathBuf> {
    let forced = forced(world);
    if !forced.is_empty() {
        return forced;
    }
    let platform = Platform::current().to_string();
    let mut folders = vec![world.root.clone()];
    let program = std::env::current_exe().ok();
    folders.extend(program.as_deref().and_then(Path::parent).map(Path::to_owned));
    folders.push(vendor_folder(world));
    folders.push(data_folder(world).join("plugins").join(&platform));
    for folder in user_folders(world) {
        let plugins = folder.join("plugins");
        folders.push(plugins.clone());
        folders.push(plugins.join(&platform));
    }
    folders
}

/// Returns the folder of the working directory that is made for plugins of this platform.
fn vendor_folder(world: &World) -> PathBuf {
    let platform = Platform::current().to_string();
    world.root.join("terraform.d").join("plugins").join(platform)
}

/// Returns the folders that `init -plugin-dir` has recorded. A list that cannot be read counts for none.
fn forced(world: &World) -> Vec<PathBuf> {
    let json = world.files.read_regular(&data_folder(world).join(FORCED)).unwrap_or_default();
    let folders: Vec<PathBuf> = serde_json::from_slice(&json).unwrap_or_default();
    folders.into_iter().map(|it| world.root.join(it)).collect()
}

/// Records the folders of `init -plugin-dir`, which count until others are recorded. An empty name ends that; no folders
/// change nothing.
///
/// # Errors
///
/// If the record cannot be written.
pub fn record_folders(world: &World, folders: &[PathBuf]) -> Result<(), Diagnostic> {
    let path = data_folder(world).join(FORCED);
    let done = match folders {
        [] => return Ok(()),
        [one] if one.as_os_str().is_empty() => match std::fs::remove_file(&path) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        },
        folders => serde_json::to_vec_pretty(folders)
            .map_err(io::Error::from)
            .and_then(|it| files::replace(&path, &it, Fresh::Usual)),
    };
    done.map_err(|why| {
        Diagnostic::error("Plugin folders not recorded").detail(format!(
            "{} cannot be written: {why}. It holds the folders of -plugin-dir.",
            path.display()
        ))
    })
}

/// Returns the file of each provisioner plugin by the provisioner's name: the newest version, and of one version the file in
/// the first folder.
pub fn find_provisioners(world: &World) -> BTreeMap<String, PathBuf> {
    find_in(world, &folders(world))
}

fn find_in(world: &World, folders: &[PathBuf]) -> BTreeMap<String, PathBuf> {
    let mut newest: BTreeMap<String, (Version, PathBuf)> = BTreeMap::new();
    for folder in folders {
        for entry in world.files.entries(folder).unwrap_or_default() {
            let Some((name, version)) = entry.name.to_str().and_then(name_of) else { continue };
            let path = folder.join(&entry.name);
            let is_newest = newest.get(&name).is_none_or(|it| it.0 < version);
            if is_newest && world.files.is_file(&path) {
                newest.insert(name, (version, path));
            }
        }
    }
    newest.into_iter().map(|(name, (_, path))| (name, path)).collect()
}

/// Returns the provisioner and the version that a file name means: `terraform-provisioner-NAME`, then perhaps `_vVERSION`,
/// then perhaps `_xNUMBER`, which counts for nothing, then perhaps `.exe`. A file without a version has version 0.0.0.
fn name_of(file: &str) -> Option<(String, Version)> {
    let rest = file.strip_prefix(PREFIX)?.to_lowercase();
    let rest = rest.strip_suffix(".exe").unwrap_or(&rest);
    let (name, version) = rest.split_once("_v").unwrap_or((rest, "0.0.0"));
    let version = version.split_once("_x").map_or(version, |it| it.0);
    if name.is_empty() {
        return None;
    }
    Some((name.to_owned(), Version::parse(version)?))
}

/// Returns where the user can put the plugin of a provisioner, in words.
pub fn provisioner_places(world: &World, name: &str) -> String {
    let shown = |it: &Path| it.strip_prefix(&world.root).unwrap_or(it).display().to_string();
    let folders = match forced(world) {
        forced if forced.is_empty() => {
            let user = user_folders(world).into_iter().map(|it| it.join("plugins"));
            std::iter::once(vendor_folder(world)).chain(user.take(1)).collect()
        }
        forced => forced,
    };
    let folders: Vec<String> = folders.iter().map(|it| shown(it)).collect();
    format!("put the executable file {PREFIX}{name} into {}", folders.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str) -> String {
        match name_of(file) {
            Some((name, version)) => format!("{name} {version}"),
            None => "none".into(),
        }
    }

    #[test]
    fn a_file_name_tells_the_provisioner_and_its_version() {
        assert_eq!(check("terraform-provisioner-shell"), "shell 0.0.0");
        assert_eq!(check("terraform-provisioner-Shell.exe"), "shell 0.0.0");
        assert_eq!(check("terraform-provisioner-shell_v1.2.3"), "shell 1.2.3");
        assert_eq!(check("terraform-provisioner-local-exec_V1.2.3_x4.exe"), "local-exec 1.2.3");
        assert_eq!(check("terraform-provisioner-shell_vnext"), "none");
        assert_eq!(check("terraform-provisioner-"), "none");
        assert_eq!(check("terraform-provider-shell"), "none");
        assert_eq!(check("Terraform-provisioner-shell"), "none");
    }

    /// A world whose root holds these files, with `home` as the user's folder.
    fn world(files: &[&str]) -> (tempfile::TempDir, World) {
        let folder = tempfile::tempdir().expect("a folder");
        let platform = Platform::current().to_string();
        for file in files {
            let path = folder.path().join("root").join(file.replace("PLATFORM", &platform));
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
            std::fs::write(path, "").expect("it is written");
        }
        let mut world = World::of_this_process();
        world.root = folder.path().join("root");
        let home = world.root.join("home").display().to_string();
        world.environment = BTreeMap::from([("HOME".to_owned(), home)]);
        (folder, world)
    }

    /// Finds plugins, and returns each name with its file relative to the root.
    fn found(files: &[&str]) -> String {
        let (_folder, world) = world(files);
        let found = find_provisioners(&world);
        let one = |(name, path): (&String, &PathBuf)| {
            let path = path.strip_prefix(&world.root).expect("it is in the root");
            let path = path.display().to_string();
            format!("{name}: {}", path.replace(&Platform::current().to_string(), "PLATFORM"))
        };
        found.iter().map(one).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_first_folder_with_the_newest_version_counts() {
        let all = [
            "terraform-provisioner-a",
            "terraform.d/plugins/PLATFORM/terraform-provisioner-a",
            "terraform.d/plugins/PLATFORM/terraform-provisioner-b",
            ".terraform/plugins/PLATFORM/terraform-provisioner-b",
            ".terraform/plugins/PLATFORM/terraform-provisioner-c",
            "home/.terraform.d/plugins/terraform-provisioner-c",
            "home/.terraform.d/plugins/terraform-provisioner-d",
            "home/.terraform.d/plugins/PLATFORM/terraform-provisioner-d",
            "home/.terraform.d/plugins/PLATFORM/terraform-provisioner-e",
            "terraform-provisioner-f_v1.9.0",
            "home/.terraform.d/plugins/terraform-provisioner-f_v1.10.0",
            "terraform-provisioner-g/file",
        ];
        let expected = [
            "a: terraform-provisioner-a",
            "b: terraform.d/plugins/PLATFORM/terraform-provisioner-b",
            "c: .terraform/plugins/PLATFORM/terraform-provisioner-c",
            "d: home/.terraform.d/plugins/terraform-provisioner-d",
            "e: home/.terraform.d/plugins/PLATFORM/terraform-provisioner-e",
            "f: home/.terraform.d/plugins/terraform-provisioner-f_v1.10.0",
        ];
        assert_eq!(found(&all), expected.join("\n"));
    }

    #[test]
    fn recorded_folders_take_the_place_of_all_others() {
        let (_folder, world) = world(&["terraform-provisioner-a", "mine/terraform-provisioner-b"]);
        let names = || find_provisioners(&world).into_keys().collect::<Vec<_>>();
        assert_eq!(names(), ["a"]);
        record_folders(&world, &["mine".into()]).expect("it is written");
        assert_eq!(names(), ["b"]);
        assert_eq!(
            provisioner_places(&world, "a"),
            "put the executable file terraform-provisioner-a into mine"
        );
        record_folders(&world, &[]).expect("nothing is written");
        assert_eq!(names(), ["b"]);
        record_folders(&world, &["".into()]).expect("it is removed");
        assert_eq!(names(), ["a"]);
    }
}
