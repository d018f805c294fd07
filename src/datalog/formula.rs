//! Expressions of the configuration language in rules: their own evaluator, over the variables of a rule.

use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::expression::functions;
use crate::expression::{
    Around, Ask, Declared, Scope, base_name, evaluate_with, miscounted, unknown_function,
};
use crate::stack::deeper;
use crate::syntax::{self, BinaryOp, Expr, Expression, Name, ObjectKey, Part, Root, Step, UnaryOp};
use crate::value::{Str, Type, Value};
use crate::world::World;

use super::check::{self, Reference};
use super::domain::{Domain, Tense, is_as_written};
use super::{loose, problem, values};

/// What gives something else each time, or looks at more than its arguments.
const IMPURE: &[&str] = &[
    "abspath",
    "bcrypt",
    "file",
    "filebase64",
    "filebase64sha256",
    "filebase64sha512",
    "fileexists",
    "filemd5",
    "fileset",
    "filesha1",
    "filesha256",
    "filesha512",
    "pathexpand",
    "plantimestamp",
    "templatefile",
    "templatestring",
    "timestamp",
    "uuid",
];

/// An expression, and which variables of its rule it uses how.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    expression: Expression,
    /// The name in the expression, the variable, and what it means there.
    pub uses: Vec<(Str, usize, Use)>,
    /// Whether it is nothing but a look into a variable.
    pub is_plain: bool,
    /// Whether it compares something with a bool or a number that is written in it.
    pub compares_scalars: bool,
    /// Where it stands.
    pub span: Span,
}

/// What a variable means in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// As it is; a node is its address.
    Itself,
    /// Something is taken of it: a node is its value in this tense.
    Whole(Tense),
}

/// A use of a variable in an expression, before variables have numbers.
pub(super) struct Named {
    /// What it is called in the expression from here on.
    pub alias: Str,
    /// The variable's name.
    pub name: Str,
    /// What it means.
    pub how: Use,
    /// Where it stands.
    pub span: Span,
}

/// Reads an expression that stands in a rule, and says which variables it names.
pub(super) fn read(expression: &Expression) -> (Expression, Vec<Named>, Diagnostics) {
    let mut expression = expression.clone();
    let mut problems = Diagnostics::new();
    syntax::parts(&expression, &mut |it| {
        let Expr::Call(call) = &it.expr else { return };
        let (name, span) = (&call.name, it.span);
        if Tense::of(&name.text).is_some() {
            return;
        }
        problems.extend(miscounted(call, span));
        let own = base_name(&name.text);
        if IMPURE.contains(&own) {
            problems.push(problem::impure(&name.text, span));
        } else if functions::find(own).is_none() && !matches!(own, "try" | "can" | "type") {
            problems.push(unknown_function(name, span));
        }
    });
    let mut renaming = Renaming { bound: Vec::new(), named: Vec::new() };
    renaming.expression(&mut expression);
    (expression, renaming.named, problems)
}

impl Formula {
    /// Returns the formula of an expression whose variables have numbers.
    pub(super) fn new(expression: Expression, uses: Vec<(Str, usize, Use)>) -> Formula {
        let is_plain = matches!(expression.expr, Expr::Traversal(_));
        let mut compares_scalars = false;
        syntax::parts(&expression, &mut |it| {
            if let Expr::Binary(BinaryOp::Equal | BinaryOp::NotEqual, one, other) = &it.expr {
                compares_scalars |= is_scalar(one) || is_scalar(other);
            }
        });
        Formula { span: expression.span, expression, uses, is_plain, compares_scalars }
    }

    /// Returns what it takes of nodes: as far as attributes are named one after the other.
    pub fn references(&self) -> Vec<Reference> {
        let mut found = Vec::new();
        syntax::references(&self.expression, &mut |name, steps, _| {
            let used = self.uses.iter().find(|it| it.0 == name.text);
            let Some((_, root, Use::Whole(tense))) = used else { return };
            let names = steps.iter().map_while(|it| match it {
                Step::Attribute(name) => Some(check::Step::Name(name.text.clone())),
                _ => None,
            });
            found.push(Reference { root: *root, tense: *tense, steps: names.collect() });
        });
        found
    }

    /// Returns the value, and why there is none where it fails. Where it compares a text with a bool or a number that the text
    /// may become, it is known only if it is the same either way.
    ///
    /// - `values`: the words of the rule's variables.
    /// - `kinds`: their kinds.
    pub fn value(
        &self,
        values: &[Option<u64>],
        kinds: &[String],
        domain: &dyn Domain,
    ) -> (Value, Diagnostics) {
        let bound = self.bound(values, kinds, domain);
        let evaluate = |bound: &[_]| evaluate_with(&self.expression, &RuleScope { domain }, bound);
        let (value, problems) = evaluate(&bound);
        if !self.compares_scalars {
            return (value, problems);
        }
        let loose: Vec<&Str> = self.loose(values, domain).collect();
        let is_loose = |it: &(Str, Value)| loose.contains(&&it.0) && loose::may_convert(&it.1);
        if !bound.iter().any(is_loose) {
            return (value, problems);
        }
        let convert = |it: &(Str, Value)| match is_loose(it) {
            true => (it.0.clone(), loose::converted(&it.1)),
            false => it.clone(),
        };
        let (other, failed) = evaluate(&bound.iter().map(convert).collect::<Vec<_>>());
        match other == value && failed.has_errors() == problems.has_errors() {
            true => (value, problems),
            false => (Value::unknown(Type::DYNAMIC).mark(&value.deep_marks()), Diagnostics::new()),
        }
    }

    /// Returns whether the value of some variable is as somebody wrote it.
    pub(super) fn is_loose(&self, values: &[Option<u64>], domain: &dyn Domain) -> bool {
        self.loose(values, domain).next().is_some()
    }

    /// The names of such variables in the expression.
    fn loose<'f>(
        &'f self,
        values: &'f [Option<u64>],
        domain: &'f dyn Domain,
    ) -> impl Iterator<Item = &'f Str> {
        let all = self.uses.iter().filter(|(_, variable, how)| {
            values[*variable].is_some_and(|word| match how {
                Use::Itself => values::is_loose(word),
                Use::Whole(tense) => is_as_written(word, *tense, domain),
            })
        });
        all.map(|it| &it.0)
    }

    /// What its variables are in it.
    fn bound(
        &self,
        values: &[Option<u64>],
        kinds: &[String],
        domain: &dyn Domain,
    ) -> Vec<(Str, Value)> {
        let value = |(name, variable, how): &(Str, usize, Use)| {
            let word = values[*variable]?;
            let value = match domain.values().value(word) {
                Some(value) => Some(value),
                None => match how {
                    Use::Itself => Some(Value::string(domain.show(&kinds[*variable], word))),
                    Use::Whole(tense) => domain.value_of(tense.of_node(word)),
                },
            };
            // What is not there has nothing that could be taken of it.
            Some((name.clone(), value.unwrap_or(Value::NULL)))
        };
        self.uses.iter().filter_map(value).collect()
    }
}

/// Whether an expression is a bool or a number that is written out.
fn is_scalar(it: &Expression) -> bool {
    match &it.expr {
        Expr::Bool(_) | Expr::Number(_) => true,
        Expr::Parentheses(inner) | Expr::Unary(_, inner) => is_scalar(inner),
        _ => false,
    }
}

/// Gives variables of a rule the names under which their values are bound.
struct Renaming {
    /// Names that the expression binds itself.
    bound: Vec<Str>,
    named: Vec<Named>,
}

impl Renaming {
    fn expression(&mut self, it: &mut Expression) {
        deeper(|| self.parts(it));
    }

    fn parts(&mut self, it: &mut Expression) {
        self.tense(it);
        strictly(it);
        let span = it.span;
        match &mut it.expr {
            Expr::Null | Expr::Bool(_) | Expr::Number(_) | Expr::String(_) | Expr::Broken(_) => {}
            Expr::Template(parts) => self.template(parts),
            Expr::Wrapped(inner) | Expr::Unary(_, inner) | Expr::Parentheses(inner) => {
                self.expression(inner);
            }
            Expr::Tuple(items) => items.iter_mut().for_each(|it| self.expression(it)),
            Expr::Object(items) => items.iter_mut().for_each(|item| {
                if let ObjectKey::Expression(key) = &mut item.key {
                    self.expression(key);
                }
                self.expression(&mut item.value);
            }),
            Expr::Traversal(it) => {
                let (root, steps) = it.parts_mut();
                self.name(root, !steps.is_empty(), span);
                self.steps(steps);
            }
            Expr::Relative(it) => {
                self.expression(&mut it.source);
                self.steps(&mut it.steps);
            }
            Expr::Splat(it) => {
                self.whole(&mut it.source);
                self.steps(&mut it.each);
            }
            Expr::Call(it) => it.arguments.iter_mut().for_each(|it| self.expression(it)),
            Expr::Conditional(it) => {
                [&mut it.condition, &mut it.yes, &mut it.no]
                    .into_iter()
                    .for_each(|it| self.expression(it));
            }
            Expr::Binary(_, left, right) => {
                self.expression(left);
                self.expression(right);
            }
            Expr::For(it) => {
                self.whole(&mut it.collection);
                let names = it.key_name.iter().chain([&it.value_name]).map(|it| it.text.clone());
                let before = self.bound.len();
                self.bound.extend(names.collect::<Vec<_>>());
                let inner = it.key.iter_mut().chain([&mut it.value]).chain(&mut it.condition);
                inner.for_each(|it| self.expression(it));
                self.bound.truncate(before);
            }
        }
    }

    /// `old(b)` is `b` in another tense.
    fn tense(&mut self, it: &mut Expression) {
        if let Expr::Relative(relative) = &mut it.expr
            && let Some(root) = self.in_tense(&relative.source)
        {
            it.expr = Expr::traversal(root, std::mem::take(&mut relative.steps));
        } else if let Some(root) = self.in_tense(it) {
            it.expr = Expr::traversal(root, Vec::new());
        }
    }

    fn in_tense(&mut self, it: &Expression) -> Option<Name> {
        let Expr::Call(call) = &it.expr else { return None };
        let tense = Tense::of(&call.name.text)?;
        let [argument] = &*call.arguments else { return None };
        let (root, []) = argument.as_traversal()? else { return None };
        let alias = self.alias(&root.text, Use::Whole(tense), it.span);
        Some(Name::new(alias, root.span))
    }

    /// What is gone through is meant as a value.
    fn whole(&mut self, it: &mut Expression) {
        let span = it.span;
        match &mut it.expr {
            Expr::Traversal(traversal) if traversal.steps().is_empty() => {
                self.name(traversal.parts_mut().0, true, span);
            }
            _ => self.expression(it),
        }
    }

    fn name(&mut self, root: &mut Root, is_taken: bool, span: Span) {
        // What another step gave a name has a blank in it.
        if self.bound.contains(&root.text) || root.text.contains(' ') {
            return;
        }
        let how = if is_taken { Use::Whole(Tense::Planned) } else { Use::Itself };
        root.text = self.alias(&root.text, how, span);
    }

    fn alias(&mut self, name: &Str, how: Use, span: Span) -> Str {
        let alias = match how {
            Use::Itself => Str::from(format!("itself {name}")),
            Use::Whole(tense) => Str::from(format!("{} {name}", tense.name())),
        };
        if !self.named.iter().any(|it| it.alias == alias) {
            self.named.push(Named { alias: alias.clone(), name: name.clone(), how, span });
        }
        alias
    }

    fn steps(&mut self, steps: &mut [Step]) {
        for step in steps {
            match step {
                Step::Index(it) => self.expression(&mut it.key),
                Step::Splat(it) => self.steps(&mut it.each),
                Step::Attribute(_) | Step::LegacyIndex(..) => {}
            }
        }
    }

    fn template(&mut self, parts: &mut [Part]) {
        for part in parts {
            match part {
                Part::Literal(_) => {}
                Part::Interpolation(it) => self.expression(it),
                Part::If(it) => {
                    self.expression(&mut it.condition);
                    self.template(&mut it.yes);
                    self.template(&mut it.no);
                }
                Part::For(it) => {
                    self.whole(&mut it.collection);
                    let before = self.bound.len();
                    let names = it.key_name.iter().chain([&it.value_name]);
                    self.bound.extend(names.map(|it| it.text.clone()).collect::<Vec<_>>());
                    self.template(&mut it.body);
                    self.bound.truncate(before);
                }
            }
        }
    }
}

/// `a >= b` is said as `!(a < b)`: of numbers within bounds, the evaluator decides what is strict.
fn strictly(it: &mut Expression) {
    let Expr::Binary(operator, left, right) = &mut it.expr else { return };
    let strict = match operator {
        BinaryOp::GreaterOrEqual => BinaryOp::Less,
        BinaryOp::LessOrEqual => BinaryOp::Greater,
        _ => return,
    };
    let nothing = || Box::new(Expression { expr: Expr::Null, span: it.span });
    let (left, right) = (std::mem::replace(left, nothing()), std::mem::replace(right, nothing()));
    let inner = Expression { expr: Expr::Binary(strict, left, right), span: it.span };
    it.expr = Expr::Unary(UnaryOp::Not, Box::new(inner));
}

/// Where an expression of a rule looks things up: nothing but its variables is there.
struct RuleScope<'d> {
    domain: &'d dyn Domain,
}

impl Scope for RuleScope<'_> {
    fn declared(&self, _: Declared<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        let problem = Diagnostic::error("Not a variable of the rule");
        Err(problem.detail("A rule sees its own variables only.").at(ask.span).into())
    }

    fn world(&self) -> &World {
        self.domain.world()
    }

    fn around(&self) -> Around<'_> {
        Around::default()
    }

    fn remembers_documents(&self) -> bool {
        true
    }

    fn absent(
        &self,
        subject: crate::expression::Subject<'_>,
        span: Span,
    ) -> Result<Value, Diagnostics> {
        let _ = (subject, span);
        Ok(Value::unknown(Type::DYNAMIC))
    }
}
