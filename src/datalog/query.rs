//! A body of a rule that is asked for its rows: it sees the relations of all groups, and concludes one that nothing reads.

use crate::diagnostic::{Diagnostic, Diagnostics, FileId, Span};

use super::check::{Program, Relation, Rule, Source, Value};
use super::parse::{self, Dialect};
use super::reader::RuleReader;
use super::syntax::{Atom, Expression, Literal, Reference, Variable};
use super::{formula, problem};

/// What the rule of a query is called, and its source.
pub const NAME: &str = "<query>";

/// What the rows of a query are a relation of; no text of rules can name it.
const RELATION: &str = "?";

/// A body, as it is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// The text, in its file.
    pub text: &'a str,
    /// The file.
    pub file: FileId,
    /// The group whose relations come first, where several groups have one of a name.
    pub first: &'a str,
    /// Relations with a last column that nobody writes.
    pub numbered: &'a [usize],
}

/// A program with a query.
#[derive(Clone, Debug)]
pub struct Query {
    /// The program, the query among its rules.
    pub program: Program,
    /// The relation of its rows.
    pub relation: usize,
    /// The number of its rule.
    pub rule: usize,
}

impl Program {
    /// Returns the same program with a body whose rows are asked for. The columns are its variables, in the order in which they
    /// stand first.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, at its place in the text.
    pub fn ask(&self, asking: &Asking<'_>) -> Result<Query, Diagnostics> {
        let (mut body, mut problems) = parse::parse_body(asking.file, asking.text);
        if problems.has_errors() {
            return Err(problems);
        }
        for literal in &mut body {
            if let Literal::Holds(atom) | Literal::Absent(atom) | Literal::Aggregate { atom, .. } =
                literal
            {
                problems.extend(self.resolve(atom, asking).err());
            }
        }
        if problems.has_errors() {
            return Err(problems);
        }
        let mut program = self.clone();
        let dialect = Dialect::Policies;
        let source =
            Source { name: NAME, file: asking.file, text: asking.text, dialect, group: "" };
        let mut reader = RuleReader::new(&mut program, &source, &mut problems);
        let (literals, places) = reader.body(&body);
        let (variables, kinds, failed) = (reader.variables, reader.kinds, reader.failed);
        if failed || problems.has_errors() {
            return Err(problems);
        }
        let kinds: Vec<String> = kinds.into_iter().map(Option::unwrap_or_default).collect();
        let named = named(&body);
        let columns = named.iter().filter_map(|name| variables.iter().position(|it| it == name));
        let columns: Vec<usize> = columns.collect();
        let relation = program.add_relation(Relation {
            name: RELATION.to_owned(),
            columns: columns.iter().map(|it| kinds[*it].clone()).collect(),
            doc: Vec::new(),
            is_derived: true,
            is_given: false,
            is_closed: true,
            is_needed: true,
        });
        program.rules.push(Rule {
            name: NAME.to_owned(),
            sentence: String::new(),
            source: NAME.to_owned(),
            group: String::new(),
            notes: Vec::new(),
            span: Span::new(asking.file, 0, asking.text.len()),
            head: relation,
            terms: columns.into_iter().map(Value::Variable).collect(),
            body: literals,
            variables,
            kinds,
            places,
        });
        program.has_values = true;
        program.restratify();
        let rule = program.rules.len() - 1;
        Ok(Query { program, relation, rule })
    }

    /// Finds the relation that a query means, and gives it its full name.
    fn resolve(&self, atom: &mut Atom, asking: &Asking<'_>) -> Result<(), Diagnostic> {
        let (name, span) = (atom.relation.as_str(), atom.span);
        let own = |it: &str| it.split_once('@').is_some_and(|(own, _)| own == name);
        let mut groups: Vec<&str> = self.relations.iter().map(|it| it.name.as_str()).collect();
        groups.retain(|it| own(it));
        let only = || groups.first().and_then(|it| self.relation(it));
        // An author's own relation goes before a shared one that is new.
        let is_hidden = |it: &usize| {
            let is_shared = !self.relations[*it].name.contains('@');
            is_shared && !groups.is_empty() && self.added_in(name).is_some()
        };
        let meant = self.relation_in(asking.first, name).filter(|it| !is_hidden(it));
        let found = match (meant, groups.len()) {
            (None, 2..) => return Err(problem::of_several_groups(name, &groups, span)),
            (found, _) => found.or_else(only),
        };
        let Some(found) = found else {
            let known = (0..self.relations.len()).map(|it| self.shown_name(it));
            return Err(problem::unknown_relation(name, self.nearest(name, known), span));
        };
        let found = self.of_arity(found, name, atom.terms.len());
        let hidden = usize::from(asking.numbered.contains(&found));
        let columns = self.relations[found].columns.len() - hidden;
        if columns != atom.terms.len() {
            let known = &self.relations[found];
            let says = known.doc.first().map(String::as_str);
            let shown = (&known.columns[..columns], says);
            return Err(problem::arity(name, shown, atom.terms.len(), span));
        }
        atom.terms.extend(std::iter::repeat_n(None, hidden));
        atom.relation.clone_from(&self.relations[found].name);
        Ok(())
    }
}

/// The names of variables that have one value in a match, in the order in which they stand first.
fn named(body: &[Literal]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut see = |it: &Variable| {
        if !found.contains(&it.name) {
            found.push(it.name.clone());
        }
    };
    for literal in body {
        match literal {
            Literal::Holds(atom) | Literal::Absent(atom) => {
                atom.terms.iter().flatten().for_each(|it| it.for_each_variable(&mut see));
            }
            // What is counted has many values.
            Literal::Aggregate { result, .. } | Literal::AggregateOf { result, .. } => see(result),
            Literal::Refers { reference, equals, .. } => {
                of_reference(reference, equals.as_ref(), &mut see);
            }
            Literal::Member(variable, reference) => {
                see(variable);
                of_reference(reference, None, &mut see);
            }
            Literal::If(expression) => of_formula(expression, &mut see),
            Literal::Compute(variable, expression) => {
                see(variable);
                of_formula(expression, &mut see);
            }
            Literal::Compare(..) | Literal::Let(..) => {}
        }
    }
    found
}

fn of_reference(
    reference: &Reference,
    equals: Option<&Expression>,
    see: &mut dyn FnMut(&Variable),
) {
    reference.for_each_variable(&mut |it| see(it));
    if let Some(it) = equals {
        it.for_each_variable(&mut |it| see(it));
    }
}

fn of_formula(expression: &crate::syntax::Expression, see: &mut dyn FnMut(&Variable)) {
    for it in formula::read(expression).1 {
        see(&Variable { name: it.name.to_string(), span: it.span });
    }
}
