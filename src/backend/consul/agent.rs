//! Consul's interface over HTTP, as far as states need it: keys, transactions, sessions.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Client, Method, RequestBuilder, Url};
use serde_json::{Value as Json, json};

use crate::backend::opening::{Opening, invalid};
use crate::backend::web::{self, Answer, NoAnswer, Retries, Trust};
use crate::diagnostic::Diagnostic;

/// How long a session lives without being renewed, in seconds.
const SESSION_SECONDS: u64 = 15;

/// The way to an agent of Consul.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    client: Client,
    base: Url,
    token: Option<String>,
    login: Option<(String, Option<String>)>,
    /// What every question says: data center, name space.
    place: Vec<(&'static str, String)>,
}

/// A key with its value.
#[derive(Debug)]
pub(super) struct Pair {
    pub value: Vec<u8>,
    pub index: u64,
    pub flags: u64,
    /// Who holds it as a lock.
    pub session: Option<String>,
}

/// What became of a transaction.
pub(super) enum Reply {
    Done(Json),
    /// Nothing was done. Why.
    Refused(Json),
    /// It has more bytes than the agent takes.
    TooLarge,
    /// It may have been done.
    Failed(io::Error),
}

/// Questions may be repeated; a change is repeated only where it says what it changes from.
const RETRIES: Retries =
    Retries { max: 3, wait_min: Duration::from_millis(300), wait_max: Duration::from_secs(3) };

impl Agent {
    pub fn new(it: &Opening) -> Result<Agent, Diagnostic> {
        let variable =
            |name: &str| it.world.variable(name).filter(|it| !it.is_empty()).map(str::to_owned);
        let is_secure = it
            .world
            .variable("CONSUL_HTTP_SSL")
            .is_some_and(|it| matches!(it, "1" | "t" | "T" | "true" | "TRUE" | "True"));
        let scheme =
            it.text("scheme").unwrap_or_else(|| if is_secure { "https" } else { "http" }.into());
        let address = it.text("address").or_else(|| variable("CONSUL_HTTP_ADDR"));
        let address = address.unwrap_or_else(|| "127.0.0.1:8500".into());
        let address =
            if address.contains("://") { address } else { format!("{scheme}://{address}") };
        let base =
            Url::parse(&address).map_err(|why| invalid("consul", "address", &why.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(invalid("consul", "address", "only http and https are supported"));
        }
        let token = it.text("access_token").or_else(|| variable("CONSUL_HTTP_TOKEN"));
        let token = match (token, variable("CONSUL_HTTP_TOKEN_FILE")) {
            (None, Some(path)) => Some(token_in(&path)?),
            (token, _) => token,
        };
        let login = it.text("http_auth").or_else(|| variable("CONSUL_HTTP_AUTH"));
        let login = login.map(|it| match it.split_once(':') {
            Some((name, password)) => (name.to_owned(), Some(password.to_owned())),
            None => (it, None),
        });
        let place = [
            ("dc", it.text("datacenter")),
            ("ns", variable("CONSUL_NAMESPACE")),
            ("partition", variable("CONSUL_PARTITION")),
        ];
        let client = web::client(it.world, &trust(it)?);
        Ok(Agent {
            client: client.map_err(|why| invalid("consul", "address", &why.to_string()))?,
            base,
            token,
            login,
            place: place.into_iter().filter_map(|(name, it)| Some((name, it?))).collect(),
        })
    }

    pub fn shown(&self) -> String {
        web::shown(&self.base)
    }

    fn request(&self, method: Method, path: &[&str], more: &[(&str, &str)]) -> RequestBuilder {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("v1");
            // A key may have slashes, which are those of the path.
            segments.extend(path.iter().flat_map(|it| it.split('/')));
        }
        let place = self.place.iter().map(|(name, it)| (*name, it.as_str()));
        let mut pairs: Vec<(&str, &str)> = place.chain(more.iter().copied()).collect();
        // A name without a value is how Consul writes switches.
        pairs.sort_unstable();
        url.query_pairs_mut().extend_pairs(pairs);
        let request = self.client.request(method, url);
        let request = match &self.token {
            Some(token) => request.header("X-Consul-Token", token),
            None => request,
        };
        match &self.login {
            Some((name, password)) => request.basic_auth(name, password.as_ref()),
            None => request,
        }
    }

    fn failed(&self, answer: &Answer) -> io::Error {
        if let Some(page) = answer.page("Consul", &self.shown()) {
            return io::Error::other(page);
        }
        let text = String::from_utf8_lossy(&answer.body);
        let text: String = answer.hide(text.trim()).chars().take(300).collect();
        let hint = match answer.status {
            403 => {
                ". The token needs `key_prefix` with `write` for the path, and `session` with `write`"
            }
            _ => "",
        };
        io::Error::other(format!(
            "Consul at {} answers with status {}: {text}{hint}",
            self.shown(),
            answer.status
        ))
    }

    fn no_answer(&self, it: NoAnswer) -> NoAnswer {
        let why = it.why.context(format_args!("Consul at {} does not answer", self.shown()));
        NoAnswer { why, ..it }
    }

    async fn ask(&self, request: impl Fn() -> RequestBuilder) -> io::Result<Answer> {
        Ok(web::send_again(RETRIES, request).await.map_err(|it| self.no_answer(it))?)
    }

    /// Reads a key as the leader knows it.
    pub async fn get(&self, key: &str) -> io::Result<Option<Pair>> {
        let path = ["kv", key];
        let answer = self.ask(|| self.request(Method::GET, &path, &[("consistent", "")])).await?;
        let found: Json = match answer.status {
            404 if is_no_key(&answer) => return Ok(None),
            200 => serde_json::from_slice(&answer.body).map_err(|_| self.failed(&answer))?,
            _ => return Err(self.failed(&answer)),
        };
        let pair = &found[0];
        let value = match &pair["Value"] {
            Json::Null => "",
            Json::String(text) => text,
            _ => return Err(self.failed(&answer)),
        };
        if pair["Key"].as_str().is_some_and(|it| it != key) {
            return Err(self.failed(&answer));
        }
        let value = STANDARD.decode(value);
        let index = pair["ModifyIndex"].as_u64().ok_or_else(|| self.failed(&answer))?;
        Ok(Some(Pair {
            value: value.map_err(io::Error::other)?,
            index,
            flags: pair["Flags"].as_u64().unwrap_or_default(),
            session: pair["Session"].as_str().filter(|it| !it.is_empty()).map(str::to_owned),
        }))
    }

    /// Stores a key. Returns whether that was possible, where `more` has conditions.
    pub async fn put(&self, key: &str, value: &[u8], more: &[(&str, &str)]) -> io::Result<bool> {
        let path = ["kv", key];
        let answer =
            self.ask(|| self.request(Method::PUT, &path, more).body(value.to_vec())).await?;
        match (answer.status, answer.body.trim_ascii()) {
            (200, b"true") => Ok(true),
            (200, b"false") => Ok(false),
            _ => Err(self.failed(&answer)),
        }
    }

    /// Removes a key, or all that begin with it.
    pub async fn delete(&self, key: &str, with_all: bool) -> io::Result<()> {
        let more: &[(&str, &str)] = if with_all { &[("recurse", "true")] } else { &[] };
        let path = ["kv", key];
        let answer = self.ask(|| self.request(Method::DELETE, &path, more)).await?;
        let is_done = answer.status == 200 && answer.body.trim_ascii() == b"true";
        if is_done { Ok(()) } else { Err(self.failed(&answer)) }
    }

    /// Lists the keys that begin with a prefix, those in one folder as the folder.
    pub async fn keys(&self, prefix: &str) -> io::Result<Vec<String>> {
        let (path, more) = (["kv", prefix], [("keys", ""), ("separator", "/"), ("consistent", "")]);
        let answer = self.ask(|| self.request(Method::GET, &path, &more)).await?;
        match answer.status {
            404 if is_no_key(&answer) => Ok(Vec::new()),
            200 => serde_json::from_slice(&answer.body).map_err(|_| self.failed(&answer)),
            _ => Err(self.failed(&answer)),
        }
    }

    /// Does all steps or none, in one attempt.
    pub async fn transaction(&self, steps: &Json) -> Result<Reply, NoAnswer> {
        let request = self.request(Method::PUT, &["txn"], &[]).body(steps.to_string());
        let answer = web::send(request).await.map_err(|it| self.no_answer(it))?;
        let text = String::from_utf8_lossy(&answer.body);
        let document: Json = serde_json::from_slice(&answer.body).unwrap_or_default();
        let has_results = document["Results"].is_array()
            && document["Errors"].as_array().is_none_or(Vec::is_empty);
        Ok(match answer.status {
            200 if has_results => Reply::Done(document),
            409 => Reply::Refused(document),
            413 => Reply::TooLarge,
            400.. if super::is_too_large(&text) => Reply::TooLarge,
            _ => Reply::Failed(self.failed(&answer)),
        })
    }

    /// Begins a session that ends by itself where it is not renewed.
    pub async fn session(&self) -> io::Result<String> {
        let body = json!({
            "LockDelay": "5000ms", "Name": "Consul API Lock", "TTL": format!("{SESSION_SECONDS}s"),
        });
        let request =
            || self.request(Method::PUT, &["session", "create"], &[]).body(body.to_string());
        let answer = self.ask(request).await?;
        let made: Json = serde_json::from_slice(&answer.body).unwrap_or_default();
        match (answer.status, made["ID"].as_str()) {
            (200, Some(id)) => Ok(id.to_owned()),
            _ => Err(self.failed(&answer)),
        }
    }

    pub async fn destroy(&self, session: &str) -> io::Result<()> {
        let path = ["session", "destroy", session];
        let answer = self.ask(|| self.request(Method::PUT, &path, &[])).await?;
        if answer.status == 200 { Ok(()) } else { Err(self.failed(&answer)) }
    }

    /// Keeps a session alive until it is told that it is gone, or was not heard of for as long as it lives.
    pub async fn renew(self, session: String, lost: Arc<OnceLock<String>>) {
        let mut heard = Instant::now();
        let life = Duration::from_secs(SESSION_SECONDS);
        let why = loop {
            tokio::time::sleep(life / 5).await;
            let asked = Instant::now();
            let path = ["session", "renew", &session];
            let request = self.request(Method::PUT, &path, &[]).timeout(life / 3);
            match web::send(request).await {
                Ok(answer) if names_session(&answer, &session) => heard = asked,
                Ok(answer) if answer.status == 404 => {
                    break format!("Consul knows its session {session} no more");
                }
                _ if heard.elapsed() >= life => {
                    break format!(
                        "its session {session} could not be renewed for {SESSION_SECONDS} seconds"
                    );
                }
                _ => {}
            }
        };
        // Only the first reason is of interest, and there is no other.
        let _ = lost.set(why);
    }
}

/// Returns whether an answer says that a session lives on.
fn names_session(answer: &Answer, session: &str) -> bool {
    let sessions: Json = serde_json::from_slice(&answer.body).unwrap_or_default();
    answer.status == 200 && sessions[0]["ID"] == session
}

/// Reads a token from a file.
fn token_in(path: &str) -> Result<String, Diagnostic> {
    let bytes = crate::world::read_regular(path.as_ref()).map_err(|why| {
        invalid("consul", "access_token", &format!("CONSUL_HTTP_TOKEN_FILE names {path}: {why}"))
    })?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// Returns whether an answer with status 404 says that there is no such key: Consul says nothing more.
fn is_no_key(answer: &Answer) -> bool {
    answer.body.trim_ascii().is_empty()
}

fn trust(it: &Opening) -> Result<Trust, Diagnostic> {
    let read = |name: &str| -> Result<Option<String>, Diagnostic> {
        let Some(path) = it.text(name) else { return Ok(None) };
        let bytes = crate::world::read_regular(&it.world.root.join(&path));
        let bytes = bytes.map_err(|why| invalid("consul", name, &format!("{path}: {why}")))?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    };
    let identity = match (read("cert_file")?, read("key_file")?) {
        (Some(chain), Some(key)) => Some((chain, key)),
        (None, None) => None,
        _ => return Err(invalid("consul", "cert_file", "`cert_file` and `key_file` go together")),
    };
    Ok(Trust {
        authorities: read("ca_file")?,
        identity,
        is_blind: it
            .world
            .variable("CONSUL_HTTP_SSL_VERIFY")
            .is_some_and(|it| matches!(it, "0" | "f" | "F" | "false" | "FALSE" | "False")),
        ..Trust::default()
    })
}
