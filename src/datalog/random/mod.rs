//! Random facts and random programs, for tests of engines.

mod programs;

use entail_rules::{
    Action, End, Facts, Fate, Hit, KeyKind, LintName, Mode, Phase, Protection, Reason, Repetition,
    Seen, Tables, TypeKind,
};

pub use programs::program;

/// Returns a random number below a bound, as often as asked.
pub fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % below
    }
}

/// Returns random rows in every base relation. Words of closed vocabularies are all used, ids are few.
pub fn facts(seed: u64) -> Facts {
    let mut chance = numbers(seed);
    let mut facts = Facts::default();
    let ids = 2 + chance(4);
    for relation in Facts::RELATIONS {
        let rows = if relation.columns.is_empty() { chance(2) } else { chance(7) };
        for _ in 0..rows {
            let row: Vec<u64> =
                relation.columns.iter().map(|kind| chance(words_of(kind).unwrap_or(ids))).collect();
            assert!(facts.push_row(relation.name, &row), "{}", relation.name);
        }
    }
    facts
}

/// Returns how many words a closed vocabulary has.
fn words_of(kind: &str) -> Option<u64> {
    let count = match kind {
        "Mode" => Mode::ALL.len(),
        "Hit" => Hit::ALL.len(),
        "End" => End::ALL.len(),
        "Repetition" => Repetition::ALL.len(),
        "KeyKind" => KeyKind::ALL.len(),
        "Fate" => Fate::ALL.len(),
        "Phase" => Phase::ALL.len(),
        "Reason" => Reason::ALL.len(),
        "Seen" => Seen::ALL.len(),
        "Protection" => Protection::ALL.len(),
        "Action" => Action::ALL.len(),
        "LintName" => LintName::ALL.len(),
        "TypeKind" => TypeKind::ALL.len(),
        _ => return None,
    };
    Some(count as u64)
}
