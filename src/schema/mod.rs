//! What a provider accepts and returns, and what the core checks of it.
//!
//! Values are given without marks unless a function says otherwise. All results are in the order of names, whatever the
//! schema came from.

mod blocks;
mod check;
mod coerce;
mod compatible;
mod ignore;
mod implied;
mod paths;
mod proposed;
mod replace;
mod schemas;
mod stored;
mod types;

pub use blocks::with_blocks;
pub use check::check_planned;
pub use coerce::{coerce, conforms};
pub use compatible::check_compatible;
pub use ignore::{Ignored, apply_ignore_changes};
pub use paths::{
    deprecations, has_deprecations, mark_object, mark_secrets, mark_sensitive, sensitive_names,
    sensitive_paths, without_write_only, write_only_paths,
};
pub use proposed::{planned_unknown, proposed_new};
pub use replace::{is_unchanged, requires_replace};
pub use schemas::{MakeSchema, Schemas};
pub use stored::{decode_stored, encode_stored, is_stored_as_today, without_unknown_attributes};
pub use types::{
    AttributeSchema, BlockSchema, Documentation, FunctionParameter, FunctionSignature,
    IdentityAttribute, IdentitySchema, Implied, NestedAttributes, NestedBlock, Nesting,
    ProviderSchema, Schema, empty_value,
};

use std::borrow::Cow;

use crate::value::{Kind, Str, Type, Value};

#[cfg(test)]
mod tests;

/// The attribute of an object; of a null object null, of an unknown one unknown. It is looked for at `at` first, its
/// place in the schema.
fn attribute<'v>(value: &'v Value, at: usize, name: &Str, ty: Type) -> Cow<'v, Value> {
    match value.bare() {
        Value::Unknown(it) => Cow::Owned(Value::unknown(it.ty.attribute(name).unwrap_or(ty))),
        Value::Object(it) if it.ty.attributes().get(at).is_some_and(|it| it.0 == *name) => {
            Cow::Borrowed(&it.values[at])
        }
        it => it.get(name).map_or(Cow::Owned(Value::Null(ty)), Cow::Borrowed),
    }
}

/// The elements of a list, set or tuple; none of what is null or unknown.
fn items(value: &Value) -> &[Value] {
    match value.bare() {
        Value::List(it) | Value::Set(it) => &it.items,
        Value::Tuple(it) => &it.items,
        _ => &[],
    }
}

/// What blocks or structural attributes become: a list where they are of one type, else a tuple.
fn sequence(element: Type, mut items: Vec<Value>) -> Value {
    match crate::value::common_type::common_type(&mut items) {
        Some(found) => Value::list(if items.is_empty() { element } else { found }, items),
        None => Value::tuple(items),
    }
}

/// The type of the elements of a list, set or map, and what else stands in their place.
fn element_or(value: &Value, otherwise: Type) -> Type {
    match value.ty().kind() {
        Kind::List(it) | Kind::Set(it) | Kind::Map(it) => *it,
        _ => otherwise,
    }
}
