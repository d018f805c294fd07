//! The command line: from what the shell hands over to one command with its flags.
//!
//! Flags are written as OpenTofu writes them (`-x`, `-x=v`, `-x v`; two dashes do as well). [`read`] brings them into the one
//! form that clap reads, with the tables that clap derives from the commands' structs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Command as Grammar, CommandFactory, FromArgMatches};
use entail::diagnostic::Diagnostic;
use entail::world::PROGRAM;

use self::groups::VariableArgs;
use crate::commands::{Cli, Command};
use crate::external;
use entail::error::Error;

mod examples;
pub mod flags;
pub mod groups;
pub mod help;
pub mod request;
pub mod values;
pub mod words;

#[cfg(test)]
mod tests;

/// What the command line asks for.
#[derive(Debug)]
pub enum Asked {
    /// A command.
    Run(Box<Invocation>),
    /// A command that is a program of its own: its path, the words behind its name, and what `-chdir` says.
    External(PathBuf, Vec<String>, Option<PathBuf>),
    /// Help, on the standard output, and the exit code.
    Help(String, u8),
    /// The command line makes no sense: a text for the standard error; exit code 1.
    Confused(String),
    /// A command's flags make no sense.
    Misused(Box<Diagnostic>, AskedCommand),
}

/// Which command is asked for, and how it is to speak.
#[derive(Clone, Debug)]
pub struct AskedCommand {
    /// Its name as typed: `plan`, `state list`.
    pub name: String,
    /// Whether all that it says is to be a stream of messages: `-json`, of a command that has one.
    pub has_stream: bool,
    /// Whether it takes values of variables.
    pub takes_values: bool,
}

/// A command with its flags.
#[derive(Debug)]
pub struct Invocation {
    /// `-chdir=DIR`
    pub directory: Option<PathBuf>,
    /// Which command it is.
    pub asked: AskedCommand,
    /// The command.
    pub cli: Cli,
    /// `-var` and `-var-file`, for commands that take them.
    pub variables: VariableArgs,
}

/// Reads the command line (without the program's name) and the environment's additions to it.
pub fn read(arguments: Vec<String>, environment: &BTreeMap<String, String>) -> Asked {
    let (directory, arguments) = match take_directory(arguments) {
        Ok(split) => split,
        Err(why) => return Asked::Confused(why.into()),
    };
    let grammar = Cli::command();
    if let Some((program, rest)) = external(&arguments, &grammar, environment) {
        return Asked::External(program, rest, directory);
    }
    let arguments = match add_environment(arguments, &grammar, environment) {
        Ok(arguments) => arguments,
        Err(why) => return Asked::Confused(why.into()),
    };
    match parse(arguments, &grammar, environment) {
        Ok((asked, cli, variables)) => {
            Asked::Run(Box::new(Invocation { directory, asked, cli, variables }))
        }
        Err(asked) => asked,
    }
}

/// The program of a command that this one does not have, with the words behind its name.
fn external(
    arguments: &[String],
    grammar: &Grammar,
    environment: &BTreeMap<String, String>,
) -> Option<(PathBuf, Vec<String>)> {
    let (name, rest) = arguments.split_first()?;
    if name.starts_with('-') || grammar.find_subcommand(name).is_some() {
        return None;
    }
    external::find(name, environment).map(|it| (it, rest.to_vec()))
}

fn parse(
    mut arguments: Vec<String>,
    grammar: &Grammar,
    environment: &BTreeMap<String, String>,
) -> Result<(AskedCommand, Cli, VariableArgs), Asked> {
    if arguments.iter().any(|it| matches!(it.as_str(), "-v" | "-version" | "--version")) {
        arguments = vec!["version".to_owned()];
    }
    let (path, first) = command_path(&arguments, grammar);
    let wants_help = arguments.iter().take_while(|it| *it != "--").any(|it| is_help(it));
    let Some(innermost) = path.last() else {
        let first = arguments.iter().find(|it| !it.starts_with('-'));
        return Err(match first {
            _ if wants_help => Asked::Help(help::overview(grammar, environment), 0),
            Some(name) => Asked::Confused(unknown_command(name, grammar)),
            None => Asked::Help(help::overview(grammar, environment), 127),
        });
    };
    let name = path.iter().map(|it| it.get_name()).collect::<Vec<_>>().join(" ");
    if wants_help {
        return Err(Asked::Help(help::command(&name, innermost), 0));
    }
    if innermost.is_subcommand_required_set() {
        let wrong = arguments.get(first).map(|it| unknown_subcommand(&name, it, innermost));
        let text = wrong.unwrap_or_default() + &help::command(&name, innermost);
        return Err(Asked::Help(text, 1));
    }
    // A command that may stand without a subcommand takes no words of its own.
    let word =
        arguments.get(first).filter(|it| innermost.has_subcommands() && !it.starts_with('-'));
    if let Some(word) = word {
        let text = unknown_subcommand(&name, word, innermost) + &help::command(&name, innermost);
        return Err(Asked::Help(text, 1));
    }
    let before = arguments[..first].iter().filter(|it| it.starts_with('-')).cloned();
    let given = before.chain(arguments[first..].iter().cloned()).collect();
    let has_stream = has_stream(&name, innermost, &arguments[first..]);
    let takes_values = !TELL_THEMSELVES.contains(&&*name) && has_flag(innermost, "var-file");
    let asked = AskedCommand { name, has_stream, takes_values };
    let misused = |problem| Asked::Misused(Box::new(problem), asked.clone());
    let flags = flags::normalise(given, &[grammar, innermost]).map_err(misused)?;

    let words = path.iter().map(|it| it.get_name().to_owned()).chain(flags);
    let matches = grammar
        .clone()
        .try_get_matches_from(std::iter::once("entail".to_owned()).chain(words))
        .map_err(|it| misused(flags::misunderstood(&it)))?;
    let cli = Cli::from_arg_matches(&matches).map_err(|it| misused(flags::misunderstood(&it)))?;
    misuse(&cli.command).map_err(misused)?;
    Ok((asked, cli, variables(&matches)))
}

/// Commands that need no value to begin with, or say themselves what is wrong with the files of values: as part of a document, or
/// where their work needs a plan.
const TELL_THEMSELVES: [&str; 13] = [
    "diff",
    "facts",
    "impact",
    "minimal",
    "policy check",
    "policy lint",
    "policy test",
    "query",
    "test",
    "validate",
    "why",
    "whatif",
    "workspace show",
];

/// Returns whether `-json` stands among the words of a command that writes messages then, rather than one document or nothing at all.
fn has_stream(name: &str, command: &Grammar, words: &[String]) -> bool {
    const OTHERS: [&str; 5] = ["validate", "output", "show", "test", "console"];
    let is_json = |word: &String| match word.split_once('=').unwrap_or((word, "true")) {
        ("-json" | "--json", value) => flags::truth("json", value).unwrap_or(false),
        _ => false,
    };
    has_flag(command, "json_into")
        && !OTHERS.contains(&name)
        && words.iter().take_while(|it| *it != "--").any(is_json)
}

/// Finds what makes no sense about flags and words together, each on its own being right.
fn misuse(command: &Command) -> Result<(), Diagnostic> {
    match command {
        Command::Output(args) => args.asked().map(drop),
        Command::Show(args) => args.asked().map(drop),
        Command::Validate(args) => args.directory().and(args.lint.selection()).map(drop),
        Command::Plan(args) => args.lint.selection().map(drop),
        Command::Apply(args) => args.lint.selection().map(drop),
        Command::Destroy(args) => args.apply.lint.selection().map(drop),
        Command::Refresh(args) => args.lint.selection().map(drop),
        _ => Ok(()),
    }
}

/// Returns the variables that the innermost command is given, whichever it is.
fn variables(matches: &clap::ArgMatches) -> VariableArgs {
    let mut innermost = matches;
    while let Some((_, inner)) = innermost.subcommand() {
        innermost = inner;
    }
    match innermost.try_get_many::<String>("var") {
        Ok(_) => VariableArgs::from_arg_matches(innermost).unwrap_or_default(),
        Err(_) => VariableArgs::default(),
    }
}

fn has_flag(command: &Grammar, id: &str) -> bool {
    command.get_arguments().any(|it| it.get_id() == id)
}

fn is_help(word: &str) -> bool {
    matches!(word, "-h" | "-help" | "--help")
}

/// Takes `-chdir=DIR` off, which stands before the command.
fn take_directory(mut arguments: Vec<String>) -> Result<(Option<PathBuf>, Vec<String>), Error> {
    let leading = arguments.iter().take_while(|it| it.starts_with('-')).count();
    let is_chdir = |it: &String| it.trim_start_matches('-').split('=').next() == Some("chdir");
    let Some(index) = arguments[..leading].iter().position(is_chdir) else {
        return Ok((None, arguments));
    };
    let flag = arguments.remove(index);
    match flag.split_once('=') {
        Some((_, directory)) if !directory.is_empty() => Ok((Some(PathBuf::from(directory)), arguments)),
        _ => Err("Invalid -chdir option: must include an equals sign followed by a directory path, like -chdir=example\n".into()),
    }
}

/// Follows the words to a command: its grammar and those it is part of, and the index of the first word behind it.
pub fn command_path<'a>(arguments: &[String], grammar: &'a Grammar) -> (Vec<&'a Grammar>, usize) {
    let mut path: Vec<&Grammar> = Vec::new();
    let mut end = 0;
    for (index, word) in arguments.iter().enumerate() {
        if word.starts_with('-') && path.is_empty() {
            continue;
        }
        let found = path.last().copied().unwrap_or(grammar).find_subcommand(word);
        let Some(found) = found else { break };
        path.push(found);
        end = index + 1;
    }
    (path, end)
}

/// Inserts the words of `TF_CLI_ARGS`, and before them those of `TF_CLI_ARGS_command`, right behind the command.
fn add_environment(
    mut arguments: Vec<String>,
    grammar: &Grammar,
    environment: &BTreeMap<String, String>,
) -> Result<Vec<String>, Error> {
    let (path, first) = command_path(&arguments, grammar);
    let suffix: Vec<_> = path.iter().map(|it| it.get_name().replace('-', "_")).collect();
    let specific = format!("TF_CLI_ARGS_{}", suffix.join("_"));
    for variable in ["TF_CLI_ARGS", &specific] {
        let Some(text) = environment.get(variable).filter(|it| !it.is_empty()) else { continue };
        let words = words::split(text)
            .map_err(|it| format!("Error parsing extra CLI args from {variable}: {it}\n"))?;
        arguments.splice(first..first, words);
    }
    Ok(arguments)
}

/// Says that a command has no such subcommand; its help follows.
fn unknown_subcommand(command: &str, name: &str, grammar: &Grammar) -> String {
    let names = grammar.get_subcommands().filter(|it| !it.is_hide_set()).map(Grammar::get_name);
    let hint = nearest(name, names).map_or(String::new(), |it| format!(" Did you mean \"{it}\"?"));
    format!("The {command} command has no subcommand named \"{name}\".{hint}\n\n")
}

fn unknown_command(name: &str, grammar: &Grammar) -> String {
    let names = grammar.get_subcommands().filter(|it| !it.is_hide_set()).map(Grammar::get_name);
    let hint = nearest(name, names).map_or(String::new(), |it| format!(" Did you mean \"{it}\"?"));
    format!(
        "{PROGRAM} has no command named \"{name}\".{hint}\n\nTo see all of {PROGRAM}'s top-level commands, run:\n  {PROGRAM} -help\n\n"
    )
}

/// Returns the name that was probably meant, if one is near.
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let far = 1 + name.chars().count() / 3;
    let distance = |it: &str| strsim::osa_distance(name, it);
    let near = names.map(|it| (distance(it), it)).filter(|it| it.0 <= far.min(3));
    near.min().map(|it| it.1)
}
