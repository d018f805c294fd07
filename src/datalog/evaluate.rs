//! Semi-naive evaluation: stratum by stratum, round by round, until no round adds a row.
//!
//! All rules of a stratum run in the same rounds, and a round sees only rows of earlier rounds. So the derivation that
//! a row keeps – the first that is found – is one of least height within its stratum.

use super::aggregate::of_numbers;
use super::check::{
    Aggregate, Arithmetic, Comparison, Literal, Pattern, Program, Rule, Term, Value,
};
use super::database::{Database, Table};
use super::domain::Domain;
use super::joiner::{Application, Broken, How, Joiner, Stopped};
use super::joins;
use super::limits::{Exceeded, Limits, Spent};
use super::matcher::{Failure, Found, Matcher};
use super::plan::{self, Range};
use crate::diagnostic::Diagnostic;

/// Adds everything that the rules conclude from the rows in the database. The rules speak of no values.
pub fn evaluate(program: &Program, database: &mut Database) {
    // Without bounds, nothing goes beyond them.
    let _ = evaluate_over(program, database, None, &Limits::NONE);
}

/// Adds everything that the rules conclude from the rows in the database and the values of a domain. Returns the expressions
/// that failed on the way to a conclusion, one for each rule.
///
/// # Errors
///
/// If that takes more than the limits allow: what has been concluded until then is not all.
pub fn evaluate_over(
    program: &Program,
    database: &mut Database,
    domain: Option<&dyn Domain>,
    limits: &Limits,
) -> Result<Vec<Failure>, Stopped> {
    evaluate_joining(program, database, domain, limits, None)
}

/// The same, with an engine that joins whole columns.
///
/// # Errors
///
/// If that takes more than the limits allow, or the engine fails: what has been concluded until then is not all.
pub fn evaluate_joining(
    program: &Program,
    database: &mut Database,
    domain: Option<&dyn Domain>,
    limits: &Limits,
    joiner: Option<&mut dyn Joiner>,
) -> Result<Vec<Failure>, Stopped> {
    let (with, serves) = joins::indexed(program);
    database.make_room(&with);
    let spent = Spent::new(limits);
    let mut run = Run { program: &with, domain, spent, failures: Vec::new(), joiner, failed: None };
    for stratum in &with.strata {
        let mut is_growing = vec![false; with.relations.len()];
        for &rule in stratum {
            is_growing[with.rules[rule].head] = true;
        }
        run.stratum(stratum, &is_growing, database);
    }
    if let Some(problem) = run.failed {
        return Err(Stopped::Failed(problem));
    }
    match run.spent.exceeded {
        Some(exceeded) => {
            let further = exceeded.rule.checked_sub(program.rules.len());
            let rule = further.map_or(exceeded.rule, |it| serves[it]);
            Err(Stopped::Exceeded(Exceeded { rule, ..exceeded }))
        }
        None => Ok(run.failures),
    }
}

/// Returns the rule that concluded a row, and what its variables were: found again from the rows that it rests on.
pub fn binding(
    program: &Program,
    database: &Database,
    domain: Option<&dyn Domain>,
    relation: usize,
    position: usize,
) -> Option<(usize, Vec<Option<u64>>)> {
    let (rule, premises) = premises(program, database, relation, position)?;
    let ranges: Vec<Range> = premises.iter().map(|it| Range { from: it.1, to: it.1 + 1 }).collect();
    let steps = plan::plan_unindexed(&program.rules[rule], &ranges, None);
    let matcher = Matcher::new(program, rule, &steps, ranges.len(), database, domain);
    let row = database.table(relation).row(position);
    Some((rule, matcher.binding(row, &mut Spent::new(&Limits::default()))?))
}

/// Returns the rule that concluded a row, and the rows that it rests on, by relation and position. One that was possible when the rule
/// met it, and is certain by now, is named where it is certain.
pub fn premises(
    program: &Program,
    database: &Database,
    relation: usize,
    position: usize,
) -> Option<(usize, Vec<(usize, usize)>)> {
    let count = |rule: usize| positive(&program.rules[rule]).count();
    let (rule, premises) = database.derivation(relation, position, count)?;
    let standing = |(pattern, position): (&Pattern, &u32)| {
        let (table, position) = (database.table(pattern.relation), *position as usize);
        let now = table.is_replaced(position).then(|| table.position(table.row(position)));
        (pattern.relation, now.flatten().unwrap_or(position))
    };
    let patterns = positive(&program.rules[rule]).map(|it| it.1);
    Some((rule, patterns.zip(premises).map(standing).collect()))
}

struct Run<'a, 'j> {
    program: &'a Program,
    domain: Option<&'a dyn Domain>,
    spent: Spent,
    failures: Vec<Failure>,
    joiner: Option<&'j mut dyn Joiner>,
    /// Why the joiner can go on no longer.
    failed: Option<Box<Diagnostic>>,
}

impl Run<'_, '_> {
    /// Runs the rounds of one stratum.
    fn stratum(&mut self, stratum: &[usize], is_growing: &[bool], database: &mut Database) {
        let program = self.program;
        let sizes =
            |database: &Database| database.tables.iter().map(Table::len).collect::<Vec<_>>();
        let mut before = vec![0; program.relations.len()];
        let mut now = sizes(database);
        for round in 0.. {
            for &number in stratum {
                let rule = &program.rules[number];
                if round == 0 {
                    let ranges = ranges(rule, |it, _| Range { from: 0, to: now[it] });
                    self.apply(number, &ranges, None, database);
                    continue;
                }
                let premises = positive(rule).filter(|(_, it)| {
                    is_growing[it.relation] && before[it.relation] < now[it.relation]
                });
                for (first, _) in premises {
                    // Earlier literals see what is old, this one what is new, later ones both: each match is made once.
                    let ranges = ranges(rule, |it, premise| match premise.cmp(&first) {
                        std::cmp::Ordering::Less => Range { from: 0, to: before[it] },
                        std::cmp::Ordering::Equal => Range { from: before[it], to: now[it] },
                        std::cmp::Ordering::Greater => Range { from: 0, to: now[it] },
                    });
                    self.apply(number, &ranges, Some(first), database);
                }
            }
            let after = sizes(database);
            if after == now || self.spent.exceeded.is_some() || self.failed.is_some() {
                return;
            }
            before = now;
            now = after;
        }
    }

    /// Adds what one rule concludes from the given ranges of its premises.
    fn apply(
        &mut self,
        number: usize,
        ranges: &[Range],
        first: Option<usize>,
        database: &mut Database,
    ) {
        if ranges.iter().any(|it| it.from == it.to) {
            return;
        }
        let rule = &self.program.rules[number];
        let found = match self.joined(number, ranges, first, database) {
            Some(found) => found,
            None => {
                let steps = plan::plan(rule, ranges, first, database);
                let mut matcher =
                    Matcher::new(self.program, number, &steps, ranges.len(), database, self.domain);
                matcher.run(&mut self.spent);
                matcher.into_found()
            }
        };
        let arity = rule.terms.len();
        for (at, is_certain) in found.certain.iter().enumerate() {
            let premises = &found.premises[at * ranges.len()..(at + 1) * ranges.len()];
            let row = &found.rows[at * arity..(at + 1) * arity];
            database.derive(rule.head, row, number, premises, *is_certain);
        }
        database.met[number] += found.met;
        if let Some(failure) = found.failure
            && !self.failures.iter().any(|it| it.rule == failure.rule)
        {
            self.failures.push(failure);
        }
    }
}

impl Run<'_, '_> {
    /// What the joiner finds that one rule concludes; nothing where it leaves the rule to the matcher.
    fn joined(
        &mut self,
        number: usize,
        ranges: &[Range],
        first: Option<usize>,
        database: &mut Database,
    ) -> Option<Found> {
        let joiner = self.joiner.as_mut().filter(|_| self.failed.is_none())?;
        let (program, time) = (self.program, self.spent.time_left());
        let asked = Application { program, rule: number, ranges, first, database, time };
        let how = joiner.how(&asked);
        if how == How::Declines {
            return None;
        }
        let rule = &program.rules[number];
        let (last, spent) = (rule.body.len().saturating_sub(1), &mut self.spent);
        let mut found = Found::default();
        let table = database.table(rule.head);
        let ended = joiner.join(&asked, how, &mut |row, premises| {
            found.met += u64::from(how == How::Concludes);
            if how == How::Narrows || table.position(row).is_none() {
                found.rows.extend_from_slice(row);
                found.premises.extend_from_slice(premises);
                found.certain.push(true);
                if how == How::Concludes && !spent.row(number, last) {
                    return false;
                }
            }
            spent.steps(1, number, last)
        });
        match ended {
            Ok(()) => {}
            Err(Broken::Late) => drop(self.spent.end("time", number, last)),
            Err(Broken::Failed(problem)) => self.failed = Some(problem),
        }
        found.in_order(rule.terms.len(), ranges.len(), how == How::Concludes);
        if how == How::Concludes || self.failed.is_some() {
            return Some(found);
        }
        let steps = plan::plan_narrowed(rule, ranges, &found.premises, database);
        let mut matcher =
            Matcher::new(self.program, number, &steps, ranges.len(), database, self.domain);
        for premises in found.premises.chunks(ranges.len()) {
            matcher.run_from(premises, &mut self.spent);
        }
        Some(matcher.into_found())
    }
}

/// Returns the patterns of the positive literals of a rule, each with its number among them.
pub fn positive(rule: &Rule) -> impl Iterator<Item = (usize, &Pattern)> {
    let patterns = rule.body.iter().filter_map(|it| match it {
        Literal::Holds(pattern) => Some(pattern),
        _ => None,
    });
    patterns.enumerate()
}

fn ranges(rule: &Rule, range: impl Fn(usize, usize) -> Range) -> Vec<Range> {
    positive(rule).map(|(premise, pattern)| range(pattern.relation, premise)).collect()
}

/// Returns whether a row matches a pattern, given what variables are bound to; the same unbound variable twice matches only equal words.
pub fn fits(pattern: &Pattern, row: &[u64], values: &[Option<u64>]) -> bool {
    pattern.terms.iter().zip(row).enumerate().all(|(column, (term, word))| match term {
        Term::Any => true,
        Term::Word(it) => it == word,
        Term::Variable(it) => match values[*it] {
            Some(known) => known == *word,
            None => {
                let first = pattern.terms.iter().position(|other| other == term);
                first.is_none_or(|first| first >= column || row[first] == *word)
            }
        },
        // The strata have no tenses.
        Term::InTense(..) => false,
    })
}

/// Computes a value; nothing where a variable has none, or a number does not fit 64 bits.
pub fn compute(value: &Value, values: &[Option<u64>]) -> Option<u64> {
    match value {
        Value::Variable(it) => values[*it],
        Value::Word(it) => Some(*it),
        Value::InTense(tense, it) => Some(tense.of_node(values[*it]?)),
        // Only a matcher knows what values are called.
        Value::Message(_) => None,
        Value::Arithmetic(operator, left, right) => {
            let left = compute(left, values)?.cast_signed();
            let right = compute(right, values)?.cast_signed();
            let result = match operator {
                Arithmetic::Add => left.checked_add(right),
                Arithmetic::Subtract => left.checked_sub(right),
                Arithmetic::Multiply => left.checked_mul(right),
                Arithmetic::Divide => left.checked_div(right),
                Arithmetic::Remainder => left.checked_rem(right),
            };
            result.map(i64::cast_unsigned)
        }
    }
}

/// Compares two words as signed numbers.
pub fn compare(comparison: Comparison, left: u64, right: u64) -> bool {
    let (left, right) = (left.cast_signed(), right.cast_signed());
    match comparison {
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        Comparison::Less => left < right,
        Comparison::LessOrEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterOrEqual => left >= right,
    }
}

/// Computes an aggregate over rows; `min` and `max` of no rows are nothing.
pub fn aggregate<'a>(
    function: Aggregate,
    over: Option<usize>,
    pattern: &Pattern,
    rows: impl Iterator<Item = &'a [u64]>,
) -> Option<u64> {
    let column =
        over.and_then(|it| pattern.terms.iter().position(|term| *term == Term::Variable(it)));
    of_numbers(function, rows.map(|row| column.map_or(0, |it| row[it].cast_signed())))
}
