//! What a store is opened with: its arguments, and the environment where they are silent.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::local::Choice;
use super::shape::{Arguments, Setting};
use crate::diagnostic::Diagnostic;
use crate::value::{Value, convert};
use crate::world::World;

/// Whose arguments are read. Services of a cloud keep states and keys, and are asked with the same credentials.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// A kind of backend.
    Backend(&'static str),
    /// A kind of key provider.
    Keys(&'static str),
    /// A kind of sources that packages of modules come from.
    Packages(&'static str),
}

/// All that a kind of backend is told when a store of it is opened.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The environment, the clock, the folders.
    pub world: &'a Arc<World>,
    /// Whose arguments they are.
    pub owner: Owner,
    /// Which arguments there are.
    pub settings: &'a [Setting],
    /// What was set.
    pub given: &'a Arguments,
    /// What flags say of files; only a store in files knows of it.
    pub choice: &'a Choice,
}

impl Owner {
    /// An argument, or what stands in for it, makes no sense.
    pub fn invalid(self, name: &str, why: &str) -> Diagnostic {
        self.wrong(format!("The argument {name:?} of the {self} cannot be used: {why}."))
    }

    /// The arguments make no sense.
    pub fn wrong(self, detail: String) -> Diagnostic {
        let title = match self {
            Owner::Backend(_) => "Invalid backend configuration",
            Owner::Keys(_) => "Invalid key provider configuration",
            Owner::Packages(_) => "Invalid module source",
        };
        Diagnostic::error(title).detail(detail)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owner::Backend(name) => write!(f, "backend {name:?}"),
            Owner::Keys(name) => write!(f, "key provider {name:?}"),
            Owner::Packages(name) => write!(f, "module source {name:?}"),
        }
    }
}

impl Opening<'_> {
    fn setting(&self, name: &str) -> &Setting {
        let found = self.settings.iter().find(|it| it.name == name);
        found.expect("a kind asks for its own settings")
    }

    /// Whether there is such an argument.
    pub fn has(&self, name: &str) -> bool {
        self.settings.iter().any(|it| it.name == name)
    }

    /// An argument, or what stands in for it, makes no sense.
    pub fn invalid(&self, name: &str, why: &str) -> Diagnostic {
        self.owner.invalid(name, why)
    }

    /// Returns the value of an argument: what was set, else what the environment says, else null.
    ///
    /// # Errors
    ///
    /// If a variable of the environment has another type.
    pub fn value(&self, name: &str) -> Result<Value, Diagnostic> {
        let setting = self.setting(name);
        if let Some(value) = self.given.get(name).filter(|it| !it.is_null()) {
            return Ok(value.clone());
        }
        let ty = setting.shape.ty();
        let set = |it: &&&str| self.world.variable(it).is_some_and(|it| !it.is_empty());
        let Some(variable) = setting.variables.iter().find(set) else {
            return Ok(Value::Null(ty));
        };
        let text = self.world.variable(variable).unwrap_or_default();
        // What other programs take for a bool there.
        let text = match (ty == crate::value::Type::BOOL, text) {
            (true, "1" | "t" | "T" | "TRUE" | "True") => "true",
            (true, "0" | "f" | "F" | "FALSE" | "False") => "false",
            (_, text) => text,
        };
        convert(&Value::string(text), ty).map_err(|why| {
            let variable = format!("the environment variable {variable}");
            self.invalid(name, &format!("{variable} stands in for it: {why}"))
        })
    }

    /// Returns a string; nothing where it is not set, or is empty.
    pub fn text(&self, name: &str) -> Option<String> {
        let value = self.value(name).ok()?;
        value.as_str().filter(|it| !it.is_empty()).map(str::to_owned)
    }

    /// Returns a bool, where it is set.
    ///
    /// # Errors
    ///
    /// As for [`Opening::value`].
    pub fn flag(&self, name: &str) -> Result<Option<bool>, Diagnostic> {
        Ok(self.value(name)?.as_bool())
    }

    /// Returns a whole number that is not negative, where it is set.
    ///
    /// # Errors
    ///
    /// As for [`Opening::value`], and if it is none.
    pub fn whole(&self, name: &str) -> Result<Option<u64>, Diagnostic> {
        let value = self.value(name)?;
        if value.is_null() {
            return Ok(None);
        }
        let whole = value.as_int().and_then(|it| u64::try_from(it).ok());
        let why = "a whole number that is not negative is required";
        whole.map(Some).ok_or_else(|| self.invalid(name, why))
    }

    /// Returns strings in order; none where it is not set.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let value = self.value(name).unwrap_or(Value::NULL);
        value.children().filter_map(|it| it.as_str().map(str::to_owned)).collect()
    }

    /// Returns a map of strings; an empty one where it is not set.
    pub fn table(&self, name: &str) -> BTreeMap<String, String> {
        let value = self.value(name).unwrap_or(Value::NULL);
        table_of(&value)
    }
}

/// Returns the members of an object or a map that are strings.
pub fn table_of(value: &Value) -> BTreeMap<String, String> {
    let entries = value.entries().into_iter();
    entries.filter_map(|(name, it)| Some((name.to_string(), it.as_str()?.to_owned()))).collect()
}

/// An argument, or what stands in for it, makes no sense.
pub fn invalid(kind: &'static str, name: &str, why: &str) -> Diagnostic {
    Owner::Backend(kind).invalid(name, why)
}

/// An argument is needed and not set.
pub fn missing(kind: &str, setting: &Setting) -> Diagnostic {
    let elsewhere = match setting.variables {
        [] => String::new(),
        names => format!(", or the environment variable {}", names.join(" or ")),
    };
    Diagnostic::error(format!("{:?}: required field is not set", setting.name)).detail(format!(
        "The backend {kind:?} needs it: set the argument {:?} in the backend's block or with -backend-config{elsewhere}.",
        setting.name
    ))
}
