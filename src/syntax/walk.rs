//! What an expression refers to: references and calls, found without evaluating anything.

use super::{Call, Expr, Expression, Name, ObjectKey, Part, Root, Step};
use crate::diagnostic::{Diagnostics, Span};
use crate::stack::deeper;
use crate::value::Str;

/// Something in an expression.
pub enum Found<'a> {
    /// A variable that the expression does not bind itself: first name, steps, and the place of the whole. The steps end
    /// where a splat begins.
    Reference(&'a Root, &'a [Step], Span),
    /// A function call, and the place of the whole.
    Call(&'a Call, Span),
    /// What is wrong with a string of JSON that is no template.
    Broken(&'a Diagnostics),
    /// Anything else.
    Other(&'a Expression),
}

/// Calls `visit` for an expression and everything in it, each before its parts, in source order.
///
/// Names bound by a `for` are left out in its body. What stands in index keys, conditions and templates is visited too.
pub fn found<'a>(expression: &'a Expression, visit: &mut dyn FnMut(Found<'a>)) {
    walk(expression, None, &mut |expression, scope| match &expression.expr {
        Expr::Traversal(it) if !binds(scope, &it.root().text) => {
            visit(Found::Reference(it.root(), it.steps(), expression.span))
        }
        Expr::Call(it) => visit(Found::Call(it, expression.span)),
        Expr::Broken(problems) => visit(Found::Broken(problems)),
        _ => visit(Found::Other(expression)),
    });
}

/// Calls `visit` for every reference in an expression, as [`found`] does.
pub fn references<'a>(
    expression: &'a Expression,
    visit: &mut dyn FnMut(&'a Root, &'a [Step], Span),
) {
    found(expression, &mut |it| {
        if let Found::Reference(root, steps, span) = it {
            visit(root, steps, span);
        }
    });
}

/// Calls `visit` for every function call in an expression, as [`found`] does: the whole name (`provider::aws::f`), the
/// arguments, and the place of the whole.
pub fn calls<'a>(
    expression: &'a Expression,
    visit: &mut dyn FnMut(&'a Name, &'a [Expression], Span),
) {
    found(expression, &mut |it| {
        if let Found::Call(call, span) = it {
            visit(&call.name, &call.arguments, span);
        }
    });
}

/// Calls `visit` for an expression and everything in it, in source order.
pub fn parts<'a>(expression: &'a Expression, visit: &mut dyn FnMut(&'a Expression)) {
    walk(expression, None, &mut |expression, _| visit(expression));
}

/// The names that a `for` binds, and the scope around it.
struct Scope<'s, 'a> {
    key: Option<&'a Str>,
    value: &'a Str,
    outer: Option<&'s Scope<'s, 'a>>,
}

fn binds(scope: Option<&Scope<'_, '_>>, name: &str) -> bool {
    let mut scope = scope;
    while let Some(it) = scope {
        if **it.value == *name || it.key.is_some_and(|key| **key == *name) {
            return true;
        }
        scope = it.outer;
    }
    false
}

type Visit<'v, 'a> = &'v mut dyn FnMut(&'a Expression, Option<&Scope<'_, 'a>>);

/// Goes through an expression and everything in it, each before its parts.
fn walk<'a>(expression: &'a Expression, scope: Option<&Scope<'_, 'a>>, visit: Visit<'_, 'a>) {
    visit(expression, scope);
    match &expression.expr {
        // Most have nothing in them that is deep.
        Expr::String(_) | Expr::Number(_) | Expr::Traversal(_) => {
            walk_parts(expression, scope, visit)
        }
        _ => deeper(|| walk_parts(expression, scope, visit)),
    }
}

fn walk_parts<'a>(expression: &'a Expression, scope: Option<&Scope<'_, 'a>>, visit: Visit<'_, 'a>) {
    match &expression.expr {
        Expr::Null | Expr::Bool(_) | Expr::Number(_) | Expr::String(_) | Expr::Broken(_) => {}
        Expr::Template(parts) => walk_template(parts, scope, visit),
        Expr::Wrapped(inner) | Expr::Unary(_, inner) | Expr::Parentheses(inner) => {
            walk(inner, scope, visit)
        }
        Expr::Tuple(items) => items.iter().for_each(|it| walk(it, scope, visit)),
        Expr::Object(items) => {
            for item in items {
                if let ObjectKey::Expression(key) = &item.key {
                    walk(key, scope, visit);
                }
                walk(&item.value, scope, visit);
            }
        }
        Expr::Traversal(it) => walk_steps(it.steps(), scope, visit),
        Expr::Relative(it) => {
            walk(&it.source, scope, visit);
            walk_steps(&it.steps, scope, visit);
        }
        Expr::Splat(it) => {
            walk(&it.source, scope, visit);
            walk_steps(&it.each, scope, visit);
        }
        Expr::Call(it) => it.arguments.iter().for_each(|it| walk(it, scope, visit)),
        Expr::Conditional(it) => {
            [&it.condition, &it.yes, &it.no].into_iter().for_each(|it| walk(it, scope, visit))
        }
        Expr::Binary(_, left, right) => {
            walk(left, scope, visit);
            walk(right, scope, visit);
        }
        Expr::For(it) => {
            walk(&it.collection, scope, visit);
            let inner = within(it.key_name.as_ref(), &it.value_name, scope);
            for part in it.key.iter().chain([&it.value]).chain(&it.condition) {
                walk(part, Some(&inner), visit);
            }
        }
    }
}

fn walk_template<'a>(parts: &'a [Part], scope: Option<&Scope<'_, 'a>>, visit: Visit<'_, 'a>) {
    for part in parts {
        match part {
            Part::Literal(_) => {}
            Part::Interpolation(value) => walk(value, scope, visit),
            Part::If(it) => deeper(|| {
                walk(&it.condition, scope, visit);
                walk_template(&it.yes, scope, visit);
                walk_template(&it.no, scope, visit);
            }),
            Part::For(it) => deeper(|| {
                walk(&it.collection, scope, visit);
                let inner = within(it.key_name.as_ref(), &it.value_name, scope);
                walk_template(&it.body, Some(&inner), visit);
            }),
        }
    }
}

fn walk_steps<'a>(steps: &'a [Step], scope: Option<&Scope<'_, 'a>>, visit: Visit<'_, 'a>) {
    for step in steps {
        match step {
            Step::Attribute(_) | Step::LegacyIndex(..) => {}
            Step::Index(it) => deeper(|| walk(&it.key, scope, visit)),
            Step::Splat(it) => deeper(|| walk_steps(&it.each, scope, visit)),
        }
    }
}

fn within<'s, 'a>(
    key: Option<&'a Name>,
    value: &'a Name,
    outer: Option<&'s Scope<'s, 'a>>,
) -> Scope<'s, 'a> {
    Scope { key: key.map(|it| &it.text), value: &value.text, outer }
}
