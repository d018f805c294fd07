//! The words of what a rule finds in values: what it is, whether it may become something else, whether it is one thing.

use super::super::check::{self, Reference, Term};
use super::super::domain::{Tense, is_as_written};
use super::super::formula::Formula;
use super::super::values;
use super::super::walk::Reached;
use super::Matcher;
use crate::diagnostic::Diagnostics;
use crate::value::{Type, Value as Known};

/// Stands in a place for a step that leads to several.
const ANY: u64 = u64::MAX;

impl Matcher<'_> {
    /// Returns whether what a variable stands for is as somebody wrote it.
    pub(super) fn is_as_written(&self, variable: usize, tense: Tense) -> bool {
        let word = self.values[variable];
        word.is_some_and(|it| match self.domain {
            Some(domain) => is_as_written(it, tense, domain),
            None => values::is_loose(it),
        })
    }

    pub(super) fn word_of_reached(&self, reached: &Reached) -> u64 {
        match reached.is_as_written {
            true => self.program.values.word_as_written(&reached.value),
            false => self.program.values.word(&reached.value),
        }
    }

    /// The word of an element: where a part of it is not known, still the one of its place.
    pub(super) fn word_of_element(
        &self,
        reference: &Reference,
        (number, at): (usize, usize),
        element: &Reached,
    ) -> u64 {
        let word = self.word_of_reached(element);
        let root = self.values[reference.root].filter(|it| values::is_one(*it));
        let (true, Some(root)) = (is_in_part(word, &element.value), root) else { return word };
        let values = &self.program.values;
        let mut place = vec![reference.tense.of_node(root), number as u64, at as u64];
        place.extend(reference.steps.iter().map(|it| match it {
            check::Step::Name(name) => values.text(name),
            check::Step::Key(Term::Variable(it)) => self.values[*it].unwrap_or(ANY),
            check::Step::Key(Term::Word(it)) => *it,
            check::Step::Key(Term::Any | Term::InTense(..)) => ANY,
        }));
        values.word_at(place, word)
    }

    /// The word of what an expression gives: where a part of it is not known, still the one that it gives for these variables.
    pub(super) fn word_of(&self, variable: usize, formula: &Formula, value: &Known) -> u64 {
        let values = &self.program.values;
        let word = match formula.is_plain
            && self.domain.is_some_and(|it| formula.is_loose(&self.values, it))
        {
            true => values.word_as_written(value),
            false => values.word(value),
        };
        if !is_in_part(word, value) {
            return word;
        }
        let used: Option<Vec<u64>> = formula.uses.iter().map(|it| self.values[it.1]).collect();
        let Some(used) = used.filter(|it| it.iter().all(|it| values::is_one(*it))) else {
            return word;
        };
        let span = formula.span;
        let mut place = vec![ANY, span.file().0.into(), span.start().into(), variable as u64];
        place.extend(used);
        values.word_at(place, word)
    }

    pub(super) fn formula(&self, formula: &Formula) -> (Known, Diagnostics) {
        match self.domain {
            Some(domain) => formula.value(&self.values, &self.rule.kinds, domain),
            None => (Known::unknown(Type::DYNAMIC), Diagnostics::new()),
        }
    }
}

/// Whether something is known of a value, and not all.
fn is_in_part(word: u64, value: &Known) -> bool {
    values::is_open(word) && value.bare().is_known()
}
