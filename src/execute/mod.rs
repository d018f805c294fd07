//! Carrying a plan out: the executor obeys, it chooses nothing.

pub mod journal;
