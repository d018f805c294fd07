//! Which files of a folder belong to its module, and in which role.

use std::path::Path;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::world::PRODUCT;
use crate::world::files::{Entry, Files};

/// The configuration files of one folder, in the order in which they are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigFiles {
    /// The names of ordinary files.
    pub primary: Vec<String>,
    /// The names of override files, which are merged over the ordinary ones.
    pub overriding: Vec<String>,
}

/// The endings that make a file part of a module, longest first.
const ENDINGS: [&str; 4] = [".tofu.json", ".tf.json", ".tofu", ".tf"];

impl ConfigFiles {
    /// Returns whether the folder holds no configuration at all.
    pub fn is_empty(&self) -> bool {
        self.primary.is_empty() && self.overriding.is_empty()
    }
}

/// Lists the configuration files of a folder, or nothing where the folder cannot be read.
pub fn config_files(files: &Files, folder: &Path) -> Option<ConfigFiles> {
    let entries = files.entries(folder).ok()?;
    // A link to a folder is a folder; what a dangling link means is found out when it is read.
    let is_folder = |it: &Entry| it.is_folder || files.is_folder(&folder.join(&it.name));
    let names = entries
        .into_iter()
        .filter_map(|it| it.name.clone().into_string().ok().filter(|_| !is_folder(&it)));
    Some(select(names.collect()))
}

/// Warns of files in a folder that another program reads, and that say nothing here.
pub fn of_others(files: &Files, folder: &Path) -> Diagnostics {
    let mut names: Vec<String> = files
        .entries(folder)
        .into_iter()
        .flatten()
        .filter_map(|it| it.name.into_string().ok())
        .filter(|it| !is_ignored(it) && it.ends_with(".tfquery.hcl"))
        .collect();
    names.sort();
    if names.is_empty() {
        return Diagnostics::new();
    }
    let detail = format!(
        "The files {} are read by \"terraform query\" alone. {PRODUCT} has no such command, so that their list blocks are passed over.",
        names.join(", ")
    );
    Diagnostic::warning("Query files are not read").detail(detail).into()
}

/// Chooses the configuration files among the names of a folder's files.
fn select(mut names: Vec<String>) -> ConfigFiles {
    names.retain(|it| !is_ignored(it) && ending(it).is_some());
    names.sort();
    let (overriding, primary) = names.into_iter().partition(|it: &String| is_override(it));
    ConfigFiles { primary: without_shadowed(primary), overriding: without_shadowed(overriding) }
}

/// Returns whether a file is a hidden file or an editor's scratch file.
pub fn is_ignored(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}

/// Returns whether the file is written for OpenTofu alone, so that its `required_version` counts.
pub fn is_tofu_file(name: &str) -> bool {
    name.ends_with(".tofu") || name.ends_with(".tofu.json")
}

fn ending(name: &str) -> Option<&'static str> {
    ENDINGS.into_iter().find(|it| name.ends_with(it))
}

fn is_override(name: &str) -> bool {
    let base = &name[..name.len() - ending(name).map_or(0, str::len)];
    base == "override" || base.ends_with("_override")
}

/// Drops `x.tf` where `x.tofu` stands beside it, and `x.tf.json` where `x.tofu.json` does.
fn without_shadowed(names: Vec<String>) -> Vec<String> {
    let twin = |name: &String| {
        let ending = ending(name)?;
        Some(format!("{}{}", name.strip_suffix(ending)?, ending.replace(".tf", ".tofu")))
    };
    let is_shadowed = |name: &String| {
        twin(name).is_some_and(|it| it != *name && names.binary_search(&it).is_ok())
    };
    names.iter().filter(|it| !is_shadowed(it)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &str, primary: &str, overriding: &str) {
        let files = select(names.split(' ').map(str::to_owned).collect());
        assert_eq!(
            (files.primary.join(" "), files.overriding.join(" ")),
            (primary.to_owned(), overriding.to_owned())
        );
    }

    #[test]
    fn files_are_read_in_the_order_of_their_names() {
        check("b.tf a.tofu c.tf.json", "a.tofu b.tf c.tf.json", "");
    }

    #[test]
    fn a_tofu_file_shadows_its_tf_twin() {
        check("a.tf a.tofu b.tf.json b.tofu.json b.tf", "a.tofu b.tf b.tofu.json", "");
    }

    #[test]
    fn override_files_are_kept_apart() {
        check(
            "override.tf main.tf a_override.tofu.json overrides.tf",
            "main.tf overrides.tf",
            "a_override.tofu.json override.tf",
        );
    }

    #[test]
    fn hidden_and_scratch_files_and_tests_are_ignored() {
        check(".a.tf b.tf~ #c.tf# d.tftest.hcl e.txt f.tf", "f.tf", "");
    }
}
