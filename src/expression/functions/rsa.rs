//! RSA decryption with the key in PEM: PKCS #1 v1.5, as `rsadecrypt` needs it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rsa::pkcs1::DecodeRsaPrivateKey;
use rsa::pkcs8::{DecodePrivateKey, PrivateKeyInfo, der};
use rsa::rand_core::OsRng;
use rsa::traits::PublicKeyParts;
use rsa::{BigUint, Pkcs1v15Encrypt, RsaPrivateKey, pkcs1, pkcs8};

use super::maps::redacted;
use super::{Call, CallResult, Failure};
use crate::error::Error;
use crate::value::Value;

/// The smallest modulus that is decrypted with.
const SMALLEST_BITS: usize = 1024;
/// The largest key that is read: one of 16384 bits takes 10 kB. A huge one would be calculated with for ever.
const LARGEST_KEY: usize = 16 * 1024;

pub(super) fn rsadecrypt(call: &Call<'_>) -> CallResult {
    let bytes = STANDARD.decode(call.text(0).replace(['\r', '\n'], "")).map_err(|_| {
        let shown = redacted(&format!("{:?}", call.text(0)), &call.argument(0).marks());
        Failure::argument(
            0,
            format!("failed to decode input {shown}: cipher text must be base64-encoded"),
        )
    })?;
    let key = read_key(call.text(1)).map_err(|it| Failure::argument(1, it.message()))?;
    let plain = decrypt(&key, &bytes)
        .map_err(|why| Failure::call(format!("failed to decrypt: crypto/rsa: {why}")))?;
    Ok(Value::string(String::from_utf8_lossy(&plain)))
}

fn decrypt(key: &RsaPrivateKey, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let bits = key.n().bits();
    if bits < SMALLEST_BITS {
        return Err(format!(
            "{bits}-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)"
        )
        .into());
    }
    let failed = || Error::from("decryption error");
    if bytes.len() > key.size() {
        return Err(failed());
    }
    // Blinded, so that how long it takes says nothing of the key; the result does not depend on the random bytes.
    key.decrypt_blinded(&mut OsRng, Pkcs1v15Encrypt, bytes).map_err(|_| failed())
}

/// Why a private key cannot be used.
#[derive(Debug)]
enum BadKey {
    NoKey,
    Protected,
    Kind(String),
    NotRsa,
    TrailingData,
    Structure,
    OpenSsh,
    Unsound(String),
}

impl BadKey {
    fn message(&self) -> String {
        let why = match self {
            BadKey::TrailingData => {
                return "invalid ASN1 data in the given private key: trailing data".to_owned();
            }
            BadKey::Structure => {
                return "invalid ASN1 data in the given private key: data truncated or malformed"
                    .to_owned();
            }
            BadKey::NoKey => "ssh: no key found",
            BadKey::Protected => "ssh: this private key is passphrase protected",
            BadKey::Kind(kind) => &format!("ssh: unsupported key type {kind:?}"),
            BadKey::NotRsa => "key is not an RSA key",
            BadKey::OpenSsh => "ssh: invalid openssh private key format",
            BadKey::Unsound(why) => &format!("crypto/rsa: {why}"),
        };
        format!("invalid private key: {why}")
    }
}

impl From<rsa::Error> for BadKey {
    fn from(why: rsa::Error) -> BadKey {
        BadKey::Unsound(why.to_string())
    }
}

impl From<der::Error> for BadKey {
    fn from(why: der::Error) -> BadKey {
        match why.kind() {
            der::ErrorKind::TrailingData { .. } => BadKey::TrailingData,
            _ => BadKey::Structure,
        }
    }
}

impl From<pkcs1::Error> for BadKey {
    fn from(why: pkcs1::Error) -> BadKey {
        match why {
            pkcs1::Error::Asn1(why) => why.into(),
            pkcs1::Error::Pkcs8(why) => why.into(),
            pkcs1::Error::Version => {
                BadKey::Unsound("keys with more than two primes are not supported".to_owned())
            }
            _ => BadKey::Structure,
        }
    }
}

impl From<pkcs8::Error> for BadKey {
    fn from(why: pkcs8::Error) -> BadKey {
        match why {
            pkcs8::Error::Asn1(why) => why.into(),
            pkcs8::Error::KeyMalformed => {
                BadKey::Unsound("the parts of the key contradict each other".to_owned())
            }
            _ => BadKey::Structure,
        }
    }
}

fn read_key(text: &str) -> Result<RsaPrivateKey, BadKey> {
    let block = pem::parse(text).map_err(|_| BadKey::NoKey)?;
    if block.headers().get("Proc-Type").is_some() {
        return Err(BadKey::Protected);
    }
    let bytes = block.contents();
    if bytes.len() > LARGEST_KEY {
        return Err(BadKey::Structure);
    }
    match block.tag() {
        "RSA PRIVATE KEY" => Ok(RsaPrivateKey::from_pkcs1_der(bytes)?),
        "PRIVATE KEY" => {
            let info = PrivateKeyInfo::try_from(bytes)?;
            match info.algorithm.oid == pkcs1::ALGORITHM_OID {
                true => Ok(RsaPrivateKey::from_pkcs8_der(bytes)?),
                false => Err(BadKey::NotRsa),
            }
        }
        "OPENSSH PRIVATE KEY" => openssh(bytes),
        "EC PRIVATE KEY" | "DSA PRIVATE KEY" => Err(BadKey::NotRsa),
        other => Err(BadKey::Kind(other.to_owned())),
    }
}

/// Reads the format of OpenSSH, without a passphrase.
fn openssh(bytes: &[u8]) -> Result<RsaPrivateKey, BadKey> {
    let mut outer = Fields(bytes.strip_prefix(b"openssh-key-v1\0").ok_or(BadKey::OpenSsh)?);
    if outer.next()? != b"none" {
        return Err(BadKey::Protected);
    }
    // How the passphrase becomes a key, with what options, how many keys there are, and the public one.
    outer.next()?;
    outer.next()?;
    outer.skip(4)?;
    outer.next()?;
    let mut inner = Fields(outer.next()?);
    // Two equal numbers, with which a wrong passphrase is found out.
    inner.skip(8)?;
    if inner.next()? != b"ssh-rsa" {
        return Err(BadKey::NotRsa);
    }
    let mut number = || inner.next().map(BigUint::from_bytes_be);
    let (modulus, public, private) = (number()?, number()?, number()?);
    number()?;
    let primes = vec![number()?, number()?];
    Ok(RsaPrivateKey::from_components(modulus, public, private, primes)?)
}

/// Byte strings one after the other, each behind its length.
struct Fields<'b>(&'b [u8]);

impl<'b> Fields<'b> {
    fn skip(&mut self, count: usize) -> Result<&'b [u8], BadKey> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(BadKey::OpenSsh)?;
        self.0 = rest;
        Ok(taken)
    }

    fn next(&mut self) -> Result<&'b [u8], BadKey> {
        let length = self.skip(4)?.try_into().map_err(|_| BadKey::OpenSsh)?;
        self.skip(u32::from_be_bytes(length) as usize)
    }
}
