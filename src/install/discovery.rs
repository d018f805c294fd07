//! Service discovery: what a host offers, and where.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::settings::Token;
use super::trouble::Trouble;
use super::web::{Url, Web};
use crate::error::{Error, ErrorContext};

/// The services of a host.
#[derive(Clone, Debug)]
pub struct Services {
    host: String,
    /// What addresses of services are relative to.
    base: Option<Url>,
    /// The host's own address, where another origin has answered for it.
    redirected_from: Option<Url>,
    by_name: BTreeMap<String, Json>,
}

impl Services {
    /// Returns what a host says of a service, such as `login.v1`.
    ///
    /// # Errors
    ///
    /// If it has none of this name.
    pub fn described(&self, service: &str) -> Result<&Json, Trouble> {
        self.by_name.get(service).ok_or_else(|| self.lacks(service))
    }

    /// Returns the address of a service, such as `providers.v1`. It ends with a slash.
    ///
    /// # Errors
    ///
    /// If the host has no such service, or says no address.
    pub fn address(&self, service: &str) -> Result<Url, Trouble> {
        // What is no address still says that the service exists.
        let Some(text) = self.described(service)?.as_str() else {
            return Err(Trouble::NoRegistry { host: self.host.clone(), has_other: true });
        };
        let mut url = self.url(text).map_err(|why| Trouble::Unreachable {
            host: self.host.clone(),
            why: format!("failed to parse service URL: {why}"),
        })?;
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        Ok(url)
    }

    /// Reads an address that may be relative to the host's own.
    ///
    /// # Errors
    ///
    /// If it is none that requests can be sent to.
    pub fn url(&self, text: &str) -> Result<Url, Error> {
        let joined = match &self.base {
            Some(base) => base.join(text),
            None => Url::parse(text),
        };
        let url = joined.map_err(Error::of)?;
        match url.scheme() {
            "http" | "https" => Ok(url),
            other => Err(format!("unsupported scheme {other:?}").into()),
        }
    }

    /// Returns the host's token, as requests to its services may show it. Where another origin has answered for the host, that is
    /// no word of the host itself: the token stays within the host's own origin.
    pub(super) fn admitted(&self, token: Token) -> Token {
        match &self.redirected_from {
            Some(own) => token.only_for(own),
            None => token,
        }
    }

    fn lacks(&self, service: &str) -> Trouble {
        let family = service.split('.').next().unwrap_or_default();
        let has_other = self.by_name.keys().any(|it| it.split('.').next() == Some(family));
        Trouble::NoRegistry { host: self.host.clone(), has_other }
    }
}

impl Web {
    /// Returns the address of a host's service, such as `providers.v1`.
    pub async fn service(&self, host: &str, service: &str) -> Result<Url, Trouble> {
        self.services(host).await?.address(service)
    }

    /// Returns the services of a host, which is asked once.
    ///
    /// # Errors
    ///
    /// If it does not say which it has.
    pub async fn services(&self, host: &str) -> Result<Services, Trouble> {
        let mut known = self.hosts.lock().await;
        if !known.contains_key(host) {
            let found = match self.settings.hosts.get(host) {
                Some(services) => {
                    let base = Url::parse(&format!("https://{host}/")).ok();
                    let (host, by_name) = (host.to_owned(), services.clone());
                    Ok(Services { host, base, redirected_from: None, by_name })
                }
                None => self.discover(host).await,
            };
            known.insert(host.to_owned(), found);
        }
        known[host]
            .clone()
            .map_err(|why| Trouble::Unreachable { host: host.to_owned(), why: why.to_string() })
    }

    async fn discover(&self, host: &str) -> Result<Services, Error> {
        let url = Url::parse(&format!("https://{host}/.well-known/terraform.json"))
            .context("invalid discovery request")?;
        // A host may be asked for its services by strangers too.
        let token = self.kept_token(host).await.unwrap_or_default();
        let answer =
            self.get(&url, token.as_ref()).await.context("failed to request discovery document")?;
        let is_own = answer.url.origin() == url.origin();
        let found = |by_name| Services {
            host: host.to_owned(),
            base: Some(answer.url.clone()),
            redirected_from: (!is_own).then(|| url.clone()),
            by_name,
        };
        match answer.status {
            200 => {}
            404 => return Ok(found(BTreeMap::new())),
            _ => {
                let status = answer.status_text();
                return Err(format!("failed to request discovery document: {status}").into());
            }
        }
        if answer.kind != "application/json" {
            return Err(format!(
                "discovery URL returned an unsupported Content-Type {:?}",
                answer.kind
            )
            .into());
        }
        let services = serde_json::from_slice(&answer.body)
            .context("failed to decode discovery document as a JSON object")?;
        Ok(found(services))
    }
}
