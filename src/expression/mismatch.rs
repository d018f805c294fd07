//! How two types differ, in words: the results of a conditional that have no common type.

use crate::value::{Kind, Type};

/// Says how the two results of a conditional differ, the innermost difference first.
pub(super) fn type_mismatch(yes: Type, no: Type) -> String {
    match (yes.kind(), no.kind()) {
        (Kind::Object(a), Kind::Object(b)) => {
            for (name, ty, _) in a {
                match no.attribute_index(name) {
                    None => {
                        return format!(
                            "The 'true' value includes object attribute {name:?}, which is absent in the 'false' value"
                        );
                    }
                    Some(at) if b[at].1 != *ty => {
                        return format!(
                            "Type mismatch for object attribute {name:?}: {}",
                            type_mismatch(*ty, b[at].1)
                        );
                    }
                    Some(_) => {}
                }
            }
            if let Some((name, _, _)) = b.iter().find(|it| yes.attribute_index(&it.0).is_none()) {
                return format!(
                    "The 'false' value includes object attribute {name:?}, which is absent in the 'true' value"
                );
            }
        }
        (Kind::Tuple(a), Kind::Tuple(b)) => {
            if a.len() != b.len() {
                return format!(
                    "The 'true' tuple has length {}, but the 'false' tuple has length {}",
                    a.len(),
                    b.len()
                );
            }
            if let Some(at) = (0..a.len()).find(|&at| a[at] != b[at]) {
                return format!(
                    "Type mismatch for tuple element {at}: {}",
                    type_mismatch(a[at], b[at])
                );
            }
        }
        (Kind::List(a), Kind::List(b)) if same_structure(*a, *b) => {
            return format!("Mismatched list element types: {}", type_mismatch(*a, *b));
        }
        (Kind::Set(a), Kind::Set(b)) if same_structure(*a, *b) => {
            return format!("Mismatched set element types: {}", type_mismatch(*a, *b));
        }
        (Kind::Map(a), Kind::Map(b)) if same_structure(*a, *b) => {
            return format!("Mismatched map element types: {}", type_mismatch(*a, *b));
        }
        _ => {}
    }
    let (yes, no) = (yes.friendly_name(), no.friendly_name());
    if yes == no {
        return "At least one deeply-nested attribute or element is not compatible across both the 'true' and the 'false' value".to_owned();
    }
    format!("The 'true' value is {yes}, but the 'false' value is {no}")
}

fn same_structure(a: Type, b: Type) -> bool {
    matches!(
        (a.kind(), b.kind()),
        (Kind::Object(_), Kind::Object(_)) | (Kind::Tuple(_), Kind::Tuple(_))
    )
}
