//! Texts as whole numbers: the same text always has the same number, so that a column of texts joins like any other.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Texts, each with a number: its position.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    texts: Vec<Arc<str>>,
    numbers: FxHashMap<Arc<str>, u64>,
}

impl Texts {
    /// Returns the number of a text, giving it the next one if it is new.
    pub fn word(&mut self, text: &str) -> u64 {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        let (text, number) = (Arc::<str>::from(text), self.texts.len() as u64);
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    /// Returns the text with this number.
    pub fn text(&self, word: u64) -> Option<&str> {
        self.texts.get(usize::try_from(word).ok()?).map(AsRef::as_ref)
    }
}
