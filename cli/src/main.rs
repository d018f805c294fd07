//! The program `entail`.

fn main() {}
