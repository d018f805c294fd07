//! The one type that several values have.

use super::{Type, Value};

/// Finds the one type of all items and gives it to those that are untyped; `None` where they differ.
pub(crate) fn common_type(items: &mut [Value]) -> Option<Type> {
    let mut element = Type::DYNAMIC;
    let mut has_untyped = false;
    for item in &*items {
        match item.ty() {
            ty if ty == Type::DYNAMIC => has_untyped = true,
            ty if element == Type::DYNAMIC => element = ty,
            ty if ty != element => return None,
            _ => {}
        }
    }
    if has_untyped && element != Type::DYNAMIC {
        for item in items {
            *item = retyped(item, element);
        }
    }
    Some(element)
}

/// An untyped null or unknown value with a type.
fn retyped(item: &Value, ty: Type) -> Value {
    match item {
        Value::Null(old) if *old == Type::DYNAMIC => Value::Null(ty),
        Value::Unknown(it) if it.ty == Type::DYNAMIC => Value::unknown(ty),
        Value::Marked(it) => retyped(&it.value, ty).mark(&it.marks),
        it => it.clone(),
    }
}
