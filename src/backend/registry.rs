//! Which kinds of stores there are: the name of each, its settings with their types, and how it is opened.
//!
//! Each kind has a file of its own with a constant `KIND`, behind a feature of its own (`backend-NAME`) where it speaks to a service.

use std::sync::Arc;

use super::local::Choice;
use super::opening::{Opening, Owner, missing};
use super::shape::{Arguments, Setting, Unfit};
use super::store::Store;
use super::{inmem, local};
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

/// Every kind of store, sorted.
pub const KINDS: &[&Kind] = &[
    #[cfg(feature = "backend-azurerm")]
    &super::azurerm::KIND,
    #[cfg(feature = "backend-consul")]
    &super::consul::KIND,
    #[cfg(feature = "backend-gcs")]
    &super::gcs::KIND,
    #[cfg(feature = "backend-http")]
    &super::http::KIND,
    &inmem::KIND,
    #[cfg(feature = "backend-kubernetes")]
    &super::kubernetes::KIND,
    &local::KIND,
    #[cfg(feature = "backend-pg")]
    &super::pg::KIND,
    #[cfg(feature = "backend-s3")]
    &super::s3::KIND,
];

/// What other programs have and this one has not, or only as a feature; and what to do about it.
const ELSEWHERE: &[(&str, &str)] = &[
    ("cloud", "keep the state in \"s3\", \"gcs\", \"azurerm\", \"pg\" or \"http\" instead"),
    ("remote", "keep the state in \"s3\", \"gcs\", \"azurerm\", \"pg\" or \"http\" instead"),
    ("cos", "such storage can be reached by its S3 interface: \"s3\" with `endpoints`"),
    ("oss", "such storage can be reached by its S3 interface: \"s3\" with `endpoints`"),
];

/// Kinds that are features, so that a program without one can name it.
const FEATURES: &[&str] = &["azurerm", "consul", "gcs", "http", "kubernetes", "pg", "s3"];

/// Returns the kind of this name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|it| it.name == name).copied()
}

/// Returns the names of all kinds, for messages.
pub fn names() -> String {
    let names: Vec<String> = KINDS.iter().map(|it| format!("{:?}", it.name)).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Says why there is no kind of this name, and what to do.
pub fn why_not(name: &str) -> String {
    let instead = ELSEWHERE.iter().find(|it| it.0 == name).map(|it| it.1);
    let known = format!("The backends that are supported: {}.", names());
    match instead {
        Some(instead) => format!(
            "The backend {name:?} is not supported: {instead}, or keep it with the program that has it. {known}"
        ),
        None if FEATURES.contains(&name) => format!(
            "This program was built without the backend {name:?}, which is the feature `backend-{name}`. {known}"
        ),
        None => format!("There is no backend type named {name:?}. {known}"),
    }
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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn kinds_are_sorted_and_so_are_their_settings() {
        assert!(KINDS.is_sorted_by_key(|it| it.name));
        for kind in KINDS {
            assert!(kind.settings.is_sorted_by_key(|it| it.name), "{}", kind.name);
        }
    }

    #[test]
    fn what_is_not_here_is_told_with_a_way_out() {
        let told = |it: &str| why_not(it).split(" The backends that").next().map(str::to_owned);
        expect![[r#"The backend "cloud" is not supported: keep the state in "s3", "gcs", "azurerm", "pg" or "http" instead, or keep it with the program that has it."#]].assert_eq(&told("cloud").unwrap_or_default());
        expect![[r#"There is no backend type named "nope"."#]]
            .assert_eq(&told("nope").unwrap_or_default());
    }
}
