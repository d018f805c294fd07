//! Engines: whoever concludes from a ledger what the rules say.
//!
//! A stratum of ours goes to [`Engine::fill`] with the ledger that it reads; a program that is given as text – ours for
//! proofs, a user's for anything – goes to [`Engine::derive`] with the tables that it reads. Callers are handed an engine
//! and do not know which one it is, so that another way to evaluate rules changes nothing but this room.
//!
//! Nothing here knows what a relation means.

pub mod catalogue;
mod compiled;
mod derived;
mod interpreted;
pub mod shipped;

use std::fmt::Debug;

use entail_rules::{Conclusions, Facts, Ledger, Stratum, Tables};

pub use compiled::Compiled;
pub use derived::Derived;
pub use interpreted::{Interpreted, fill_from_text};

use crate::datalog::evaluate::evaluate_over;
use crate::datalog::{Database, Domain, Failure, Limits, Program, Stopped};
use crate::diagnostic::Diagnostic;
use crate::world::World;

/// The engine of a run, which lives as long as the program.
pub type EngineRef = &'static dyn Engine;

/// Concludes from facts what rules say. The same facts give the same conclusions, whichever engine it is.
pub trait Engine: Debug + Send + Sync {
    /// Returns what the engine is called, as `ENTAIL_ENGINE` names it.
    fn name(&self) -> &'static str;

    /// Fills in what a stratum concludes from a ledger, in place of whatever is in it: sorted, each row once.
    fn fill(&self, ledger: &Ledger<'_>, stratum: &mut dyn Stratum);

    /// Concludes what a program says of the rows in some tables, and keeps what each row was derived from.
    ///
    /// Rows of relations that the program concludes itself, or does not have, are passed over.
    fn derive(&self, program: Program, given: &[&dyn Tables]) -> Derived {
        Derived::of(program, given, &|program, database| {
            self.evaluate(program, database, None, &Limits::NONE).is_ok()
        })
    }

    /// Adds everything that a program concludes from the rows in a database and the values of a domain, each row with what it was
    /// derived from. Returns the expressions that failed on the way to a conclusion, one for each rule.
    ///
    /// A program that is known only at run time is interpreted, but by an engine that does better.
    ///
    /// # Errors
    ///
    /// If that takes more than the limits allow, or the engine fails: what has been concluded until then is not all.
    fn evaluate(
        &self,
        program: &Program,
        database: &mut Database,
        domain: Option<&dyn Domain>,
        limits: &Limits,
    ) -> Result<Vec<Failure>, Stopped> {
        evaluate_over(program, database, domain, limits)
    }
}

impl dyn Engine + '_ {
    /// Returns what one stratum concludes from a ledger.
    pub fn conclude<S: Stratum + Default>(&self, ledger: &Ledger<'_>) -> S {
        let mut found = S::default();
        self.fill(ledger, &mut found);
        found
    }

    /// Returns what all strata conclude from facts, each from those before it.
    pub fn conclude_all(&self, facts: &Facts) -> Conclusions {
        Conclusions::of(facts, |ledger, stratum| self.fill(ledger, stratum))
    }
}

/// Every engine there is; the first is the one of a run that names none.
pub const ENGINES: &[EngineRef] = &[&Compiled, &Interpreted];

/// Returns the engine of a run: the one that `ENTAIL_ENGINE` names, else the first.
pub fn engine(world: &World) -> EngineRef {
    named(world).unwrap_or(ENGINES[0])
}

/// Returns the engine that `ENTAIL_ENGINE` names.
///
/// # Errors
///
/// If there is none of that name.
pub fn named(world: &World) -> Result<EngineRef, Diagnostic> {
    let Some(name) = world.variable("ENTAIL_ENGINE").filter(|it| !it.is_empty()) else {
        return Ok(ENGINES[0]);
    };
    ENGINES.iter().find(|it| it.name() == name).copied().ok_or_else(|| {
        let names: Vec<String> = ENGINES.iter().map(|it| format!("`{}`", it.name())).collect();
        Diagnostic::error("Unknown engine").detail(format!(
            "`ENTAIL_ENGINE` is `{name}`. Rules are evaluated by {}: set it to one of these, or unset it.",
            names.join(" or ")
        ))
    })
}

#[cfg(test)]
mod tests;
