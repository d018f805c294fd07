//! Texts that are read often, held once.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::Str;
use crate::lately::{Lately, ROOM};

/// Texts that were read, each of which is held once however often it is read again.
#[derive(Debug, Default)]
pub struct Interner {
    all: HashTable<Str>,
    /// Those that were read last, once there are many: what stands together mostly names the same.
    lately: Lately<Option<Str>>,
}

fn hash_of(text: &str) -> u64 {
    FxBuildHasher.hash_one(text)
}

impl Interner {
    /// Makes room for so many more.
    pub fn reserve(&mut self, more: usize) {
        self.all.reserve(more, |it| hash_of(it));
    }

    /// Returns a text if it was read before.
    pub fn get(&self, text: &str) -> Option<Str> {
        let hash = hash_of(text);
        let known = self.lately(hash, text);
        known.or_else(|| self.all.find(hash, |it| **it == *text)).cloned()
    }

    /// Returns a text, the same each time.
    pub fn intern(&mut self, text: &str) -> Str {
        let hash = hash_of(text);
        if let Some(known) = self.lately(hash, text) {
            return known.clone();
        }
        let entry = self.all.entry(hash, |it| **it == *text, |it| hash_of(it));
        let known = entry.or_insert_with(|| text.into()).get().clone();
        if self.all.len() > ROOM {
            self.lately.meet(hash, Some(known.clone()));
        }
        known
    }

    fn lately(&self, hash: u64, text: &str) -> Option<&Str> {
        let known = self.lately.guess(hash)?.as_ref();
        known.filter(|it| ***it == *text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_held_once_however_many_there_are() {
        let mut interner = Interner::default();
        interner.reserve(10);
        assert_eq!(interner.get("0"), None);
        let texts: Vec<String> = (0..4 * ROOM).map(|it| it.to_string()).collect();
        let first: Vec<Str> = texts.iter().map(|it| interner.intern(it)).collect();
        for (text, first) in texts.iter().zip(&first).rev() {
            assert_eq!(**first, **text);
            assert!(interner.get(text).is_some_and(|it| Str::ptr_eq(&it, first)), "{text}");
            assert!(Str::ptr_eq(&interner.intern(text), first), "{text}");
        }
        assert_eq!(interner.get("no number"), None);
    }
}
