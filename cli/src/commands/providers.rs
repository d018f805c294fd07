//! `providers …`: which providers a configuration needs, and their plugins.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgAction, Subcommand};
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::operation::plugins::lock::Choices;
use entail::request::Request;
use entail::workflow::plugins;
use entail::workflow::requirements::requirements;
use entail::world::World;

use super::no_words;
use crate::arguments::groups::{MessageArgs, VariableArgs};
use crate::interrupt;
use crate::ui::{Manner, Ui};
use crate::view::style::Style;
use crate::view::{plugins as view, requirements as tree, schema};

/// Show the providers required for this configuration
///
/// Prints the requirements of every module and of the state, and where each provider comes from.
#[derive(clap::Args, Debug)]
pub struct ProvidersArgs {
    /// Where the tests lie
    #[arg(long, value_name = "DIR", default_value = "tests", hide_default_value = true)]
    pub test_directory: PathBuf,

    /// Also list every provider instance, and what each serves
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub instances: bool,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// What to do.
    #[command(subcommand)]
    pub command: Option<ProvidersCommand>,
}

/// What to do with providers.
#[derive(Subcommand, Debug)]
#[command(disable_help_flag = true, disable_help_subcommand = true)]
#[expect(missing_docs, reason = "the structs say it")]
pub enum ProvidersCommand {
    Lock(LockArgs),
    Mirror(MirrorArgs),
    Schema(SchemaArgs),
}

/// Write out dependency locks for the configured providers
#[derive(clap::Args, Debug)]
pub struct LockArgs {
    /// Take plugins from this directory
    #[arg(long, value_name = "DIR")]
    pub fs_mirror: Option<PathBuf>,

    /// Take plugins from this network mirror
    #[arg(long, value_name = "URL")]
    pub net_mirror: Option<String>,

    /// Take plugins from this registry of container images
    #[arg(long, value_name = "TEMPLATE")]
    pub oci_mirror: Option<String>,

    /// A platform to lock for, such as linux_amd64. May be repeated
    #[arg(long, value_name = "OS_ARCH", action = ArgAction::Append)]
    pub platform: Vec<String>,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines.
    #[command(flatten)]
    pub output: MessageArgs,

    /// Providers
    #[arg(value_name = "[PROVIDER...]", hide = true)]
    pub words: Vec<String>,
}

/// Save local copies of all required provider plugins
#[derive(clap::Args, Debug)]
pub struct MirrorArgs {
    /// A platform to fetch for, such as linux_amd64. May be repeated
    #[arg(long, value_name = "OS_ARCH", action = ArgAction::Append)]
    pub platform: Vec<String>,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Output for machines.
    #[command(flatten)]
    pub output: MessageArgs,

    /// The directory
    #[arg(value_name = "DIR", hide = true)]
    pub words: Vec<String>,
}

/// Show schemas for the providers used in the configuration
#[derive(clap::Args, Debug)]
pub struct SchemaArgs {
    /// Write JSON; must be given
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// Does what the subcommand says; without one, prints what is needed.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &ProvidersArgs) -> Result<u8, Diagnostics> {
    match &args.command {
        None => needs(ui, world, args),
        Some(ProvidersCommand::Lock(args)) => lock(ui, world, args),
        Some(ProvidersCommand::Mirror(args)) => mirror(ui, world, args),
        Some(ProvidersCommand::Schema(args)) => describe(ui, world, args),
    }
}

fn needs(ui: &mut Ui, world: &Arc<World>, args: &ProvidersArgs) -> Result<u8, Diagnostics> {
    ui.begin(Default::default(), None)?;
    let ui = &*ui;
    let request = match args.instances {
        true => Some(Request { variables: args.variables.sources()?, ..Request::default() }),
        false => None,
    };
    let needs = requirements(&ui.host(world), request.as_ref(), &args.test_directory)?;
    match args.json {
        true => ui.json(&format!("{:#}\n", tree::document(&needs))),
        false => ui.out(&tree::text(&needs)),
    }
    Ok(0)
}

/// Sets how a command speaks that works on plugins.
fn speaking<'a>(ui: &'a mut Ui, output: &MessageArgs) -> Result<&'a Ui, Diagnostics> {
    let manner = Manner { json: output.json, ..Manner::default() };
    ui.begin(manner, output.json_into.as_deref())?;
    Ok(ui)
}

/// Adds checksums to the lock file.
fn lock(ui: &mut Ui, world: &Arc<World>, args: &LockArgs) -> Result<u8, Diagnostics> {
    let ui = speaking(ui, &args.output)?;
    let places = [args.fs_mirror.is_some(), args.net_mirror.is_some(), args.oci_mirror.is_some()];
    if places.iter().filter(|it| **it).count() > 1 {
        return Err(Diagnostic::error("Conflicting options")
            .detail("Of -fs-mirror, -net-mirror and -oci-mirror, at most one can be given.")
            .into());
    }
    let choices = Choices {
        platforms: args.platform.clone(),
        folder: args.fs_mirror.clone(),
        mirror: args.net_mirror.clone(),
        images: args.oci_mirror.clone(),
        providers: args.words.clone(),
    };
    let tell = |it| {
        ui.message(&view::locking(Style::default(), &it));
        ui.say(&format!("- {}\n", view::locking(ui.style(), &it)));
    };
    let has_news = interrupt::heeding(ui, || plugins::lock(&ui.host(world), &choices, &tell))??;
    ui.message(&view::locked_message(has_news));
    ui.say(&view::locked(ui.style(), has_news));
    Ok(0)
}

/// Fills a folder with archives of plugins.
fn mirror(ui: &mut Ui, world: &Arc<World>, args: &MirrorArgs) -> Result<u8, Diagnostics> {
    let ui = speaking(ui, &args.output)?;
    let [folder] = &args.words[..] else {
        return Err(Diagnostic::error("No output directory specified")
            .detail("The providers mirror command requires an output directory as a command-line argument.")
            .into());
    };
    let tell = |it| {
        ui.message(&view::mirroring_message(&it));
        ui.say(&view::mirroring(&it));
    };
    let work = || plugins::mirror(&ui.host(world), &args.platform, Path::new(folder), &tell);
    let problems = interrupt::heeding(ui, work)??;
    Ok(ui.diagnostics(problems))
}

/// Prints what the providers of the configuration and the state accept and return.
fn describe(ui: &Ui, world: &Arc<World>, args: &SchemaArgs) -> Result<u8, Diagnostics> {
    no_words(&args.words)?;
    if !args.json {
        return Err(
            Diagnostic::error("The `providers schema` command requires the `-json` flag.").into()
        );
    }
    let schemas = plugins::describe(&ui.host(world))?;
    ui.json(&schema::all(schemas.iter().map(|(address, it)| (address, &**it))));
    Ok(0)
}
