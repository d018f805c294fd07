//! Which engine answers: the one of this machine, or a cluster for what it can say.

use std::time::Duration;

use entail::datalog::Program;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::reason::{ENGINES, Engine, EngineRef};

use super::{Columnar, MANY};
use crate::ask::Facts;
use crate::lake::Scan;

/// The engine that questions about fleets are answered with where none is named.
static COLUMNAR: Columnar = Columnar::from(MANY);

/// Who answers.
#[derive(Clone, Debug)]
pub enum Choice {
    /// An engine of this machine.
    Here(EngineRef),
    /// A cluster, and the columnar engine for what is left.
    #[cfg(feature = "cluster")]
    Cluster(super::cluster::Cluster),
}

impl Default for Choice {
    fn default() -> Choice {
        Choice::Here(&COLUMNAR)
    }
}

impl Choice {
    /// Reads what `-engine` says; without it, the columnar engine.
    ///
    /// # Errors
    ///
    /// If there is none of that name.
    pub fn named(name: Option<&str>) -> Result<Choice, Diagnostic> {
        let Some(name) = name.filter(|it| *it != COLUMNAR.name()) else {
            return Ok(Choice::default());
        };
        if name.starts_with("df://") {
            return Choice::cluster(name);
        }
        if let Some(many) = name.strip_prefix("columnar:").and_then(|it| it.parse().ok()) {
            return Ok(Choice::Here(Box::leak(Box::new(Columnar::from(many)))));
        }
        let known = ENGINES.iter().find(|it| it.name() == name);
        known.map(|it| Choice::Here(*it)).ok_or_else(|| {
            let names: Vec<&str> = ENGINES.iter().map(|it| it.name()).collect();
            Diagnostic::error("Unknown engine").detail(format!(
                "`{name}` is no engine. The -engine option takes columnar, which is the default, columnar:ROWS, to join whole columns from so many rows on, df://HOST:PORT, for a cluster, {}.",
                names.join(" or ")
            ))
        })
    }

    #[cfg(feature = "cluster")]
    fn cluster(address: &str) -> Result<Choice, Diagnostic> {
        super::cluster::Cluster::at(address).map(Choice::Cluster)
    }

    #[cfg(not(feature = "cluster"))]
    fn cluster(address: &str) -> Result<Choice, Diagnostic> {
        Err(Diagnostic::error("Built without clusters").detail(format!(
            "{address} is a cluster of Ballista, and this program was built without what it takes to ask one. Build it with: cargo install --locked --path cli/fleet --features cluster"
        )))
    }

    /// Refuses a cluster where what rows were derived from is asked for, which no cluster keeps.
    ///
    /// # Errors
    ///
    /// If it is one.
    pub fn with_proofs(self) -> Result<Choice, Diagnostic> {
        match self {
            Choice::Here(_) => Ok(self),
            #[cfg(feature = "cluster")]
            Choice::Cluster(it) => {
                Err(Diagnostic::error("No proofs from a cluster").detail(format!(
                    "{} keeps no record of what a row was derived from. Ask without -engine.",
                    it.address
                )))
            }
        }
    }
}

/// Returns what of a lake a program reads, with whoever evaluates it.
///
/// - `goal`: the relation that is asked for, where one is.
///
/// # Errors
///
/// If the lake cannot be read, or a cluster fails.
pub fn facts(
    choice: &Choice,
    program: &Program,
    goal: Option<usize>,
    scan: &Scan<'_>,
    time: Duration,
) -> Result<Facts, Diagnostics> {
    #[cfg(not(feature = "cluster"))]
    let _ = (goal, time);
    match choice {
        Choice::Here(engine) => Facts::read(program, scan, *engine),
        #[cfg(feature = "cluster")]
        Choice::Cluster(cluster) => {
            let place = (scan.lake(), scan.catalogue());
            let concluded = cluster.conclude(program, goal, place, time)?;
            let is_left = |rule: usize| !concluded.relations.contains(&program.rules[rule].head);
            let left = program.keep_rules(is_left);
            let engine = Box::leak(Box::new(Columnar::without(concluded.relations.clone())));
            let mut facts = Facts::read(&left, scan, engine)?;
            for (relation, rows) in &concluded.rows {
                facts.take_in(program, *relation, rows);
            }
            Ok(facts)
        }
    }
}
