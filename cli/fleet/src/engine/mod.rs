//! The columnar engine: rules become relational plans, which Apache DataFusion carries out over whole columns.
//!
//! - `relational`: the plan of a rule; `arithmetic`: what it computes; `columns`: rows of a database as columns.
//! - `joins`: which rules it takes, and how their matches come back; `choice`: which engine answers; `cluster`: past one machine.
//!
//! It is one more engine behind the interface of all: the rounds, what is new in each, and what a row was derived from are those of the
//! library. What rules say of values, and rows of which something is not known, it narrows down and leaves to the library's matcher.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use datafusion::execution::context::{SessionConfig, SessionContext};
use entail::datalog::evaluate::evaluate_joining;
use entail::datalog::{Database, Domain, Failure, Limits, Program, Stopped};
use entail::diagnostic::Diagnostic;
use entail::reason::{Engine, fill_from_text};
use entail_rules::{Ledger, Stratum};
use tokio::runtime::Runtime;

mod arithmetic;
mod choice;
#[cfg(feature = "cluster")]
pub mod cluster;
mod columns;
mod joins;
mod relational;

pub use choice::{Choice, facts};
use joins::Joins;

/// How many rows a rule must see so that whole columns are joined: with fewer, following one after the other is over before a plan is made.
const MANY: usize = 100_000;

/// Plans recurse, and so do their optimizers.
const STACK: usize = 16 << 20;

/// Joins whole columns where there are many rows.
#[derive(Debug)]
pub struct Columnar {
    many: usize,
    /// Relations whose rows are given, whatever rules conclude them.
    given: BTreeSet<usize>,
    state: OnceLock<State>,
    joined: AtomicU64,
}

/// What plans are carried out with.
struct State {
    runtime: Runtime,
    context: SessionContext,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("State")
    }
}

impl Columnar {
    /// Returns an engine that joins whole columns from so many rows on.
    pub const fn from(many: usize) -> Columnar {
        Columnar { many, given: BTreeSet::new(), state: OnceLock::new(), joined: AtomicU64::new(0) }
    }

    /// Returns the engine of every day, of a program of which some relations were concluded elsewhere: their rows are given.
    pub fn without(given: BTreeSet<usize>) -> Columnar {
        let mut columnar = Columnar::from(MANY);
        columnar.given = given;
        columnar
    }

    /// Returns how often it has joined whole columns.
    pub fn joined(&self) -> u64 {
        self.joined.load(Ordering::Relaxed)
    }

    /// What plans are carried out with, made for the first of them.
    fn state(&self) -> Result<&State, Box<Diagnostic>> {
        if self.state.get().is_none() {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .thread_name("columnar")
                .thread_stack_size(STACK)
                .enable_all()
                .build()
                .map_err(|why| Box::new(failed(&why)))?;
            let context = SessionContext::new_with_config(SessionConfig::new());
            self.state.get_or_init(|| State { runtime, context });
        }
        self.state.get().ok_or_else(|| Box::new(failed(&"it is gone")))
    }
}

impl Engine for Columnar {
    fn name(&self) -> &'static str {
        "columnar"
    }

    fn fill(&self, ledger: &Ledger<'_>, stratum: &mut dyn Stratum) {
        fill_from_text(self, ledger, stratum);
    }

    fn evaluate(
        &self,
        program: &Program,
        database: &mut Database,
        domain: Option<&dyn Domain>,
        limits: &Limits,
    ) -> Result<Vec<Failure>, Stopped> {
        let mut joins = Joins::new(self);
        evaluate_joining(program, database, domain, limits, Some(&mut joins))
    }
}

fn failed(why: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::error("The columnar engine failed").detail(format!(
        "Rules were not evaluated to their end: {why}. With -engine=interpreted they are evaluated without it."
    ))
}
