//! `external`: a program that knows keys.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::error::Error;
use crate::world::{World, subprocess};

use super::{Key, KeySource};
use crate::encryption::arguments::{Argument, Arguments, Form};
use crate::encryption::program::Program;

pub(super) const ARGUMENTS: &[Argument] = &[Argument::required("command", Form::Texts)];

#[derive(Debug)]
struct External(Program);

/// What an envelope keeps, and what the program is asked with.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    external_data: Option<Map<String, Json>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    keys: Keys,
    #[serde(default)]
    meta: Kept,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    #[serde(default)]
    encryption_key: Option<String>,
    #[serde(default)]
    decryption_key: Option<String>,
}

pub(super) fn source(given: &Arguments) -> Result<Box<dyn KeySource>, Error> {
    let program = Program::new(given.texts("command"), "OpenTofu-External-Key-Provider")
        .ok_or("the command option is required")?;
    Ok(Box::new(External(program)))
}

impl External {
    fn ask(&self, world: &World, kept: &Kept) -> Result<Answer, Error> {
        let input = match &kept.external_data {
            Some(_) => serde_json::to_vec(kept)?,
            None => b"null".to_vec(),
        };
        let answer = self.0.ask(world, &input, subprocess::LARGEST)?;
        serde_json::from_slice(&answer).map_err(|why| {
            Error::from(format!("the external command returned an invalid JSON response ({why})"))
        })
    }
}

fn key(text: Option<String>) -> Result<Option<Key>, Error> {
    let bytes = text.map(|it| STANDARD.decode(it)).transpose().map_err(Error::of)?;
    Ok(bytes.filter(|it| !it.is_empty()).map(Key::new))
}

impl KeySource for External {
    fn fresh(&self, world: &World, _: Option<&Key>) -> Result<(Key, Vec<u8>), Error> {
        let answer = self.ask(world, &Kept::default())?;
        let key = key(answer.keys.encryption_key)?;
        let key = key.ok_or("the external command returned no encryption_key")?;
        Ok((key, serde_json::to_vec(&answer.meta)?))
    }

    fn known(&self, world: &World, metadata: &[u8], _: Option<&Key>) -> Result<Option<Key>, Error> {
        let kept: Kept = serde_json::from_slice(metadata)?;
        key(self.ask(world, &kept)?.keys.decryption_key)
    }
}
