//! Flags that several commands share.

use std::path::PathBuf;
use std::time::Duration;

use crate::view::plan::reading::{Only, Reading};
use clap::{Arg, ArgAction, ArgMatches, Args, Command as Grammar, FromArgMatches};
use entail::address::target::Target;
use entail::backend::Recover;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::request::{LintSelection, VariableSource};
use entail::value::text::shown;

use super::flags;
use crate::view::diagnostics::{Grouping, Modules};

/// How things look; every command takes these.
#[derive(Args, Clone, Debug)]
pub struct ViewArgs {
    /// Write no colours
    #[arg(long, global = true, action = ArgAction::Set, default_value_t = false)]
    pub no_color: bool,

    /// Show warnings that no error accompanies as a short list of their summaries
    #[arg(long, global = true, action = ArgAction::Set, default_value_t = false)]
    pub compact_warnings: bool,

    /// Show every warning, also where several are alike
    #[arg(long, global = true, action = ArgAction::Set, default_value_t = true)]
    pub consolidate_warnings: bool,

    /// Put errors that are alike together
    #[arg(long, global = true, action = ArgAction::Set, default_value_t = false)]
    pub consolidate_errors: bool,

    /// Hide the lines that tell of progress
    #[arg(long, global = true, action = ArgAction::Set, default_value_t = false)]
    pub concise: bool,

    /// Show to people what authors of modules advise against of every module (`module:all`), of those that are called by a path
    /// (`module:local`), or not at all (`module:none`)
    #[arg(long, global = true, value_name = "module:m", value_parser = flags::deprecation)]
    pub deprecation: Option<Modules>,
}

impl ViewArgs {
    /// Returns which problems are put together.
    pub fn grouping(&self) -> Grouping {
        Grouping {
            compact_warnings: self.compact_warnings,
            consolidate_warnings: self.consolidate_warnings,
            consolidate_errors: self.consolidate_errors,
            deprecated: self.deprecation.unwrap_or_default(),
        }
    }
}

/// Output for machines, and questions to people.
#[derive(Args, Clone, Debug)]
pub struct OutputArgs {
    /// Output for machines.
    #[command(flatten)]
    pub messages: MessageArgs,

    /// Ask nothing: a variable without a value is an error
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    pub input: bool,
}

/// Output for machines.
#[derive(Args, Clone, Debug)]
pub struct MessageArgs {
    /// Write JSON, one message per line
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Write the JSON messages into a file, beside the text for people
    #[arg(long, value_name = "FILE")]
    pub json_into: Option<PathBuf>,
}

/// The lock of the state.
#[derive(Args, Clone, Debug)]
pub struct LockArgs {
    /// Do not hold a lock on the state. Dangerous where others might run commands on the same state at the same time
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    pub lock: bool,

    /// How long to wait for a lock that somebody holds
    #[arg(long, value_name = "5s", value_parser = flags::duration, default_value = "0s", hide_default_value = true)]
    pub lock_timeout: Duration,
}

/// `-lock` and `-lock-timeout` for commands that take no lock: other programs pass them to all that plans.
#[derive(Args, Clone, Debug)]
pub struct UnusedLockArgs {
    /// No lock is taken
    #[arg(long, hide = true, action = ArgAction::Set, default_value_t = true)]
    pub lock: bool,

    /// No lock is waited for
    #[arg(long, hide = true, value_name = "5s", value_parser = flags::duration, default_value = "0s", hide_default_value = true)]
    pub lock_timeout: Duration,
}

/// Where a question finds the state. A question takes no lock and writes nothing.
#[derive(Args, Clone, Debug)]
pub struct ReadStateArgs {
    /// No lock.
    #[command(flatten)]
    pub lock: UnusedLockArgs,

    /// Read the state from this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// Begin with an empty state where this working directory has seen a state in the backend that is gone
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub allow_missing_state: bool,

    /// Read a journal that does not fit: with its steps (`take`) or without them (`aside`)
    #[arg(long, hide = true, value_name = "take|aside", value_parser = flags::recover)]
    pub recover: Option<Recover>,
}

/// Where the state of the local backend lies.
#[derive(Args, Clone, Debug)]
pub struct StateArgs {
    /// The lock.
    #[command(flatten)]
    pub lock: LockArgs,

    /// Read the state from this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// Write the state to this file
    #[arg(long, value_name = "FILE")]
    pub state_out: Option<PathBuf>,

    /// Keep the previous state in this file; `-` keeps none
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,

    /// What to do with the journal of an interrupted run that does not fit or cannot be read, after looking into it: `take`
    /// its steps into the state, or leave it `aside`
    #[arg(long, value_name = "take|aside", value_parser = flags::recover)]
    pub recover: Option<Recover>,

    /// Begin with an empty state where this working directory has seen a state in the backend that is gone
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub allow_missing_state: bool,
}

/// What is planned, and how.
#[derive(Args, Clone, Debug)]
pub struct PlanningArgs {
    /// Plan to destroy everything that exists
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub destroy: bool,

    /// Plan only to record what changed outside
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub refresh_only: bool,

    /// Do not look for changes made outside
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    pub refresh: bool,

    /// Replace this instance, whether or not it would change otherwise. May be repeated
    #[arg(long, value_name = "INSTANCE", action = ArgAction::Append)]
    pub replace: Vec<String>,

    /// Plan only this module, resource or instance and what it needs. May be repeated
    #[arg(long, value_name = "ADDRESS", action = ArgAction::Append)]
    pub target: Vec<String>,

    /// Like -target for every line of a file; blank lines and lines that begin with `#` or `//` are skipped
    #[arg(long, value_name = "FILE", action = ArgAction::Append)]
    pub target_file: Vec<PathBuf>,

    /// Leave out this module, resource or instance and what needs it. May be repeated, and combined with -target
    #[arg(long, value_name = "ADDRESS", action = ArgAction::Append)]
    pub exclude: Vec<String>,

    /// Like -exclude for every line of a file
    #[arg(long, value_name = "FILE", action = ArgAction::Append)]
    pub exclude_file: Vec<PathBuf>,

    /// How many things to do at once
    #[arg(long, value_name = "10", default_value_t = 10, hide_default_value = true)]
    pub parallelism: i64,

    /// Read outputs and data sources under -exclude as another program does: `opentofu`
    #[arg(long, value_name = "PROGRAM")]
    pub compat: Option<String>,
}

/// Lint rules.
#[derive(Args, Clone, Debug)]
pub struct LintArgs {
    /// Report the findings of these lint rules as warnings: identifiers separated by commas, such as all or core:mistake; a
    /// `!` before an identifier excludes it
    #[arg(long, value_name = "LIST")]
    pub lint: Option<String>,
}

impl LintArgs {
    /// Returns which lint rules are asked for.
    ///
    /// # Errors
    ///
    /// If the list is malformed.
    pub fn selection(&self) -> Result<LintSelection, Diagnostic> {
        self.lint.as_deref().map_or_else(|| Ok(LintSelection::default()), LintSelection::read)
    }
}

/// What of a plan is shown.
#[derive(Args, Clone, Debug)]
pub struct ReadingArgs {
    /// Show each change in full, also where many instances change alike. Only at a terminal these are told as one
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub full: bool,

    /// Show only what is done so: create, update, replace, delete, read, forget, import, move; several separated by commas
    #[arg(long, value_name = "ACTIONS", action = ArgAction::Append)]
    pub only: Vec<String>,

    /// Show only resources of this type; several separated by commas
    #[arg(long = "type", value_name = "TYPE", action = ArgAction::Append)]
    pub types: Vec<String>,
}

impl ReadingArgs {
    /// Returns how a plan is read.
    ///
    /// - `modules`: the addresses that `-module` names.
    pub fn reading(&self, modules: &[String]) -> Result<Reading, Diagnostics> {
        let words = |all: &[String]| -> Vec<String> {
            let all = all.iter().flat_map(|it| it.split(','));
            all.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
        };
        let mut problems = Diagnostics::new();
        let only = words(&self.only);
        let only = only.iter().filter_map(|it| problems.take(Only::read(it))).collect();
        let modules = modules.iter().filter_map(|it| problems.take(it.parse::<Target>())).collect();
        let reading = Reading {
            full: self.full,
            only,
            modules,
            types: words(&self.types),
            for_people: false,
            pages: true,
        };
        if problems.is_empty() { Ok(reading) } else { Err(problems) }
    }
}

/// How files are formatted: those of the configuration, and those of policies.
#[derive(Args, Clone, Copy, Debug)]
pub struct LayoutArgs {
    /// Print what changes
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub diff: bool,

    /// Write nothing; exit with 3 where a file would change
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub check: bool,

    /// Go into subdirectories
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub recursive: bool,
}

/// `-var` and `-var-file`, in the order in which they are written: the last one wins.
#[derive(Clone, Debug, Default)]
pub struct VariableArgs(Vec<GivenVariable>);

#[derive(Clone, Debug)]
enum GivenVariable {
    Flag(String),
    File(String),
}

impl VariableArgs {
    /// Returns the sources of values, or says which `-var` has no `=`.
    pub fn sources(&self) -> Result<Vec<VariableSource>, Diagnostics> {
        let mut problems = Diagnostics::new();
        let sources = self.0.iter().filter_map(|it| match it {
            GivenVariable::File(path) => Some(VariableSource::File(path.into())),
            GivenVariable::Flag(text) => problems.take(flag_source(text)),
        });
        let sources = sources.collect();
        if problems.is_empty() { Ok(sources) } else { Err(problems) }
    }
}

fn flag_source(text: &str) -> Result<VariableSource, Diagnostic> {
    let invalid = |detail| Err(Diagnostic::error("Invalid -var option").detail(detail));
    match text.split_once('=') {
        Some((name, value)) if name.ends_with(' ') => invalid(format!(
            "Variable name {} is invalid due to trailing space. Did you mean -var=\"{}={}\"?",
            shown(name),
            name.trim_end_matches(' '),
            value.trim_start_matches(' '),
        )),
        Some((name, value)) => Ok(VariableSource::Flag(name.to_owned(), value.to_owned())),
        None => invalid(format!(
            "The given -var option {} is not correctly specified. Must be a variable name and value separated by an equals \
             sign, like -var=\"key=value\".",
            shown(text),
        )),
    }
}

impl Args for VariableArgs {
    fn augment_args(grammar: Grammar) -> Grammar {
        let repeated = |name: &'static str| Arg::new(name).long(name).action(ArgAction::Append);
        grammar
            .arg(
                repeated("var")
                    .value_name("NAME=VALUE")
                    .help("Set a variable of the root module. May be repeated"),
            )
            .arg(
                repeated("var-file")
                    .value_name("FILE")
                    .help("Read variables from a file. May be repeated"),
            )
    }

    fn augment_args_for_update(grammar: Grammar) -> Grammar {
        VariableArgs::augment_args(grammar)
    }
}

impl FromArgMatches for VariableArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<VariableArgs, clap::Error> {
        let given = |name: &str, make: fn(String) -> GivenVariable| {
            let values = matches.get_many::<String>(name).into_iter().flatten().cloned();
            matches.indices_of(name).into_iter().flatten().zip(values.map(make)).collect::<Vec<_>>()
        };
        let mut all = given("var", GivenVariable::Flag);
        all.extend(given("var-file", GivenVariable::File));
        all.sort_by_key(|it| it.0);
        Ok(VariableArgs(all.into_iter().map(|it| it.1).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = VariableArgs::from_arg_matches(matches)?;
        Ok(())
    }
}
