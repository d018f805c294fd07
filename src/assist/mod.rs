//! What an editor may ask of texts that are being written: what a name means, who uses it, what may be written here, what stands there.
//!
//! Takes a [`Workspace`] – folders, and the texts that are laid over their files – and gives plain values: places are files and
//! ranges of bytes. Knows no protocol and no editor. A text that cannot be read as it is, is read as far as it can be
//! ([`syntax::mended`](crate::syntax::mended)); what is wrong with it is what `validate` and `policy` say ([`problems`]).

pub mod actions;
mod answer;
mod bodies;
pub mod complete;
mod definition;
mod document;
mod expected;
pub mod hints;
mod hover;
mod index;
mod language;
pub mod lenses;
mod masked;
mod module;
pub mod outline;
pub mod problems;
mod rename;
mod rules;
mod schemas;
mod signature;
mod spelling;
#[cfg(test)]
mod tests;
mod vocabulary;
mod workspace;

pub use answer::{Question, value_at};
pub use definition::{Target, definition, references, target_at};
pub use document::{Document, Language};
pub use hover::{Hover, hover};
pub use index::{Declaration, Entity, Use};
pub use module::Module;
pub use rename::{NotRenamed, Renaming, rename, renamed};
pub use rules::relations_of;
pub use schemas::Schemas;
pub use signature::{Signature, signature};
pub use vocabulary::vocabulary;
pub use workspace::Workspace;

use std::cmp::Ordering;
use std::ops::Range;
use std::path::PathBuf;

/// A range of bytes in a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// The bytes.
    pub range: Range<usize>,
}

impl Ord for Place {
    fn cmp(&self, other: &Place) -> Ordering {
        let key = |it: &Place| (it.range.start, it.range.end);
        self.path.cmp(&other.path).then_with(|| key(self).cmp(&key(other)))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Place) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A text that replaces a range of bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    /// What is replaced; empty where something is put in.
    pub place: Place,
    /// What stands there instead.
    pub text: String,
}
