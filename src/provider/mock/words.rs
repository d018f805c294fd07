//! Made-up texts: the same for the same type, in every run, and the same as in the other program.
//!
//! A generator is the additive lagged Fibonacci generator of Mitchell and Reeds, seeded as the Go library does it.

use super::cooked::COOKED;

const LENGTH: usize = 607;
const TAP: usize = 273;
const CHARACTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890";

/// Makes texts up.
pub(super) struct Words {
    state: Vec<i64>,
    tap: usize,
    feed: usize,
}

impl Words {
    /// Returns the generator of a resource type.
    pub(super) fn of(kind: &str) -> Words {
        let step = |hash: u32, byte: u8| hash.wrapping_mul(0x0100_0193) ^ u32::from(byte);
        let hash = kind.bytes().fold(0x811c_9dc5, step);
        let seed = match i64::from(hash) % i64::from(i32::MAX) {
            0 => 89_482_311,
            seed => seed,
        };
        let mut x = seed;
        let mut next = || {
            // The product of two numbers below 2^31 fits.
            x = 48_271 * x % i64::from(i32::MAX);
            x
        };
        (0..20).for_each(|_| {
            next();
        });
        let state = COOKED.iter().map(|cooked| {
            let (high, middle, low) = (next() << 40, next() << 20, next());
            high ^ middle ^ low ^ cooked
        });
        Words { state: state.collect(), tap: 0, feed: LENGTH - TAP }
    }

    fn number(&mut self) -> i64 {
        self.tap = (self.tap + LENGTH - 1) % LENGTH;
        self.feed = (self.feed + LENGTH - 1) % LENGTH;
        let sum = self.state[self.feed].wrapping_add(self.state[self.tap]);
        self.state[self.feed] = sum;
        sum & i64::MAX
    }

    fn below(&mut self, bound: i32) -> usize {
        let most = i32::MAX - ((1_u32 << 31) % bound.unsigned_abs()) as i32;
        loop {
            let number = (self.number() >> 32) as i32;
            if number <= most {
                return (number % bound) as usize;
            }
        }
    }

    /// Returns the next text.
    pub(super) fn word(&mut self) -> String {
        let length = self.below(12) + 4;
        (0..length).map(|_| char::from(CHARACTERS[self.below(62)])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_one_type_are_always_the_same() {
        let (mut one, mut other) = (Words::of("random_pet"), Words::of("random_pet"));
        let first = one.word();
        assert_eq!(first, other.word());
        assert_ne!(first, one.word());
        assert!((4..16).contains(&first.len()));
    }
}
