//! What forbids the plan.

#![expect(unused_variables, reason = "ascent names the tuple of a relation without columns")]

use ascent::ascent;

use crate::atom::*;
use crate::decide::Decisions;
use crate::facts::Facts;
use crate::providers::Providers;
use crate::selection::Selection;

ascent! {
    struct Program;

    relation prevents_destroy(Node);
    relation moved(Node);
    relation retyped(Node);
    relation targeting();
    relation move_named(Node, End);
    relation action(Node, Action, Reason);
    relation lacks(Node, Lack);
    relation selected(Node);
    relation excluded(Node);

    /// `destroys(n)`: the object of `n` is destroyed.
    relation destroys(Node);

    /// `violation(k, n)`: `n` stands against the plan (`k`).
    relation violation(Violation, Node);

    // @rule violations.deletes: (`n` is deleted)
    destroys(n) <-- action(n, Action::Delete, _);
    // @rule violations.deletes-first: (`n` is replaced, the old object first)
    destroys(n) <-- action(n, Action::DeleteThenCreate, _);
    // @rule violations.deletes-after: (`n` is replaced, the new object first)
    destroys(n) <-- action(n, Action::CreateThenDelete, _);

    // @rule violations.prevents-destroy: the block of `n` sets prevent_destroy
    violation(Violation::PreventsDestroy, n) <-- prevents_destroy(n), destroys(n);

    // @rule violations.move-excluded: `n` was moved to another type, and takes no part in this run
    violation(Violation::MoveExcluded, n) <-- retyped(n), excluded(n);
    // @rule violations.move-untargeted-from: `n` was moved, and no target names where it was
    violation(Violation::MoveUntargeted, n) <-- targeting(), moved(n), !move_named(n, End::Old);
    // @rule violations.move-untargeted-to: `n` was moved, and no target names where it is
    violation(Violation::MoveUntargeted, n) <-- targeting(), moved(n), !move_named(n, End::New);

    // @rule violations.no-configuration: there is no provider configuration for `n`
    violation(Violation::NoConfiguration, n) <-- lacks(n, Lack::Configuration);
    // @rule violations.no-instance: the provider configuration of `n` has no such instance
    violation(Violation::NoInstance, n) <-- lacks(n, Lack::Instance), selected(n);
    // @rule violations.no-fallback: the state names another provider configuration for `n` than its block
    violation(Violation::NoFallback, n) <-- lacks(n, Lack::Fallback), selected(n);
}

tables! {
    /// What forbids the plan. All sorted.
    pub struct Violations {
        "violations" {
            /// `violation(k, n)`: `n` stands against the plan, in the way of `k`.
            violation(Violation, Node);
        }
    }
}

/// Collects what forbids the plan. With empty decisions: what is known before the walk.
pub fn collect(
    facts: &Facts,
    providers: &Providers,
    selection: &Selection,
    decisions: &Decisions,
) -> Violations {
    conclude!(Program {
        facts: prevents_destroy, moved, retyped, targeting, move_named;
        providers: lacks;
        selection: selected, excluded;
        decisions: action;
    } => Violations { violation })
}

#[cfg(test)]
mod tests;
