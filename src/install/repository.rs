//! A repository in a registry of container images: its manifests, its blobs, and what opens it.
//!
//! Where a registry asks who reads, it is shown what opens the repository, if anybody knows that; to strangers it may give a
//! token all the same.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use tokio::sync::Mutex;

use super::hash::hex;
use super::login::Shown;
use super::settings::Token;
use super::trouble::Trouble;
use super::web::{HttpResponse, Remote, Url, Web, shown};
use crate::error::Error;

/// The media type of a manifest that names others.
pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// The media type of a manifest that names layers.
pub const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";

/// The largest manifest.
const LARGEST: usize = 4 << 20;

/// A repository.
pub struct Repository {
    host: String,
    name: String,
    /// What the registry wants to see, once that is known.
    token: Mutex<Option<Token>>,
}

/// What a repository says of an artifact.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Which kind of manifest it is.
    #[serde(default)]
    pub media_type: String,
    /// What it is a manifest of.
    #[serde(default)]
    pub artifact_type: String,
    /// Further manifests.
    #[serde(default)]
    pub manifests: Vec<Descriptor>,
    /// What it consists of.
    #[serde(default)]
    pub layers: Vec<Descriptor>,
}

/// What a manifest names.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// Its kind.
    #[serde(default)]
    pub media_type: String,
    /// What it is a manifest of, where it is one.
    #[serde(default)]
    pub artifact_type: String,
    /// Its digest, by which it is asked for.
    pub digest: String,
    /// Its length in bytes, if the manifest states it.
    pub size: Option<u64>,
    /// The platform that it is for.
    pub platform: Option<Target>,
}

/// A platform.
#[derive(Deserialize)]
pub struct Target {
    /// The system.
    pub os: String,
    /// The processor.
    pub architecture: String,
    /// The system's version.
    #[serde(default, rename = "os.version")]
    pub version: String,
}

impl Descriptor {
    /// Checks the length of what the registry gave for this descriptor.
    ///
    /// # Errors
    ///
    /// If the descriptor states another length.
    pub fn check_size(&self, found: u64) -> Result<(), Trouble> {
        match self.size {
            Some(size) if size != found => Err(unusable(&format!(
                "{} has {found} bytes, but the manifest that names it says {size}",
                self.digest
            ))),
            _ => Ok(()),
        }
    }
}

static DIGEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$")
        .expect("the form of digests is an expression")
});

/// Returns whether a text is a digest that can be checked: `sha256:` or `sha512:`, then lower-case hexadecimal digits.
pub fn is_digest(text: &str) -> bool {
    DIGEST.is_match(text)
}

#[derive(Deserialize)]
struct Granted {
    token: Option<String>,
    access_token: Option<String>,
}

impl Repository {
    /// Returns a repository; nothing is asked yet.
    pub fn new(host: &str, name: &str) -> Repository {
        Repository { host: host.to_owned(), name: name.to_owned(), token: Mutex::default() }
    }

    /// Asks it, and again with what it wants to see.
    ///
    /// # Errors
    ///
    /// If it does not answer, or asks for credentials that are not known, or a redirect leads to a host that asks for some.
    pub async fn ask(&self, web: &Web, path: &str, accept: &str) -> Result<HttpResponse, Trouble> {
        let (host, name) = (&self.host, &self.name);
        let url = self.address(path)?;
        let known = self.token.lock().await.clone();
        let ask = async |token: Option<&Token>| {
            let asked = web.get_as(&url, token, accept).await;
            asked.map_err(|why| Trouble::Unreachable { host: host.clone(), why: why.into() })
        };
        let answer = ask(known.as_ref()).await?;
        if answer.status != 401 {
            return Ok(answer);
        }
        self.check_origin(&url, &answer)?;
        let login = web.login(host, name).await.map_err(|it| Trouble::Other(it.into()))?;
        let had_some = login.is_some();
        let challenge = Challenge { host, name, text: answer.challenge.as_deref() };
        let Some(token) = challenge.answer(web, login).await? else {
            return Err(Trouble::Unauthorized { host: host.clone(), had_some });
        };
        *self.token.lock().await = Some(token.clone());
        let answer = ask(Some(&token)).await?;
        match answer.status {
            401 | 403 => {
                self.check_origin(&url, &answer)?;
                Err(Trouble::Unauthorized { host: host.clone(), had_some })
            }
            _ => Ok(answer),
        }
    }

    /// Checks that the registry itself asks for credentials, not a host that it redirects to.
    ///
    /// A challenge names the token service that gets them, so another host could have them sent to its own.
    fn check_origin(&self, asked: &Url, answer: &HttpResponse) -> Result<(), Trouble> {
        if answer.url.origin() == asked.origin() {
            return Ok(());
        }
        let (host, other) = (&self.host, answer.url.origin().ascii_serialization());
        Err(unusable(&format!(
            "{host} redirects the request to {other}, which asks for credentials; those of {host} are not sent to another host"
        )))
    }

    /// Returns the manifest that a tag or a digest stands for.
    ///
    /// - `accept`: the media types that it may have.
    ///
    /// # Errors
    ///
    /// If there is none, or it does not match its digest.
    pub async fn manifest(
        &self,
        web: &Web,
        reference: &str,
        accept: &str,
    ) -> Result<Manifest, Trouble> {
        read_manifest(&self.fetch_manifest(web, reference, accept).await?)
    }

    /// Returns the manifest that an index names.
    ///
    /// - `accept`: the media types that it may have.
    ///
    /// # Errors
    ///
    /// If its digest cannot be checked, there is none, or its digest or size differs.
    pub async fn named_manifest(
        &self,
        web: &Web,
        descriptor: &Descriptor,
        accept: &str,
    ) -> Result<Manifest, Trouble> {
        let digest = &descriptor.digest;
        if !is_digest(digest) {
            return Err(unusable(&format!(
                "the index names a manifest by {digest:?}, which is not a digest: \"sha256:\" or \"sha512:\" and lower-case \
                 hexadecimal digits are required"
            )));
        }
        let answer = self.fetch_manifest(web, digest, accept).await?;
        descriptor.check_size(answer.body.len() as u64)?;
        read_manifest(&answer)
    }

    /// Loads a manifest and checks it against its digest. A tag has none.
    async fn fetch_manifest(
        &self,
        web: &Web,
        reference: &str,
        accept: &str,
    ) -> Result<HttpResponse, Trouble> {
        let answer = self.ask(web, &format!("manifests/{reference}"), accept).await?;
        if answer.status != 200 {
            return Err(unusable(&format!("resolving {reference:?}: {}", answer.status_text())));
        }
        if answer.body.len() > LARGEST {
            return Err(unusable(&format!(
                "the manifest {reference:?} is larger than {LARGEST} bytes"
            )));
        }
        let digest = match reference.split_once(':') {
            None => None,
            Some(("sha256", sum)) => Some((sum, sum_of::<sha2::Sha256>(&answer.body))),
            Some(("sha512", sum)) => Some((sum, sum_of::<sha2::Sha512>(&answer.body))),
            Some(_) => {
                return Err(unusable(&format!("the digest {reference:?} cannot be checked")));
            }
        };
        if digest.is_some_and(|(wanted, found)| wanted != found) {
            return Err(unusable(&format!("manifest content does not match digest {reference}")));
        }
        Ok(answer)
    }

    /// Returns where a blob is, with the token that opens it and the size that its manifest states.
    ///
    /// # Errors
    ///
    /// If its digest is no part of an address.
    pub async fn blob(&self, blob: &Descriptor, retries: u32) -> Result<Remote, Trouble> {
        let url = self.address(&format!("blobs/{}", blob.digest))?;
        Ok(Remote { url, retries, token: self.token.lock().await.clone(), size: blob.size })
    }

    fn address(&self, path: &str) -> Result<Url, Trouble> {
        Url::parse(&format!("https://{}/v2/{}/{path}", self.host, self.name))
            .map_err(|it| unusable(&it.to_string()))
    }
}

fn sum_of<D: sha2::Digest>(bytes: &[u8]) -> String {
    hex(&D::digest(bytes))
}

/// A repository does not say what it must.
pub fn unusable(why: &str) -> Trouble {
    Trouble::Other(format!("reading from OCI repository: {why}"))
}

fn read_manifest(answer: &HttpResponse) -> Result<Manifest, Trouble> {
    if answer.kind == "text/html" {
        return Err(unusable(
            "the host answers with a page for people (HTML), as no registry does: a proxy or another service may stand there",
        ));
    }
    answer.json().map_err(|it: Error| unusable(&format!("invalid manifest content: {it}")))
}

/// What a registry asks for before it opens a repository.
struct Challenge<'a> {
    host: &'a str,
    /// The repository.
    name: &'a str,
    /// `WWW-Authenticate`, if the registry sent it.
    text: Option<&'a str>,
}

impl Challenge<'_> {
    /// Returns the token that answers it: the login itself, or what the registry's token service gives for it. `None` if the
    /// registry requires a login and there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be answered, or the token service gives no token.
    async fn answer(&self, web: &Web, login: Option<Shown>) -> Result<Option<Token>, Trouble> {
        let text = self.text.unwrap_or_default().trim();
        let (scheme, parameters) = text.split_once(' ').unwrap_or((text, ""));
        match (scheme.to_lowercase().as_str(), login) {
            ("basic", Some(Shown::Password(login))) => Ok(Some(login)),
            ("bearer", Some(Shown::Access(token))) => Ok(Some(token)),
            ("bearer", Some(Shown::Password(login))) => {
                self.grant(web, parameters, Some(&login)).await.map(Some)
            }
            ("bearer", None) => self.grant(web, parameters, None).await.map(Some),
            ("basic", Some(Shown::Access(_))) => Err(self.refused(
                "it asks for a user and a password, and there is only an access token for it",
            )),
            ("basic" | "", None) => Ok(None),
            _ => Err(self.refused(
                "it asks for credentials without one of the schemes \"Basic\" and \"Bearer\", so none were sent",
            )),
        }
    }

    /// Asks the token service that the challenge names for a token.
    async fn grant(
        &self,
        web: &Web,
        parameters: &str,
        login: Option<&Token>,
    ) -> Result<Token, Trouble> {
        let part = |wanted: &str| {
            let mut parts = parameters.split(',').filter_map(|it| it.trim().split_once('='));
            parts.find(|it| it.0 == wanted).map(|it| it.1.trim_matches('"').to_owned())
        };
        let realm = part("realm").and_then(|it| Url::parse(&it).ok());
        let mut realm = realm.filter(|it| it.scheme() == "https").ok_or_else(|| {
            self.refused(
                "it names no token service with an https address, so no credentials were sent",
            )
        })?;
        let address = shown(&realm);
        let scope = part("scope").unwrap_or_else(|| format!("repository:{}:pull", self.name));
        realm.query_pairs_mut().append_pair("scope", &scope);
        if let Some(service) = part("service") {
            realm.query_pairs_mut().append_pair("service", &service);
        }
        let answer = web.get_as(&realm, login, "application/json").await;
        let answer = answer
            .map_err(|it| self.refused(&format!("its token service {address} fails: {it}")))?;
        match answer.status {
            200 => {}
            401 | 403 => {
                let host = self.host.to_owned();
                return Err(Trouble::Unauthorized { host, had_some: login.is_some() });
            }
            _ => {
                let status = answer.status_text();
                return Err(
                    self.refused(&format!("its token service {address} answers with {status}"))
                );
            }
        }
        let granted: Option<Granted> = answer.json().ok();
        let token = granted.and_then(|it| it.token.or(it.access_token)).map(Token::new);
        token.ok_or_else(|| self.refused(&format!("its token service {address} gives no token")))
    }

    fn refused(&self, why: &str) -> Trouble {
        unusable(&format!("{} does not open the repository: {why}", self.host))
    }
}
