//! Keys: the private one of a connection, those of an agent, and the one that a machine must have.

use std::path::Path;
use std::sync::Arc;

use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::ssh_key::certificate::CertType;
use russh::keys::{
    Certificate, HashAlg, PrivateKey, PublicKey, PublicKeyOrCertificate, decode_secret_key,
};
use tokio::net::UnixStream;

use super::connection::Agent;
use crate::error::{Error, ErrorContext};

/// A private key, and what certifies it.
#[derive(Clone, Debug)]
pub(super) struct Credential {
    pub(super) key: Arc<PrivateKey>,
    pub(super) certificate: Option<Certificate>,
}

impl Credential {
    /// Reads a private key, and a certificate where it is not empty.
    ///
    /// # Errors
    ///
    /// What is wrong with either. Nothing of the key is repeated.
    pub(super) fn of(key: &str, certificate: &str) -> Result<Credential, Error> {
        if !key.contains("-----BEGIN ") {
            return Err("Failed to read ssh private key: no key found".into());
        }
        if key.contains("Proc-Type: 4,ENCRYPTED") {
            return Err("Failed to read ssh private key: password protected keys are\nnot supported. Please decrypt the key prior to use.".into());
        }
        let key = decode_secret_key(key, None).map_err(|it| match it {
            russh::keys::Error::KeyIsEncrypted => {
                "Failed to parse ssh private key: ssh: this private key is passphrase protected"
                    .into()
            }
            other => Error::of(other).context("Failed to parse ssh private key"),
        })?;
        let certificate = match certificate.trim() {
            "" => None,
            text => Some(read_certificate(text)?),
        };
        Ok(Credential { key: Arc::new(key), certificate })
    }
}

fn read_certificate(text: &str) -> Result<Certificate, Error> {
    let kind = text.split(' ').next().unwrap_or_default();
    if PublicKey::from_openssh(text).is_ok() {
        return Err(format!(
            "invalid certificate format {kind:?}: must use a certificate entry type, or leave certificate unset if you don't intend to use a certificate authority"
        )
        .into());
    }
    Certificate::from_openssh(text).context("failed to parse certificate")
}

/// The key that a machine must have, or that must have signed the machine's key.
#[derive(Clone, Debug)]
pub(super) struct HostKey(PublicKey);

impl HostKey {
    /// Reads a public key; an empty text is none.
    ///
    /// # Errors
    ///
    /// It is no public key.
    pub(super) fn of(text: &str) -> Result<Option<HostKey>, Error> {
        match text.trim() {
            "" => Ok(None),
            text => PublicKey::from_openssh(text)
                .map(|it| Some(HostKey(it)))
                .context("failed to parse host key"),
        }
    }

    /// Returns whether the machine with that name may show this key.
    pub(super) fn trusts(&self, host: &str, shown: &PublicKeyOrCertificate) -> bool {
        match shown {
            PublicKeyOrCertificate::PublicKey { key, .. } => key.key_data() == self.0.key_data(),
            PublicKeyOrCertificate::Certificate(certificate) => {
                certificate.public_key() == self.0.key_data() || self.vouches(host, certificate)
            }
        }
    }

    /// Returns whether this key has signed that the certificate's holder is the machine with that name.
    fn vouches(&self, host: &str, certificate: &Certificate) -> bool {
        let names = certificate.valid_principals();
        certificate.cert_type() == CertType::Host
            && (names.is_empty() || names.iter().any(|it| it == host))
            && certificate.validate([&self.0.fingerprint(HashAlg::Sha256)]).is_ok()
    }
}

impl Agent {
    /// Connects to the agent.
    ///
    /// # Errors
    ///
    /// Nobody listens there.
    pub(super) async fn connect(&self) -> Result<AgentClient<UnixStream>, Error> {
        AgentClient::connect_uds(&self.socket).await.context("Error connecting to SSH_AUTH_SOCK")
    }

    /// Sorts the agent's keys: first the one that is meant, then those that it may be, then the others.
    pub(super) fn sort(&self, mut identities: Vec<AgentIdentity>) -> Vec<AgentIdentity> {
        if self.identity.is_empty() {
            return identities;
        }
        let meant = public_key_of(Path::new(&self.identity));
        identities.sort_by_key(|it| {
            let is_meant =
                meant.as_ref().is_some_and(|key| key.key_data() == it.public_key().key_data());
            match is_meant || it.comment() == self.identity {
                true => 0,
                false if it.comment().ends_with(&self.identity) => 1,
                false => 2,
            }
        });
        identities
    }
}

/// Returns the public key of a file that holds it, or the private one, or lies beside it with `.pub` at the end.
fn public_key_of(path: &Path) -> Option<PublicKey> {
    let beside = path.with_extension("pub");
    [path, &beside].iter().filter_map(|it| std::fs::read_to_string(it).ok()).find_map(|text| {
        let private = decode_secret_key(&text, None).ok().map(|it| it.public_key().clone());
        private.or_else(|| PublicKey::from_openssh(&text).ok())
    })
}
