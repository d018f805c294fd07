//! `workspace …` and its old name `env`.

use std::sync::Arc;
use std::time::Duration;

use entail::backend::workspace;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::operation::workspaces::{self, Outcome};
use entail::world::World;

use super::{asking, begin};
use crate::arguments::groups::LockArgs;
use crate::commands::no_words;
use crate::commands::workspace::{
    DeleteArgs, ListArgs, NewArgs, SelectArgs, ShowArgs, WorkspaceArgs, WorkspaceCommand, name,
};
use crate::ui::Ui;
use crate::view::PRODUCT;
use crate::view::style::Paint;

/// Does what the subcommand says.
pub fn run(
    ui: &mut Ui,
    world: &Arc<World>,
    args: &WorkspaceArgs,
    is_old_name: bool,
) -> Result<u8, Diagnostics> {
    let output = match &args.command {
        WorkspaceCommand::Delete(it) => &it.output,
        WorkspaceCommand::List(it) => &it.output,
        WorkspaceCommand::New(it) => &it.output,
        WorkspaceCommand::Select(it) => &it.output,
        WorkspaceCommand::Show(it) => &it.output,
    };
    begin(ui, output, false)?;
    if is_old_name {
        ui.diagnostics(deprecated().into());
    }
    match &args.command {
        WorkspaceCommand::Delete(it) => delete(ui, world, it),
        WorkspaceCommand::List(it) => list(ui, world, it),
        WorkspaceCommand::New(it) => create(ui, world, it),
        WorkspaceCommand::Select(it) => select(ui, world, it),
        WorkspaceCommand::Show(it) => show(ui, world, it),
    }
}

fn waiting(args: &LockArgs) -> Option<Duration> {
    args.lock.then_some(args.lock_timeout)
}

fn list(ui: &Ui, world: &Arc<World>, args: &ListArgs) -> Result<u8, Diagnostics> {
    no_words(&args.words)?;
    let (names, selected) = asking(ui, world, || workspaces::list(world, &ui.sources))?;
    if ui.is_json() {
        ui.workspaces(&names, &selected);
        return Ok(0);
    }
    let line = |it: &String| format!("{} {it}\n", if *it == selected { "*" } else { " " });
    ui.out(&format!("{}\n", names.iter().map(line).collect::<String>()));
    if workspace::is_overridden(world) {
        ui.out("\n\nThe active workspace is being overridden using the TF_WORKSPACE environment\nvariable.\n\n");
    }
    Ok(0)
}

fn show(ui: &Ui, world: &World, args: &ShowArgs) -> Result<u8, Diagnostics> {
    no_words(&args.words)?;
    let name = workspace::selected(world)?;
    ui.say(&format!("{name}\n"));
    ui.message(&name);
    Ok(0)
}

fn create(ui: &Ui, world: &Arc<World>, args: &NewArgs) -> Result<u8, Diagnostics> {
    let name = name(&args.words)?;
    let outcome = asking(ui, world, || workspaces::create(world, &ui.sources, name))?;
    tell(ui, outcome, name);
    if let Some(file) = &args.state {
        workspaces::fill(world, &ui.sources, name, file, waiting(&args.lock))?;
    }
    Ok(0)
}

fn select(ui: &Ui, world: &Arc<World>, args: &SelectArgs) -> Result<u8, Diagnostics> {
    let name = name(&args.words)?;
    let outcome =
        asking(ui, world, || workspaces::select(world, &ui.sources, name, args.or_create))?;
    tell(ui, outcome, name);
    Ok(0)
}

fn delete(ui: &Ui, world: &Arc<World>, args: &DeleteArgs) -> Result<u8, Diagnostics> {
    let name = name(&args.words)?;
    let lock = waiting(&args.lock);
    let outcome =
        asking(ui, world, || workspaces::delete(world, &ui.sources, name, args.force, lock))?;
    tell(ui, outcome, name);
    Ok(0)
}

fn tell(ui: &Ui, outcome: Outcome, name: &str) {
    let green = |text: &str| ui.style().paint(&[Paint::Green], text).into_owned();
    match outcome {
        Outcome::Same => {}
        Outcome::Created => {
            let first = format!("Created and switched to workspace {name:?}!");
            let rest = format!(
                "You're now on a new, empty workspace. Workspaces isolate their state,\nso if you run \"entail plan\" {PRODUCT} will not see any existing state\nfor this configuration."
            );
            let headline = ui.style().paint(&[Paint::Bold, Paint::Green], &first);
            ui.say(&format!("{headline}\n\n{}\n", green(&rest)));
            let (first, rest) = (message(&first), rest.replace('\n', " "));
            ui.message(&format!("{first}. {}", message(&rest)));
        }
        Outcome::Selected => {
            let text = format!("Switched to workspace {name:?}.");
            ui.say(&format!("{}\n", green(&text)));
            ui.message(message(&text));
        }
        Outcome::Deleted | Outcome::DeletedWithObjects => {
            let text = format!("Deleted workspace {name:?}!");
            ui.say(&format!("{}\n", green(&text)));
            ui.message(message(&text));
        }
    }
    if outcome == Outcome::DeletedWithObjects {
        let detail = "The resources managed by the deleted workspace may still exist, but are no longer manageable by OpenTofu since the state has been deleted.";
        let problem = Diagnostic::warning(format!("{name:?} was non-empty")).detail(detail);
        ui.diagnostics(problem.into());
    }
}

/// What machines are told ends without a mark.
fn message(text: &str) -> &str {
    text.trim_end_matches(['.', '!'])
}

fn deprecated() -> Diagnostic {
    Diagnostic::warning("The \"tofu env\" family of commands is deprecated").detail(
        "What was once called an environment is called a workspace now, since the older word means many other things. Use the \"workspace\" commands instead.",
    )
}
