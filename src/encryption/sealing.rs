//! The seal of a configuration: who seals what, and what it is opened with.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::backend::seal::{Part, Seal, Unsealed};
use crate::error::Error;
use crate::world::World;

use super::envelope::{Envelope, Passing};
use super::keys::{Key, Keyring, Metadata};
use super::methods::{Method, aes_open, aes_seal};

/// All that is sealed.
#[derive(Debug)]
pub(super) struct Encryption {
    pub state: Option<Target>,
    pub plan: Option<Target>,
    pub remote: Option<Target>,
    pub remotes: HashMap<String, Target>,
}

/// What something is sealed with, and opened with.
#[derive(Debug)]
pub(super) struct Target {
    /// What messages call it.
    pub name: String,
    /// The first seals; all open.
    pub methods: Vec<Method>,
    pub keys: Arc<Keyring>,
    pub world: World,
    pub now: Mutex<Now>,
}

/// What was made so far.
#[derive(Debug, Default)]
pub(super) struct Now {
    /// The key of the first method: one for all that is sealed in a run, so that what must be sealed after a service is gone can be.
    own: Option<(Option<Key>, Metadata)>,
    /// The key of the lines of journals and logs, and itself sealed.
    line: Option<(Key, String)>,
    /// The keys of lines that were read, by what they were sealed as.
    lines: HashMap<String, Key>,
}

/// A line of a journal or a log.
#[derive(Serialize, Deserialize)]
struct SealedLine {
    /// The key of the line, sealed.
    key: String,
    data: String,
}

impl Target {
    /// Returns the key that seals.
    fn own(&self, now: &mut Now) -> Result<(Option<Key>, Metadata), Error> {
        if let Some(it) = &now.own {
            return Ok(it.clone());
        }
        let method = &self.methods[0];
        let mut metadata = Metadata::new();
        let key = method.keys.as_ref();
        let key = key.map(|it| self.keys.fresh(&self.world, it, &mut metadata)).transpose()?;
        key.as_ref().map_or(Ok(()), |it| method.check(it.bytes().len()))?;
        now.own = Some((key.clone(), metadata.clone()));
        Ok((key, metadata))
    }

    /// Seals bytes; nothing where they stay as they are.
    fn seal(&self, plain: &[u8]) -> Result<Option<Envelope>, Error> {
        let method = &self.methods[0];
        if method.is_plain() {
            return Ok(None);
        }
        let (key, metadata) = self.own(&mut self.now.lock())?;
        let sealed = method.seal(&self.world, key.as_ref(), plain);
        let sealed = sealed
            .map_err(|why| why.context(format_args!("encryption failed for {}", self.name)))?;
        Ok(Some(Envelope::new(&metadata, &sealed)))
    }

    /// Opens an envelope. Returns which method has.
    fn open(&self, envelope: &Envelope) -> Result<(usize, Vec<u8>), Error> {
        let (metadata, sealed) = envelope.parts()?;
        let mut failed = Vec::new();
        for (at, method) in self.methods.iter().enumerate().filter(|it| !it.1.is_plain()) {
            let key = method.keys.as_ref();
            let key = key.map(|it| self.keys.known(&self.world, it, &metadata)).transpose();
            let opened = key.and_then(|key| method.open(&self.world, key.as_ref(), &sealed));
            match opened {
                Ok(plain) => return Ok((at, plain)),
                Err(why) => {
                    failed.push(format!("attempted decryption failed for {}: {why}", self.name))
                }
            }
        }
        Err(format!("decryption failed for all provided methods: {}", failed.join("; ")).into())
    }

    /// Takes what was never sealed, where that may be.
    fn unsealed<'a>(&self, plain: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, Error> {
        match self.methods.iter().any(Method::is_plain) {
            true => Ok(plain),
            false => {
                Err("encountered unencrypted payload without unencrypted method configured".into())
            }
        }
    }

    fn seal_state<'a>(&self, plain: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, Error> {
        let Some(mut envelope) = self.seal(&plain)? else { return Ok(plain) };
        let passing: Passing = serde_json::from_slice(&plain)?;
        (envelope.serial, envelope.lineage) = (passing.serial, passing.lineage);
        envelope.to_bytes().map(Cow::Owned)
    }

    /// Opens a state. Returns also whether it was sealed as it would be now.
    fn open_state<'a>(&self, sealed: Cow<'a, [u8]>) -> Result<(bool, Cow<'a, [u8]>), Error> {
        let Some(envelope) = Envelope::read(&sealed) else {
            let passing: Passing = serde_json::from_slice(&sealed)
                .map_err(|why| Error::of(why).context("invalid data format for decryption: it is cut off or damaged, so that only a backup helps"))?;
            if passing.terraform_version.is_none_or(|it| it.is_empty()) {
                return Err("unable to determine data structure during decryption: Given payload is not a state file".into());
            }
            let plain = self.unsealed(sealed)?;
            return Ok((self.methods[0].is_plain(), plain));
        };
        let (method, plain) = self.open(&envelope)?;
        let passing: Passing = serde_json::from_slice(&plain)?;
        if let (Some(told), Some(serial)) = (envelope.serial, passing.serial)
            && told != serial
        {
            return Err(format!(
                "invalid state metadata, serial field mismatch {told} vs {serial}"
            )
            .into());
        }
        let told = envelope.lineage.filter(|it| !it.is_empty());
        if let Some(told) = told
            && passing.lineage.as_deref() != Some(&told)
        {
            let lineage = passing.lineage.unwrap_or_default();
            return Err(format!(
                "invalid state metadata, lineage field mismatch {told} vs {lineage}"
            )
            .into());
        }
        Ok((method == 0, Cow::Owned(plain)))
    }

    fn open_plan<'a>(&self, sealed: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, Error> {
        match Envelope::read(&sealed) {
            Some(envelope) => Ok(Cow::Owned(self.open(&envelope)?.1)),
            None if sealed.starts_with(b"PK") => self.unsealed(sealed),
            None => {
                Err("unable to determine data structure during decryption: it is no plan file"
                    .into())
            }
        }
    }

    /// Seals a line with a key of this run, which stands sealed in the line: methods may be slow, and lines are many.
    fn seal_line(&self, plain: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        if self.methods[0].is_plain() {
            return Ok(None);
        }
        let known = self.now.lock().line.clone();
        let (key, sealed_key) = match known {
            Some(it) => it,
            None => {
                let mut bytes = vec![0; 32];
                self.world.random(&mut bytes);
                let envelope = self.seal(&bytes)?.ok_or("the key of lines is not sealed")?;
                let made = (Key::new(bytes), STANDARD.encode(envelope.to_bytes()?));
                self.now.lock().line = Some(made.clone());
                made
            }
        };
        let data = STANDARD.encode(aes_seal(&self.world, &key, &[], plain)?);
        Ok(Some(serde_json::to_vec(&SealedLine { key: sealed_key, data })?))
    }

    fn open_line<'a>(&self, sealed: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, Error> {
        let Ok(line) = serde_json::from_slice::<SealedLine>(&sealed) else {
            return self.unsealed(sealed);
        };
        let known = self.now.lock().lines.get(&line.key).cloned();
        let key = match known {
            Some(key) => key,
            None => {
                let envelope = STANDARD.decode(&line.key).map_err(Error::of)?;
                let envelope = Envelope::read(&envelope).ok_or("the key of the line is broken")?;
                let key = Key::new(self.open(&envelope)?.1);
                self.now.lock().lines.insert(line.key.clone(), key.clone());
                key
            }
        };
        aes_open(&key, &[], &STANDARD.decode(&line.data).map_err(Error::of)?).map(Cow::Owned)
    }
}

impl Encryption {
    fn of_remote(&self, address: &str) -> Option<&Target> {
        self.remotes.get(address).or(self.remote.as_ref())
    }
}

impl Seal for Encryption {
    fn seals_states(&self) -> bool {
        self.state.as_ref().is_some_and(|it| !it.methods[0].is_plain())
    }

    fn seal<'a>(&self, part: Part<'_>, plain: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, Error> {
        match (part, &self.state, &self.plan) {
            (Part::State, Some(target), _) => target.seal_state(plain),
            (Part::Plan, _, Some(target)) => match target.seal(&plain)? {
                Some(envelope) => envelope.to_bytes().map(Cow::Owned),
                None => Ok(plain),
            },
            (Part::Line, Some(target), _) => Ok(match target.seal_line(&plain)? {
                Some(line) => line.into(),
                None => plain,
            }),
            _ => Ok(plain),
        }
    }

    fn open<'a>(&self, part: Part<'_>, sealed: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, Error> {
        let target = match part {
            Part::State | Part::Line => self.state.as_ref(),
            Part::Plan => self.plan.as_ref(),
            Part::RemoteState(address) => self.of_remote(address),
        };
        match (part, target) {
            (_, None) => Unsealed.open(part, sealed),
            (Part::State | Part::RemoteState(_), Some(target)) => {
                target.open_state(sealed).map(|it| it.1)
            }
            (Part::Plan, Some(target)) => target.open_plan(sealed),
            (Part::Line, Some(target)) => target.open_line(sealed),
        }
    }

    fn open_current<'a>(
        &self,
        part: Part<'_>,
        sealed: Cow<'a, [u8]>,
    ) -> Result<Option<Cow<'a, [u8]>>, Error> {
        match (part, &self.state) {
            (Part::State, Some(target)) => {
                target.open_state(sealed).map(|(is_current, plain)| is_current.then_some(plain))
            }
            _ => self.open(part, sealed).map(Some),
        }
    }
}
