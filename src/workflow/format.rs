//! `fmt`: finds files and brings them into the usual form.

use std::path::{Component, Path, PathBuf};

use super::host::Host;
use crate::backend::files::{Fresh, replace};
use crate::config::files::is_ignored;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax;
use crate::world::PROGRAM;
use crate::world::files::{Kind, by_name};

/// The endings of files that are formatted.
const ENDINGS: [&str; 5] = [".tf", ".tofu", ".tfvars", ".tftest.hcl", ".tofutest.hcl"];

/// What `fmt` is asked.
#[derive(Clone, Copy, Debug)]
pub struct FormatOptions<'a> {
    /// The files and folders, relative to the world's root; the root itself where none is named.
    pub paths: &'a [String],
    /// Whether files are written. A text that is laid over a file is not: whoever laid it takes the new one.
    pub write: bool,
    /// Whether folders below are formatted too.
    pub recursive: bool,
}

/// A file, or another text, as it was and in the usual form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formatted {
    /// Its name as people see it.
    pub name: String,
    /// As it was.
    pub old: String,
    /// In the usual form.
    pub new: String,
}

/// Formats files. What could not be formatted or written is told beside what could.
pub fn format(host: &Host<'_>, options: &FormatOptions<'_>) -> (Vec<Formatted>, Diagnostics) {
    let mut run = Run { host, options, formatted: Vec::new(), problems: Diagnostics::new() };
    if options.paths.is_empty() {
        run.directory(Path::new("."));
    } else {
        run.all(options.paths);
    }
    (run.formatted, run.problems)
}

/// Formats one text.
///
/// # Errors
///
/// If it is not UTF-8, or is no configuration.
pub fn format_text(host: &Host<'_>, name: &str, bytes: Vec<u8>) -> Result<Formatted, Diagnostics> {
    let text = String::from_utf8(bytes).map_err(|wrong| not_utf8(name, &wrong))?;
    let file = host.sources.add(name, text.as_str().into());
    let new = syntax::format(file, &text)?;
    Ok(Formatted { name: name.to_owned(), old: text, new })
}

struct Run<'a> {
    host: &'a Host<'a>,
    options: &'a FormatOptions<'a>,
    formatted: Vec<Formatted>,
    problems: Diagnostics,
}

impl Run<'_> {
    /// Formats the files and directories that are named; the first one that is not there ends it.
    fn all(&mut self, words: &[String]) {
        for word in words {
            let path = self.normal(word);
            let Ok(found) = self.at(&path) else {
                return self.problems.push(
                    Diagnostic::error("Invalid file or directory path")
                        .detail(format!("No file or directory at {}", path.display())),
                );
            };
            if found == Kind::Folder {
                self.directory(&path);
            } else if is_formatted(&path.to_string_lossy()) {
                self.file(&path);
            } else {
                self.problems.push(Diagnostic::error("Invalid file extension").detail(
                    format!("Only .tf, .tofu, .tfvars, .tftest.hcl, and .tofutest.hcl files can be processed with {PROGRAM} fmt"),
                ));
            }
        }
    }

    fn directory(&mut self, directory: &Path) {
        let world = self.host.world;
        let Ok(entries) = world.files.entries(&world.root.join(directory)) else {
            return self.problems.push(
                Diagnostic::error("Invalid path")
                    .detail(format!("Cannot read directory {}", directory.display())),
            );
        };
        for entry in entries {
            let name = entry.name.to_string_lossy().into_owned();
            if is_ignored(&name) {
                continue;
            }
            let path = match directory == Path::new(".") {
                true => PathBuf::from(&entry.name),
                false => directory.join(&entry.name),
            };
            if entry.is_folder {
                if self.options.recursive {
                    self.directory(&path);
                }
            } else if is_formatted(&name) {
                self.file(&path);
            }
        }
    }

    fn file(&mut self, path: &Path) {
        let (place, name) = (self.host.world.root.join(path), path.display().to_string());
        let Ok(bytes) = self.host.world.files.read_regular(&place) else {
            return self.problems.push(
                Diagnostic::error("Failed to open file")
                    .detail(format!("Failed to read file {name}")),
            );
        };
        let formatted = match format_text(self.host, &name, bytes) {
            Ok(formatted) => formatted,
            Err(problems) => return self.problems.extend(problems),
        };
        let changes = formatted.old != formatted.new;
        if changes
            && self.options.write
            && !self.host.world.files.is_laid(&place)
            && replace(&place, formatted.new.as_bytes(), Fresh::Usual).is_err()
        {
            self.problems.push(
                Diagnostic::error("Writing formatted file failed")
                    .detail(format!("Failed to write {name}")),
            );
        }
        self.formatted.push(formatted);
    }

    fn at(&self, path: &Path) -> std::io::Result<Kind> {
        self.host.world.files.kind(&self.host.world.root.join(path))
    }

    /// Returns a path relative to the working directory, without detours.
    fn normal(&self, word: &str) -> PathBuf {
        let here = by_name(&self.host.world.root);
        let whole = by_name(&self.host.world.root.join(word));
        let shared =
            whole.components().zip(here.components()).take_while(|it| it.0 == it.1).count();
        let up = here.components().skip(shared).map(|_| Component::ParentDir);
        let relative: PathBuf = up.chain(whole.components().skip(shared)).collect();
        match relative.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => relative,
        }
    }
}

fn is_formatted(name: &str) -> bool {
    ENDINGS.iter().any(|it| name.ends_with(it))
}

/// The bytes at hand are no text.
fn not_utf8(name: &str, wrong: &std::string::FromUtf8Error) -> Diagnostic {
    let before = &wrong.as_bytes()[..wrong.utf8_error().valid_up_to()];
    let line = before.iter().filter(|it| **it == b'\n').count() + 1;
    Diagnostic::error("Invalid character encoding").detail(format!(
        "Line {line} of {name} is not UTF-8. All input files must be UTF-8 encoded; choose that encoding in your editor.",
    ))
}
