//! The evaluator: one expression to one value and the problems found on the way.
//!
//! Every form of expression gives a value even where something is wrong with it (an unknown), so that all problems of an
//! expression are told at once. Where HCL drops the problems of an operand that does not matter, so does this: see
//! [`Evaluator::captured`] and [`Evaluator::set_aside`]. A reference to something that does not exist is told always.

use std::cell::{Cell, RefCell};

use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::stack::deeper;
use crate::syntax::{Expr, Expression};
use crate::value::{Marks, Reads, Str, Type, Value};

use super::{Scope, problems, size, statement};

mod traversal;

/// Depth that nobody writes, and where evaluation ends with an error.
const GREATEST_DEPTH: u32 = 4500;

/// Returns the value of an expression, and every problem found. The value is unknown where an error kept it from being
/// decided.
pub fn evaluate(expression: &Expression, scope: &dyn Scope) -> (Value, Diagnostics) {
    evaluate_with(expression, scope, &[])
}

/// Returns the value of an expression in which these names are bound, before anything that the scope knows.
pub fn evaluate_with(
    expression: &Expression,
    scope: &dyn Scope,
    bindings: &[(Str, Value)],
) -> (Value, Diagnostics) {
    let evaluator = Evaluator::new(scope, 0, 0);
    let value = evaluator.value(expression, &Names::of(bindings));
    let mut found = evaluator.into_problems();
    if !scope.may_be_deprecated() {
        return (value, found);
    }
    let (value, deprecations) = value.undeprecated();
    for (path, sources) in deprecations {
        for origin in sources.iter().flat_map(|it| it.iter()) {
            found.push(problems::deprecated(&path, origin, expression.span));
        }
    }
    (value, found)
}

/// Evaluates the text of a template with its variables; `templates` is how many are being rendered around it.
pub(super) fn evaluate_template(
    expression: &Expression,
    scope: &dyn Scope,
    bindings: &[(Str, Value)],
    templates: u32,
) -> (Value, Diagnostics) {
    let evaluator = Evaluator { templates, ..Evaluator::new(scope, 0, 0) };
    let value = evaluator.value(expression, &Names::of(bindings));
    (value, evaluator.into_problems())
}

/// Names bound around an expression, innermost first.
pub(super) struct Names<'n> {
    own: &'n [(Str, Value)],
    outer: Option<&'n Names<'n>>,
}

impl<'n> Names<'n> {
    /// These names and nothing around them.
    pub fn of(own: &'n [(Str, Value)]) -> Names<'n> {
        Names { own, outer: None }
    }

    /// These names, and around them `outer`.
    pub fn within(own: &'n [(Str, Value)], outer: &'n Names<'n>) -> Names<'n> {
        Names { own, outer: Some(outer) }
    }

    fn find(&self, name: &str) -> Option<&Value> {
        let mut frame = Some(self);
        while let Some(names) = frame {
            if let Some(found) = names.own.iter().rev().find(|it| &*it.0 == name) {
                return Some(&found.1);
            }
            frame = names.outer;
        }
        None
    }

    /// Every name.
    pub fn all(&self) -> Vec<Str> {
        let mut all = Vec::new();
        let mut frame = Some(self);
        while let Some(names) = frame {
            all.extend(names.own.iter().map(|it| it.0.clone()));
            frame = names.outer;
        }
        all
    }
}

/// The state of one evaluation.
pub(super) struct Evaluator<'a> {
    /// Where references are looked up.
    pub scope: &'a dyn Scope,
    /// Problems that an enclosing `try`, conditional or logical operator may still drop.
    found: RefCell<Vec<Diagnostic>>,
    /// Problems that nothing drops: references to what does not exist.
    lasting: RefCell<Vec<Diagnostic>>,
    depth: Cell<u32>,
    /// Whether a value was too large: then loops end.
    pub is_exhausted: Cell<bool>,
    elements: Cell<usize>,
    /// How many enclosing evaluations only ask for type and sensitivity.
    aside: Cell<u32>,
    /// How many enclosing evaluations may drop their problems: then values are not described.
    captures: Cell<u32>,
    /// Whether what is evaluated next is a name that a `for` or a splat goes through.
    by_element: Cell<bool>,
    /// How many `templatefile` and `templatestring` calls are around.
    templates: u32,
    /// Only the words of problems are wanted.
    wording: Cell<bool>,
    /// What has been read; kept to know what a dropped operand read.
    trail: RefCell<Reads>,
}

/// Returns whether an expression is a name, or the values of what has one: each element is as it was.
fn is_collection_by_name(expression: &Expression) -> bool {
    match &expression.expr {
        Expr::Traversal(_) => true,
        Expr::Parentheses(inner) => is_collection_by_name(inner),
        Expr::Call(it) => {
            &*it.name.text == "values" && it.arguments.iter().all(is_collection_by_name)
        }
        _ => false,
    }
}

impl<'a> Evaluator<'a> {
    pub fn new(scope: &'a dyn Scope, depth: u32, aside: u32) -> Evaluator<'a> {
        Evaluator {
            templates: 0,
            scope,
            found: RefCell::default(),
            lasting: RefCell::default(),
            depth: Cell::new(depth),
            is_exhausted: Cell::new(false),
            elements: Cell::new(0),
            aside: Cell::new(aside),
            captures: Cell::new(0),
            by_element: Cell::new(false),
            wording: Cell::new(false),
            trail: RefCell::default(),
        }
    }

    /// Evaluates what a `for` or a splat goes through: a name counts as read only as far as its elements are.
    pub fn gone_through(&self, expression: &Expression, names: &Names<'_>) -> Value {
        self.by_element.set(is_collection_by_name(expression));
        let value = self.value(expression, names);
        self.by_element.set(false);
        value
    }

    /// An evaluator whose outcome decides nothing, and that tells nobody what it reads.
    pub fn aside(scope: &'a dyn Scope) -> Evaluator<'a> {
        let evaluator = Evaluator::new(scope, 0, 1);
        evaluator.captures.set(1);
        evaluator
    }

    /// Returns what is wrong, each problem once.
    pub fn into_problems(self) -> Diagnostics {
        // Where something does not exist, what follows from that need not be said.
        let (mut all, mut found) = (self.lasting.into_inner(), self.found.into_inner());
        if !failed(&all) {
            all.append(&mut found);
        }
        if all.is_empty() {
            return Diagnostics::new();
        }
        Diagnostics(all).once()
    }

    /// Returns the value of an expression.
    pub fn value(&self, expression: &Expression, names: &Names<'_>) -> Value {
        if !self.enter(expression) {
            return Value::unknown(Type::DYNAMIC);
        }
        let value = deeper(|| self.value_here(expression, names));
        self.leave();
        if !self.may_be_excessive(&expression.expr) {
            return value;
        }
        match size::elements(&value) {
            Some(elements) => {
                self.elements.set(elements);
                value
            }
            None => self.exhausted(expression.span),
        }
    }

    /// Says that a value would be too large. From now on loops end.
    pub fn exhausted(&self, at: Span) -> Value {
        if !self.is_exhausted.replace(true) {
            self.lasting.borrow_mut().push(problems::excessive(at));
        }
        Value::unknown(Type::DYNAMIC)
    }

    /// How many elements the last value of a call or a loop had.
    pub fn last_elements(&self) -> usize {
        self.elements.get()
    }

    /// Whether an expression makes values that are larger than those in it. What is written out is looked at as a whole, at the end.
    fn may_be_excessive(&self, expression: &Expr) -> bool {
        match expression {
            Expr::Call(_) | Expr::For(_) | Expr::Splat(_) | Expr::Template(_) => true,
            Expr::Tuple(_) | Expr::Object(_) => self.depth.get() == 0,
            _ => false,
        }
    }

    /// Goes one expression deeper, unless that is too deep, which is told.
    pub fn enter(&self, expression: &Expression) -> bool {
        let depth = self.depth.get();
        if depth >= GREATEST_DEPTH {
            self.lasting.borrow_mut().push(problems::too_deep(expression.span));
            return false;
        }
        self.depth.set(depth + 1);
        true
    }

    /// Comes back from where [`enter`](Evaluator::enter) led.
    pub fn leave(&self) {
        self.depth.set(self.depth.get() - 1);
    }

    fn value_here(&self, expression: &Expression, names: &Names<'_>) -> Value {
        match &expression.expr {
            Expr::Null => Value::NULL,
            Expr::Bool(it) => Value::Bool(*it),
            Expr::Number(it) => Value::Number(it.clone()),
            Expr::String(it) => Value::String(it.clone()),
            Expr::Template(parts) => self.template(parts, expression.span, names),
            Expr::Wrapped(it) | Expr::Parentheses(it) => self.value(it, names),
            Expr::Tuple(items) => {
                Value::tuple(items.iter().map(|it| self.value(it, names)).collect())
            }
            Expr::Object(items) => self.object(items, names),
            Expr::Traversal(it) => self.traversal(expression, it.root(), it.steps(), names),
            Expr::Relative(it) => {
                let value = self.value(&it.source, names);
                self.follow(value, &it.steps, expression, names)
            }
            Expr::Splat(it) => self.splat(expression, it, names),
            Expr::Call(it) => self.call(expression, it, names),
            Expr::Conditional(it) => {
                self.conditional(expression, &it.condition, &it.yes, &it.no, names)
            }
            Expr::Unary(op, it) => self.unary(expression, *op, it, names),
            Expr::Binary(..) => self.binary(expression, names),
            Expr::For(it) => self.comprehension(it, expression.span, names),
            Expr::Broken(problems) => {
                self.keep(problems.0.clone());
                Value::unknown(Type::DYNAMIC)
            }
        }
    }

    /// Keeps a problem of `about` (the failing expression), with the values that it refers to.
    pub fn report(&self, mut problem: Diagnostic, about: &Expression, names: &Names<'_>) {
        if self.captures.get() == 0 && problem.values.is_empty() {
            problem.values = statement::referred(about, self.scope, names, false, false);
        }
        self.found.borrow_mut().push(problem);
    }

    /// Keeps a problem that nothing may drop.
    pub fn lasting_problem(&self, problem: Diagnostic) {
        self.lasting.borrow_mut().push(problem);
    }

    /// How many templates are being rendered around this evaluation.
    pub fn templates(&self) -> u32 {
        self.templates
    }

    /// Keeps problems as they are.
    pub fn keep(&self, problems: Vec<Diagnostic>) {
        self.found.borrow_mut().extend(problems);
    }

    /// Returns what `work` returns and, apart, the problems it found.
    pub fn captured<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<Diagnostic>) {
        let before = self.found.take();
        let result = work();
        let found = self.found.replace(before);
        (result, found)
    }

    /// Like [`Evaluator::captured`], for problems that are likely to be dropped: they describe no values.
    pub fn attempted<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<Diagnostic>) {
        self.captures.set(self.captures.get() + 1);
        let result = self.captured(work);
        self.captures.set(self.captures.get() - 1);
        result
    }

    /// Returns what `work` returns, which is done for the words of its problems alone.
    pub fn wording<T>(&self, work: impl FnOnce() -> T) -> T {
        self.wording.set(true);
        let result = work();
        self.wording.set(false);
        result
    }

    /// Returns whether only the words of problems are wanted.
    pub fn is_wording(&self) -> bool {
        self.wording.get()
    }

    /// Returns what `work` returns where the outcome is decided without it: problems are dropped and nothing counts as read.
    pub fn set_aside<T>(&self, work: impl FnOnce() -> T) -> T {
        self.aside.set(self.aside.get() + 1);
        let (result, _) = self.attempted(work);
        self.aside.set(self.aside.get() - 1);
        result
    }

    /// Returns what `work` returns, and what was read meanwhile.
    pub fn trailed<T>(&self, work: impl FnOnce() -> T) -> (T, Marks) {
        let before = self.trail.take();
        let result = work();
        let reads = self.trail.replace(before);
        self.tread(&reads);
        (result, Marks { reads, ..Marks::default() })
    }

    fn tread(&self, reads: &Reads) {
        if !reads.is_empty() {
            let united = self.trail.borrow().union(reads);
            self.trail.replace(united);
        }
    }

    /// Tells the scope of an expression that an unknown kept from being evaluated, and returns where its value would come from.
    pub fn unevaluated(&self, expression: &Expression, names: &Names<'_>, more: &[Str]) -> Marks {
        if self.aside.get() > 0 {
            return Marks::default();
        }
        let mut bound = names.all();
        bound.extend_from_slice(more);
        self.scope.unevaluated(expression, &bound)
    }
}

/// Returns whether any of the problems is an error.
pub(super) fn failed(problems: &[Diagnostic]) -> bool {
    problems.iter().any(Diagnostic::is_error)
}

/// The place of the first of two spans up to the end of the second.
pub(super) fn between(first: Span, last: Span) -> Span {
    first.to(last)
}
