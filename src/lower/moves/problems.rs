//! Everything that can be wrong with move statements, one function each.

use std::collections::BTreeMap;

use super::Movable;
use crate::diagnostic::{Diagnostic, Span};

/// From and to one place.
pub(super) fn redundant(address: &Movable, at: Span) -> Diagnostic {
    Diagnostic::error("Redundant move statement")
        .detail(format!(
            "This statement declares a move from {address} to the same address, which is the same as not declaring this move at all."
        ))
        .at(at)
}

/// From something that is still declared, at `declared` where that is known.
pub(super) fn still_exists(
    (from, to): (&Movable, &Movable),
    declared: Option<String>,
    at: Span,
) -> Diagnostic {
    let (noun, short) = nouns(from);
    let place = declared.map(|it| format!(" at {it}")).unwrap_or_default();
    Diagnostic::error("Moved object still exists")
        .detail(format!(
            "This statement declares a move from {from}, but that {noun} is still declared{place}.\n\nChange your configuration so that this {short} will be declared as {to} instead."
        ))
        .at(at)
}

/// One place with two destinations. `first` is the earlier one, and where it is declared.
pub(super) fn two_destinations(
    (from, to): (&Movable, &Movable),
    (first, place): (&Movable, &str),
    at: Span,
) -> Diagnostic {
    let (noun, short) = nouns(from);
    Diagnostic::error("Ambiguous move statements")
        .detail(format!(
            "A statement at {place} declared that {from} moved to {first}, but this statement instead declares that it moved to {to}.\n\nEach {noun} can move to only one destination {short}."
        ))
        .at(at)
}

/// One place with two sources. `first` is the earlier one, and where it is declared.
pub(super) fn two_sources(
    (from, to): (&Movable, &Movable),
    (first, place): (&Movable, &str),
    at: Span,
) -> Diagnostic {
    let (noun, short) = nouns(from);
    Diagnostic::error("Ambiguous move statements")
        .detail(format!(
            "A statement at {place} declared that {first} moved to {to}, but this statement instead declares that {from} moved there.\n\nEach {noun} can have moved from only one source {short}."
        ))
        .at(at)
}

/// Statements that lead back to where they started. Each with its place.
pub(super) fn cycle(statements: &[String]) -> Diagnostic {
    let list: String = statements.iter().map(|it| format!("\n  - {it}")).collect();
    Diagnostic::error("Cyclic dependency in move statements").detail(format!(
        "The following chained move statements form a cycle, and so there is no final location to move objects to:{list}\n\nA chain of move statements must end with an address that doesn't appear in any other statements, and which typically also refers to an object still declared in the configuration."
    ))
}

/// Something recorded is in the way of moves.
pub(super) fn blocked(blocked: &BTreeMap<Movable, Movable>) -> Diagnostic {
    let list: String =
        blocked.iter().map(|(at, to)| format!("\n  - {at} could not move to {to}")).collect();
    Diagnostic::warning("Unresolved resource instance address changes").detail(format!(
        "The configuration says that these objects moved, but other objects are already recorded at the new addresses:{list}\n\nThey keep their old addresses, and are planned to be destroyed where nothing declares those any more. To plan something else, first resolve the conflicts with the \"state\" commands."
    ))
}

/// What is said of a kind of address: in full, and in short.
fn nouns(address: &Movable) -> (&'static str, &'static str) {
    match address {
        Movable::Call(..) => ("module call", "call"),
        Movable::Module(_) => ("module instance", "instance"),
        Movable::Resource(_) => ("resource", "resource"),
        Movable::Instance(_) => ("resource instance", "instance"),
    }
}
