//! Why something holds, as data: rows, the rules that concluded them, what their variables were, and what they rest on.
//!
//! A proof is a list of steps in which premises stand before what rests on them, each once; the last one is what was asked. It
//! ends at rows that are told of the documents, and at rows of the planner, which has proofs of its own.

use std::collections::HashMap;

use crate::datalog::check::Literal;
use crate::datalog::evaluate::{binding, premises};
use crate::datalog::{Database, Domain, Program};
use crate::explain::render;

use super::model::Model;

pub mod check;
mod document;
pub(super) mod lines;
mod elsewhere;
mod secret;

/// Why something holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The steps; at least one.
    pub steps: Vec<Step>,
}

/// One row that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of its relation.
    pub relation: usize,
    /// Its words.
    pub row: Vec<u64>,
    /// Whether it holds whatever turns out of what is not known yet.
    pub is_certain: bool,
    /// What it rests on.
    pub by: By,
}

/// What a step rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// It is told of the documents, or the planner concluded it.
    Told,
    /// A rule concludes it.
    Rule(Application),
}

/// One use of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// The number of the rule.
    pub rule: usize,
    /// What its variables were, by number.
    pub words: Vec<Option<u64>>,
    /// One for each part of its body, in its order; none where nobody wants to look further back.
    pub premises: Vec<Premise>,
}

/// One part of a rule's body, as it was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Premise {
    /// This earlier step holds.
    Step(usize),
    /// No row like this is there.
    Absent,
    /// A reference, an expression or an aggregate.
    Condition,
}

/// One line of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// How many steps it stands behind the verdict.
    pub depth: usize,
    /// What holds.
    pub text: String,
    /// Where it stands: `main.tf:3,9`; empty where that is nowhere.
    pub place: String,
}

/// Explains a conclusion of the planner: lines, each with how many steps it stands behind the conclusion.
pub type Core<'a> = dyn Fn(&str, &[u64]) -> Vec<render::Line> + 'a;

/// Explains rows of a program that hold, at most `deepest` steps back.
pub struct Explainer<'a> {
    /// The rules.
    pub program: &'a Program,
    /// What they concluded.
    pub database: &'a Database,
    /// What they are about.
    pub model: &'a Model<'a>,
    /// Explains a conclusion of the planner; nothing where it is named and no more.
    pub core: &'a Core<'a>,
    /// How many steps back to go; [`usize::MAX`] for all there are, each with its place.
    pub deepest: usize,
}

/// A row by its relation and position, and how far back it stands where that matters.
type Place = (usize, usize, usize);

impl Explainer<'_> {
    /// Returns the proof of a row in short: the row first, then what it rests on.
    pub fn lines(&self, relation: usize, position: usize) -> Vec<Line> {
        self.told(&self.proof(relation, position))
    }

    /// Returns the proof of a row.
    pub fn proof(&self, relation: usize, position: usize) -> Proof {
        let mut builder = Builder { explainer: self, numbers: HashMap::new(), steps: Vec::new() };
        builder.build((relation, position, 0));
        Proof { steps: builder.steps }
    }

    /// Whether everything is told there is.
    fn is_whole(&self) -> bool {
        self.deepest == usize::MAX
    }

    /// What the planner concluded, and was told.
    fn is_of_planner(&self, relation: usize) -> Option<&str> {
        self.program.relations[relation].name.strip_prefix("core::")
    }
}

/// Collects steps, premises first. Nothing here recurses: a chain of ten thousand steps is as good as one of three.
struct Builder<'a> {
    explainer: &'a Explainer<'a>,
    /// The number of each step that is done, and what is known of each that is under way.
    numbers: HashMap<Place, Under>,
    steps: Vec<Step>,
}

enum Under {
    Way(Option<Application>, Vec<Place>),
    Done(usize),
}

impl Builder<'_> {
    fn build(&mut self, goal: Place) {
        let mut waiting = vec![goal];
        while let Some(&place) = waiting.last() {
            match self.numbers.get(&place) {
                Some(Under::Done(_)) => {
                    waiting.pop();
                }
                Some(Under::Way(..)) => {
                    self.finish(place);
                    waiting.pop();
                }
                None => {
                    let (application, below) = self.begin(place);
                    let new = below.iter().rev().filter(|it| !self.numbers.contains_key(it));
                    waiting.extend(new.copied().collect::<Vec<_>>());
                    self.numbers.insert(place, Under::Way(application, below));
                }
            }
        }
    }

    /// The rule that concluded a row, and the rows that it rests on.
    fn begin(&self, (relation, position, depth): Place) -> (Option<Application>, Vec<Place>) {
        let Explainer { program, database, model, deepest, .. } = *self.explainer;
        let domain: &dyn Domain = model;
        let Some((rule, words)) = binding(program, database, Some(domain), relation, position)
        else {
            return (None, Vec::new());
        };
        let application = Application { rule, words, premises: Vec::new() };
        if depth >= deepest {
            return (Some(application), Vec::new());
        }
        // Where all is told, a row is one step however far back it stands.
        let further = if self.explainer.is_whole() { 0 } else { depth + 1 };
        let below = premises(program, database, relation, position).map_or(Vec::new(), |it| it.1);
        let below = below.into_iter().map(|it| (it.0, it.1, further)).collect();
        (Some(application), below)
    }

    fn finish(&mut self, place: Place) {
        let Some(Under::Way(application, below)) =
            self.numbers.insert(place, Under::Done(self.steps.len()))
        else {
            return;
        };
        let (relation, position, depth) = place;
        let Explainer { program, database, deepest, .. } = *self.explainer;
        let by = match application {
            None => By::Told,
            Some(application) if depth >= deepest => By::Rule(application),
            Some(application) => {
                let mut below = below.iter();
                let body = program.rules[application.rule].body.iter();
                let premises = body.map(|literal| match literal {
                    Literal::Holds(_) => self.premise(below.next()),
                    Literal::Absent(_) => Premise::Absent,
                    _ => Premise::Condition,
                });
                let premises = premises.collect();
                By::Rule(Application { premises, ..application })
            }
        };
        let table = database.table(relation);
        let is_certain = table.is_certain(position);
        self.steps.push(Step { relation, row: table.row(position).to_vec(), is_certain, by });
    }

    fn premise(&self, place: Option<&Place>) -> Premise {
        match place.and_then(|it| self.numbers.get(it)) {
            Some(Under::Done(number)) => Premise::Step(*number),
            _ => unreachable!("a step is finished after what it rests on"),
        }
    }
}
