//! Schemas by name, each made when it is first asked for: the largest provider announces two thousand, and a
//! configuration uses five.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::Schema;
use crate::value::Str;

/// Makes the schema of a name.
pub type MakeSchema = Arc<dyn Fn(&str) -> Schema + Send + Sync>;

/// Schemas by name, in the order of names.
#[derive(Clone, Default)]
pub struct Schemas {
    entries: BTreeMap<Str, OnceLock<Arc<Schema>>>,
    make: Option<MakeSchema>,
}

impl Schemas {
    /// Returns the schemas of these names, which `make` makes when they are needed.
    pub fn on_demand(names: impl IntoIterator<Item = Str>, make: MakeSchema) -> Schemas {
        let entries = names.into_iter().map(|it| (it, OnceLock::new())).collect();
        Schemas { entries, make: Some(make) }
    }

    /// Returns the schema of a name.
    pub fn get(&self, name: &str) -> Option<&Arc<Schema>> {
        let (name, cell) = self.entries.get_key_value(name)?;
        Some(self.made(name, cell))
    }

    /// Returns whether there is a schema of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Iterates over the names.
    pub fn keys(&self) -> impl Iterator<Item = &Str> {
        self.entries.keys()
    }

    /// Iterates over everything, and makes what was not made before.
    pub fn iter(&self) -> impl Iterator<Item = (&Str, &Arc<Schema>)> {
        self.entries.iter().map(|(name, cell)| (name, self.made(name, cell)))
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn made<'a>(&'a self, name: &str, cell: &'a OnceLock<Arc<Schema>>) -> &'a Arc<Schema> {
        cell.get_or_init(|| Arc::new(self.make.as_ref().map(|it| it(name)).unwrap_or_default()))
    }
}

impl FromIterator<(Str, Arc<Schema>)> for Schemas {
    fn from_iter<I: IntoIterator<Item = (Str, Arc<Schema>)>>(schemas: I) -> Schemas {
        let entries = schemas.into_iter().map(|(name, it)| (name, OnceLock::from(it)));
        Schemas { entries: entries.collect(), make: None }
    }
}

impl<const N: usize> From<[(Str, Arc<Schema>); N]> for Schemas {
    fn from(schemas: [(Str, Arc<Schema>); N]) -> Schemas {
        schemas.into_iter().collect()
    }
}

impl std::ops::Index<&str> for Schemas {
    type Output = Arc<Schema>;

    fn index(&self, name: &str) -> &Arc<Schema> {
        self.get(name).expect("there is a schema of this name")
    }
}

impl fmt::Debug for Schemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.keys()).finish()
    }
}
