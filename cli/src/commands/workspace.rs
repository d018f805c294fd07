//! `workspace …`: several states of one configuration.

use entail::world::{PRODUCT, PROGRAM};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{ArgAction, Subcommand};
use entail::backend::workspace;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::operation::workspaces::{self, WorkspaceChange};
use entail::world::World;

use super::{begin, no_words, words};
use crate::arguments::groups::{LockArgs, OutputArgs, VariableArgs};
use crate::interrupt::changing_state;
use crate::ui::Ui;
use crate::view::style::Paint;

/// Workspace management
///
/// A workspace is a state of its own for the same configuration.
#[derive(clap::Args, Debug)]
pub struct WorkspaceArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: WorkspaceCommand,
}

/// What to do with workspaces.
#[derive(Subcommand, Debug)]
#[command(disable_help_flag = true, disable_help_subcommand = true, subcommand_required = true)]
#[expect(missing_docs, reason = "the structs say it")]
pub enum WorkspaceCommand {
    Delete(DeleteArgs),
    List(ListArgs),
    New(NewArgs),
    Select(SelectArgs),
    Show(ShowArgs),
}

/// Delete a workspace
#[derive(clap::Args, Debug)]
pub struct DeleteArgs {
    /// Delete it even if it has objects, which stay as they are
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub force: bool,

    /// The lock of the state.
    #[command(flatten)]
    pub lock: LockArgs,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// The name
    #[arg(value_name = "NAME", hide = true)]
    pub words: Vec<String>,
}

/// List workspaces
#[derive(clap::Args, Debug)]
pub struct ListArgs {
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// Create a new workspace and switch to it
#[derive(clap::Args, Debug)]
pub struct NewArgs {
    /// The lock of the state.
    #[command(flatten)]
    pub lock: LockArgs,

    /// Start with the state in this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// The name
    #[arg(value_name = "NAME", hide = true)]
    pub words: Vec<String>,
}

/// Switch to a workspace
#[derive(clap::Args, Debug)]
pub struct SelectArgs {
    /// Create it where it does not exist
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub or_create: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// The name
    #[arg(value_name = "NAME", hide = true)]
    pub words: Vec<String>,
}

/// Show the name of the current workspace
#[derive(clap::Args, Debug)]
pub struct ShowArgs {
    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines, and questions.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// Returns the one name that `delete`, `new` and `select` take.
pub fn name(given: &[String]) -> Result<&str, Diagnostic> {
    let [name] = words(given, "Invalid arguments list", "Expected a single argument: NAME.")?;
    Ok(name)
}

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
        WorkspaceCommand::Delete(it) => changing_state(ui, || delete(ui, world, it)),
        WorkspaceCommand::List(it) => list(ui, world, it),
        WorkspaceCommand::New(it) => changing_state(ui, || create(ui, world, it)),
        WorkspaceCommand::Select(it) => changing_state(ui, || select(ui, world, it)),
        WorkspaceCommand::Show(it) => show(ui, world, it),
    }
}

fn waiting(args: &LockArgs) -> Option<Duration> {
    args.lock.then_some(args.lock_timeout)
}

fn list(ui: &Ui, world: &Arc<World>, args: &ListArgs) -> Result<u8, Diagnostics> {
    no_words(&args.words)?;
    let (names, selected) = ui.host(world).asking(|| workspaces::list(world, &ui.sources))?;
    ui.workspaces(&names, &selected);
    if ui.is_json() {
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
    let lock = waiting(&args.lock);
    let given = args.state.as_deref().map(|file| workspaces::Given { file, lock });
    let made = || workspaces::create(world, &ui.sources, name, given);
    let outcome = ui.host(world).asking(made)?;
    tell(ui, outcome, name);
    Ok(0)
}

fn select(ui: &Ui, world: &Arc<World>, args: &SelectArgs) -> Result<u8, Diagnostics> {
    let name = name(&args.words)?;
    let outcome =
        ui.host(world).asking(|| workspaces::select(world, &ui.sources, name, args.or_create))?;
    tell(ui, outcome, name);
    Ok(0)
}

fn delete(ui: &Ui, world: &Arc<World>, args: &DeleteArgs) -> Result<u8, Diagnostics> {
    let name = name(&args.words)?;
    let lock = waiting(&args.lock);
    let outcome =
        ui.host(world).asking(|| workspaces::delete(world, &ui.sources, name, args.force, lock))?;
    tell(ui, outcome, name);
    Ok(0)
}

fn tell(ui: &Ui, outcome: WorkspaceChange, name: &str) {
    let green = |text: &str| ui.style().paint(&[Paint::Green], text).into_owned();
    match outcome {
        WorkspaceChange::Same => {}
        WorkspaceChange::Created => {
            let first = format!("Created and switched to workspace {name:?}!");
            let rest = format!(
                "You're now on a new, empty workspace. Workspaces isolate their state,\nso if you run \"{PROGRAM} plan\" {PRODUCT} will not see any existing state\nfor this configuration."
            );
            let headline = ui.style().paint(&[Paint::Bold, Paint::Green], &first);
            ui.say(&format!("{headline}\n\n{}\n", green(&rest)));
            let (first, rest) = (message(&first), rest.replace('\n', " "));
            ui.message(&format!("{first}. {}", message(&rest)));
        }
        WorkspaceChange::Selected => {
            let text = format!("Switched to workspace {name:?}.");
            ui.say(&format!("{}\n", green(&text)));
            ui.message(message(&text));
        }
        WorkspaceChange::Deleted | WorkspaceChange::DeletedWithObjects => {
            let text = format!("Deleted workspace {name:?}!");
            ui.say(&format!("{}\n", green(&text)));
            ui.message(message(&text));
        }
    }
    if outcome == WorkspaceChange::DeletedWithObjects {
        let detail = format!(
            "The resources managed by the deleted workspace may still exist, but are no longer manageable by {PRODUCT} since the state has been deleted."
        );
        let problem = Diagnostic::warning(format!("{name:?} was non-empty")).detail(detail);
        ui.diagnostics(problem.into());
    }
}

/// What machines are told ends without a mark.
fn message(text: &str) -> &str {
    text.trim_end_matches(['.', '!'])
}

fn deprecated() -> Diagnostic {
    Diagnostic::warning(format!("The \"{PROGRAM} env\" family of commands is deprecated")).detail(
        "What was once called an environment is called a workspace now, since the older word means many other things. Use the \"workspace\" commands instead.",
    )
}
