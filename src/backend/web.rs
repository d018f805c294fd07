//! The way to services that speak HTTP: certificates that are trusted or shown, time limits, and errors that hold no secret.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, redirect};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::error::{Error, ErrorContext};
use crate::install::web::roots;
use crate::world::World;

/// Whom a connection trusts, and as whom it shows itself.
#[derive(Clone, Default)]
pub struct Trust {
    /// Certificates of authorities, PEM, in place of the system's.
    pub authorities: Option<String>,
    /// A certificate with its chain and its key, both PEM.
    pub identity: Option<(String, String)>,
    /// Whether any certificate is taken.
    pub is_blind: bool,
}

/// Returns a client. It follows redirections and sends requests once: what is safe to repeat, a store knows.
///
/// # Errors
///
/// If a certificate or a key cannot be read.
pub fn client(world: &World, trust: &Trust) -> Result<Client, Error> {
    const FAILED: &str = "cannot prepare secure connections";
    Client::builder()
        .tls_backend_preconfigured(tls(world, trust)?)
        .connect_timeout(Duration::from_secs(10))
        .read_timeout(Duration::from_secs(60))
        .redirect(redirect::Policy::limited(10))
        .user_agent(concat!("entail/", env!("CARGO_PKG_VERSION")))
        .build()
        .context(FAILED)
}

/// Returns how connections are secured.
///
/// # Errors
///
/// As for [`client`].
pub fn tls(world: &World, trust: &Trust) -> Result<ClientConfig, Error> {
    const FAILED: &str = "cannot prepare secure connections";
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .context(FAILED)?;
    let authorities = match &trust.authorities {
        Some(pem) => {
            let mut store = RootCertStore::empty();
            let read = certificates(pem).context("the certificates to trust")?;
            store.add_parsable_certificates(read);
            store
        }
        None => roots(world)?,
    };
    let builder = match trust.is_blind {
        true => {
            let blind = Arc::new(Blind(provider));
            builder.dangerous().with_custom_certificate_verifier(blind)
        }
        false => builder.with_root_certificates(authorities),
    };
    match &trust.identity {
        None => Ok(builder.with_no_client_auth()),
        Some((chain, key)) => {
            let chain = certificates(chain).context("the client certificate")?;
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
                .context("the client certificate's key is no private key in PEM")?;
            builder.with_client_auth_cert(chain, key).context("the client certificate")
        }
    }
}

fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    let read = read.context("no certificate in PEM")?;
    if read.is_empty() { Err("no certificate in PEM".into()) } else { Ok(read) }
}

/// Takes any certificate, because the user has said so.
#[derive(Debug)]
struct Blind(Arc<rustls::crypto::CryptoProvider>);

impl ServerCertVerifier for Blind {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
