//! What was edited since a commit, as git says.

use std::ops::RangeInclusive;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use super::edits::Edits;
use crate::diagnostic::Diagnostic;
use crate::error::Error;

/// Returns what was edited since a commit in files of configurations and variables.
///
/// - `root`: the root module; files are named relative to it.
///
/// # Errors
///
/// If there is no git, no repository, or no such commit.
pub fn since(root: &Path, reference: &str) -> Result<Vec<Edits>, Diagnostic> {
    let failed = |why: Error| {
        Diagnostic::error("Edits since a commit cannot be found")
            .detail(format!("What was edited since {reference} is not known: {why}."))
    };
    let run = |arguments: &[&str]| git(root, arguments).map_err(failed);
    let top = PathBuf::from(run(&["rev-parse", "--show-toplevel"])?.trim_end());
    let commit = format!("{reference}^{{commit}}");
    run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]).map_err(|_| {
        Diagnostic::error("No such commit")
            .detail(format!("{reference} names no commit of the repository at {}.", top.display()))
    })?;
    let plainly =
        ["-c", "core.quotepath=off", "diff", "--unified=0", "--no-color", "--no-ext-diff"];
    let named =
        ["--no-renames", "--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", reference];
    let differences = run(&[&plainly[..], &named[..]].concat())?;
    let mut found = Vec::new();
    for (path, (before, now)) in hunks(&differences) {
        if !is_configuration(&path) {
            continue;
        }
        let old = format!("{reference}:{path}");
        // A file that is new has no text before.
        let old = run(&["show", "--end-of-options", &old]).unwrap_or_default();
        let file = relative(root, &top.join(&path));
        found.push(Edits { file, lines: now, before: Some((old, before)) });
    }
    let others = run(&["ls-files", "--others", "--exclude-standard", "--full-name", ":/"])?;
    for path in others.lines().filter(|it| is_configuration(it)) {
        let file = relative(root, &top.join(path));
        found.push(Edits { file, lines: vec![1..=usize::MAX], before: Some(Default::default()) });
    }
    Ok(found)
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String, Error> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    let output = command.output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            "git is not installed, or not on the search path".to_owned()
        }
        _ => format!("git cannot be started: {error}"),
    })?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said: Vec<&str> = said.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
            Err(said.join("; ").into())
        }
    }
}

type Lines = Vec<RangeInclusive<usize>>;

/// The files of a difference without context, each with the lines that were, and those that are.
fn hunks(text: &str) -> Vec<(String, (Lines, Lines))> {
    let mut found: Vec<(String, (Lines, Lines))> = Vec::new();
    // What was taken away may look like the name of a file.
    let mut is_head = true;
    for line in text.lines() {
        let name = |it: &str| it.get(2..).unwrap_or_default().to_owned();
        if line.starts_with("diff --git ") {
            is_head = true;
        } else if !is_head && !line.starts_with("@@ ") {
            continue;
        } else if let Some(file) = line.strip_prefix("--- ").filter(|it| *it != "/dev/null") {
            found.push((name(file), Default::default()));
        } else if let Some(file) = line.strip_prefix("+++ ").filter(|it| *it != "/dev/null") {
            if found.last().is_none_or(|it| it.0 != name(file)) {
                found.push((name(file), Default::default()));
            }
        } else if let Some(ranges) = line.strip_prefix("@@ ")
            && let Some((_, (before, now))) = found.last_mut()
        {
            is_head = false;
            let mut parts = ranges.split(' ');
            before.extend(parts.next().and_then(|it| range(it.trim_start_matches('-'))));
            now.extend(parts.next().and_then(|it| range(it.trim_start_matches('+'))));
        }
    }
    found
}

/// `3,2`: two lines from the third; `3`: one; `3,0`: none.
fn range(text: &str) -> Option<RangeInclusive<usize>> {
    let (first, count) = text.split_once(',').unwrap_or((text, "1"));
    let (first, count): (usize, usize) = (first.parse().ok()?, count.parse().ok()?);
    (count > 0).then(|| first..=first + count - 1)
}

fn is_configuration(path: &str) -> bool {
    [".tf", ".tofu", ".tfvars", ".tf.json", ".tofu.json", ".tfvars.json"]
        .iter()
        .any(|it| path.ends_with(it))
}

/// A path as places name it: relative to the root module, with `..` where it lies outside.
fn relative(root: &Path, path: &Path) -> String {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let folder = path.parent().and_then(|it| it.canonicalize().ok());
    let path = match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    };
    let (own, other): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (root.components().collect(), path.components().collect());
    let common = own.iter().zip(&other).take_while(|it| it.0 == it.1).count();
    let up = own[common..].iter().map(|_| "..".to_owned());
    let down = other[common..].iter().map(|it| it.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::{hunks, range};

    #[test]
    fn hunks_name_lines_of_both_sides() {
        let text = "diff --git a/m/main.tf b/m/main.tf\n--- a/m/main.tf\n+++ b/m/main.tf\n@@ -3 +3,2 @@ resource\n-a\n+b\n+c\n@@ -9,2 +10,0 @@\n-x\n--- a/y\n\
                    diff --git a/new.tf b/new.tf\n--- /dev/null\n+++ b/new.tf\n@@ -0,0 +1,3 @@\n+1\n";
        let found = hunks(text);
        assert_eq!(found[0], ("m/main.tf".to_owned(), (vec![3..=3, 9..=10], vec![3..=4])));
        assert_eq!(found[1], ("new.tf".to_owned(), (vec![], vec![1..=3])));
        assert_eq!(range("4,0"), None);
    }
}
