//! `policy fmt`: brings files of rules into the usual form.

use std::sync::Arc;

use entail::diagnostic::Diagnostics;
use entail::workflow::policy::layout::{LayoutOptions, format};
use entail::world::World;

use crate::arguments::groups::LayoutArgs;
use crate::commands::silence;
use crate::ui::Ui;
use crate::view::difference;

/// Reformat policies in the usual form
///
/// Prints the names of files that change. Without names, the files of the folder `policies` are formatted, at any depth.
#[derive(clap::Args, Debug)]
pub struct FmtArgs {
    /// How files are formatted.
    #[command(flatten)]
    pub layout: LayoutArgs,

    /// Files and folders
    #[arg(value_name = "[DIR|FILE...]", hide = true)]
    pub words: Vec<String>,
}

/// Formats what the arguments name. Exits with 2 after an error, and under `-check` with 3 where a file would change.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &FmtArgs) -> Result<u8, Diagnostics> {
    silence(ui, false)?;
    let LayoutArgs { diff, check, recursive } = args.layout;
    let options = LayoutOptions { paths: args.words.clone(), write: !check, recursive };
    let (formatted, problems) = format(&ui.host(world), &options);
    let changed: Vec<_> = formatted.iter().filter(|it| it.old != it.new).collect();
    for file in &changed {
        ui.out(&format!("{}\n", file.name));
        if diff {
            ui.out(&difference::unified(&file.name, &file.old, &file.new));
        }
    }
    if problems.has_errors() {
        ui.diagnostics(problems);
        return Ok(2);
    }
    Ok(if check && !changed.is_empty() { 3 } else { 0 })
}
