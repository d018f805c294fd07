//! What an installer tells of: each thing that it does, and why it could not go on.

use std::path::PathBuf;

use super::super::standing::Authentication;
use super::super::trouble::Trouble;
use crate::address::Provider;
use crate::config::version::Version;
use crate::error::Error;

/// What happens while providers are installed.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Event {
    /// It is part of every program of this kind.
    BuiltIn(Provider),
    /// It is part of this program, in this version.
    Embedded(Provider, String),
    Reusing(Provider),
    /// Versions are looked for, under these conditions.
    Finding(Provider, Option<String>),
    AlreadyInstalled {
        provider: Provider,
        version: Version,
        in_cache: bool,
    },
    Linking(Provider, Version),
    Installing {
        provider: Provider,
        version: Version,
        to_cache: bool,
    },
    Installed {
        provider: Provider,
        version: Version,
        authentication: Authentication,
    },
    WaitingForCache(PathBuf),
    /// At least one provider is signed.
    Signed,
    /// A place has something to say about a provider.
    Warning(Provider, Vec<String>),
}

/// What went wrong with one provider, and when.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// It is not built in, or has conditions though it is.
    BuiltIn(String),
    /// No version could be chosen.
    Query(Trouble),
    /// The chosen version could not be installed.
    Fetch(Version, Trouble),
    /// It could not be taken from the shared cache.
    Link(Version, Error),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::BuiltIn(why) => f.write_str(why),
            Failure::Link(_, why) => write!(f, "{why}"),
            Failure::Query(trouble) | Failure::Fetch(_, trouble) => write!(f, "{trouble}"),
        }
    }
}
