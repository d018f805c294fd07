//! Texts that stand in a document once, however often they are used.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

/// Texts and sequences of numbers by their number. The first text is empty, and so is the first sequence.
pub struct Strings {
    lines: HashMap<String, usize>,
    blocks: HashMap<Vec<usize>, usize>,
}

impl Default for Strings {
    fn default() -> Strings {
        Strings {
            lines: HashMap::from([(String::new(), 0)]),
            blocks: HashMap::from([(Vec::new(), 0)]),
        }
    }
}

impl Strings {
    /// Returns the number of a text.
    pub fn line(&mut self, text: &str) -> usize {
        if let Some(number) = self.lines.get(text) {
            return *number;
        }
        let number = self.lines.len();
        self.lines.insert(text.to_owned(), number);
        number
    }

    /// Returns the number of a sequence.
    pub fn block(&mut self, numbers: Vec<usize>) -> usize {
        let number = self.blocks.len();
        *self.blocks.entry(numbers).or_insert(number)
    }

    /// Returns the texts and the sequences, each in the order of their numbers.
    pub fn document(self) -> (Json, Json) {
        let mut lines: Vec<(String, usize)> = self.lines.into_iter().collect();
        lines.sort_by_key(|it| it.1);
        let mut blocks: Vec<(Vec<usize>, usize)> = self.blocks.into_iter().collect();
        blocks.sort_by_key(|it| it.1);
        let lines: Vec<String> = lines.into_iter().map(|it| it.0).collect();
        let blocks: Vec<Vec<usize>> = blocks.into_iter().map(|it| it.0).collect();
        (json!(lines), json!(blocks))
    }
}
