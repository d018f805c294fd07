//! One rule as written to one that can be evaluated: variables numbered, names looked up, kinds compared.

use entail_rules::atom;

use crate::diagnostic::{Diagnostics, Span};

use super::check::{Literal, Pattern, Program, Source, Term, Value};
use super::parse::Dialect;
use super::syntax::{Aggregate, Comparison, Expression, Variable};
use super::{kinds, problem, syntax};

/// Reads one rule: numbers its variables and looks up its names.
pub(super) struct RuleReader<'a> {
    program: &'a mut Program,
    source: Source<'a>,
    /// The names of its variables, by number.
    pub(super) variables: Vec<String>,
    /// Their kinds, as far as they are known.
    pub(super) kinds: Vec<Option<String>>,
    /// Where each variable stands first, and how often it does.
    uses: Vec<(Span, usize)>,
    /// What is wrong.
    pub(super) problems: &'a mut Diagnostics,
    /// Whether something is wrong with it.
    pub(super) failed: bool,
}

impl<'a> RuleReader<'a> {
    /// Returns a reader for one rule of a program.
    pub(super) fn new(
        program: &'a mut Program,
        source: &Source<'a>,
        problems: &'a mut Diagnostics,
    ) -> RuleReader<'a> {
        RuleReader {
            program,
            source: *source,
            variables: Vec::new(),
            kinds: Vec::new(),
            uses: Vec::new(),
            problems,
            failed: false,
        }
    }

    /// Reads one part of the body; nothing where that is wrong.
    pub(super) fn literal(&mut self, literal: &syntax::Literal) -> Option<Literal> {
        match literal {
            syntax::Literal::Holds(atom) => {
                Some(Literal::Holds(self.pattern(atom, Unbound::IsNew)?))
            }
            syntax::Literal::Absent(atom) => {
                Some(Literal::Absent(self.pattern(atom, Unbound::IsWrong("a negation"))?))
            }
            syntax::Literal::Compare(comparison, left, right) => {
                let sides = (self.value(left, "a condition"), self.value(right, "a condition"));
                self.expect_comparable(*comparison, left, right);
                Some(Literal::Compare(*comparison, sides.0?, sides.1?))
            }
            syntax::Literal::Let(variable, value) => {
                let kind = self.kind(value);
                let value = self.value(value, "`let`")?;
                let variable = self.bind(variable);
                self.kinds[variable] = self.kinds[variable].take().or(kind);
                Some(Literal::Let(variable, value))
            }
            syntax::Literal::Aggregate { result, function, over, atom } => {
                let outer = self.variables.len();
                let pattern = self.pattern(atom, Unbound::IsNew)?;
                let over = match over {
                    Some(it) => {
                        if *function != Aggregate::Count {
                            self.expect_number(&Expression::Variable(it.clone()));
                        }
                        Some(self.bound(it, "an aggregate")?)
                    }
                    None => None,
                };
                // What first stands among the rows has no single value behind them.
                for local in &mut self.variables[outer..] {
                    local.push('\'');
                }
                let result = self.bind(result);
                self.kinds[result] = self.kinds[result].take().or(Some(kinds::NUMBER.to_owned()));
                Some(Literal::Aggregate { result, function: *function, over, pattern })
            }
            _ => self.literal_of_values(literal),
        }
    }

    /// Reads a conclusion; nothing where that is wrong.
    pub(super) fn head(&mut self, head: &syntax::Head) -> Option<(usize, Vec<Value>)> {
        let relation = self.relation(&head.relation, head.terms.len(), head.span)?;
        let known = &self.program.relations[relation];
        if known.is_given || known.is_closed && !self.source.group.is_empty() {
            return self.fail(problem::given_relation(&head.relation, head.span));
        }
        let mut terms = Vec::new();
        for (column, term) in head.terms.iter().enumerate() {
            let value = self.value(term, "the conclusion");
            let kind = self.program.relations[relation].columns[column].clone();
            self.expect_kind(term, &kind);
            terms.push(value?);
        }
        Some((relation, terms))
    }

    fn pattern(&mut self, atom: &syntax::Atom, unbound: Unbound) -> Option<Pattern> {
        let relation = self.relation(&atom.relation, atom.terms.len(), atom.span)?;
        let mut terms = Vec::new();
        for (column, term) in atom.terms.iter().enumerate() {
            let kind = self.program.relations[relation].columns[column].clone();
            let term = match term {
                None => Some(Term::Any),
                Some(term) => {
                    let read = self.term(term, unbound);
                    self.expect_kind(term, &kind);
                    read
                }
            };
            terms.push(term?);
        }
        Some(Pattern { relation, terms })
    }

    fn relation(&mut self, name: &str, columns: usize, span: Span) -> Option<usize> {
        let Some(relation) = self.program.relation_in(self.source.group, name) else {
            if self.program.broken.contains(&(self.source.group.to_owned(), name.to_owned())) {
                // It is told already what is wrong with its rules.
                self.failed = true;
                return None;
            }
            let group = self.source.group;
            let known = self.program.relations.iter().map(|it| it.name.as_str());
            let known = known.filter_map(|it| match it.split_once('@') {
                Some((name, own)) => (own == group).then_some(name),
                None => Some(it),
            });
            let nearest = self.program.nearest(name, known).map(str::to_owned);
            let nearest = nearest.as_deref();
            return self.fail(problem::unknown_relation(name, nearest, span));
        };
        let relation = self.program.of_arity(relation, name, columns);
        let expected = self.program.relations[relation].columns.len();
        if expected != columns {
            let known = &self.program.relations[relation];
            let says = known.doc.first().map(String::as_str);
            return self.fail(problem::arity(name, (&known.columns, says), columns, span));
        }
        Some(relation)
    }

    /// Reads what a column must be.
    pub(super) fn term(&mut self, term: &Expression, unbound: Unbound) -> Option<Term> {
        match term {
            Expression::Variable(it) => match unbound {
                Unbound::IsNew => Some(Term::Variable(self.bind(it))),
                Unbound::IsWrong(place) => Some(Term::Variable(self.bound(it, place)?)),
            },
            Expression::Arithmetic(..) => self.fail(problem::computed_column(term.span())),
            Expression::InTense(tense, it) => {
                let variable = match unbound {
                    Unbound::IsNew => self.bind(it),
                    Unbound::IsWrong(place) => self.bound(it, place)?,
                };
                // Behind it, so that a variable that is new here has its kind.
                self.expect_kind(&Expression::Variable(it.clone()), kinds::NODE);
                Some(Term::InTense(*tense, variable))
            }
            _ => match self.value(term, "a column")? {
                Value::Word(it) => Some(Term::Word(it)),
                _ => None,
            },
        }
    }

    fn value(&mut self, expression: &Expression, place: &'static str) -> Option<Value> {
        match expression {
            Expression::Variable(it) => Some(Value::Variable(self.bound(it, place)?)),
            Expression::Number(it, _) => Some(Value::Word(it.cast_unsigned())),
            Expression::Text(it, _) => Some(Value::Word(self.program.values.text(it))),
            Expression::Value(it, _) => Some(Value::Word(self.program.values.word(it))),
            Expression::InTense(tense, it) => {
                self.expect_kind(&Expression::Variable(it.clone()), kinds::NODE);
                Some(Value::InTense(*tense, self.bound(it, place)?))
            }
            Expression::Message(parts, _) => self.message(parts),
            Expression::Constant(kind, word, span) => match atom::constant(kind, word) {
                Some(it) => Some(Value::Word(it)),
                None => {
                    let all = atom::vocabularies().find(|it| it.kind == kind);
                    let all = all.map_or(Vec::new(), |it| it.words.iter().map(|it| it.0).collect());
                    self.fail(problem::unknown_constant(kind, word, &all, *span))
                }
            },
            Expression::Arithmetic(operator, left, right) => {
                self.expect_number(left);
                self.expect_number(right);
                let (left, right) = (self.value(left, place), self.value(right, place));
                Some(Value::Arithmetic(*operator, Box::new(left?), Box::new(right?)))
            }
        }
    }

    /// Returns the number of a variable, which it gets here unless it has one.
    pub(super) fn bind(&mut self, variable: &Variable) -> usize {
        match self.variables.iter().position(|it| *it == variable.name) {
            Some(index) => {
                self.uses[index].1 += 1;
                index
            }
            None => {
                self.variables.push(variable.name.clone());
                self.kinds.push(None);
                self.uses.push((variable.span, 1));
                self.variables.len() - 1
            }
        }
    }

    /// Returns the number of a variable that has a value.
    pub(super) fn bound(&mut self, variable: &Variable, place: &'static str) -> Option<usize> {
        if !self.variables.contains(&variable.name) {
            if self.failed {
                // What is wrong before may be what would have given it a value.
                return None;
            }
            return self.fail(problem::unbound(&variable.name, place, variable.span));
        }
        Some(self.bind(variable))
    }

    /// Returns what kind of thing an expression gives, as far as that is known.
    fn kind(&self, expression: &Expression) -> Option<String> {
        match expression {
            Expression::Variable(variable) => {
                let index = self.variables.iter().position(|it| *it == variable.name)?;
                self.kinds[index].clone()
            }
            Expression::Constant(kind, ..) => Some(kind.clone()),
            Expression::Text(..) => Some(kinds::TEXT.to_owned()),
            Expression::Value(..) | Expression::Message(..) => Some(kinds::VALUE.to_owned()),
            Expression::InTense(..) => Some(kinds::NODE.to_owned()),
            Expression::Number(..) | Expression::Arithmetic(..) => Some(kinds::NUMBER.to_owned()),
        }
    }

    /// What an expression gives is of this kind.
    pub(super) fn expect_kind(&mut self, term: &Expression, kind: &str) {
        match self.kind(term) {
            Some(found) if !kinds::are_alike(&found, kind) => {
                self.fail::<()>(problem::kinds_differ(&words(term), &found, kind, term.span()));
            }
            Some(_) => {}
            None => {
                let Expression::Variable(variable) = term else { return };
                if let Some(index) = self.variables.iter().position(|it| *it == variable.name) {
                    self.kinds[index] = Some(kind.to_owned());
                }
            }
        }
    }

    /// What is compared is of one kind; only numbers have an order.
    fn expect_comparable(&mut self, how: Comparison, left: &Expression, right: &Expression) {
        if !matches!(how, Comparison::Equal | Comparison::NotEqual) {
            self.expect_number(left);
            self.expect_number(right);
            return;
        }
        let (Some(one), Some(other)) = (self.kind(left), self.kind(right)) else { return };
        if !kinds::are_alike(&one, &other) {
            self.fail::<()>(problem::never_equal(&words(left), &one, &other, right.span()));
        }
    }

    fn expect_number(&mut self, expression: &Expression) {
        let is_none = |kind: &String| !kinds::is_number(kind) && kind != kinds::VALUE;
        if let Some(kind) = self.kind(expression).filter(is_none) {
            let problem = problem::not_a_number(&words(expression), &kind, expression.span());
            self.fail::<()>(problem);
        }
    }

    /// Warns of variables that stand only once.
    pub(super) fn report_singletons(&mut self) {
        // Of policies, `lint` says so.
        let is_told = self.source.dialect == Dialect::Strata;
        for (name, (span, uses)) in self.variables.iter().zip(&self.uses) {
            if is_told && *uses == 1 && !name.starts_with('_') && !self.failed {
                self.problems.push(problem::singleton(name, *span));
            }
        }
    }

    /// Tells what is wrong.
    pub(super) fn fail<T>(&mut self, problem: crate::diagnostic::Diagnostic) -> Option<T> {
        self.failed = true;
        self.problems.push(problem);
        None
    }
}

/// What a variable means that has no value yet.
#[derive(Clone, Copy)]
pub(super) enum Unbound {
    /// It gets one here.
    IsNew,
    /// It should have one, at this place.
    IsWrong(&'static str),
}

/// An expression as it is named in a message.
fn words(expression: &Expression) -> String {
    match expression {
        Expression::Variable(it) => it.name.clone(),
        Expression::Number(it, _) => it.to_string(),
        Expression::Text(it, _) => format!("\"{it}\""),
        Expression::Constant(kind, word, _) => format!("{kind}::{word}"),
        Expression::Arithmetic(..) => "the computation".to_owned(),
        Expression::Value(it, _) => crate::expression::print::format_value(it),
        Expression::InTense(tense, it) => format!("{}({})", tense.name(), it.name),
        Expression::Message(..) => "the message".to_owned(),
    }
}
