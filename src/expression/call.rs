//! Calls of functions, providers' among them: which function it is, and whether the arguments fit.

use crate::diagnostic::{Diagnostic, Severity, Span};
use crate::syntax::{Call, Expr, Expression, Name, Part};
use crate::value::convert::{convert, reason};
use crate::value::{Type, Value};

use super::compose::elements;
use super::documents;
use super::evaluate::{Evaluator, Names, failed};
use super::functions::{self, Function, Rule};
use super::reference::{is_of_provider, parse_reference};
use super::{Subject, problems, unknown_function};

mod special;
pub use special::{typed, untyped};

/// Returns whether what a call reads is what its arguments read, whatever their values: it has them all evaluated, and
/// looks at all of each.
pub fn reads_its_arguments(call: &Call) -> bool {
    let name = base_name(&call.name.text);
    let is_usual = match name {
        "try" | "can" | "convert" | "type" => false,
        // Of a whole resource these read the keys alone.
        "length" | "keys" => call.arguments.iter().all(|it| it.as_traversal().is_none()),
        _ => functions::find(name).is_some(),
    };
    is_usual && !call.expand
}

/// Returns the name of a function without `core::`.
pub fn base_name(name: &str) -> &str {
    name.strip_prefix("core::").unwrap_or(name)
}

/// An argument as it is given.
#[derive(Clone, Copy)]
enum Given<'e> {
    /// By an expression of its own, yet to be evaluated.
    Written(&'e Expression),
    /// As an element of what `...` follows.
    Element(&'e Value, &'e Expression),
}

impl<'e> Given<'e> {
    /// The expression to blame.
    fn expression(self) -> &'e Expression {
        match self {
            Given::Written(it) | Given::Element(_, it) => it,
        }
    }

    /// The place to blame.
    fn place(self) -> Span {
        match self {
            Given::Written(it) => start_of(it),
            Given::Element(_, it) => it.span,
        }
    }
}

/// The arguments of a call.
enum Arguments<'e> {
    /// Each by an expression of its own.
    Written(&'e [Expression]),
    /// The last one stood for several: what is known of each, and the expression.
    Opened(Vec<(Option<Value>, &'e Expression)>),
}

impl Arguments<'_> {
    fn len(&self) -> usize {
        match self {
            Arguments::Written(all) => all.len(),
            Arguments::Opened(all) => all.len(),
        }
    }

    fn get(&self, at: usize) -> Option<Given<'_>> {
        match self {
            Arguments::Written(all) => all.get(at).map(Given::Written),
            Arguments::Opened(all) => all.get(at).map(|(value, expression)| match value {
                Some(value) => Given::Element(value, expression),
                None => Given::Written(expression),
            }),
        }
    }
}

/// One call as written.
struct Site<'e> {
    whole: &'e Expression,
    name: &'e Name,
    /// The name without `core::`.
    base: &'e str,
}

impl Site<'_> {
    /// From the name to the opening parenthesis.
    fn start(&self) -> Span {
        let span = self.name.span;
        span.ending_at((span.end() + 1).min(self.whole.span.end()))
    }
}

impl Evaluator<'_> {
    /// Evaluates `f(a, b...)`.
    pub(super) fn call(&self, whole: &Expression, call: &Call, names: &Names<'_>) -> Value {
        let Call { name, arguments, expand } = call;
        let (expand, site) = (*expand, Site { whole, name, base: base_name(&name.text) });
        if is_of_provider(name) {
            return self.provider_call(&site, arguments, expand, names);
        }
        match site.base {
            "try" => return self.try_each(&site, arguments, names),
            "can" => return self.can(&site, arguments, names),
            "convert" => return self.convert_to(&site, arguments, names),
            special::TYPED => return self.of_type(arguments, names),
            "type" if self.scope.is_console() => return self.type_of(&site, arguments, names),
            _ => {}
        }
        let Some(function) = functions::find(site.base) else {
            self.report(unknown_function(name, whole.span), whole, names);
            return Value::unknown(Type::DYNAMIC);
        };
        let unknown = || Value::unknown(Type::DYNAMIC);
        let Some(given) = self.opened(&site, arguments, expand, names) else { return unknown() };
        let parameters = function.parameters.iter().map(|it| it.name);
        if !self.count_fits(&site, &given, parameters, function.variadic.is_some(), names) {
            return unknown();
        }
        let parameter = |at| function.parameter(at).map(|it| (it.name, it.shape.ty()));
        let Some(values) = self.converted(&site, &given, parameter, names) else {
            return unknown();
        };
        match function.invoke(&values, self.scope, self.templates()) {
            Ok(value) if self.scope.remembers_documents() => {
                documents::of_call(function.name, &values, value)
            }
            Ok(value) => value,
            Err(failure) => {
                let blamed =
                    failure.argument.and_then(|at| Some((parameter(at)?.0, given.get(at)?)));
                self.fail(&site, &failure.message(&values), blamed, names);
                unknown()
            }
        }
    }

    fn fail(
        &self,
        site: &Site<'_>,
        message: &str,
        blamed: Option<(&str, Given<'_>)>,
        names: &Names<'_>,
    ) {
        let whole = site.whole;
        match blamed {
            Some((parameter, given)) => self.blame(site, parameter, message, given, names),
            None => {
                let problem = problems::failed_call(&site.name.text, message, site.start());
                self.report(named(problem.within(whole.span), site), whole, names);
            }
        }
    }

    /// Reports an argument.
    fn blame(
        &self,
        site: &Site<'_>,
        parameter: &str,
        why: &str,
        given: Given<'_>,
        names: &Names<'_>,
    ) {
        let problem = problems::bad_argument(parameter, why, given.place(), site.whole.span);
        self.report(named(problem, site), given.expression(), names);
    }

    /// Returns the arguments with those that `...` stands for. `None`: there is no telling which these are.
    fn opened<'e>(
        &self,
        site: &Site<'_>,
        arguments: &'e [Expression],
        expand: bool,
        names: &Names<'_>,
    ) -> Option<Arguments<'e>> {
        let Some((last, plain)) = arguments.split_last().filter(|_| expand) else {
            return Some(Arguments::Written(arguments));
        };
        let (list, found) = self.captured(|| self.value(last, names));
        let wrong = failed(&found);
        self.keep(found);
        if wrong {
            return None;
        }
        let (ty, is_null) = (list.ty(), list.is_null());
        let fits = ty == Type::DYNAMIC || ty.is_sequence();
        if is_null || !fits {
            let problem = problems::bad_expansion(is_null && fits, last.span, site.whole.span);
            self.report(named(problem, site), last, names);
            return None;
        }
        let marks = list.marks();
        let elements = elements(&list)?.into_iter();
        let elements = elements.map(|(_, item)| (Some(item.mark(&marks)), last));
        let plain = plain.iter().map(|it| (None, it));
        Some(Arguments::Opened(plain.chain(elements).collect()))
    }

    /// Evaluates arguments and converts them to their parameters' types. `None`: something is wrong with one, and all that is
    /// has been reported.
    fn converted<'p>(
        &self,
        site: &Site<'_>,
        given: &Arguments<'_>,
        parameter: impl Fn(usize) -> Option<(&'p str, Type)>,
        names: &Names<'_>,
    ) -> Option<Vec<Value>> {
        let mut values = Vec::with_capacity(given.len());
        let mut wrong = false;
        for (at, it) in (0..).map_while(|at| Some((at, given.get(at)?))) {
            let Some((name, ty)) = parameter(at) else { continue };
            let value = match it {
                Given::Element(value, _) => value.clone(),
                Given::Written(expression) => {
                    let (value, found) = self.captured(|| {
                        match given.len() {
                            1 => self.keys_only(site, expression),
                            _ => None,
                        }
                        .unwrap_or_else(|| self.value(expression, names))
                    });
                    wrong |= failed(&found);
                    self.keep(found);
                    value
                }
            };
            match convert(&value, ty) {
                Ok(value) => values.push(value),
                Err(error) => {
                    self.blame(site, name, &reason(&value, ty, &error.message), it, names);
                    wrong = true;
                }
            }
        }
        (!wrong).then_some(values)
    }

    /// `length(x)` and `keys(x)` of a whole resource read only its keys, where the scope tells them apart.
    fn keys_only(&self, site: &Site<'_>, argument: &Expression) -> Option<Value> {
        let ("length" | "keys") = site.base else { return None };
        let (root, steps) = argument.as_traversal()?;
        let reference = parse_reference(root, steps).ok()?;
        if !reference.rest.is_empty()
            || !matches!(reference.subject, Subject::Resource(..) | Subject::Module(_))
        {
            return None;
        }
        self.scope.key_set(reference.subject, reference.span)?.ok()
    }

    fn count_fits<'p>(
        &self,
        site: &Site<'_>,
        given: &Arguments<'_>,
        mut parameters: impl ExactSizeIterator<Item = &'p str>,
        or_more: bool,
        names: &Names<'_>,
    ) -> bool {
        let (whole, name, count) = (site.whole, &*site.name.text, parameters.len());
        let problem = if let Some(missing) = parameters.nth(given.len()) {
            problems::too_few_arguments(name, count, or_more, missing, whole.span)
        } else if let Some(beyond) = given.get(count).filter(|_| !or_more) {
            problems::too_many_arguments(name, count, beyond.place(), whole.span)
        } else {
            return true;
        };
        self.report(named(problem, site), whole, names);
        false
    }

    fn provider_call(
        &self,
        site: &Site<'_>,
        arguments: &[Expression],
        expand: bool,
        names: &Names<'_>,
    ) -> Value {
        let signature = match self.scope.provider_function(site.name) {
            Ok(signature) => signature,
            Err(problem) => {
                self.lasting_problem(problem.within(site.whole.span));
                return Value::unknown(Type::DYNAMIC);
            }
        };
        let unknown = || Value::unknown(signature.returns);
        let Some(given) = self.opened(site, arguments, expand, names) else { return unknown() };
        let parameters = signature.parameters.iter().map(|it| &*it.name);
        if !self.count_fits(site, &given, parameters, signature.variadic.is_some(), names) {
            return unknown();
        }
        let parameter = |at: usize| signature.parameters.get(at).or(signature.variadic.as_ref());
        let taken = |at| parameter(at).map(|it| (&*it.name, it.ty));
        let Some(values) = self.converted(site, &given, taken, names) else { return unknown() };
        let rule = |at| {
            parameter(at).map(|it| {
                let (null, unknown) = (it.takes_null, it.takes_unknown);
                Rule { null, unknown, dynamic: unknown, marked: false, told: false }
            })
        };
        let called = functions::prepare(&values, rule).and_then(|ready| {
            let takes_unknown = |at| rule(at).is_some_and(|it| it.unknown);
            let wholly_known = |at, it: &Value| takes_unknown(at) || it.is_wholly_known();
            let known = !ready.untyped
                && !ready.unknown
                && ready.arguments.iter().enumerate().all(|(at, it)| wholly_known(at, it));
            let value = if known {
                self.scope.call_provider_function(site.name, &ready.arguments)?
            } else {
                unknown()
            };
            Ok(value.mark(&ready.marks))
        });
        called.unwrap_or_else(|failure| {
            let blamed =
                failure.argument.and_then(|at| Some((&*parameter(at)?.name, given.get(at)?)));
            self.fail(site, &failure.message(&values), blamed, names);
            unknown()
        })
    }
}

/// Returns whether a name is that of the console's own function.
pub fn is_type_function(name: &str) -> bool {
    matches!(name, "type" | "core::type")
}

/// Returns whether an expression is nothing but a call of the console's own function.
pub fn is_type_call(expression: &Expression) -> bool {
    match &expression.expr {
        Expr::Parentheses(it) | Expr::Wrapped(it) => is_type_call(it),
        Expr::Call(it) => is_type_function(&it.name.text),
        _ => false,
    }
}

/// Adds which function was called.
fn named(problem: Diagnostic, site: &Site<'_>) -> Diagnostic {
    debug_assert_eq!(problem.severity, Severity::Error, "calls fail with errors");
    let signature = functions::find(site.base).map(Function::signature);
    Diagnostic { function: Some((site.name.text.to_string(), signature)), ..problem }
}

/// The place where an expression begins, as far as a reader needs it to know which one is meant.
pub fn start_of(expression: &Expression) -> Span {
    let mut at = expression;
    loop {
        let first_byte = at.span.first();
        match &at.expr {
            Expr::Parentheses(it) | Expr::Binary(_, it, _) => at = it,
            Expr::Conditional(it) => at = &it.condition,
            Expr::String(text) => return within_quotes(at.span, text),
            Expr::Template(parts) => match parts.first() {
                Some(Part::Interpolation(it)) => at = it,
                Some(Part::If(it)) => at = &it.condition,
                _ => return at.span,
            },
            Expr::Splat(it) => return it.marker,
            Expr::Tuple(_) | Expr::Object(_) | Expr::For(_) | Expr::Unary(..) => return first_byte,
            Expr::Call(it) => {
                return it.name.span.ending_at(at.span.end().min(it.name.span.end() + 1));
            }
            _ => return at.span,
        }
    }
}

/// The text between the quotes. A text of several lines may be a heredoc, whose first line is not known here.
fn within_quotes(span: Span, text: &str) -> Span {
    match text.contains('\n') || span.end() < span.start() + 2 {
        true => span,
        false => span.starting_at(span.start() + 1).ending_at(span.end() - 1),
    }
}
