//! Proofs, taken from what the interpreter wrote down beside every row.

use std::collections::HashMap;

use entail_rules::{Atom, Facts, Seen};

use crate::datalog::Database;
use crate::datalog::check::{Literal, Program, Rule, Term, Value};
use crate::datalog::evaluate::{aggregate, compute, fits};
use crate::reason::{Derived, Engine, shipped};

/// Why something holds. Premises stand before what rests on them; the last step is what was asked.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The steps; at least one.
    pub steps: Vec<Step>,
}

/// One row that holds.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its relation.
    pub relation: String,
    /// The kinds of its columns.
    pub kinds: Vec<String>,
    /// Its words.
    pub row: Vec<u64>,
    /// What it rests on.
    pub by: By,
}

/// What a step rests on.
#[derive(Clone, Debug)]
pub enum By {
    /// It is given.
    Given,
    /// It says that an earlier batch concluded this step.
    Carried(usize),
    /// A rule concludes it.
    Rule(Application),
}

/// One use of a rule.
#[derive(Clone, Debug)]
pub struct Application {
    /// The rule's name.
    pub rule: String,
    /// What the rule says, with its variables in backticks; in parentheses where that adds nothing for a reader.
    pub sentence: String,
    /// What its variables stand for.
    pub bindings: Vec<Binding>,
    /// One for each part of its body.
    pub premises: Vec<Premise>,
}

/// What a variable stands for.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The variable.
    pub name: String,
    /// The kind of the column where it stands.
    pub kind: String,
    /// Its value.
    pub word: u64,
}

/// One part of a rule's body, as it was met.
#[derive(Clone, Debug)]
pub enum Premise {
    /// This earlier step holds.
    Step(usize),
    /// No row like this is there.
    Absent(Shape),
    /// A condition or computation.
    Condition,
}

/// Rows that agree in some columns.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The relation.
    pub relation: String,
    /// The kinds of its columns.
    pub kinds: Vec<String>,
    /// The words that are settled.
    pub words: Vec<Option<u64>>,
}

/// Everything that follows from some facts, with derivations.
#[derive(Clone, Debug)]
pub struct Known {
    pub(super) program: Program,
    pub(super) database: Database,
}

/// The relation that a word of `seen` repeats, and whether its row is the node alone.
pub fn carried(word: u64) -> Option<(&'static str, bool)> {
    Some(match Seen::from_word(word)? {
        Seen::Changing => ("changing", true),
        Seen::Triggering => ("triggering", true),
        Seen::Unsettled => ("unsettled", true),
        Seen::Failed => ("failed", true),
        Seen::Blocked => ("blocked", false),
        Seen::HalfConfigured => ("half_configured", true),
    })
}

impl From<Derived> for Known {
    fn from(derived: Derived) -> Known {
        Known { program: derived.program, database: derived.database }
    }
}

impl Known {
    /// Concludes what these relations rest on, and them.
    pub fn about(engine: &dyn Engine, facts: &Facts, relations: &[&str]) -> Known {
        let shipped = shipped::program();
        let mut goals: Vec<usize> =
            relations.iter().filter_map(|it| shipped.relation(it)).collect();
        let program = shipped.for_goals(&goals);
        if shipped.relation("seen").is_some_and(|seen| program.rests_on(seen)) {
            let words = Seen::ALL.iter().filter_map(|it| carried(it.word()));
            goals.extend(words.filter_map(|it| shipped.relation(it.0)));
        }
        Known::from(engine.derive(shipped.for_goals(&goals), &[facts]))
    }

    /// Concludes everything.
    pub fn all(engine: &dyn Engine, facts: &Facts) -> Known {
        Known::from(engine.derive(shipped::program().clone(), &[facts]))
    }

    /// Returns the rows of a relation, unsorted.
    pub fn rows(&self, relation: &str) -> impl Iterator<Item = &[u64]> {
        let number = self.program.relation(relation).into_iter();
        number.flat_map(|it| self.database.table(it).rows())
    }

    /// Explains a row that holds; nothing if it does not.
    pub fn why(&self, relation: &str, row: &[u64]) -> Option<Proof> {
        let relation = self.program.relation(relation)?;
        let position = self.database.table(relation).position(row)?;
        // Facts that no walk made may say that things were seen in a circle; then what was seen is taken as given.
        let followed = self.builder(true).build((relation, position));
        followed.or_else(|| self.builder(false).build((relation, position)))
    }

    fn builder(&self, follows: bool) -> Builder<'_> {
        Builder { known: self, follows, numbers: HashMap::new(), steps: Vec::new() }
    }
}

/// A row, by its relation and position.
type Place = (usize, usize);

/// Collects steps, premises first.
struct Builder<'a> {
    known: &'a Known,
    /// Whether what an earlier batch concluded is explained too.
    follows: bool,
    /// The number of each step that is done; none while what it rests on is collected.
    numbers: HashMap<Place, Option<usize>>,
    steps: Vec<Step>,
}

impl Builder<'_> {
    /// Returns nothing where a conclusion would rest on itself, by way of what was seen.
    fn build(mut self, goal: Place) -> Option<Proof> {
        let mut waiting = vec![goal];
        while let Some(&place) = waiting.last() {
            match self.numbers.get(&place) {
                Some(Some(_)) => {
                    waiting.pop();
                }
                Some(None) => {
                    let by = self.by(place);
                    let (relation, position) = place;
                    let declared = &self.known.program.relations[relation];
                    self.numbers.insert(place, Some(self.steps.len()));
                    self.steps.push(Step {
                        relation: declared.name.clone(),
                        kinds: declared.columns.clone(),
                        row: self.known.database.table(relation).row(position).to_vec(),
                        by,
                    });
                    waiting.pop();
                }
                None => {
                    self.numbers.insert(place, None);
                    let below = self.rests_on(place);
                    if below.iter().any(|it| self.numbers.get(it) == Some(&None)) {
                        return None;
                    }
                    let new = below.into_iter().rev().filter(|it| !self.numbers.contains_key(it));
                    waiting.extend(new);
                }
            }
        }
        Some(Proof { steps: self.steps })
    }

    /// Returns the rule that concluded a row, and the rows that it matched.
    fn derivation(&self, (relation, position): Place) -> Option<(&Rule, Vec<Place>)> {
        let rules = &self.known.program.rules;
        let positive =
            |rule: &Rule| rule.body.iter().filter(|it| matches!(it, Literal::Holds(_))).count();
        let (rule, premises) =
            self.known.database.derivation(relation, position, |it| positive(&rules[it]))?;
        let relations = rules[rule].body.iter().filter_map(|it| match it {
            Literal::Holds(pattern) => Some(pattern.relation),
            _ => None,
        });
        Some((&rules[rule], relations.zip(premises.iter().map(|&it| it as usize)).collect()))
    }

    fn rests_on(&self, place: Place) -> Vec<Place> {
        match self.derivation(place) {
            Some((_, premises)) => premises,
            None => self.carried(place).into_iter().collect(),
        }
    }

    /// Returns the conclusion that a row of `seen` repeats, if it is among what is known.
    fn carried(&self, (relation, position): Place) -> Option<Place> {
        let program = &self.known.program;
        if !self.follows || program.relations[relation].name != "seen" {
            return None;
        }
        let row = self.known.database.table(relation).row(position);
        let (name, is_alone) = carried(row[1])?;
        let target = program.relation(name)?;
        let table = self.known.database.table(target);
        let position = if is_alone {
            table.position(&row[..1])
        } else {
            (0..table.len()).find(|&it| table.row(it)[0] == row[0])
        };
        position.map(|it| (target, it))
    }

    fn by(&self, place: Place) -> By {
        let Some((rule, places)) = self.derivation(place) else {
            let target =
                self.carried(place).and_then(|it| self.numbers.get(&it).copied().flatten());
            return target.map_or(By::Given, By::Carried);
        };
        let row = self.known.database.table(place.0).row(place.1);
        let values = self.known.values(rule, row, &places);
        let mut positive = places.iter();
        let premises = rule.body.iter().map(|literal| match literal {
            Literal::Holds(_) => {
                let place = positive.next().expect("each positive literal matched a row");
                Premise::Step(self.numbers[place].expect("premises are collected first"))
            }
            Literal::Absent(pattern) => Premise::Absent(self.known.shape(pattern, &values)),
            _ => Premise::Condition,
        });
        By::Rule(Application {
            rule: rule.name.clone(),
            sentence: rule.sentence.clone(),
            premises: premises.collect(),
            bindings: self.known.bindings(rule, &values),
        })
    }
}

impl Known {
    /// Returns what the variables of a rule stood for when it concluded `row` from the rows at `places`.
    fn values(&self, rule: &Rule, row: &[u64], places: &[Place]) -> Vec<Option<u64>> {
        let mut values = vec![None; rule.variables.len()];
        for (term, word) in rule.terms.iter().zip(row) {
            if let Value::Variable(it) = term {
                values[*it] = Some(*word);
            }
        }
        let mut positive = places.iter();
        for literal in &rule.body {
            match literal {
                Literal::Holds(pattern) => {
                    let Some(&(relation, position)) = positive.next() else { continue };
                    for (term, word) in
                        pattern.terms.iter().zip(self.database.table(relation).row(position))
                    {
                        if let Term::Variable(it) = term {
                            values[*it] = Some(*word);
                        }
                    }
                }
                Literal::Let(variable, value) => values[*variable] = compute(value, &values),
                Literal::Aggregate { result, function, over, pattern } => {
                    let rows = self
                        .database
                        .table(pattern.relation)
                        .rows()
                        .filter(|it| fits(pattern, it, &values));
                    values[*result] = aggregate(*function, *over, pattern, rows);
                }
                // The strata speak of no values.
                _ => {}
            }
        }
        values
    }

    /// Returns a pattern with what its variables stand for.
    pub(super) fn shape(
        &self,
        pattern: &crate::datalog::check::Pattern,
        values: &[Option<u64>],
    ) -> Shape {
        let relation = &self.program.relations[pattern.relation];
        let words = pattern.terms.iter().map(|it| match it {
            Term::Variable(it) => values[*it],
            Term::Word(it) => Some(*it),
            Term::InTense(..) | Term::Any => None,
        });
        Shape {
            relation: relation.name.clone(),
            kinds: relation.columns.clone(),
            words: words.collect(),
        }
    }

    /// Returns what the variables of a rule stand for, with the kinds of the columns where they stand.
    pub(super) fn bindings(&self, rule: &Rule, values: &[Option<u64>]) -> Vec<Binding> {
        let mut kinds = vec![""; values.len()];
        let head = &self.program.relations[rule.head].columns;
        for (term, kind) in rule.terms.iter().zip(head) {
            if let Value::Variable(it) = term {
                kinds[*it] = kind;
            }
        }
        for pattern in rule.body.iter().filter_map(|it| match it {
            Literal::Holds(it) | Literal::Absent(it) | Literal::Aggregate { pattern: it, .. } => {
                Some(it)
            }
            _ => None,
        }) {
            for (term, kind) in
                pattern.terms.iter().zip(&self.program.relations[pattern.relation].columns)
            {
                if let Term::Variable(it) = term {
                    kinds[*it] = kind;
                }
            }
        }
        let named = rule.variables.iter().zip(kinds).zip(values);
        named
            .filter_map(|((name, kind), word)| {
                Some(Binding { name: name.clone(), kind: kind.to_owned(), word: (*word)? })
            })
            .collect()
    }
}
