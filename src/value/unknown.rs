//! What is known about a value that is not decided yet.

use std::sync::Arc;

use super::{Number, Str, Type, Value};

/// An unknown value: its type (perhaps `Dynamic`) and what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// The type.
    pub ty: Type,
    /// What is known about it.
    pub refinement: Refinement,
}

/// What is known about an unknown value. The default is nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refinement {
    /// It will not be null.
    pub not_null: bool,
    /// It will start with this text (strings).
    pub prefix: Option<Str>,
    /// Its least value and whether that value itself is possible (numbers).
    pub lower: Option<(Number, bool)>,
    /// Its greatest value and whether that value itself is possible (numbers).
    pub upper: Option<(Number, bool)>,
    /// Its least length (collections).
    pub min_length: Option<u64>,
    /// Its greatest length (collections).
    pub max_length: Option<u64>,
}

impl Value {
    /// Returns an unknown value of a type that will not be null.
    pub fn unknown_not_null(ty: Type) -> Value {
        Value::Unknown(Arc::new(Unknown {
            ty,
            refinement: Refinement { not_null: true, ..Refinement::default() },
        }))
    }
}
