//! Who may speak on a plugin's socket: both sides show a certificate made for this run, and accept only the other's.

use std::sync::{Arc, OnceLock};

#[cfg(feature = "entail-plugin")]
use rustls::ServerConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
#[cfg(feature = "entail-plugin")]
use rustls::pki_types::PrivateKeyDer;
#[cfg(any(test, feature = "entail-plugin"))]
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, SignatureScheme};

use crate::error::{Error, ErrorContext};

/// A certificate and its key, as text.
#[derive(Debug)]
pub(super) struct Own {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

#[cfg(any(test, feature = "entail-plugin"))]
impl Own {
    /// Returns the certificate's bytes.
    ///
    /// # Errors
    ///
    /// If its text is none of a certificate.
    pub(super) fn der(&self) -> Result<CertificateDer<'static>, pem::Error> {
        CertificateDer::from_pem_slice(self.certificate.as_bytes())
    }
}

/// Returns this program's certificate: one for every plugin of a run.
pub(super) fn own() -> Result<&'static Own, Error> {
    static OWN: OnceLock<Result<Own, Error>> = OnceLock::new();
    OWN.get_or_init(|| make().context("a certificate cannot be made"))
        .as_ref()
        .map_err(Clone::clone)
}

/// Makes a certificate on the curve that plugins use themselves.
pub(super) fn make() -> Result<Own, rcgen::Error> {
    use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};
    let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P521_SHA512)?;
    let mut asked = CertificateParams::new(vec!["localhost".to_owned()])?;
    asked.distinguished_name.push(DnType::CommonName, "localhost");
    asked.distinguished_name.push(DnType::OrganizationName, "entail");
    // A certificate that may sign others would be refused where it speaks for itself.
    asked.is_ca = rcgen::IsCa::NoCa;
    asked.key_usages = vec![
        KeyUsagePurpose::DigitalSignature,
        KeyUsagePurpose::KeyEncipherment,
        KeyUsagePurpose::KeyAgreement,
    ];
    asked.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
    let made = asked.self_signed(&key)?;
    Ok(Own { certificate: made.pem(), key: key.serialize_pem() })
}

/// Returns how a plugin speaks under protection: it shows `own`, and takes only the client whose certificate, as text, is
/// given.
///
/// # Errors
///
/// If the client's certificate cannot be read.
#[cfg(feature = "entail-plugin")]
pub(super) fn serving(
    own: &Own,
    client: &str,
) -> Result<ServerConfig, Box<dyn std::error::Error + Send + Sync>> {
    let client = CertificateDer::from_pem_slice(client.as_bytes())?;
    let pinned = Arc::new(Pinned::new(client.to_vec()));
    let mut config = ServerConfig::builder_with_provider(pinned.provider.clone())
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(pinned)
        .with_single_cert(vec![own.der()?], PrivateKeyDer::from_pem_slice(own.key.as_bytes())?)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(config)
}

/// Accepts one certificate, the one that the other side named before, and proof of its key.
#[derive(Debug)]
pub(super) struct Pinned {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl Pinned {
    pub fn new(certificate: Vec<u8>) -> Pinned {
        let provider = Arc::new(aws_lc_rs::default_provider());
        Pinned { certificate: certificate.into(), provider }
    }

    fn expect(&self, shown: &CertificateDer<'_>) -> Result<(), rustls::Error> {
        match *shown == self.certificate {
            true => Ok(()),
            false => Err(rustls::Error::InvalidCertificate(
                CertificateError::ApplicationVerificationFailure,
            )),
        }
    }
}

/// Proof of the key is checked in the same way on both sides.
macro_rules! signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            let algorithms = &self.provider.signature_verification_algorithms;
            verify_tls12_signature(message, cert, dss, algorithms)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            let algorithms = &self.provider.signature_verification_algorithms;
            verify_tls13_signature(message, cert, dss, algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.provider.signature_verification_algorithms.supported_schemes()
        }
    };
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.expect(end_entity).map(|()| ServerCertVerified::assertion())
    }

    signatures!();
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        self.expect(end_entity).map(|()| ClientCertVerified::assertion())
    }

    signatures!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_takes_only_the_client_that_it_was_told_of() {
        let (told, other) = (make().expect("a certificate"), make().expect("a certificate"));
        let pinned = Pinned::new(told.der().expect("a certificate").to_vec());
        let accepts = |shown: &Own| {
            let shown = shown.der().expect("a certificate");
            pinned.verify_client_cert(&shown, &[], UnixTime::now()).is_ok()
        };
        assert!(accepts(&told) && !accepts(&other));
    }
}
