//! Which findings `-lint` reports: what may be a mistake in the configuration as it is written. They change no plan.
//!
//! Concluded twice: from the identifiers of the option alone, so that only facts for enabled lint rules are lowered, and then
//! from these facts.
//!
//! holds   a finding is of an enabled lint rule

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation lint_includes(LintName);
    relation lint_excludes(LintName);
    relation lint_covers(LintName, LintName);
    relation names_dependency(Site, Block, Block);
    relation names_module(Site, Block, Block);
    relation mentions_block(Block, Site, Block);
    relation output_of_call(Block, Block);
    relation input_of_call(Block, Block);
    relation inside_call(Block, Block);
    relation block_reads(Block, Block);
    relation deferrable(Block);
    relation resource_block(Block);
    relation spells_block(Site, Block);
    relation spelled_in(Site, Block);
    relation compares_types(Site, ValueType, ValueType);
    relation type_kind(ValueType, TypeKind);
    relation wholly_typed(ValueType);
    relation calls_impure(Definition, Site);
    relation computed_from(Definition, Definition);
    relation item_of(Definition, Definition);
    relation managed_argument(Definition);
    relation ignored_argument(Definition);

    /// `included_lint(r)`: `-lint` includes lint rule `r`; by its own identifier, or by that of a group.
    relation included_lint(LintName);

    /// `excluded_lint(r)`: `-lint` excludes lint rule `r`; by its own identifier, or by that of a group.
    relation excluded_lint(LintName);

    /// `lint_enabled(r)`: findings of lint rule `r` are reported.
    relation lint_enabled(LintName);

    /// `defers_read(s)`: item `s` of a `depends_on` defers a read that no other reference defers.
    relation defers_read(Site);

    /// `behind_outputs(c, b)`: an output of module call `c` depends on `b`, or is `b`.
    relation behind_outputs(Block, Block);

    /// `beside_outputs(c)`: something inside module call `c` is behind none of its outputs.
    relation beside_outputs(Block);

    /// `takes_input(b, v)`: `b` depends on input `v` of a module call.
    relation takes_input(Block, Block);

    /// `lacks_input(v)`: something inside the module call does not depend on its input `v`.
    relation lacks_input(Block);

    /// `unused_dependency(s, m)`: item `s` of a `depends_on` is implied by the reference at `m`.
    relation unused_dependency(Site, Site);

    /// `quoted_reference(s, t)`: string `s` was probably meant as a reference to `t`.
    relation quoted_reference(Site, Block);

    /// `ineffective_comparison(s)`: comparison `s` has the same result for all values.
    relation ineffective_comparison(Site);

    /// `is_impure(d, s)`: the value of `d` depends on the impure call at `s`.
    relation is_impure(Definition, Site);

    /// `impure_argument(s, d)`: the impure call at `s` changes argument `d` in each run.
    relation impure_argument(Site, Definition);

    // @rule lint.included: `-lint` includes `i`, which stands for `r`
    included_lint(r) <-- lint_includes(i), lint_covers(i, r);
    // @rule lint.excluded: `-lint` excludes `i`, which stands for `r`
    excluded_lint(r) <-- lint_excludes(i), lint_covers(i, r);
    // @rule lint.enabled: `-lint` includes `r`, and does not exclude it
    lint_enabled(r) <-- included_lint(r), !excluded_lint(r);

    // A reference defers a read where it names a managed resource itself, and not what a value was computed from.
    // @rule lint.deferred-by-value: `b` waits for everything behind value `t`
    defers_read(s) <-- names_dependency(s, b, t), deferrable(b), !resource_block(t);
    // @rule lint.deferred-by-module: `b` waits for everything inside a module
    defers_read(s) <-- names_module(s, b, _), deferrable(b);

    // @rule lint.behind-output: `b` is an output of `c`
    behind_outputs(c, b) <-- output_of_call(b, c);
    // @rule lint.behind-outputs: an output of `c` depends on `b`, which refers to `d`
    behind_outputs(c, d) <-- behind_outputs(c, b), block_reads(b, d);
    // @rule lint.beside-outputs: no output of `c` depends on `b`
    beside_outputs(c) <-- inside_call(b, c), !behind_outputs(c, b);

    // @rule lint.takes-input: `b` refers to input `v`
    takes_input(b, v) <-- input_of_call(v, _), block_reads(b, v);
    // @rule lint.takes-input-through: `d` refers to `b`, which depends on input `v`
    takes_input(d, v) <-- takes_input(b, v), block_reads(d, b);
    // @rule lint.lacks-input: `b` does not depend on input `v`
    lacks_input(v) <-- input_of_call(v, c), inside_call(b, c), !takes_input(b, v);

    // @rule lint.unused-dependency: `b` refers to `t` anyway
    unused_dependency(s, m)
        <-- lint_enabled(LintName::UnusedDeps), names_dependency(s, b, t), mentions_block(b, m, t), !defers_read(s);
    // @rule lint.unused-dependency-on-output: `b` refers to all outputs of `c`, of which `o` is one
    unused_dependency(s, m)
        <-- lint_enabled(LintName::UnusedDeps), names_dependency(s, b, o), output_of_call(o, c), mentions_block(b, m, c),
            !defers_read(s);
    // @rule lint.unused-dependency-on-module: `b` refers to all outputs of `c`, and everything inside is behind one of them
    unused_dependency(s, m)
        <-- lint_enabled(LintName::UnusedDeps), names_module(s, b, c), mentions_block(b, m, c), !beside_outputs(c),
            !defers_read(s);
    // @rule lint.unused-dependency-of-module: input `v` of `c` refers to `t`, and everything inside depends on that input
    unused_dependency(s, m)
        <-- lint_enabled(LintName::UnusedDeps), names_dependency(s, c, t), input_of_call(v, c), mentions_block(v, m, t),
            !lacks_input(v);

    // @rule lint.quoted: the text of `s` is the address of `t`, which is another block than that around it
    quoted_reference(s, t) <-- lint_enabled(LintName::QuotedRef), spells_block(s, t), !spelled_in(s, t);

    // @rule lint.other-kind: one side is a `k`, the other a `j`
    ineffective_comparison(s)
        <-- lint_enabled(LintName::IneffEq), compares_types(s, x, y), type_kind(x, k), type_kind(y, j), if k != j;
    // @rule lint.other-type: both types are known, and differ
    ineffective_comparison(s)
        <-- lint_enabled(LintName::IneffEq), compares_types(s, x, y), if x != y, wholly_typed(x), wholly_typed(y);

    // @rule lint.impure: `d` calls an impure function
    is_impure(d, s) <-- lint_enabled(LintName::ImpureFunc), calls_impure(d, s);
    // @rule lint.impure-behind: `d` refers to `e`
    is_impure(d, s) <-- is_impure(e, s), computed_from(d, e);
    // @rule lint.impure-item: `d` is an item of `e`
    is_impure(e, s) <-- is_impure(d, s), item_of(d, e);
    // @rule lint.impure-argument: `d` is an argument of a managed resource
    impure_argument(s, d) <-- is_impure(d, s), managed_argument(d), !ignored_argument(d);
}

tables! {
    /// The findings of `-lint`. All sorted.
    pub struct Lint {
        "lint" {
            /// `lint_enabled(r)`: findings of lint rule `r` are reported.
            lint_enabled(LintName) since "2.0";
            /// `unused_dependency(s, m)`: item `s` of a `depends_on` is implied by the reference at `m`.
            unused_dependency(Site, Site) since "2.0";
            /// `quoted_reference(s, t)`: string `s` was probably meant as a reference to block `t`.
            quoted_reference(Site, Block) since "2.0";
            /// `ineffective_comparison(s)`: comparison `s` has the same result for all values.
            ineffective_comparison(Site) since "2.0";
            /// `impure_argument(s, d)`: the impure call at `s` changes argument `d` of a managed resource in each run.
            impure_argument(Site, Definition) since "2.0";
        }
    }
}

/// Concludes the findings of the enabled lint rules.
pub(crate) fn find(ledger: &Ledger<'_>) -> Lint {
    conclude!(ledger: Program {
        facts: lint_includes, lint_excludes, lint_covers, names_dependency, names_module, mentions_block, output_of_call,
            input_of_call, inside_call, block_reads if facts.inside_call, deferrable, resource_block, spells_block, spelled_in,
            compares_types, type_kind, wholly_typed, calls_impure, computed_from, item_of, managed_argument, ignored_argument;
    } => Lint { lint_enabled, unused_dependency, quoted_reference, ineffective_comparison, impure_argument })
}

#[cfg(test)]
mod tests;
