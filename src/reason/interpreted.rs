//! The engine that reads the text of a stratum and interprets it: slower, and a second opinion on the first.

use entail_rules::{Ledger, Stratum};

use super::derived::concluded;
use super::{Engine, shipped};
use crate::datalog::Limits;

/// Interprets the text of each stratum.
#[derive(Clone, Copy, Debug)]
pub struct Interpreted;

impl Engine for Interpreted {
    fn name(&self) -> &'static str {
        "interpreted"
    }

    fn fill(&self, ledger: &Ledger<'_>, stratum: &mut dyn Stratum) {
        fill_from_text(self, ledger, stratum);
    }
}

/// Fills in what a stratum concludes by its text, as an engine evaluates programs.
pub fn fill_from_text(engine: &dyn Engine, ledger: &Ledger<'_>, stratum: &mut dyn Stratum) {
    let program = shipped::stratum(stratum.name());
    let database = concluded(program, &ledger.tables(), &|_| true, &|database| {
        engine.evaluate(program, database, None, &Limits::NONE).is_ok()
    });
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
