//! Whether stored JSON text is laid out as it would be written today: every attribute there, none too many, no value in
//! another form. Makes no values.

use super::read::{Reader, Result, Start};
use crate::value::{Kind, Type};

/// Returns whether a stored value has the members that its type has, in the form in which they are written.
///
/// What is `Dynamic` is not looked into. Text that is no JSON has no layout.
pub fn has_layout(text: &str, ty: Type) -> bool {
    matches(&mut Reader::new(text), ty).unwrap_or(false)
}

fn matches(reader: &mut Reader<'_>, ty: Type) -> Result<bool> {
    let start = reader.start()?;
    if start == Start::Null {
        reader.null()?;
        return Ok(true);
    }
    let plain = |is_same: bool, reader: &mut Reader<'_>| reader.skip().map(|_| is_same);
    match ty.kind() {
        Kind::Dynamic => plain(true, reader),
        Kind::Bool => plain(start == Start::Bool, reader),
        Kind::Number => plain(start == Start::Number, reader),
        Kind::String => plain(start == Start::String, reader),
        Kind::List(element) | Kind::Set(element) => items(reader, |_| Some(*element)),
        Kind::Tuple(types) => items(reader, |at| types.get(at).copied()),
        Kind::Map(element) => {
            reader.enter_object()?;
            let (mut is_first, mut is_same) = (true, true);
            while reader.next_key(is_first)?.is_some() {
                is_first = false;
                is_same &= matches(reader, *element)?;
            }
            Ok(is_same)
        }
        Kind::Object(_) => members(reader, ty),
    }
}

fn items(reader: &mut Reader<'_>, element: impl Fn(usize) -> Option<Type>) -> Result<bool> {
    reader.enter_array()?;
    let (mut count, mut is_same) = (0, true);
    while reader.next_item(count == 0)? {
        is_same &= match element(count) {
            Some(ty) => matches(reader, ty)?,
            None => reader.skip().map(|_| false)?,
        };
        count += 1;
    }
    Ok(is_same)
}

fn members(reader: &mut Reader<'_>, ty: Type) -> Result<bool> {
    reader.enter_object()?;
    let (mut count, mut is_same) = (0, true);
    while let Some(key) = reader.next_key(count == 0)? {
        // Who writes them sorts them as types do.
        let next = ty.attributes().get(count).filter(|it| *it.0 == *key).map(|it| it.1);
        count += 1;
        is_same &= match next.or_else(|| ty.attribute(&key)) {
            Some(ty) => matches(reader, ty)?,
            None => reader.skip().map(|_| false)?,
        };
    }
    Ok(is_same && count == ty.attributes().len())
}
