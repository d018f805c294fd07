//! Signatures of plan files: who has made a plan, so that nobody else's is applied where that counts.
//!
//! Signed is what every entry of the archive is called and holds, the state and the configuration's sources among it. Keys are
//! Ed25519 in PEM, as `openssl genpkey -algorithm ed25519` writes them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use ed25519_dalek::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePublicKey};
use ed25519_dalek::{Signature, Signer as _, VerifyingKey};
use sha2::{Digest, Sha512};

use crate::backend::files;
use crate::diagnostic::Diagnostic;
use crate::error::Error;

/// The entry of an archive that holds the signature.
pub(super) const ENTRY: &str = "signature";

/// Separates these signatures from those that a key makes for other purposes.
const CONTEXT: &[u8] = b"entail plan signature 1\n";

/// A key that signs plans.
#[derive(Clone)]
pub struct SigningKey(ed25519_dalek::SigningKey);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey of {}", self.signer())
    }
}

impl SigningKey {
    /// Reads a private key.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or holds no such key.
    pub fn read(path: &Path) -> Result<SigningKey, Diagnostic> {
        let text = text_of(path)?;
        let key = ed25519_dalek::SigningKey::from_pkcs8_pem(&text);
        key.map(SigningKey).map_err(|_| {
            no_key(
                path,
                "holds no Ed25519 private key in PEM",
                "openssl genpkey -algorithm ed25519 -out KEY",
            )
        })
    }

    /// Returns who signs with it.
    pub fn signer(&self) -> Signer {
        Signer(self.0.verifying_key())
    }

    /// Signs what the entries hold: the content of the entry that says so.
    pub(super) fn sign(&self, entries: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
        let signature = self.0.sign(&digest(entries));
        let key = self.0.verifying_key().to_bytes();
        format!("ed25519 {} {}\n", hex(&key), hex(&signature.to_bytes())).into_bytes()
    }
}

/// Who has signed a plan: a public key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signer(VerifyingKey);

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Prints the fingerprint of the key, as `openssl pkey -pubout -outform DER | sha256sum` finds it.
impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let der = self.0.to_public_key_der().map(|it| it.as_bytes().to_vec()).unwrap_or_default();
        write!(f, "SHA256:{}", hex(&sha2::Sha256::digest(der)))
    }
}

impl Signer {
    /// Checks a signature over entries, and returns who has made it.
    ///
    /// # Errors
    ///
    /// If it is none, or not of these entries: a phrase that says so.
    pub(super) fn of(
        signature: &[u8],
        entries: &BTreeMap<String, Vec<u8>>,
    ) -> Result<Signer, Error> {
        let parts = || -> Option<(VerifyingKey, Signature)> {
            let text = std::str::from_utf8(signature).ok()?.strip_suffix('\n')?;
            let (key, signature) = text.strip_prefix("ed25519 ")?.split_once(' ')?;
            let key = VerifyingKey::from_bytes(&bytes(key)?).ok()?;
            Some((key, Signature::from_bytes(&bytes(signature)?)))
        };
        let (key, signature) = parts().ok_or("the plan file's signature is damaged")?;
        key.verify_strict(&digest(entries), &signature).map_err(|_| {
            "the plan file was changed after it was signed: the signature is not of what it holds".to_owned()
        })?;
        Ok(Signer(key))
    }
}

/// The keys whose plans are applied.
#[derive(Clone, Debug)]
pub struct Trusted(Vec<Signer>);

impl Trusted {
    /// Reads public keys, one or more in one file; a private key stands for its public one.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or holds anything else.
    pub fn read(path: &Path) -> Result<Trusted, Diagnostic> {
        const END: &str = "-----END";
        let text = text_of(path)?;
        let mut keys = Vec::new();
        let mut rest = text.as_str();
        while let Some(begin) = rest.find("-----BEGIN") {
            let block = &rest[begin..];
            let end = block.find(END).and_then(|at| block[at..].find('\n').map(|it| at + it + 1));
            let end = end.unwrap_or(block.len());
            let public = VerifyingKey::from_public_key_pem(&block[..end]);
            let key = public.ok().or_else(|| {
                let private = ed25519_dalek::SigningKey::from_pkcs8_pem(&block[..end]).ok()?;
                Some(private.verifying_key())
            });
            let way = "openssl pkey -in KEY -pubout -out PUBLIC";
            keys.push(Signer(
                key.ok_or_else(|| no_key(path, "holds what is no Ed25519 public key in PEM", way))?,
            ));
            rest = &block[end..];
        }
        match keys.is_empty() {
            true => {
                Err(no_key(path, "holds no key in PEM", "openssl pkey -in KEY -pubout -out PUBLIC"))
            }
            false => Ok(Trusted(keys)),
        }
    }

    /// Tells whether a plan by this signer may be applied.
    ///
    /// # Errors
    ///
    /// If it is not signed, or by somebody else.
    pub fn check(&self, signer: Option<Signer>) -> Result<(), Diagnostic> {
        let refused = |detail: String| {
            Err(Diagnostic::error("Plan is not signed by a trusted key").detail(detail))
        };
        match signer {
            Some(signer) if self.0.contains(&signer) => Ok(()),
            Some(signer) => refused(format!(
                "It is signed by the key {signer}, which is none of those that -require-signed trusts. Nothing was done."
            )),
            None => refused(
                "It has no signature, and -require-signed applies none without. Make it anew with \"plan -sign=KEY\". Nothing was done."
                    .into(),
            ),
        }
    }
}

/// Stands for the names and contents of all entries but the signature, whatever their order in the archive.
fn digest(entries: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let mut hasher = Sha512::new();
    for (name, content) in entries.iter().filter(|it| it.0 != ENTRY) {
        for part in [name.as_bytes(), content] {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
    }
    [CONTEXT, &hasher.finalize()].concat()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

fn bytes<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if hex.len() != 2 * N || !hex.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

fn text_of(path: &Path) -> Result<String, Diagnostic> {
    let unreadable = |why: String| {
        Diagnostic::error("Failed to read a key")
            .detail(format!("{} cannot be read: {why}.", path.display()))
    };
    let content = files::read(path).map_err(|it| unreadable(it.to_string()))?;
    let content = content.ok_or_else(|| unreadable("there is no such file".into()))?;
    String::from_utf8(content).map_err(|_| unreadable("it is no text".into()))
}

fn no_key(path: &Path, what: &str, way: &str) -> Diagnostic {
    Diagnostic::error("Failed to read a key")
        .detail(format!("{} {what}. This makes one: {way}", path.display()))
}
