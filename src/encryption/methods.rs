//! Methods: how bytes are sealed with a key.

use std::fmt;

use aws_lc_rs::aead;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;

use crate::config::early::StaticModule;
use crate::diagnostic::Diagnostics;
use crate::error::Error;
use crate::world::World;

use super::arguments::{Argument, Arguments, Form};
use super::keys::Key;
use super::problems;
use super::program::Program;
use super::settings::{Named, Part};

const AES_GCM: &[Argument] =
    &[Argument::required("keys", Form::Keys), Argument::optional("aad", Form::Numbers)];
const EXTERNAL: &[Argument] = &[
    Argument::optional("keys", Form::Keys),
    Argument::required("encrypt_command", Form::Texts),
    Argument::required("decrypt_command", Form::Texts),
];

/// How many bytes a program may print that seals or opens a state: the program may compress it.
const LARGEST: usize = 2 << 30;

/// How bytes are sealed.
#[derive(Debug)]
pub(super) struct Method {
    /// The key provider, where it needs one.
    pub keys: Option<Named>,
    how: How,
}

enum How {
    Plain,
    AesGcm { aad: Vec<u8> },
    External { encrypt: Program, decrypt: Program },
}

impl fmt::Debug for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            How::Plain => "unencrypted",
            How::AesGcm { .. } => "aes_gcm",
            How::External { .. } => "external",
        })
    }
}

/// What an external method answers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    payload: String,
}

impl Method {
    /// Evaluates a method.
    pub fn read(part: &Part, place: &StaticModule) -> Result<Method, Diagnostics> {
        let (kind, name) = &part.named;
        let what = format!("encryption.method.{kind}.{name}");
        let read = |known| Arguments::read(place, part, &what, known);
        let (given, how) = match kind.as_str() {
            "unencrypted" => (read(&[])?, How::Plain),
            "aes_gcm" => {
                let given = read(AES_GCM)?;
                let aad = given.bytes("aad");
                (given, How::AesGcm { aad })
            }
            "external" => {
                let given = read(EXTERNAL)?;
                let how = external(&given)
                    .map_err(|why| problems::no_method_data(why.words(), part.declared))?;
                (given, how)
            }
            kind => return Err(problems::unknown_method_kind(kind, part.declared).into()),
        };
        Ok(Method { keys: given.keys.map(|it| it.0), how })
    }

    /// Whether it leaves everything as it is.
    pub fn is_plain(&self) -> bool {
        matches!(self.how, How::Plain)
    }

    /// Checks that a key of so many bytes fits, before anything is sealed with it.
    pub fn check(&self, length: usize) -> Result<(), Error> {
        match &self.how {
            How::AesGcm { .. } => algorithm(length).map(drop),
            _ => Ok(()),
        }
    }

    /// Seals bytes.
    pub fn seal(&self, world: &World, key: Option<&Key>, plain: &[u8]) -> Result<Vec<u8>, Error> {
        match &self.how {
            How::Plain => Ok(plain.to_vec()),
            How::AesGcm { aad } => aes_seal(world, required(key)?, aad, plain),
            How::External { encrypt, .. } => run(encrypt, world, key, plain),
        }
    }

    /// Opens bytes.
    pub fn open(&self, world: &World, key: Option<&Key>, sealed: &[u8]) -> Result<Vec<u8>, Error> {
        if sealed.is_empty() {
            return Err("cannot decrypt empty data".into());
        }
        match &self.how {
            How::Plain => Ok(sealed.to_vec()),
            How::AesGcm { aad } => aes_open(required(key)?, aad, sealed),
            How::External { decrypt, .. } => run(decrypt, world, key, sealed),
        }
    }
}

fn required(key: Option<&Key>) -> Result<&Key, Error> {
    key.ok_or_else(|| "there is no key".into())
}

fn external(given: &Arguments) -> Result<How, Error> {
    let program = |name: &str| {
        Program::new(given.texts(name), "OpenTofu-External-Encryption-Method").ok_or_else(|| {
            Error::from(format!(
                "the {name} option is required, and its first entry must not be empty"
            ))
        })
    };
    Ok(How::External { encrypt: program("encrypt_command")?, decrypt: program("decrypt_command")? })
}

fn run(
    program: &Program,
    world: &World,
    key: Option<&Key>,
    bytes: &[u8],
) -> Result<Vec<u8>, Error> {
    let payload = STANDARD.encode(bytes);
    let input = match key {
        Some(key) => json!({ "key": STANDARD.encode(key.bytes()), "payload": payload }),
        None => json!({ "payload": payload }),
    };
    let answer = program.ask(world, &serde_json::to_vec(&input)?, LARGEST)?;
    let answer: Answer = serde_json::from_slice(&answer).map_err(|why| {
        Error::from(format!("external encryption method returned an invalid JSON ({why})"))
    })?;
    STANDARD.decode(answer.payload).map_err(Error::of)
}

fn algorithm(length: usize) -> Result<&'static aead::Algorithm, Error> {
    match length {
        16 => Ok(&aead::AES_128_GCM),
        24 => Ok(&aead::AES_192_GCM),
        32 => Ok(&aead::AES_256_GCM),
        other => Err(format!(
            "AES-GCM requires the key length to be one of: 16, 24, 32, received {other} bytes"
        )
        .into()),
    }
}

fn gcm(key: &Key) -> Result<aead::LessSafeKey, Error> {
    let key = aead::UnboundKey::new(algorithm(key.bytes().len())?, key.bytes());
    key.map(aead::LessSafeKey::new).map_err(|_| "the key cannot be used".into())
}

/// A nonce, the sealed bytes and their tag.
pub(super) fn aes_seal(
    world: &World,
    key: &Key,
    aad: &[u8],
    plain: &[u8],
) -> Result<Vec<u8>, Error> {
    let mut nonce = [0; aead::NONCE_LEN];
    world.random(&mut nonce);
    let mut sealed = Vec::with_capacity(nonce.len() + plain.len() + aead::MAX_TAG_LEN);
    sealed.extend_from_slice(&nonce);
    sealed.extend_from_slice(plain);
    let once = aead::Nonce::assume_unique_for_key(nonce);
    let tag = gcm(key)?
        .seal_in_place_separate_tag(once, aead::Aad::from(aad), &mut sealed[aead::NONCE_LEN..])
        .map_err(|_| "the bytes cannot be encrypted")?;
    sealed.extend_from_slice(tag.as_ref());
    Ok(sealed)
}

/// What [`aes_seal`] has sealed.
pub(super) fn aes_open(key: &Key, aad: &[u8], sealed: &[u8]) -> Result<Vec<u8>, Error> {
    let Some((nonce, sealed)) = sealed.split_at_checked(aead::NONCE_LEN) else {
        return Err("cannot decrypt data because it is too small (likely data corruption)".into());
    };
    let nonce = aead::Nonce::try_assume_unique_for_key(nonce).map_err(|_| "no nonce")?;
    let mut opened = sealed.to_vec();
    let length = gcm(key)?
        .open_in_place(nonce, aead::Aad::from(aad), &mut opened)
        .map_err(|_| "decryption failed: cipher: message authentication failed: another key, or it was changed")?
        .len();
    opened.truncate(length);
    Ok(opened)
}
