//! OAuth 2: the client that a host describes, the page where somebody logs in, and the exchange of a code for a token.
//!
//! Sources: RFC 6749 (sections 4.1 and 4.3), RFC 7636 (PKCE, `S256`), and OpenTofu's description of `login.v1`.

use std::ops::RangeInclusive;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::install::discovery::Services;
use crate::install::secure::is_secure;
use crate::install::settings::Token;
use crate::install::web::{HttpResponse, Url, Web, shown};
use crate::value::text;
use crate::world::World;
use crate::world::secrets::Secrets;

/// What a host says of `login.v1`.
#[derive(Clone, Debug)]
pub struct Client {
    id: String,
    authorize: Option<Url>,
    token: Option<Url>,
    /// The ports that the host may be told to call back.
    pub ports: RangeInclusive<u16>,
    grants: Vec<String>,
    scopes: Vec<String>,
}

/// One attempt to log in: what only this process knows of it.
#[derive(Clone)]
pub struct Attempt {
    /// What a call back must repeat.
    pub state: String,
    /// What proves that who exchanges the code is who has asked for it.
    verifier: String,
}

/// Prints neither of its secrets.
impl std::fmt::Debug for Attempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Attempt")
    }
}

/// What is answered where a token is asked for.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    access_token: String,
    error: String,
    error_description: String,
}

impl Client {
    /// Reads what a host says.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn read(services: &Services, said: &Json) -> Result<Client, Error> {
        if !said.is_object() {
            return Err("it must be an object".into());
        }
        let grants = match &said["grant_types"] {
            Json::Null => vec!["authz_code".to_owned()],
            Json::Array(all) => all.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
            _ => return Err("\"grant_types\" must be a list of strings".into()),
        };
        let address = |name: &str, is_needed: bool| -> Result<Option<Url>, Error> {
            let Some(text) = said[name].as_str() else {
                let needed = || format!("{name:?} is missing, which its grant types need").into();
                return if is_needed { Err(needed()) } else { Ok(None) };
            };
            let url = services.url(text).map_err(|it| it.context(format_args!("{name:?}")))?;
            match url.username().is_empty() && url.password().is_none() {
                true => Ok(Some(url)),
                false => {
                    Err(format!("{name:?} must be an address without user and password").into())
                }
            }
        };
        let has = |name: &str| grants.iter().any(|it| it == name);
        let scopes = match &said["scopes"] {
            Json::Null => Vec::new(),
            Json::Array(all) => {
                let texts = all.iter().map(|it| it.as_str().map(str::to_owned));
                texts.collect::<Option<Vec<_>>>().ok_or("\"scopes\" must be a list of strings")?
            }
            _ => return Err("\"scopes\" must be a list of strings".into()),
        };
        Ok(Client {
            id: said["client"].as_str().ok_or("\"client\" is missing")?.to_owned(),
            authorize: address("authz", has("authz_code"))?,
            token: address("token", has("authz_code") || has("password"))?,
            ports: ports(&said["ports"])?,
            scopes,
            grants,
        })
    }

    /// Returns an address, with its name, where others on the way could read the code or the token.
    pub(super) fn insecure(&self) -> Option<(&'static str, &Url)> {
        let mut all = [("authz", &self.authorize), ("token", &self.token)].into_iter();
        all.find_map(|(name, url)| Some((name, url.as_ref().filter(|it| !is_secure(it))?)))
    }

    /// Returns whether a host gives tokens in this way.
    pub fn grants(&self, kind: &str) -> bool {
        self.grants.iter().any(|it| it == kind)
    }

    /// Returns the page where somebody logs in; the host then calls `back`.
    pub fn page(&self, attempt: &Attempt, back: &str) -> Option<Url> {
        let mut page = self.authorize.clone()?;
        page.set_fragment(None);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&attempt.verifier));
        let mut pairs = page.query_pairs_mut();
        pairs
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.id)
            .append_pair("redirect_uri", back)
            .append_pair("state", &attempt.state)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        if !self.scopes.is_empty() {
            pairs.append_pair("scope", &self.scopes.join(" "));
        }
        drop(pairs);
        Some(page)
    }

    /// Exchanges a code for a token.
    ///
    /// # Errors
    ///
    /// What the host says, or what is wrong with its answer.
    pub async fn exchange(
        &self,
        web: &Web,
        attempt: &Attempt,
        code: &str,
        back: &str,
    ) -> Result<Token, Error> {
        let form = [
            ("grant_type", "authorization_code"),
            ("client_id", &self.id),
            ("code", code),
            ("redirect_uri", back),
            ("code_verifier", &attempt.verifier),
        ];
        self.ask(web, &form, &[code, &attempt.verifier]).await
    }

    /// Exchanges a name and a password for a token.
    ///
    /// # Errors
    ///
    /// As for [`Client::exchange`].
    pub async fn token_for(&self, web: &Web, user: &str, password: &str) -> Result<Token, Error> {
        let scopes = self.scopes.join(" ");
        let mut form = vec![
            ("grant_type", "password"),
            ("client_id", &*self.id),
            ("username", user),
            ("password", password),
        ];
        if !scopes.is_empty() {
            form.push(("scope", &scopes));
        }
        self.ask(web, &form, &[password]).await
    }

    /// - `secrets`: what an answer must not bring onto the screen.
    async fn ask(
        &self,
        web: &Web,
        form: &[(&str, &str)],
        secrets: &[&str],
    ) -> Result<Token, Error> {
        let url = self.token.as_ref().ok_or("it says no address where tokens are given")?;
        let answer = web.post(url, form).await?;
        read(&answer, url).map_err(|why| {
            let secrets = Secrets::default().with(secrets.iter().copied());
            secrets.hide(why.words()).into()
        })
    }
}

impl Attempt {
    /// Returns a new attempt.
    pub fn new(world: &World) -> Attempt {
        let mut bytes = [0; 32];
        world.random(&mut bytes);
        Attempt { state: world.uuid(), verifier: URL_SAFE_NO_PAD.encode(bytes) }
    }
}

fn ports(said: &Json) -> Result<RangeInclusive<u16>, Error> {
    let Some(all) = said.as_array() else { return Ok(1024..=u16::MAX) };
    let port =
        |it: &Json| it.as_u64().and_then(|it| u16::try_from(it).ok()).filter(|it| *it >= 1024);
    match &all[..] {
        [first, last] => match (port(first), port(last)) {
            (Some(first), Some(last)) if first <= last => Ok(first..=last),
            (Some(_), Some(_)) => Err("the first of \"ports\" is greater than the last".into()),
            _ => Err("\"ports\" must be whole numbers from 1024 to 65535".into()),
        },
        _ => Err("\"ports\" must be two numbers, the first and the last port".into()),
    }
}

/// Returns the token of an answer.
fn read(answer: &HttpResponse, url: &Url) -> Result<Token, Error> {
    let place = shown(url);
    if (300..400).contains(&answer.status) {
        return Err(format!(
            "{place} sends the request on to another address ({}); what proves who asks is for this one alone, and is not sent on",
            answer.status_text()
        )
        .into());
    }
    if answer.kind == "text/html" {
        return Err(format!(
            "{place} answers with a page for people (HTML, {}), where a token is due: a proxy or another service may stand there",
            answer.status_text()
        )
        .into());
    }
    let said: Option<Answer> = match answer.kind.as_str() {
        "application/x-www-form-urlencoded" => Some(form(&answer.body)),
        _ => serde_json::from_slice(&answer.body).ok(),
    };
    let is_success = (200..300).contains(&answer.status);
    match said {
        Some(it) if is_success && !it.access_token.is_empty() => Ok(Token::new(it.access_token)),
        Some(it) if !it.error.is_empty() => {
            let said = match it.error_description.trim().trim_end_matches('.') {
                "" => it.error,
                more => format!("{}: {more}", it.error),
            };
            Err(format!("{place} says {}", text::shown(&said)).into())
        }
        _ if is_success => Err(format!("the answer of {place} holds no token").into()),
        _ => Err(format!("{place} answers with status {}", answer.status_text()).into()),
    }
}

/// Some services answer with a form.
fn form(body: &[u8]) -> Answer {
    let mut answer = Answer::default();
    let Ok(mut url) = Url::parse("http://form/") else { return answer };
    url.set_query(std::str::from_utf8(body).ok());
    for (name, value) in url.query_pairs() {
        match &*name {
            "access_token" => answer.access_token = value.into_owned(),
            "error" => answer.error = value.into_owned(),
            "error_description" => answer.error_description = value.into_owned(),
            _ => {}
        }
    }
    answer
}
