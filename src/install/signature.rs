//! OpenPGP signatures of lists of checksums.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};
use pgp::composed::{Deserializable, DetachedSignature, SignedPublicKey, SignedPublicSubKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{RevocationCode, Signature, SignatureType};
use pgp::types::{Duration, KeyDetails, KeyVersion, SignedUser, Tag, Timestamp};

use crate::error::{Error, ErrorContext};

/// Returns the id of the key that signed a document.
///
/// # Errors
///
/// If the file is a page, a key cannot be read, a signature does not fit, or none of the keys made it. A key past its time does where
/// `allows_expired` and no other key fits.
pub fn check(
    document: &[u8],
    signature: &[u8],
    keys: &[String],
    now: DateTime<Utc>,
    allows_expired: bool,
) -> Result<String, Error> {
    if is_page(signature) {
        return Err(failed("its file is an HTML page, not a signature"));
    }
    let signatures: Vec<Signature> = DetachedSignature::from_bytes_many(signature)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .context(FAILED)?
        .into_iter()
        .map(|it: DetachedSignature| it.signature)
        .collect();
    let mut expired = None;
    for armor in keys {
        let (keys, _) =
            SignedPublicKey::from_string_many(armor).context("error decoding signing key")?;
        for key in keys {
            let key = key.context("error decoding signing key")?;
            for signature in &signatures {
                match judge(document, signature, &key, now)? {
                    Verdict::Good => return Ok(id(&key)),
                    Verdict::Expired => drop(expired.get_or_insert_with(|| id(&key))),
                    Verdict::Foreign => {}
                }
            }
        }
    }
    expired
        .filter(|_| allows_expired)
        .ok_or_else(|| "authentication signature from unknown issuer".into())
}

/// Returns whether a file is an HTML page, such as that of a login or of a proxy.
fn is_page(file: &[u8]) -> bool {
    let file = file.strip_prefix("\u{feff}".as_bytes()).unwrap_or(file);
    let start: Vec<u8> =
        file.trim_ascii_start().iter().take(14).map(u8::to_ascii_lowercase).collect();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

const FAILED: &str = "error checking signature";

/// What is wrong with a signature that this key did not make of this document.
const MISFIT: &str = "it was not made of this list of checksums";

enum Verdict {
    Good,
    /// The signature fits, but it, the key, or a statement of the key about itself is not yet or no longer valid.
    Expired,
    /// Another key made it.
    Foreign,
}

fn id(key: &SignedPublicKey) -> String {
    key.legacy_key_id().to_string().to_uppercase()
}

fn failed(why: &str) -> Error {
    Error::from(why).context(FAILED)
}

fn judge(
    document: &[u8],
    signature: &Signature,
    key: &SignedPublicKey,
    now: DateTime<Utc>,
) -> Result<Verdict, Error> {
    let subkey = key.public_subkeys.iter().find(|it| is_by(signature, *it));
    if subkey.is_none() && !is_by(signature, key) {
        return Ok(Verdict::Foreign);
    }
    if is_weak(signature) {
        return Err(failed("it rests on a hash function that is no longer safe"));
    }
    let now = now.timestamp();
    let own = self_signature(key, now)?;
    let mut is_late = is_key_over(key, own, now) || is_over(signature, now);
    match subkey {
        Some(subkey) => {
            let binding = binding(subkey, key, now)?;
            is_late |= is_key_over(subkey, binding, now);
            is_late |= binding.embedded_signature().is_some_and(|it| is_over(it, now));
            signature.verify(subkey, document).map_err(|_| failed(MISFIT))?;
        }
        None => signature.verify(key, document).map_err(|_| failed(MISFIT))?,
    }
    Ok(if is_late { Verdict::Expired } else { Verdict::Good })
}

/// Returns whether a signature says that this key made it.
fn is_by(signature: &Signature, key: &dyn KeyDetails) -> bool {
    let fingerprints = signature.issuer_fingerprint();
    match fingerprints.is_empty() {
        true => signature.issuer_key_id().iter().any(|it| **it == key.legacy_key_id()),
        false => fingerprints.iter().any(|it| **it == key.fingerprint()),
    }
}

fn is_a(signature: &Signature, kind: SignatureType) -> bool {
    signature.typ() == Some(kind)
}

/// Returns the signature in which the key says how long it is valid: the newest one about its main name or the key itself.
///
/// # Errors
///
/// If the key is revoked, or a signature that claims to be by the key itself is not.
fn self_signature(key: &SignedPublicKey, now: i64) -> Result<&Signature, Error> {
    let revocations = &key.details.revocation_signatures;
    for revocation in revocations {
        revocation.verify_key(&key.primary_key).context(FAILED)?;
    }
    // A key of version 6 needs no name, and says of itself what counts.
    let name = match key.version() {
        KeyVersion::V6 => None,
        _ => Some(main_name(key)?),
    };
    let is_name_revoked =
        name.as_ref().is_some_and(|it| is_revoked(it.revocations.iter().copied(), now));
    if is_name_revoked || is_revoked(revocations, now) {
        return Err(failed("the signing key is revoked"));
    }
    let direct = key.details.direct_signatures.iter();
    let direct = direct.filter(|it| it.verify_key(&key.primary_key).is_ok());
    newest(direct.chain(name.map(|it| it.claim))).ok_or_else(|| failed(NOT_CLAIMED))
}

/// What is wrong with a key that says nothing of itself.
const NOT_CLAIMED: &str = "the signing key has no signature of its own about itself";

/// A name that a key claims, with what only the key itself says of the name.
struct Name<'k> {
    claim: &'k Signature,
    revocations: Vec<&'k Signature>,
}

/// Returns the name that counts: not revoked before revoked, primary before others, then the newest.
fn main_name(key: &SignedPublicKey) -> Result<Name<'_>, Error> {
    let mut names = Vec::new();
    for user in &key.details.users {
        names.extend(name(user, key)?);
    }
    let rank =
        |it: &Name<'_>| (it.revocations.len(), !it.claim.is_primary(), Reverse(it.claim.created()));
    names.into_iter().min_by_key(rank).ok_or_else(|| failed(NOT_CLAIMED))
}

/// Returns a name of a key, unless only other keys certify it. Their signatures need not fit: they say nothing of how long this
/// key is valid.
///
/// # Errors
///
/// If a signature that claims to be by the key itself is not.
fn name<'k>(user: &'k SignedUser, key: &SignedPublicKey) -> Result<Option<Name<'k>>, Error> {
    let own = user.signatures.iter().filter(|it| is_by(it, key));
    let (revocations, claims): (Vec<&'k Signature>, Vec<&'k Signature>) =
        own.partition(|it| is_a(it, SignatureType::CertRevocation));
    for signature in revocations.iter().chain(&claims) {
        signature.verify_certification(&key.primary_key, Tag::UserId, &user.id).context(FAILED)?;
    }
    Ok(newest(claims.into_iter()).map(|claim| Name { claim, revocations }))
}

/// Returns the signature that makes a subkey part of a key: the newest one.
///
/// # Errors
///
/// If the subkey is revoked or not meant for signing, or one of its signatures is not by the key.
fn binding<'k>(
    subkey: &'k SignedPublicSubKey,
    key: &SignedPublicKey,
    now: i64,
) -> Result<&'k Signature, Error> {
    subkey.verify_bindings(&key.primary_key).context(FAILED)?;
    let (revocations, bindings): (Vec<&'k Signature>, Vec<&'k Signature>) =
        subkey.signatures.iter().partition(|it| is_a(it, SignatureType::SubkeyRevocation));
    if is_revoked(revocations, now) {
        return Err(failed("the signing subkey is revoked"));
    }
    let binding = newest(bindings.into_iter()).filter(|it| it.key_flags().sign());
    binding.ok_or_else(|| failed("the key is not meant for signing"))
}

/// Returns the newest of some signatures; of several of one second the first, as OpenTofu does.
fn newest<'k>(signatures: impl DoubleEndedIterator<Item = &'k Signature>) -> Option<&'k Signature> {
    signatures.rev().max_by_key(|it| it.created())
}

/// Returns whether one of some revocations counts. No newer signature takes it back.
fn is_revoked<'k>(revocations: impl IntoIterator<Item = &'k Signature>, now: i64) -> bool {
    revocations.into_iter().any(|it| {
        // The holder of a stolen key can give a signature any date.
        let is_stolen = it.revocation_reason_code() == Some(&RevocationCode::KeyCompromised);
        is_stolen || !is_over(it, now)
    })
}

/// Returns whether a key is not yet or no longer valid, or what it says of that is not.
fn is_key_over(key: &dyn KeyDetails, said: &Signature, now: i64) -> bool {
    is_outside(key.created_at(), said.key_expiration_time(), now) || is_over(said, now)
}

/// Returns whether a signature is not yet or no longer valid.
fn is_over(signature: &Signature, now: i64) -> bool {
    let start = signature.created().unwrap_or_default();
    is_outside(start, signature.signature_expiration_time(), now)
}

/// Returns whether now is not within a time, which has no end where its length is zero or not said.
fn is_outside(start: Timestamp, length: Option<Duration>, now: i64) -> bool {
    let start = i64::from(start.as_secs());
    let length = length.map_or(0, |it| i64::from(it.as_secs()));
    start > now || (length > 0 && start + length < now)
}

fn is_weak(signature: &Signature) -> bool {
    let weak = [HashAlgorithm::Md5, HashAlgorithm::Sha1, HashAlgorithm::Ripemd160];
    signature.config().is_none_or(|it| weak.contains(&it.hash_alg))
}
