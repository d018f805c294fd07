//! The client that requests of a store go through: certificates, proxies, time limits.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::{Client, NoProxy, Proxy, redirect};

use crate::backend::web::{Trust, tls, user_agent, with_proxies};
use crate::error::{Error, ErrorContext};
use crate::world::{World, read_regular};

/// How a service is reached, where that is not the usual way.
#[derive(Clone, Debug, Default)]
pub struct Route {
    /// A file with certificates that are trusted in the place of the system's.
    pub authorities: Option<PathBuf>,
    /// Whether any certificate will do.
    pub is_insecure: bool,
    /// The proxy of `http:` addresses.
    pub http_proxy: Option<String>,
    /// The proxy of `https:` addresses.
    pub https_proxy: Option<String>,
    /// The hosts that no proxy is asked for.
    pub no_proxy: Option<String>,
    /// How long one answer may take.
    pub timeout: Option<Duration>,
}

impl Route {
    /// Builds the client.
    ///
    /// # Errors
    ///
    /// If a file or an address of the route, or a proxy of the environment, cannot be used.
    pub fn client(&self, world: &World) -> Result<Client, Error> {
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls(world, &self.trust(world)?)?)
            .connect_timeout(Duration::from_secs(10))
            .read_timeout(Duration::from_secs(60))
            // A signature holds for one address: what is redirected must be told, not followed.
            .redirect(redirect::Policy::none())
            .user_agent(user_agent(world));
        if let Some(timeout) = self.timeout {
            builder = builder.timeout(timeout);
        }
        let without = self.no_proxy.as_deref().and_then(NoProxy::from_string);
        let without = without.or_else(NoProxy::from_env);
        if let Some(address) = &self.http_proxy {
            let proxy = Proxy::http(address).map_err(|_| unusable("http_proxy"))?;
            builder = builder.proxy(proxy.no_proxy(without.clone()));
        }
        if let Some(address) = &self.https_proxy {
            let proxy = Proxy::https(address).map_err(|_| unusable("https_proxy"))?;
            builder = builder.proxy(proxy.no_proxy(without));
        }
        if self.http_proxy.is_none() && self.https_proxy.is_none() {
            builder = with_proxies(builder, world)?;
        }
        builder.build().context("cannot prepare connections")
    }

    fn trust(&self, world: &World) -> Result<Trust, Error> {
        let read = |path: &PathBuf| -> Result<String, Error> {
            let path = world.root.join(path);
            let text = read_regular(&path);
            let text = text
                .context(format_args!("the certificates in {} cannot be read", path.display()))?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        };
        let authorities = self.authorities.as_ref().map(read).transpose()?;
        Ok(Trust { authorities, is_blind: self.is_insecure, ..Trust::default() })
    }
}

/// The address of a proxy is none. It may hold a password, and is not repeated.
fn unusable(setting: &str) -> Error {
    format!("the value of {setting:?} is not the address of a proxy").into()
}
