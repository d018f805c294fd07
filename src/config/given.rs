//! What a module call gives its module.

use std::slice;

use crate::syntax::Attribute;
use crate::value::Str;

/// The inputs of a module call by the names of the variables, in their order.
///
/// There are many calls, most of few inputs: a list takes less room than a map.
#[derive(Clone, Debug, Default)]
pub struct Inputs(Box<[Attribute]>);

impl Inputs {
    /// Returns what is given for a variable.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        let at = self.0.binary_search_by(|it| (*it.name.text).cmp(name)).ok()?;
        Some(&self.0[at])
    }

    /// Returns whether anything is given for a variable.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns all that is given.
    pub fn values(&self) -> slice::Iter<'_, Attribute> {
        self.0.iter()
    }

    /// Returns all that is given, with the names of the variables.
    pub fn iter(&self) -> impl Iterator<Item = (&Str, &Attribute)> {
        self.0.iter().map(|it| (&it.name.text, it))
    }

    /// Adds what another call gives, in place of what was given for the same variables.
    pub fn extend(&mut self, more: Inputs) {
        let before = std::mem::take(&mut self.0).into_iter();
        let mut all: Vec<Attribute> =
            before.filter(|it| !more.contains_key(&it.name.text)).collect();
        all.extend(more.0);
        *self = all.into();
    }
}

/// Of attributes whose names are unique, as those of a body are.
impl From<Vec<Attribute>> for Inputs {
    fn from(mut all: Vec<Attribute>) -> Inputs {
        all.sort_by(|a, b| a.name.text.cmp(&b.name.text));
        Inputs(all.into())
    }
}
