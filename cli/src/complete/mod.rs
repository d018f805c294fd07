//! Completes words for shells: the scripts of `completion` ask here, with every key that is pressed.
//!
//! Takes the words so far, the last of them unfinished, and gives those that it may become. Nothing is planned, asked or told, and
//! whatever cannot be read has no names.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Arg, Command as Grammar, CommandFactory};
use entail::world::World;
use entail::world::terminal::is_hidden;

use crate::arguments::{command_path, flags, values};
use crate::commands::Cli;
use names::{Kind, Names};

mod names;
pub mod shells;
#[cfg(test)]
mod tests;

/// The word that the scripts begin with. No command: nothing that the environment adds to commands is added to it.
pub const COMMAND: &str = "__complete";

/// More than this many of a kind are told in steps: up to the next dot or bracket.
const MANY: usize = 300;

/// What a word may become.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// The whole word.
    pub word: String,
    /// What it is, in a few words; may be empty.
    pub about: String,
    /// Whether more can follow within the same word.
    pub goes_on: bool,
}

impl Candidate {
    fn of(word: impl Into<String>) -> Candidate {
        Candidate { word: word.into(), about: String::new(), goes_on: false }
    }
}

/// Returns what the last of the words may become.
pub fn candidates(words: &[String], mut world: World) -> Vec<Candidate> {
    let Some((last, before)) = words.split_last() else { return Vec::new() };
    let grammar = Cli::command();
    let mut before = before.to_vec();
    if let Some(at) = before.iter().position(|it| it.starts_with("-chdir=")) {
        world.root = world.root.join(before.remove(at).trim_start_matches("-chdir="));
    }
    let (path, first) = command_path(&before, &grammar);
    let command = path.last().copied().unwrap_or(&grammar);
    let name = path.iter().map(|it| it.get_name()).collect::<Vec<_>>().join(" ");
    let asked = Asked { grammar: &grammar, command, name, names: Names::of(Arc::new(world)) };
    let mut found = asked.answer(&before[first..], last);
    // A name that cannot be seen, or has lines, is no word that anybody types.
    let is_seen = |it: &Candidate| !it.word.chars().any(|it| it.is_control() || is_hidden(it));
    found.retain(|it| it.word.starts_with(last.as_str()) && is_seen(it));
    found.sort();
    found.dedup();
    in_steps(found, last)
}

struct Asked<'a> {
    grammar: &'a Grammar,
    command: &'a Grammar,
    name: String,
    names: Names,
}

impl Asked<'_> {
    /// - `given`: the words behind the command.
    fn answer(&self, given: &[String], last: &str) -> Vec<Candidate> {
        if let Some(flag) = given.last().and_then(|it| self.awaits_value(it)) {
            return self.values(flag, last, "");
        }
        if last.starts_with('-') {
            return match last.split_once('=') {
                Some((flag, value)) => match self.flag(flag) {
                    Some(it) => self.values(it, value, &format!("{flag}=")),
                    None if flag == "-chdir" => self.names.of_kind(Kind::Folder, value, "-chdir="),
                    None => Vec::new(),
                },
                None => self.flags(last),
            };
        }
        if self.command.has_subcommands() && given.is_empty() {
            let shown = self.command.get_subcommands().filter(|it| !it.is_hide_set());
            return shown.map(described).collect();
        }
        let words = given.iter().filter(|it| !it.starts_with('-')).count();
        let kinds = names::positional(&self.name, words);
        kinds.iter().flat_map(|it| self.names.of_kind(*it, last, "")).collect()
    }

    /// Returns the flag that a word names and that needs the next word.
    fn awaits_value(&self, word: &str) -> Option<&Arg> {
        let flag = (word.starts_with('-') && !word.contains('=')).then(|| self.flag(word))??;
        (!flags::is_switch(flag) && !flags::may_stand_alone(flag)).then_some(flag)
    }

    fn flag(&self, word: &str) -> Option<&Arg> {
        flags::find(word.trim_start_matches('-'), &[self.grammar, self.command])
    }

    fn flags(&self, last: &str) -> Vec<Candidate> {
        let dashes = if last.starts_with("--") { "--" } else { "-" };
        let own = self.command.get_arguments().filter(|it| !it.is_hide_set());
        let general = self.grammar.get_arguments().filter(|it| it.is_global_set());
        let mut found: Vec<Candidate> =
            own.chain(general).filter_map(|it| flag_itself(it, dashes)).collect();
        found.push(Candidate {
            about: "Show help".to_owned(),
            ..Candidate::of(format!("{dashes}help"))
        });
        if self.name.is_empty() {
            let about = "Switch to this directory first".to_owned();
            let word = format!("{dashes}chdir=");
            found.push(Candidate { word, about, goes_on: true });
        }
        found
    }

    fn values(&self, flag: &Arg, value: &str, before: &str) -> Vec<Candidate> {
        let name = flag.get_long().unwrap_or_default();
        let words = match flags::is_switch(flag) {
            true => &["true", "false"],
            false => values::words(self.command.get_name(), name),
        };
        let kinds = names::of_flag(&self.name, name, flag);
        let named = kinds.iter().flat_map(|it| self.names.of_kind(*it, value, before));
        words.iter().map(|it| Candidate::of(format!("{before}{it}"))).chain(named).collect()
    }
}

fn described(command: &Grammar) -> Candidate {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    Candidate { about, ..Candidate::of(command.get_name()) }
}

fn flag_itself(flag: &Arg, dashes: &str) -> Option<Candidate> {
    let takes_value = !flags::is_switch(flag) && !flags::may_stand_alone(flag);
    let is_on = flag.get_default_values().first().is_some_and(|it| it == "true");
    let end = match () {
        () if takes_value => "=",
        // What is on can only be switched off.
        () if flags::is_switch(flag) && is_on => "=false",
        () => "",
    };
    let about = flag.get_help().map(ToString::to_string).unwrap_or_default();
    let word = format!("{dashes}{}{end}", flag.get_long()?);
    Some(Candidate { word, about, goes_on: takes_value })
}

/// Tells many words in steps, so that a list stays one that can be read.
fn in_steps(found: Vec<Candidate>, last: &str) -> Vec<Candidate> {
    if found.len() <= MANY {
        return found;
    }
    let mut steps: Vec<Candidate> = found
        .into_iter()
        .map(|it| {
            match it.word[last.len()..].char_indices().find(|(at, c)| *at > 0 && ".[".contains(*c))
            {
                Some((at, _)) => {
                    let word = it.word[..last.len() + at].to_owned();
                    Candidate { word, about: String::new(), goes_on: true }
                }
                None => it,
            }
        })
        .collect();
    steps.dedup_by(|a, b| a.word == b.word);
    steps
}

/// Returns the words of a command line that is still being typed: a quote may be open.
pub fn unfinished(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote: Option<char> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        let last = words.last_mut().expect("there is one from the beginning");
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '\\') | (Some('"'), '\\') => last.extend(chars.next()),
            (None, ' ' | '\t') => {
                if !last.is_empty() {
                    words.push(String::new());
                }
            }
            (_, c) => last.push(c),
        }
    }
    words
}

/// Answers a script: `SHELL` and the words, or for `bash` the line as it was typed.
pub fn answer(given: &[String]) -> String {
    // What lies in a folder is looked at, and never run because a key is pressed.
    let world = World { is_trusted: false, ..World::of_this_process() };
    match given {
        [shell, line] if shell == "bash" => {
            let words = unfinished(line);
            let last = words.last().cloned().unwrap_or_default();
            let found = candidates(words.get(1..).unwrap_or_default(), world);
            shells::for_bash(&found, &last, line)
        }
        [_, words @ ..] => shells::lines(&candidates(words, world)),
        [] => String::new(),
    }
}

/// Splits what is typed of a path: the folder to be listed, and how it is written.
fn split_path(value: &str) -> (PathBuf, &str) {
    match value.rsplit_once('/') {
        Some((folder, _)) => (PathBuf::from(format!("{folder}/")), &value[..=folder.len()]),
        None => (PathBuf::from("."), ""),
    }
}
