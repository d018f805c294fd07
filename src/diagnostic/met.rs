//! Problems that were met, found again by their words and places: there may be very many.

use std::collections::{HashMap, HashSet};

use super::{Diagnostic, Span};

/// Problems that were met.
#[derive(Default)]
pub(super) struct Met<'p> {
    words: HashSet<(&'p str, &'p str)>,
    places: HashMap<(&'p str, &'p str, Option<Span>), Vec<&'p Diagnostic>>,
}

impl<'p> Met<'p> {
    /// Returns those.
    pub fn of(problems: impl IntoIterator<Item = &'p Diagnostic>) -> Met<'p> {
        let mut met = Met::default();
        for problem in problems {
            met.add(problem);
        }
        met
    }

    /// Adds one. Returns whether it was not there.
    pub fn add(&mut self, problem: &'p Diagnostic) -> bool {
        let words = (&problem.summary[..], &problem.detail[..]);
        self.words.insert(words);
        let alike = self.places.entry((words.0, words.1, problem.subject)).or_default();
        let is_new = !alike.contains(&problem);
        if is_new {
            alike.push(problem);
        }
        is_new
    }

    /// Returns whether this very problem is there.
    pub fn has(&self, problem: &Diagnostic) -> bool {
        let place = (&problem.summary[..], &problem.detail[..], problem.subject);
        self.places.get(&place).is_some_and(|it| it.contains(&problem))
    }

    /// Returns whether it is said at this place, or at none: one that has no place may be told at its place besides.
    pub fn says(&self, problem: &Diagnostic) -> bool {
        let (summary, detail) = (&problem.summary[..], &problem.detail[..]);
        let at = |place| self.places.contains_key(&(summary, detail, place));
        match problem.subject {
            None => self.words.contains(&(summary, detail)),
            place => at(place) || at(None),
        }
    }
}
