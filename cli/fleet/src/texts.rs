//! Texts as numbers: each is kept once.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Texts, each with a number: its position.
#[derive(Debug, Default)]
pub struct Texts {
    texts: Vec<Arc<str>>,
    numbers: FxHashMap<Arc<str>, u32>,
}

impl Texts {
    /// Returns the number of a text.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(known) = self.find(text) {
            return known;
        }
        let (number, text) = (self.texts.len() as u32, Arc::<str>::from(text));
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    /// Returns the number of a text that is there already.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// Returns the text of a number.
    pub fn get(&self, number: u32) -> Option<&str> {
        self.texts.get(number as usize).map(|it| &**it)
    }

    /// Returns how many texts there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }
}
