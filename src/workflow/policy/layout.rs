//! `policy fmt`: brings files of rules into the usual form.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::backend::files::{Fresh, replace};
use crate::datalog::parse::layout;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::operation::policies;
use crate::workflow::Host;
use crate::workflow::format::Formatted;

/// What `policy fmt` is asked.
#[derive(Clone, Debug, Default)]
pub struct LayoutOptions {
    /// Files and folders; where none is named, the folder of policies with all below it, else the root module's folder.
    pub paths: Vec<String>,
    /// Whether files are written.
    pub write: bool,
    /// Whether folders below those that are named are formatted too.
    pub recursive: bool,
}

/// Formats files of rules. What could not be formatted or written is told beside what could.
pub fn format(host: &Host<'_>, options: &LayoutOptions) -> (Vec<Formatted>, Diagnostics) {
    let (mut formatted, mut problems) = (Vec::new(), Diagnostics::new());
    let world = &**host.world;
    for path in problems.take(files(host, options)).unwrap_or_default() {
        let name = policies::shown(world, &path);
        let Ok(text) = world.files.read_text(&path) else {
            problems.push(failed("Policy cannot be read", &name));
            continue;
        };
        let file = host.sources.add(name.clone(), Arc::from(text.as_str()));
        let Some(new) = problems.take(layout::format(file, &text)) else { continue };
        let is_written = text != new && options.write && !world.files.is_laid(&path);
        if is_written && replace(&path, new.as_bytes(), Fresh::Usual).is_err() {
            problems.push(failed("Policy cannot be written", &name));
        }
        formatted.push(Formatted { name, old: text, new });
    }
    (formatted, problems)
}

fn files(host: &Host<'_>, options: &LayoutOptions) -> Result<Vec<PathBuf>, Diagnostic> {
    let world = &**host.world;
    let folder = world.root.join(policies::FOLDER);
    if options.paths.is_empty() {
        return Ok(match world.files.is_folder(&folder) {
            true => policies::files_below(world, &folder, policies::ENDING),
            false => in_folder(host, &world.root, options.recursive),
        });
    }
    let mut found = Vec::new();
    for name in &options.paths {
        let path = if name == "." { world.root.clone() } else { world.root.join(name) };
        if world.files.is_folder(&path) {
            found.extend(in_folder(host, &path, options.recursive));
        } else if world.files.is_file(&path) {
            found.push(path);
        } else {
            return Err(Diagnostic::error("Invalid file or directory path")
                .detail(format!("There is no file or folder {name}.")));
        }
    }
    found.dedup();
    Ok(found)
}

fn in_folder(host: &Host<'_>, folder: &Path, is_recursive: bool) -> Vec<PathBuf> {
    let mut found = policies::files_below(host.world, folder, policies::ENDING);
    found.retain(|it| is_recursive || it.parent() == Some(folder));
    found
}

fn failed(summary: &str, name: &str) -> Diagnostic {
    Diagnostic::error(summary)
        .detail(format!("{name}: see whether it is there, and whom it belongs to."))
}
