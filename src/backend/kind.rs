//! A kind of store: its name, its settings with their types, and how it is opened.

use std::sync::Arc;

use super::local::Choice;
use super::opening::{Opening, Owner, missing};
use super::shape::{Arguments, Setting, Unfit};
use super::store::Store;
use crate::diagnostic::Diagnostics;
use crate::value::Value;
use crate::world::World;

/// A kind of store.
#[derive(Debug)]
pub struct Kind {
    /// What `backend "NAME"` says.
    pub name: &'static str,
    /// What can be set in its block.
    pub settings: &'static [Setting],
    /// Makes a store of the settings, which are there as far as they are required. Nothing is touched yet: no question is asked
    /// over the network, and what is wrong is wrong with the settings.
    pub open: fn(&Opening) -> Result<Arc<dyn Store>, Diagnostics>,
}

impl Kind {
    /// Returns its settings, none of them set.
    pub fn unset(&self) -> Arguments {
        self.settings.iter().map(|it| (it.name.to_owned(), Value::Null(it.shape.ty()))).collect()
    }

    /// Returns a value as the setting has it, which is null where the value is.
    ///
    /// # Errors
    ///
    /// If the setting cannot have it.
    pub fn setting(&self, name: &str, value: &Value) -> Result<Value, Unfit> {
        let setting = self.settings.iter().find(|it| it.name == name).ok_or(Unfit::Unknown)?;
        setting.read(value)
    }

    /// Opens the store that these settings lead to; nothing is touched yet.
    ///
    /// - `choice`: what flags say of files; only a store in files knows of it.
    ///
    /// # Errors
    ///
    /// If a setting is missing or makes no sense.
    pub fn open(
        &self,
        world: &Arc<World>,
        given: &Arguments,
        choice: &Choice,
    ) -> Result<Arc<dyn Store>, Diagnostics> {
        let (owner, settings) = (Owner::Backend(self.name), self.settings);
        let opening = Opening { world, owner, settings, given, choice };
        let mut problems = Diagnostics::new();
        for setting in self.settings {
            match opening.value(setting.name) {
                Ok(value) if setting.is_required && value.is_null() => {
                    problems.push(missing(self.name, setting));
                }
                Ok(_) => {}
                Err(problem) => problems.push(problem),
            }
        }
        if problems.has_errors() { Err(problems) } else { (self.open)(&opening) }
    }
}
