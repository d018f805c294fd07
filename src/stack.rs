//! Recursion that is as deep as what it walks: where the stack comes to its end, it goes on with another piece.

/// What one level may take, in bytes, down to the next that asks; ample, because unoptimised code takes much.
const LEVEL: usize = 1 << 20;

/// A further piece of stack, in bytes. Pages of it that are not touched cost nothing.
const PIECE: usize = 8 << 20;

/// Does work that may come back here, at any depth, on whatever thread.
pub fn deeper<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(LEVEL, PIECE, work)
}

#[cfg(test)]
mod tests {
    use super::deeper;

    fn sum(count: u64) -> u64 {
        let words = [count; 64];
        if count == 0 { 0 } else { deeper(|| sum(count - 1)) + std::hint::black_box(words)[7] }
    }

    #[test]
    fn recursion_is_as_deep_as_it_must_be() {
        let small = std::thread::Builder::new().stack_size(256 << 10);
        let found = small.spawn(|| sum(200_000)).expect("a thread").join().expect("no overflow");
        assert_eq!(found, 200_000 * 200_001 / 2);
    }
}
