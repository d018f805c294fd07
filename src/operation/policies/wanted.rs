//! What a word means that names policies: a part of the library, a path, or a source that has to be installed.

use std::fmt;
use std::path::{Path, PathBuf};

use super::problems;
use crate::config::masked;
use crate::config::source::ModuleSource;
use crate::config::version::{Constraint, Constraints};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::install::Settings;
use crate::install::settings::policies::PolicyBlock;
use crate::value::text::shell_word;
use crate::world::World;

/// Who asks for policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// `-policy=WORD`
    Flag(String),
    /// `policies "NAME"` in the CLI configuration.
    Block(String),
}

impl Asked {
    /// Returns the arguments with which everything that is asked for is installed.
    pub fn init(&self) -> String {
        match self {
            Asked::Flag(word) => format!("init -policy={}", shell_word(&masked(word))),
            Asked::Block(_) => "init".to_owned(),
        }
    }

    /// Returns the name of the group of files: nobody else's files can have it.
    pub fn group(&self) -> String {
        match self {
            Asked::Flag(word) if word.starts_with(BLOCKS) => format!("./{word}"),
            Asked::Flag(word) => masked(word).into_owned(),
            Asked::Block(name) => format!("{BLOCKS}{name}"),
        }
    }
}

/// How the groups of blocks of the CLI configuration begin.
const BLOCKS: &str = "policies.";

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Asked::Flag(_) => f.write_str("-policy"),
            Asked::Block(name) => {
                write!(f, "the block policies {name:?} of the CLI configuration")
            }
        }
    }
}

/// Where policies are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A part of the library that ships.
    Library(String),
    /// A file or folder here.
    Path(PathBuf),
    /// Elsewhere: it is installed before it is used.
    Elsewhere(Wanted),
}

/// Policies that have to be installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Who asks.
    pub asked: Asked,
    /// Where they are.
    pub source: ModuleSource,
    /// The same as it is locked and shown: complete, without credentials.
    pub address: String,
    /// What their version has to meet.
    pub conditions: Vec<Constraint>,
}

/// Returns where the policies of a flag are.
///
/// # Errors
///
/// If there is no such place.
pub(super) fn of_flag(world: &World, word: &str) -> Result<Place, Diagnostic> {
    place(world, &world.root, (word, None), Asked::Flag(word.to_owned()))
}

/// Returns where the policies of a block of the CLI configuration are.
///
/// # Errors
///
/// If there is no such place.
pub(super) fn of_block(
    world: &World,
    name: &str,
    block: &PolicyBlock,
) -> Result<Place, Diagnostic> {
    let word = (block.source.as_str(), block.version.as_deref());
    place(world, &block.folder, word, Asked::Block(name.to_owned()))
}

/// What a block of the CLI configuration asks for.
pub(super) struct OfSettings {
    /// Where the policies are.
    pub place: Place,
    /// Who asks.
    pub asked: Asked,
    /// Whether nobody may leave them out.
    pub is_required: bool,
}

/// Returns what the CLI configuration asks for, or what of it is required.
///
/// # Errors
///
/// If a block is faulty, or names nothing: nobody may rely on policies that are passed over.
pub(super) fn of_settings(
    world: &World,
    settings: &Settings,
    only_required: bool,
) -> Result<Vec<OfSettings>, Diagnostics> {
    let mut problems = settings.policies.problems.clone();
    let mut found = Vec::new();
    let blocks = settings.policies.by_name.iter();
    for (name, block) in blocks.filter(|it| it.1.is_required || !only_required) {
        let asked = Asked::Block(name.clone());
        if let Some(place) = problems.take(of_block(world, name, block)) {
            found.push(OfSettings { place, asked, is_required: block.is_required });
        }
    }
    if problems.has_errors() { Err(problems) } else { Ok(found) }
}

/// Whether a file of this name is fetched as a package, and not read.
fn is_archive(name: &str) -> bool {
    let endings = ["zip", "tar", "gz", "tgz", "bz2", "tbz2", "xz", "txz", "zst", "tzst"];
    let ending = Path::new(name).extension().unwrap_or_default();
    endings.iter().any(|it| ending.eq_ignore_ascii_case(it))
}

fn place(
    world: &World,
    base: &Path,
    (word, version): (&str, Option<&str>),
    asked: Asked,
) -> Result<Place, Diagnostic> {
    let library = word.strip_prefix("library:");
    let path: PathBuf = base.join(word).components().collect();
    // What is here is meant, whatever else it may look like.
    if library.is_some() || world.files.exists(&path) {
        let is_archive = world.files.is_file(&path) && is_archive(word);
        return match (version, library) {
            (Some(_), _) => Err(problems::no_versions(word, &asked)),
            (None, None) if is_archive => Err(problems::archive_here(&path, &asked)),
            (None, Some(name)) => Ok(Place::Library(name.to_owned())),
            (None, None) => Ok(Place::Path(path)),
        };
    }
    let source = match ModuleSource::parse(word, false) {
        Ok(ModuleSource::Remote(text)) if Path::new(&text).is_absolute() => None,
        Ok(it @ (ModuleSource::Remote(_) | ModuleSource::Registry(_))) => Some(it),
        Ok(ModuleSource::Local(_)) | Err(_) => None,
    };
    let source = source.ok_or_else(|| problems::not_there(word, &asked))?;
    let conditions = match version {
        None => Vec::new(),
        Some(_) if !matches!(source, ModuleSource::Registry(_)) => {
            return Err(problems::no_versions(word, &asked));
        }
        Some(text) => {
            Constraints::parse(text).ok_or_else(|| problems::no_condition(text, &asked))?.0
        }
    };
    let address = source.recorded();
    Ok(Place::Elsewhere(Wanted { asked, source, address, conditions }))
}
