//! `man`: pages for `man`, one for each command, made from the same tables as `-help`. For those who make packages.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Command as Grammar, CommandFactory};
use clap_mangen::Man;
use entail::diagnostic::{Diagnostic, Diagnostics, system_words};

use super::{Cli, words};
use crate::ui::Ui;

/// Write man pages into a folder
///
/// Writes one page for each command, `entail.1` and `entail-plan.1` and so on. The folder is made where it is missing.
#[derive(clap::Args, Debug)]
pub struct ManArgs {
    /// The folder
    #[arg(value_name = "FOLDER", hide = true)]
    pub words: Vec<String>,
}

/// Writes the pages.
pub fn run(ui: &Ui, root: &Path, args: &ManArgs) -> Result<u8, Diagnostics> {
    let detail =
        "The man command expects exactly one argument: the folder that the pages are written into.";
    let [folder] = words(&args.words, "Invalid number of arguments", detail)?;
    let folder = root.join(folder);
    fs::create_dir_all(&folder).map_err(|it| not_written(&folder, &it))?;
    let pages = pages();
    for (name, page) in &pages {
        let path = folder.join(name);
        fs::write(&path, page).map_err(|it| not_written(&path, &it))?;
    }
    ui.out(&format!("{} pages are in {}\n", pages.len(), folder.display()));
    Ok(0)
}

/// Returns every page and the name of its file. Commands that are not shown have none.
fn pages() -> Vec<(PathBuf, String)> {
    let mut grammar = Cli::command()
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .disable_help_flag(true);
    grammar.build();
    let mut pages = Vec::new();
    let mut open = vec![(grammar, "entail".to_owned())];
    while let Some((grammar, name)) = open.pop() {
        let inner = grammar.get_subcommands().filter(|it| !it.is_hide_set());
        open.extend(inner.map(|it| (it.clone(), format!("{name}-{}", it.get_name()))));
        pages.push((PathBuf::from(format!("{name}.1")), page(grammar, &name)));
    }
    pages.sort();
    pages
}

/// Returns one page, with flags as they are written: with a single dash.
fn page(grammar: Grammar, name: &str) -> String {
    let mut page = Vec::new();
    // Nothing of it can fail: it is written into memory.
    let written = Man::new(grammar.display_name(name.to_owned())).title(name).render(&mut page);
    debug_assert!(written.is_ok());
    String::from_utf8_lossy(&page).replace(r"\-\-", r"\-")
}

fn not_written(path: &Path, why: &io::Error) -> Diagnostic {
    Diagnostic::error("Man page not written").detail(format!(
        "{}: {}.",
        path.display(),
        system_words(why)
    ))
}
