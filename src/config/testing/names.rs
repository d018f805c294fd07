//! Which files of a module are test files, and in which order they run.

use std::path::{Component, Path, PathBuf};

use super::super::files::is_ignored;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::world::Files;

/// The folder of tests where none is named.
const USUAL: &str = "tests";

/// The endings of test files; of those that say the same, the first counts.
const ENDINGS: [(&str, &str); 2] =
    [(".tofutest.hcl", ".tftest.hcl"), (".tofutest.json", ".tftest.json")];

/// A test file by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestFileName {
    /// Its path, relative to the root module's folder.
    pub path: String,
}

impl TestFileName {
    /// Returns whether the file is written in JSON.
    pub fn is_json(&self) -> bool {
        self.path.ends_with(".json")
    }

    /// Returns the folders of the file and its name without ending: the steps under which its modules are installed.
    pub fn steps(&self) -> Vec<String> {
        let ending = ENDINGS.iter().flat_map(|it| [it.0, it.1]).find(|it| self.path.ends_with(it));
        let base = self.path.strip_suffix(ending.unwrap_or_default()).unwrap_or(&self.path);
        base.split('/').map(str::to_owned).collect()
    }
}

/// Lists the test files of a folder and of its folder of tests, in the order in which they run.
///
/// A folder of tests that is not there is warned of, unless it is the usual one.
pub fn test_files(
    files: &Files,
    root: &Path,
    directory: &Path,
) -> (Vec<TestFileName>, Diagnostics) {
    let mut problems = Diagnostics::new();
    let mut found = in_folder(files, root, "").unwrap_or_default();
    let shown = clean(directory);
    if !shown.is_empty() {
        match in_folder(files, &root.join(&shown), &shown) {
            Some(more) => found.extend(more),
            None if shown != USUAL => problems.push(no_folder(&shown)),
            None => {}
        }
    }
    found.sort();
    found.dedup();
    (found, problems)
}

/// Returns a folder as it stands before the names of its files: no steps that lead nowhere.
fn clean(directory: &Path) -> String {
    let mut parts = PathBuf::new();
    for part in directory.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if parts.file_name().is_some() => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    parts.to_string_lossy().into_owned()
}

/// Returns the test files of one folder; nothing where it cannot be read.
fn in_folder(files: &Files, folder: &Path, shown: &str) -> Option<Vec<TestFileName>> {
    let entries = files.entries(folder).ok()?;
    let mut names: Vec<String> = entries
        .into_iter()
        .filter(|it| !it.is_folder && !files.is_folder(&folder.join(&it.name)))
        .filter_map(|it| it.name.into_string().ok())
        .filter(|it| !is_ignored(it) && is_test(it))
        .collect();
    names.sort();
    let is_shadowed = |name: &str| {
        ENDINGS.iter().any(|(first, second)| {
            let base = name.strip_suffix(second);
            base.is_some_and(|it| names.binary_search(&format!("{it}{first}")).is_ok())
        })
    };
    let path = |name: &str| if shown.is_empty() { name.into() } else { format!("{shown}/{name}") };
    let kept = names.iter().filter(|it| !is_shadowed(it));
    Some(kept.map(|it| TestFileName { path: path(it) }).collect())
}

fn is_test(name: &str) -> bool {
    ENDINGS.iter().any(|it| name.ends_with(it.0) || name.ends_with(it.1))
}

fn no_folder(shown: &str) -> Diagnostic {
    Diagnostic::warning("Test directory does not exist").detail(format!(
        "Requested test directory {shown} does not exist. Only the test files beside the configuration are read."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        for name in list {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, "").expect("written");
        }
        let (found, problems) =
            test_files(&Files::default(), folder.path(), Path::new("./tests/../tests/"));
        assert!(problems.is_empty());
        found.iter().map(|it| it.path.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn files_of_tests_run_in_the_order_of_their_paths() {
        assert_eq!(
            names(&[
                "z.tftest.hcl",
                "a.tofutest.json",
                "tests/b.tftest.hcl",
                "tests/deep/c.tftest.hcl"
            ]),
            "a.tofutest.json tests/b.tftest.hcl z.tftest.hcl"
        );
    }

    #[test]
    fn a_file_for_this_program_shadows_its_twin() {
        assert_eq!(
            names(&[
                "m.tftest.hcl",
                "m.tofutest.hcl",
                "m.tftest.json",
                ".h.tftest.hcl",
                "b.tftest.hcl~"
            ]),
            "m.tftest.json m.tofutest.hcl"
        );
    }
}
