//! Who may speak on a plugin's socket: both sides show a certificate made for this run, and accept only the other's.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// A certificate and its key, as text.
#[derive(Debug)]
pub(super) struct Own {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
    /// The certificate's bytes.
    pub der: Vec<u8>,
}

/// Returns this program's certificate: one for every plugin of a run.
pub(super) fn own() -> Result<&'static Own, String> {
    static OWN: OnceLock<Result<Own, String>> = OnceLock::new();
    OWN.get_or_init(|| make().map_err(|it| format!("a certificate cannot be made: {it}")))
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
    Ok(Own { certificate: made.pem(), key: key.serialize_pem(), der: made.der().to_vec() })
}

/// Accepts one certificate, the one that the plugin named on its first line, and proof of its key.
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
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match *end_entity == self.certificate {
            true => Ok(ServerCertVerified::assertion()),
            false => {
                Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
            }
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
