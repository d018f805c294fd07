//! Types as they are written: `list(string)`, `object({ a = optional(number, 1) })`.

use std::collections::{BTreeMap, BTreeSet};

use super::{evaluate_constant, problems};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::error::Error;
use crate::syntax::{Call, Expr, Expression, ObjectKey};
use crate::value::{Str, Type, TypeDefaults, Value, apply_defaults, convert};

/// A type and the defaults of its optional attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// The type, optional attributes marked as such.
    pub ty: Type,
    /// The defaults, where there are any.
    pub defaults: Option<TypeDefaults>,
}

impl Constraint {
    /// What stands for a type that is not given, or could not be read.
    pub const ANY: Constraint = Constraint { ty: Type::DYNAMIC, defaults: None };

    /// Returns a type without defaults.
    pub fn of(ty: Type) -> Constraint {
        Constraint { ty, defaults: None }
    }
}

/// Converts a value to a type, with the defaults of its optional attributes.
///
/// # Errors
///
/// A phrase that says why the value does not fit.
pub fn with_defaults(
    value: &Value,
    ty: Type,
    defaults: Option<&TypeDefaults>,
) -> Result<Value, Error> {
    let filled = match defaults {
        // A null as a whole stays null: it is not an object with missing attributes.
        Some(defaults) if !value.is_null() => apply_defaults(value, defaults),
        _ => value.clone(),
    };
    convert(&filled, ty).map_err(|it| convert::reason(value, ty, it).into())
}

/// How deep types may be nested.
const DEEPEST: usize = 200;

/// Reads a type. What could not be read is [`Constraint::ANY`], or left out of its object.
pub fn read_constraint(expression: &Expression) -> (Constraint, Diagnostics) {
    let mut reader = Reader::default();
    let read = constraint(&mut reader, expression, 0);
    (read, reader.0)
}

/// What was found wrong on the way.
#[derive(Default)]
struct Reader(Diagnostics);

impl Reader {
    fn report(&mut self, problem: Diagnostic) {
        self.0.push(problem);
    }
}

fn constraint(reader: &mut Reader, expression: &Expression, depth: usize) -> Constraint {
    if depth > DEEPEST {
        reader.report(problems::invalid_type("This type is nested too deeply.", expression.span));
        return Constraint::ANY;
    }
    match &expression.expr {
        Expr::Call(it) => {
            constructed(reader, expression, (&it.name.text, it.name.span), &it.arguments, depth)
        }
        _ => match expression.as_keyword() {
            Some(word) => simple(reader, word, expression.span),
            None => {
                let detail = "A type specification is either a primitive type keyword (bool, number, string) or a complex type constructor call, like list(string).";
                reader.report(problems::invalid_type(detail, expression.span));
                Constraint::ANY
            }
        },
    }
}

fn simple(reader: &mut Reader, word: &str, at: Span) -> Constraint {
    match word {
        "bool" => Constraint::of(Type::BOOL),
        "string" => Constraint::of(Type::STRING),
        "number" => Constraint::of(Type::NUMBER),
        "any" => Constraint::ANY,
        _ => {
            let detail = wanted_argument(word).unwrap_or_else(|| {
                format!("The keyword {word:?} is not a valid type specification.")
            });
            reader.report(problems::invalid_type(detail, at));
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

/// What is wrong about giving arguments to a keyword that takes none, and where. They stand in `given`.
fn misused_keyword(name: &str, at: Span, given: Span) -> Option<(String, Span)> {
    Some(match name {
        "bool" | "string" | "number" => {
            (format!("Primitive type keyword {name:?} does not expect arguments."), given)
        }
        "any" => ("Type constraint keyword \"any\" does not expect arguments.".into(), given),
        "optional" => (
            "Keyword \"optional\" is valid only as a modifier for object type attributes.".into(),
            at,
        ),
        _ => return None,
    })
}

fn constructed(
    reader: &mut Reader,
    whole: &Expression,
    (name, at): (&str, Span),
    arguments: &[Expression],
    depth: usize,
) -> Constraint {
    let refuse = |reader: &mut Reader, detail: String, at: Span| {
        reader.report(problems::invalid_type(detail, at).within(whole.span));
        Constraint::ANY
    };
    // From the opening parenthesis to the closing one.
    let given = |whole: Span| whole.starting_at(at.end());
    if let Some((detail, place)) = misused_keyword(name, at, given(whole.span)) {
        return refuse(reader, detail, place);
    }
    let Some(wanted) = wanted_argument(name) else {
        return refuse(
            reader,
            format!("Keyword {name:?} is not a valid type constructor."),
            whole.span,
        );
    };
    let argument = match arguments {
        [argument] => argument,
        [_, more @ .., last] => {
            return refuse(
                reader,
                wanted,
                more.first().map_or(last.span, |it| it.span.to(last.span)),
            );
        }
        [] => return refuse(reader, wanted, given(whole.span)),
    };
    match name {
        "object" => object(reader, whole, argument, depth),
        "tuple" => tuple(reader, whole, argument, depth),
        _ => {
            let element = constraint(reader, argument, depth + 1);
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
    values: BTreeMap<Str, Value>,
    children: BTreeMap<Str, TypeDefaults>,
) -> Option<TypeDefaults> {
    if values.is_empty() && children.is_empty() {
        return None;
    }
    Some(TypeDefaults { ty: Some(ty), values, children })
}

fn tuple(
    reader: &mut Reader,
    whole: &Expression,
    argument: &Expression,
    depth: usize,
) -> Constraint {
    let Expr::Tuple(items) = &argument.expr else {
        reader.report(
            problems::invalid_type(
                "Tuple type constructor requires a list of element types.",
                argument.span,
            )
            .within(whole.span),
        );
        return Constraint::ANY;
    };
    let elements: Vec<Constraint> =
        items.iter().map(|it| constraint(reader, it, depth + 1)).collect();
    let ty = Type::tuple(elements.iter().map(|it| it.ty).collect());
    let children = elements
        .into_iter()
        .enumerate()
        .filter_map(|(index, it)| Some((index.to_string().into(), it.defaults?)));
    Constraint { ty, defaults: defaults_of(ty, BTreeMap::new(), children.collect()) }
}

fn object(
    reader: &mut Reader,
    whole: &Expression,
    argument: &Expression,
    depth: usize,
) -> Constraint {
    let Expr::Object(items) = &argument.expr else {
        let detail = "Object type constructor requires a map whose keys are attribute names and whose values are the corresponding attribute types.";
        reader.report(problems::invalid_type(detail, argument.span).within(whole.span));
        return Constraint::ANY;
    };
    let (mut attributes, mut values, mut children) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    let mut seen = BTreeSet::new();
    for item in items {
        let (name, at) = match &item.key {
            ObjectKey::Name(name) => (Some(name.text.clone()), name.span),
            ObjectKey::Expression(key) => (key.as_keyword().map(Str::from), key.span),
        };
        let Some(name) = name else {
            reader.report(
                problems::invalid_type("Object constructor map keys must be attribute names.", at)
                    .within(whole.span),
            );
            continue;
        };
        if !seen.insert(name.clone()) {
            reader.report(
                problems::invalid_type("Object constructor map keys must be unique.", at)
                    .within(whole.span),
            );
            continue;
        }
        let Some((ty, default, is_optional)) = attribute(reader, &item.value, depth + 1) else {
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
    reader: &mut Reader,
    expression: &Expression,
    depth: usize,
) -> Option<(Constraint, Option<Value>, bool)> {
    let Expr::Call(call) = &expression.expr else {
        return Some((constraint(reader, expression, depth), None, false));
    };
    let Call { name, arguments, .. } = &**call;
    if &*name.text != "optional" {
        return Some((constraint(reader, expression, depth), None, false));
    }
    let (ty, default) = match &arguments[..] {
        [] => {
            reader.report(problems::invalid_type(
                "Optional attribute modifier requires the attribute type as its argument.",
                expression.span.starting_at(name.span.end()),
            ));
            return None;
        }
        [ty] => (ty, None),
        [ty, default] => (ty, Some(default)),
        [ty, ..] => {
            let detail = "Optional attribute modifier expects at most two arguments: the attribute type, and a default value.";
            let given = expression.span.starting_at(name.span.end());
            reader.report(problems::invalid_type(detail, given));
            (ty, None)
        }
    };
    let ty = constraint(reader, ty, depth + 1);
    let value = default.and_then(|default| {
        let value = reader.0.take(evaluate_constant(default))?;
        match convert(&value, ty.ty) {
            Ok(value) => Some(value),
            Err(error) => {
                reader.report(problems::invalid_optional_default(&error.to_string(), default.span));
                None
            }
        }
    });
    Some((ty, value, true))
}
