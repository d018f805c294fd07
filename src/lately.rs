//! What was met last, by hash: who is asked for again is mostly found in the nearest cache, whereas a table of millions is somewhere else
//! in memory each time.

/// So many things are remembered.
pub const ROOM: usize = 1 << 10;

/// The things that were met last: of those whose hashes end alike the last one.
#[derive(Clone, Debug)]
pub struct Lately<T>(Vec<T>);

impl<T> Default for Lately<T> {
    fn default() -> Lately<T> {
        Lately(Vec::new())
    }
}

impl<T: Clone + Default> Lately<T> {
    /// Returns a guess: what was met with a hash that ends like this one, or as good as nothing.
    pub fn guess(&self, hash: u64) -> Option<&T> {
        self.0.get(hash as usize % ROOM)
    }

    /// Remembers something in the place of what had a hash that ends like its own.
    pub fn meet(&mut self, hash: u64, it: T) {
        if self.0.is_empty() {
            self.0.resize(ROOM, T::default());
        }
        self.0[hash as usize % ROOM] = it;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_those_whose_hashes_end_alike_is_remembered() {
        let mut lately = Lately::default();
        assert_eq!(lately.guess(5), None);
        lately.meet(5, 'a');
        lately.meet(ROOM as u64 * 3 + 5, 'b');
        lately.meet(6, 'c');
        assert_eq!([5, 6, 7].map(|it| lately.guess(it)), [Some(&'b'), Some(&'c'), Some(&'\0')]);
    }
}
