//! Conversion to types, and types as they are written.

use std::collections::BTreeMap;

use super::{Call, Failure, Function, Outcome, Parameter, Returns, Shape};
use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::{Expr, Expression, ObjectKey};
use crate::value::convert::{convert, is_convertible};
use crate::value::{Kind, Str, Type, Value};
use crate::value::{TypeDefaults, apply_defaults};

const V: &[Parameter] = &[Parameter::any("v").or_null().or_untyped().or_marked()];

pub(super) const FUNCTIONS: &[Function] = &[
    conversion("tostring", "Converts to a string.", |_| Ok(Type::STRING)),
    conversion("tonumber", "Converts to a number.", |_| Ok(Type::NUMBER)),
    conversion("tobool", "Converts to a bool.", |_| Ok(Type::BOOL)),
    conversion("tolist", "Converts to a list.", |_| Ok(Shape::ListOfAny.ty())),
    conversion("toset", "Converts to a set.", |_| Ok(Shape::SetOfAny.ty())),
    conversion("tomap", "Converts to a map.", |_| Ok(Shape::MapOfAny.ty())),
];

/// A conversion function; `wanted` gives the type.
const fn conversion(
    name: &'static str,
    description: &'static str,
    wanted: fn(&[Value]) -> Result<Type, Failure>,
) -> Function {
    Function {
        name,
        description,
        parameters: V,
        variadic: None,
        returns: Returns::NullableComputed(wanted),
        body: to_type,
    }
}

fn to_type(call: &Call<'_>) -> Outcome {
    let (value, wanted) = (call.argument(0), call.ty);
    let have = value.ty();
    let cannot = |what: &str, why: &str| {
        Failure::argument(
            0,
            format!("cannot convert {what} to {}{why}", wanted.friendly_constraint()),
        )
    };
    if !is_convertible(have, wanted) {
        return Err(cannot(&have.friendly_name(), ""));
    }
    convert(value, wanted).map_err(|_| {
        let name = have.friendly_name();
        match (value.bare(), wanted.kind()) {
            _ if value.contains_ephemeral() => cannot(&format!("this ephemeral {name}"), ""),
            _ if value.contains_sensitive() => cannot(&format!("this sensitive {name}"), ""),
            (Value::String(text), Kind::Bool) => {
                cannot(&format!("{text:?}"), "; only the strings \"true\" or \"false\" are allowed")
            }
            (Value::String(text), Kind::Number) => cannot(
                &format!("{text:?}"),
                "; given string must be a decimal representation of a number",
            ),
            _ => cannot(&name, ""),
        }
    })
}

/// A type as written, with the defaults of its optional attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// The type, optional attributes marked as such.
    pub constraint: Type,
    /// The defaults, where there are any.
    pub defaults: Option<TypeDefaults>,
}

impl Constraint {
    /// Returns the type of values that have been converted.
    pub fn ty(&self) -> Type {
        self.constraint.without_optional()
    }

    /// Puts defaults in and converts; the error is a phrase.
    pub fn apply(&self, value: &Value) -> Result<Value, String> {
        let value = match &self.defaults {
            Some(defaults) if !value.is_null() => apply_defaults(value, defaults),
            _ => value.clone(),
        };
        convert(&value, self.constraint).map_err(|error| error.message)
    }
}

/// Reads a type such as `list(object({ a = optional(number, 1) }))`.
pub fn parse_type(expression: &Expression) -> Result<Constraint, Diagnostic> {
    let (constraint, defaults) = read(expression)?;
    let has_defaults = !defaults.values.is_empty() || !defaults.children.is_empty();
    Ok(Constraint { constraint, defaults: has_defaults.then_some(defaults) })
}

fn invalid(detail: impl Into<String>, at: Span) -> Diagnostic {
    Diagnostic::error("Invalid type specification").detail(detail).at(at)
}

const WANTED: &str = "A type specification is either a primitive type keyword (bool, number, string) or a complex type \
                      constructor call, like list(string).";

fn read(expression: &Expression) -> Result<(Type, TypeDefaults), Diagnostic> {
    let of = |ty: Type| Ok((ty, TypeDefaults { ty: Some(ty), ..TypeDefaults::default() }));
    let (name, arguments, span) = match &*expression.expr {
        Expr::Traversal { root, steps } if steps.is_empty() => {
            return match &*root.text {
                "bool" => of(Type::BOOL),
                "string" => of(Type::STRING),
                "number" => of(Type::NUMBER),
                "any" => of(Type::DYNAMIC),
                kind @ ("list" | "set" | "map") => Err(invalid(
                    format!(
                        "The {kind} type constructor requires one argument specifying the element type."
                    ),
                    root.span,
                )),
                "object" => Err(invalid(
                    "The object type constructor requires one argument specifying the attribute types and values as a map.",
                    root.span,
                )),
                "tuple" => Err(invalid(
                    "The tuple type constructor requires one argument specifying the element types as a list.",
                    root.span,
                )),
                other => Err(invalid(
                    format!("The keyword {other:?} is not a valid type specification."),
                    root.span,
                )),
            };
        }
        Expr::Call { name, arguments, .. } => (name, arguments, expression.span),
        _ => return Err(invalid(WANTED, expression.span)),
    };
    match (&*name.text, &arguments[..]) {
        ("list", [element]) => collection(element, Type::list),
        ("set", [element]) => collection(element, Type::set),
        ("map", [element]) => collection(element, Type::map),
        ("object", [attributes]) => object(attributes),
        ("tuple", [elements]) => tuple(elements),
        (kind @ ("list" | "set" | "map"), _) => Err(invalid(
            format!(
                "The {kind} type constructor requires one argument specifying the element type."
            ),
            span,
        )),
        ("object", _) => Err(invalid(
            "The object type constructor requires one argument specifying the attribute types and values as a map.",
            span,
        )),
        ("tuple", _) => Err(invalid(
            "The tuple type constructor requires one argument specifying the element types as a list.",
            span,
        )),
        (primitive @ ("bool" | "string" | "number" | "any"), _) => Err(invalid(
            format!("Primitive type keyword {primitive:?} does not expect arguments."),
            name.span,
        )),
        ("optional", _) => Err(invalid(
            "Keyword \"optional\" is valid only as a modifier for object type attributes.",
            span,
        )),
        (other, _) => {
            Err(invalid(format!("Keyword {other:?} is not a valid type constructor."), span))
        }
    }
}

fn collection(
    element: &Expression,
    make: fn(Type) -> Type,
) -> Result<(Type, TypeDefaults), Diagnostic> {
    let (element, inner) = read(element)?;
    let ty = make(element);
    Ok((
        ty,
        TypeDefaults { ty: Some(ty), values: BTreeMap::new(), children: child("".into(), inner) },
    ))
}

/// Keeps the defaults of a part where it has any.
fn child(name: Str, defaults: TypeDefaults) -> BTreeMap<Str, TypeDefaults> {
    let empty = defaults.values.is_empty() && defaults.children.is_empty();
    if empty { BTreeMap::new() } else { BTreeMap::from([(name, defaults)]) }
}

fn tuple(elements: &Expression) -> Result<(Type, TypeDefaults), Diagnostic> {
    let Expr::Tuple(items) = &*elements.expr else {
        return Err(invalid(
            "Tuple type constructor requires a list of element types.",
            elements.span,
        ));
    };
    let (mut types, mut children) = (Vec::new(), BTreeMap::new());
    for (at, item) in items.iter().enumerate() {
        let (ty, inner) = read(item)?;
        types.push(ty);
        children.extend(child(at.to_string().into(), inner));
    }
    let ty = Type::tuple(types);
    Ok((ty, TypeDefaults { ty: Some(ty), values: BTreeMap::new(), children }))
}

fn object(attributes: &Expression) -> Result<(Type, TypeDefaults), Diagnostic> {
    let Expr::Object(items) = &*attributes.expr else {
        return Err(invalid(
            "Object type constructor requires a map whose keys are attribute names and whose values are the attribute types.",
            attributes.span,
        ));
    };
    let mut types: Vec<(Str, Type, bool)> = Vec::new();
    let (mut values, mut children) = (BTreeMap::new(), BTreeMap::new());
    for item in items {
        let ObjectKey::Name(name) = &item.key else {
            let span =
                if let ObjectKey::Expression(it) = &item.key { it.span } else { attributes.span };
            return Err(invalid("Object constructor map keys must be attribute names.", span));
        };
        if types.iter().any(|it| it.0 == name.text) {
            return Err(invalid("Object constructor map keys must be unique.", name.span));
        }
        let (ty, optional, default, inner) = attribute(&item.value)?;
        types.push((name.text.clone(), ty, optional));
        children.extend(child(name.text.clone(), inner));
        if let Some(default) = default {
            values.insert(name.text.clone(), default);
        }
    }
    let ty = Type::object_with_optional(types);
    Ok((ty, TypeDefaults { ty: Some(ty), values, children }))
}

/// Reads the type of an attribute: itself, whether it is optional, its default, and the defaults within it.
#[expect(clippy::type_complexity, reason = "used once, right above")]
fn attribute(
    expression: &Expression,
) -> Result<(Type, bool, Option<Value>, TypeDefaults), Diagnostic> {
    let Expr::Call { name, arguments, .. } = &*expression.expr else {
        return read(expression).map(|(ty, inner)| (ty, false, None, inner));
    };
    if &*name.text != "optional" {
        return read(expression).map(|(ty, inner)| (ty, false, None, inner));
    }
    let (ty, default) = match &arguments[..] {
        [ty] => (ty, None),
        [ty, default] => (ty, Some(default)),
        [] => {
            return Err(invalid(
                "Optional attribute modifier requires the attribute type as its argument.",
                expression.span,
            ));
        }
        [_, _, more, ..] => {
            return Err(invalid(
                "Optional attribute modifier expects at most two arguments: the attribute type, and a default value.",
                more.span,
            ));
        }
    };
    let (ty, inner) = read(ty)?;
    let default = default.map(|it| default_value(it, ty)).transpose()?;
    Ok((ty, true, default, inner))
}

/// Evaluates a default, which refers to nothing.
fn default_value(expression: &Expression, ty: Type) -> Result<Value, Diagnostic> {
    let (value, problems) = super::super::evaluate_constant(expression);
    if let Some(problem) = problems.0.into_iter().find(Diagnostic::is_error) {
        return Err(problem);
    }
    convert(&value, ty).map_err(|error| {
        Diagnostic::error("Invalid default value for optional attribute")
            .detail(format!(
                "This default value is not compatible with the attribute's type constraint: {}.",
                error.message
            ))
            .at(expression.span)
    })
}
