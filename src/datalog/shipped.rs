//! The strata of the `rules` crate, read from the text that is compiled; and the compiled conclusions beside them.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use entail_rules::changes::Changes;
use entail_rules::closing::Closing;
use entail_rules::configurations::Configurations;
use entail_rules::decide::Decisions;
use entail_rules::ephemerals::Ephemerals;
use entail_rules::instances::Instances;
use entail_rules::leases::Leases;
use entail_rules::moves::Moves;
use entail_rules::order::Order;
use entail_rules::outputs::Outputs;
use entail_rules::providers::Providers;
use entail_rules::records::Records;
use entail_rules::selection::Selection;
use entail_rules::spread::Spread;
use entail_rules::violations::Violations;
use entail_rules::{
    Facts, Relation, Rows, TEXTS, Tables, changes, closing, configurations, decide, ephemerals,
    instances, leases, moves, order, outputs, providers, records, selection, spread, violations,
};

use crate::diagnostic::FileId;

use super::check::{Program, Source};
use super::database::Database;
use super::evaluate::evaluate;

/// Returns all strata as one program.
pub fn program() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let sources: Vec<Source<'_>> = TEXTS
            .iter()
            .map(|it| Source { name: it.name, file: FileId::default(), text: it.source })
            .collect();
        let (program, problems) = Program::read(&sources);
        assert!(!problems.has_errors(), "the shipped rules are sound: {problems:?}");
        program
    })
}

/// Adds the rows of `tables` whose relation the program has, but for relations that the program concludes itself.
pub fn give(program: &Program, tables: &dyn Tables, database: &mut Database) {
    give_where(program, tables, database, |relation| !program.relations[relation].is_derived);
}

/// Adds the rows of `tables` whose relation the program has and `wanted` accepts.
fn give_where(
    program: &Program,
    tables: &dyn Tables,
    database: &mut Database,
    wanted: impl Fn(usize) -> bool,
) {
    let mut row = Vec::new();
    let mut see = |relation: &'static Relation, rows: &dyn Rows| {
        let Some(number) = program.relation(relation.name).filter(|it| wanted(*it)) else { return };
        for index in 0..rows.count() {
            rows.write(index, &mut row);
            database.give(number, &row);
        }
    };
    tables.for_each_relation(&mut see);
    tables.for_each_handed_on(&mut see);
}

/// Concludes everything from `facts` with the interpreter.
pub fn interpret(facts: &Facts) -> Database {
    let mut database = Database::new(program());
    give(program(), facts, &mut database);
    evaluate(program(), &mut database);
    database
}

/// Everything that the compiled strata conclude.
#[derive(Clone, Debug, Default)]
pub struct Conclusions {
    /// `moves`
    pub moves: Moves,
    /// `configurations`
    pub configurations: Configurations,
    /// `providers`
    pub providers: Providers,
    /// `instances`
    pub instances: Instances,
    /// `selection`
    pub selection: Selection,
    /// `spread`
    pub spread: Spread,
    /// `decide`
    pub decisions: Decisions,
    /// `outputs`
    pub outputs: Outputs,
    /// `changes`
    pub changes: Changes,
    /// `ephemerals`
    pub ephemerals: Ephemerals,
    /// `order`
    pub order: Order,
    /// `violations`
    pub violations: Violations,
    /// `leases`
    pub leases: Leases,
    /// `records`
    pub records: Records,
    /// `closing`
    pub closing: Closing,
}

impl Conclusions {
    /// Returns the conclusions as tables.
    pub fn tables(&self) -> [&dyn Tables; 15] {
        [
            &self.moves,
            &self.configurations,
            &self.providers,
            &self.instances,
            &self.selection,
            &self.spread,
            &self.decisions,
            &self.outputs,
            &self.changes,
            &self.ephemerals,
            &self.order,
            &self.violations,
            &self.leases,
            &self.records,
            &self.closing,
        ]
    }
}

/// Concludes everything from `facts` with the compiled strata: all batches as one.
///
/// What earlier strata hand on is concluded anew, not taken from `facts`.
pub fn conclude(facts: &Facts) -> Conclusions {
    let mut facts = facts.clone();
    let instances = instances::judge(&facts);
    facts.orphan.clone_from(&instances.orphan);
    facts.doomed.clone_from(&instances.doomed);
    let selection = selection::select(&facts);
    let spread = spread::spread(&facts);
    facts.kept.clone_from(&selection.kept);
    facts.guarded.clone_from(&selection.guarded);
    facts.excluded.clone_from(&selection.excluded);
    facts.untargeted.clone_from(&selection.untargeted);
    facts.cbd.clone_from(&spread.cbd);
    let configurations = configurations::configure(&facts);
    let providers = providers::serve(&facts, &configurations);
    let decisions = decide::decide(&facts);
    let outputs = outputs::settle(&facts, &selection, &decisions);
    let ephemerals = ephemerals::lend(&facts, &providers, &selection, &decisions);
    let changes = changes::conclude(&facts, &outputs, &decisions);
    let order = order::order(&facts, &providers, &spread, &decisions, &ephemerals);
    Conclusions {
        moves: moves::arrange(&facts),
        leases: leases::lease(&facts, &providers, &order),
        records: records::record(&facts),
        closing: closing::close(&facts, &facts, &order, &changes),
        changes,
        outputs,
        order,
        violations: violations::collect(&facts, &providers, &selection, &decisions),
        configurations,
        providers,
        instances,
        selection,
        spread,
        decisions,
        ephemerals,
    }
}

/// Checks that compiled and interpreted strata conclude the same from `facts`.
pub fn agree(facts: &Facts) -> Result<(), String> {
    let database = interpret(facts);
    let conclusions = conclude(facts);
    for tables in conclusions.tables() {
        compare(tables, program(), &database)?;
    }
    Ok(())
}

/// Checks that the rows of `compiled` are those that the database holds.
fn compare(compiled: &dyn Tables, program: &Program, database: &Database) -> Result<(), String> {
    let mut result = Ok(());
    let mut row = Vec::new();
    compiled.for_each_relation(&mut |relation, rows| {
        let Some(number) = program.relation(relation.name) else {
            result = Err(format!("no rule text declares `{}`", relation.name));
            return;
        };
        let mut ours = BTreeSet::new();
        for index in 0..rows.count() {
            rows.write(index, &mut row);
            ours.insert(row.clone());
        }
        let theirs: BTreeSet<Vec<u64>> = database.table(number).rows().map(<[u64]>::to_vec).collect();
        if result.is_ok() && ours != theirs {
            let only_compiled: Vec<_> = ours.difference(&theirs).take(5).collect();
            let only_interpreted: Vec<_> = theirs.difference(&ours).take(5).collect();
            result = Err(format!(
                "`{}` differs: only compiled {only_compiled:?}, only interpreted {only_interpreted:?}",
                relation.name
            ));
        }
    });
    result
}
