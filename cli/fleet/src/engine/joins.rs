//! Which rules the columnar engine takes, and how their matches come back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Int64Type, UInt32Type};
use datafusion::catalog::MemTable;
use datafusion::dataframe::DataFrame;
use datafusion::datasource::provider_as_source;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, lit};
use entail::datalog::Database;
use entail::datalog::check::{Literal, Pattern, Program, Rule, Term, Value};
use entail::datalog::evaluate::fits;
use entail::datalog::joiner::{Application, Broken, How, Joiner, Take, UNSEEN};
use entail::datalog::plan::{Range, plan_unindexed};
use futures_util::StreamExt;
use rustc_hash::FxHashMap;
use tokio::time::timeout;

use super::columns::{Columns, schema};
use super::relational::{Leaves, Planned, plan};
use super::{Columnar, State, failed};

/// The joins of one evaluation.
pub struct Joins<'e> {
    engine: &'e Columnar,
    tables: FxHashMap<usize, Columns>,
}

impl<'e> Joins<'e> {
    /// Begins an evaluation.
    pub fn new(engine: &'e Columnar) -> Joins<'e> {
        Joins { engine, tables: FxHashMap::default() }
    }

    /// Brings the columns of a relation up to date. Returns whether all is known of its rows.
    fn is_plain(&mut self, asked: &Application<'_>, relation: usize) -> bool {
        let width = asked.program.relations[relation].columns.len();
        let columns = self.tables.entry(relation).or_default();
        columns.take_in(asked.database.table(relation), width).is_ok() && columns.is_plain()
    }
}

impl Joiner for Joins<'_> {
    fn how(&mut self, asked: &Application<'_>) -> How {
        let rule = asked.rule();
        if self.engine.given.contains(&rule.head) {
            return How::Concludes;
        }
        let seen = asked.ranges.iter().map(|it| it.to - it.from).max();
        let read: BTreeSet<usize> = rule.body.iter().filter_map(Literal::relation).collect();
        let is_large = |it: usize| asked.database.table(it).len() >= self.engine.many;
        let is_worth_it = seen.is_some_and(|it| it >= self.engine.many)
            || seen.is_some() && read.iter().any(|it| is_denied(rule, *it) && is_large(*it));
        let how = if is_worth_it { how(asked.program, rule) } else { How::Declines };
        // Columns are made only for whom they serve.
        match how != How::Declines && read.into_iter().all(|it| self.is_plain(asked, it)) {
            true => how,
            false => How::Declines,
        }
    }

    fn join(
        &mut self,
        asked: &Application<'_>,
        how: How,
        take: &mut Take<'_>,
    ) -> Result<(), Broken> {
        let broken = |why: DataFusionError| Broken::Failed(Box::new(failed(&why)));
        let rule = asked.rule();
        if self.engine.given.contains(&rule.head) {
            return Ok(());
        }
        let steps = plan_unindexed(rule, asked.ranges, asked.first);
        let leaves = Tables { asked, tables: &self.tables };
        let Some(planned) = plan(rule, &steps, how, &leaves).map_err(broken)? else {
            return Ok(());
        };
        let state = self.engine.state().map_err(Broken::Failed)?;
        self.engine.joined.fetch_add(1, Ordering::Relaxed);
        state.runtime.block_on(async {
            let carried_out = run(state, asked, how, planned, take);
            match timeout(asked.time, carried_out).await {
                Ok(done) => done.map_err(broken),
                Err(_) => Err(Broken::Late),
            }
        })
    }
}

/// Carries out a plan.
async fn run(
    state: &State,
    asked: &Application<'_>,
    how: How,
    planned: Planned,
    take: &mut Take<'_>,
) -> Result<()> {
    let mut stream = DataFrame::new(state.context.state(), planned.plan).execute_stream().await?;
    let words = if how == How::Concludes { asked.rule().terms.len() } else { 0 };
    while let Some(batch) = stream.next().await {
        if !matches(&batch?, words, (&planned.seen, asked.ranges.len()), take)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Shows the matches of a batch. Returns whether there may be more.
fn matches(
    batch: &RecordBatch,
    words: usize,
    (seen, premises): (&[usize], usize),
    take: &mut Take<'_>,
) -> Result<bool> {
    let other = || DataFusionError::Internal("a column is of another type".to_owned());
    let columns = batch.columns();
    let rows: Option<Vec<_>> =
        columns[..words].iter().map(|it| it.as_primitive_opt::<Int64Type>()).collect();
    let positions: Option<Vec<_>> =
        columns[words..].iter().map(|it| it.as_primitive_opt::<UInt32Type>()).collect();
    let (rows, positions) = (rows.ok_or_else(other)?, positions.ok_or_else(other)?);
    if rows.iter().any(|it| it.null_count() > 0) {
        return Err(DataFusionError::Internal("a word is missing".to_owned()));
    }
    let (mut row, mut found) = (vec![0; words], vec![UNSEEN; premises]);
    for at in 0..batch.num_rows() {
        for (word, column) in row.iter_mut().zip(&rows) {
            *word = column.value(at).cast_unsigned();
        }
        for (premise, column) in seen.iter().zip(&positions) {
            found[*premise] = column.value(at);
        }
        if !take(&row, &found) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What is done with a rule, whatever its rows.
fn how(program: &Program, rule: &Rule) -> How {
    let has_tense = |it: &Pattern| it.terms.iter().any(|it| matches!(it, Term::InTense(..)));
    let patterns = rule.body.iter().filter_map(|it| match it {
        Literal::Holds(it) | Literal::Absent(it) => Some(it),
        _ => None,
    });
    let patterns: Vec<&Pattern> = patterns.collect();
    if patterns.iter().any(|it| has_tense(it)) {
        return How::Declines;
    }
    let is_plain = |it: &Literal| match it {
        Literal::Holds(_) | Literal::Absent(_) => true,
        // Of values, only the library knows how they are counted.
        Literal::Aggregate { pattern, .. } => !program.has_values && !has_tense(pattern),
        Literal::Compare(_, left, right) => is_number(left) && is_number(right),
        Literal::Let(_, value) => is_number(value),
        _ => false,
    };
    if rule.body.iter().all(is_plain) && rule.terms.iter().all(is_number) {
        return How::Concludes;
    }
    let shares = |one: &Pattern, other: &Pattern| {
        one.variables().any(|it| other.variables().any(|that| it == that))
    };
    let is_joined = patterns
        .iter()
        .enumerate()
        .any(|(at, one)| patterns[..at].iter().any(|it| shares(one, it)));
    if is_joined { How::Narrows } else { How::Declines }
}

fn is_number(value: &Value) -> bool {
    match value {
        Value::Variable(_) | Value::Word(_) => true,
        Value::Arithmetic(_, left, right) => is_number(left) && is_number(right),
        Value::InTense(..) | Value::Message(_) => false,
    }
}

/// Whether a rule says that rows of a relation are not there, or computes over them.
fn is_denied(rule: &Rule, relation: usize) -> bool {
    rule.body.iter().any(|it| it.relation() == Some(relation) && !matches!(it, Literal::Holds(_)))
}

/// The columns of a database.
struct Tables<'a> {
    asked: &'a Application<'a>,
    tables: &'a FxHashMap<usize, Columns>,
}

impl Leaves for Tables<'_> {
    fn scan(&self, relation: usize, seen: Option<(usize, Range)>) -> Result<LogicalPlanBuilder> {
        let all = Range { from: 0, to: self.database().table(relation).len() };
        let range = seen.map_or(all, |it| it.1);
        let rows = self.tables.get(&relation).map_or_else(Vec::new, |it| it.within(range));
        let schema = schema(self.asked.program.relations[relation].columns.len());
        let table = MemTable::try_new(schema, vec![rows])?;
        LogicalPlanBuilder::scan("rows", provider_as_source(Arc::new(table)), None)
    }

    fn has_any(&self, pattern: &Pattern) -> bool {
        self.database().table(pattern.relation).rows().any(|row| fits(pattern, row, &[]))
    }

    fn constant(&self, word: u64) -> Expr {
        lit(word.cast_signed())
    }
}

impl Tables<'_> {
    fn database(&self) -> &Database {
        self.asked.database
    }
}
