//! Attributes of object constructors that the type of an input variable has no place for: written for nothing.

use crate::config::suggest;
use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::{Expr, Expression, Item, ObjectKey};
use crate::value::{Kind, Str, Type, Value, convert::convert};

/// Returns a warning for each of them, as far as they are written out.
///
/// - `want`: the variable's type, optional attributes included.
pub(super) fn attributes(variable: &str, expression: &Expression, want: Type) -> Vec<Diagnostic> {
    let mut search = Search { variable, found: Vec::new() };
    search.expression(expression, want, "");
    search.found
}

struct Search<'a> {
    variable: &'a str,
    found: Vec<Diagnostic>,
}

impl Search<'_> {
    fn expression(&mut self, expression: &Expression, want: Type, path: &str) {
        match (want.kind(), &expression.expr) {
            (Kind::Object(_), Expr::Object(items)) => {
                self.object(items, expression.span, want, path)
            }
            (Kind::Map(element), Expr::Object(items)) => {
                for item in items {
                    if let Some(key) = constant_key(&item.key) {
                        self.expression(&item.value, *element, &format!("{path}[{key:?}]"));
                    }
                }
            }
            (Kind::Map(element), Expr::For(it)) if it.key.is_some() => {
                self.expression(&it.value, *element, &format!("{path}[...]"));
            }
            (Kind::List(element) | Kind::Set(element), Expr::For(it)) if it.key.is_none() => {
                self.expression(&it.value, *element, &format!("{path}[...]"));
            }
            (Kind::List(element) | Kind::Set(element), Expr::Tuple(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.expression(item, *element, &format!("{path}[{index}]"));
                }
            }
            (Kind::Tuple(elements), Expr::Tuple(items)) if elements.len() == items.len() => {
                for (index, (item, element)) in items.iter().zip(elements).enumerate() {
                    self.expression(item, *element, &format!("{path}[{index}]"));
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, items: &[Item], whole: Span, want: Type, path: &str) {
        for item in items {
            let Some(key) = constant_key(&item.key) else { continue };
            match want.attribute(&key) {
                Some(ty) => self.expression(&item.value, ty, &format!("{path}.{key}")),
                None => {
                    let warning = self.unused(&key, want, path);
                    self.found.push(warning.at(key_span(&item.key)).within(whole));
                }
            }
        }
    }

    fn unused(&self, name: &str, want: Type, path: &str) -> Diagnostic {
        let near = suggest(name, want.attributes().iter().map(|it| &*it.0));
        let hint = near.map_or_else(String::new, |it| {
            format!(" Did you mean to set attribute {it:?} instead?")
        });
        let place = if path.is_empty() { String::new() } else { format!(" nested value {path}") };
        Diagnostic::warning("Object attribute is ignored").detail(format!(
            "The object type for input variable {:?}{place} does not include an attribute named {name:?}, so this definition is unused.{hint}",
            self.variable
        ))
    }
}

/// The key, where it is a literal.
fn constant_key(key: &ObjectKey) -> Option<Str> {
    let expression = match key {
        ObjectKey::Name(name) => return Some(name.text.clone()),
        ObjectKey::Expression(it) => it,
    };
    let value = crate::expression::evaluate_constant(expression).ok()?;
    let text: Value = convert(&value, Type::STRING).ok()?;
    text.as_str().map(Str::from)
}

fn key_span(key: &ObjectKey) -> Span {
    match key {
        ObjectKey::Name(name) => name.span,
        ObjectKey::Expression(it) => it.span,
    }
}
