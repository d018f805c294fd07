//! Flags as OpenTofu writes them, brought into the form that clap reads: `--name=value`, always joined.

use clap::builder::ValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command as Grammar};
use entail::backend::Recover;
use entail::diagnostic::Diagnostic;
use entail::error::Error;
use entail::value::text::shown;

use super::{nearest, values};
use crate::view::diagnostics::Modules;

/// Brings flags into clap's form; `grammars` say which flags there are. Other words stay as they are.
pub fn normalise(given: Vec<String>, grammars: &[&Grammar]) -> Result<Vec<String>, Diagnostic> {
    let mut out = Vec::with_capacity(given.len());
    let mut names = Vec::new();
    let mut words = given.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            out.push(word);
            out.extend(words.by_ref());
            break;
        }
        let dashes = word.len() - word.trim_start_matches('-').len();
        if dashes == 0 || word == "-" {
            out.push(word);
            continue;
        }
        if is_name(&word, &out, grammars) {
            names.push(word);
            continue;
        }
        if dashes > 2 || word[dashes..].starts_with('=') {
            return Err(unreadable(format!("bad flag syntax: {word}")));
        }
        let (name, value) = match word[dashes..].split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (&word[dashes..], None),
        };
        let Some(flag) = find(name, grammars) else {
            return Err(unknown_flag(name, grammars));
        };
        let value = match value {
            value if is_switch(flag) => {
                truth(name, value.as_deref().unwrap_or("true"))?.to_string()
            }
            Some(value) => value,
            None if may_stand_alone(flag) => {
                out.push(format!("--{name}"));
                continue;
            }
            None => words.next().ok_or_else(|| needs_value(name, grammars))?,
        };
        // An empty path is none, and takes back what was given before.
        if value.is_empty() && is_path(flag) {
            out.retain(|it| it.split_once('=').is_none_or(|it| it.0 != format!("--{name}")));
            continue;
        }
        out.push(format!("--{name}={value}"));
    }
    if !names.is_empty() && !out.iter().any(|it| it == "--") {
        out.push("--".to_owned());
    }
    out.extend(names);
    Ok(out)
}

/// Returns whether a word with a dash in front is what a provider calls an object, behind its address: those have names of all kinds.
/// What is nearly a flag is none.
fn is_name(word: &str, before: &[String], grammars: &[&Grammar]) -> bool {
    let flag = word.trim_start_matches('-');
    let flag = flag.split_once('=').map_or(flag, |it| it.0);
    grammars.last().is_some_and(|it| it.get_name() == "import")
        && before.iter().any(|it| !it.starts_with('-'))
        && find(flag, grammars).is_none()
        && nearest_flag(flag, grammars).is_none()
}

/// Returns the flag of this name or alias.
pub fn find<'a>(name: &str, grammars: &[&'a Grammar]) -> Option<&'a Arg> {
    grammars.iter().flat_map(|it| it.get_arguments()).find(|it| is_named(it, name))
}

fn is_named(flag: &Arg, name: &str) -> bool {
    flag.get_long() == Some(name) || flag.get_all_aliases().is_some_and(|it| it.contains(&name))
}

/// Returns whether a flag is true where it is only named.
pub fn is_switch(flag: &Arg) -> bool {
    matches!(flag.get_action(), ArgAction::Set)
        && flag.get_value_parser().type_id() == ValueParser::bool().type_id()
}

/// Returns whether a flag may be named without a value, though it can have one.
pub fn may_stand_alone(flag: &Arg) -> bool {
    flag.get_num_args().is_some_and(|it| it.min_values() == 0)
}

/// Returns whether a flag takes the path of one file or folder.
fn is_path(flag: &Arg) -> bool {
    matches!(flag.get_action(), ArgAction::Set)
        && flag.get_value_parser().type_id() == ValueParser::path_buf().type_id()
}

fn unknown_flag(name: &str, grammars: &[&Grammar]) -> Diagnostic {
    let near = nearest_flag(name, grammars);
    let hint = near.map_or(String::new(), |it| format!("\n\nDid you mean -{it}?"));
    unreadable(format!("flag provided but not defined: -{name}{hint}"))
}

fn nearest_flag<'a>(name: &str, grammars: &[&'a Grammar]) -> Option<&'a str> {
    let flags = grammars.iter().flat_map(|it| it.get_arguments());
    nearest(name, flags.filter(|it| !it.is_hide_set()).filter_map(Arg::get_long))
}

fn needs_value(name: &str, grammars: &[&Grammar]) -> Diagnostic {
    let command = grammars.last().map_or("", |it| it.get_name());
    unreadable(format!("flag needs an argument: -{name}{}", choice(command, name)))
}

/// Says which words a flag takes, where they are known.
fn choice(command: &str, name: &str) -> String {
    match values::words(command, name) {
        [] => String::new(),
        words => {
            format!("\n\nIt is one of: {}. For example: -{name}={}", words.join(", "), words[0])
        }
    }
}

pub(super) fn truth(name: &str, text: &str) -> Result<bool, Diagnostic> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        _ => Err(unreadable(format!("invalid boolean value \"{text}\" for -{name}: parse error"))),
    }
}

fn unreadable(detail: String) -> Diagnostic {
    Diagnostic::error("Failed to parse command-line flags").detail(detail)
}

/// Says what clap did not understand.
pub fn misunderstood(error: &clap::Error) -> Diagnostic {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(it)) => it.clone(),
        Some(ContextValue::Strings(it)) => it.join(" "),
        _ => String::new(),
    };
    let given = text(ContextKind::InvalidArg);
    let name =
        given.split([' ', '=']).next().unwrap_or_default().trim_start_matches('-').to_owned();
    match error.kind() {
        ErrorKind::UnknownArgument if !given.starts_with('-') => too_many(),
        ErrorKind::UnknownArgument => unreadable(format!("flag provided but not defined: -{name}")),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let value = text(ContextKind::InvalidValue);
            let words = choice("", &name);
            unreadable(format!("invalid value \"{value}\" for flag -{name}: parse error{words}"))
        }
        _ => unreadable(error.kind().to_string()),
    }
}

fn too_many() -> Diagnostic {
    Diagnostic::error("Too many command line arguments")
        .detail("To specify a working directory for the command, use the global -chdir flag.")
}

/// Parses what becomes of a journal.
pub fn recover(text: &str) -> Result<Recover, Error> {
    match text {
        "take" => Ok(Recover::Take),
        "aside" => Ok(Recover::Aside),
        _ => Err(format!("\"{text}\" is neither \"take\" nor \"aside\"").into()),
    }
}

/// Parses which modules' deprecated things are told of. A word that is none of these means all, as in OpenTofu.
pub fn deprecation(text: &str) -> Result<Modules, Error> {
    let Some(level) = text.strip_prefix("module:") else {
        return Err(format!("{} does not begin with \"module:\"", shown(text)).into());
    };
    Ok(match level {
        "local" => Modules::Local,
        "none" => Modules::None,
        _ => Modules::All,
    })
}

/// Parses a duration such as `5s`, `1m30s`, `300ms` or `0`.
pub fn duration(text: &str) -> Result<std::time::Duration, Error> {
    let bad = || Error::from(format!("invalid duration \"{text}\""));
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Ok(std::time::Duration::ZERO);
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(bad)?;
        let number: f64 = rest[..digits].parse().map_err(|_| bad())?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(bad()),
        };
        seconds += number * unit;
        rest = &rest[letters..];
    }
    if text.is_empty() {
        Err(bad())
    } else {
        std::time::Duration::try_from_secs_f64(seconds).map_err(|_| bad())
    }
}
