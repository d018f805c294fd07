//! The notation of values and types in reports about providers: what `cty` calls them, which provider authors know.

use std::fmt;

use super::{Kind, Number, Type, Value};

/// Prints a value or type in cty's notation: `cty.StringVal("a")`, `cty.List(cty.Number)`. Marks are left out.
pub struct Notated<T>(
    /// What to print.
    pub T,
);

impl fmt::Display for Notated<Type> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.kind() {
            Kind::Dynamic => f.write_str("cty.DynamicPseudoType"),
            Kind::Bool => f.write_str("cty.Bool"),
            Kind::Number => f.write_str("cty.Number"),
            Kind::String => f.write_str("cty.String"),
            Kind::List(it) => write!(f, "cty.List({})", Notated(*it)),
            Kind::Set(it) => write!(f, "cty.Set({})", Notated(*it)),
            Kind::Map(it) => write!(f, "cty.Map({})", Notated(*it)),
            Kind::Tuple(items) if items.is_empty() => f.write_str("cty.EmptyTuple"),
            Kind::Tuple(items) => {
                f.write_str("cty.Tuple([]cty.Type{")?;
                separated(f, items.iter().map(|it| Notated(*it)))?;
                f.write_str("})")
            }
            Kind::Object(items) if items.is_empty() => f.write_str("cty.EmptyObject"),
            Kind::Object(items) => {
                f.write_str("cty.Object(map[string]cty.Type{")?;
                separated(f, items.iter().map(|it| format!("{:?}:{}", &*it.0, Notated(it.1))))?;
                f.write_str("})")
            }
        }
    }
}

impl fmt::Display for Notated<&Value> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.bare() {
            Value::Null(ty) => write!(f, "cty.NullVal({})", Notated(*ty)),
            Value::Unknown(it) if it.ty == Type::DYNAMIC => f.write_str("cty.DynamicVal"),
            Value::Unknown(it) => {
                write!(f, "cty.UnknownVal({})", Notated(it.ty))?;
                f.write_str(if it.refinement.not_null { ".RefineNotNull()" } else { "" })
            }
            Value::Bool(true) => f.write_str("cty.True"),
            Value::Bool(false) => f.write_str("cty.False"),
            Value::Number(it) => number(f, it),
            Value::String(it) => write!(f, "cty.StringVal({:?})", &**it),
            Value::List(it) => items(f, "List", Some(it.element), &it.items),
            Value::Set(it) => items(f, "Set", Some(it.element), &it.items),
            Value::Tuple(it) => items(f, "Tuple", None, &it.items),
            Value::Map(it) if it.entries.is_empty() => {
                write!(f, "cty.MapValEmpty({})", Notated(it.element))
            }
            Value::Object(it) if it.values.is_empty() => f.write_str("cty.EmptyObjectVal"),
            Value::Map(_) => entries(f, "Map", self.0),
            Value::Object(_) => entries(f, "Object", self.0),
            Value::Marked(it) => Notated(&it.value).fmt(f),
        }
    }
}

fn number(f: &mut fmt::Formatter<'_>, number: &Number) -> fmt::Result {
    match number {
        it if it.is_integer() => write!(f, "cty.NumberIntVal({it})"),
        it if Number::from_f64(it.to_f64()).is_some_and(|float| float.compare(it).is_eq()) => {
            write!(f, "cty.NumberFloatVal({it})")
        }
        it => write!(f, "cty.MustParseNumberVal(\"{it}\")"),
    }
}

fn items(
    f: &mut fmt::Formatter<'_>,
    kind: &str,
    element: Option<Type>,
    items: &[Value],
) -> fmt::Result {
    match element {
        None if items.is_empty() => f.write_str("cty.EmptyTupleVal"),
        Some(element) if items.is_empty() => write!(f, "cty.{kind}ValEmpty({})", Notated(element)),
        _ => {
            write!(f, "cty.{kind}Val([]cty.Value{{")?;
            separated(f, items.iter().map(Notated))?;
            f.write_str("})")
        }
    }
}

fn entries(f: &mut fmt::Formatter<'_>, kind: &str, value: &Value) -> fmt::Result {
    write!(f, "cty.{kind}Val(map[string]cty.Value{{")?;
    separated(
        f,
        value.entries().into_iter().map(|(key, item)| format!("{:?}:{}", &*key, Notated(item))),
    )?;
    f.write_str("})")
}

fn separated(
    f: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = impl fmt::Display>,
) -> fmt::Result {
    for (at, item) in items.enumerate() {
        write!(f, "{}{item}", if at == 0 { "" } else { ", " })?;
    }
    Ok(())
}
