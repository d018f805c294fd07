//! States behind an address: `backend "http"`. One state, read with GET, replaced with POST, locked with LOCK and UNLOCK.
//!
//! Such a server knows no versions. So what is there is compared with what was read right before it is replaced, and read back
//! where no answer came.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use md5::{Digest, Md5};
use parking_lot::Mutex;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Url};

use super::kind::Kind;
use super::lock::{LockInfo, LockProblem, NotUnlocked};
use super::opening::{Opening, invalid};
use super::shape::{flag, number, text, text_map};
use super::store::{Content, Refused, Store, Version};
use super::web::{self, Answer, Retries, Trust};
use super::workspace;
use crate::diagnostic::{Diagnostic, Diagnostics};

#[cfg(test)]
mod tests;

/// `backend "http"`
pub const KIND: Kind = Kind {
    name: "http",
    settings: &[
        text("address").required().or(&["TF_HTTP_ADDRESS"]),
        text("client_ca_certificate_pem").or(&["TF_HTTP_CLIENT_CA_CERTIFICATE_PEM"]),
        text("client_certificate_pem").or(&["TF_HTTP_CLIENT_CERTIFICATE_PEM"]),
        text("client_private_key_pem").or(&["TF_HTTP_CLIENT_PRIVATE_KEY_PEM"]).sensitive(),
        text_map("headers").sensitive(),
        text("lock_address").or(&["TF_HTTP_LOCK_ADDRESS"]),
        text("lock_method").or(&["TF_HTTP_LOCK_METHOD"]),
        text("password").or(&["TF_HTTP_PASSWORD"]).sensitive(),
        number("retry_max").or(&["TF_HTTP_RETRY_MAX"]),
        number("retry_wait_max").or(&["TF_HTTP_RETRY_WAIT_MAX"]),
        number("retry_wait_min").or(&["TF_HTTP_RETRY_WAIT_MIN"]),
        flag("skip_cert_verification"),
        text("unlock_address").or(&["TF_HTTP_UNLOCK_ADDRESS"]),
        text("unlock_method").or(&["TF_HTTP_UNLOCK_METHOD"]),
        text("update_method").or(&["TF_HTTP_UPDATE_METHOD"]),
        text("username").or(&["TF_HTTP_USERNAME"]),
    ],
    open: |it| Ok(Arc::new(HttpState::open(it)?)),
};

/// An address and how it is used.
#[derive(Debug)]
struct Endpoint {
    url: Url,
    method: Method,
}

/// The store behind an address.
#[derive(Debug)]
struct HttpState {
    client: Client,
    update: Endpoint,
    lock: Option<Endpoint>,
    unlock: Option<Endpoint>,
    headers: HeaderMap,
    login: Option<(String, Option<String>)>,
    retries: Retries,
    /// The lock that is held.
    held: Mutex<Option<LockInfo>>,
}

impl HttpState {
    fn open(it: &Opening) -> Result<HttpState, Diagnostics> {
        let login = it.text("username").map(|name| (name, it.text("password")));
        let seconds = |name, usual| {
            let whole = it.whole(name)?.unwrap_or(usual);
            Result::<_, Diagnostic>::Ok(Duration::from_secs(whole))
        };
        let retries = Retries {
            max: it.whole("retry_max")?.unwrap_or(2),
            wait_min: seconds("retry_wait_min", 1)?,
            wait_max: seconds("retry_wait_max", 30)?,
        };
        let update = endpoint(it, "address", "update_method", "POST")?;
        Ok(HttpState {
            client: web::client(it.world, &trust(it)?)
                .map_err(|why| invalid("http", "address", &why.to_string()))?,
            update: update.expect("it is required"),
            lock: endpoint(it, "lock_address", "lock_method", "LOCK")?,
            unlock: endpoint(it, "unlock_address", "unlock_method", "UNLOCK")?,
            headers: headers(it, login.is_some())?,
            login,
            retries,
            held: Mutex::default(),
        })
    }

    fn request(&self, method: &Method, url: Url, body: &Bytes) -> RequestBuilder {
        let request = self.client.request(method.clone(), url).headers(self.headers.clone());
        let request = match &self.login {
            Some((name, password)) => request.basic_auth(name, password.as_ref()),
            None => request,
        };
        if body.is_empty() {
            return request;
        }
        let digest = STANDARD.encode(Md5::digest(body));
        request
            .header("Content-Type", "application/json")
            .header("Content-MD5", digest)
            .body(body.clone())
    }

    /// Names who failed to do what, and where.
    fn failed(&self, what: &str, method: &Method, url: &Url, why: &str) -> io::Error {
        let hint = match why.contains("invalid peer certificate") {
            true => {
                ". Name the authority that signed it with client_ca_certificate_pem or SSL_CERT_FILE, or see that it is for this host"
            }
            false => "",
        };
        io::Error::other(format!("failed to {what}: {method} {}: {why}{hint}", web::shown(url)))
    }

    fn unexpected(&self, what: &str, method: &Method, url: &Url, answer: &Answer) -> io::Error {
        let why = match answer.status {
            401 => "HTTP remote state endpoint requires auth".to_owned(),
            403 => "HTTP remote state endpoint invalid auth".to_owned(),
            500 => "HTTP remote state internal server error".to_owned(),
            status => format!("Unexpected HTTP response code {status}"),
        };
        self.failed(what, method, url, &why)
    }

    async fn get(&self) -> io::Result<Vec<u8>> {
        let (method, url) = (Method::GET, &self.update.url);
        let request = || self.request(&method, url.clone(), &Bytes::new());
        let answer = web::send_again(self.retries, request)
            .await
            .map_err(|it| self.failed("get state", &method, url, it.why.words()))?;
        match answer.status {
            200 => {}
            204 | 404 => return Ok(Vec::new()),
            _ => return Err(self.unexpected("get state", &method, url, &answer)),
        }
        self.check_page("get state", &method, url, &answer)?;
        if answer.body.trim_ascii().is_empty() {
            return Err(self.failed("get state", &method, url, EMPTY));
        }
        let promised = STANDARD.decode(answer.header("content-md5")).unwrap_or_default();
        if promised.len() == 16 && promised != Md5::digest(&answer.body).as_slice() {
            let why = "the answer is not what its Content-MD5 says";
            return Err(self.failed("get state", &method, url, why));
        }
        Ok(answer.body)
    }

    /// Checks that an answer comes from a server of states, and is no page of a login or a proxy.
    fn check_page(
        &self,
        what: &str,
        method: &Method,
        url: &Url,
        answer: &Answer,
    ) -> io::Result<()> {
        match answer.page("a server of states", &web::shown(url)) {
            Some(why) => Err(self.failed(what, method, url, &why)),
            None => Ok(()),
        }
    }

    /// Returns what stands for what is there, of which nothing is kept.
    async fn version_there(&self) -> io::Result<Version> {
        let (method, url) = (Method::GET, &self.update.url);
        let request = || self.request(&method, url.clone(), &Bytes::new());
        let answer = web::sum_again(self.retries, request)
            .await
            .map_err(|it| self.failed("get state", &method, url, it.why.words()))?;
        match answer.status {
            200 if answer.body == Md5::digest(b"").as_slice() => {
                Err(self.failed("get state", &method, url, EMPTY))
            }
            200 => Ok(version_of(&answer.body)),
            204 | 404 => Ok(version(&[])),
            _ => Err(self.unexpected("get state", &method, url, &answer)),
        }
    }

    /// Reads back after a write that had no answer, or a bad one. Returns whether it was written.
    async fn settle(&self, bytes: &[u8], before: &Version) -> Result<bool, Refused> {
        let there = self.get().await.map_err(Refused::Unsettled)?;
        match version(&there) {
            _ if there == bytes => Ok(true),
            now if now == *before => Ok(false),
            _ => Err(Refused::Overtaken(there)),
        }
    }
}

/// An answer of success that holds nothing is no state, and does not say that there is none.
const EMPTY: &str = "the server answers with status 200 and an empty body, which is no state. A server that has no state answers with 404 \
     or 204. Look into what it stores at this address: the state may be lost there, or cut off";

/// Stands for content; for nothing, too.
fn version(bytes: &[u8]) -> Version {
    version_of(&Md5::digest(bytes))
}

fn version_of(digest: &[u8]) -> Version {
    Version(format!("{digest:x?}"))
}

fn endpoint(
    it: &Opening,
    name: &str,
    method: &str,
    usual: &str,
) -> Result<Option<Endpoint>, Diagnostic> {
    let Some(text) = it.text(name) else { return Ok(None) };
    // The text itself may hold a password.
    let url = Url::parse(&text).map_err(|why| invalid("http", name, &why.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        let detail = format!("The argument {name:?} must begin with http:// or https://.");
        return Err(Diagnostic::error(format!("{name} must be HTTP or HTTPS")).detail(detail));
    }
    let given = it.text(method).unwrap_or_else(|| usual.to_owned());
    let parsed = Method::from_bytes(given.as_bytes());
    let parsed = parsed.map_err(|_| invalid("http", method, "it is no method of HTTP"))?;
    Ok(Some(Endpoint { url, method: parsed }))
}

fn trust(it: &Opening) -> Result<Trust, Diagnostic> {
    let identity = match (it.text("client_certificate_pem"), it.text("client_private_key_pem")) {
        (Some(chain), Some(key)) => Some((chain, key)),
        (None, None) => None,
        (Some(_), None) => {
            let why = "client_private_key_pem is not set";
            return Err(invalid("http", "client_certificate_pem", why));
        }
        (None, Some(_)) => {
            let why = "client_certificate_pem is not set";
            return Err(invalid("http", "client_private_key_pem", why));
        }
    };
    Ok(Trust {
        authorities: it.text("client_ca_certificate_pem"),
        identity,
        is_blind: it.flag("skip_cert_verification")?.unwrap_or(false),
        ..Trust::default()
    })
}

fn headers(it: &Opening, has_login: bool) -> Result<HeaderMap, Diagnostic> {
    let mut headers = HeaderMap::new();
    for (name, value) in it.table("headers") {
        let wrong = |why: &str| invalid("http", "headers", &format!("the header {name:?} {why}"));
        let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-_".contains(&it);
        if name.is_empty() || !name.bytes().all(is_plain) {
            return Err(wrong(
                "has a name that is empty, or has other characters than A-Za-z0-9-_",
            ));
        }
        if value.trim().is_empty() || !value.is_ascii() {
            return Err(wrong("has a value that is empty, or has characters that are not ASCII"));
        }
        match name.to_lowercase().as_str() {
            "authorization" if has_login => {
                return Err(wrong("cannot be set where a username is"));
            }
            "content-type" | "content-md5" => return Err(wrong("is reserved")),
            _ => {}
        }
        let key =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("has no valid name"))?;
        let mut value = HeaderValue::from_str(&value).map_err(|_| wrong("has no valid value"))?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    Ok(headers)
}

fn no_workspaces() -> io::Error {
    io::Error::other("workspaces not supported")
}

fn only_default(name: &str) -> io::Result<()> {
    if name == workspace::DEFAULT { Ok(()) } else { Err(no_workspaces()) }
}

#[async_trait]
impl Store for HttpState {
    fn name(&self, _workspace: &str) -> String {
        web::shown(&self.update.url)
    }

    fn has_workspaces(&self) -> bool {
        false
    }

    async fn read(&self, workspace: &str) -> io::Result<Content> {
        only_default(workspace)?;
        let bytes = self.get().await?;
        Ok(Content { version: version(&bytes), bytes, is_elsewhere: false })
    }

    async fn write(
        &self,
        workspace: &str,
        bytes: &Bytes,
        expected: &Version,
    ) -> Result<Version, Refused> {
        only_default(workspace)?;
        // What is there is not kept while the next is sent: it may be large.
        if self.version_there().await? != *expected {
            return Err(Refused::Overtaken(self.get().await?));
        }
        let Endpoint { url, method } = &self.update;
        let held = self.held.lock().clone();
        let mut with_lock = url.clone();
        if let Some(held) = &held {
            with_lock.query_pairs_mut().append_pair("ID", &held.id);
        }
        let mut pause = self.retries.wait_min;
        for tried in 0.. {
            let sent = web::send(self.request(method, with_lock.clone(), bytes)).await;
            let (why, is_final) = match sent {
                Ok(answer) => match (answer.status, &held) {
                    (200 | 201 | 204, _) => {
                        match self.check_page("upload state", method, url, &answer) {
                            Ok(()) => return Ok(version(bytes)),
                            Err(why) => (why, true),
                        }
                    }
                    (409 | 423, Some(_)) => {
                        let by = serde_json::from_slice::<LockInfo>(&answer.body);
                        let by = by.map_or(String::new(), |it| format!(", it is locked by\n{it}"));
                        let why = format!("the server says with status {}", answer.status);
                        return Err(Refused::LockLost(format!(
                            "{why} that it is not held any more{by}"
                        )));
                    }
                    (429 | 500 | 502.., _) => {
                        (self.unexpected("upload state", method, url, &answer), false)
                    }
                    _ => {
                        let why = format!("HTTP error: {}", answer.status);
                        return Err(self.failed("upload state", method, url, &why).into());
                    }
                },
                Err(it) => (self.failed("upload state", method, url, it.why.words()), it.is_final),
            };
            // What has failed may have been done all the same, and what is done is not to be done twice over somebody else's.
            if self.settle(bytes, expected).await? {
                return Ok(version(bytes));
            }
            if is_final || tried >= self.retries.max {
                return Err(why.into());
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(self.retries.wait_max);
        }
        unreachable!("attempts do not end by themselves")
    }

    async fn list(&self) -> io::Result<Vec<String>> {
        Err(no_workspaces())
    }

    async fn create(&self, workspace: &str) -> io::Result<()> {
        only_default(workspace)
    }

    async fn delete(&self, workspace: &str) -> io::Result<()> {
        workspace::check_deletable(workspace)?;
        Err(no_workspaces())
    }

    async fn lock(&self, workspace: &str, info: &LockInfo) -> Result<String, LockProblem> {
        only_default(workspace)?;
        let Some(Endpoint { url, method }) = &self.lock else { return Ok(String::new()) };
        let record = Bytes::from(serde_json::to_vec(info).map_err(io::Error::other)?);
        let request = || self.request(method, url.clone(), &record);
        let answer = web::send_again(self.retries, request)
            .await
            .map_err(|it| self.failed("lock", method, url, it.why.words()))?;
        match answer.status {
            200 => {}
            409 | 423 => match serde_json::from_slice::<LockInfo>(&answer.body) {
                // An attempt before this one was heard, but its answer was lost.
                Ok(holder) if holder.id == info.id => {}
                Ok(holder) => {
                    let why = format!("HTTP remote state already locked: ID={}", holder.id);
                    return Err(LockProblem::Busy(why, Some(holder)));
                }
                Err(_) => {
                    let why = "HTTP remote state already locked, and the server does not say by whom: the body of its answer is no lock record";
                    return Err(LockProblem::Busy(why.into(), None));
                }
            },
            _ => return Err(self.unexpected("lock", method, url, &answer).into()),
        }
        self.check_page("lock", method, url, &answer)?;
        *self.held.lock() = Some(info.clone());
        Ok(info.id.clone())
    }

    async fn unlock(&self, _workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        let held = self.held.lock().take();
        let Some(Endpoint { url, method }) = &self.unlock else { return Ok(()) };
        // Without a place to lock nothing was locked.
        if id.is_empty() && held.is_none() {
            return Ok(());
        }
        let record = held.unwrap_or_else(|| LockInfo { id: id.into(), ..LockInfo::default() });
        let record = Bytes::from(serde_json::to_vec(&record).map_err(io::Error::other)?);
        let request = || self.request(method, url.clone(), &record);
        let answer = web::send_again(self.retries, request)
            .await
            .map_err(|it| self.failed("unlock", method, url, it.why.words()))?;
        match answer.status {
            200 => Ok(self.check_page("unlock", method, url, &answer)?),
            _ => Err(self.unexpected("unlock", method, url, &answer).into()),
        }
    }

    async fn force_unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        if self.unlock.is_none() {
            return Err(NotUnlocked::Disabled("`unlock_address` is not set"));
        }
        self.unlock(workspace, id).await
    }
}
