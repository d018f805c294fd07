//! What a rule says of values: references, elements, aggregates, messages.

use super::super::aggregate::{self, Counted};
use super::super::check::{self, Literal, Over, Part, Reference, Term};
use super::super::limits::Spent;
use super::super::walk::{self, Reached};
use super::super::{kinds, values};
use super::Matcher;
use crate::value::{Kind, Marks, Type, Value as Known};

impl<'a> Matcher<'a> {
    /// Returns everything that a reference leads to, and the variables that its keys give.
    pub(super) fn reached(&self, reference: &'a Reference) -> (Vec<Reached>, Vec<usize>) {
        let (mut steps, mut keys) = (Vec::with_capacity(reference.steps.len()), Vec::new());
        for step in &reference.steps {
            steps.push(match step {
                check::Step::Name(name) => walk::Step::Name(name),
                check::Step::Key(Term::Variable(it)) => match self.values[*it] {
                    Some(word) if !values::is_open(word) => walk::Step::Key(self.known(word)),
                    // A key that is not known yet turns out to be one of those that are there.
                    _ => {
                        keys.push(*it);
                        walk::Step::Each
                    }
                },
                check::Step::Key(Term::Word(word)) => walk::Step::Key(self.known(*word)),
                check::Step::Key(Term::Any | Term::InTense(..)) => walk::Step::Any,
            });
        }
        let mut all = Vec::new();
        if let Some(root) = self.root(reference) {
            let is_as_written = self.is_as_written(reference.root, reference.tense);
            walk::walk(&root, &steps, &mut |it| all.push(Reached { is_as_written, ..it }));
        }
        (all, keys)
    }

    pub(super) fn root(&self, reference: &Reference) -> Option<Known> {
        let word = self.values[reference.root]?;
        match values::is_value(word) {
            true => self.program.values.value(word),
            false => self.domain?.value_of(reference.tense.of_node(word)),
        }
    }

    pub(super) fn known(&self, word: u64) -> Known {
        self.program.values.value(word).unwrap_or(Known::NULL)
    }

    pub(super) fn refers(
        &mut self,
        at: usize,
        reference: &'a Reference,
        equals: Option<Term>,
        spent: &mut Spent,
    ) {
        let (all, keys) = self.reached(reference);
        let binds = match equals {
            Some(Term::Variable(it)) => self.values[it].is_none_or(values::is_open),
            _ => false,
        };
        if keys.is_empty() && !binds {
            // Nothing is learned but whether it is there.
            if let Some(is_certain) = self.best(&all, &keys, equals) {
                self.go_on(at, is_certain, spent);
            }
            return;
        }
        for reached in all {
            if !spent.step(self.number, at) {
                return;
            }
            let (undo, before) = (self.undo.len(), self.is_certain);
            if self.take(&reached, &keys, equals) {
                self.matches(at + 1, spent);
            }
            self.restore(undo, before);
        }
    }

    /// Makes the keys and the other side what was reached, if they can be.
    pub(super) fn take(&mut self, reached: &Reached, keys: &[usize], equals: Option<Term>) -> bool {
        let word = self.word_of_reached(reached);
        self.take_word(word, reached, keys, equals)
    }

    fn take_word(
        &mut self,
        word: u64,
        reached: &Reached,
        keys: &[usize],
        equals: Option<Term>,
    ) -> bool {
        self.is_certain &= reached.is_certain;
        let values = &self.program.values;
        let keys: Vec<(usize, u64)> =
            keys.iter().zip(&reached.keys).map(|(it, key)| (*it, values.word(key))).collect();
        keys.into_iter().all(|(it, key)| self.unify_variable(it, key))
            && equals.is_none_or(|it| self.unify(&it, word))
    }

    /// Returns whether anything was reached that is equal to the term: for certain, perhaps, or nothing.
    pub(super) fn best(
        &mut self,
        all: &[Reached],
        keys: &[usize],
        equals: Option<Term>,
    ) -> Option<bool> {
        let mut best = None;
        for reached in all {
            let (undo, before) = (self.undo.len(), self.is_certain);
            self.is_certain = true;
            let fits = self.take(reached, keys, equals);
            let is_certain = self.is_certain;
            self.restore(undo, before);
            if fits {
                best = Some(is_certain);
            }
            if best == Some(true) {
                break;
            }
        }
        best
    }

    /// Returns whether a reference leads to something, or to this.
    pub(super) fn leads(&mut self, reference: &'a Reference, equals: Option<Term>) -> Option<bool> {
        let (all, keys) = self.reached(reference);
        self.best(&all, &keys, equals)
    }

    pub(super) fn member(
        &mut self,
        at: usize,
        variable: usize,
        reference: &'a Reference,
        spent: &mut Spent,
    ) {
        let (all, keys) = self.reached(reference);
        for (number, reached) in all.iter().enumerate() {
            for (index, (element, is_there)) in elements(&reached.value).into_iter().enumerate() {
                if !spent.step(self.number, at) {
                    return;
                }
                let (undo, before) = (self.undo.len(), self.is_certain);
                let keys_of = reached.keys.clone();
                let is_certain = reached.is_certain && is_there;
                let element =
                    Reached { value: element, keys: keys_of, is_certain, ..reached.clone() };
                let word = self.word_of_element(reference, (number, index), &element);
                if self.take_word(word, &element, &keys, Some(Term::Variable(variable))) {
                    self.matches(at + 1, spent);
                }
                self.restore(undo, before);
            }
        }
    }

    pub(super) fn aggregate(
        &mut self,
        at: usize,
        literal: &'a Literal,
        index: Option<usize>,
        spent: &mut Spent,
    ) {
        let Literal::Aggregate { result, function, over, pattern } = literal else { return };
        let column =
            over.and_then(|it| pattern.terms.iter().position(|term| *term == Term::Variable(it)));
        if !self.program.has_values {
            let mut numbers = Vec::new();
            self.rows(pattern, index, &mut |row, _| {
                numbers.push(column.map_or(0, |it| row[it].cast_signed()));
                true
            });
            if let Some(word) = aggregate::of_numbers(*function, numbers.into_iter()) {
                self.with(at, *result, word, true, spent);
            }
            return;
        }
        let mut counted = Vec::new();
        let values = self.program.values.clone();
        let (kinds, domain) = (&self.program.relations[pattern.relation].columns, self.domain);
        let is_several =
            |kind: &str, word| kind == kinds::NODE && domain.is_some_and(|it| it.is_several(word));
        self.rows(pattern, index, &mut |row, is_certain| {
            let several = |at: usize| is_several(&kinds[at], row[at]);
            counted.push(Counted::of_row(row, column, is_certain, &values, &several));
            true
        });
        self.counted(at, *result, aggregate::compute(*function, &counted), spent);
    }

    pub(super) fn over_reference(
        &mut self,
        over: Option<Over>,
        reference: &'a Reference,
    ) -> Vec<Counted> {
        let (all, keys) = self.reached(reference);
        let values = &self.program.values;
        let all = match reference.goes_over_elements(over) {
            true => all.iter().flat_map(Reached::elements).collect(),
            false => all,
        };
        let counted = all.into_iter().filter_map(|reached| {
            // A key that is not known yet may be this one.
            let known = keys.iter().zip(&reached.keys).filter_map(|(it, key)| {
                self.values[*it].map(|word| values.same(word, values.word(key)))
            });
            let known: Vec<Option<bool>> = known.collect();
            if known.contains(&Some(false)) {
                return None;
            }
            let is_certain = reached.is_certain && !known.contains(&None);
            let reached = Reached { is_certain, ..reached };
            let value = match over {
                None => None,
                Some(Over::Reached) => Some(&reached.value),
                Some(Over::Key(it)) => {
                    keys.iter().position(|key| *key == it).and_then(|at| reached.keys.get(at))
                }
            };
            Some(Counted::of_value(value, &reached, values))
        });
        counted.collect()
    }

    /// Goes on with the result of an aggregate; nothing where there is none.
    pub(super) fn counted(
        &mut self,
        at: usize,
        result: usize,
        computed: Option<(Known, bool)>,
        spent: &mut Spent,
    ) {
        if let Some((value, is_certain)) = computed {
            let word = self.program.values.word(&value);
            self.with(at, result, word, is_certain, spent);
        }
    }

    /// Puts a message together: addresses, values as people write them, nothing of a secret.
    pub(super) fn message(&self, parts: &'a [Part]) -> u64 {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Text(it) => text.push_str(it),
                Part::Variable(it) => {
                    let shown = self.values[*it].map(|word| self.shown(*it, word));
                    text.push_str(&shown.unwrap_or_default());
                }
                Part::Reference(it) => {
                    let all = self.reached(it).0;
                    let values = &self.program.values;
                    let shown: Vec<String> =
                        all.iter().map(|it| values.show(values.word(&it.value))).collect();
                    text.push_str(&shown.join(", "));
                }
            }
        }
        self.program.values.text(&text)
    }

    pub(super) fn shown(&self, variable: usize, word: u64) -> String {
        match self.domain {
            _ if values::is_value(word) => self.program.values.show(word),
            Some(domain) => domain.show(&self.rule.kinds[variable], word).to_string(),
            None => word.to_string(),
        }
    }
}

impl Reached {
    fn elements(&self) -> Vec<Reached> {
        let is_scalar =
            |it: &Known| matches!(it.ty().kind(), Kind::Bool | Kind::Number | Kind::String);
        if !self.value.bare().is_known() && is_scalar(&self.value) {
            return vec![self.clone()];
        }
        let is_known = self.value.bare().is_known();
        let all = elements(&self.value).into_iter().map(|(value, is_there)| Reached {
            value,
            is_certain: self.is_certain && is_there,
            is_several: self.is_several || !is_known,
            ..self.clone()
        });
        all.collect()
    }
}

/// Returns the elements of a list, set or tuple, and whether each is there for certain; anything else itself.
fn elements(value: &Known) -> Vec<(Known, bool)> {
    let marks: Marks = value.marks();
    match value.bare() {
        Known::List(_) | Known::Set(_) | Known::Tuple(_) => {
            value.bare().children().map(|it| (it.clone().mark(&marks), true)).collect()
        }
        Known::Unknown(_) => {
            vec![(Known::unknown(Type::DYNAMIC).mark(&marks), false)]
        }
        _ => vec![(value.clone(), true)],
    }
}
