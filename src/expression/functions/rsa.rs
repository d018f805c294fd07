//! RSA decryption with the key in PEM: PKCS #1 v1.5, as `rsadecrypt` needs it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use num_bigint::BigUint;

use super::maps::redacted;
use super::{Call, Failure, Outcome};
use crate::value::Value;

/// The part of a private key that decryption needs.
struct Key {
    modulus: BigUint,
    exponent: BigUint,
}

pub(super) fn rsadecrypt(call: &Call<'_>) -> Outcome {
    let bytes = STANDARD.decode(call.text(0).replace(['\r', '\n'], "")).map_err(|_| {
        let shown = redacted(&format!("{:?}", call.text(0)), &call.argument(0).marks());
        Failure::argument(
            0,
            format!("failed to decode input {shown}: cipher text must be base64-encoded"),
        )
    })?;
    let key = read_key(call.text(1))
        .map_err(|why| Failure::argument(1, format!("invalid private key: {why}")))?;
    let plain = decrypt(&key, &bytes)
        .ok_or_else(|| Failure::call("failed to decrypt: crypto/rsa: decryption error"))?;
    Ok(Value::string(String::from_utf8_lossy(&plain)))
}

fn decrypt(key: &Key, bytes: &[u8]) -> Option<Vec<u8>> {
    let size = key.modulus.bits().div_ceil(8) as usize;
    let cipher = BigUint::from_bytes_be(bytes);
    if bytes.len() > size || cipher >= key.modulus {
        return None;
    }
    let plain = cipher.modpow(&key.exponent, &key.modulus).to_bytes_be();
    // The leading zero of the block is not there any more: 02, random bytes that are not zero, 0, text.
    if plain.len() + 1 != size || plain.first() != Some(&2) {
        return None;
    }
    let end = plain.iter().position(|it| *it == 0)?;
    (end >= 9).then(|| plain[end + 1..].to_vec())
}

fn read_key(pem: &str) -> Result<Key, String> {
    let missing = || "ssh: no key found".to_owned();
    let start = pem.find("-----BEGIN ").ok_or_else(missing)?;
    let rest = &pem[start + 11..];
    let (kind, rest) = rest.split_once("-----").ok_or_else(missing)?;
    let (body, _) = rest.split_once("-----END ").ok_or_else(missing)?;
    if body.contains("Proc-Type") {
        return Err(
            "password protected keys are not supported. Please decrypt the key prior to use"
                .to_owned(),
        );
    }
    let body: String = body.chars().filter(|it| !it.is_whitespace()).collect();
    let bytes = STANDARD.decode(body).map_err(|_| missing())?;
    match kind {
        "RSA PRIVATE KEY" => pkcs1(&bytes),
        "PRIVATE KEY" => pkcs8(&bytes),
        "OPENSSH PRIVATE KEY" => openssh(&bytes),
        other => Err(format!("ssh: unsupported key type {other:?}")),
    }
}

fn broken() -> String {
    "asn1: structure error".to_owned()
}

/// Takes one element of DER: its tag, its inside, and what follows.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, mut rest) = rest.split_first()?;
    let mut length = usize::from(*first);
    if *first >= 0x80 {
        let (count, after) = rest.split_at_checked(usize::from(first & 0x7f))?;
        if count.len() > 4 {
            return None;
        }
        length = count.iter().fold(0, |length, it| length << 8 | usize::from(*it));
        rest = after;
    }
    let (inside, after) = rest.split_at_checked(length)?;
    Some((*tag, inside, after))
}

const INTEGER: u8 = 2;
const OCTETS: u8 = 4;
const SEQUENCE: u8 = 0x30;

fn expect(bytes: &[u8], wanted: u8) -> Result<(&[u8], &[u8]), String> {
    match element(bytes) {
        Some((tag, inside, rest)) if tag == wanted => Ok((inside, rest)),
        _ => Err(broken()),
    }
}

/// `RSAPrivateKey`: version, modulus, public exponent, private exponent, …
fn pkcs1(bytes: &[u8]) -> Result<Key, String> {
    let (inside, _) = expect(bytes, SEQUENCE)?;
    let (_, rest) = expect(inside, INTEGER)?;
    let (modulus, rest) = expect(rest, INTEGER)?;
    let (_, rest) = expect(rest, INTEGER)?;
    let (exponent, _) = expect(rest, INTEGER)?;
    key(modulus, exponent)
}

fn key(modulus: &[u8], exponent: &[u8]) -> Result<Key, String> {
    let key = Key {
        modulus: BigUint::from_bytes_be(modulus),
        exponent: BigUint::from_bytes_be(exponent),
    };
    // Zero would be divided by, and a huge one calculated for ever.
    if (64..=16_384).contains(&key.modulus.bits()) { Ok(key) } else { Err(broken()) }
}

/// `PrivateKeyInfo`: version, algorithm, the key in PKCS #1.
fn pkcs8(bytes: &[u8]) -> Result<Key, String> {
    let (inside, _) = expect(bytes, SEQUENCE)?;
    let (_, rest) = expect(inside, INTEGER)?;
    let (algorithm, rest) = expect(rest, SEQUENCE)?;
    const RSA: &[u8] = &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
    if !algorithm.starts_with(RSA) {
        return Err("key is not an RSA key".to_owned());
    }
    let (inner, _) = expect(rest, OCTETS)?;
    pkcs1(inner)
}

/// The format of OpenSSH, without a passphrase.
fn openssh(bytes: &[u8]) -> Result<Key, String> {
    let wrong = || "ssh: invalid openssh private key format".to_owned();
    let mut rest = bytes.strip_prefix(b"openssh-key-v1\0").ok_or_else(wrong)?;
    let field = |rest: &mut &[u8]| -> Option<Vec<u8>> {
        let (length, after) = rest.split_at_checked(4)?;
        let (inside, after) =
            after.split_at_checked(u32::from_be_bytes(length.try_into().ok()?) as usize)?;
        *rest = after;
        Some(inside.to_vec())
    };
    let cipher = field(&mut rest).ok_or_else(wrong)?;
    if cipher != b"none" {
        return Err("ssh: this private key is passphrase protected".to_owned());
    }
    field(&mut rest).and_then(|_| field(&mut rest)).ok_or_else(wrong)?;
    rest = rest.get(4..).ok_or_else(wrong)?;
    field(&mut rest).ok_or_else(wrong)?;
    let private = field(&mut rest).ok_or_else(wrong)?;
    let mut rest = private.get(8..).ok_or_else(wrong)?;
    if field(&mut rest).ok_or_else(wrong)? != b"ssh-rsa" {
        return Err("key is not an RSA key".to_owned());
    }
    let modulus = field(&mut rest).ok_or_else(wrong)?;
    field(&mut rest).ok_or_else(wrong)?;
    let exponent = field(&mut rest).ok_or_else(wrong)?;
    key(&modulus, &exponent)
}
