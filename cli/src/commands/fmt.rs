//! `fmt`: writes configuration in the standard style.

use std::sync::Arc;

use clap::ArgAction;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::workflow::format::{FormatOptions, Formatted, format, format_text};
use entail::world::World;

use crate::arguments::groups::LayoutArgs;
use crate::ui::Ui;
use crate::view::difference;

/// Reformat your configuration in the standard style
///
/// Formats files, the files of directories, or the standard input (`-`). Prints the names of files that change.
#[derive(clap::Args, Debug)]
pub struct FmtArgs {
    /// Do not print names
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    pub list: bool,

    /// Do not write files
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    pub write: bool,

    /// How files are formatted.
    #[command(flatten)]
    pub layout: LayoutArgs,

    /// Files and directories
    #[arg(value_name = "[TARGET...]", hide = true)]
    pub words: Vec<String>,
}

/// Formats what the arguments name. Exits with 2 after an error, and under `-check` with 3 where a file would change.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &FmtArgs) -> Result<u8, Diagnostics> {
    ui.space_problems();
    let ui = &*ui;
    let from_input = args.words.first().is_some_and(|it| it == "-");
    let list = args.layout.check || args.list && !from_input;
    let write = args.write && !args.layout.check && !from_input;
    let (formatted, problems) = if from_input {
        input(ui, world)
    } else {
        let options = FormatOptions { paths: &args.words, write, recursive: args.layout.recursive };
        format(&ui.host(world), &options)
    };
    let mut out = String::new();
    for Formatted { name, old, new } in &formatted {
        if list && old != new {
            out.push_str(&format!("{name}\n"));
        }
        if args.layout.diff && old != new {
            out.push_str(&difference::unified(name, old, new));
        }
        if !list && !write && !args.layout.diff {
            out.push_str(new);
        }
    }
    if problems.has_errors() {
        if !args.layout.check {
            show(ui, list || args.layout.diff, &out);
        }
        ui.diagnostics(problems);
        return Ok(2);
    }
    if !args.layout.check || args.list && !from_input {
        show(ui, list || args.layout.diff, &out);
    }
    Ok(if args.layout.check && !out.is_empty() { 3 } else { 0 })
}

/// Prints names and differences for people, and formatted text as it is for the program that asked for it.
fn show(ui: &Ui, is_for_people: bool, text: &str) {
    match is_for_people {
        true => ui.out(text),
        false => ui.exact(text),
    }
}

/// Formats the standard input.
fn input(ui: &Ui, world: &Arc<World>) -> (Vec<Formatted>, Diagnostics) {
    let bytes = ui.read_all().map_err(|_| {
        Diagnostic::error("Failed to read file")
            .detail("Failed to load the content of the \"<stdin>\" file")
    });
    let formatted = bytes
        .map_err(Diagnostics::from)
        .and_then(|bytes| format_text(&ui.host(world), "<stdin>", bytes));
    match formatted {
        Ok(formatted) => (vec![formatted], Diagnostics::new()),
        Err(problems) => (Vec::new(), problems),
    }
}
