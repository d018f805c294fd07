//! The paths that a pattern of `fleet.hcl` means.
//!
//! `**` follows links to folders, but enters each folder once: a link that leads back adds nothing.

use std::collections::{BTreeSet, VecDeque};
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern, PatternError, glob_with};

/// How parts of paths are compared: names that begin with a dot are meant only by a pattern that says so.
const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: false,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// Returns the paths that a whole pattern means, sorted.
///
/// # Errors
///
/// If it is no pattern.
pub fn paths(pattern: &str) -> Result<Vec<PathBuf>, PatternError> {
    Pattern::new(pattern)?;
    let mut found = BTreeSet::new();
    add(pattern, &mut found)?;
    Ok(found.into_iter().collect())
}

fn add(pattern: &str, found: &mut BTreeSet<PathBuf>) -> Result<(), PatternError> {
    let parts: Vec<&str> = pattern.split('/').collect();
    let Some(at) = parts.iter().position(|it| *it == "**") else {
        found.extend(glob_with(pattern, OPTIONS)?.flatten());
        return Ok(());
    };
    let rest: Vec<&str> = parts[at..].iter().copied().skip_while(|it| *it == "**").collect();
    let (start, rest) = (format!("{}/", parts[..at].join("/")), rest.join("/"));
    for start in glob_with(&start, OPTIONS)?.flatten() {
        for folder in folders(&start) {
            if !rest.is_empty() {
                let folder = Pattern::escape(&folder.to_string_lossy());
                add(&format!("{}/{rest}", folder.trim_end_matches('/')), found)?;
            } else if folder != start {
                found.insert(folder);
            }
        }
    }
    Ok(())
}

/// Returns a folder and those below it: first those that no link leads to, then those behind links that were not among them.
fn folders(start: &Path) -> Vec<PathBuf> {
    let (mut found, mut entered) = (Vec::new(), BTreeSet::new());
    let (mut open, mut links) = (vec![start.to_owned()], VecDeque::new());
    while let Some(folder) = open.pop().or_else(|| links.pop_front()) {
        if !folder.canonicalize().is_ok_and(|it| entered.insert(it)) {
            continue;
        }
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let is_hidden = |it: &DirEntry| it.file_name().as_encoded_bytes().starts_with(b".");
        let mut entries: Vec<DirEntry> = entries.filter(|it| !is_hidden(it)).collect();
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_symlink() && entry.path().is_dir() => {
                    links.push_back(entry.path());
                }
                _ => {}
            }
        }
        found.push(folder);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::paths;

    #[test]
    fn folders_are_entered_once_however_links_lead_back() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path().canonicalize().expect("it is there");
        for folder in ["s/d/e", "s/.hidden", "other/x"] {
            std::fs::create_dir_all(root.join(folder)).expect("it is made");
        }
        let files =
            ["s/one.tfstate", "s/d/two.tfstate", "s/d/e/three.tfstate", "s/.hidden/a.tfstate"];
        for file in files.iter().chain(&["other/x/four.tfstate"]) {
            std::fs::write(root.join(file), "").expect("it is written");
        }
        // The links stand before the folders in order, and each of them would double what is found.
        for (target, link) in [(".", "s/a"), ("..", "s/d/b"), ("d/e", "s/c"), ("../other", "s/z")] {
            symlink(target, root.join(link)).expect("a link");
        }
        let found = |pattern: &str| {
            let paths = paths(&format!("{}/{pattern}", root.display())).expect("a pattern");
            let names = paths.iter().map(|it| it.strip_prefix(&root).expect("it is below"));
            names.map(|it| it.display().to_string()).collect::<Vec<_>>()
        };
        let all = ["s/d/e/three.tfstate", "s/d/two.tfstate", "s/one.tfstate", "s/z/x/four.tfstate"];
        assert_eq!(found("s/**/*.tfstate"), all);
        assert_eq!(found("s/**/**/*.tfstate"), all);
        assert_eq!(found("s/**"), ["s/d", "s/d/e", "s/z", "s/z/x"]);
        assert_eq!(found("**/x/*.tfstate"), ["other/x/four.tfstate"]);
        assert_eq!(found("s/*.tfstate"), ["s/one.tfstate"]);
        assert_eq!(found("nowhere/**/*"), [""; 0]);
        assert!(paths("a**b").is_err() && paths("/a/[").is_err());
    }
}
