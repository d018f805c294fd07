//! Whole cases: one test for each folder of `testdata/` that holds any.

use crate::support::{check_group, check_group_with};

#[test]
fn cases_of_plan() {
    check_group("plan");
}

#[test]
fn cases_of_outputs() {
    check_group("outputs");
}

#[test]
fn cases_of_data() {
    check_group("data");
}

#[test]
fn cases_of_order() {
    check_group("order");
}

#[test]
fn cases_of_actions() {
    check_group("actions");
}

#[test]
fn cases_of_providers() {
    check_group("providers");
}

#[test]
fn cases_of_ephemeral() {
    check_group("ephemeral");
}

#[test]
fn cases_of_agree() {
    check_group("agree");
}

#[test]
fn cases_of_import() {
    check_group("import");
}

#[test]
fn cases_of_modules() {
    check_group("modules");
}

#[test]
fn cases_of_diff() {
    check_group("diff");
}

#[test]
fn cases_of_unused() {
    check_group("unused");
}

#[test]
fn cases_of_minimal() {
    check_group("minimal");
}

#[test]
fn cases_of_impact() {
    check_group("impact");
}

#[test]
fn cases_of_test() {
    check_group("test");
}

#[test]
fn cases_of_why() {
    check_group("why");
}

#[test]
fn cases_of_lint() {
    check_group("lint");
}

#[test]
fn cases_of_policies() {
    check_group("policies");
}

/// Nothing that a case shows depends on who evaluates the rules.
#[test]
fn cases_are_the_same_with_the_interpreted_rules() {
    let engine = [("ENTAIL_ENGINE".to_owned(), "interpreted".to_owned())];
    for group in ["plan", "outputs", "order", "providers", "ephemeral", "lint"] {
        check_group_with(group, &engine, 1);
    }
}
