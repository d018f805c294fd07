//! Everything that can be wrong with where policies come from, one function each.

use crate::world::PROGRAM;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::lock::FILE;
use super::wanted::{Asked, Wanted};
use crate::config::masked;
use crate::diagnostic::{Diagnostic, Span};
use crate::error::Error;
use crate::install::Hash;

fn error(summary: &str, detail: String) -> Diagnostic {
    Diagnostic::error(summary).detail(detail)
}

/// A file of policies cannot be read.
pub(super) fn unreadable(name: &str, why: &str) -> Diagnostic {
    error("Policy cannot be read", format!("{name} cannot be read: {why}."))
}

/// A folder is named that has no policies.
pub(super) fn none_there(named: &str) -> Diagnostic {
    error(
        "No policies there",
        format!("The folder {named} holds no file whose name ends in .rules, at any depth."),
    )
}

/// What is named is neither here nor anywhere else.
pub(super) fn not_there(named: &str, asked: &Asked) -> Diagnostic {
    error(
        "Policy cannot be read",
        format!(
            "{:?}, which {asked} names, is no file or folder here. It can be a path, library:NAME, or the source address of a module, such as git::https://HOST/REPOSITORY.git//FOLDER?ref=v1.",
            masked(named)
        ),
    )
}

/// An archive of this machine is named as a file of rules is.
pub(super) fn archive_here(path: &Path, asked: &Asked) -> Diagnostic {
    error(
        "Policy cannot be read",
        format!(
            "{}, which {asked} names, is an archive. Archives are installed before they are used: name it as file://{}, with //FOLDER behind it for a folder in it.",
            path.display(),
            path.display()
        ),
    )
}

/// A version is asked for where there are none.
pub(super) fn no_versions(named: &str, asked: &Asked) -> Diagnostic {
    error(
        "Policies without versions",
        format!(
            "{:?} has no versions, and {asked} asks for one. Only addresses of a module registry, NAMESPACE/NAME/TARGET, have them; of a git repository, name one with ?ref=.",
            masked(named)
        ),
    )
}

/// A condition on versions is none.
pub(super) fn no_condition(text: &str, asked: &Asked) -> Diagnostic {
    error(
        "Invalid version of policies",
        format!("{text:?}, the version that {asked} asks for, is no condition such as \"~> 1.2\"."),
    )
}

/// The library has no policies of this name.
pub(super) fn not_in_library(name: &str, names: &BTreeSet<String>) -> Diagnostic {
    let near = names.iter().min_by_key(|it| strsim::damerau_levenshtein(it, name));
    let near = near.filter(|it| strsim::damerau_levenshtein(it, name) <= 3);
    let hint = near.map_or(String::new(), |it| format!(" Did you mean library:{it}?"));
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    error(
        "Not in the library",
        format!("The library has no policies called {name}.{hint} It has: {}.", all.join(", ")),
    )
}

/// Policies with a source were never installed here.
pub(super) fn not_installed(wanted: &Wanted) -> Diagnostic {
    error(
        "Policies not installed",
        format!(
            "{:?}, which {} names, is not installed here. Install it with \"{PROGRAM} {}\".",
            wanted.address,
            wanted.asked,
            wanted.asked.init()
        ),
    )
}

/// What lies in the data folder is not what is locked.
pub(super) fn changed(wanted: &Wanted, locked: &Hash, found: &Hash) -> Diagnostic {
    error(
        "Policies differ from what is locked",
        format!(
            "The installed files of {:?} have the checksum {found}, and {FILE} has {locked}. Either was changed since. Install what is locked with \"{PROGRAM} {}\".",
            wanted.address,
            wanted.asked.init()
        ),
    )
}

/// What is installed is not the version that is wanted now.
pub(super) fn other_version(wanted: &Wanted, is_init: bool) -> Diagnostic {
    let way = match is_init {
        true => "Install what is asked for now with -upgrade.".to_owned(),
        false => {
            format!(
                "Install what is asked for now with \"{PROGRAM} {} -upgrade\".",
                wanted.asked.init()
            )
        }
    };
    error(
        "Policies of another version",
        format!(
            "{FILE} has a version of {:?} that is not the one that {} asks for. {way}",
            wanted.address, wanted.asked
        ),
    )
}

/// A source cannot be fetched.
pub(super) fn not_fetched(wanted: &Wanted, why: &Error) -> Diagnostic {
    error(
        "Failed to install policies",
        format!(
            "{:?}, which {} names, could not be fetched: {}. What was installed before is still there.",
            wanted.address,
            wanted.asked,
            masked(why.words().trim_end_matches('.'))
        ),
    )
}

/// There is no room for what is installed.
pub(super) fn no_place(why: &io::Error) -> Diagnostic {
    error(
        "Failed to install policies",
        format!("Nothing can be put into the folder of installed policies: {why}."),
    )
}

/// A source was fetched and has no policies.
pub(super) fn nothing_fetched(wanted: &Wanted) -> Diagnostic {
    error(
        "Failed to install policies",
        format!(
            "{:?}, which {} names, has no file whose name ends in .rules. A folder in a package is named behind two slashes: …//FOLDER.",
            wanted.address, wanted.asked
        ),
    )
}

/// A source gives something else than when it was locked.
pub(super) fn fetched_other(wanted: &Wanted, locked: &Hash, found: &Hash) -> Diagnostic {
    error(
        "Policies differ from what is locked",
        format!(
            "{:?} now gives files with the checksum {found}, and {FILE} has {locked}. Nothing was installed. If the change is meant, accept it with \"{PROGRAM} {} -upgrade\".",
            wanted.address,
            wanted.asked.init()
        ),
    )
}

/// The lock file would change, and must not.
pub(super) fn readonly(wanted: &Wanted) -> Diagnostic {
    error(
        "Policies are not locked",
        format!(
            "{FILE} does not have what {:?} gives now, and -lockfile=readonly forbids changing it. Install without that option, look at what changed, and keep the file with the configuration.",
            wanted.address
        ),
    )
}

/// The lock file cannot be read.
pub(super) fn lock_unreadable(why: &io::Error) -> Diagnostic {
    error("Failed to read file", format!("The file {FILE:?} could not be read: {why}."))
}

/// The lock file cannot be written.
pub(super) fn lock_not_written(why: &io::Error) -> Diagnostic {
    error("Failed to write file", format!("The file {FILE:?} could not be written: {why}."))
}

/// A source is locked twice.
pub(super) fn locked_twice(at: Span) -> Diagnostic {
    error(
        "Policies locked twice",
        format!("Another block is about the same source. Take away this one, or both, and install anew with \"{PROGRAM} init\"."),
    )
    .at(at)
}

/// An argument of the lock file makes no sense.
pub(super) fn no_lock(at: Span, expected: &str) -> Diagnostic {
    error(
        "Invalid lock of policies",
        format!("Expected {expected}. The file is written by \"{PROGRAM} init\": take away the block, and install anew."),
    )
    .at(at)
}
