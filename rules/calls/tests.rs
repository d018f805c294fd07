//! What `calls` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, earlier) = text::read_ledger(facts, &mut names);
    let found = allow(&earlier.ledger(&base));
    conclusions.assert_eq(&text::print(&found, &names));
}

#[test]
fn a_provider_is_called_once_its_arguments_are_evaluated() {
    check(
        "configuration_settled(p). configuration_settled(q). provider_unknown(q).",
        expect![[r#"
            may_call(p).
            may_call(q).
            may_look(p).
        "#]],
    );
}

#[test]
fn what_exists_is_not_refreshed_through_a_provider_with_unknown_arguments() {
    check(
        "
        managed(gone). managed(new). managed(other). in_state(gone). in_state(other).
        reads(gone, p). reads(new, p). reads(other, q). waits_for(other, p).
        configuration_settled(p). provider_unknown(p). seen(p, HalfConfigured).
        ",
        expect![[r#"
            may_call(p).
            unrefreshed(gone, p).
            unrefreshed(other, p).
            not_imported(new, p).
        "#]],
    );
}

#[test]
fn a_run_that_refreshes_nothing_says_so_of_nothing() {
    check(
        "
        managed(a). in_state(a). reads(a, p). configuration_settled(p). provider_unknown(p). seen(p, HalfConfigured).
        skips_refresh().
        ",
        expect![[r#"
            may_call(p).
        "#]],
    );
}
