//! OpenPGP signatures of lists of checksums.

use chrono::{DateTime, Utc};
use pgp::composed::{Deserializable, DetachedSignature, SignedPublicKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::Signature;
use pgp::types::KeyDetails;

use crate::error::{Error, ErrorContext};

/// Returns the id of the key that signed a document.
///
/// # Errors
///
/// If a key cannot be read, a signature does not fit, or none of the keys made it. A key past its time does where
/// `allows_expired` and no other key fits.
pub fn check(
    document: &[u8],
    signature: &[u8],
    keys: &[String],
    now: DateTime<Utc>,
    allows_expired: bool,
) -> Result<String, Error> {
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

const FAILED: &str = "error checking signature";

/// What is wrong with a signature that this key did not make of this document.
const MISFIT: &str = "it was not made of this list of checksums";

enum Verdict {
    Good,
    /// The signature fits, but its time or the key's is over.
    Expired,
    /// Another key made it.
    Foreign,
}

fn id(key: &SignedPublicKey) -> String {
    key.legacy_key_id().to_string().to_uppercase()
}

fn judge(
    document: &[u8],
    signature: &Signature,
    key: &SignedPublicKey,
    now: DateTime<Utc>,
) -> Result<Verdict, Error> {
    let is_own = |one: &dyn KeyDetails| {
        signature.issuer_fingerprint().iter().any(|it| **it == one.fingerprint())
            || signature.issuer_key_id().iter().any(|it| **it == one.legacy_key_id())
    };
    let failed = |why: &str| Error::from(why).context(FAILED);
    let subkey = key.public_subkeys.iter().find(|it| is_own(*it));
    if !is_own(key) && subkey.is_none() {
        return Ok(Verdict::Foreign);
    }
    if is_weak(signature) {
        return Err(failed("it rests on a hash function that is no longer safe"));
    }
    key.details.verify_bindings(&key.primary_key).context(FAILED)?;
    if !key.details.revocation_signatures.is_empty() {
        return Err(failed("the signing key is revoked"));
    }
    match subkey {
        Some(subkey) => {
            subkey.verify_bindings(&key.primary_key).context(FAILED)?;
            if !subkey.signatures.iter().any(|it| it.key_flags().sign()) {
                return Err(failed("the key is not meant for signing"));
            }
            signature.verify(subkey, document).map_err(|_| failed(MISFIT))?;
        }
        None => signature.verify(key, document).map_err(|_| failed(MISFIT))?,
    }
    let created = |it: u32| i64::from(it);
    let over = |start: i64, length: Option<u32>| {
        length.is_some_and(|it| it > 0 && start + i64::from(it) < now.timestamp())
    };
    let mut own = key
        .details
        .users
        .iter()
        .flat_map(|it| &it.signatures)
        .chain(&key.details.direct_signatures)
        .collect::<Vec<_>>();
    // The newest statement about the key counts.
    own.sort_by_key(|it| it.created().map(|it| it.as_secs()));
    let lifetime = own.last().and_then(|it| it.key_expiration_time()).map(|it| it.as_secs());
    let signed_at = signature.created().map_or(0, |it| created(it.as_secs()));
    let is_over = over(created(key.created_at().as_secs()), lifetime)
        || over(signed_at, signature.signature_expiration_time().map(|it| it.as_secs()));
    Ok(if is_over { Verdict::Expired } else { Verdict::Good })
}

fn is_weak(signature: &Signature) -> bool {
    let weak = [HashAlgorithm::Md5, HashAlgorithm::Sha1, HashAlgorithm::Ripemd160];
    signature.config().is_none_or(|it| weak.contains(&it.hash_alg))
}
