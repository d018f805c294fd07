//! The engine that reads the text of a stratum and interprets it: slower, and a second opinion on the first.

use entail_rules::{Ledger, Stratum};

use super::{Engine, shipped};
use crate::datalog::Database;
use crate::datalog::evaluate::evaluate;

/// Interprets the text of each stratum.
#[derive(Clone, Copy, Debug)]
pub struct Interpreted;

impl Engine for Interpreted {
    fn name(&self) -> &'static str {
        "interpreted"
    }

    fn fill(&self, ledger: &Ledger<'_>, stratum: &mut dyn Stratum) {
        let program = shipped::stratum(stratum.name());
        let mut database = Database::new(program);
        for tables in ledger.tables() {
            database.give_tables(program, tables, |_| true);
        }
        evaluate(program, &mut database);
        stratum.clear();
        for relation in stratum.relations() {
            let Some(number) = program.relation(relation.name) else { continue };
            for row in database.table(number).rows() {
                let fits = stratum.push_row(relation.name, row);
                assert!(fits, "`{}` holds what its columns can hold", relation.name);
            }
        }
        stratum.tidy();
    }
}
