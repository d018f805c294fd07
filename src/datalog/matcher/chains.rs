//! Where the rows are that have the words of a pattern: which chains of an index are followed.

use super::super::check::{Pattern, Term};
use super::super::database::{ChainStart, Table};
use super::super::values;
use super::Matcher;

impl<'a> Matcher<'a> {
    /// Whether any of the words in the bound columns of a pattern may equal others.
    pub(super) fn is_open(&self, pattern: &'a Pattern) -> bool {
        self.program.has_values && self.key(pattern).any(values::is_open)
    }

    /// Returns the chains of the rows that have the words in the bound columns of a pattern, and of those that may be equal to
    /// them though they are of another type.
    pub(super) fn chains(
        &self,
        table: &Table,
        index: usize,
        pattern: &'a Pattern,
    ) -> impl Iterator<Item = ChainStart> + use<> {
        let first = table.newest(index, self.key(pattern));
        let twins = match self.program.has_values {
            true => self.twins(self.key(pattern).collect()),
            false => Vec::new(),
        };
        let further: Vec<ChainStart> =
            twins.into_iter().map(|it| table.newest(index, it.into_iter())).collect();
        std::iter::once(first).chain(further)
    }

    /// Returns the keys, other than this one, of rows that may be equal to it though they are of another type.
    fn twins(&self, key: Vec<u64>) -> Vec<Vec<u64>> {
        let columns = key.len();
        let mut all = vec![key];
        for column in 0..columns {
            let twins = self.program.values.twins(all[0][column]);
            let other = twins.iter().flat_map(|twin| {
                all.iter().map(move |key| {
                    let mut key = key.clone();
                    key[column] = *twin;
                    key
                })
            });
            let other: Vec<_> = other.collect();
            all.extend(other);
        }
        all.split_off(1)
    }

    /// The words in the bound columns of a pattern.
    pub(super) fn key(&self, pattern: &'a Pattern) -> impl Iterator<Item = u64> {
        pattern.terms.iter().filter_map(|it| match it {
            Term::Variable(it) => self.values[*it],
            Term::InTense(tense, it) => Some(tense.of_node(self.values[*it]?)),
            Term::Word(it) => Some(*it),
            Term::Any => None,
        })
    }
}
