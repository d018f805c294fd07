//! Hashes, identifiers and decryption.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape};
use crate::value::{Type, Value};

const STR: &[Parameter] = &[Parameter::string("str")];
const TEXT: Returns = Returns::Always(Shape::String);

/// A hash of bytes, as text.
pub(super) type Hash = fn(&[u8]) -> String;

pub(super) const MD5: Hash = |bytes| hex(&Md5::digest(bytes));
pub(super) const SHA1: Hash = |bytes| hex(&Sha1::digest(bytes));
pub(super) const SHA256: Hash = |bytes| hex(&Sha256::digest(bytes));
pub(super) const SHA512: Hash = |bytes| hex(&Sha512::digest(bytes));
pub(super) const BASE64_SHA256: Hash = |bytes| STANDARD.encode(Sha256::digest(bytes));
pub(super) const BASE64_SHA512: Hash = |bytes| STANDARD.encode(Sha512::digest(bytes));

pub(super) const FUNCTIONS: &[Function] = &[
    hash("md5", "Returns the MD5 hash in hexadecimal.", |call| Ok(hashed(call, MD5))),
    hash("sha1", "Returns the SHA1 hash in hexadecimal.", |call| Ok(hashed(call, SHA1))),
    hash("sha256", "Returns the SHA256 hash in hexadecimal.", |call| Ok(hashed(call, SHA256))),
    hash("sha512", "Returns the SHA512 hash in hexadecimal.", |call| Ok(hashed(call, SHA512))),
    hash("base64sha256", "Returns the SHA256 hash in Base64.", |call| {
        Ok(hashed(call, BASE64_SHA256))
    }),
    hash("base64sha512", "Returns the SHA512 hash in Base64.", |call| {
        Ok(hashed(call, BASE64_SHA512))
    }),
    Function {
        name: "bcrypt",
        description: "Returns a salted bcrypt hash; another one every time, so it is decided during apply.",
        parameters: STR,
        variadic: Some(
            Parameter::number("cost")
                .about("How costly the hash is to make, as a power of two; 10 unless given."),
        ),
        returns: TEXT,
        body: bcrypt,
    },
    Function {
        name: "uuid",
        description: "Returns a random UUID; another one every time, so it is decided during apply.",
        parameters: &[],
        variadic: None,
        returns: TEXT,
        body: |call| Ok(later(call, || Value::string(call.scope.world().uuid()))),
    },
    Function {
        name: "uuidv5",
        description: "Returns the UUID that a name has in a namespace: dns, url, oid, x500 or a UUID.",
        parameters: &[Parameter::string("namespace"), Parameter::string("name")],
        variadic: None,
        returns: TEXT,
        body: uuidv5,
    },
    Function {
        name: "rsadecrypt",
        description: "Decrypts Base64 text with an RSA private key (PKCS #1 v1.5).",
        parameters: &[Parameter::string("ciphertext"), Parameter::string("privatekey")],
        variadic: None,
        returns: TEXT,
        body: super::rsa::rsadecrypt,
    },
];

const fn hash(
    name: &'static str,
    description: &'static str,
    body: fn(&Call<'_>) -> CallResult,
) -> Function {
    Function { name, description, parameters: STR, variadic: None, returns: TEXT, body }
}

fn hashed(call: &Call<'_>, hash: Hash) -> Value {
    Value::string(hash(call.text(0).as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// The result of a function that gives another value each time: unknown while planning.
pub(super) fn later(call: &Call<'_>, value: impl FnOnce() -> Value) -> Value {
    if call.scope.is_planning() { Value::unknown(Type::STRING) } else { value() }
}

fn bcrypt(call: &Call<'_>) -> CallResult {
    if call.arguments.len() > 2 {
        return Err(Failure::call("bcrypt() takes no more than two arguments"));
    }
    if call.scope.is_planning() {
        return Ok(Value::unknown(Type::STRING));
    }
    let cost = if call.arguments.len() > 1 { call.int(1)? } else { 10 };
    if cost > 31 {
        return Err(Failure::call(format!(
            "error occurred generating password crypto/bcrypt: cost {cost} is outside allowed inclusive range 4..31"
        )));
    }
    if call.text(0).len() > 72 {
        return Err(Failure::call(
            "error occurred generating password bcrypt: password length exceeds 72 bytes",
        ));
    }
    // Below the least cost the usual one is taken.
    let cost = if cost < 4 { 10 } else { cost as u32 };
    let mut salt = [0; 16];
    call.scope.world().random(&mut salt);
    let hash = ::bcrypt::hash_with_salt(call.text(0), cost, salt)
        .map_err(|error| Failure::call(error.to_string()))?;
    Ok(Value::string(hash.format_for_version(::bcrypt::Version::TwoA)))
}

fn uuidv5(call: &Call<'_>) -> CallResult {
    use uuid::Uuid;
    let namespace = match call.text(0) {
        "dns" => Uuid::NAMESPACE_DNS,
        "url" => Uuid::NAMESPACE_URL,
        "oid" => Uuid::NAMESPACE_OID,
        "x500" => Uuid::NAMESPACE_X500,
        other => Uuid::parse_str(other).map_err(|_| {
            let why = match other.len() {
                32 | 36 | 38 | 45 => "invalid UUID format".to_owned(),
                length => format!("invalid UUID length: {length}"),
            };
            Failure::call(format!("uuidv5() doesn't support namespace {other} ({why})"))
        })?,
    };
    Ok(Value::string(Uuid::new_v5(&namespace, call.text(1).as_bytes()).to_string()))
}
