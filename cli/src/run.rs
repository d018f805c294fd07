//! From the process's start to its exit code: reads the command line, opens the terminal, runs one command.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use entail::diagnostic::{Diagnostic, Diagnostics, Sort};
use entail::event::Stage;
use entail::install::{Locks, Settings};
use entail::operation::variables::unreadable_files;
use entail::world::terminal::Form;
use entail::world::{PRODUCT, PROGRAM, World};

use crate::arguments::{Asked, AskedCommand, help, read};
use crate::commands::{self, Cli, Command};
use crate::complete;
use crate::external;
use crate::interrupt;
use crate::standard::{self, Door};
use crate::telemetry;
use crate::ui::{Manner, Ui};
use entail::error::Error;

/// Runs the program.
pub fn main() -> ExitCode {
    interrupt::outlive_signals();
    let mut words = std::env::args_os();
    PROGRAM.invoked_as(Path::new(&words.next().unwrap_or_default()));
    let mut world = World::of_this_process();
    let arguments: Vec<String> = words.map(|it| it.to_string_lossy().into_owned()).collect();
    if let Some((first, rest)) = arguments.split_first()
        && first == complete::COMMAND
    {
        return print(&mut standard::output(), &complete::answer(rest), 0);
    }
    world.given.command.clone_from(&arguments);
    match read(arguments, &world.environment) {
        Asked::Help(text, code) => print(&mut standard::output(), &text, code),
        Asked::Confused(text) => print(&mut standard::errors(), &text, 1),
        Asked::Misused(problem, misused) => {
            let mut ui = Ui::of_this_process(&usual_view(), &world);
            refuse(&mut ui, &misused, (*problem).into());
            if !misused.has_stream {
                ui.refer_to_help(&misused.name);
            }
            ExitCode::from(commands::policy::misuse_code(&misused.name))
        }
        Asked::External(program, arguments, directory) => {
            if let Err(why) = enter(directory.as_deref(), &mut world) {
                return print(&mut standard::errors(), why.words(), 1);
            }
            external::run(&program, &arguments).unwrap_or_else(|problems| {
                let ui = Ui::of_this_process(&usual_view(), &world);
                ExitCode::from(ui.diagnostics(problems))
            })
        }
        Asked::Run(invocation) => match enter(invocation.directory.as_deref(), &mut world) {
            Ok(()) => {
                // What is wrong with them, the command tells in its own manner.
                world.given.variables = invocation.variables.sources().unwrap_or_default();
                run(&invocation.asked, invocation.cli, world)
            }
            Err(why) => print(&mut standard::errors(), why.words(), 1),
        },
    }
}

fn print(stream: &mut Door, text: &str, code: u8) -> ExitCode {
    let written = stream.put(Form::Text, text);
    ExitCode::from(if written.is_ok() { code } else { 1 })
}

/// Returns how things look where no flag says so.
pub fn usual_view() -> crate::arguments::groups::ViewArgs {
    use clap::Parser;
    Cli::parse_from(["entail", "version"]).view
}

/// Makes the directory that `-chdir` names the working directory; `path.cwd` stays what it was.
fn enter(directory: Option<&Path>, world: &mut World) -> Result<(), Error> {
    let Some(directory) = directory else { return Ok(()) };
    let enter = std::env::set_current_dir(directory).and_then(|()| std::env::current_dir());
    world.root = enter.map_err(|it| {
        format!("Error handling -chdir option: chdir {}: {it}\n", directory.display())
    })?;
    Ok(())
}

fn run(asked: &AskedCommand, cli: Cli, world: World) -> ExitCode {
    let name = &asked.name;
    let (_telemetry, trouble) = telemetry::begin(&world);
    let span = telemetry::command(name, &world);
    let mut ui = Ui::of_this_process(&cli.view, &world);
    let world = Arc::new(world);
    ui.watch_transfers(&world);
    if let Some(trouble) = trouble {
        ui.remarks(Diagnostic::warning("No traces are sent").detail(trouble).into());
    }
    warn_of_settings(&ui, &world);
    warn_of_environment(&ui, &world);
    let result = span.in_scope(|| match misgiven(&mut ui, &world, asked, &cli) {
        Some(problems) => Err(problems),
        None => dispatch(&mut ui, &world, cli.command),
    });
    let code = result.unwrap_or_else(|problems| {
        let is_miscounted = problems.iter().any(|it| it.sort == Sort::Miscounted);
        let code = refuse(&mut ui, asked, problems);
        if is_miscounted && !ui.is_json() {
            ui.refer_to_help(name);
        }
        code
    });
    ExitCode::from(ui.close(code))
}

/// Tells why a command ends, in the manner that was asked for, though the command may not have begun to speak. Returns the
/// exit code.
fn refuse(ui: &mut Ui, asked: &AskedCommand, problems: Diagnostics) -> u8 {
    let mut problems = problems;
    if asked.has_stream && !ui.is_json() {
        let manner = Manner { json: true, ..Manner::default() };
        problems.extend(ui.begin(manner, None).err());
    }
    let is_miscounted = problems.iter().any(|it| it.sort == Sort::Miscounted);
    let code = ui.diagnostics(problems);
    if is_miscounted && !ui.is_json() {
        ui.err(&format!("\n{}", help::synopsis(&asked.name)));
    }
    code
}

/// Returns what is wrong with the files that give variables their values, though the command may need none.
fn misgiven(ui: &mut Ui, world: &World, asked: &AskedCommand, cli: &Cli) -> Option<Diagnostics> {
    if !asked.takes_values {
        return None;
    }
    let mut problems = unreadable_files(world, &ui.sources);
    if problems.is_empty() {
        return None;
    }
    if let Command::Init(args) = &cli.command {
        problems.extend(commands::init::stop(ui, args).err().into_iter().flat_map(|it| it.0));
    }
    Some(problems)
}

/// Tells what is wrong with the CLI configuration. The command runs all the same: there are defaults.
fn warn_of_settings(ui: &Ui, world: &World) {
    let problems = Settings::of(world).problems.clone();
    if problems.is_empty() {
        return;
    }
    ui.err("There are some problems with the CLI configuration:\n");
    let failed = problems.has_errors();
    ui.remarks(problems);
    if failed {
        ui.err(&format!(
            "As a result of the above problems, {PRODUCT} may not behave as intended.\n\n\n"
        ));
    }
}

/// Tells of a variable that would change what a run means in OpenTofu, and does not here.
fn warn_of_environment(ui: &Ui, world: &World) {
    const FORGIVES: &str = "TF_WARN_OUTPUT_ERRORS";
    if world.variable(FORGIVES).is_some() {
        let detail = "An output that cannot be evaluated stays an error: with it, what others read of the output would be \
                      missing. Where it may fail, say so in its expression, with try(…).";
        ui.remarks(Diagnostic::warning(format!("{FORGIVES} has no effect")).detail(detail).into());
    }
}

/// Runs the command. A problem that ends it is returned, not printed.
fn dispatch(ui: &mut Ui, world: &Arc<World>, command: Command) -> Result<u8, Diagnostics> {
    match command {
        Command::Completion(args) => commands::completion::run(ui, &args),
        Command::ForceUnlock(args) => commands::force_unlock::run(ui, world, &args),
        Command::Man(args) => commands::man::run(ui, &world.root, &args),
        Command::Output(args) => commands::output::run(ui, world, &args),
        Command::State(args) => commands::state::run(ui, world, &args),
        Command::Taint(args) => commands::taint::taint(ui, world, &args),
        Command::Untaint(args) => commands::taint::untaint(ui, world, &args),
        Command::Version(args) => {
            // What is wrong with the lock file is for commands that rest on it.
            let (locks, _) = Locks::read(world, &ui.sources);
            let versions = locks.0.iter().map(|it| (it.0.to_string(), it.1.version.to_string()));
            Ok(commands::version::run(ui, &args, &versions.collect()))
        }
        Command::Policy(args) => commands::policy::run(ui, world, &args),
        Command::Plan(args) => commands::plan::run(ui, world, &args),
        Command::Apply(args) => {
            let options = args.options(ui, world)?;
            commands::apply::run(ui, world, &args, (options, Stage::Apply))
        }
        Command::Destroy(args) => {
            let options = args.options(ui, world)?;
            commands::apply::run(ui, world, &args.apply, (options, Stage::Destroy))
        }
        Command::Refresh(args) => {
            let options = args.options(ui)?;
            commands::refresh::run(ui, world, &args, &options)
        }
        Command::Import(args) => commands::import::run(ui, world, &args),
        Command::Init(args) => commands::init::run(ui, world, &args),
        Command::Get(args) => commands::get::run(ui, world, &args),
        Command::Validate(args) => commands::validate::run(ui, world, &args),
        Command::Metadata(args) => commands::metadata::run(ui, &args),
        Command::Fmt(args) => commands::fmt::run(ui, world, &args),
        Command::Console(args) => commands::console::run(ui, world, &args),
        Command::Show(args) => commands::show::run(ui, world, &args),
        Command::Why(args) => commands::why::run(ui, world, &args),
        Command::Unused(args) => commands::unused::run(ui, world, &args),
        Command::Log(args) => commands::log::run(ui, world, &args),
        #[cfg(feature = "lsp")]
        Command::Lsp(args) => commands::lsp::run(world, &args),
        Command::Minimal(args) => commands::minimal::run(ui, world, &args),
        Command::Diff(args) => commands::diff::run(ui, world, &args),
        Command::Impact(args) => commands::impact::run(ui, world, &args),
        Command::Whatif(args) => commands::whatif::run(ui, world, &args),
        Command::Query(args) => commands::query::run(ui, world, &args),
        Command::Facts(args) => commands::facts::run(ui, world, &args),
        Command::Graph(args) => commands::graph::run(ui, world, &args),
        Command::Workspace(args) => commands::workspace::run(ui, world, &args, false),
        Command::Env(args) => commands::workspace::run(ui, world, &args, true),
        Command::Test(args) => commands::test::run(ui, world, &args),
        Command::Providers(args) => commands::providers::run(ui, world, &args),
        Command::Login(args) => commands::login::login(ui, world, &args),
        Command::Logout(args) => commands::login::logout(ui, world, &args),
    }
}
