//! `state …`: looks into the state and moves things in it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use entail::address::{Instance, Provider};
use entail::backend::local::Choice;
use entail::diagnostic::{Diagnostic, Diagnostics, system_words};
use entail::operation::state_commands::{self, Run, no_state};
use entail::state;
use entail::value::text::shown;
use entail::workflow::state::{self as workflow, OpenState, dated};
use entail::workflow::{LockOptions, StateOptions, open, show as documents};
use entail::world::{PRODUCT, PROGRAM, World};

use super::no_words;
use crate::arguments::request::target;
use crate::interrupt::changing_state;
use crate::ui::{Manner, Ui};
use crate::view::state as view;
use crate::view::style::Paint;

mod arguments;

pub use self::arguments::{
    ListArgs, MoveArgs, PullArgs, PushArgs, RemoveArgs, ReplaceProviderArgs, ShowArgs, StateArgs,
    StateCommand,
};

/// Runs a command on the state.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &StateArgs) -> Result<u8, Diagnostics> {
    let output = match &args.command {
        StateCommand::List(it) => Some(&it.output),
        StateCommand::Mv(it) => Some(&it.output),
        StateCommand::Push(it) => Some(&it.output),
        StateCommand::ReplaceProvider(it) => Some(&it.output),
        StateCommand::Rm(it) => Some(&it.output),
        StateCommand::Show(it) => Some(&it.output),
        StateCommand::Pull(_) => None,
    };
    let show_sensitive = matches!(&args.command, StateCommand::Show(it) if it.show_sensitive);
    if let Some(output) = output {
        let manner = Manner { json: output.json, show_sensitive, ..Manner::default() };
        ui.begin(manner, output.json_into.as_deref())?;
    }
    match &args.command {
        StateCommand::List(args) => list(ui, world, args),
        StateCommand::Mv(args) => changing_state(ui, || mv(ui, world, args)),
        StateCommand::Pull(args) => pull(ui, world, args),
        StateCommand::Push(args) => changing_state(ui, || push(ui, world, args)),
        StateCommand::ReplaceProvider(args) => {
            changing_state(ui, || replace_provider(ui, world, args))
        }
        StateCommand::Rm(args) => changing_state(ui, || remove(ui, world, args)),
        StateCommand::Show(args) => show(ui, world, args),
    }
}

/// Prints what was done; messages end without a full stop.
fn tell(ui: &Ui, lines: &[String]) -> u8 {
    for line in lines {
        ui.say(&format!("{line}\n"));
        ui.message(line.trim().trim_end_matches('.'));
    }
    0
}

fn only(state: &Option<PathBuf>) -> Choice {
    Choice { state: state.clone(), ..Choice::default() }
}

fn list(ui: &Ui, world: &Arc<World>, args: &ListArgs) -> Result<u8, Diagnostics> {
    let mut problems = Diagnostics::new();
    let filters: Vec<_> = args.words.iter().filter_map(|it| problems.take(target(it))).collect();
    if problems.has_errors() {
        return Err(problems);
    }
    let host = ui.host(world);
    let state = OpenState::open(&host, &only(&args.state))?.read(&host)?.ok_or_else(no_state)?;
    ui.addresses(&state_commands::list(&state, &filters, args.id.as_deref())?);
    Ok(0)
}

fn show(ui: &Ui, world: &Arc<World>, args: &ShowArgs) -> Result<u8, Diagnostics> {
    let given = args.address()?;
    let address: Instance = given.parse().map_err(|_| not_an_instance(given))?;
    let host = ui.host(world);
    let state = OpenState::open(&host, &only(&args.state))?.read(&host)?.ok_or_else(no_state)?;
    let (resource, object) = state_commands::show(&state, &address)?;
    if ui.has_messages() {
        let only = state_commands::only(&state, &address);
        let document = documents::state_json(&host, &only)?;
        ui.lines(|_| format!("{document}\n"));
    }
    if ui.is_json() {
        return Ok(0);
    }
    let schemas = open::schemas_of(&host, &state)?;
    let shown = view::object((&address, None), &resource.provider.provider, object, &schemas);
    ui.write(|out| view::write_object(out, &shown, &schemas, ui.look()));
    Ok(0)
}

fn mv(ui: &Ui, world: &Arc<World>, args: &MoveArgs) -> Result<u8, Diagnostics> {
    let [source, destination] = args.addresses()?;
    let (source, destination) = (target(source)?, target(destination)?);
    let run = if args.dry_run { Run::Dry } else { Run::Real };
    let options = StateOptions::from(&args.state);
    let backup_out = args.backup_out.clone();
    let addresses = (&source, &destination);
    Ok(tell(ui, &workflow::mv(&ui.host(world), &options, backup_out, (addresses, run))?))
}

fn remove(ui: &Ui, world: &Arc<World>, args: &RemoveArgs) -> Result<u8, Diagnostics> {
    let mut problems = Diagnostics::new();
    let targets: Vec<_> =
        args.addresses()?.iter().filter_map(|it| problems.take(target(it))).collect();
    if problems.has_errors() {
        return Err(problems);
    }
    let run = if args.dry_run { Run::Dry } else { Run::Real };
    let options = StateOptions::from(&args.state);
    Ok(tell(ui, &workflow::remove(&ui.host(world), &options, &targets, run)?))
}

fn pull(ui: &Ui, world: &Arc<World>, args: &PullArgs) -> Result<u8, Diagnostics> {
    no_words(&args.words)?;
    let host = ui.host(world);
    if let Some(state) = OpenState::open(&host, &Choice::default())?.read(&host)? {
        // It may be large, and is not copied to be printed.
        ui.json(&state::write::write_compact(&state));
    }
    Ok(0)
}

fn push(ui: &Ui, world: &Arc<World>, args: &PushArgs) -> Result<u8, Diagnostics> {
    let file = args.file()?;
    let read = || entail::world::read_given(file.as_ref());
    // What is typed, or comes out of a pipe, is there once; a file is read whenever it is wanted.
    let once = match file {
        "-" => Some(ui.read_all()),
        _ if Path::new(file).is_file() => None,
        _ => Some(read()),
    };
    let once = once.transpose().map_err(|it| unreadable(file, &it))?;
    let text = || {
        let text = once.as_deref().map_or_else(|| read().map(Cow::Owned), |it| Ok(it.into()));
        match text.map_err(|it| unreadable(file, &it))? {
            it if it.is_empty() => {
                Err(unreadable(file, &std::io::ErrorKind::UnexpectedEof.into()).into())
            }
            it => Ok(it),
        }
    };
    let lock = LockOptions::from(&args.lock);
    workflow::push(&ui.host(world), (lock, args.recover), (file, &text), args.force)?;
    Ok(0)
}

fn unreadable(file: &str, error: &std::io::Error) -> Diagnostic {
    let why = system_words(error);
    Diagnostic::error("Failed to open the given state file").detail(format!("open {file}: {why}"))
}

/// An address that should name one instance does not.
fn not_an_instance(text: &str) -> Diagnostic {
    Diagnostic::error(format!("Error parsing instance address {}", shown(text))).detail(
        format!("This command requires that the address references one specific instance. To view the available instances, use \"{PROGRAM} state list\". Please modify the address to reference a specific instance."),
    )
}

fn replace_provider(
    ui: &Ui,
    world: &Arc<World>,
    args: &ReplaceProviderArgs,
) -> Result<u8, Diagnostics> {
    let [from, to] = args.sources()?;
    let (from, to) = (source(from, "from")?, source(to, "to")?);
    if ui.is_json() && !args.auto_approve {
        return Err(cannot_ask().into());
    }
    let options = StateOptions::from(&args.state);
    let host = ui.host(world);
    let store = OpenState::open(&host, &dated(world, &options.files))?;
    let state = store.read(&host)?.ok_or_else(no_state)?;
    let affected = state_commands::served_by(&state, &from);
    if affected.is_empty() {
        return Ok(tell(ui, &["No matching resources found.".into()]));
    }
    let (symbols, bold) = (ui.style(), ui.style().bold("Changing"));
    let (minus, plus) = (symbols.paint(&[Paint::Red], "-"), symbols.paint(&[Paint::Green], "+"));
    let mut text = format!(
        "{PRODUCT} will perform the following actions:\n\n  {} Updating provider:\n    {minus} {from}\n    {plus} {to}\n\n{bold} {} resources:\n\n",
        symbols.paint(&[Paint::Yellow], "~"),
        affected.len(),
    );
    affected.iter().for_each(|it| text.push_str(&format!("  {it}\n")));
    ui.say(&text);
    ui.replaced_provider(&from, &to, &affected);
    if !args.auto_approve {
        ui.say("\n");
        let answer = ui.ask(
            "Do you want to make these changes?",
            "Only 'yes' will be accepted to continue.",
            false,
        );
        if answer.map_err(|it| Diagnostic::error(format!("Error asking for approval: {it}")))?
            != "yes"
        {
            ui.say("Cancelled replacing providers.\n");
            return Ok(0);
        }
    }
    Ok(tell(ui, &workflow::replace_provider(&host, &store, options.lock, (&from, &to))?))
}

/// Machines cannot answer.
fn cannot_ask() -> Diagnostic {
    Diagnostic::error("Invalid usage").detail(
        format!("{PRODUCT} cannot ask user input when `-json` flag is used. Therefore, `-auto-approve` is required too"),
    )
}

fn source(text: &str, which: &str) -> Result<Provider, Diagnostic> {
    text.parse().map_err(|it: Diagnostic| {
        Diagnostic::error(format!("Invalid \"{which}\" provider {}", shown(text))).detail(it.detail)
    })
}
