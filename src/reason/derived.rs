//! What a program concluded, each row with what it was derived from: what proofs are read from.

use entail_rules::Tables;

use crate::datalog::evaluate::evaluate;
use crate::datalog::{Database, Program};

/// A program and every row that follows from what it was given.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The relations and rules.
    pub program: Program,
    /// The rows, given and concluded.
    pub database: Database,
}

/// Returns what a program concludes from the rows of some tables. Where an engine does not come to its end, the rules are
/// interpreted: that always does.
pub(super) fn concluded(
    program: &Program,
    given: &[&dyn Tables],
    is_given: &dyn Fn(usize) -> bool,
    evaluate_by: &dyn Fn(&mut Database) -> bool,
) -> Database {
    let told = || {
        let mut database = Database::new(program);
        given.iter().for_each(|it| database.give_tables(program, *it, is_given));
        database
    };
    let mut database = told();
    if !evaluate_by(&mut database) {
        database = told();
        evaluate(program, &mut database);
    }
    database
}

impl Derived {
    /// Evaluates a program on the rows of some tables.
    ///
    /// - `evaluate`: how; it says whether it has come to its end.
    pub fn of(
        program: Program,
        given: &[&dyn Tables],
        evaluate: &dyn Fn(&Program, &mut Database) -> bool,
    ) -> Derived {
        let is_given = |relation: usize| {
            let relation = &program.relations[relation];
            relation.is_needed && !relation.is_derived
        };
        let database = concluded(&program, given, &is_given, &|it| evaluate(&program, it));
        Derived { program, database }
    }

    /// Returns the names of the rules whose bodies were met at least once.
    pub fn rules_met(&self) -> impl Iterator<Item = &str> {
        let rules = self.program.rules.iter().enumerate();
        rules.filter(|it| self.database.times_met(it.0) > 0).map(|it| it.1.name.as_str())
    }

    /// Returns the rows of a relation, unsorted; none where the program has no such relation.
    pub fn rows(&self, relation: &str) -> Vec<Vec<u64>> {
        let number = self.program.relation(relation);
        number
            .map_or(Vec::new(), |it| self.database.table(it).rows().map(<[u64]>::to_vec).collect())
    }
}
