//! Past one machine: what rules say of the tables of a lake alone is concluded by a cluster of Apache Ballista, whose executors read the
//! lake themselves. Only what the other rules need of it, or the question, comes back.
//!
//! - `expressible`: which relations these are; `tables`: the tables of a lake as its relations.
//! - `rounds`: what is concluded from itself, in few, large rounds.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use arrow::array::AsArray;
use ballista::prelude::SessionContextExt;
use datafusion::dataframe::DataFrame;
use datafusion::error::Result;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;
use entail::datalog::Program;
use entail::diagnostic::{Diagnostic, Diagnostics};
use tokio::runtime::Runtime;

use super::STACK;
use crate::lake::{Catalogue, Lake};

mod expressible;
mod rounds;
mod tables;

pub use expressible::Expressible;
pub use tables::BETWEEN;

/// With fewer rows to look at, an answer is there before a cluster has begun (measured: `docs/fleet.md`).
const MANY: usize = 1_000_000;

/// A cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// `df://HOST:PORT`
    pub address: String,
    /// How many rows there must be to look at for it to be asked.
    pub many: usize,
}

/// Rows of texts; a node is its address and its stack with [`BETWEEN`] between them.
pub type Rows = Vec<Vec<String>>;

/// What a cluster has concluded.
#[derive(Debug, Default)]
pub struct Concluded {
    /// Relations that need not be concluded any more.
    pub relations: BTreeSet<usize>,
    /// The rows of those that are needed.
    pub rows: BTreeMap<usize, Rows>,
}

/// Where one asks: the cluster, and what of the lake it is told.
pub(super) struct Asking<'a> {
    pub cluster: &'a Cluster,
    pub program: &'a Program,
    pub lake: &'a Lake,
    pub catalogue: &'a Catalogue,
    context: SessionContext,
    runtime: Runtime,
    time: Duration,
}

impl Cluster {
    /// Reads an address, such as `df://HOST:50050`; `?rows=N` behind it says from how many rows on the cluster is asked.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn at(text: &str) -> Result<Cluster, Diagnostic> {
        let wrong = |why: &str| {
            Diagnostic::error("No address of a cluster").detail(format!(
                "`{text}` {why}. It is written as df://HOST:PORT, such as df://scheduler.example.com:50050."
            ))
        };
        let url = url::Url::parse(text).map_err(|why| wrong(&format!("cannot be read: {why}")))?;
        if url.host_str().is_none_or(str::is_empty) {
            return Err(wrong("names no host"));
        }
        let mut many = MANY;
        for (name, value) in url.query_pairs() {
            match (&*name, value.parse()) {
                ("rows", Ok(rows)) => many = rows,
                _ => return Err(wrong(&format!("has `{name}` in it; there is `rows=NUMBER`"))),
            }
        }
        let mut address = url;
        address.set_query(None);
        Ok(Cluster { address: address.to_string(), many })
    }

    /// Concludes what a lake's tables alone say.
    ///
    /// - `goal`: the relation that is asked for, where one is.
    ///
    /// # Errors
    ///
    /// If the cluster cannot be reached, fails, or takes longer than it may.
    pub fn conclude(
        &self,
        program: &Program,
        goal: Option<usize>,
        (lake, catalogue): (&Lake, &Catalogue),
        time: Duration,
    ) -> Result<Concluded, Diagnostics> {
        let said = Expressible::of(program, goal, catalogue);
        if said.needed.is_empty() || said.rows < self.many {
            return Ok(Concluded::default());
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .thread_stack_size(STACK)
            .enable_all()
            .build()
            .map_err(|why| self.failed(&why))?;
        let context = runtime
            .block_on(SessionContext::remote(&self.address))
            .map_err(|why| self.failed(&why))?;
        let asking = Asking { cluster: self, program, lake, catalogue, context, runtime, time };
        let rows = asking.all(&said)?;
        Ok(Concluded { relations: said.relations, rows })
    }

    fn failed(&self, why: &dyn std::fmt::Display) -> Diagnostics {
        Diagnostic::error("The cluster failed")
            .detail(format!(
                "{} has not answered: {why}. Its executors must be able to read the lake where it is. With -engine=columnar this machine answers.",
                self.address
            ))
            .into()
    }
}

impl Asking<'_> {
    /// Has the cluster carry out a plan whose columns are texts.
    ///
    /// # Errors
    ///
    /// If it fails, or takes longer than it may.
    pub fn rows(&self, plan: LogicalPlan) -> Result<Rows, Diagnostics> {
        let asked = DataFrame::new(self.context.state(), plan).collect();
        let asked = async { tokio::time::timeout(self.time, asked).await };
        let batches = match self.runtime.block_on(asked) {
            Ok(batches) => batches.map_err(|why| self.failed(&why))?,
            Err(_) => {
                return Err(Diagnostic::error("The cluster takes too long")
                    .detail(format!(
                        "{} has not answered within {} s. Raise the bound: -policy-limit=time=SECONDS.",
                        self.cluster.address,
                        self.time.as_secs()
                    ))
                    .into());
            }
        };
        let mut rows = Rows::new();
        for batch in batches {
            let columns = batch
                .columns()
                .iter()
                .map(|it| arrow::compute::cast(it, &arrow::datatypes::DataType::Utf8));
            let columns =
                columns.collect::<Result<Vec<_>, _>>().map_err(|why| self.failed(&why))?;
            for at in 0..batch.num_rows() {
                let cells = columns.iter().map(|it| it.as_string::<i32>().value(at).to_owned());
                rows.push(cells.collect());
            }
        }
        Ok(rows)
    }

    pub fn failed(&self, why: &dyn std::fmt::Display) -> Diagnostics {
        self.cluster.failed(why)
    }

    /// The address by which executors find a file of the lake.
    pub fn address(&self, file: &str) -> String {
        format!("{}/{file}", self.lake.address.trim_end_matches('/'))
    }
}
