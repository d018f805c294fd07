//! What `recall` concludes, as text: facts in, conclusions out.

use expect_test::{Expect, expect};

use super::*;
use crate::text::{self, Names};

#[track_caller]
fn check(facts: &str, conclusions: Expect) {
    let mut names = Names::default();
    let (base, earlier) = text::read_ledger(facts, &mut names);
    let found = recall(&earlier.ledger(&base));
    conclusions.assert_eq(&text::print(&found, &names));
}

#[test]
fn what_is_excluded_has_its_prior_state_for_outputs() {
    check("excluded(a).", expect![["recalled(a).\n"]]);
}

#[test]
fn what_no_target_wants_has_its_prior_state_where_something_looks_at_it() {
    check("untargeted(a). untargeted(b). consulted(a). consulted(v).", expect![["recalled(a).\n"]]);
}

#[test]
fn where_keys_are_open_any_prior_state_may_be_asked_for() {
    check("untargeted(a). pending(p).", expect![["recalled(a).\n"]]);
    check("untargeted(a). call_keys(p).", expect![["recalled(a).\n"]]);
    check("untargeted(a). expanded(p).", expect![["recalled(a).\n"]]);
    check("untargeted(a). skipped(p).", expect![["recalled(a).\n"]]);
}

#[test]
fn where_nothing_is_created_instances_are_those_that_exist() {
    check(
        "mode(RefreshOnly). untargeted(a). untargeted(b). member(a, all).",
        expect![["recalled(a).\n"]],
    );
    check("mode(Normal). untargeted(a). member(a, all).", expect![[""]]);
}
