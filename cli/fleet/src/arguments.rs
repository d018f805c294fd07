//! The command line of `entail fleet`: written and read as that of `entail` itself.

use std::path::PathBuf;

use clap::{ArgAction, Command as Grammar, CommandFactory, FromArgMatches, Parser, Subcommand};
use entail::diagnostic::Diagnostic;
use entail_cli::arguments::groups::ViewArgs;
use entail_cli::arguments::{command_path, flags, help, nearest};
use entail_cli::commands::policy::{ChoiceArgs, LimitArgs};

/// Asks, judges and runs many stacks
#[derive(Parser, Debug)]
#[command(
    name = "fleet",
    disable_help_flag = true,
    disable_help_subcommand = true,
    disable_version_flag = true,
    args_override_self = true,
    subcommand_required = true
)]
pub struct Cli {
    /// How things look.
    #[command(flatten)]
    pub view: ViewArgs,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Every command.
#[derive(Subcommand, Debug)]
#[command(disable_help_flag = true, disable_help_subcommand = true)]
#[expect(missing_docs, reason = "the structs say it")]
pub enum Command {
    List(ListArgs),
    Index(IndexArgs),
    Query(QueryArgs),
    Impact(ImpactArgs),
    Why(WhyArgs),
    Policy(PolicyArgs),
    Plan(RunArgs),
    Apply(RunArgs),
}

/// Which fleet.
#[derive(clap::Args, Clone, Debug)]
pub struct FleetArgs {
    /// The file that names the stacks
    #[arg(long, value_name = "FILE", default_value = crate::settings::FILE)]
    pub fleet: PathBuf,
}

/// Which lake.
#[derive(clap::Args, Clone, Debug)]
pub struct LakeArgs {
    /// The lake: a folder, or the address of an object store
    #[arg(long, value_name = "LAKE", default_value = "lake")]
    pub lake: String,
}

/// Which engine.
#[derive(clap::Args, Clone, Debug)]
pub struct EngineArgs {
    /// What evaluates rules: columnar, which is the default, columnar:ROWS or interpreted
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<String>,
}

/// List the stacks of a fleet
///
/// Says which stacks fleet.hcl names, how many objects the state of each holds, and which could not be read. The others are listed all
/// the same, and it exits with 0; with -strict, it exits with 1 then.
#[derive(clap::Args, Debug)]
pub struct ListArgs {
    /// Which fleet.
    #[command(flatten)]
    pub fleet: FleetArgs,

    /// Exit with 1 where a stack could not be read
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub strict: bool,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// No words.
    #[arg(value_name = "WORDS", hide = true)]
    pub words: Vec<String>,
}

/// Write what is known of a fleet into a lake
///
/// Reads states and configurations, and writes what follows from them as columnar files. Only what changed since is read and written
/// again. Nothing sensitive gets into a lake.
#[derive(clap::Args, Debug)]
pub struct IndexArgs {
    /// Which fleet.
    #[command(flatten)]
    pub fleet: FleetArgs,

    /// The lake: a folder, or the address of an object store
    #[arg(long, value_name = "LAKE", default_value = "lake")]
    pub out: String,

    /// Exit with 1 where a stack could not be read
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub strict: bool,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// No words.
    #[arg(value_name = "WORDS", hide = true)]
    pub words: Vec<String>,
}

/// Ask a lake
///
/// Prints what the variables of a query can be, over the objects of all stacks. A query is the body of a rule, as `entail query` has it;
/// objects are written as ADDRESS@STACK.
#[derive(clap::Args, Debug)]
pub struct QueryArgs {
    /// Which lake.
    #[command(flatten)]
    pub lake: LakeArgs,

    /// Which engine.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Which policies.
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// What it may take.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Write comma-separated values, as RFC 4180 has them: rows that hold for certain
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub csv: bool,

    /// Write rows that are only possible into the CSV, too
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub possible: bool,

    /// What to ask
    #[arg(value_name = "QUERY", hide = true)]
    pub words: Vec<String>,
}

/// Show what would be touched if something changed
///
/// Follows what rests on what, as states record it, and what uses the identity of what, across all stacks.
#[derive(clap::Args, Debug)]
pub struct ImpactArgs {
    /// Which lake.
    #[command(flatten)]
    pub lake: LakeArgs,

    /// Show what it rests on instead
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub reverse: bool,

    /// Look at most so many steps away
    #[arg(long, value_name = "STEPS")]
    pub depth: Option<usize>,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// What changes
    #[arg(value_name = "ADDRESS@STACK...", hide = true)]
    pub words: Vec<String>,
}

/// Explain what a policy says of an object, or what a saved plan does with it
///
/// Shows the rules and facts behind a verdict, each with its stack, its file and its line; or why there is none: then it exits with 1.
#[derive(clap::Args, Debug)]
pub struct WhyArgs {
    /// Which fleet.
    #[command(flatten)]
    pub fleet: FleetArgs,

    /// Which lake.
    #[command(flatten)]
    pub lake: LakeArgs,

    /// Which engine.
    #[command(flatten)]
    pub engine: EngineArgs,

    /// The rule; without one, a decision of the saved plan of the stack is explained
    #[arg(long, value_name = "RULE")]
    pub policy: Option<String>,

    /// Have this file, folder or part of the library (library:NAME) in force, too
    #[arg(long, value_name = "PATH|SOURCE")]
    pub policies: Vec<String>,

    /// What rules may take.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// How many steps back to go
    #[arg(long, value_name = "STEPS")]
    pub depth: Option<usize>,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// What to explain
    #[arg(value_name = "ADDRESS@STACK", hide = true)]
    pub words: Vec<String>,
}

/// Judge a fleet by policies
#[derive(clap::Args, Debug)]
pub struct PolicyArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: PolicyCommand,
}

/// What to do with policies.
#[derive(Subcommand, Debug)]
#[command(disable_help_flag = true, disable_help_subcommand = true, subcommand_required = true)]
#[expect(missing_docs, reason = "the structs say it")]
pub enum PolicyCommand {
    Check(CheckArgs),
}

/// Judge the objects of all stacks
///
/// Exits with 1 where something is denied, and with 2 where policies, lake or flags are faulty.
#[derive(clap::Args, Debug)]
pub struct CheckArgs {
    /// Which lake.
    #[command(flatten)]
    pub lake: LakeArgs,

    /// Which engine.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Which policies.
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// What they may take.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// Show what is only possible, too
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub possible: bool,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Write SARIF 2.1.0
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub sarif: bool,

    /// Write JUnit's XML
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub junit: bool,

    /// Write Markdown
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub markdown: bool,

    /// No words.
    #[arg(value_name = "WORDS", hide = true)]
    pub words: Vec<String>,
}

/// Plan or apply many stacks
///
/// Runs the root modules side by side in the order in which they rest on each other, each in a process of its own with its own lock. A
/// run that was killed is taken up where it stopped.
#[derive(clap::Args, Debug)]
pub struct RunArgs {
    /// Which fleet.
    #[command(flatten)]
    pub fleet: FleetArgs,

    /// The lake that knows which stack reads which, and that -filter asks
    #[arg(long, value_name = "LAKE")]
    pub lake: Option<String>,

    /// Only stacks that this body of a rule names: those that its variable `s` can be
    #[arg(long, value_name = "BODY")]
    pub filter: Option<String>,

    /// Say what would be run, in which order, and run nothing
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub dry_run: bool,

    /// Run so many stacks at a time
    #[arg(long, value_name = "NUMBER", default_value_t = 4)]
    pub parallelism: usize,

    /// Approve in advance: stacks run side by side, and nobody can be asked for each
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub auto_approve: bool,

    /// Begin anew, whatever a run that was killed has done already
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub anew: bool,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Write JUnit's XML
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub junit: bool,

    /// Write Markdown
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub markdown: bool,

    /// No words.
    #[arg(value_name = "WORDS", hide = true)]
    pub words: Vec<String>,
}

/// What the command line asks for.
#[derive(Debug)]
pub enum Asked {
    /// A command.
    Run(Box<Cli>),
    /// Help, and the exit code.
    Help(String, u8),
    /// It makes no sense. The command's name.
    Misused(Box<Diagnostic>, String),
}

/// Reads the command line, without the program's name.
pub fn read(arguments: Vec<String>) -> Asked {
    let grammar = Cli::command();
    let (path, first) = command_path(&arguments, &grammar);
    let wants_help = arguments.iter().any(|it| matches!(it.as_str(), "-h" | "-help" | "--help"));
    let name: Vec<&str> = path.iter().map(|it| it.get_name()).collect();
    let name = std::iter::once("fleet").chain(name).collect::<Vec<_>>().join(" ");
    let innermost = path.last().copied().unwrap_or(&grammar);
    if wants_help {
        return Asked::Help(help::command(&name, innermost), 0);
    }
    if innermost.is_subcommand_required_set() {
        let word = arguments.get(first).filter(|it| !it.starts_with('-'));
        let wrong = word.map(|it| unknown(&name, it, innermost)).unwrap_or_default();
        return Asked::Help(wrong + &help::command(&name, innermost), 1);
    }
    match parse(&arguments, &grammar, (&path, first)) {
        Ok(cli) => Asked::Run(Box::new(cli)),
        Err(problem) => Asked::Misused(Box::new(problem), name),
    }
}

fn parse(
    arguments: &[String],
    grammar: &Grammar,
    (path, first): (&[&Grammar], usize),
) -> Result<Cli, Diagnostic> {
    let before = arguments[..first].iter().filter(|it| it.starts_with('-')).cloned();
    let given = before.chain(arguments[first..].iter().cloned()).collect();
    let innermost = path.last().copied().unwrap_or(grammar);
    let flags = flags::normalise(given, &[grammar, innermost])?;
    let words = path.iter().map(|it| it.get_name().to_owned()).chain(flags);
    let matches = grammar
        .clone()
        .try_get_matches_from(std::iter::once("fleet".to_owned()).chain(words))
        .map_err(|it| flags::misunderstood(&it))?;
    Cli::from_arg_matches(&matches).map_err(|it| flags::misunderstood(&it))
}

fn unknown(name: &str, word: &str, grammar: &Grammar) -> String {
    let near = nearest(word, grammar.get_subcommands().map(Grammar::get_name));
    let hint = near.map_or(String::new(), |it| format!(" Did you mean \"{it}\"?"));
    format!("The {name} command has no subcommand named \"{word}\".{hint}\n\n")
}
