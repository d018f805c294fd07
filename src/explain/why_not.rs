//! Why something does not hold: for each rule that could conclude it, the part of its body that failed.
//!
//! The bodies are tried in the order in which they can be decided, not in that of the text; of several ways through a
//! body the one that comes furthest is told.

use serde_json::{Value as Json, json};

use super::proof::{Known, Shape};
use super::{Leaves, render, sentence};
use crate::datalog::check::{Literal, Pattern, Rule, Term, Value};
use crate::datalog::evaluate::{compare, compute, fits};

/// How many rows are tried for one rule before the best way so far is taken.
const PATIENCE: usize = 200_000;

/// How many failed premises are followed, each at most once.
const MOST: usize = 12;

/// Why a row does not hold.
#[derive(Clone, Debug)]
pub struct WhyNot {
    /// What does not hold.
    pub goal: Shape,
    /// Whether only facts decide it.
    pub is_given: bool,
    /// The rules that could conclude it, those that came furthest first.
    pub attempts: Vec<Attempt>,
}

/// How far one rule came.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The rule.
    pub rule: String,
    /// What the rule says, with the names that are settled.
    application: super::proof::Application,
    /// What of its body holds.
    pub held: Vec<Shape>,
    /// What failed.
    pub failed: Failure,
}

/// The part of a body that failed.
#[derive(Clone, Debug)]
pub enum Failure {
    /// No row like this is there; why, where that is followed.
    Missing(Shape, Option<Box<WhyNot>>),
    /// A row like this is there and should not be.
    Present(Shape),
    /// A condition does not hold.
    Condition,
}

/// A way by which something would hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The rule that would conclude it.
    pub rule: String,
    /// What the rule says.
    pub sentence: String,
    /// What is in the way.
    pub failed: String,
    /// Where that stands, where it does.
    pub place: Option<String>,
}

impl Known {
    /// Explains why a row does not hold. Nothing if it does, or if there is no such relation.
    pub fn why_not(&self, relation: &str, row: &[u64]) -> Option<WhyNot> {
        let number = self.program.relation(relation)?;
        let words: Vec<Option<u64>> = row.iter().copied().map(Some).collect();
        if row.len() != self.program.relations[number].columns.len() {
            return None;
        }
        self.shape_why_not(number, &words, &mut Vec::new())
    }

    /// Explains why no row of this shape holds; nothing if one does.
    fn shape_why_not(
        &self,
        relation: usize,
        words: &[Option<u64>],
        followed: &mut Vec<(usize, Vec<Option<u64>>)>,
    ) -> Option<WhyNot> {
        followed.push((relation, words.to_vec()));
        let declared = &self.program.relations[relation];
        let agrees = |row: &[u64]| {
            words.iter().zip(row).all(|(word, it)| word.is_none_or(|word| word == *it))
        };
        if self.database.table(relation).rows().any(agrees) {
            return None;
        }
        let mut attempts: Vec<Attempt> = self
            .program
            .rules
            .iter()
            .filter(|it| it.head == relation)
            .filter_map(|rule| self.attempt(rule, words))
            .collect();
        attempts.sort_by_key(|it| std::cmp::Reverse(it.held.len()));
        for attempt in &mut attempts {
            self.follow(attempt, followed);
        }
        Some(WhyNot {
            goal: Shape {
                relation: declared.name.clone(),
                kinds: declared.columns.clone(),
                words: words.to_vec(),
            },
            is_given: !declared.is_derived,
            attempts,
        })
    }

    /// Explains why the premise that failed does not hold, unless that is said elsewhere or would go too far.
    fn follow(&self, attempt: &mut Attempt, followed: &mut Vec<(usize, Vec<Option<u64>>)>) {
        let Failure::Missing(shape, deeper) = &mut attempt.failed else { return };
        let Some(relation) = self.program.relation(&shape.relation) else { return };
        let place = (relation, shape.words.clone());
        if self.program.relations[relation].is_derived
            && followed.len() < MOST
            && !followed.contains(&place)
        {
            *deeper = self.shape_why_not(relation, &shape.words, followed).map(Box::new);
        }
    }

    /// Tries one rule; nothing if its conclusion can never be of this shape.
    fn attempt(&self, rule: &Rule, words: &[Option<u64>]) -> Option<Attempt> {
        let mut values = vec![None; rule.variables.len()];
        for (term, word) in rule.terms.iter().zip(words) {
            match (term, word) {
                (Value::Variable(it), Some(word))
                    if values[*it].is_none_or(|known| known == *word) =>
                {
                    values[*it] = Some(*word);
                }
                (Value::Variable(_), Some(_)) => return None,
                (Value::Word(it), Some(word)) if it != word => return None,
                _ => {}
            }
        }
        let mut search = Search { known: self, rule, best: None, patience: PATIENCE };
        search.go_on(&mut values, &mut Vec::new());
        let (literals, values) = search.best?;
        let (failed, held) = literals.split_last()?;
        let shape = |it: usize| match &rule.body[it] {
            Literal::Holds(pattern) | Literal::Absent(pattern) => {
                Some(self.shape(pattern, &values))
            }
            _ => None,
        };
        Some(Attempt {
            rule: rule.name.clone(),
            application: super::proof::Application {
                rule: rule.name.clone(),
                sentence: rule.sentence.clone(),
                bindings: self.bindings(rule, &values),
                premises: Vec::new(),
            },
            held: held
                .iter()
                .filter(|it| matches!(rule.body[**it], Literal::Holds(_)))
                .filter_map(|&it| shape(it))
                .collect(),
            failed: match &rule.body[*failed] {
                Literal::Holds(pattern) => Failure::Missing(self.shape(pattern, &values), None),
                Literal::Absent(pattern) => Failure::Present(self.shape(pattern, &values)),
                _ => Failure::Condition,
            },
        })
    }
}

/// Looks for the way through a rule's body that comes furthest.
struct Search<'a> {
    known: &'a Known,
    rule: &'a Rule,
    /// The literals in the order tried, the last failed, and what variables stood for.
    best: Option<(Vec<usize>, Vec<Option<u64>>)>,
    patience: usize,
}

impl Search<'_> {
    /// Tries the literals that are left. Rules are short, so the recursion is shallow.
    fn go_on(&mut self, values: &mut Vec<Option<u64>>, tried: &mut Vec<usize>) {
        let Some(next) = self.next(values, tried) else { return };
        tried.push(next);
        let (rule, known) = (self.rule, self.known);
        let table = |pattern: &Pattern| known.database.table(pattern.relation);
        match &rule.body[next] {
            Literal::Holds(pattern) => self.try_rows(pattern, values, tried),
            Literal::Absent(pattern) => {
                if table(pattern).rows().any(|it| fits(pattern, it, values)) {
                    self.note(values, tried);
                } else {
                    self.go_on(values, tried);
                }
            }
            Literal::Compare(comparison, left, right) => {
                let sides = compute(left, values).zip(compute(right, values));
                if sides.is_some_and(|(left, right)| compare(*comparison, left, right)) {
                    self.go_on(values, tried);
                } else {
                    self.note(values, tried);
                }
            }
            Literal::Let(variable, value) => match compute(value, values) {
                Some(word) => {
                    let before = values[*variable].replace(word);
                    self.go_on(values, tried);
                    values[*variable] = before;
                }
                None => self.note(values, tried),
            },
            // Aggregates; the strata speak of no values.
            _ => self.note(values, tried),
        }
        tried.pop();
    }

    fn try_rows(
        &mut self,
        pattern: &Pattern,
        values: &mut Vec<Option<u64>>,
        tried: &mut Vec<usize>,
    ) {
        let known = self.known;
        let table = known.database.table(pattern.relation);
        let whole: Option<Vec<u64>> = known.shape(pattern, values).words.into_iter().collect();
        let positions = match whole {
            Some(row) => table.position(&row).map_or(0..0, |it| it..it + 1),
            None => 0..table.len(),
        };
        let mut found = false;
        for position in positions {
            let row = table.row(position);
            if self.patience == 0 {
                break;
            }
            self.patience -= 1;
            if !fits(pattern, row, values) {
                continue;
            }
            found = true;
            let before = values.clone();
            for (term, word) in pattern.terms.iter().zip(row) {
                if let Term::Variable(it) = term {
                    values[*it] = Some(*word);
                }
            }
            self.go_on(values, tried);
            *values = before;
        }
        if !found {
            self.note(values, tried);
        }
    }

    /// Remembers a way that failed, if none came further.
    fn note(&mut self, values: &[Option<u64>], tried: &[usize]) {
        if self.best.as_ref().is_none_or(|(best, _)| best.len() < tried.len()) {
            self.best = Some((tried.to_vec(), values.to_vec()));
        }
    }

    /// Returns the literal to try next: a condition that can be decided, else the one with most bound.
    fn next(&self, values: &[Option<u64>], tried: &[usize]) -> Option<usize> {
        let free = |pattern: &Pattern| {
            pattern
                .terms
                .iter()
                .filter(|it| matches!(it, Term::Variable(it) if values[*it].is_none()))
                .count()
        };
        let rest = (0..self.rule.body.len()).filter(|it| !tried.contains(it));
        let cost = |literal: &Literal| match literal {
            Literal::Compare(_, left, right) => {
                if compute(left, values).is_some() && compute(right, values).is_some() {
                    0
                } else {
                    90
                }
            }
            Literal::Let(_, value) => {
                if compute(value, values).is_some() {
                    0
                } else {
                    90
                }
            }
            Literal::Absent(pattern) => {
                if free(pattern) == 0 {
                    1
                } else {
                    90
                }
            }
            Literal::Holds(pattern) => {
                let any = pattern
                    .terms
                    .iter()
                    .any(|it| matches!(it, Term::Variable(it) if values[*it].is_some()));
                if any || free(pattern) == 0 { 2 + free(pattern) } else { 40 }
            }
            _ => 95,
        };
        rest.min_by_key(|&it| cost(&self.rule.body[it]))
    }
}

impl WhyNot {
    /// Returns the ways by which it would hold, with what is in the way of each: a way that is the only one to another is
    /// followed to that.
    pub fn alternatives(&self, leaves: &dyn Leaves) -> Vec<Alternative> {
        let mut at = self;
        while let [only] = at.attempts.as_slice()
            && let Failure::Missing(_, Some(deeper)) = &only.failed
            && !deeper.attempts.is_empty()
        {
            at = deeper;
        }
        at.attempts.iter().map(|it| it.furthest().alternative(leaves)).collect()
    }

    /// Returns it as JSON.
    pub fn to_json(&self, leaves: &dyn Leaves) -> Json {
        let attempts: Vec<Json> = self.attempts.iter().map(|it| it.to_json(leaves)).collect();
        json!({
            "goal": render::shape_to_json(&self.goal, leaves),
            "sentence": sentence::of_shape(&self.goal, leaves),
            "attempts": attempts,
        })
    }
}

impl Attempt {
    /// The last on the way, as long as there is but one.
    fn furthest(&self) -> &Attempt {
        match &self.failed {
            Failure::Missing(_, Some(deeper)) if deeper.attempts.len() == 1 => {
                deeper.attempts[0].furthest()
            }
            _ => self,
        }
    }

    fn alternative(&self, leaves: &dyn Leaves) -> Alternative {
        let failed = match &self.failed {
            Failure::Missing(shape, _) => format!("missing: {}", sentence::of_shape(shape, leaves)),
            Failure::Present(shape) => format!("but {}", sentence::of_shape(shape, leaves)),
            Failure::Condition => "but a condition fails".to_owned(),
        };
        Alternative {
            rule: self.rule.clone(),
            sentence: sentence::of_rule_in_full(&self.application, leaves),
            failed,
            place: self.against(leaves),
        }
    }

    /// Where the opposite of what is missing stands.
    fn against(&self, leaves: &dyn Leaves) -> Option<String> {
        match &self.failed {
            Failure::Missing(shape, None) => leaves.against(&shape.relation, &shape.words),
            _ => None,
        }
    }

    fn to_json(&self, leaves: &dyn Leaves) -> Json {
        let held: Vec<Json> =
            self.held.iter().map(|it| render::shape_to_json(it, leaves)).collect();
        let mut value = json!({
            "rule": self.rule,
            "because": sentence::of_rule_in_full(&self.application, leaves),
            "held": held,
        });
        match &self.failed {
            Failure::Missing(shape, deeper) => {
                value["missing"] = render::shape_to_json(shape, leaves);
                if let Some(place) = self.against(leaves) {
                    value["against"] = Json::String(place);
                }
                if let Some(deeper) = deeper {
                    value["why_not"] = deeper.to_json(leaves);
                }
            }
            Failure::Present(shape) => value["present"] = render::shape_to_json(shape, leaves),
            Failure::Condition => value["condition"] = Json::Bool(false),
        }
        value
    }
}
