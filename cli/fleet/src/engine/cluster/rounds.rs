//! What is concluded on a cluster, relation after relation. What is not concluded from itself becomes part of the plans of others, without
//! a round of its own; what is, takes a round for each step. (Plans of several steps at once have had Ballista 55.0 wait for ever.)

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use entail::datalog::check::{Literal, Pattern, Rule};
use entail::datalog::evaluate::positive;
use entail::datalog::joiner::How;
use entail::datalog::plan::{Range, plan_unindexed};
use entail::diagnostic::Diagnostics;
use parquet::arrow::ArrowWriter;
use rustc_hash::FxHashSet;

use super::super::relational::{Leaves, plan};
use super::expressible::Expressible;
use super::tables::{rows_of, schema};
use super::{Asking, Rows};
use crate::lake::EXCHANGE;

/// The rows of relations, as plans.
type Known = BTreeMap<usize, Arc<LogicalPlan>>;

impl Asking<'_> {
    /// Returns the rows of every relation that is needed.
    pub(super) fn all(&self, said: &Expressible) -> Result<BTreeMap<usize, Rows>, Diagnostics> {
        let failed = |why| self.failed(&why);
        let mut known = Known::new();
        for relation in &said.read {
            known.insert(*relation, Arc::new(self.given(*relation).map_err(failed)?));
        }
        let exchange = Exchange::new(self);
        let mut rows = BTreeMap::new();
        for group in groups(self, said) {
            let rules: Vec<&Rule> =
                self.program.rules.iter().filter(|it| group.contains(&it.head)).collect();
            let is_recursive = rules.iter().any(|it| of_group(it, &group).next().is_some());
            if is_recursive {
                for (relation, found) in exchange.rounds(&group, &rules, &mut known)? {
                    if said.needed.contains(&relation) {
                        rows.insert(relation, found);
                    }
                }
                continue;
            }
            for relation in group {
                let found = self.step(relation, &rules, &known, None).map_err(failed)?;
                known.insert(relation, Arc::new(found));
                if said.needed.contains(&relation) {
                    rows.insert(relation, self.rows((*known[&relation]).clone())?);
                }
            }
        }
        Ok(rows)
    }

    /// What the rules of a relation conclude in one step.
    ///
    /// - `new`: relations of which a rule must see a new row, with these; nothing where rules see what there is.
    fn step(
        &self,
        relation: usize,
        rules: &[&Rule],
        known: &Known,
        new: Option<&Known>,
    ) -> Result<LogicalPlan> {
        let mut all: Option<LogicalPlanBuilder> = None;
        let width = self.program.relations[relation].columns.len();
        for rule in rules.iter().filter(|it| it.head == relation) {
            let firsts: Vec<Option<usize>> = match new {
                None => vec![None],
                Some(new) => positive(rule)
                    .filter(|it| new.contains_key(&it.1.relation))
                    .map(|it| Some(it.0))
                    .collect(),
            };
            for first in firsts {
                let found = self.concluded(rule, known, first.zip(new))?;
                all = Some(match all {
                    None => LogicalPlanBuilder::from(found),
                    Some(before) => before.union(found)?,
                });
            }
        }
        match all {
            Some(all) => all.distinct()?.build(),
            None => self.files(Vec::new(), schema(width))?.build(),
        }
    }

    fn concluded(
        &self,
        rule: &Rule,
        known: &Known,
        new: Option<(usize, &Known)>,
    ) -> Result<LogicalPlan> {
        let count = |it: usize| rows_of(&self.program.relations[it].name, self.catalogue).max(1);
        let ranges: Vec<Range> =
            positive(rule).map(|it| Range { from: 0, to: count(it.1.relation) }).collect();
        let steps = plan_unindexed(rule, &ranges, new.map(|it| it.0));
        let leaves = Leaf { asking: self, known, new };
        let planned = plan(rule, &steps, How::Concludes, &leaves)?;
        let width = rule.terms.len();
        let Some(planned) = planned else { return self.files(Vec::new(), schema(width))?.build() };
        let columns = planned.plan.schema().columns();
        let named = columns.into_iter().enumerate();
        let named = named.map(|(at, it)| Expr::Column(it).alias(super::super::columns::name(at)));
        LogicalPlanBuilder::from(planned.plan).project(named.collect::<Vec<_>>())?.build()
    }
}

/// Relations in the order in which they can be concluded; those that rest on each other together.
fn groups(asking: &Asking<'_>, said: &Expressible) -> Vec<BTreeSet<usize>> {
    let below = |relation: usize| -> BTreeSet<usize> {
        let rules = asking.program.rules.iter().filter(|it| it.head == relation);
        let used = rules.flat_map(|it| &it.body).filter_map(Literal::relation);
        used.filter(|it| said.relations.contains(it)).collect()
    };
    let mut left = said.relations.clone();
    let mut found = Vec::new();
    while !left.is_empty() {
        // What rests on the fewest that are left rests on itself alone, or on those that rest on it.
        let closed = |start: usize| {
            let (mut all, mut open) = (BTreeSet::from([start]), vec![start]);
            while let Some(it) = open.pop() {
                open.extend(
                    below(it).into_iter().filter(|it| left.contains(it) && all.insert(*it)),
                );
            }
            all
        };
        let Some(group) = left.iter().map(|it| closed(*it)).min_by_key(BTreeSet::len) else {
            break;
        };
        left.retain(|it| !group.contains(it));
        found.push(group);
    }
    found
}

fn of_group<'r>(
    rule: &'r Rule,
    group: &'r BTreeSet<usize>,
) -> impl Iterator<Item = (usize, &'r Pattern)> {
    positive(rule).filter(|it| group.contains(&it.1.relation))
}

/// The rows that a rule sees, as plans.
struct Leaf<'a> {
    asking: &'a Asking<'a>,
    known: &'a Known,
    new: Option<(usize, &'a Known)>,
}

impl Leaves for Leaf<'_> {
    fn scan(&self, relation: usize, seen: Option<(usize, Range)>) -> Result<LogicalPlanBuilder> {
        let is_new = |first: usize| seen.is_some_and(|it| it.0 == first);
        let rows = match self.new {
            Some((first, new)) if is_new(first) => new.get(&relation),
            _ => self.known.get(&relation),
        };
        match rows {
            Some(rows) => Ok(LogicalPlanBuilder::new_from_arc(rows.clone())),
            None => {
                let width = self.asking.program.relations[relation].columns.len();
                self.asking.files(Vec::new(), schema(width))
            }
        }
    }

    fn has_positions(&self) -> bool {
        false
    }

    fn has_any(&self, _: &Pattern) -> bool {
        // Patterns without variables are evaluated here.
        false
    }

    fn constant(&self, word: u64) -> Expr {
        lit(self.asking.program.values.as_text(word).unwrap_or_default())
    }
}

/// Files by which one round hands its rows to the next: beside the lake, where executors find them, and gone at the end.
struct Exchange<'a> {
    asking: &'a Asking<'a>,
    name: String,
    files: parking_lot::Mutex<Vec<String>>,
}

impl<'a> Exchange<'a> {
    fn new(asking: &'a Asking<'a>) -> Exchange<'a> {
        let name = format!("{EXCHANGE}/{}", uuid::Uuid::new_v4().simple());
        Exchange { asking, name, files: parking_lot::Mutex::default() }
    }

    /// Concludes relations that rest on each other, until a round finds nothing new.
    fn rounds(
        &self,
        group: &BTreeSet<usize>,
        rules: &[&Rule],
        known: &mut Known,
    ) -> Result<BTreeMap<usize, Rows>, Diagnostics> {
        let asking = self.asking;
        let failed = |why| asking.failed(&why);
        // A rule that rests on the group twice sees what is old beside what is new: its steps are made one by one.
        let begun: Vec<&Rule> =
            rules.iter().copied().filter(|it| of_group(it, group).next().is_none()).collect();
        let mut found: BTreeMap<usize, Rows> = BTreeMap::new();
        let mut seen: BTreeMap<usize, FxHashSet<Vec<String>>> = BTreeMap::new();
        let mut files: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let mut new = Known::new();
        for round in 0.. {
            let mut fresh = Known::new();
            for relation in group {
                let plan = match round {
                    0 => asking.step(*relation, &begun, known, None).map_err(failed)?,
                    _ => asking.step(*relation, rules, known, Some(&new)).map_err(failed)?,
                };
                let mut rows = asking.rows(plan)?;
                let before = seen.entry(*relation).or_default();
                rows.retain(|it| before.insert(it.clone()));
                if rows.is_empty() {
                    continue;
                }
                let file = self.write(&rows)?;
                files.entry(*relation).or_default().push(file.clone());
                found.entry(*relation).or_default().extend(rows);
                fresh.insert(*relation, Arc::new(self.read(*relation, vec![file])?));
            }
            if fresh.is_empty() {
                break;
            }
            for relation in fresh.keys() {
                let all = files.get(relation).cloned().unwrap_or_default();
                known.insert(*relation, Arc::new(self.read(*relation, all)?));
            }
            new = fresh;
        }
        Ok(found)
    }

    fn read(&self, relation: usize, files: Vec<String>) -> Result<LogicalPlan, Diagnostics> {
        let schema = schema(self.asking.program.relations[relation].columns.len());
        let files = files.iter().map(|it| self.asking.address(it)).collect();
        let rows = self.asking.files(files, schema).and_then(LogicalPlanBuilder::build);
        rows.map_err(|why| self.asking.failed(&why))
    }

    fn write(&self, rows: &Rows) -> Result<String, Diagnostics> {
        let width = rows.first().map_or(0, Vec::len);
        let column = |at: usize| {
            Arc::new(rows.iter().map(|it| Some(it[at].as_str())).collect::<StringArray>())
                as ArrayRef
        };
        let mut bytes = Vec::new();
        let mut written = || -> Result<()> {
            let batch = RecordBatch::try_new(schema(width), (0..width).map(column).collect())?;
            let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None)?;
            writer.write(&batch)?;
            writer.close()?;
            Ok(())
        };
        written().map_err(|why| self.asking.failed(&why))?;
        let mut files = self.files.lock();
        let file = format!("{}/{}.parquet", self.name, files.len());
        self.asking.lake.write(&file, bytes.into())?;
        files.push(file.clone());
        Ok(file)
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        for file in self.files.lock().iter() {
            // What stays is removed by the next index.
            drop(self.asking.lake.remove(file));
        }
    }
}
