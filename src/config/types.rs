//! Type constraints: `list(string)`, `object({ a = optional(number, 1) })`.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Span;
use crate::syntax::{Expr, Expression};
use crate::value::{Str, Type, convert};

use super::decode::Decoder;
use super::{TypeDefaults, problems};

/// A type and the defaults of its optional attributes.
#[derive(Clone, Debug)]
pub(super) struct Constraint {
    pub ty: Type,
    pub defaults: Option<TypeDefaults>,
}

impl Constraint {
    fn of(ty: Type) -> Constraint {
        Constraint { ty, defaults: None }
    }

    /// What stands for a type that could not be read.
    const ANY: Constraint = Constraint { ty: Type::DYNAMIC, defaults: None };
}

/// How deep types may be nested.
const DEEPEST: usize = 200;

/// Reads `type = …` of a variable.
pub(super) fn variable_type(decoder: &mut Decoder, expression: &Expression) -> Constraint {
    if let (Expr::String(text), false) = (&*expression.expr, decoder.file.is_json) {
        decoder.report(problems::quoted_type(text, expression.span));
        return Constraint::ANY;
    }
    let Some(expression) = decoder.written(expression) else { return Constraint::ANY };
    match expression.as_keyword() {
        Some("list") => Constraint::of(Type::list(Type::DYNAMIC)),
        Some("map") => Constraint::of(Type::map(Type::DYNAMIC)),
        _ => constraint(decoder, &expression, 0),
    }
}

fn constraint(decoder: &mut Decoder, expression: &Expression, depth: usize) -> Constraint {
    if depth > DEEPEST {
        decoder.report(problems::invalid_type("This type is nested too deeply.", expression.span));
        return Constraint::ANY;
    }
    match &*expression.expr {
        Expr::Parentheses(inner) => constraint(decoder, inner, depth + 1),
        Expr::Call { name, arguments, .. } => {
            constructed(decoder, expression, (&name.text, name.span), arguments, depth)
        }
        _ => match expression.as_keyword() {
            Some(word) => simple(decoder, word, expression.span),
            None => {
                let detail = "A type specification is either a primitive type keyword (bool, number, string) or a complex type constructor call, like list(string).";
                decoder.report(problems::invalid_type(detail, expression.span));
                Constraint::ANY
            }
        },
    }
}

fn simple(decoder: &mut Decoder, word: &str, at: Span) -> Constraint {
    match word {
        "bool" => Constraint::of(Type::BOOL),
        "string" => Constraint::of(Type::STRING),
        "number" => Constraint::of(Type::NUMBER),
        "any" => Constraint::ANY,
        _ => {
            let detail = wanted_argument(word).unwrap_or_else(|| {
                format!("The keyword {word:?} is not a valid type specification.")
            });
            decoder.report(problems::invalid_type(detail, at));
            Constraint::ANY
        }
    }
}

/// Says what a type constructor takes.
fn wanted_argument(constructor: &str) -> Option<String> {
    match constructor {
        "list" | "set" | "map" => Some(format!("The {constructor} type constructor requires one argument specifying the element type.")),
        "object" => Some("The object type constructor requires one argument specifying the attribute types and values as a map.".into()),
        "tuple" => Some("The tuple type constructor requires one argument specifying the element types as a list.".into()),
        _ => None,
    }
}

fn constructed(
    decoder: &mut Decoder,
    whole: &Expression,
    (name, at): (&str, Span),
    arguments: &[Expression],
    depth: usize,
) -> Constraint {
    let refuse = |decoder: &mut Decoder, detail: String, at: Span| {
        decoder.report(problems::invalid_type(detail, at).within(whole.span));
        Constraint::ANY
    };
    match name {
        "bool" | "string" | "number" => {
            return refuse(
                decoder,
                format!("Primitive type keyword {name:?} does not expect arguments."),
                whole.span,
            );
        }
        "any" => {
            return refuse(
                decoder,
                "Type constraint keyword \"any\" does not expect arguments.".into(),
                whole.span,
            );
        }
        "optional" => {
            return refuse(
                decoder,
                "Keyword \"optional\" is valid only as a modifier for object type attributes."
                    .into(),
                at,
            );
        }
        _ => {}
    }
    let Some(wanted) = wanted_argument(name) else {
        return refuse(
            decoder,
            format!("Keyword {name:?} is not a valid type constructor."),
            whole.span,
        );
    };
    let argument = match arguments {
        [argument] => argument,
        [_, more @ .., last] => {
            return refuse(
                decoder,
                wanted,
                more.first().map_or(last.span, |it| it.span.to(last.span)),
            );
        }
        [] => return refuse(decoder, wanted, whole.span),
    };
    match name {
        "object" => object(decoder, whole, argument, depth),
        "tuple" => tuple(decoder, whole, argument, depth),
        _ => {
            let element = constraint(decoder, argument, depth + 1);
            let ty = match name {
                "list" => Type::list(element.ty),
                "set" => Type::set(element.ty),
                _ => Type::map(element.ty),
            };
            Constraint {
                ty,
                defaults: element.defaults.and_then(|it| {
                    defaults_of(ty, BTreeMap::new(), BTreeMap::from([("".into(), it)]))
                }),
            }
        }
    }
}

fn defaults_of(
    ty: Type,
    values: BTreeMap<Str, crate::value::Value>,
    children: BTreeMap<Str, TypeDefaults>,
) -> Option<TypeDefaults> {
    if values.is_empty() && children.is_empty() {
        return None;
    }
    Some(TypeDefaults { ty: Some(ty), values, children })
}

fn tuple(
    decoder: &mut Decoder,
    whole: &Expression,
    argument: &Expression,
    depth: usize,
) -> Constraint {
    let Expr::Tuple(items) = &*argument.expr else {
        decoder.report(
            problems::invalid_type(
                "Tuple type constructor requires a list of element types.",
                argument.span,
            )
            .within(whole.span),
        );
        return Constraint::ANY;
    };
    let elements: Vec<Constraint> =
        items.iter().map(|it| constraint(decoder, it, depth + 1)).collect();
    let ty = Type::tuple(elements.iter().map(|it| it.ty).collect());
    let children = elements
        .into_iter()
        .enumerate()
        .filter_map(|(index, it)| Some((index.to_string().into(), it.defaults?)));
    Constraint { ty, defaults: defaults_of(ty, BTreeMap::new(), children.collect()) }
}

fn object(
    decoder: &mut Decoder,
    whole: &Expression,
    argument: &Expression,
    depth: usize,
) -> Constraint {
    let Some(pairs) = decoder.pairs(argument) else {
        let detail = "Object type constructor requires a map whose keys are attribute names and whose values are the corresponding attribute types.";
        decoder.report(problems::invalid_type(detail, argument.span).within(whole.span));
        return Constraint::ANY;
    };
    let (mut attributes, mut values, mut children) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    let mut seen = BTreeSet::new();
    for (key, value) in &pairs {
        let Some(name) = key.as_keyword().map(Str::from) else {
            decoder.report(
                problems::invalid_type(
                    "Object constructor map keys must be attribute names.",
                    key.span,
                )
                .within(whole.span),
            );
            continue;
        };
        if !seen.insert(name.clone()) {
            decoder.report(
                problems::invalid_type("Object constructor map keys must be unique.", key.span)
                    .within(whole.span),
            );
            continue;
        }
        let Some((ty, default, is_optional)) = attribute(decoder, value, depth + 1) else {
            continue;
        };
        if let Some(value) = default {
            values.insert(name.clone(), value);
        }
        if let Some(inner) = ty.defaults {
            children.insert(name.clone(), inner);
        }
        attributes.push((name, ty.ty, is_optional));
    }
    let ty = Type::object_with_optional(attributes);
    Constraint { ty, defaults: defaults_of(ty, values, children) }
}

/// Reads the type of one attribute: itself, its default, and whether it is optional.
fn attribute(
    decoder: &mut Decoder,
    expression: &Expression,
    depth: usize,
) -> Option<(Constraint, Option<crate::value::Value>, bool)> {
    let Expr::Call { name, arguments, .. } = &*expression.expr else {
        return Some((constraint(decoder, expression, depth), None, false));
    };
    if &*name.text != "optional" {
        return Some((constraint(decoder, expression, depth), None, false));
    }
    let (ty, default) = match &arguments[..] {
        [] => {
            decoder.report(problems::invalid_type(
                "Optional attribute modifier requires the attribute type as its argument.",
                expression.span,
            ));
            return None;
        }
        [ty] => (ty, None),
        [ty, default] => (ty, Some(default)),
        [ty, ..] => {
            let detail = "Optional attribute modifier expects at most two arguments: the attribute type, and a default value.";
            decoder.report(problems::invalid_type(detail, expression.span));
            (ty, None)
        }
    };
    let ty = constraint(decoder, ty, depth + 1);
    let value = default.and_then(|default| {
        let value = decoder.constant(default)?;
        match convert(&value, ty.ty) {
            Ok(value) => Some(value),
            Err(error) => {
                decoder
                    .report(problems::invalid_optional_default(&error.to_string(), default.span));
                None
            }
        }
    });
    Some((ty, value, true))
}
