//! Moving into encryption: what this program has kept in plain text on this machine is sealed in place once the state is.
//!
//! A backup, a log or a journal that was set aside holds the same secrets as the state. Nothing is deleted, and what cannot be
//! sealed is named.

use std::io;
use std::path::{Path, PathBuf};

use super::Snapshots;
use crate::backend::files::{self, Fresh};
use crate::backend::seal::{Part, is_sealed};
use crate::backend::workspace;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::error::Error;
use crate::state::read;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    State,
    /// Lines that are sealed one by one: a journal or a log.
    Lines,
}

/// Why a file was not sealed.
type Failed = (PathBuf, String);

impl Snapshots {
    /// Seals every plain copy that lies on this machine, once in a process and only where states are sealed.
    pub(super) fn seal_copies(&self) -> Diagnostics {
        let mut failed = Vec::new();
        for (path, form) in self.copies() {
            if let Err(why) = self.seal_copy(&path, form) {
                failed.push((path, why.to_string()));
            }
        }
        failed.sort();
        failed.dedup();
        if failed.is_empty() { Diagnostics::new() } else { not_sealed(&failed).into() }
    }

    /// Lists what this program may have written in plain text, as messages name it.
    fn copies(&self) -> Vec<(PathBuf, Form)> {
        let root = &self.world.root;
        let data = workspace::data_folder(&self.world);
        let data = data.strip_prefix(root).unwrap_or(&data).to_path_buf();
        let mut found: Vec<(PathBuf, Form)> = Vec::new();
        let mut add = |folder: &Path, is: &dyn Fn(&str) -> Option<Form>| {
            let entries = std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
            for name in entries.filter_map(|it| it.file_name().into_string().ok()) {
                found.extend(is(&name).map(|form| (folder.join(&name), form)));
            }
        };
        add(Path::new(""), &errored);
        add(&data.join("journals"), &|it| it.contains(".journal.").then_some(Form::Lines));
        add(&data.join("logs"), &|it| it.contains(".log").then_some(Form::Lines));
        // Where states were kept before they went elsewhere, and where those of other workspaces are.
        for file in self.store.files() {
            let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            add(&folder, &|it| beside(&name, it));
        }
        found.extend(self.store.backups().into_iter().map(|it| (it, Form::State)));
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found.dedup_by(|one, other| one.0 == other.0);
        found
    }

    fn seal_copy(&self, path: &Path, form: Form) -> Result<(), Error> {
        let at = self.world.root.join(path);
        let is_own = self.store.file(&self.workspace).is_some_and(|it| it == *path);
        if is_own || !std::fs::metadata(&at).is_ok_and(|it| it.is_file()) {
            return Ok(());
        }
        let words = |it: io::Error| Error::from(it.to_string());
        let old = files::read(&at).map_err(words)?.unwrap_or_default();
        let Some(new) = self.sealed(&old, form)? else { return Ok(()) };
        // Another workspace's state may be in use.
        let lock = match form {
            Form::State => {
                Some(files::lock(&at).map_err(words)?.ok_or("another run holds its lock")?)
            }
            Form::Lines => None,
        };
        let replaced = match files::read(&at) {
            Ok(now) if now.as_deref() == Some(&*old) => files::replace(&at, &new, Fresh::Private),
            Ok(_) => Err(io::Error::other("it has changed meanwhile")),
            Err(why) => Err(why),
        };
        lock.map_or(Ok(()), files::Locked::release).and(replaced).map_err(words)
    }

    /// Returns what a file holds, sealed; nothing where it is sealed already, or empty.
    fn sealed(&self, old: &[u8], form: Form) -> Result<Option<Vec<u8>>, Error> {
        let words = |it: Diagnostic| Error::from(it.detail);
        if old.trim_ascii().is_empty() {
            return Ok(None);
        }
        if form == Form::State {
            if is_sealed(old) {
                return Ok(None);
            }
            if !read::read(old).is_ok_and(|it| it.is_some()) {
                return Err("it holds no state that can be read".into());
            }
            let new = self.seals.seal(Part::State, old).map_err(words)?.into_owned();
            let is_whole = self.seals.open(Part::State, &new).is_ok_and(|it| *it == *old);
            return if is_whole { Ok(Some(new)) } else { Err("it cannot be opened again".into()) };
        }
        let (mut new, mut has_plain) = (Vec::with_capacity(old.len()), false);
        for line in old.split_inclusive(|it| *it == b'\n') {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            if text.is_empty() || is_sealed_line(text) {
                new.extend_from_slice(line);
                continue;
            }
            has_plain = true;
            new.extend_from_slice(&self.seals.seal(Part::Line, text).map_err(words)?);
            new.extend_from_slice(&line[text.len()..]);
        }
        Ok(has_plain.then_some(new))
    }
}

/// Whether a line of a journal or a log is sealed, with any key.
fn is_sealed_line(line: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Sealed {
        #[serde(rename = "key")]
        _key: String,
        #[serde(rename = "data")]
        _data: String,
    }
    serde_json::from_slice::<Sealed>(line).is_ok()
}

/// Recognises a state that was kept when it could not be written to its place.
fn errored(name: &str) -> Option<Form> {
    (name.starts_with("errored") && name.ends_with(".tfstate")).then_some(Form::State)
}

/// Recognises a file beside a state of this name: itself, its backups, its log, journals that were set aside.
fn beside(state: &str, name: &str) -> Option<Form> {
    let hidden =
        name.strip_prefix('.').and_then(|it| it.strip_prefix(state.trim_start_matches('.')));
    if hidden.is_some_and(|it| it.starts_with(".journal.")) {
        return Some(Form::Lines);
    }
    match name.strip_prefix(state)? {
        "" => Some(Form::State),
        ".log" | ".log.1" => Some(Form::Lines),
        rest if rest.starts_with('.') && rest.ends_with(".backup") => Some(Form::State),
        _ => None,
    }
}

/// The state is sealed, and copies of what it was are not.
fn not_sealed(failed: &[Failed]) -> Diagnostic {
    let line = |it: &Failed| format!("  - {}: {}", it.0.display(), it.1);
    let lines: Vec<String> = failed.iter().map(line).collect();
    Diagnostic::warning("Copies that are not encrypted").detail(format!(
        "The state is encrypted now. These files beside it could not be, and may hold secrets in plain text:\n{}\n\nEncrypt or delete them \
         yourself. The next command that writes the state tries again.",
        lines.join("\n")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_beside_a_state_are_known_by_their_names() {
        for (name, form) in [
            ("terraform.tfstate", Some(Form::State)),
            ("terraform.tfstate.backup", Some(Form::State)),
            ("terraform.tfstate.17-2.backup", Some(Form::State)),
            ("terraform.tfstate.log", Some(Form::Lines)),
            ("terraform.tfstate.log.1", Some(Form::Lines)),
            (".terraform.tfstate.journal.17", Some(Form::Lines)),
            (".terraform.tfstate.journal", None),
            (".terraform.tfstate.lock.info", None),
            ("terraform.tfstate.mine", None),
            ("other.tfstate", None),
        ] {
            assert_eq!(beside("terraform.tfstate", name), form, "{name}");
        }
        assert_eq!(errored("errored-2.tfstate"), Some(Form::State));
    }
}
