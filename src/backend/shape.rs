//! What can be set in a backend's block: names, types, and where else a value may come from.

use std::collections::BTreeMap;

use crate::value::{Str, Type, Value, convert};

/// A backend's arguments by name, each as its setting has it; null where it is not set.
pub type Arguments = BTreeMap<String, Value>;

/// One setting of a kind of backend, or one member of a nested object.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The argument.
    pub name: &'static str,
    /// What its value is.
    pub shape: Shape,
    /// Whether there is no store without it.
    pub is_required: bool,
    /// Whether messages must not show its value.
    pub is_sensitive: bool,
    /// The environment variables that stand in where it is not set, the first one that is set winning.
    pub variables: &'static [&'static str],
    /// What an empty value would be an invalid one of; nothing where it may be empty.
    pub filled: Option<&'static str>,
}

/// The type of a setting, as it can be written down before the program runs.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A string.
    Text,
    /// A bool.
    Bool,
    /// A number.
    Number,
    /// A list of strings.
    Texts,
    /// A set of strings.
    TextSet,
    /// A map of strings.
    TextMap,
    /// An object with these members, any of which may be left out.
    Object(&'static [Setting]),
    /// Any number of nested blocks with these arguments.
    Blocks(&'static [Setting]),
}

/// Why a value is none for a setting.
#[derive(Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The kind has no such setting.
    Unknown,
    /// It has another type, or is not known.
    Type(String),
    /// It must not be empty. What it would be.
    Empty(&'static str),
}

/// Returns a setting of this shape, with nothing else said of it.
const fn of(name: &'static str, shape: Shape) -> Setting {
    Setting { name, shape, is_required: false, is_sensitive: false, variables: &[], filled: None }
}

/// Returns a setting that is a string.
pub const fn text(name: &'static str) -> Setting {
    of(name, Shape::Text)
}

/// Returns a setting that is a bool.
pub const fn flag(name: &'static str) -> Setting {
    of(name, Shape::Bool)
}

/// Returns a setting that is a number.
pub const fn number(name: &'static str) -> Setting {
    of(name, Shape::Number)
}

/// Returns a setting that is a list of strings.
pub const fn texts(name: &'static str) -> Setting {
    of(name, Shape::Texts)
}

/// Returns a setting that is a set of strings.
pub const fn text_set(name: &'static str) -> Setting {
    of(name, Shape::TextSet)
}

/// Returns a setting that is a map of strings.
pub const fn text_map(name: &'static str) -> Setting {
    of(name, Shape::TextMap)
}

/// Returns a setting that is an object.
pub const fn object(name: &'static str, members: &'static [Setting]) -> Setting {
    of(name, Shape::Object(members))
}

/// Returns a setting that is written as blocks.
pub const fn blocks(name: &'static str, arguments: &'static [Setting]) -> Setting {
    of(name, Shape::Blocks(arguments))
}

impl Setting {
    /// There is no store without it.
    pub const fn required(self) -> Setting {
        Setting { is_required: true, ..self }
    }

    /// Messages must not show it.
    pub const fn sensitive(self) -> Setting {
        Setting { is_sensitive: true, ..self }
    }

    /// These environment variables stand in for it.
    pub const fn or(self, variables: &'static [&'static str]) -> Setting {
        Setting { variables, ..self }
    }

    /// It must not be empty; else it is an invalid `what`.
    pub const fn filled(self, what: &'static str) -> Setting {
        Setting { filled: Some(what), ..self }
    }

    /// Returns a value as the setting has it.
    ///
    /// # Errors
    ///
    /// If the setting cannot have it.
    pub fn read(&self, value: &Value) -> Result<Value, Unfit> {
        let read = self.shape.read(value)?;
        match self.filled.filter(|_| read.as_str() == Some("")) {
            Some(what) => Err(Unfit::Empty(what)),
            None => Ok(read),
        }
    }
}

impl Shape {
    /// Returns the type of values of this shape.
    pub fn ty(self) -> Type {
        match self {
            Shape::Text => Type::STRING,
            Shape::Bool => Type::BOOL,
            Shape::Number => Type::NUMBER,
            Shape::Texts => Type::list(Type::STRING),
            Shape::TextSet => Type::set(Type::STRING),
            Shape::TextMap => Type::map(Type::STRING),
            Shape::Object(members) => type_of(members),
            Shape::Blocks(arguments) => Type::list(type_of(arguments)),
        }
    }

    fn read(self, value: &Value) -> Result<Value, Unfit> {
        let members = match self {
            _ if value.is_null() => return Ok(Value::Null(self.ty())),
            _ if !value.is_wholly_known() => {
                return Err(Unfit::Type("the value must be known".into()));
            }
            Shape::Blocks(arguments) => {
                // In JSON a single block may stand without its brackets.
                let blocks: Vec<&Value> = match value.ty().attributes().is_empty() {
                    true => value.children().collect(),
                    false => vec![value],
                };
                let read = blocks.into_iter().map(|it| Shape::Object(arguments).read(it));
                return Ok(Value::list(type_of(arguments), read.collect::<Result<_, _>>()?));
            }
            Shape::Object(members) => members,
            simple => {
                return convert(value, simple.ty()).map_err(|it| Unfit::Type(it.to_string()));
            }
        };
        let given = value.entries();
        if given.is_empty() && convert(value, Type::object(Vec::new())).is_err() {
            return Err(Unfit::Type("object required".into()));
        }
        if let Some((name, _)) =
            given.iter().find(|(name, _)| !members.iter().any(|it| it.name == &**name))
        {
            return Err(Unfit::Type(format!("unsupported attribute \"{name}\"")));
        }
        let member = |it: &Setting| {
            let found = given.iter().find(|(name, _)| &**name == it.name);
            let value = match found {
                Some((_, value)) => it.read(value).map_err(|why| within(it.name, why))?,
                None => Value::Null(it.shape.ty()),
            };
            if it.is_required && value.is_null() {
                return Err(Unfit::Type(format!("attribute \"{}\" is required", it.name)));
            }
            Ok((Str::from(it.name), value))
        };
        Ok(Value::object(members.iter().map(member).collect::<Result<Vec<_>, _>>()?))
    }
}

fn type_of(members: &[Setting]) -> Type {
    Type::object(members.iter().map(|it| (Str::from(it.name), it.shape.ty())).collect())
}

/// Says of which member it is that a value is none.
fn within(name: &str, why: Unfit) -> Unfit {
    Unfit::Type(match why {
        Unfit::Unknown => format!("unsupported attribute {name:?}"),
        Unfit::Type(why) => format!("attribute {name:?}: {why}"),
        Unfit::Empty(_) => format!("attribute {name:?}: must not be empty"),
    })
}
