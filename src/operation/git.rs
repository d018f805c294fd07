//! What git knows of the repository that a folder lies in. Changes nothing in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorContext};

/// Runs git in a folder, and returns what it prints.
///
/// - `index`: the file that git takes for its index; nothing for its own.
///
/// # Errors
///
/// What git says, or that there is none.
pub fn run(folder: &Path, arguments: &[&str], index: Option<&Path>) -> Result<String, Error> {
    let mut command = Command::new("git");
    // A repository names programs of its own: for filters, file systems, hooks.
    command.args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
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

/// Returns the folder of the repository, where a commit is one of it.
///
/// # Errors
///
/// If there is no git, no repository, or no such commit.
pub fn repository_of(folder: &Path, reference: &str) -> Result<PathBuf, Diagnostic> {
    let top = run(folder, &["rev-parse", "--show-toplevel"], None).map_err(|why| {
        Diagnostic::error("No repository of git")
            .detail(format!("{} lies in no repository that git can read: {why}.", folder.display()))
    })?;
    let top = PathBuf::from(top.trim_end());
    let commit = format!("{reference}^{{commit}}");
    let found = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
    run(folder, &found, None).map_err(|_| {
        Diagnostic::error("No such commit")
            .detail(format!("{reference} names no commit of the repository at {}.", top.display()))
    })?;
    Ok(top)
}

/// The files of a commit, in a folder of their own that goes when this is dropped.
pub struct Tree {
    /// Everything, for as long as this lives.
    _folder: tempfile::TempDir,
    /// The root module in it.
    pub root: PathBuf,
}

impl Tree {
    /// Writes out the files of a commit. What git ignores beside the root module – what was installed, states, values of variables – is
    /// there as it is now.
    ///
    /// # Errors
    ///
    /// If there is no such commit, the root module is not in it, or the files cannot be written.
    pub fn of(root: &Path, reference: &str) -> Result<Tree, Diagnostic> {
        let top = repository_of(root, reference)?;
        let written = Tree::write(root, &top, reference);
        let tree = written.map_err(|why| {
            Diagnostic::error("The files of a commit cannot be had")
                .detail(format!("The files of {reference} cannot be written out: {why}."))
        })?;
        match tree.root.is_dir() {
            true => Ok(tree),
            false => Err(Diagnostic::error("No configuration in that commit")
                .detail(format!("{} is not in {reference}.", root.display()))),
        }
    }

    fn write(root: &Path, top: &Path, reference: &str) -> Result<Tree, Error> {
        let folder = tempfile::tempdir().context("no folder can be made for them")?;
        let (index, files) = (folder.path().join("index"), folder.path().join("files"));
        std::fs::create_dir(&files).context("no folder can be made for them")?;
        run(top, &["read-tree", "--end-of-options", reference], Some(&index))?;
        let prefix = format!("--prefix={}/", files.display());
        run(top, &["checkout-index", "--all", &prefix], Some(&index))?;
        let within = run(root, &["rev-parse", "--show-prefix"], None)?;
        let tree = Tree { root: files.join(within.trim_end()), _folder: folder };
        if tree.root.is_dir() {
            let ignored =
                ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory"];
            for name in run(root, &ignored, None)?.lines() {
                let name = name.trim_end_matches('/');
                let to = tree.root.join(name);
                if !name.contains('/') && !to.exists() {
                    link(&root.join(name), &to).context(format_args!("{name} cannot be linked"))?;
                }
            }
        }
        Ok(tree)
    }
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    match from.is_dir() {
        true => std::os::windows::fs::symlink_dir(from, to),
        false => std::fs::copy(from, to).map(drop),
    }
}
