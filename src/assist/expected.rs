//! What may stand in a body, as plain data.

use crate::value::Type;

/// What a body takes.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// Its blocks.
    pub blocks: Vec<Nested>,
}

/// An argument or an attribute.
#[derive(Clone, Debug, Default)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Whether it must be set.
    pub required: bool,
    /// Whether it cannot be set.
    pub is_read_only: bool,
    /// Whether the provider may choose its value.
    pub is_computed: bool,
    /// Whether its value is never shown.
    pub is_sensitive: bool,
    /// Whether it should not be used any more.
    pub is_deprecated: bool,
    /// The type of its value, in words.
    pub ty: String,
    /// The type, where it is known.
    pub value: Option<Type>,
    /// What it is for.
    pub about: String,
}

impl Argument {
    /// Says in a few words what it is.
    pub fn words(&self) -> String {
        let kind = match self {
            it if it.required => "required",
            it if it.is_read_only => "read-only",
            it if it.is_computed => "optional, computed",
            _ => "optional",
        };
        let secret = if self.is_sensitive { ", sensitive" } else { "" };
        let old = if self.is_deprecated { ", deprecated" } else { "" };
        format!("{}, {kind}{secret}{old}", self.ty)
    }
}

/// A type of nested block.
#[derive(Clone, Debug, Default)]
pub struct Nested {
    /// Its type.
    pub name: String,
    /// What its labels are called.
    pub labels: Vec<String>,
    /// Whether there must be one.
    pub required: bool,
    /// Whether there is one at most.
    pub is_single: bool,
    /// What it is for.
    pub about: String,
}
