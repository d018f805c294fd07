//! The repeatable generator: the classic source of Go's `math/rand`, seeded by text.
//!
//! An additive lagged Fibonacci sequence, `y(n) = y(n-607) + y(n-273)` modulo 2^64. Its seeding mixes a linear
//! congruential sequence with the state that the same recurrence, started from 1, has after 7.8·10^12 steps. That state
//! is computed here: the step is multiplication by `x` modulo `x^607 - x^334 - 1`, so many steps are a power of `x`.

use std::sync::LazyLock;

/// How far back the older term lies, and the size of the state.
const LENGTH: usize = 607;
/// How far back the newer term lies.
const TAP: usize = 273;
/// How many steps lie between the simple start and the state that is mixed in.
const WARM_UP: u64 = 7_800_000_000_000;
/// The modulus of the congruential sequence.
const MODULUS: i64 = (1 << 31) - 1;

/// A seeded generator.
pub(super) struct Source {
    state: Vec<u64>,
    tap: usize,
    feed: usize,
}

impl Source {
    /// Returns the generator that a seed text stands for.
    pub(super) fn of(seed: &str) -> Source {
        let state = spread(crc64(seed.as_bytes()) as i64, 40, 20);
        let state = state.iter().zip(WARM.iter()).map(|(a, b)| a ^ b).collect();
        Source { state, tap: 0, feed: LENGTH - TAP }
    }

    /// Returns a number of 0..n, or nothing where `n` is not positive.
    pub(super) fn below(&mut self, n: i64) -> Option<i64> {
        let bits = if n < 1 << 31 { 31 } else { 63 };
        if n <= 0 {
            return None;
        }
        let mut draw = || (self.next() & (u64::MAX >> 1)) >> (63 - bits);
        let n = n as u64;
        if n.is_power_of_two() {
            return Some((draw() & (n - 1)) as i64);
        }
        let most = (1 << bits) - 1 - (1 << bits) % n;
        let mut drawn = draw();
        while drawn > most {
            drawn = draw();
        }
        Some((drawn % n) as i64)
    }

    /// Returns the numbers of 0..n in random order.
    pub(super) fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order = vec![0; n];
        for i in 0..n {
            let j = self.below(i as i64 + 1).map_or(0, |it| it as usize);
            order[i] = order[j];
            order[j] = i;
        }
        order
    }

    fn next(&mut self) -> u64 {
        self.tap = self.tap.checked_sub(1).unwrap_or(LENGTH - 1);
        self.feed = self.feed.checked_sub(1).unwrap_or(LENGTH - 1);
        let drawn = self.state[self.feed].wrapping_add(self.state[self.tap]);
        self.state[self.feed] = drawn;
        drawn
    }
}

/// Spreads a seed over a state: each word takes three numbers of a congruential sequence, shifted by `high`, `middle`, 0.
fn spread(seed: i64, high: u32, middle: u32) -> Vec<u64> {
    let mut x = match seed.rem_euclid(MODULUS) {
        0 => 89_482_311,
        it => it,
    };
    let mut next = || {
        x = x * 48_271 % MODULUS;
        x as u64
    };
    for _ in 0..20 {
        next();
    }
    (0..LENGTH).map(|_| (next() << high) ^ (next() << middle) ^ next()).collect()
}

/// The state that is mixed into every seeding.
static WARM: LazyLock<Vec<u64>> = LazyLock::new(|| {
    // The state keeps the terms of the sequence backwards, in a ring: term k stands at -k, from the feed's first place.
    let place = |term: u64| {
        ((LENGTH - TAP) as u64 + LENGTH as u64 - term % LENGTH as u64) as usize % LENGTH
    };
    let start = spread(1, 20, 10);
    // Terms 1.. of the shifted sequence, in which the start is terms 1 to 607 (607 ≡ 0: the newest stands at the feed).
    let mut terms: Vec<u64> = (1..=LENGTH as u64).map(|term| start[place(term)]).collect();
    for index in LENGTH..2 * LENGTH {
        terms.push(terms[index - LENGTH].wrapping_add(terms[index - TAP]));
    }
    let ahead = power_of_x(WARM_UP);
    let mut state = vec![0; LENGTH];
    for step in 0..LENGTH {
        let sum = ahead
            .iter()
            .zip(&terms[step..])
            .fold(0_u64, |sum, (factor, term)| sum.wrapping_add(factor.wrapping_mul(*term)));
        state[place(WARM_UP + step as u64 + 1)] = sum;
    }
    state
});

/// Returns `x^exponent` modulo the recurrence's polynomial, lowest coefficient first.
fn power_of_x(exponent: u64) -> Vec<u64> {
    let mut power = vec![0_u64; LENGTH];
    power[0] = 1;
    for bit in (0..64 - exponent.leading_zeros()).rev() {
        let mut square = vec![0_u64; 2 * LENGTH];
        let shift = (exponent >> bit & 1) as usize;
        for (i, a) in power.iter().enumerate() {
            for (place, b) in square[i + shift..].iter_mut().zip(&power) {
                *place = place.wrapping_add(a.wrapping_mul(*b));
            }
        }
        for high in (LENGTH..2 * LENGTH).rev() {
            let factor = square[high];
            square[high - LENGTH] = square[high - LENGTH].wrapping_add(factor);
            square[high - TAP] = square[high - TAP].wrapping_add(factor);
        }
        square.truncate(LENGTH);
        power = square;
    }
    power
}

/// Returns the CRC-64 of bytes, with the polynomial of ISO 3309.
fn crc64(bytes: &[u8]) -> u64 {
    let step = |crc: u64| if crc & 1 == 1 { crc >> 1 ^ 0xD800_0000_0000_0000 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u64::from(*byte), |crc, _| step(crc)))
}
