//! What a module call gives its module.

use std::slice;

use crate::syntax::Attribute;
use crate::value::Str;

/// The inputs of a module call by the names of the variables, in their order.
///
/// There are many calls, most of few inputs: a list takes less room than a map.
#[derive(Clone, Debug, Default)]
pub struct Inputs(Vec<Attribute>);

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
        self.0.retain(|it| !more.contains_key(&it.name.text));
        self.0.extend(more.0);
        self.sort();
    }

    fn sort(&mut self) {
        self.0.sort_by(|a, b| a.name.text.cmp(&b.name.text));
        self.0.shrink_to_fit();
    }
}

/// Of attributes whose names are unique, as those of a body are.
impl From<Vec<Attribute>> for Inputs {
    fn from(all: Vec<Attribute>) -> Inputs {
        let mut inputs = Inputs(all);
        inputs.sort();
        inputs
    }
}
