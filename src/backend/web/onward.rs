//! Sending one request: how long an answer is waited for, and which redirects are followed.
//!
//! A redirect leads a request to another address. It is followed where that tells no other host a secret and changes nothing of
//! what is asked; [`Reach`] says how far.

use std::error::Error as _;
use std::time::{Duration, Instant};

use reqwest::header::{ACCEPT, CONTENT_LENGTH, LOCATION, TRANSFER_ENCODING};
use reqwest::{Method, Request, RequestBuilder, Response, Url, Version};

use super::phrases::{self, UNANSWERED};
use super::sent::secrets_of;
use crate::error::Error;
use crate::world::secrets::Secrets;

/// How far a request may be sent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Redirects are answers like others.
    Nowhere,
    /// Within the origin of the first address, or from `http` to `https` of the same host.
    Origin,
    /// Reading goes anywhere, and takes no header along that is not of the same origin. Writing stays within the origin.
    Anywhere,
}

/// How many redirects are followed, one after the other.
const MOST_HOPS: usize = 10;
/// How long a service may be silent.
const SILENCE: Duration = Duration::from_secs(if cfg!(test) { 5 } else { 30 });
/// How many bytes a second an answer brings at least, once [`SILENCE`] has passed.
const SLOWEST: u64 = 1 << 10;
/// How many bytes a second of a request are taken at least.
const SLOWEST_SENT: u64 = 64 << 10;

/// Sends a request, follows redirects, and waits until an answer begins.
///
/// # Errors
///
/// If there is no answer, or a redirect leads where the request must not go.
pub async fn execute(request: RequestBuilder, reach: Reach) -> Result<Response, NoAnswer> {
    Ok(carry_out(request, reach).await?.0)
}

/// As [`execute`], and returns the secrets of the request beside the answer.
pub(super) async fn carry_out(
    request: RequestBuilder,
    reach: Reach,
) -> Result<(Response, Secrets), NoAnswer> {
    let (client, request) = request.build_split();
    let mut request = request.map_err(no_answer)?;
    let secrets = secrets_of(request.headers(), request.url());
    for _ in 0..=MOST_HOPS {
        let (from, again) = (request.url().clone(), request.try_clone());
        let patience = patience(&request);
        let answer = tokio::time::timeout(patience, client.execute(request)).await;
        let answer = answer.map_err(|_| silent(&from, patience))?.map_err(no_answer)?;
        let to = match reach {
            Reach::Nowhere => None,
            _ => target(&answer, &from)?,
        };
        let (Some(to), Some(again)) = (to, again) else { return Ok((answer, secrets)) };
        request = onward(again, to, (answer.status().as_u16(), reach))?;
    }
    Err(refused(format!("the request is redirected more than {MOST_HOPS} times")))
}

/// Takes the next part of an answer's body. Waits for it only so long as the service goes on sending.
///
/// - `since`: when the body began.
/// - `count`: how many bytes of it have come.
///
/// # Errors
///
/// If the connection ends early, or the service falls silent or sends next to nothing: then another try would take as long.
pub async fn next_part(
    answer: &mut Response,
    (since, count): (Instant, usize),
) -> Result<Option<bytes::Bytes>, NoAnswer> {
    let budget = SILENCE + Duration::from_secs(count as u64 / SLOWEST);
    let left = budget.saturating_sub(since.elapsed()).min(SILENCE);
    let part = tokio::time::timeout(left, answer.chunk()).await;
    match part {
        Ok(Err(why)) if ends_unsaid(answer, &why) => Ok(None),
        Ok(part) => part.map_err(|it| {
            let is_final = it.is_timeout();
            NoAnswer { why: describe(it), may_have_arrived: true, is_final }
        }),
        Err(_) => {
            let why = format!(
                "{} stopped sending: {count} bytes came in {} seconds",
                origin(answer.url()),
                since.elapsed().as_secs()
            );
            Err(NoAnswer { why: why.into(), may_have_arrived: true, is_final: true })
        }
    }
}

/// Returns whether an answer that states no length ends with a connection that its server has closed without TLS's own farewell
/// (`close_notify`), as some do. Only whole records of TLS have been taken; what they hold together, who reads it checks for being whole.
fn ends_unsaid(answer: &Response, why: &reqwest::Error) -> bool {
    let headers = answer.headers();
    let is_until_the_end = answer.version() <= Version::HTTP_11
        && !headers.contains_key(CONTENT_LENGTH)
        && !headers.contains_key(TRANSFER_ENCODING);
    if answer.url().scheme() != "https" || !is_until_the_end {
        return false;
    }
    let mut cause = why.source();
    while let Some(it) = cause {
        let failure: Option<&std::io::Error> = it.downcast_ref();
        if failure.is_some_and(|it| it.kind() == std::io::ErrorKind::UnexpectedEof) {
            return true;
        }
        cause = it.source();
    }
    false
}

/// How long a request is waited for: a large body takes time to be sent.
fn patience(request: &Request) -> Duration {
    let length = request.body().and_then(|it| it.as_bytes()).map_or(0, <[u8]>::len);
    SILENCE + Duration::from_secs(length as u64 / SLOWEST_SENT)
}

/// Returns where an answer sends the request on to, if it does.
fn target(answer: &Response, from: &Url) -> Result<Option<Url>, NoAnswer> {
    let status = answer.status().as_u16();
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = answer.headers().get(LOCATION) else { return Ok(None) };
    let url = location.to_str().ok().and_then(|it| from.join(it).ok());
    let mut url = url.filter(|it| matches!(it.scheme(), "http" | "https")).ok_or_else(|| {
        refused(format!(
            "{} sends the request on ({status}) to what is no address of http or https",
            shown(from)
        ))
    })?;
    // A user and a password in such an address would become credentials.
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    Ok(Some(url))
}

/// Returns the request that a redirect leads to.
fn onward(request: Request, to: Url, (status, reach): (u16, Reach)) -> Result<Request, NoAnswer> {
    let from = request.url();
    let is_read =
        matches!(*request.method(), Method::GET | Method::HEAD) && request.body().is_none();
    let is_upgrade = from.scheme() == "http" && to.scheme() == "https" && from.host() == to.host();
    let is_within = from.origin() == to.origin() || is_upgrade;
    let refuse = |why: &str| {
        Err(refused(format!(
            "{} sends the request on to another address ({status}, {}), {why}",
            shown(from),
            shown(&to)
        )))
    };
    if !is_read && matches!(status, 301..=303) {
        return refuse(
            "which would turn what is to be written into a question. It was not sent there: a service that stores states redirects \
             with 307 or 308. Check the address, or whether a login page or a proxy stands in between",
        );
    }
    if from.scheme() == "https" && to.scheme() == "http" {
        return refuse("which is not secure. It was not sent there: check the address");
    }
    if is_within {
        let mut request = request;
        *request.url_mut() = to;
        return Ok(request);
    }
    if !is_read || reach != Reach::Anywhere {
        return refuse(
            "which belongs to another origin. It was not sent there, and no credentials were: if that is the right address, name \
             it in the configuration",
        );
    }
    let mut elsewhere = Request::new(request.method().clone(), to);
    *elsewhere.timeout_mut() = request.timeout().copied();
    if let Some(accepted) = request.headers().get(ACCEPT) {
        elsewhere.headers_mut().insert(ACCEPT, accepted.clone());
    }
    Ok(elsewhere)
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// A redirect leads where the request must not go.
fn refused(why: String) -> NoAnswer {
    NoAnswer { why: why.into(), may_have_arrived: false, is_final: true }
}

/// The service has the request, and says nothing.
fn silent(url: &Url, waited: Duration) -> NoAnswer {
    let (origin, seconds) = (origin(url), waited.as_secs());
    let why = format!("{origin} said nothing for {seconds} seconds ({UNANSWERED})");
    NoAnswer { why: why.into(), may_have_arrived: true, is_final: true }
}

/// Why there is no answer.
#[derive(Debug)]
pub struct NoAnswer {
    /// What went wrong; no address with secrets.
    pub why: Error,
    /// Whether the service may have got the request, and done what it asks for.
    pub may_have_arrived: bool,
    /// Whether another try would take as long, or end as this one.
    pub is_final: bool,
}

impl From<NoAnswer> for std::io::Error {
    fn from(it: NoAnswer) -> std::io::Error {
        std::io::Error::other(it.why)
    }
}

/// Returns why a request got no answer.
fn no_answer(it: reqwest::Error) -> NoAnswer {
    let may_have_arrived = !it.is_connect() && !it.is_builder();
    let is_final = it.is_builder();
    NoAnswer { why: describe(it), may_have_arrived, is_final }
}

/// Returns an error and what caused it, without the address, which may hold secrets.
pub(crate) fn describe(error: reqwest::Error) -> Error {
    explained(phrases::with_causes(&error.without_url()))
}

/// Errors of the TLS library that are only names, and their meanings.
const MEANINGS: [(&str, &str); 2] = [
    ("CaUsedAsEndEntity", "the server shows the certificate of an authority as its own"),
    ("EndEntityUsedAsCa", "the certificate is signed by one that belongs to no authority"),
];

/// Returns an error with the meaning of the name that it ends with, if that is one of the TLS library.
fn explained(error: Error) -> Error {
    match MEANINGS.iter().find(|it| error.words().contains(it.0)) {
        Some((_, meaning)) => format!("{error}: {meaning}").into(),
        None => error,
    }
}

/// Returns an address as messages show it: neither user nor query, which may hold secrets.
pub fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    // An address without a host has neither.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.set_fragment(None);
    shown.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "hush";

    fn request(method: &str, url: &str) -> Request {
        let client = reqwest::Client::builder().tls_backend_preconfigured(
            crate::backend::web::tls(&crate::world::World::of_this_process(), &Default::default())
                .expect("certificates"),
        );
        let client = client.build().expect("a client");
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let request = client.request(method, url).bearer_auth(SECRET).header("Private", SECRET);
        let request = request.header(ACCEPT, "text/plain");
        let is_read = request.try_clone().is_some_and(|it| {
            it.build().is_ok_and(|it| matches!(*it.method(), Method::GET | Method::HEAD))
        });
        let request = if is_read { request } else { request.body("state") };
        request.build().expect("a request")
    }

    /// What becomes of a redirect: what is sent, or why nothing is.
    fn after(method: &str, status: u16, (from, to): (&str, &str), reach: Reach) -> String {
        let to = Url::parse(to).expect("an address");
        match onward(request(method, from), to, (status, reach)) {
            Err(it) => format!("refused: {}", it.why),
            Ok(it) => {
                let body = it.body().and_then(|it| it.as_bytes()).unwrap_or_default();
                let headers: Vec<String> = it
                    .headers()
                    .iter()
                    .map(|it| format!("{}={}", it.0, it.1.to_str().unwrap_or_default()))
                    .collect();
                let body = String::from_utf8_lossy(body);
                format!("{} {} {} {body}", it.method(), it.url(), headers.join(" "))
            }
        }
    }

    #[test]
    fn a_name_of_the_tls_library_is_explained() {
        for (name, meaning) in MEANINGS {
            let words = format!("invalid peer certificate: Other(OtherError({name}))");
            let told = explained(words.clone().into()).to_string();
            assert_eq!(told, format!("{words}: {meaning}"));
        }
        let other = "invalid peer certificate: Expired";
        assert_eq!(explained(other.into()).to_string(), other);
    }

    #[test]
    fn within_an_origin_everything_goes_along() {
        for (from, to) in [
            ("http://a:81/s", "http://a:81/t"),
            ("https://a/s", "https://a:443/t"),
            ("http://a/s", "https://a/t"),
            ("http://a:81/s", "https://a:444/t"),
        ] {
            for (method, status) in
                [("POST", 307), ("PUT", 308), ("LOCK", 307), ("DELETE", 308), ("GET", 302)]
            {
                let text = after(method, status, (from, to), Reach::Origin);
                assert!(text.starts_with(method) && text.contains("/t "), "{text}");
                assert!(text.contains("authorization=Bearer hush private=hush"), "{text}");
                assert_eq!(text.ends_with(" state"), method != "GET", "{text}");
            }
        }
    }

    #[test]
    fn another_origin_gets_no_write_and_no_secret() {
        for to in ["http://b/t", "http://a:82/t", "https://b/t", "https://a.b/t", "http://a.b/t"] {
            for method in ["POST", "PUT", "LOCK", "UNLOCK", "DELETE", "PATCH"] {
                for reach in [Reach::Origin, Reach::Anywhere] {
                    let text = after(method, 307, ("http://a/s", to), reach);
                    assert!(text.starts_with("refused: ") && !text.contains(SECRET), "{text}");
                }
            }
            let text = after("GET", 302, ("http://a/s?token=hush", to), Reach::Origin);
            assert!(text.contains("belongs to another origin") && !text.contains(SECRET), "{text}");
            let text = after("GET", 302, ("http://a/s?token=hush", to), Reach::Anywhere);
            assert_eq!(text, format!("GET {to} accept=text/plain "));
        }
        let text = after("GET", 302, ("https://a/s", "http://a/s"), Reach::Anywhere);
        assert!(text.contains("which is not secure"), "{text}");
    }

    #[test]
    fn what_is_written_never_becomes_a_question() {
        for status in [301, 302, 303] {
            for method in ["POST", "PUT", "LOCK", "DELETE"] {
                let text = after(method, status, ("http://a/s", "http://a/t"), Reach::Origin);
                assert!(text.contains("turn what is to be written into a question"), "{text}");
            }
        }
    }
}
