//! What forbids the plan.

#![expect(unused_variables, reason = "ascent names the tuple of a relation without columns")]

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation protection(Node, Protection);
    relation trigger_missing(Node);
    relation only_refreshed(Node);
    relation all_goes();
    relation moved(Node);
    relation retyped(Node);
    relation targeting();
    relation move_named(Node, End);
    relation destroys(Node);
    relation lacks(Node, Lack);
    relation selected(Node);
    relation excluded(Node);

    /// `violation(k, n)`: the plan is refused because of `n` (`k`).
    relation violation(Violation, Node);

    // @rule violations.prevents-destroy: the block of `n` sets prevent_destroy
    violation(Violation::PreventsDestroy, n) <-- protection(n, Protection::On), destroys(n);
    // @rule violations.protection-null: prevent_destroy of `n` is null, which does not let it go
    violation(Violation::PreventsDestroy, n) <-- protection(n, Protection::Null), destroys(n);
    // @rule violations.protection-unknown: whether prevent_destroy lets `n` go is only known after apply
    violation(Violation::PreventsDestroy, n) <-- protection(n, Protection::Unknown), destroys(n);
    // @rule violations.protection-invalid: prevent_destroy of `n` cannot be obeyed
    violation(Violation::InvalidProtection, n) <-- protection(n, Protection::Invalid);

    // @rule violations.no-trigger: replace_triggered_by of `n`, which is planned, names an instance that is not there
    violation(Violation::NoTrigger, n) <-- trigger_missing(n), selected(n), !only_refreshed(n), !all_goes();

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
            /// `violation(k, n)`: the plan is refused because of `n`, and `k` says in which way.
            violation(Violation, Node);
        }
    }
}

/// Collects what forbids the plan. With empty decisions: what is known before the walk. With what the walk has just
/// decided and been told of `protection`: what of it must not be.
pub(crate) fn collect(ledger: &Ledger<'_>) -> Violations {
    conclude!(ledger: Program {
        facts: protection, trigger_missing, moved, retyped, targeting, move_named;
        providers: lacks;
        instances: only_refreshed, all_goes;
        selection: selected, excluded;
        decisions: destroys;
    } => Violations { violation })
}

#[cfg(test)]
mod tests;
