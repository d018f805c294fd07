//! Deleting any function that lowers is missed: without the facts of any one base relation, some whole case differs.
//!
//! The binary leaves out what `ENTAIL_WITHOUT` names; `late:` before it, only of instances that the walk finds.

use std::fmt::Write as _;
use std::path::PathBuf;

use entail_rules::Facts;

use crate::support::{all_cases, differs, in_parallel, root, wants_all_cases};

/// A case in `testdata/` for each relation whose facts it misses.
const MISSED: &[(&str, &str)] = &[
    ("object", "plan/rfc-exclude-first"),
    ("managed", "actions/no-op"),
    ("data", "actions/read"),
    ("ephemeral", "ephemeral/lifetime"),
    ("value", "outputs/at-least-one"),
    ("collection", "plan/targets-and-what-is-recorded"),
    ("repetition", "outputs/keys-alone"),
    ("keyed_by", "outputs/keys-of-what-is-excluded"),
    ("trigger_missing", "actions/replace-triggered-by-nothing"),
    ("output", "outputs/constant"),
    ("evaluated_last", "ephemeral/lifetime"),
    ("check_block", "actions/check-mistaken"),
    ("ephemeral_resource", "ephemeral/lifetime"),
    ("adopts", "import/one-of-several"),
    ("precedes_destroy", "actions/destroy-with-keys-unknown"),
    ("call_keys", "modules/keys-of-an-empty-call"),
    ("of", "actions/delete-key"),
    ("declared", "actions/no-op"),
    ("pending", "plan/keys-from-resource"),
    ("late", "plan/late-instances"),
    ("keys_from", "plan/keys-that-nobody-asks-for"),
    ("may_read", "plan/late-instances"),
    ("reads_open", "plan/late-instances"),
    ("reads", "plan/rfc-exclude-first"),
    ("waits_for", "plan/part-of-a-value"),
    ("member", "actions/replace-triggered-by-all"),
    ("block_reads", "order/created-first-what-is-read"),
    ("repeats", "actions/delete-key"),
    ("asks_cbd", "order/replacement"),
    ("keeps_object", "actions/destroy-false"),
    ("protects", "actions/prevent-destroy"),
    ("removed_says", "actions/removed"),
    ("triggers", "actions/replace-triggered"),
    ("triggers_by_part", "actions/replace-triggered"),
    ("data_waits", "actions/read"),
    ("data_waits_behind", "actions/read-behind"),
    ("has_conditions", "actions/condition-of-a-no-op"),
    ("module_output", "actions/passed-by"),
    ("in_check", "actions/check-data"),
    ("check_gate", "data/in-a-check"),
    ("module_parent", "providers/only-a-module-declares-it"),
    ("in_module", "providers/only-a-module-declares-it"),
    ("provider_block", "providers/by-region"),
    ("implied_config", "actions/no-op"),
    ("passes", "providers/seed-mappings"),
    ("asks_provider", "actions/no-op"),
    ("literal_key", "providers/literal-key-missing"),
    ("repeats_provider", "providers/key-gone"),
    ("each_key", "providers/by-region"),
    ("key_names", "providers/forms-exchanged"),
    ("provider_node", "providers/by-region"),
    ("provider_key", "providers/by-region"),
    ("key_suffices", "providers/key-gone"),
    ("recorded_provider", "providers/key-gone"),
    ("statement", "plan/moves-as-facts"),
    ("chains", "plan/moves-as-facts"),
    ("nests", "actions/moved-within-what-moved"),
    ("in_state", "actions/delete-block"),
    ("deposed_of", "actions/deposed-alone"),
    ("block_gone", "actions/delete-block"),
    ("module_gone", "plan/gone-module-instance"),
    ("key_kind", "actions/delete-key"),
    ("moved", "plan/moved-and-excluded"),
    ("retyped", "plan/moved-and-left-out"),
    ("needs", "plan/destroy-targeted"),
    ("state_cbd", "order/gone-after-its-user-as-recorded"),
    ("state_keeps_object", "actions/forget-as-recorded"),
    ("tainted", "actions/replace-tainted"),
    ("recorded_output", "outputs/gone"),
    ("recorded_result", "data/reused-beside-an-exclusion"),
    ("mode", "plan/rfc-destroy"),
    ("filtered", "outputs/at-least-one"),
    ("targeting", "plan/instance-targeted"),
    ("excluding", "data/reused-beside-an-exclusion"),
    ("hit", "plan/rfc-exclude-first"),
    ("replace_hit", "actions/replace-requested"),
    ("first_hit", "policies/shaping"),
    ("ordered", "policies/shaping-faults"),
    ("move_named", "actions/moved-and-targeted"),
    ("skips_refresh", "data/destroyed-without-a-look"),
    ("outputs_need_all", "outputs/compat-opentofu"),
    ("expanded", "plan/keys-from-resource"),
    ("skipped", "plan/left-out-is-counted"),
    ("prior", "actions/update"),
    ("gone_outside", "actions/changed-outside"),
    ("differs", "actions/update"),
    ("must_replace", "actions/replace-cannot-update"),
    ("marks_differ", "actions/update-of-marks"),
    ("config_unknown", "actions/read"),
    ("configuration_settled", "actions/no-op"),
    ("trigger_differs", "actions/replace-triggered"),
    ("protection", "actions/prevent-destroy"),
    ("lacks_value", "outputs/precondition"),
    ("failed", "actions/behind-what-failed"),
    ("step_failed", "actions/failed-steps"),
    ("seen", "actions/read-behind"),
    ("lint_includes", "lint/selection"),
    ("lint_excludes", "lint/selection"),
    ("lint_covers", "lint/selection"),
    ("names_dependency", "lint/unused-dependencies"),
    ("names_module", "lint/unused-dependencies-of-modules"),
    ("mentions_block", "lint/unused-dependencies"),
    ("output_of_call", "lint/unused-dependencies-of-modules"),
    ("input_of_call", "lint/unused-dependencies-of-modules"),
    ("inside_call", "lint/unused-dependencies-of-modules"),
    ("deferrable", "lint/unused-dependencies"),
    ("resource_block", "lint/unused-dependencies"),
    ("spells_block", "lint/quoted-references"),
    ("spelled_in", "lint/quoted-references"),
    ("compares_types", "lint/ineffective-comparisons"),
    ("type_kind", "lint/ineffective-comparisons"),
    ("wholly_typed", "lint/ineffective-comparisons"),
    ("calls_impure", "lint/impure-functions"),
    ("computed_from", "lint/impure-functions"),
    ("item_of", "lint/impure-functions"),
    ("managed_argument", "lint/impure-functions"),
    ("ignored_argument", "lint/impure-functions"),
];

/// What no case can show, with the file and the test that misses it: what somebody else does while a command runs, or before.
const MISSED_ELSEWHERE: &[(&str, &str, &str)] = &[
    ("changed_outside", "tests/it/scripted.rs", "what_was_changed_outside_is_told"),
    ("one_at_a_time", "tests/it/shaping.rs", "steps_of_a_group_run_one_at_a_time"),
    ("provider_unknown", "tests/it/premises.rs", "no_call_is_made_without_its_premises"),
    ("stopped", "tests/it/interrupt.rs", "the_first_interrupt_ends_what_waits_and_saves_the_rest"),
];

/// The same as [`MISSED`] for facts about instances that the walk finds.
const MISSED_LATE: &[(&str, &str)] = &[
    ("late:object", "plan/late-instances"),
    ("late:managed", "plan/late-instances"),
    ("late:data", "plan/late-instances"),
    ("late:of", "plan/late-instances"),
    ("late:declared", "plan/late-instances"),
    ("late:reads", "plan/late-instances"),
];

fn without(what: &str) -> [(String, String); 1] {
    [("ENTAIL_WITHOUT".to_owned(), what.to_owned())]
}

fn case(name: &str) -> PathBuf {
    root().join("testdata").join(format!("{name}.txt"))
}

/// With `FIND_CASES=1`, looks for a case of each relation that has none, smallest first, and tells it.
fn find(what: &str) -> Option<String> {
    let mut cases = all_cases();
    cases.sort_by_key(|it| std::fs::metadata(it).map_or(u64::MAX, |it| it.len()));
    let found = cases.into_iter().find(|it| differs(it, &without(what)))?;
    let name = found.strip_prefix(root().join("testdata")).ok()?.with_extension("");
    Some(name.to_string_lossy().into_owned())
}

/// Returns what no case misses. Of the relations that name a case, each fourth case is run; `ENTAIL_CASES=all` runs every one.
fn unmissed(relations: &[String], shown: &[(&str, &str)]) -> String {
    let looks = std::env::var("FIND_CASES").is_ok_and(|it| it == "1");
    let step = if wants_all_cases() { 1 } else { 4 };
    let found = in_parallel(relations, |what| {
        let known = shown.iter().enumerate().find(|it| it.1.0 == what);
        let is_missed = |(at, (_, name)): &(usize, &(&str, &str))| {
            !at.is_multiple_of(step) || differs(&case(name), &without(what))
        };
        match known.filter(is_missed) {
            Some(_) => None,
            None if looks => Some(find(what).unwrap_or_else(|| "no case".to_owned())),
            None => Some(String::new()),
        }
    });
    let mut text = String::new();
    for (what, found) in relations.iter().zip(found).filter_map(|it| Some((it.0, it.1?))) {
        writeln!(text, "    (\"{what}\", \"{found}\"),").expect("text");
    }
    text
}

#[test]
#[cfg(debug_assertions)]
fn without_the_facts_of_any_relation_some_case_differs() {
    for (_, file, test) in MISSED_ELSEWHERE {
        let text = std::fs::read_to_string(root().join(file)).expect("a file of tests");
        assert!(text.contains(&format!("fn {test}()")), "{file} has {test}");
    }
    let is_elsewhere = |name: &str| MISSED_ELSEWHERE.iter().any(|it| it.0 == name);
    let names = Facts::RELATIONS.iter().map(|it| it.name).filter(|it| !is_elsewhere(it));
    let relations: Vec<String> = names.map(str::to_owned).collect();
    let unmissed = unmissed(&relations, MISSED);
    assert!(unmissed.is_empty(), "no case misses the facts of these relations:\n{unmissed}");
}

#[test]
#[cfg(debug_assertions)]
fn without_the_late_facts_of_any_relation_some_case_differs() {
    let relations: Vec<String> = MISSED_LATE.iter().map(|it| it.0.to_owned()).collect();
    let unmissed = unmissed(&relations, MISSED_LATE);
    assert!(unmissed.is_empty(), "no case misses these facts of late instances:\n{unmissed}");
}
