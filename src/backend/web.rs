//! The way to services that speak HTTP: certificates that are trusted or shown, time limits, and errors that hold no secret.

use std::sync::Arc;
use std::time::{Duration, Instant};

use md5::{Digest, Md5};
use reqwest::{Client, Proxy, RequestBuilder, redirect};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::moving;
use crate::error::{Error, ErrorContext};
use crate::install::web::roots;
use crate::world::World;
use crate::world::secrets::Secrets;

mod anchored;
pub(crate) mod onward;
pub(crate) mod phrases;
mod proxies;
pub(crate) mod sent;

use anchored::Anchored;
use onward::carry_out;
pub use onward::{NoAnswer, Reach, execute, next_part, shown};
pub(in crate::backend) use proxies::with_proxies;

/// Whom a connection trusts, and as whom it shows itself.
#[derive(Clone, Default)]
pub struct Trust {
    /// Certificates of authorities, PEM, in place of the system's.
    pub authorities: Option<String>,
    /// A certificate with its chain and its key, both PEM.
    pub identity: Option<(String, String)>,
    /// Whether any certificate is taken.
    pub is_blind: bool,
    /// Whether a certificate of a trusted authority is taken, whatever name it is for.
    pub is_nameless: bool,
}

/// Returns a client. It sends requests once and follows no redirect: [`execute`] does where that is safe, and waits so long as that
/// makes sense.
///
/// # Errors
///
/// If a certificate or a key cannot be read.
pub fn client(world: &World, trust: &Trust) -> Result<Client, Error> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls(world, trust)?)
        .connect_timeout(Duration::from_secs(10))
        .redirect(redirect::Policy::none())
        .user_agent(user_agent(world));
    with_proxies(builder, world)?.build().context("cannot prepare secure connections")
}

/// Returns how the program calls itself towards services, with what `TF_APPEND_USER_AGENT` adds to it.
pub fn user_agent(world: &World) -> String {
    let own = concat!("entail/", env!("CARGO_PKG_VERSION"));
    let more = world.variable("TF_APPEND_USER_AGENT").unwrap_or_default();
    // A header holds nothing else, and what it cannot hold is no reason to send no request.
    let more: String = more.chars().filter(|it| it.is_ascii_graphic() || *it == ' ').collect();
    match more.trim() {
        "" => own.into(),
        more => format!("{own} {more}"),
    }
}

/// Returns a client for a service that is shown a token with each request: it follows no redirection, for the token is nobody
/// else's.
///
/// - `proxy`: the address of the proxy, where it is not the usual one.
///
/// # Errors
///
/// As for [`client`], and if the proxy's address is none.
pub fn client_with_token(
    world: &World,
    trust: &Trust,
    timeout: Duration,
    proxy: Option<&str>,
) -> Result<Client, Error> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls(world, trust)?)
        .connect_timeout(Duration::from_secs(10))
        .timeout(timeout)
        .redirect(redirect::Policy::none())
        .user_agent(user_agent(world));
    let mut builder = with_proxies(builder, world)?;
    if let Some(address) = proxy {
        let proxy = Proxy::all(address).map_err(|_| "the address of the proxy is none")?;
        // It alone counts, in place of the proxies of the environment.
        builder = builder.no_proxy().proxy(proxy);
    }
    builder.build().context("cannot prepare secure connections")
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
    let trusted = match &trust.authorities {
        Some(pem) => certificates(pem).context("the certificates to trust")?,
        None => roots(world)?,
    };
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(trusted.iter().cloned());
    let builder = if trust.is_blind {
        let lenient = Arc::new(Lenient(provider, None));
        builder.dangerous().with_custom_certificate_verifier(lenient)
    } else if store.is_empty() {
        // Without trusted certificates each connection fails, and its error says why.
        builder.with_root_certificates(store)
    } else {
        let usual = WebPkiServerVerifier::builder_with_provider(store.into(), provider.clone());
        let strict = Arc::new(Anchored::new(usual.build().context(FAILED)?, trusted));
        let verifier: Arc<dyn ServerCertVerifier> = match trust.is_nameless {
            true => Arc::new(Lenient(provider, Some(strict))),
            false => strict,
        };
        builder.dangerous().with_custom_certificate_verifier(verifier)
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

/// Takes certificates whatever their name, or any at all where nobody is there to judge them: the user has said so.
#[derive(Debug)]
struct Lenient(Arc<CryptoProvider>, Option<Arc<Anchored>>);

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        status: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use rustls::CertificateError::{NotValidForName, NotValidForNameContext};
        let Some(strict) = &self.1 else { return Ok(ServerCertVerified::assertion()) };
        match strict.verify_server_cert(certificate, chain, name, status, now) {
            // Names are looked at last, after everything else was found to be right.
            Err(rustls::Error::InvalidCertificate(
                NotValidForName | NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            judged => judged,
        }
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

/// How often a request is tried again, and after how long.
#[derive(Clone, Copy, Debug)]
pub struct Retries {
    /// At most so often.
    pub max: u64,
    /// The first pause; each later one is twice as long.
    pub wait_min: Duration,
    /// The longest pause.
    pub wait_max: Duration,
}

/// What a service has answered.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: reqwest::header::HeaderMap,
    /// The body.
    pub body: Vec<u8>,
    /// The secrets of the request.
    secrets: Secrets,
}

impl Answer {
    /// Returns a part of the answer as errors show it: without the secrets of the request.
    pub fn hide(&self, text: &str) -> String {
        self.secrets.hide(text)
    }

    /// Returns a header's text; empty without it.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default()
    }

    /// Whether it is a page for people, as no service of states gives one. The body decides: simple servers call everything HTML.
    fn is_page(&self) -> bool {
        let body = self.body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&self.body);
        let start: Vec<u8> =
            body.trim_ascii_start().iter().take(14).map(u8::to_ascii_lowercase).collect();
        let is_marked = self.header("content-type").to_ascii_lowercase().starts_with("text/html");
        let is_known = start.starts_with(b"<!doctype html") || start.starts_with(b"<html");
        is_known || is_marked && start.starts_with(b"<")
    }

    /// Says that it is a page for people, where it is one.
    ///
    /// - `service`: how messages call what should be there.
    /// - `at`: its address.
    pub fn page(&self, service: &str, at: &str) -> Option<String> {
        self.is_page().then(|| {
            format!(
                "{at} answers with a page for people (HTML, status {}), as {service} never does. Something else listens there, or a proxy or a \
                 login page stands in between: check the address",
                self.status
            )
        })
    }

    /// Whether a later try may have another answer.
    fn is_passing(&self) -> bool {
        matches!(self.status, 429 | 500 | 502..=599)
    }
}

/// Sends a request once, and loads the whole answer. Redirects within its origin are followed.
///
/// # Errors
///
/// If there is none.
pub async fn send(request: RequestBuilder) -> Result<Answer, NoAnswer> {
    send_within(request, Reach::Origin).await
}

/// As [`send`], with redirects followed so far.
///
/// # Errors
///
/// As for [`send`].
pub async fn send_within(request: RequestBuilder, reach: Reach) -> Result<Answer, NoAnswer> {
    let (response, secrets) = carry_out(request, reach).await?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = body(response).await?;
    Ok(Answer { status, headers, body, secrets })
}

/// Loads the body of an answer, and notes how much of it has come.
///
/// # Errors
///
/// If the connection ends before it does, or nothing comes any more.
pub async fn body(mut response: reqwest::Response) -> Result<Vec<u8>, NoAnswer> {
    /// What an answer is believed to be before it has come.
    const MOST: u64 = 1 << 30;
    let length = response.content_length();
    moving::expect(length);
    let mut body = Vec::with_capacity(length.unwrap_or(0).min(MOST) as usize);
    let since = Instant::now();
    while let Some(part) = next_part(&mut response, (since, body.len())).await? {
        moving::arrive(part.len());
        body.extend_from_slice(&part);
    }
    Ok(body)
}

/// Sends a request that may be sent twice, until there is an answer that lasts, or enough was tried.
///
/// # Errors
///
/// If there is no answer. How often was tried is told.
pub async fn send_again(
    retries: Retries,
    request: impl Fn() -> RequestBuilder,
) -> Result<Answer, NoAnswer> {
    again(retries, || send(request())).await
}

/// As [`send_again`], for who wants to know what an answer holds and not to hold it: its body is the MD5 of what came.
///
/// # Errors
///
/// As for [`send_again`].
pub async fn sum_again(
    retries: Retries,
    request: impl Fn() -> RequestBuilder,
) -> Result<Answer, NoAnswer> {
    again(retries, || sum(request())).await
}

async fn sum(request: RequestBuilder) -> Result<Answer, NoAnswer> {
    let (mut response, secrets) = carry_out(request, Reach::Origin).await?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let (since, mut count, mut sum) = (Instant::now(), 0, Md5::new());
    while let Some(part) = next_part(&mut response, (since, count)).await? {
        count += part.len();
        sum.update(&part);
    }
    Ok(Answer { status, headers, body: sum.finalize().to_vec(), secrets })
}

/// Tries until there is an answer that lasts, or enough was tried.
///
/// # Errors
///
/// As for [`send_again`].
pub async fn again<F: Future<Output = Result<Answer, NoAnswer>>>(
    retries: Retries,
    send: impl Fn() -> F,
) -> Result<Answer, NoAnswer> {
    let mut pause = retries.wait_min;
    let mut may_have_arrived = false;
    for tried in 0.. {
        let answer = send().await;
        let is_last = tried >= retries.max || answer.as_ref().is_err_and(|it| it.is_final);
        let told = match &answer {
            Ok(it) if is_last || !it.is_passing() => return answer,
            Ok(it) => it.header("retry-after").parse().ok().map(Duration::from_secs),
            Err(it) => {
                may_have_arrived |= it.may_have_arrived;
                None
            }
        };
        if let (true, Err(failed)) = (is_last, answer) {
            let why = match failed.is_final {
                true => failed.why,
                false => {
                    failed.why.context(format_args!("giving up after {} attempt(s)", tried + 1))
                }
            };
            return Err(NoAnswer { why, may_have_arrived, ..failed });
        }
        tokio::time::sleep(told.unwrap_or(pause).min(retries.wait_max.max(pause))).await;
        pause = (pause * 2).min(retries.wait_max);
    }
    unreachable!("attempts do not end by themselves")
}
