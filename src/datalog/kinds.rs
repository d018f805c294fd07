//! What a column may hold: ids and words of the strata, numbers, texts.

use entail_rules::atom;

/// The kind of columns that hold text.
pub const TEXT: &str = "Text";

/// The kind of columns that hold any value.
pub const VALUE: &str = "Value";

/// The kind of columns that hold nodes.
pub const NODE: &str = "Node";

/// What a number is called that stands in a rule, and what one computes.
pub const NUMBER: &str = "Number";

/// The kinds of columns that hold numbers.
const NUMBERS: &[&str] = &["u32", "u64", "i32", "i64", "usize", NUMBER];

/// Returns whether there is such a kind.
pub(super) fn is_kind(kind: &str) -> bool {
    kind == TEXT
        || kind == VALUE
        || is_number(kind)
        || atom::IDS.contains(&kind)
        || atom::vocabularies().any(|it| it.kind == kind)
}

/// Returns whether columns of this kind hold numbers: what has an order, and can be computed with.
pub fn is_number(kind: &str) -> bool {
    NUMBERS.contains(&kind)
}

/// Returns whether something of one kind can be equal to something of the other.
pub(super) fn are_alike(one: &str, other: &str) -> bool {
    let is_value = |kind: &str| kind == VALUE || kind == TEXT || is_number(kind);
    one == other
        || (is_number(one) && is_number(other))
        || ((one == VALUE || other == VALUE) && is_value(one) && is_value(other))
}

/// Returns whether something of this kind has parts: a node, or a value; or whether its kind is not known.
pub(super) fn can_be_looked_into(kind: &str) -> bool {
    matches!(kind, "" | NODE | VALUE)
}
