//! Which kinds of stores there are: the name of each, its settings with their types, and how it is opened.

use std::path::PathBuf;
use std::sync::Arc;

use super::inmem::InMemory;
use super::local::{Choice, Local};
use super::settings::Arguments;
use super::store::Store;
use crate::value::{Type, Value, convert};
use crate::world::World;

/// A kind of store.
#[derive(Debug)]
pub struct Kind {
    /// What `backend "NAME"` says.
    pub name: &'static str,
    /// What can be set in its block.
    pub settings: &'static [Setting],
    open: fn(&Arc<World>, &Arguments, &Choice) -> Arc<dyn Store>,
}

/// One setting of a kind.
#[derive(Debug)]
pub struct Setting {
    /// The argument.
    pub name: &'static str,
    /// The type of its value.
    pub ty: Type,
    /// What an empty value would be an invalid one of; nothing where it may be empty.
    pub filled: Option<&'static str>,
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

/// Every kind of store, sorted.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "inmem",
        settings: &[Setting { name: "lock_id", ty: Type::STRING, filled: None }],
        open: |world, given, _| Arc::new(InMemory::open(world, text(given, "lock_id").as_deref())),
    },
    Kind {
        name: "local",
        settings: &[
            Setting { name: "path", ty: Type::STRING, filled: Some("state file") },
            Setting {
                name: "workspace_dir",
                ty: Type::STRING,
                filled: Some("workspace directory"),
            },
        ],
        open: |world, given, choice| {
            let path = |name| text(given, name).map(PathBuf::from);
            let (path, workspace_folder) = (path("path"), path("workspace_dir"));
            Arc::new(Local::new(world.clone(), Choice { path, workspace_folder, ..choice.clone() }))
        },
    },
];

fn text(given: &Arguments, name: &str) -> Option<String> {
    given.get(name).cloned().flatten()
}

/// Returns the kind of this name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|it| it.name == name)
}

/// Returns the names of all kinds, for messages.
pub fn names() -> String {
    let names: Vec<String> = KINDS.iter().map(|it| format!("{:?}", it.name)).collect();
    names.join(" and ")
}

impl Kind {
    /// Returns its settings, none of them set.
    pub fn unset(&self) -> Arguments {
        self.settings.iter().map(|it| (it.name.to_owned(), None)).collect()
    }

    /// Returns a value as the setting has it; nothing where it is null.
    ///
    /// # Errors
    ///
    /// If the setting cannot have it.
    pub fn setting(&self, name: &str, value: &Value) -> Result<Option<String>, Unfit> {
        let setting = self.settings.iter().find(|it| it.name == name).ok_or(Unfit::Unknown)?;
        let typed = convert(value, setting.ty).map_err(|why| Unfit::Type(why.to_string()))?;
        if typed.is_null() {
            return Ok(None);
        }
        let text = convert(&typed, Type::STRING).ok().and_then(|it| it.as_str().map(str::to_owned));
        let text = text.ok_or_else(|| Unfit::Type("the value must be known".into()))?;
        match setting.filled.filter(|_| text.is_empty()) {
            Some(what) => Err(Unfit::Empty(what)),
            None => Ok(Some(text)),
        }
    }

    /// Opens the store that these settings lead to; nothing is touched yet.
    ///
    /// - `choice`: what flags say of files; only a store in files knows of it.
    pub fn open(&self, world: &Arc<World>, given: &Arguments, choice: &Choice) -> Arc<dyn Store> {
        (self.open)(world, given, choice)
    }
}
