//! From bytes of a text to spans of the file it stands in.

use super::problems;
use crate::diagnostic::{Diagnostics, FileId, Span};

/// Where a text stands in its file.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub file: FileId,
    /// The file's byte at which the text begins.
    pub base: usize,
    /// For text whose escapes were resolved: byte of the text, and the byte of the file (from `base`) it came from.
    pub map: &'a [(u32, u32)],
}

impl<'a> Place<'a> {
    /// Returns the place of a text that stands in its file as it is, from byte `base`.
    pub fn plain(file: FileId, base: usize) -> Place<'a> {
        Place { file, base, map: &[] }
    }

    /// Returns the text, or an empty one where a span could not say where in it anything stands, which is reported.
    pub fn bounded<'t>(&self, text: &'t str, diags: &mut Diagnostics) -> &'t str {
        if u32::try_from(self.base + text.len()).is_ok() {
            return text;
        }
        diags.push(problems::too_large(self.span(0, 0)));
        ""
    }

    /// Returns the span of a byte range of the text.
    pub fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, self.base + self.source(start), self.base + self.source(end))
    }

    fn source(&self, byte: usize) -> usize {
        match self.map.partition_point(|it| it.0 as usize <= byte).checked_sub(1) {
            Some(index) => self.map[index].1 as usize + byte - self.map[index].0 as usize,
            None => byte,
        }
    }
}
