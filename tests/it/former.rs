//! Names of earlier versions: policies, a saved plan and a state from before version 2.0 of the catalogue.

use std::fs;

use pretty_assertions::assert_eq;

use crate::support::place::Place;
use crate::support::root;

/// A folder as it was when the plan was saved.
fn place() -> Place {
    let place = Place::new("");
    let folder = root().join("testdata/former");
    for name in ["main.tf", "policies/old.rules", "terraform.tfstate", "plan.saved"] {
        let to = place.path().join(name);
        fs::create_dir_all(to.parent().expect("a folder")).expect("it is made");
        fs::copy(folder.join(name), to).expect("it is copied");
    }
    place
}

/// The rows of a query of the saved plan.
fn rows(place: &Place, query: &str) -> serde_json::Value {
    let output = place.command(&["query", "-json", "-plan=plan.saved", query]).output();
    let output = output.expect("it runs").stdout;
    let document: serde_json::Value = serde_json::from_slice(&output).expect("it is JSON");
    document["rows"].clone()
}

#[test]
fn a_saved_plan_is_asked_by_former_names_and_by_the_names_now() {
    let place = place();
    let recorded = serde_json::json!([["terraform_data.web", "terraform_data.base"]]);
    assert_eq!(rows(&place, "rests_on(n, m)"), recorded);
    assert_eq!(rows(&place, "state_depends_on(n, m)"), recorded);
    let both = serde_json::json!([["terraform_data.base"], ["terraform_data.web"]]);
    assert_eq!(rows(&place, "taking_part(n)"), both);
    assert_eq!(rows(&place, "selected(n)"), both);
    let facts = |name: &str| place.succeed(&["facts", "-plan=plan.saved", name]);
    let listed = "state_depends_on(terraform_data.web, terraform_data.base)\n";
    assert!(facts("rests_on").ends_with(listed), "{}", facts("rests_on"));
    // The relation of the planner, which the plan has under that name.
    assert!(facts("core::needs").contains("needs(terraform_data.web, terraform_data.base)\n"));
}

#[test]
fn policies_with_former_names_give_the_same_verdicts() {
    let place = place();
    let (text, code) =
        place.run(&["why", "-plan=plan.saved", "-policy=old.recorded", "terraform_data.web"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("terraform_data.web was made from terraform_data.base"), "{text}");
    // The author's own relation goes before the public one of that name, in the plan and in the folder.
    assert_eq!(rows(&place, "excluded(n)"), serde_json::json!([["terraform_data.web"]]));
    let planned = place.succeed(&["plan", "-var=env=prod"]);
    for verdict in [
        "terraform_data.web was made from terraform_data.base",
        "terraform_data.base takes part",
        "terraform_data.web is excluded",
        "terraform_data.web is replaced because of triggers_replace",
        "Warning: Name of a public relation",
    ] {
        assert!(planned.contains(verdict), "{verdict}: {planned}");
    }
}

#[test]
fn a_saved_plan_whose_policies_have_former_names_is_applied() {
    let place = place();
    let applied = place.succeed(&["apply", "plan.saved"]);
    assert!(applied.contains("1 added, 1 changed, 1 destroyed"), "{applied}");
}
