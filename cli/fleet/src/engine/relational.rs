//! The relational plan of a rule: joins of its positive literals, anti-joins of its negative ones, filters, aggregates.

use std::collections::BTreeSet;

use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result;
use datafusion::functions_aggregate::expr_fn::{count, max, min, sum};
use datafusion::logical_expr::{
    Expr, JoinType, LogicalPlan, LogicalPlanBuilder, cast, lit, try_cast, when,
};
use datafusion::prelude::ident;
use entail::datalog::check::{Aggregate, Literal, Pattern, Rule, Term, Value};
use entail::datalog::joiner::How;
use entail::datalog::plan::{Range, Step};

use super::arithmetic::{compared, may_be_null, value, variable};
use super::columns::{AT, name};

/// Where the rows of relations are, and how constants look there.
pub trait Leaves {
    /// Returns the rows of a relation, or those in a range that a positive literal sees: its columns, and their positions.
    ///
    /// # Errors
    ///
    /// If they cannot be had.
    fn scan(&self, relation: usize, seen: Option<(usize, Range)>) -> Result<LogicalPlanBuilder>;

    /// Returns whether rows have positions, by which one finds what a conclusion was derived from.
    fn has_positions(&self) -> bool {
        true
    }

    /// Returns whether a row matches a pattern without variables.
    fn has_any(&self, pattern: &Pattern) -> bool;

    /// Returns a constant.
    fn constant(&self, word: u64) -> Expr;
}

/// The plan of a rule.
#[derive(Debug)]
pub struct Planned {
    /// Its columns are the words of the conclusion, then the positions of the rows that were joined.
    pub plan: LogicalPlan,
    /// Which positive literals the positions are of.
    pub seen: Vec<usize>,
}

/// Returns the plan of a rule whose literals are matched in this order; nothing where nothing can match.
///
/// # Errors
///
/// If a plan cannot be made.
pub fn plan(
    rule: &Rule,
    steps: &[Step<'_>],
    how: How,
    leaves: &dyn Leaves,
) -> Result<Option<Planned>> {
    let mut making = Making {
        plan: LogicalPlanBuilder::empty(true),
        is_begun: false,
        bound: BTreeSet::new(),
        seen: Vec::new(),
        keys: 0,
        leaves,
    };
    for step in steps {
        if !making.step(step, how)? {
            return Ok(None);
        }
    }
    making.finished(rule, how).map(Some)
}

struct Making<'a> {
    plan: LogicalPlanBuilder,
    /// Whether there is more than one empty row.
    is_begun: bool,
    bound: BTreeSet<usize>,
    seen: Vec<usize>,
    /// How many columns were named for a join alone.
    keys: usize,
    leaves: &'a dyn Leaves,
}

/// What a pattern is joined by: columns here and there.
type Keys = (Vec<Expr>, Vec<Expr>);

impl Making<'_> {
    /// Adds a step. Returns whether anything can match yet.
    fn step(&mut self, step: &Step<'_>, how: How) -> Result<bool> {
        match step {
            Step::Scan { premise, pattern, range, .. } => {
                let is_joined = pattern.variables().any(|it| self.bound.contains(&it));
                if how == How::Concludes || !self.is_begun || is_joined {
                    self.scan(*premise, pattern, *range)?;
                }
            }
            Step::Absent(pattern, _) => {
                let is_bound = pattern.variables().all(|it| self.bound.contains(&it));
                if is_bound && self.is_begun || how == How::Concludes {
                    return self.absent(pattern);
                }
            }
            // What is only narrowed down is found out by the matcher.
            Step::Test(_) | Step::Aggregate(..) if how == How::Narrows => {}
            Step::Test(Literal::Compare(comparison, left, right)) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.change(|it| it.filter(compared(*comparison, left, right)))?;
            }
            Step::Test(Literal::Let(number, of)) => {
                self.give(*number, self.value(of)?, may_be_null(of))?;
            }
            Step::Aggregate(Literal::Aggregate { result, function, over, pattern }, _) => {
                self.aggregate(*result, *function, *over, pattern)?;
            }
            Step::Test(_) | Step::Aggregate(..) => {}
        }
        Ok(true)
    }

    fn change(
        &mut self,
        change: impl FnOnce(LogicalPlanBuilder) -> Result<LogicalPlanBuilder>,
    ) -> Result<()> {
        let plan = std::mem::replace(&mut self.plan, LogicalPlanBuilder::empty(true));
        self.plan = change(plan)?;
        Ok(())
    }

    fn value(&self, of: &Value) -> Result<Expr> {
        value(of, &|it| self.leaves.constant(it))
    }

    fn columns(&self) -> Vec<Expr> {
        let variables = self.bound.iter().map(|it| ident(variable(*it)));
        variables.chain(self.seen.iter().map(|it| ident(position(*it)))).collect()
    }

    fn scan(&mut self, premise: usize, pattern: &Pattern, range: Range) -> Result<()> {
        let rows = self.leaves.scan(pattern.relation, Some((premise, range)))?;
        let at = self.leaves.has_positions().then(|| ident(AT).alias(position(premise)));
        let (rows, keys) = self.matching(rows, pattern, at.into_iter().collect())?;
        let (rows, is_begun) = (rows.build()?, self.is_begun);
        self.change(|plan| match keys.0.is_empty() {
            true if !is_begun => Ok(LogicalPlanBuilder::from(rows)),
            true => plan.cross_join(rows),
            false => plan.join_with_expr_keys(rows, JoinType::Inner, keys, None),
        })?;
        self.bound.extend(pattern.variables());
        self.seen.extend(self.leaves.has_positions().then_some(premise));
        self.is_begun = true;
        Ok(())
    }

    fn absent(&mut self, pattern: &Pattern) -> Result<bool> {
        if pattern.variables().next().is_none() {
            return Ok(!self.leaves.has_any(pattern));
        }
        let rows = self.leaves.scan(pattern.relation, None)?;
        let (rows, keys) = self.matching(rows, pattern, Vec::new())?;
        let rows = rows.build()?;
        self.change(|plan| plan.join_with_expr_keys(rows, JoinType::LeftAnti, keys, None))?;
        Ok(true)
    }

    /// The rows that match the constants of a pattern: what new variables are, under their names, and what it is joined by, under names of
    /// its own.
    fn matching(
        &mut self,
        rows: LogicalPlanBuilder,
        pattern: &Pattern,
        mut columns: Vec<Expr>,
    ) -> Result<(LogicalPlanBuilder, Keys)> {
        let (mut conditions, mut keys) = (Vec::new(), (Vec::new(), Vec::new()));
        let mut first: Vec<(usize, usize)> = Vec::new();
        for (column, term) in pattern.terms.iter().enumerate() {
            match term {
                Term::Any | Term::InTense(..) => {}
                Term::Word(word) => {
                    conditions.push(ident(name(column)).eq(self.leaves.constant(*word)));
                }
                Term::Variable(it) => match first.iter().find(|known| known.0 == *it) {
                    Some((_, same)) => {
                        conditions.push(ident(name(column)).eq(ident(name(*same))));
                    }
                    None => first.push((*it, column)),
                },
            }
        }
        for (number, column) in first {
            let here = ident(name(column));
            if self.bound.contains(&number) {
                self.keys += 1;
                let key = format!("k{}", self.keys);
                columns.push(here.alias(key.clone()));
                keys.0.push(ident(variable(number)));
                keys.1.push(ident(key));
            } else {
                columns.push(here.alias(variable(number)));
            }
        }
        let rows = match conditions.into_iter().reduce(Expr::and) {
            Some(condition) => rows.filter(condition)?,
            None => rows,
        };
        Ok((rows.project(columns)?, keys))
    }

    /// Gives a variable a value, or holds it to that.
    fn give(&mut self, number: usize, computed: Expr, may_be_null: bool) -> Result<()> {
        if self.bound.contains(&number) {
            return self.change(|it| it.filter(ident(variable(number)).eq(computed)));
        }
        let mut columns = self.columns();
        columns.push(computed.alias(variable(number)));
        self.change(|it| it.project(columns))?;
        if may_be_null {
            self.change(|it| it.filter(ident(variable(number)).is_not_null()))?;
        }
        self.bound.insert(number);
        self.is_begun = true;
        Ok(())
    }

    fn aggregate(
        &mut self,
        result: usize,
        function: Aggregate,
        over: Option<usize>,
        pattern: &Pattern,
    ) -> Result<()> {
        let rows = self.leaves.scan(pattern.relation, None)?;
        let column = over
            .and_then(|it| pattern.terms.iter().position(|term| *term == Term::Variable(it)))
            .map_or(lit(0_i64), |it| ident(name(it)));
        let (rows, keys) = self.matching(rows, pattern, vec![column.alias("over")])?;
        let over = || ident("over");
        let computed = match function {
            Aggregate::Count => count(lit(1_i64)),
            Aggregate::Min => min(over()),
            Aggregate::Max => max(over()),
            // As wide as it must be, so that a sum that is too large is none.
            Aggregate::Sum => sum(cast(over(), DataType::Decimal128(19, 0))),
        };
        self.keys += 1;
        let computed_name = format!("k{}", self.keys);
        let rows =
            rows.aggregate(keys.1.clone(), [computed.alias(computed_name.clone())])?.build()?;
        let is_alone = keys.0.is_empty();
        self.change(|plan| match is_alone {
            true => plan.cross_join(rows),
            // Of no rows there is a count and a sum, too.
            false => plan.join_with_expr_keys(rows, JoinType::Left, keys, None),
        })?;
        let found = ident(computed_name);
        let value = match function {
            Aggregate::Min | Aggregate::Max => found,
            Aggregate::Count | Aggregate::Sum => {
                let narrow = try_cast(found.clone(), DataType::Int64);
                when(found.is_null(), lit(0_i64)).otherwise(narrow)?
            }
        };
        self.give(result, value, true)
    }

    fn finished(self, rule: &Rule, how: How) -> Result<Planned> {
        let (mut columns, mut conditions) = (Vec::new(), Vec::new());
        if how == How::Concludes {
            for (at, of) in rule.terms.iter().enumerate() {
                let value = self.value(of)?;
                if may_be_null(of) {
                    conditions.push(value.clone().is_not_null());
                }
                columns.push(value.alias(format!("h{at}")));
            }
        }
        columns.extend(self.seen.iter().map(|it| ident(position(*it))));
        let plan = match conditions.into_iter().reduce(Expr::and) {
            Some(condition) => self.plan.filter(condition)?,
            None => self.plan,
        };
        Ok(Planned { plan: plan.project(columns)?.build()?, seen: self.seen })
    }
}

/// What the column of a premise's positions is called.
fn position(premise: usize) -> String {
    format!("p{premise}")
}
