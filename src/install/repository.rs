//! A repository in a registry of container images: its manifests, its blobs, and what opens it.
//!
//! Where a registry asks who reads, it is shown what opens the repository, if anybody knows that; to strangers it may give a
//! token all the same.

use serde::Deserialize;
use tokio::sync::Mutex;

use super::hash::hex;
use super::login::Shown;
use super::offer::Remote;
use super::settings::Token;
use super::trouble::Trouble;
use super::web::{HttpResponse, Url, Web};
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
    /// If it does not answer, or wants to see something that nobody has.
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
        let shown = web.login(host, name).await.map_err(|it| Trouble::Other(it.into()))?;
        let had_some = shown.is_some() || known.is_some();
        let Some(token) = admitted(web, &answer, name, shown).await else {
            return Err(Trouble::Unauthorized { host: host.clone(), had_some });
        };
        *self.token.lock().await = Some(token.clone());
        let answer = ask(Some(&token)).await?;
        match answer.status {
            401 | 403 => Err(Trouble::Unauthorized { host: host.clone(), had_some }),
            _ => Ok(answer),
        }
    }

    /// Returns the manifest that a tag or a digest stands for.
    ///
    /// - `accept`: the media types that it may have.
    ///
    /// # Errors
    ///
    /// If there is none, or it is not what its digest says.
    pub async fn manifest(
        &self,
        web: &Web,
        reference: &str,
        accept: &str,
    ) -> Result<Manifest, Trouble> {
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
            Some(("sha256", sum)) => Some((sum, sum_of::<sha2::Sha256>(&answer.body))),
            Some(("sha512", sum)) => Some((sum, sum_of::<sha2::Sha512>(&answer.body))),
            _ => None,
        };
        if digest.is_some_and(|(wanted, found)| wanted != found) {
            return Err(unusable(&format!("manifest content does not match digest {reference}")));
        }
        if answer.kind == "text/html" {
            return Err(unusable(
                "the host answers with a page for people (HTML), as no registry does: a proxy or another service may stand there",
            ));
        }
        answer.json().map_err(|it: Error| unusable(&format!("invalid manifest content: {it}")))
    }

    /// Returns where a blob is, with what opens it.
    ///
    /// # Errors
    ///
    /// If its digest is no part of an address.
    pub async fn blob(&self, digest: &str, retries: u32) -> Result<Remote, Trouble> {
        let url = self.address(&format!("blobs/{digest}"))?;
        Ok(Remote { url, retries, token: self.token.lock().await.clone() })
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

/// Returns what answers a challenge: what is shown itself, or the token that the registry's authorization server gives.
async fn admitted(
    web: &Web,
    challenge: &HttpResponse,
    name: &str,
    shown: Option<Shown>,
) -> Option<Token> {
    let said = challenge.challenge.as_deref()?;
    let (scheme, said) = said.split_once(' ').unwrap_or((said, ""));
    match (scheme.to_lowercase().as_str(), shown) {
        ("basic", Some(Shown::Password(login))) => Some(login),
        ("bearer", Some(Shown::Access(token))) => Some(token),
        ("bearer", Some(Shown::Password(login))) => grant(web, said, name, Some(&login)).await,
        ("bearer", None) => grant(web, said, name, None).await,
        _ => None,
    }
}

/// Asks for the token that a challenge speaks of.
async fn grant(web: &Web, said: &str, name: &str, login: Option<&Token>) -> Option<Token> {
    let part = |wanted: &str| {
        let mut parts = said.split(',').filter_map(|it| it.trim().split_once('='));
        parts.find(|it| it.0 == wanted).map(|it| it.1.trim_matches('"').to_owned())
    };
    let mut realm = Url::parse(&part("realm")?).ok().filter(|it| it.scheme() == "https")?;
    let scope = part("scope").unwrap_or_else(|| format!("repository:{name}:pull"));
    realm.query_pairs_mut().append_pair("scope", &scope);
    if let Some(service) = part("service") {
        realm.query_pairs_mut().append_pair("service", &service);
    }
    let answer = web.get_as(&realm, login, "application/json").await.ok()?;
    let granted: Granted = answer.json().ok().filter(|_| answer.status == 200)?;
    granted.token.or(granted.access_token).map(Token::new)
}
