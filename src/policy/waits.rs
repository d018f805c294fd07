//! What a verdict waits for that is only possible: what is not known yet of everything that it rests on.

use std::collections::BTreeSet;

use entail_rules::{Node, atom::Atom};

use super::model::Model;
use super::proof::lines::counted;
use crate::address::InstanceKey;
use crate::datalog::check::{Literal, Pattern, Reference};
use crate::datalog::evaluate::{binding, premises};
use crate::datalog::{Database, Domain, Program, values};
use crate::lower::structure::{NodeKind, Style};

/// How many conclusions are looked at for one verdict.
const MOST: usize = 100;

/// In how many rows is looked for those that a negation or an aggregate is about.
const MOST_ROWS: usize = 10_000;

/// Returns the addresses and paths of what is not known yet, below a conclusion and all that it rests on.
pub(super) fn waits(
    (program, database): (&Program, &Database),
    model: &Model<'_>,
    row: (usize, usize),
) -> Vec<String> {
    let database = Some(database);
    let mut search = Search { program, database, model, found: BTreeSet::new(), open: vec![row] };
    let mut seen = BTreeSet::new();
    while let Some(row) = search.open.pop() {
        if seen.insert(row) && seen.len() <= MOST {
            search.look(row);
        }
    }
    search.found.into_iter().collect()
}

/// Returns what is not known yet of what a rule looks at itself.
pub(super) fn direct(
    bound: Option<&(usize, Vec<Option<u64>>)>,
    program: &Program,
    model: &Model<'_>,
) -> Vec<String> {
    let (database, found) = (None, BTreeSet::new());
    let mut search = Search { program, database, model, found, open: Vec::new() };
    if let Some((rule, words)) = bound {
        search.look_at(*rule, words);
    }
    search.found.into_iter().collect()
}

struct Search<'s> {
    program: &'s Program,
    /// Where conclusions are looked for; nothing where only the rule itself is looked at.
    database: Option<&'s Database>,
    model: &'s Model<'s>,
    found: BTreeSet<String>,
    /// Conclusions that are only possible: relation and position.
    open: Vec<(usize, usize)>,
}

impl Search<'_> {
    fn look(&mut self, (relation, position): (usize, usize)) {
        let Some(database) = self.database else { return };
        match binding(self.program, database, Some(self.model), relation, position) {
            Some((rule, words)) => {
                let below = premises(self.program, database, relation, position);
                let below = below.map_or(Vec::new(), |it| it.1).into_iter();
                self.open.extend(below.filter(|it| !database.table(it.0).is_certain(it.1)));
                self.look_at(rule, &words);
            }
            None => self.given(database.table(relation).row(position)),
        }
    }

    fn look_at(&mut self, rule: usize, words: &[Option<u64>]) {
        let rule = &self.program.rules[rule];
        for literal in &rule.body {
            match literal {
                Literal::Absent(pattern) | Literal::Aggregate { pattern, .. } => {
                    self.rests_on(pattern, words);
                }
                Literal::Holds(_) => {}
                Literal::Refers(reference, _)
                | Literal::Lacks(reference, _)
                | Literal::Member(_, reference)
                | Literal::AggregateOf { reference, .. } => {
                    self.reference(reference, &rule.kinds, words);
                }
                Literal::If(formula) | Literal::Compute(_, formula) => {
                    for reference in formula.references() {
                        self.reference(&reference, &rule.kinds, words);
                    }
                }
                Literal::Compare(..) | Literal::Let(..) => {}
            }
        }
    }

    /// Goes on with the rows that a negation or an aggregate is about, as far as they are only possible.
    fn rests_on(&mut self, pattern: &Pattern, words: &[Option<u64>]) {
        let Some(database) = self.database else { return };
        let table = database.table(pattern.relation);
        if table.len() > MOST_ROWS {
            return;
        }
        let all = counted(pattern, words, database).into_iter();
        let open = all.filter(|it| !table.is_certain(*it)).take(MOST);
        self.open.extend(open.map(|it| (pattern.relation, it)));
    }

    fn reference(&mut self, reference: &Reference, kinds: &[String], words: &[Option<u64>]) {
        let word = words[reference.root].filter(|it| !values::is_value(*it));
        let Some(word) = word else { return };
        let Some(value) = self.model.value_of(reference.tense.of_node(word)) else { return };
        if let Some(path) = reference.first_unknown(&value) {
            let address = self.model.show(&kinds[reference.root], word);
            self.found.insert(format!("{address}{path}"));
        }
    }

    /// A block of which nobody knows how often it is there waits for its keys.
    fn given(&mut self, row: &[u64]) {
        let node = row.first().and_then(|it| Node::from_word(*it));
        let node = node.filter(|it| (it.0 as usize) < self.model.structure.nodes.len());
        let Some(NodeKind::Pending(id)) = node.map(|it| self.model.structure.kind(it)) else {
            return;
        };
        let resource = self.model.structure.resource(*id);
        let mut module = resource.module;
        // The calls around it wait for theirs.
        while let Some(node) = module.map(|it| self.model.structure.module(it)) {
            let Some((parent, call)) = node.parent.filter(|_| node.pending) else { break };
            let call = self.model.structure.call(call);
            if let Some(keys) = keys_of(call.style).filter(|_| node.key == InstanceKey::None) {
                self.found.insert(format!("{}.{keys}", node.address));
            }
            module = Some(parent);
        }
        if let Some(keys) =
            keys_of(resource.style).filter(|_| resource.besides.repetition.is_some())
        {
            self.found.insert(format!("{}.{keys}", resource.address));
        }
    }
}

/// The argument that says which instances there are.
fn keys_of(style: Style) -> Option<&'static str> {
    match style {
        Style::Count => Some("count"),
        Style::ForEach => Some("for_each"),
        Style::Enabled => Some("enabled"),
        Style::Single => None,
    }
}
