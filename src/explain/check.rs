//! Checks proofs without the engine that made them: only facts, the rules as written, and unification.
//!
//! What a proof says is absent is looked up in a model: everything that holds, from wherever it may come. Tests take
//! the compiled strata's conclusions, so that neither evaluator vouches for itself.

use std::collections::{HashMap, HashSet};

use entail_rules::{Conclusions, Facts, TEXTS, Tables, atom};

use super::proof::{By, Premise, Proof, Step, carried};
use crate::datalog::evaluate::compare;
use crate::datalog::parse;
use crate::datalog::syntax::{Aggregate, Arithmetic, Atom, Expression, Literal, Rule};
use crate::diagnostic::FileId;
use crate::error::{Error, ErrorContext};

/// Everything that holds, by relation.
#[derive(Clone, Debug, Default)]
pub struct Model {
    rows: HashMap<String, HashSet<Vec<u64>>>,
}

impl Model {
    /// Returns the facts and the compiled conclusions from them.
    pub fn new(facts: &Facts, conclusions: &Conclusions) -> Model {
        let mut model = Model::default();
        model.add(facts);
        conclusions.tables().into_iter().for_each(|it| model.add(it));
        model
    }

    fn add(&mut self, tables: &dyn Tables) {
        let mut row = Vec::new();
        tables.for_each_relation(&mut |relation, rows| {
            let known = self.rows.entry(relation.name.to_owned()).or_default();
            for index in 0..rows.count() {
                rows.write(index, &mut row);
                known.insert(row.clone());
            }
        });
    }

    fn rows(&self, relation: &str) -> impl Iterator<Item = &Vec<u64>> {
        self.rows.get(relation).into_iter().flatten()
    }
}

type Values = HashMap<String, u64>;

/// Checks that a proof follows from the facts by the shipped rules.
pub fn check(proof: &Proof, facts: &Facts, model: &Model) -> Result<(), Error> {
    let mut given = Model::default();
    given.add(facts);
    let rules: Vec<Rule> =
        TEXTS.iter().flat_map(|it| parse::parse(FileId::default(), it.source).0.rules).collect();
    let by_name: HashMap<&str, &Rule> = rules.iter().map(|it| (it.name.as_str(), it)).collect();
    if proof.steps.is_empty() {
        return Err("a proof has a step".into());
    }
    for (number, step) in proof.steps.iter().enumerate() {
        check_step(step, &proof.steps[..number], &by_name, &given, model)
            .context(format_args!("step {number}, {}{:?}", step.relation, step.row))?;
    }
    Ok(())
}

fn check_step(
    step: &Step,
    earlier: &[Step],
    rules: &HashMap<&str, &Rule>,
    given: &Model,
    model: &Model,
) -> Result<(), Error> {
    match &step.by {
        By::Given => {
            let is_given = given.rows(&step.relation).any(|it| *it == step.row);
            if is_given { Ok(()) } else { Err("it is not given".into()) }
        }
        By::Carried(target) => {
            let target = earlier.get(*target).ok_or("it rests on what comes later")?;
            let repeats = step.relation == "seen"
                && step
                    .row
                    .get(1)
                    .and_then(|it| carried(*it))
                    .is_some_and(|it| it.0 == target.relation)
                && step.row.first() == target.row.first();
            if repeats { Ok(()) } else { Err("it repeats something else".into()) }
        }
        By::Rule(application) => {
            let rule = rules.get(application.rule.as_str()).ok_or("there is no such rule")?;
            let premises: Vec<&Premise> = application.premises.iter().collect();
            check_rule(step, rule, &premises, earlier, model)
        }
    }
}

fn check_rule(
    step: &Step,
    rule: &Rule,
    premises: &[&Premise],
    earlier: &[Step],
    model: &Model,
) -> Result<(), Error> {
    if premises.len() != rule.body.len() {
        return Err("the rule has another number of premises".into());
    }
    let mut values = Values::new();
    for (literal, premise) in rule.body.iter().zip(premises) {
        check_literal(literal, premise, &mut values, earlier, model)?;
    }
    let concludes = rule.heads.iter().any(|head| {
        let row: Option<Vec<u64>> = head.terms.iter().map(|it| compute(it, &values)).collect();
        head.relation == step.relation && row.as_deref() == Some(&step.row[..])
    });
    if concludes { Ok(()) } else { Err("the rule concludes something else".into()) }
}

fn check_literal(
    literal: &Literal,
    premise: &Premise,
    values: &mut Values,
    earlier: &[Step],
    model: &Model,
) -> Result<(), Error> {
    match (literal, premise) {
        (Literal::Holds(atom), Premise::Step(number)) => {
            let step = earlier.get(*number).ok_or("it rests on what comes later")?;
            if step.relation != atom.relation || !unify(atom, &step.row, values) {
                return Err(format!("premise `{}` does not fit", atom.relation).into());
            }
            Ok(())
        }
        (Literal::Absent(atom), Premise::Absent(_)) => {
            let found = model.rows(&atom.relation).any(|it| unify(atom, it, &mut values.clone()));
            if found { Err(format!("`{}` is not absent", atom.relation).into()) } else { Ok(()) }
        }
        (Literal::Compare(comparison, left, right), Premise::Condition) => {
            let sides = compute(left, values).zip(compute(right, values));
            let holds = sides.is_some_and(|(left, right)| compare(*comparison, left, right));
            if holds { Ok(()) } else { Err("a condition does not hold".into()) }
        }
        (Literal::Let(variable, value), Premise::Condition) => {
            let word = compute(value, values).ok_or("a value cannot be computed")?;
            bind(&variable.name, word, values)
                .then_some(())
                .ok_or("a variable has two values".into())
        }
        (Literal::Aggregate { result, function, over, atom }, Premise::Condition) => {
            let word =
                aggregate(*function, over.as_ref().map(|it| it.name.as_str()), atom, values, model);
            let word = word.ok_or("an aggregate has no value")?;
            bind(&result.name, word, values).then_some(()).ok_or("a variable has two values".into())
        }
        _ => Err("a premise is of another sort".into()),
    }
}

/// Binds the variables of an atom so that it becomes the row, if that can be.
fn unify(atom: &Atom, row: &[u64], values: &mut Values) -> bool {
    atom.terms.len() == row.len()
        && atom.terms.iter().zip(row).all(|(term, &word)| match term {
            None => true,
            Some(Expression::Variable(it)) => bind(&it.name, word, values),
            Some(other) => compute(other, values) == Some(word),
        })
}

fn bind(name: &str, word: u64, values: &mut Values) -> bool {
    *values.entry(name.to_owned()).or_insert(word) == word
}

fn compute(expression: &Expression, values: &Values) -> Option<u64> {
    match expression {
        Expression::Variable(it) => values.get(&it.name).copied(),
        Expression::Number(it, _) => Some(it.cast_unsigned()),
        Expression::Constant(kind, word, _) => atom::constant(kind, word),
        // The shipped rules hold no text and no values, so that there is nothing to be compared.
        Expression::Text(..)
        | Expression::Value(..)
        | Expression::InTense(..)
        | Expression::Message(..) => None,
        Expression::Arithmetic(operator, left, right) => {
            let (left, right) =
                (compute(left, values)?.cast_signed(), compute(right, values)?.cast_signed());
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

fn aggregate(
    function: Aggregate,
    over: Option<&str>,
    atom: &Atom,
    values: &Values,
    model: &Model,
) -> Option<u64> {
    let numbers: Vec<i64> = model
        .rows(&atom.relation)
        .filter_map(|row| {
            let mut bound = values.clone();
            unify(atom, row, &mut bound).then(|| over.map_or(0, |it| bound[it].cast_signed()))
        })
        .collect();
    let result = match function {
        Aggregate::Count => i64::try_from(numbers.len()).ok(),
        Aggregate::Min => numbers.into_iter().min(),
        Aggregate::Max => numbers.into_iter().max(),
        Aggregate::Sum => numbers.into_iter().try_fold(0_i64, i64::checked_add),
    };
    result.map(i64::cast_unsigned)
}
