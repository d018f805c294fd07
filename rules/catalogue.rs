//! The catalogue of relations: which there are, in which version of it, and who reads them besides rules.
//!
//! What a relation is called, holds and says, and who writes it, stands where it is declared; rules that read it are
//! found in their texts. `src/reason/catalogue.rs` puts it all together.

use crate::facts::Facts;
use crate::ledger::Conclusions;
use crate::tables::Relation;

/// The version of the catalogue. The number before the point rises when a relation goes, or its columns or their meaning
/// change; the one behind it when a relation is added, which then says `since` which version it is there.
///
/// The public relations (`rules/policy.rules`) are part of the catalogue, and have the same version.
pub const VERSION: &str = "2.0";

/// Whoever reads a relation that is asked for with `facts` and `why`, and that nothing in the program rests on.
pub const PEOPLE: &str = "people";

/// Returns every relation: what the rules are told, then what each stratum concludes.
pub fn relations() -> Vec<&'static Relation> {
    let conclusions = Conclusions::default();
    let concluded = conclusions.tables().into_iter().flat_map(|it| it.relations());
    Facts::RELATIONS.iter().chain(concluded).collect()
}

/// The rooms of `src/` that read what the rules conclude, and what no rule reads. A test looks for each relation there.
pub const READERS: &[(&str, &[&str])] = &[
    // What moves.
    ("statement", &["lower"]),
    ("move_after", &["lower"]),
    ("move_cycle", &["lower"]),
    // Who serves what.
    ("config_of", &["lower", "planner"]),
    ("keyed", &["planner"]),
    ("lacks_key", &["lower"]),
    ("unconfigured", &["planner"]),
    ("provider_alias", &[PEOPLE]),
    ("chosen", &["planner"]),
    ("serves", &["planner"]),
    ("awaits", &["workflow"]),
    ("misses", &["lower"]),
    // What takes part.
    ("orphan", &["planner"]),
    ("out", &["planner"]),
    ("doubted_by", &[PEOPLE]),
    ("kept", &["planner"]),
    ("guarded", &["planner"]),
    ("excluded_by", &["operation", "planner"]),
    ("want", &["planner"]),
    ("wanted_by", &[PEOPLE]),
    ("selection_awaits", &["planner"]),
    ("open", &["operation", "planner"]),
    ("selected", &["operation", "planner", "verify"]),
    ("excluded", &["operation", "planner", "verify"]),
    ("untargeted", &["operation", "planner", "verify"]),
    ("evaluated", &["planner"]),
    ("cbd_block", &["planner"]),
    ("cbd", &["execute", "planner", "verify"]),
    // What is done.
    ("recalculated", &["planner", "verify"]),
    ("undecided_output", &["operation"]),
    ("keeps_value", &["verify"]),
    ("action", &["planner", "verify"]),
    ("blocked", &["planner"]),
    ("reads_now", &["planner", "verify"]),
    ("opens", &["planner"]),
    ("idle", &["verify"]),
    ("checked_again", &["verify"]),
    ("changing", &["planner"]),
    ("triggering", &["planner"]),
    ("unsettled", &["planner"]),
    ("output_action", &["planner", "verify"]),
    ("one_at_a_time", &["execute"]),
    ("step", &["execute", "verify"]),
    ("before", &["execute", "verify"]),
    ("violation", &["planner", "verify"]),
    // What is asked, kept and held back.
    ("only_refreshed", &["planner", "verify"]),
    ("unasked", &["planner", "verify"]),
    ("refreshes_first", &["planner"]),
    ("only_records", &["observe"]),
    ("only_existing", &["observe"]),
    ("all_goes", &["observe"]),
    ("only_forgotten", &["lower", "planner"]),
    ("read_by_provider", &["planner"]),
    ("may_call", &["verify"]),
    ("may_look", &["verify"]),
    ("unrefreshed", &["planner", "verify"]),
    ("not_imported", &["planner"]),
    ("half_configured", &["planner"]),
    ("delayed", &["planner"]),
    ("evaluates_all", &["planner"]),
    ("recalled", &["planner"]),
    ("asks_keys", &["planner"]),
    ("requires_keys", &["planner"]),
    ("planned_again", &["planner"]),
    ("asks_protection", &["planner"]),
    ("drift", &["planner", "verify"]),
    ("adds_dependencies", &["planner"]),
    ("keeps_dependencies", &["planner"]),
    ("evaluated_output", &["planner"]),
    ("asked_for", &["planner"]),
    ("checked", &["planner", "verify"]),
    ("check_blocked", &["planner", "verify"]),
    ("check_left", &["verify"]),
    ("awaits_check", &["planner"]),
    ("kept_until", &["observe"]),
    ("kept_for_step", &["observe"]),
    ("kept_to_end", &["observe"]),
    ("made_from", &["execute"]),
    ("made_through", &["execute"]),
    ("held_back", &["execute"]),
    ("judges_all", &["execute"]),
    ("judged_last", &["execute"]),
    ("written_last", &["execute"]),
    ("removed_last", &["execute"]),
    ("passed_by", &["execute"]),
    // What `-lint` reports.
    ("lint_enabled", &["operation"]),
    ("unused_dependency", &["operation"]),
    ("quoted_reference", &["operation"]),
    ("ineffective_comparison", &["operation"]),
    ("impure_argument", &["operation"]),
];

/// Former names of public relations, with their names now. Rules, queries, `facts` and `why -of` accept both.
pub const RENAMED: &[(&str, &str)] =
    &[("rests_on", "state_depends_on"), ("taking_part", "selected")];

/// Public relations that version 1.0 did not have, with the version that brought each. A relation that an author already
/// concludes under such a name stays the author's own.
pub const ADDED: &[(&str, &str)] = &[
    ("depends_on_transitively", "2.0"),
    ("each_key", "2.0"),
    ("excluded", "2.0"),
    ("local_value", "2.0"),
    ("provider_alias", "2.0"),
    ("selected", "2.0"),
    ("sensitive", "2.0"),
    ("served_by", "2.0"),
    ("state_depends_on", "2.0"),
    ("untargeted", "2.0"),
];

/// Public relations whose rows are those of the planner's relation of that name. Any other name that both have means the public
/// relation, and `core::NAME` that of the planner.
pub const ALIKE: &[&str] =
    &["action", "excluded", "moved", "provider_alias", "selected", "untargeted"];

/// What relations, strata and rules were called before, with their names now: those of the field, where it has one.
pub const FORMER: &[(&str, &str)] = &[
    ("doomed", "to_be_destroyed"),
    ("lender", "ephemeral_resource"),
    ("lends", "to_open"),
    ("lending", "any_ephemeral"),
    ("lent_to", "travels_to"),
    ("leases", "ephemeral_uses"),
    ("decide.lends", "decide.opening"),
    ("ephemerals.lending", "ephemerals.any"),
    ("leases.lent", "ephemeral_uses.travels"),
    ("instances.doomed-orphan", "instances.destroyed-orphan"),
    ("instances.doomed-deposed", "instances.destroyed-deposed"),
    ("instances.doomed-all", "instances.destroyed-all"),
    ("selection.toppled", "selection.destroyed-dependent"),
    ("selection.toppled-by", "selection.destroyed-dependent"),
    ("selection.requested-by", "selection.requested"),
    ("selection.dependent-by", "selection.dependent"),
    ("selection.part-by", "selection.part"),
    ("selection.perhaps-by", "selection.perhaps"),
    ("selection.perhaps-on-by", "selection.perhaps-on"),
    ("selection.perhaps-behind-by", "selection.perhaps-behind"),
    ("selection.depends-behind-by", "selection.depends-behind"),
    ("selection.may-stay-by", "selection.may-stay-foundation"),
    ("selection.targeted-by", "selection.targeted"),
    ("selection.required-by", "selection.required"),
    ("selection.among-by", "selection.among"),
    ("selection.among-required-by", "selection.among-required"),
    ("selection.late-required-by", "selection.late-required"),
    ("selection.late-keys-by", "selection.late-keys"),
    ("selection.whole-required-by", "selection.whole-required"),
    ("selection.destroyed-dependent-by", "selection.destroyed-dependent"),
    ("selection.keys-open", "recall.keys-open"),
    ("selection.keys-open-call", "recall.keys-open-call"),
    ("selection.keys-open-found", "recall.keys-open-found"),
    ("selection.keys-open-skipped", "recall.keys-open-skipped"),
    ("selection.recalled-excluded", "recall.excluded"),
    ("selection.recalled-consulted", "recall.consulted"),
    ("selection.recalled-for-keys", "recall.for-keys"),
    ("selection.recalled-to-exist", "recall.to-exist"),
];
