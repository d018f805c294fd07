//! What a column may hold: ids and words of the strata, numbers, texts.

use entail_rules::atom;

/// The kind of columns that hold text.
pub const TEXT: &str = "Text";

/// What a number is called that stands in a rule, and what one computes.
pub const NUMBER: &str = "Number";

/// The kinds of columns that hold numbers.
const NUMBERS: &[&str] = &["u32", "u64", "i32", "i64", "usize", NUMBER];

/// Returns whether there is such a kind.
pub(super) fn is_kind(kind: &str) -> bool {
    kind == TEXT
        || is_number(kind)
        || atom::IDS.contains(&kind)
        || atom::vocabularies().any(|it| it.kind == kind)
}

/// Returns whether columns of this kind hold numbers: what has an order, and can be computed with.
pub(super) fn is_number(kind: &str) -> bool {
    NUMBERS.contains(&kind)
}

/// Returns whether something of one kind can be equal to something of the other.
pub(super) fn are_alike(one: &str, other: &str) -> bool {
    one == other || (is_number(one) && is_number(other))
}
