//! Semi-naive evaluation: stratum by stratum, round by round, until no round adds a row.
//!
//! All rules of a stratum run in the same rounds, and a round sees only rows of earlier rounds. So the derivation that
//! a row keeps – the first that is found – is one of least height within its stratum.

use super::check::{
    Aggregate, Arithmetic, Comparison, Literal, Pattern, Program, Rule, Term, Value,
};
use super::database::{Database, Table};
use super::plan::{self, Range, Step};

/// Adds everything that the rules conclude from the rows in the database.
pub fn evaluate(program: &Program, database: &mut Database) {
    for stratum in &program.strata {
        let mut is_growing = vec![false; program.relations.len()];
        for &rule in stratum {
            is_growing[program.rules[rule].head] = true;
        }
        run(program, stratum, &is_growing, database);
    }
}

/// Runs the rounds of one stratum.
fn run(program: &Program, stratum: &[usize], is_growing: &[bool], database: &mut Database) {
    let sizes = |database: &Database| database.tables.iter().map(Table::len).collect::<Vec<_>>();
    let mut before = vec![0; program.relations.len()];
    let mut now = sizes(database);
    for round in 0.. {
        for &number in stratum {
            let rule = &program.rules[number];
            if round == 0 {
                let ranges = ranges(rule, |it, _| Range { from: 0, to: now[it] });
                apply(rule, number, &ranges, None, database);
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
                apply(rule, number, &ranges, Some(first), database);
            }
        }
        let after = sizes(database);
        if after == now {
            return;
        }
        before = now;
        now = after;
    }
}

fn positive(rule: &Rule) -> impl Iterator<Item = (usize, &Pattern)> {
    let patterns = rule.body.iter().filter_map(|it| match it {
        Literal::Holds(pattern) => Some(pattern),
        _ => None,
    });
    patterns.enumerate()
}

fn ranges(rule: &Rule, range: impl Fn(usize, usize) -> Range) -> Vec<Range> {
    positive(rule).map(|(premise, pattern)| range(pattern.relation, premise)).collect()
}

/// Adds what one rule concludes from the given ranges of its premises.
fn apply(
    rule: &Rule,
    number: usize,
    ranges: &[Range],
    first: Option<usize>,
    database: &mut Database,
) {
    if ranges.iter().any(|it| it.from == it.to) {
        return;
    }
    let steps = plan::plan(rule, ranges, first, database);
    let mut matcher = Matcher {
        rule,
        steps: &steps,
        database,
        values: vec![None; rule.variables.len()],
        premises: vec![0; ranges.len()],
        head: Vec::new(),
        rows: Vec::new(),
        found: Vec::new(),
        met: 0,
    };
    matcher.matches(0);
    let met = matcher.met;
    let (rows, found, arity) = (matcher.rows, matcher.found, rule.terms.len());
    for at in 0..rows.len() {
        let premises = &found[at * ranges.len()..(at + 1) * ranges.len()];
        database.derive(rule.head, &rows[at][..arity], number, premises);
    }
    database.met[number] += met;
}

/// Matches the steps of one rule, depth first. Rules are short, so the recursion is shallow.
struct Matcher<'a> {
    rule: &'a Rule,
    steps: &'a [Step],
    database: &'a Database,
    values: Vec<Option<u64>>,
    premises: Vec<u32>,
    head: Vec<u64>,
    rows: Vec<Vec<u64>>,
    found: Vec<u32>,
    met: u64,
}

impl Matcher<'_> {
    fn matches(&mut self, at: usize) {
        let steps = self.steps;
        match steps.get(at) {
            None => self.conclude(),
            Some(Step::Scan { premise, pattern, index, range }) => {
                self.scan(at, *premise, pattern, *index, *range)
            }
            Some(Step::Absent(pattern, index)) => {
                if !self.rows(pattern, *index).any(|_| true) {
                    self.matches(at + 1);
                }
            }
            Some(Step::Test(literal)) => self.test(at, literal),
            Some(Step::Aggregate(literal, index)) => self.aggregate(at, literal, *index),
        }
    }

    fn conclude(&mut self) {
        self.head.clear();
        for term in &self.rule.terms {
            match compute(term, &self.values) {
                Some(word) => self.head.push(word),
                None => return,
            }
        }
        self.met += 1;
        if self.database.tables[self.rule.head].position(&self.head).is_none() {
            self.rows.push(self.head.clone());
            self.found.extend_from_slice(&self.premises);
        }
    }

    fn scan(
        &mut self,
        at: usize,
        premise: usize,
        pattern: &Pattern,
        index: Option<usize>,
        range: Range,
    ) {
        let database = self.database;
        let table = &database.tables[pattern.relation];
        match index {
            Some(index) => {
                let key: Vec<u64> = key(pattern, &self.values).collect();
                for position in table.chain(index, key.into_iter()) {
                    if position < range.from {
                        break;
                    }
                    if position < range.to {
                        self.try_row(at, premise, pattern, position);
                    }
                }
            }
            None => {
                for position in range.from..range.to {
                    self.try_row(at, premise, pattern, position);
                }
            }
        }
    }

    /// Goes on with the variables that this row gives, if it matches, and takes them back.
    fn try_row(&mut self, at: usize, premise: usize, pattern: &Pattern, position: usize) {
        let database = self.database;
        let row = database.tables[pattern.relation].row(position);
        let mut given = 0_u64;
        let mut fits = true;
        for (column, (term, &word)) in pattern.terms.iter().zip(row).enumerate() {
            fits = match term {
                Term::Any => true,
                Term::Word(it) => *it == word,
                Term::Variable(it) => match self.values[*it] {
                    Some(known) => known == word,
                    None => {
                        self.values[*it] = Some(word);
                        given |= 1 << column;
                        true
                    }
                },
            };
            if !fits {
                break;
            }
        }
        if fits {
            self.premises[premise] = position as u32;
            self.matches(at + 1);
        }
        for (column, term) in pattern.terms.iter().enumerate() {
            if let (Term::Variable(it), true) = (term, given & 1 << column != 0) {
                self.values[*it] = None;
            }
        }
    }

    /// Iterates over the rows that match what is bound in a pattern.
    fn rows<'b>(
        &'b self,
        pattern: &'b Pattern,
        index: Option<usize>,
    ) -> impl Iterator<Item = &'b [u64]> {
        let table = &self.database.tables[pattern.relation];
        let positions: Box<dyn Iterator<Item = usize>> = match index {
            Some(index) => Box::new(table.chain(index, key(pattern, &self.values))),
            None => Box::new(0..table.len()),
        };
        positions.map(|it| table.row(it)).filter(move |row| fits(pattern, row, &self.values))
    }

    fn test(&mut self, at: usize, literal: &Literal) {
        match literal {
            Literal::Compare(comparison, left, right) => {
                let sides = (compute(left, &self.values), compute(right, &self.values));
                if let (Some(left), Some(right)) = sides
                    && compare(*comparison, left, right)
                {
                    self.matches(at + 1);
                }
            }
            Literal::Let(variable, value) => {
                let Some(word) = compute(value, &self.values) else { return };
                self.with(at, *variable, word);
            }
            Literal::Holds(_) | Literal::Absent(_) | Literal::Aggregate { .. } => {}
        }
    }

    fn aggregate(&mut self, at: usize, literal: &Literal, index: Option<usize>) {
        let Literal::Aggregate { result, function, over, pattern } = literal else { return };
        let rows = self.rows(pattern, index);
        let Some(word) = aggregate(*function, *over, pattern, rows) else { return };
        self.with(at, *result, word);
    }

    /// Goes on with a variable's value, unless it has another one.
    fn with(&mut self, at: usize, variable: usize, word: u64) {
        match self.values[variable] {
            Some(known) if known != word => {}
            Some(_) => self.matches(at + 1),
            None => {
                self.values[variable] = Some(word);
                self.matches(at + 1);
                self.values[variable] = None;
            }
        }
    }
}

/// The words in the bound columns of a pattern.
fn key<'a>(pattern: &'a Pattern, values: &'a [Option<u64>]) -> impl Iterator<Item = u64> + 'a {
    pattern.terms.iter().filter_map(|it| match it {
        Term::Variable(it) => values[*it],
        Term::Word(it) => Some(*it),
        Term::Any => None,
    })
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
    })
}

/// Computes a value; nothing where a variable has none, or a number does not fit 64 bits.
pub fn compute(value: &Value, values: &[Option<u64>]) -> Option<u64> {
    match value {
        Value::Variable(it) => values[*it],
        Value::Word(it) => Some(*it),
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
    let mut numbers = rows.map(|row| column.map_or(0, |it| row[it].cast_signed()));
    let result = match function {
        Aggregate::Count => i64::try_from(numbers.count()).ok(),
        Aggregate::Min => numbers.min(),
        Aggregate::Max => numbers.max(),
        Aggregate::Sum => numbers.try_fold(0_i64, i64::checked_add),
    };
    result.map(i64::cast_unsigned)
}
