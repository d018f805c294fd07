//! The engine of every day: the strata as Ascent compiled them.

use entail_rules::{Ledger, Stratum};

use super::Engine;

/// Runs compiled strata: one call per stratum, no row is looked at on the way.
#[derive(Clone, Copy, Debug)]
pub struct Compiled;

impl Engine for Compiled {
    fn name(&self) -> &'static str {
        "compiled"
    }

    fn fill(&self, ledger: &Ledger<'_>, stratum: &mut dyn Stratum) {
        stratum.run_compiled(ledger);
    }
}
