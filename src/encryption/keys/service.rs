//! Key providers that are services: they make keys, or seal those that are made here, and open them again.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

use crate::backend::local::Choice;
use crate::backend::opening::{Opening, Owner};
use crate::backend::shape::Setting;
use crate::backend::store::wait_for;
use crate::config::early::StaticModule;
use crate::diagnostic::Diagnostics;
use crate::error::Error;

use super::{Key, KeySource};
use crate::encryption::arguments::{missing, of_service};
use crate::encryption::settings::Part;

/// A kind of key provider that is a service.
pub(super) struct Service {
    /// What `key_provider "NAME"` says.
    pub name: &'static str,
    /// What can be set in its block.
    pub settings: &'static [Setting],
    /// Makes a key provider of the settings. Nobody is asked yet.
    pub open: fn(&Opening) -> Result<Box<dyn KeySource>, Diagnostics>,
}

impl Service {
    /// Evaluates a key provider.
    pub fn source(
        &self,
        place: &StaticModule,
        part: &Part,
        what: &str,
    ) -> Result<Box<dyn KeySource>, Diagnostics> {
        let given = of_service(place, part, what, self.settings)?;
        let opening = Opening {
            world: &place.context().world,
            owner: Owner::Keys(self.name),
            settings: self.settings,
            given: &given,
            choice: &Choice::default(),
        };
        let mut found = Diagnostics::new();
        for setting in self.settings {
            match opening.value(setting.name) {
                Ok(value) if setting.is_required && value.is_null() => {
                    found.push(missing(setting.name, part.declared));
                }
                Ok(_) => {}
                Err(problem) => found.push(problem.at(part.declared)),
            }
        }
        if found.has_errors() {
            return Err(found);
        }
        (self.open)(&opening).map_err(|all| {
            all.into_iter().map(|it| it.at(part.declared)).collect::<Vec<_>>().into()
        })
    }
}

/// Waits for the answer of a service, in whatever thread this is.
pub(super) fn wait<T: Send, E: std::fmt::Display + Send>(
    answer: impl Future<Output = Result<T, E>> + Send,
) -> Result<T, Error> {
    wait_for(async { answer.await.map_err(|why| Error::from(why.to_string())) })
}

/// A text that is wiped from memory when it is dropped and never printed.
pub(super) struct Secret(Zeroizing<String>);

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Secret, D::Error> {
        String::deserialize(from).map(|it| Secret(Zeroizing::new(it)))
    }
}

impl Secret {
    /// Returns the key that it is in base64; nothing where it is none.
    pub fn key(&self, engine: &impl base64::Engine) -> Option<Key> {
        let bytes = engine.decode(self.0.as_bytes()).ok();
        bytes.filter(|it| !it.is_empty()).map(Key::new)
    }
}

/// Reads an answer, and wipes it from memory.
///
/// - `service`, `host`: how messages call who has answered.
pub(super) fn read<T: DeserializeOwned>(
    body: Vec<u8>,
    service: &str,
    host: &str,
) -> Result<T, Error> {
    let body = Zeroizing::new(body);
    // What is wrong with it is not told: it may hold a key.
    serde_json::from_slice(&body).map_err(|_| strange(service, host))
}

/// Somebody else answers, or the service has become another one.
pub(super) fn strange(service: &str, host: &str) -> Error {
    format!("{host} does not answer as {service} does: check the address of the service, and the proxy in between").into()
}
