//! Random choices that a seed repeats.

/// A generator of choices (xorshift). The seed is not zero.
pub struct Dice(pub u64);

impl Dice {
    /// Returns a number below `count`, which is not zero.
    pub fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % count
    }

    /// Says yes once in `count` times.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Returns one of `among`, which is not empty.
    pub fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len())]
    }
}
