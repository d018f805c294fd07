//! What an expression refers to: references and calls, found without evaluating anything.
//!
//! Walks with a stack of its own, so a tall tree costs no recursion.

use super::{Expr, Expression, Name, ObjectKey, Part, Step};
use crate::diagnostic::{Diagnostics, Span};
use crate::value::Str;

/// Calls `visit` for every variable that an expression refers to and that it does not bind itself, in source order:
/// first name, steps, and the place of the whole.
///
/// Names bound by a `for` are left out in its body. References in index keys, conditions and templates are visited too. The
/// steps end where a splat begins.
pub fn references<'a>(
    expression: &'a Expression,
    visit: &mut dyn FnMut(&'a Name, &'a [Step], Span),
) {
    let mut walk = Walk::new(expression);
    while let Some((expression, scope)) = walk.next() {
        if let Some((root, steps)) = expression.as_traversal()
            && !walk.binds(scope, &root.text)
        {
            visit(root, steps, expression.span);
        }
    }
}

/// Calls `visit` for every function call in an expression, in source order: the whole name (`provider::aws::f`), the
/// arguments, and the place of the whole.
pub fn calls<'a>(
    expression: &'a Expression,
    visit: &mut dyn FnMut(&'a Name, &'a [Expression], Span),
) {
    let mut walk = Walk::new(expression);
    while let Some((expression, _)) = walk.next() {
        if let Expr::Call(it) = &expression.expr {
            visit(&it.name, &it.arguments, expression.span);
        }
    }
}

/// Calls `visit` for an expression and everything in it, in source order.
pub fn parts<'a>(expression: &'a Expression, visit: &mut dyn FnMut(&'a Expression)) {
    let mut walk = Walk::new(expression);
    while let Some((expression, _)) = walk.next() {
        visit(expression);
    }
}

/// Calls `visit` with what is wrong with every string of JSON in an expression that is no template, in source order.
pub fn broken<'a>(expression: &'a Expression, visit: &mut dyn FnMut(&'a Diagnostics)) {
    let mut walk = Walk::new(expression);
    while let Some((expression, _)) = walk.next() {
        if let Expr::Broken(problems) = &expression.expr {
            visit(problems);
        }
    }
}

/// The names that a `for` binds, and the scope around it.
struct Scope<'a> {
    key: Option<&'a Str>,
    value: &'a Str,
    outer: Option<usize>,
}

/// Goes through an expression and everything in it, each before its parts.
struct Walk<'a> {
    /// What comes next, before everything that is to do: most expressions have no parts, and need no room for them.
    first: Option<&'a Expression>,
    todo: Vec<(Todo<'a>, Option<usize>)>,
    scopes: Vec<Scope<'a>>,
}

enum Todo<'a> {
    Expression(&'a Expression),
    Parts(&'a [Part]),
    Steps(&'a [Step]),
}

impl<'a> Walk<'a> {
    fn new(expression: &'a Expression) -> Walk<'a> {
        Walk { first: Some(expression), todo: Vec::new(), scopes: Vec::new() }
    }

    fn binds(&self, scope: Option<usize>, name: &str) -> bool {
        let mut scope = scope;
        while let Some(index) = scope {
            let it = &self.scopes[index];
            if &**it.value == name || it.key.is_some_and(|key| &**key == name) {
                return true;
            }
            scope = it.outer;
        }
        false
    }

    fn next(&mut self) -> Option<(&'a Expression, Option<usize>)> {
        if let Some(first) = self.first.take() {
            self.enter(first, None);
            self.todo.reverse();
            return Some((first, None));
        }
        loop {
            let (todo, scope) = self.todo.pop()?;
            let first = self.todo.len();
            match todo {
                Todo::Expression(expression) => {
                    self.enter(expression, scope);
                    self.todo[first..].reverse();
                    return Some((expression, scope));
                }
                Todo::Parts([]) | Todo::Steps([]) => continue,
                Todo::Parts([part, rest @ ..]) => {
                    self.part(part, scope);
                    self.todo.push((Todo::Parts(rest), scope));
                }
                Todo::Steps([step, rest @ ..]) => {
                    match step {
                        Step::Index(key, _) => self.push(key, scope),
                        Step::Splat(it) => self.steps(&it.each, scope),
                        Step::Attribute(_) | Step::LegacyIndex(..) => {}
                    }
                    self.steps(rest, scope);
                }
            }
            self.todo[first..].reverse();
        }
    }

    fn push(&mut self, expression: &'a Expression, scope: Option<usize>) {
        self.todo.push((Todo::Expression(expression), scope));
    }

    /// Puts steps down, if there is anything in them.
    fn steps(&mut self, steps: &'a [Step], scope: Option<usize>) {
        if steps.iter().any(|it| matches!(it, Step::Index(..) | Step::Splat(_))) {
            self.todo.push((Todo::Steps(steps), scope));
        }
    }

    fn bind(
        &mut self,
        key: Option<&'a Name>,
        value: &'a Name,
        outer: Option<usize>,
    ) -> Option<usize> {
        self.scopes.push(Scope { key: key.map(|it| &it.text), value: &value.text, outer });
        Some(self.scopes.len() - 1)
    }

    /// Puts the parts of an expression down, in source order.
    fn enter(&mut self, expression: &'a Expression, scope: Option<usize>) {
        match &expression.expr {
            Expr::Null | Expr::Bool(_) | Expr::Number(_) | Expr::String(_) | Expr::Broken(_) => {}
            Expr::Template(parts) => self.todo.push((Todo::Parts(parts), scope)),
            Expr::Wrapped(inner) | Expr::Unary(_, inner) | Expr::Parentheses(inner) => {
                self.push(inner, scope)
            }
            Expr::Tuple(items) => items.iter().for_each(|it| self.push(it, scope)),
            Expr::Object(items) => {
                for item in items {
                    if let ObjectKey::Expression(key) = &item.key {
                        self.push(key, scope);
                    }
                    self.push(&item.value, scope);
                }
            }
            Expr::Traversal(it) => self.steps(&it.steps, scope),
            Expr::Relative(it) => {
                self.push(&it.source, scope);
                self.steps(&it.steps, scope);
            }
            Expr::Splat(it) => {
                self.push(&it.source, scope);
                self.steps(&it.each, scope);
            }
            Expr::Call(it) => it.arguments.iter().for_each(|it| self.push(it, scope)),
            Expr::Conditional(it) => {
                for part in [&it.condition, &it.yes, &it.no] {
                    self.push(part, scope);
                }
            }
            Expr::Binary(_, left, right) => {
                self.push(left, scope);
                self.push(right, scope);
            }
            Expr::For(it) => {
                self.push(&it.collection, scope);
                let inner = self.bind(it.key_name.as_ref(), &it.value_name, scope);
                for part in it.key.iter().chain([&it.value]).chain(&it.condition) {
                    self.push(part, inner);
                }
            }
        }
    }

    fn part(&mut self, part: &'a Part, scope: Option<usize>) {
        match part {
            Part::Literal(_) => {}
            Part::Interpolation(value) => self.push(value, scope),
            Part::If(it) => {
                self.push(&it.condition, scope);
                self.todo.push((Todo::Parts(&it.yes), scope));
                self.todo.push((Todo::Parts(&it.no), scope));
            }
            Part::For(it) => {
                self.push(&it.collection, scope);
                let inner = self.bind(it.key_name.as_ref(), &it.value_name, scope);
                self.todo.push((Todo::Parts(&it.body), inner));
            }
        }
    }
}
