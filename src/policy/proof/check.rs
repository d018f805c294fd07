//! Checks proofs without the matcher that made them: rows are looked up, references are walked anew, expressions are evaluated with
//! the variables that the proof names. What is said to be absent is looked for in everything that was concluded.
//!
//! Equality, walking, aggregates and texts are written a second time here, more plainly, so that neither way vouches for itself.
//! The evaluator of expressions is the only one there is.

use super::{Application, By, Premise, Proof, Step};
use crate::datalog::check::{Literal, Part, Pattern, Reference, Rule, Term, Value as Word};
use crate::datalog::{Database, Domain, Program, Tense, is_as_written, values};
use crate::error::{Error, ErrorContext};
use crate::value::{Type, Value, convert};

mod counted;
mod walked;

/// Checks that a proof follows by the rules from what was told.
pub fn check(
    proof: &Proof,
    program: &Program,
    database: &Database,
    domain: &dyn Domain,
) -> Result<(), Error> {
    let checker = Checker { program, database, domain };
    if proof.steps.is_empty() {
        return Err("a proof has a step".into());
    }
    for (number, step) in proof.steps.iter().enumerate() {
        checker
            .step(step, &proof.steps[..number])
            .context(format_args!("step {number}, {}", program.shown_name(step.relation)))?;
    }
    Ok(())
}

/// Returns what a reference of a rule leads to.
pub(super) fn reached(
    reference: &Reference,
    (program, it): (&Program, &Application),
    database: &Database,
    domain: &dyn Domain,
) -> Vec<Value> {
    let checker = Checker { program, database, domain };
    let rule = &program.rules[it.rule];
    let used = Use { rule, words: &it.words, given: Vec::new() };
    let found = checker.walked(reference, &used).unwrap_or_default();
    found.into_iter().map(|it| it.value).collect()
}

struct Checker<'a> {
    program: &'a Program,
    database: &'a Database,
    domain: &'a dyn Domain,
}

/// One use of a rule, while its body is gone through.
struct Use<'a> {
    rule: &'a Rule,
    words: &'a [Option<u64>],
    /// The variables that have got their value already: the first place where one stands gives it, all others compare.
    given: Vec<bool>,
}

/// Whether something holds for certain; it may hold otherwise.
type Certain = bool;

impl Checker<'_> {
    fn step(&self, step: &Step, earlier: &[Step]) -> Result<(), Error> {
        let table = self.database.table(step.relation);
        let position = table.position(&step.row).ok_or("there is no such row")?;
        if step.is_certain && !table.is_certain(position) {
            return Err("the row is only possible".into());
        }
        match &step.by {
            By::Told => match self.program.rules.iter().any(|it| it.head == step.relation) {
                true => Err("a row that rules conclude is not told".into()),
                false => Ok(()),
            },
            By::Rule(application) => self.application(step, application, earlier),
        }
    }

    fn application(&self, step: &Step, by: &Application, earlier: &[Step]) -> Result<(), Error> {
        let rule = self.program.rules.get(by.rule).ok_or("there is no such rule")?;
        if rule.head != step.relation || rule.body.len() != by.premises.len() {
            return Err(format!("`{}` concludes something else", rule.name).into());
        }
        let given = vec![false; rule.variables.len()];
        let mut used = Use { rule, words: &by.words, given };
        let mut is_certain = true;
        for (at, (literal, premise)) in rule.body.iter().zip(&by.premises).enumerate() {
            let found = match (literal, premise) {
                (Literal::Holds(pattern), Premise::Step(number)) => {
                    let premise = earlier.get(*number).ok_or("it rests on what comes later")?;
                    self.holds(pattern, premise, &mut used)
                }
                (Literal::Absent(pattern), Premise::Absent) => self.is_absent(pattern, &used),
                (Literal::Holds(_) | Literal::Absent(_), _) => None,
                (_, Premise::Condition) => self.condition(literal, &mut used),
                _ => None,
            };
            let certain = found.ok_or_else(|| format!("premise {at} of `{}` fails", rule.name))?;
            is_certain &= certain;
        }
        let row: Option<Vec<u64>> = rule.terms.iter().map(|it| self.concluded(it, &used)).collect();
        let row = row.ok_or("a column of the conclusion has no value")?;
        if !row.iter().map(|it| values::key(*it)).eq(step.row.iter().map(|it| values::key(*it))) {
            return Err(format!("`{}` concludes another row", rule.name).into());
        }
        match step.is_certain && !is_certain {
            true => Err(format!("what `{}` rests on is only possible", rule.name).into()),
            false => Ok(()),
        }
    }

    /// Returns whether two words are the same; nothing where they are not.
    fn same(&self, one: u64, other: u64) -> Option<Certain> {
        if !values::is_value(one) || !values::is_value(other) {
            return (one == other).then_some(true);
        }
        let known = self.domain.values();
        if one == other && values::is_one(one) {
            return Some(true);
        }
        if values::is_loose(one) || values::is_loose(other) {
            // A text may become a bool or a number: then nobody knows whether they are equal.
            return known.same(one, other).map_or(Some(false), |it| it.then_some(true));
        }
        let (one, other) = (known.value(one)?, known.value(other)?);
        self.equal(&one, &other)
    }

    fn equal(&self, one: &Value, other: &Value) -> Option<Certain> {
        let (one, other) = (one.to_plain(), other.to_plain());
        match (one.is_wholly_known(), other.is_wholly_known()) {
            (true, true) => (*one == *other).then_some(true),
            _ => crate::value::unknown::known_equality(&one, &other)
                .map_or(Some(false), |it| it.then_some(true)),
        }
    }

    /// What a term is compared with; the first time, a variable takes what is there.
    fn meets(&self, term: &Term, word: u64, used: &mut Use<'_>) -> Option<Certain> {
        let (variable, word) = match term {
            Term::Any => return Some(true),
            Term::Word(it) => return self.same(*it, word),
            Term::Variable(it) => (*it, word),
            Term::InTense(tense, it) => {
                let (found, node) = Tense::split(word);
                if found != *tense {
                    return None;
                }
                (*it, node)
            }
        };
        let is_first = !std::mem::replace(&mut used.given[variable], true);
        let own = used.words[variable]?;
        let is_taken = is_first && values::is_open(own) && values::is_open(word);
        if is_taken { Some(true) } else { self.same(own, word) }
    }

    fn holds(&self, pattern: &Pattern, premise: &Step, used: &mut Use<'_>) -> Option<Certain> {
        if premise.relation != pattern.relation {
            return None;
        }
        let mut is_certain = premise.is_certain;
        for (term, word) in pattern.terms.iter().zip(&premise.row) {
            is_certain &= self.meets(term, *word, used)?;
        }
        Some(is_certain)
    }

    /// Whether a row matches, with the variables that have a value: for certain, perhaps, or not.
    fn matches(&self, pattern: &Pattern, position: usize, used: &Use<'_>) -> Option<Certain> {
        let table = self.database.table(pattern.relation);
        let row = table.row(position);
        let mut is_certain = table.is_certain(position);
        for (column, (term, word)) in pattern.terms.iter().zip(row).enumerate() {
            is_certain &= match term {
                Term::Any => true,
                Term::Word(it) => self.same(*it, *word)?,
                Term::Variable(it) | Term::InTense(_, it) => {
                    let node = match term {
                        Term::InTense(tense, _) if Tense::split(*word).0 != *tense => return None,
                        Term::InTense(..) => Tense::split(*word).1,
                        _ => *word,
                    };
                    // One that stands among the rows alone agrees with itself.
                    let first = || pattern.terms.iter().position(|other| other == term);
                    let other = first().filter(|it| *it < column).map(|it| row[it]);
                    match used.words[*it].or(other) {
                        Some(known) => self.same(known, node)?,
                        None => true,
                    }
                }
            };
        }
        Some(is_certain)
    }

    fn is_absent(&self, pattern: &Pattern, used: &Use<'_>) -> Option<Certain> {
        let table = self.database.table(pattern.relation);
        let found = table.positions().filter_map(|it| self.matches(pattern, it, used));
        not_there(found)
    }

    fn condition(&self, literal: &Literal, used: &mut Use<'_>) -> Option<Certain> {
        match literal {
            Literal::Refers(reference, equals) => {
                let found = self.walked(reference, used)?;
                let found = found.into_iter().filter_map(|it| match equals {
                    None => Some(it.is_certain),
                    Some(term) => {
                        let given = used.given.clone();
                        let word = self.word_of(reference, &it.value, used);
                        let met = self.meets(term, word, used);
                        used.given = given;
                        Some(met? & it.is_certain)
                    }
                });
                let found = found.collect::<Vec<_>>().into_iter().max();
                self.give(equals.as_ref(), used);
                found
            }
            Literal::Lacks(reference, equals) => {
                let found = self.walked(reference, used)?;
                let mut met = Vec::new();
                for it in found {
                    let word = self.word_of(reference, &it.value, used);
                    let is_same = match equals {
                        None => Some(true),
                        Some(Term::Variable(at)) => self.same(used.words[*at]?, word),
                        Some(term) => self.meets(term, word, used),
                    };
                    met.extend(is_same.map(|same| same & it.is_certain));
                }
                not_there(met.into_iter())
            }
            Literal::Member(variable, reference) => {
                let found = self.walked(reference, used)?;
                let elements = found.iter().flat_map(walked::elements);
                let found: Vec<_> = elements.collect();
                let given = used.given.clone();
                let met = found.into_iter().filter_map(|it| {
                    used.given.clone_from(&given);
                    let word = self.word_of(reference, &it.value, used);
                    let met = self.meets(&Term::Variable(*variable), word, used)?;
                    Some(met & it.is_certain)
                });
                met.max()
            }
            Literal::If(formula) => {
                let (value, problems) = formula.value(used.words, &used.rule.kinds, self.domain);
                let value = convert(&value, Type::BOOL).ok().filter(|it| !it.is_null());
                match value.and_then(|it| it.as_bool()) {
                    _ if problems.has_errors() => Some(false),
                    Some(truth) => truth.then_some(true),
                    None => Some(false),
                }
            }
            Literal::Compute(variable, formula) => {
                let (value, problems) = formula.value(used.words, &used.rule.kinds, self.domain);
                let word = self.domain.values().word(&value);
                let met = self.meets(&Term::Variable(*variable), word, used)?;
                Some(met & !problems.has_errors())
            }
            Literal::Aggregate { result, function, over, pattern } => {
                let counted = self.counted_rows(pattern, *over, used);
                self.aggregated(*function, &counted, *result, used)
            }
            Literal::AggregateOf { result, function, over, reference } => {
                let counted = self.counted_values(reference, *over, used)?;
                self.aggregated(*function, &counted, *result, used)
            }
            // Rules over values have expressions for that.
            Literal::Compare(..) | Literal::Let(..) | Literal::Holds(_) | Literal::Absent(_) => {
                None
            }
        }
    }

    /// The word of what a reference leads to.
    fn word_of(&self, reference: &Reference, value: &Value, used: &Use<'_>) -> u64 {
        let root = used.words[reference.root];
        match root.is_some_and(|it| is_as_written(it, reference.tense, self.domain)) {
            true => self.domain.values().word_as_written(value),
            false => self.domain.values().word(value),
        }
    }

    fn give(&self, term: Option<&Term>, used: &mut Use<'_>) {
        if let Some(Term::Variable(it) | Term::InTense(_, it)) = term {
            used.given[*it] = true;
        }
    }

    fn concluded(&self, term: &Word, used: &Use<'_>) -> Option<u64> {
        match term {
            Word::Variable(it) => used.words[*it],
            Word::Word(it) => Some(*it),
            Word::InTense(tense, it) => Some(tense.of_node(used.words[*it]?)),
            Word::Message(parts) => {
                let parts: Option<Vec<String>> =
                    parts.iter().map(|it| self.part(it, used)).collect();
                Some(self.domain.values().text(&parts?.concat()))
            }
            Word::Arithmetic(..) => None,
        }
    }

    fn part(&self, part: &Part, used: &Use<'_>) -> Option<String> {
        let known = self.domain.values();
        Some(match part {
            Part::Text(it) => it.clone(),
            Part::Variable(it) => {
                let word = used.words[*it]?;
                match values::is_value(word) {
                    true => known.show(word),
                    false => self.domain.show(&used.rule.kinds[*it], word).to_string(),
                }
            }
            Part::Reference(it) => {
                let shown = self.walked(it, used)?;
                let shown = shown.iter().map(|it| known.show(known.word(&it.value)));
                shown.collect::<Vec<_>>().join(", ")
            }
        })
    }

    /// The value that a reference begins at.
    fn root(&self, reference: &Reference, used: &Use<'_>) -> Option<Option<Value>> {
        let word = used.words[reference.root]?;
        Some(match values::is_value(word) {
            true => self.domain.values().value(word),
            false => self.domain.value_of(reference.tense.of_node(word)),
        })
    }
}

/// An absence: certain where nothing may be there, none where something is for certain.
fn not_there(found: impl Iterator<Item = Certain>) -> Option<Certain> {
    match found.max() {
        None => Some(true),
        Some(false) => Some(false),
        Some(true) => None,
    }
}
