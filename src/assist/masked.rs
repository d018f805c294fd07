//! Blocks that are left out while others are looked at: what is in them cannot be understood.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::Place;
use super::document::{Document, Language, range, whole};
use crate::diagnostic::Diagnostic;
use crate::world::World;

/// Blocks that are left out, by file.
#[derive(Default)]
pub(super) struct Masked {
    files: BTreeMap<PathBuf, File>,
    is_new: bool,
}

struct File {
    text: String,
    blocks: Vec<Range<usize>>,
    /// What they declare.
    names: Vec<String>,
}

impl Masked {
    /// Leaves out the block at a place: first its inside, then, where that was not enough, all of it.
    pub fn add(&mut self, documents: &[Arc<Document>], place: &Place, round: usize) {
        let document = documents.iter().find(|it| it.path == place.path);
        let Some(document) = document.filter(|it| it.language == Language::Config) else { return };
        let Some(block) = document.blocks_at(place.range.start).first().copied() else { return };
        let file = self.files.entry(place.path.clone()).or_insert_with(|| File {
            text: document.mended.clone().unwrap_or_else(|| document.text.to_string()),
            blocks: Vec::new(),
            names: Vec::new(),
        });
        let inside = range(block.body.span);
        let blanked = match round {
            0 if inside.len() > 2 => inside.start + 1..inside.end - 1,
            _ => whole(block),
        };
        if file.text[blanked.clone()].trim().is_empty() {
            return;
        }
        file.text = blank(&file.text, &blanked);
        let block = whole(block);
        let declared = document.index.declarations.iter();
        let inside = declared.filter(|it| block.contains(&it.name.start));
        file.names.extend(inside.map(|it| it.entity.name().to_string()));
        file.blocks.push(block);
        self.is_new = true;
    }

    /// Lays the texts without these blocks over the files; returns whether there is anything new in that.
    pub fn lay(&mut self, world: &mut World) -> bool {
        for (path, file) in &self.files {
            world.files.lay(path, file.text.as_str());
        }
        std::mem::take(&mut self.is_new)
    }

    /// Returns whether a place lies in such a block.
    pub fn holds(&self, place: &Place) -> bool {
        let file = self.files.get(&place.path);
        file.is_some_and(|it| it.blocks.iter().any(|it| it.contains(&place.range.start)))
    }

    /// Returns whether a problem names such a block: that it is not there, or has nothing in it.
    pub fn names(&self, problem: &Diagnostic) -> bool {
        let mut names = self.files.values().flat_map(|it| &it.names);
        names.any(|it| problem.detail.contains(&format!("{it:?}")))
    }
}

/// Blanks a part of a text; line ends stay.
fn blank(text: &str, part: &Range<usize>) -> String {
    let blanked: String = text[part.clone()]
        .chars()
        .map(|it| if it == '\n' { "\n".to_owned() } else { " ".repeat(it.len_utf8()) })
        .collect();
    format!("{}{blanked}{}", &text[..part.start], &text[part.end..])
}
