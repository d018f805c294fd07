//! In which order the literals of a rule are matched: what has most bound first, conditions as soon as they can be decided.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::check::{Literal, Pattern, Rule, Term, Value};
use super::database::Database;
use super::joiner::UNSEEN;

/// Which rows of a relation a literal is matched against, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub from: usize,
    /// One past the last.
    pub to: usize,
}

/// One literal in matching order.
#[derive(Clone, Debug)]
pub enum Step<'r> {
    /// Match each row in a range.
    Scan {
        /// Which positive literal of the rule this is, from 0.
        premise: usize,
        /// What to match.
        pattern: &'r Pattern,
        /// The index over the bound columns, where some are.
        index: Option<usize>,
        /// Which rows.
        range: Range,
    },
    /// Go on if no row matches; the index over the bound columns, where some are.
    Absent(&'r Pattern, Option<usize>),
    /// Go on if the condition holds, or a variable gets its value.
    Test(&'r Literal),
    /// A variable gets its value from the matching rows.
    Aggregate(&'r Literal, Option<usize>),
}

/// Plans a rule whose positive literals, in the order of the text, see these rows; `first` is matched first.
pub(super) fn plan<'r>(
    rule: &'r Rule,
    ranges: &[Range],
    first: Option<usize>,
    database: &mut Database,
) -> Vec<Step<'r>> {
    planned(rule, ranges, first, database)
}

/// Plans a rule of which some premises are given: the others are looked up from there.
pub(super) fn plan_narrowed<'r>(
    rule: &'r Rule,
    ranges: &[Range],
    given: &[u32],
    database: &mut Database,
) -> Vec<Step<'r>> {
    let one = |(range, it): (&Range, &u32)| match *it {
        UNSEEN => *range,
        _ => Range { from: 0, to: 1 },
    };
    // A rule's matches all have the same premises given.
    let narrowed: Vec<Range> = match given.get(..ranges.len()) {
        Some(given) => ranges.iter().zip(given).map(one).collect(),
        None => ranges.to_vec(),
    };
    let mut steps = plan(rule, &narrowed, None, database);
    for step in &mut steps {
        if let Step::Scan { premise, range, .. } = step {
            *range = ranges[*premise];
        }
    }
    steps
}

/// Plans a rule without any index, `first` first where it is given: for single matches, and for engines with look-ups of their own.
pub fn plan_unindexed<'r>(rule: &'r Rule, ranges: &[Range], first: Option<usize>) -> Vec<Step<'r>> {
    planned(rule, ranges, first, &mut Blind)
}

/// What a plan asks of the rows that there are.
trait Rows {
    /// Returns the index of a relation over some columns.
    fn index(&mut self, pattern: &Pattern, columns: &[usize]) -> Option<usize>;

    /// Returns in how many ways rows of a range differ in some columns, of a few that stand for all.
    fn spread(&self, pattern: &Pattern, range: Range, columns: &[usize]) -> usize;
}

/// Nobody knows the rows.
struct Blind;

impl Rows for Blind {
    fn index(&mut self, _: &Pattern, _: &[usize]) -> Option<usize> {
        None
    }

    fn spread(&self, _: &Pattern, _: Range, _: &[usize]) -> usize {
        0
    }
}

/// How many rows stand for all.
const SAMPLE: usize = 32;

impl Rows for Database {
    fn index(&mut self, pattern: &Pattern, columns: &[usize]) -> Option<usize> {
        Some(self.tables[pattern.relation].index(columns))
    }

    fn spread(&self, pattern: &Pattern, range: Range, columns: &[usize]) -> usize {
        let (table, count) = (self.table(pattern.relation), range.to - range.from);
        let sample = SAMPLE.min(count);
        let mut keys = [0; SAMPLE];
        for (at, key) in keys[..sample].iter_mut().enumerate() {
            let row = table.row(range.from + at * count / sample);
            let mut hasher = FxHasher::default();
            columns.iter().for_each(|it| hasher.write_u64(row[*it]));
            *key = hasher.finish();
        }
        keys[..sample].sort_unstable();
        keys[..sample].chunk_by(|one, other| one == other).count()
    }
}

fn planned<'r>(
    rule: &'r Rule,
    ranges: &[Range],
    first: Option<usize>,
    rows: &mut dyn Rows,
) -> Vec<Step<'r>> {
    let mut bound = vec![false; rule.variables.len()];
    let mut waiting: Vec<(Option<usize>, &'r Literal)> = Vec::new();
    let mut premises = 0;
    for literal in &rule.body {
        let is_positive = matches!(literal, Literal::Holds(_));
        waiting.push((is_positive.then_some(premises), literal));
        premises += usize::from(is_positive);
    }

    let mut steps = Vec::new();
    while !waiting.is_empty() {
        let next = match first {
            Some(first) if steps.is_empty() => waiting.iter().position(|it| it.0 == Some(first)),
            _ => waiting.iter().position(|it| it.0.is_none() && is_ready(it.1, &waiting, &bound)),
        };
        let next = next.unwrap_or_else(|| best(&waiting, ranges, &bound, rows));
        let (premise, literal) = waiting.remove(next);
        steps.push(step(premise, literal, ranges, &bound, rows));
        bind(literal, &mut bound);
    }
    steps
}

/// Returns whether a literal that is not matched against rows of its own can be decided.
pub(super) fn is_ready(
    literal: &Literal,
    waiting: &[(Option<usize>, &Literal)],
    bound: &[bool],
) -> bool {
    match literal {
        Literal::Holds(_) => false,
        Literal::Absent(pattern) => pattern.variables().all(|it| bound[it]),
        Literal::Compare(_, left, right) => is_known(left, bound) && is_known(right, bound),
        Literal::Let(_, value) => is_known(value, bound),
        // Its keys are what stands before it in the text: wait for all of that.
        Literal::Aggregate { .. } | Literal::AggregateOf { .. } => {
            let before = waiting.iter().take_while(|it| !std::ptr::eq(it.1, literal));
            before.count() == 0
        }
        Literal::Refers(it, _) | Literal::Member(_, it) => bound[it.root],
        Literal::Lacks(it, equals) => {
            let equals = equals.iter().filter_map(Term::variable);
            bound[it.root] && it.key_variables().chain(equals).all(|it| bound[it])
        }
        Literal::If(it) | Literal::Compute(_, it) => it.uses.iter().all(|it| bound[it.1]),
    }
}

/// Returns the positive literal with most bound; of equal ones the one with the fewest rows, all in all or for what is bound.
fn best(
    waiting: &[(Option<usize>, &Literal)],
    ranges: &[Range],
    bound: &[bool],
    rows: &dyn Rows,
) -> usize {
    let cost = |(premise, literal): &(Option<usize>, &Literal)| match (premise, literal) {
        (Some(premise), Literal::Holds(pattern)) => {
            let free = pattern.variables().filter(|&it| !bound[it]).count();
            let joined = pattern.variables().any(|it| bound[it]);
            let count = ranges[*premise].to - ranges[*premise].from;
            let rank = if free == 0 && joined {
                0
            } else if joined {
                1
            } else {
                2
            };
            (rank, if rank == 2 { count } else { free })
        }
        _ => (usize::MAX, usize::MAX),
    };
    let costs: Vec<(usize, usize)> = waiting.iter().map(cost).collect();
    let least = *costs.iter().min().expect("something is waiting");
    let mut equal = (0..waiting.len()).filter(|it| costs[*it] == least);
    if least.0 != 1 || equal.clone().count() == 1 {
        return equal.next().expect("one costs least");
    }
    // Where what is bound is much the same in all rows, it leads to all of them, for each of the rows before.
    let spread = |at: &usize| match waiting[*at] {
        (Some(premise), Literal::Holds(pattern)) => {
            rows.spread(pattern, ranges[premise], &bound_columns(pattern, bound))
        }
        _ => 0,
    };
    // Of equal ones that which stands first in the text.
    equal.rev().max_by_key(spread).expect("one costs least")
}

/// Returns the columns of which it is known what stands in them.
fn bound_columns(pattern: &Pattern, bound: &[bool]) -> Vec<usize> {
    let is_bound = |term: &Term| match term {
        Term::Variable(it) | Term::InTense(_, it) => bound[*it],
        Term::Word(_) => true,
        Term::Any => false,
    };
    (0..pattern.terms.len()).filter(|&it| is_bound(&pattern.terms[it])).collect()
}

fn step<'r>(
    premise: Option<usize>,
    literal: &'r Literal,
    ranges: &[Range],
    bound: &[bool],
    rows: &mut dyn Rows,
) -> Step<'r> {
    let mut index = |pattern: &Pattern| {
        let columns = bound_columns(pattern, bound);
        if columns.is_empty() { None } else { rows.index(pattern, &columns) }
    };
    match (premise, literal) {
        (Some(premise), Literal::Holds(pattern)) => {
            Step::Scan { premise, pattern, index: index(pattern), range: ranges[premise] }
        }
        (_, Literal::Absent(pattern)) => Step::Absent(pattern, index(pattern)),
        (_, Literal::Aggregate { pattern, .. }) => Step::Aggregate(literal, index(pattern)),
        (_, other) => Step::Test(other),
    }
}

pub(super) fn bind(literal: &Literal, bound: &mut [bool]) {
    match literal {
        Literal::Holds(pattern) => pattern.variables().for_each(|it| bound[it] = true),
        Literal::Let(variable, _) => bound[*variable] = true,
        Literal::Aggregate { result, .. } => bound[*result] = true,
        Literal::Refers(reference, equals) => {
            reference
                .key_variables()
                .chain(equals.iter().filter_map(Term::variable))
                .for_each(|it| bound[it] = true);
        }
        Literal::Member(variable, reference) => {
            reference.key_variables().for_each(|it| bound[it] = true);
            bound[*variable] = true;
        }
        Literal::Compute(variable, _) => bound[*variable] = true,
        Literal::AggregateOf { result, .. } => bound[*result] = true,
        Literal::Absent(_) | Literal::Compare(..) | Literal::Lacks(..) | Literal::If(_) => {}
    }
}

pub(super) fn is_known(value: &Value, bound: &[bool]) -> bool {
    match value {
        Value::Variable(it) => bound[*it],
        Value::Word(_) => true,
        Value::Arithmetic(_, left, right) => is_known(left, bound) && is_known(right, bound),
        Value::InTense(_, it) => bound[*it],
        Value::Message(_) => true,
    }
}
