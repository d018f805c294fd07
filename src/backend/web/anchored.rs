//! Servers that show a trusted certificate of an authority as their own: `openssl req -x509` makes such certificates.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use x509_parser::prelude::{ASN1Time, FromDer, X509Certificate};

/// Judges certificates as usual, and accepts that of an authority if it is one of those that are trusted, byte for byte. Name and
/// dates count for it too.
#[derive(Debug)]
pub(super) struct Anchored {
    usual: Arc<WebPkiServerVerifier>,
    trusted: Vec<CertificateDer<'static>>,
}

impl Anchored {
    /// Returns a verifier.
    ///
    /// - `usual`: what judges all other certificates.
    /// - `trusted`: the certificates that are trusted.
    pub(super) fn new(
        usual: Arc<WebPkiServerVerifier>,
        trusted: Vec<CertificateDer<'static>>,
    ) -> Anchored {
        Anchored { usual, trusted }
    }
}

impl ServerCertVerifier for Anchored {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        status: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let judged = self.usual.verify_server_cert(certificate, chain, name, status, now);
        let is_trusted = || self.trusted.iter().any(|it| it == certificate);
        if !judged.as_ref().is_err_and(is_of_authority) || !is_trusted() {
            return judged;
        }
        verify_dates(certificate, now)?;
        verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}

/// Returns whether a certificate was refused because it is that of an authority. The library gives the reason its name alone.
fn is_of_authority(error: &Error) -> bool {
    match error {
        Error::InvalidCertificate(CertificateError::Other(why)) => {
            format!("{:?}", why.0) == "CaUsedAsEndEntity"
        }
        _ => false,
    }
}

fn verify_dates(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
    let read = X509Certificate::from_der(certificate);
    let (_, read) = read.map_err(|_| Error::from(CertificateError::BadEncoding))?;
    let now = i64::try_from(now.as_secs()).ok().and_then(|it| ASN1Time::from_timestamp(it).ok());
    let now = now.ok_or_else(|| Error::General("the time is out of range".to_owned()))?;
    let dates = read.validity();
    if now < dates.not_before {
        return Err(CertificateError::NotValidYet.into());
    }
    if now > dates.not_after {
        return Err(CertificateError::Expired.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
