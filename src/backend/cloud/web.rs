//! Requests to a service: signed anew for each attempt, repeated while that may help, and honest about what is not known.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use reqsign_core::{Signer, SigningCredential};
use reqwest::Client;

use super::trouble::{Denial, Trouble, foreign};
use crate::backend::web::onward::describe;
use crate::backend::web::sent::secrets_of;
use crate::backend::web::{NoAnswer, body};
use crate::world::secrets::Secrets;

/// A request before it is signed.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The method.
    pub method: Method,
    /// The address, everything in it escaped.
    pub url: String,
    /// The headers besides those of the signature.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

/// What a service answers.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// Whether an earlier attempt had no clear answer, and may have been carried out.
    pub may_be_done: bool,
    /// The secrets of the request.
    pub secrets: Secrets,
}

/// What is special to a service.
pub trait Service: Debug + Send + Sync {
    /// Returns how messages call it.
    fn name(&self) -> &'static str;

    /// Whether an answer asks for another attempt.
    fn is_transient(&self, answer: &Answer) -> bool;

    /// Says what an answer means that is no success.
    fn denial(&self, host: &str, answer: &Answer) -> Trouble;

    /// As [`Service::denial`], without the secrets of the request.
    fn refusal(&self, host: &str, answer: &Answer) -> Trouble {
        self.denial(host, answer).without(&answer.secrets)
    }
}

/// The way to a service.
#[derive(Debug)]
pub struct Way<K: SigningCredential> {
    /// What requests go through.
    pub client: Client,
    /// Who signs them; nobody where the service asks for nothing.
    pub signer: Option<Signer<K>>,
    /// How often an attempt is repeated.
    pub retries: u32,
    /// What is special to the service.
    pub service: Arc<dyn Service>,
}

impl Ask {
    /// Returns a request without headers and body.
    pub fn new(method: Method, url: String) -> Ask {
        Ask { method, url, headers: Vec::new(), body: Bytes::new() }
    }

    /// Returns it with a header.
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Ask {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Returns it with a body.
    pub fn body(self, body: Bytes) -> Ask {
        Ask { body, ..self }
    }

    /// Returns the host with its port, for messages.
    pub fn host(&self) -> &str {
        let rest = self.url.split_once("://").map_or(&*self.url, |(_, rest)| rest);
        rest.split(['/', '?']).next().unwrap_or_default()
    }

    fn parts(&self) -> Result<http::request::Parts, Trouble> {
        let mut builder = http::Request::builder().method(self.method.clone()).uri(&self.url);
        for (name, value) in &self.headers {
            builder = builder.header(name, value);
        }
        let length = self.body.len();
        if length > 0 || self.method == Method::PUT || self.method == Method::POST {
            builder = builder.header(http::header::CONTENT_LENGTH, length);
        }
        let made = builder.body(()).map_err(|_| unsendable(self))?;
        Ok(made.into_parts().0)
    }
}

impl Answer {
    /// Returns an answer to a request that holds no secrets.
    #[cfg(test)]
    pub fn saying(status: u16, headers: HeaderMap, body: &str) -> Answer {
        let (body, secrets) = (Bytes::copy_from_slice(body.as_bytes()), Secrets::default());
        Answer { status, headers, body, may_be_done: false, secrets }
    }

    /// Returns a header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|it| it.to_str().ok())
    }

    /// Whether the service has done what it was asked for.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the status alone asks for another attempt, as with most services.
    pub fn is_overloaded(&self) -> bool {
        matches!(self.status, 408 | 429 | 500 | 502 | 503 | 504)
    }
}

impl<K: SigningCredential> Way<K> {
    /// Sends a request until there is an answer that settles it. Statuses are for the caller to judge.
    ///
    /// # Errors
    ///
    /// If there is no answer, or one that no such service gives.
    pub async fn send(&self, ask: &Ask) -> Result<Answer, Trouble> {
        let mut may_be_done = false;
        for attempt in 0.. {
            let answer = self.once(ask).await;
            let is_settled = match &answer {
                Ok(it) => !self.service.is_transient(it),
                Err(it) => !it.is_transient(),
            };
            if is_settled || attempt >= self.retries {
                let answer = answer?;
                if let Some(text) = foreign(self.service.name(), ask.host(), &answer)
                    && !answer.headers.contains_key("x-amz-bucket-region")
                {
                    let text = answer.secrets.hide(&text);
                    return Err(Trouble::denied(answer.status, "", text));
                }
                return Ok(Answer { may_be_done, ..answer });
            }
            may_be_done |= match &answer {
                Ok(it) => it.status >= 500,
                Err(it) => it.is_undecided(),
            };
            tokio::time::sleep(pause(attempt)).await;
        }
        unreachable!("the last attempt returns")
    }

    /// As [`Way::send`], and takes only an answer of success.
    ///
    /// # Errors
    ///
    /// Those of sending, and what the service says that has not done it.
    pub async fn demand(&self, ask: &Ask) -> Result<Answer, Trouble> {
        let answer = self.send(ask).await?;
        if answer.is_success() {
            return Ok(answer);
        }
        Err(match self.service.refusal(ask.host(), &answer) {
            Trouble::Denied(it) => {
                Trouble::Denied(Denial { may_be_done: answer.may_be_done, ..it })
            }
            other => other,
        })
    }

    async fn once(&self, ask: &Ask) -> Result<Answer, Trouble> {
        let mut parts = ask.parts()?;
        if let Some(signer) = &self.signer {
            let signed = signer.sign(&mut parts, None).await;
            signed.map_err(|it| unsigned(self.service.name(), &it))?;
        }
        let request = http::Request::from_parts(parts, ask.body.clone());
        let request = reqwest::Request::try_from(request).map_err(|_| unsendable(ask))?;
        let secrets = secrets_of(request.headers(), request.url());
        let failed = |it| unanswered(ask.host(), it);
        let answer = self.client.execute(request).await.map_err(failed)?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let broken = |it: NoAnswer| {
            let text = format!("{} does not answer: {}.", ask.host(), it.why);
            if it.is_final { Trouble::TimedOut(text) } else { Trouble::Unanswered(text) }
        };
        let body = body(answer).await.map_err(broken)?.into();
        Ok(Answer { status, headers, body, may_be_done: false, secrets })
    }
}

/// Waits 0.1 s, 0.2 s, 0.4 s, … and at most 5 s before the next attempt; the fourth part of it is by chance, so that those who
/// were turned away at the same time do not come back at the same time.
fn pause(attempt: u32) -> Duration {
    let mut chance = [0];
    // Without chance the pause is only a little less good.
    let _ = getrandom::fill(&mut chance);
    let usual = Duration::from_millis(100 << attempt.min(6)).min(Duration::from_secs(5));
    usual.mul_f32(0.75 + f32::from(chance[0]) / 1024.0)
}

/// No answer came, or only a part of it.
fn unanswered(host: &str, error: reqwest::Error) -> Trouble {
    let (was_connecting, has_timed_out) = (error.is_connect(), error.is_timeout());
    let why = describe(error).to_string();
    let hint = match () {
        () if why.contains("certificate") || why.contains("UnknownIssuer") => {
            " Its certificate is not trusted: name the authority that signed it (SSL_CERT_FILE, or the backend's own setting for it)."
        }
        () if why.contains("dns") || why.contains("lookup") => {
            " The host's name is not known: check the endpoint, the region and the names in it."
        }
        () => " Check the endpoint's address, the network and the proxy.",
    };
    let text = format!("{host} does not answer: {why}.{hint}");
    match (was_connecting, has_timed_out) {
        (true, _) => Trouble::Unsent(text, true),
        (false, true) => Trouble::TimedOut(text),
        (false, false) => Trouble::Unanswered(text),
    }
}

/// The address or a header holds what none may hold.
fn unsendable(ask: &Ask) -> Trouble {
    let text = format!(
        "a request to {:?} cannot be made: its address or one of the settings that become headers holds characters that are not allowed there",
        ask.host()
    );
    Trouble::Unsent(text, false)
}

/// There is nothing to sign with.
fn unsigned(service: &str, error: &reqsign_core::Error) -> Trouble {
    let text = crate::error::Error::with_causes(error);
    Trouble::Unsent(format!("no credentials for {service}: {text}"), error.is_retryable())
}
