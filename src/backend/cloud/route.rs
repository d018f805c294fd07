//! The client that requests of a store go through: certificates, proxies, time limits.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, NoProxy, Proxy, redirect};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};

use crate::error::{Error, ErrorContext};
use crate::install::web::roots;
use crate::world::World;

/// How a service is reached, where that is not the usual way.
#[derive(Clone, Debug, Default)]
pub struct Route {
    /// A file with certificates that are trusted besides the system's.
    pub authorities: Option<PathBuf>,
    /// Whether any certificate will do.
    pub is_insecure: bool,
    /// The proxy of `http:` addresses.
    pub http_proxy: Option<String>,
    /// The proxy of `https:` addresses.
    pub https_proxy: Option<String>,
    /// The hosts that no proxy is asked for.
    pub no_proxy: Option<String>,
    /// How long one answer may take.
    pub timeout: Option<Duration>,
}

impl Route {
    /// Builds the client.
    ///
    /// # Errors
    ///
    /// If a file or an address of the route cannot be used.
    pub fn client(&self, world: &World) -> Result<Client, Error> {
        let mut builder = Client::builder()
            .tls_backend_preconfigured(self.tls(world)?)
            .connect_timeout(Duration::from_secs(10))
            .read_timeout(Duration::from_secs(60))
            // A signature holds for one address: what is redirected must be told, not followed.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("entail/", env!("CARGO_PKG_VERSION")));
        if let Some(timeout) = self.timeout {
            builder = builder.timeout(timeout);
        }
        let without = self.no_proxy.as_deref().and_then(NoProxy::from_string);
        let without = without.or_else(NoProxy::from_env);
        if let Some(address) = &self.http_proxy {
            let proxy = Proxy::http(address).map_err(|_| unusable("http_proxy"))?;
            builder = builder.proxy(proxy.no_proxy(without.clone()));
        }
        if let Some(address) = &self.https_proxy {
            let proxy = Proxy::https(address).map_err(|_| unusable("https_proxy"))?;
            builder = builder.proxy(proxy.no_proxy(without));
        }
        builder.build().context("cannot prepare connections")
    }

    fn tls(&self, world: &World) -> Result<ClientConfig, Error> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .context("cannot prepare secure connections")?;
        if self.is_insecure {
            let anyone = Arc::new(Anyone(provider));
            let builder = builder.dangerous().with_custom_certificate_verifier(anyone);
            return Ok(builder.with_no_client_auth());
        }
        let mut trusted = roots(world)?;
        if let Some(path) = &self.authorities {
            let path = world.root.join(path);
            let found = CertificateDer::pem_file_iter(&path).and_then(Iterator::collect);
            let found: Vec<CertificateDer<'static>> = found
                .context(format_args!("the certificates in {} cannot be read", path.display()))?;
            if trusted.add_parsable_certificates(found).0 == 0 {
                return Err(format!("{} holds no certificate", path.display()).into());
            }
        }
        Ok(builder.with_root_certificates(trusted).with_no_client_auth())
    }
}

/// The address of a proxy is none. It may hold a password, and is not repeated.
fn unusable(setting: &str) -> Error {
    format!("the value of {setting:?} is not the address of a proxy").into()
}

/// Takes every certificate, where the user has asked for that.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
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
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
