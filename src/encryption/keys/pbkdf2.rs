//! `pbkdf2`: a key that is derived from a passphrase, or from the key of another provider.

use std::num::NonZeroU32;

use aws_lc_rs::pbkdf2;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::world::World;

use super::{Key, KeySource};
use crate::encryption::arguments::{Argument, Arguments, Form};

pub(super) const ARGUMENTS: &[Argument] = &[
    Argument::optional("passphrase", Form::Text),
    Argument::optional("chain", Form::Keys),
    Argument::optional("key_length", Form::Number),
    Argument::optional("iterations", Form::Number),
    Argument::optional("hash_function", Form::Text),
    Argument::optional("salt_length", Form::Number),
];

/// The shortest passphrase, in bytes.
const SHORTEST: usize = 16;
/// The fewest iterations.
const FEWEST: i64 = 200_000;

/// The most iterations that an envelope may ask for, over all blocks of the key, where fewer are configured: some seconds of work.
/// An attacker may have written the envelope, and must not keep every command busy for hours.
const MOST: u64 = 5_000_000;

struct Pbkdf2 {
    /// Nothing where the key of another provider takes its place.
    passphrase: Option<Zeroizing<Vec<u8>>>,
    key_length: usize,
    iterations: NonZeroU32,
    hash: Hash,
    salt_length: usize,
}

impl std::fmt::Debug for Pbkdf2 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "pbkdf2 with {} iterations", self.iterations)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Hash {
    Sha256,
    Sha512,
}

/// What an envelope keeps.
#[derive(Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    salt: String,
    #[serde(default)]
    iterations: i64,
    #[serde(default)]
    hash_function: String,
    #[serde(default)]
    key_length: i64,
}

pub(super) fn source(given: &Arguments) -> Result<Box<dyn KeySource>, Error> {
    let passphrase = given.text("passphrase").map(|it| Zeroizing::new(it.as_bytes().to_vec()));
    match (&passphrase, &given.keys) {
        (None, None) => return Err("no passphrase provided and no chained provider defined".into()),
        (Some(_), Some(_)) => return Err("passphrase and chain are mutually exclusive".into()),
        (Some(it), None) if it.len() < SHORTEST => {
            return Err(format!("passphrase is too short (minimum {SHORTEST} characters)").into());
        }
        _ => {}
    }
    let positive = |name: &str, what: &str, usual: i64| match given.int(name).unwrap_or(usual) {
        it if it > 0 => Ok(it),
        _ => Err(Error::from(format!("the {what} must be larger than zero"))),
    };
    let key_length = positive("key_length", "key length", 32)?;
    let iterations = positive("iterations", "number of iterations", 600_000)?;
    if iterations < FEWEST {
        return Err(format!(
            "the number of iterations is dangerously low (<{FEWEST}), refusing to generate key"
        )
        .into());
    }
    let salt_length = positive("salt_length", "salt length", 32)?;
    let hash = hash(given.text("hash_function").unwrap_or("sha512"))?;
    let size = |it: i64| usize::try_from(it).map_err(Error::of);
    Ok(Box::new(Pbkdf2 {
        passphrase,
        key_length: size(key_length)?,
        iterations: count(iterations)?,
        hash,
        salt_length: size(salt_length)?,
    }))
}

fn hash(name: &str) -> Result<Hash, Error> {
    match name {
        "sha256" => Ok(Hash::Sha256),
        "sha512" => Ok(Hash::Sha512),
        other => Err(format!("invalid hash function name: {other}").into()),
    }
}

fn count(iterations: i64) -> Result<NonZeroU32, Error> {
    u32::try_from(iterations)
        .ok()
        .and_then(NonZeroU32::new)
        .ok_or_else(|| format!("invalid number of iterations ({iterations})").into())
}

impl Pbkdf2 {
    fn secret<'a>(&'a self, chain: Option<&'a Key>) -> Result<&'a [u8], Error> {
        match (&self.passphrase, chain) {
            (Some(it), _) => Ok(it),
            (None, Some(key)) if key.bytes().len() < SHORTEST => Err(format!(
                "the upstream key provider supplied a key that is too short (minimum {SHORTEST} bytes)"
            )
            .into()),
            (None, Some(key)) => Ok(key.bytes()),
            (None, None) => Err("no key provided from upstream key provider".into()),
        }
    }
}

fn derive(
    secret: &[u8],
    salt: &[u8],
    (hash, iterations): (Hash, NonZeroU32),
    length: usize,
) -> Key {
    let algorithm = match hash {
        Hash::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
        Hash::Sha512 => pbkdf2::PBKDF2_HMAC_SHA512,
    };
    let mut key = vec![0; length];
    pbkdf2::derive(algorithm, iterations, salt, secret, &mut key);
    Key::new(key)
}

/// How many iterations a key takes, for all blocks that it has.
fn work((hash, iterations): (Hash, NonZeroU32), length: usize) -> u64 {
    let block = if hash == Hash::Sha256 { 32 } else { 64 };
    u64::from(iterations.get()).saturating_mul(length.div_ceil(block).max(1) as u64)
}

impl KeySource for Pbkdf2 {
    fn length(&self) -> Option<usize> {
        Some(self.key_length)
    }

    fn fresh(&self, world: &World, chain: Option<&Key>) -> Result<(Key, Vec<u8>), Error> {
        let mut salt = vec![0; self.salt_length];
        world.random(&mut salt);
        let how = (self.hash, self.iterations);
        let key = derive(self.secret(chain)?, &salt, how, self.key_length);
        let kept = Kept {
            salt: STANDARD.encode(&salt),
            iterations: self.iterations.get().into(),
            hash_function: if self.hash == Hash::Sha256 { "sha256" } else { "sha512" }.into(),
            key_length: i64::try_from(self.key_length).map_err(Error::of)?,
        };
        Ok((key, serde_json::to_vec(&kept)?))
    }

    fn known(&self, _: &World, metadata: &[u8], chain: Option<&Key>) -> Result<Option<Key>, Error> {
        let kept: Kept = serde_json::from_slice(metadata)?;
        let is_there = !kept.salt.is_empty()
            && kept.iterations != 0
            && !kept.hash_function.is_empty()
            && kept.key_length != 0;
        if !is_there {
            return Ok(None);
        }
        // What is read may be anybody's: it must not take all memory.
        let length = usize::try_from(kept.key_length).ok().filter(|it| *it <= 1 << 20);
        let length = length.ok_or_else(|| format!("invalid key length ({})", kept.key_length))?;
        let salt = STANDARD.decode(&kept.salt).map_err(Error::of)?;
        let how = (hash(&kept.hash_function)?, count(kept.iterations)?);
        let own = (self.hash, self.iterations);
        let most = work(own, self.key_length).max(MOST);
        if work(how, length) > most {
            return Err(format!(
                "the key would take {} iterations for {length} bytes, and at most {most} are made: the data may have been \
                 changed to keep this machine busy. If it is yours, set \"iterations\" and \"key_length\" to these numbers",
                how.1
            )
            .into());
        }
        Ok(Some(derive(self.secret(chain)?, &salt, how, length)))
    }
}
