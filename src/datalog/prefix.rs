//! Rules that conclude how far the body of another one is met, where some of its variables are settled.

use super::check::{Literal, Pattern, Program, Relation, Rule, Term, Value};
use super::plan;

/// How far one rule comes.
#[derive(Clone, Debug)]
pub struct Prefixes {
    /// The rule.
    pub rule: usize,
    /// For each number of parts of the body, none included, the relation of what variables are where these are met.
    pub relations: Vec<usize>,
    /// The variables that its columns are, by number.
    variables: Vec<Vec<usize>>,
}

impl Prefixes {
    /// Returns what the variables of the rule are in a row of the relation of so many parts.
    pub fn words(&self, program: &Program, met: usize, row: &[u64]) -> Vec<Option<u64>> {
        let mut words = vec![None; program.rules[self.rule].variables.len()];
        for (variable, word) in self.variables[met].iter().zip(row) {
            words[*variable] = Some(*word);
        }
        words
    }
}

impl Program {
    /// Adds rules that conclude how far a rule comes where its conclusion is of this shape. Nothing where it never is.
    pub fn add_prefixes(&mut self, rule: usize, wanted: &[Option<u64>]) -> Option<Prefixes> {
        let whole = self.rules[rule].clone();
        let mut settled: Vec<(usize, u64)> = Vec::new();
        for (term, word) in whole.terms.iter().zip(wanted) {
            let Some(word) = *word else { continue };
            match term {
                Value::Variable(it) if settled.iter().all(|known| known.0 != *it) => {
                    settled.push((*it, word));
                }
                Value::Variable(it) if settled.contains(&(*it, word)) => {}
                Value::Variable(_) => return None,
                Value::Word(it) if *it != word => return None,
                _ => {}
            }
        }
        let asked = self.add_further(format!("asked of rule {rule}"), &whole, &settled);
        let terms: Vec<Term> = settled.iter().map(|it| Term::Variable(it.0)).collect();
        self.rules.push(Rule {
            head: asked,
            terms: settled.iter().map(|it| Value::Word(it.1)).collect(),
            body: Vec::new(),
            places: Vec::new(),
            ..whole.clone()
        });
        let (mut relations, mut variables) = (Vec::new(), Vec::new());
        for met in 0..=whole.body.len() {
            let mut body = vec![Literal::Holds(Pattern { relation: asked, terms: terms.clone() })];
            body.extend_from_slice(&whole.body[..met]);
            let mut bound = vec![false; whole.variables.len()];
            body.iter().for_each(|it| plan::bind(it, &mut bound));
            // What stands among the rows of an aggregate alone has no value behind it.
            let columns: Vec<usize> = (0..bound.len()).filter(|it| bound[*it]).collect();
            let placed: Vec<(usize, u64)> = columns.iter().map(|it| (*it, 0)).collect();
            let relation = self.add_further(format!("{met} met of rule {rule}"), &whole, &placed);
            let mut places = vec![whole.span];
            places.extend(whole.places.iter().take(met));
            self.rules.push(Rule {
                head: relation,
                terms: columns.iter().map(|it| Value::Variable(*it)).collect(),
                body,
                places,
                ..whole.clone()
            });
            relations.push(relation);
            variables.push(columns);
        }
        self.restratify();
        Some(Prefixes { rule, relations, variables })
    }

    fn add_further(&mut self, name: String, rule: &Rule, columns: &[(usize, u64)]) -> usize {
        // One rule may be asked for different things.
        let name = format!("{name}, {}", self.relations.len());
        let kind = |it: &usize| rule.kinds.get(*it).cloned().unwrap_or_default();
        self.add_relation(Relation {
            name,
            columns: columns.iter().map(|it| kind(&it.0)).collect(),
            doc: Vec::new(),
            is_derived: true,
            is_given: false,
            is_closed: true,
            is_needed: true,
        })
    }
}
