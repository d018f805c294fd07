//! Which credentials services of Google Cloud are asked with.

use std::sync::Arc;

use reqsign_core::{Context, Error, ProvideCredential, ProvideCredentialDyn, Signer};
use reqsign_google::{
    Credential, DefaultCredentialProvider, RequestSigner,
    ServiceAccountImpersonationCredentialProvider, ServiceAccountImpersonationGrant,
    ServiceAccountTokenCredentialProvider, StaticCredentialProvider, TokenCredentialProvider,
};

use crate::backend::opening::Opening;
use crate::diagnostic::Diagnostic;
use crate::world::read_regular;

/// What may be done with storage.
pub const STORAGE: &str = "https://www.googleapis.com/auth/devstorage.read_write";
/// What may be done with keys.
pub const KEYS: &str = "https://www.googleapis.com/auth/cloudkms";
/// What is needed to act as another account.
const PLATFORM: &str = "https://www.googleapis.com/auth/cloud-platform";

/// What the configuration says of credentials.
#[derive(Clone)]
pub enum Source {
    /// A token.
    Token(String),
    /// The text of a file with credentials.
    Text(String),
    /// Whatever the machine has: the file that GOOGLE_APPLICATION_CREDENTIALS names, that of `gcloud`, the machine's own service.
    Usual,
}

/// Who somebody acts as.
#[derive(Clone, Debug)]
pub struct Impersonated {
    /// The account.
    pub account: String,
    /// The accounts in between.
    pub delegates: Vec<String>,
}

impl Impersonated {
    /// Reads who somebody acts as.
    pub fn read(it: &Opening) -> Option<Impersonated> {
        let account = it.text("impersonate_service_account")?;
        let delegates = it.texts("impersonate_service_account_delegates");
        Some(Impersonated { account, delegates })
    }
}

impl Source {
    /// Reads what the configuration and these variables say of credentials.
    ///
    /// # Errors
    ///
    /// If what is named is none.
    pub fn read(it: &Opening, variables: &[&str]) -> Result<Source, Diagnostic> {
        if let Some(token) = it.text("access_token") {
            return Ok(Source::Token(token));
        }
        let named = || variables.iter().find_map(|name| it.world.variable(name)).map(str::to_owned);
        let Some(value) = it.text("credentials").or_else(named) else { return Ok(Source::Usual) };
        let text = text_or_file(it, "credentials", &value)?;
        match serde_json::from_str::<serde_json::Value>(&text) {
            Ok(json) if json.is_object() => Ok(Source::Text(text)),
            _ if text != value => {
                let why = format!("the file {value:?} holds no JSON of credentials");
                Err(it.invalid("credentials", &why))
            }
            _ => {
                let why = "neither the path of a file that is there nor the JSON of credentials stands there, or in GOOGLE_CREDENTIALS";
                Err(it.invalid("credentials", why))
            }
        }
    }
}

/// Reads what is the text of a file, or its path.
///
/// # Errors
///
/// If the file cannot be read.
pub fn text_or_file(it: &Opening, name: &str, value: &str) -> Result<String, Diagnostic> {
    let path = match (value.strip_prefix("~/"), it.world.variable("HOME")) {
        (Some(rest), Some(home)) => std::path::Path::new(home).join(rest),
        _ => it.world.root.join(value),
    };
    if value.len() > 4096 || value.contains(['\n', '{']) || !path.exists() {
        return Ok(value.to_owned());
    }
    let read = read_regular(&path).map_err(|why| {
        it.invalid(name, &format!("the file that it names cannot be read: {why}"))
    })?;
    Ok(String::from_utf8_lossy(&read).into_owned())
}

/// Finds credentials, and exchanges a key for a token.
#[derive(Debug)]
struct Finder {
    source: Arc<dyn ProvideCredentialDyn<Credential = Credential>>,
    scope: &'static str,
}

impl ProvideCredential for Finder {
    type Credential = Credential;

    async fn provide_credential(
        &self,
        context: &Context,
    ) -> reqsign_core::Result<Option<Credential>> {
        let Some(found) = self.source.provide_credential_dyn(context).await? else {
            return Err(Error::credential_invalid(
                "none were found. Log in with \"gcloud auth application-default login\", or set \"credentials\", GOOGLE_CREDENTIALS or \
                 GOOGLE_APPLICATION_CREDENTIALS",
            ));
        };
        match found.service_account.as_ref().filter(|_| found.token.is_none()) {
            Some(account) => {
                let exchange = ServiceAccountTokenCredentialProvider::new(account.clone());
                exchange.with_scope(self.scope).provide_credential(context).await
            }
            None => Ok(Some(found)),
        }
    }
}

/// Returns who signs requests.
///
/// - `wanted`: what may be done with a token.
pub fn signer(
    context: &Context,
    source: &Source,
    act_as: Option<&Impersonated>,
    wanted: &'static str,
) -> Signer<Credential> {
    let scope = if act_as.is_some() { PLATFORM } else { wanted };
    let source: Arc<dyn ProvideCredentialDyn<Credential = Credential>> = match source {
        Source::Token(token) => Arc::new(TokenCredentialProvider::new(token)),
        Source::Text(text) => Arc::new(StaticCredentialProvider::new(text).with_scope(scope)),
        Source::Usual => Arc::new(DefaultCredentialProvider::new()),
    };
    let finder = Finder { source, scope };
    let signer = RequestSigner::new("storage").with_scope(scope);
    let Some(act_as) = act_as else { return Signer::new(context.clone(), finder, signer) };
    let grant = ServiceAccountImpersonationGrant::new(&act_as.account, [wanted]);
    let grant = grant.with_delegates(act_as.delegates.iter().cloned());
    let other = ServiceAccountImpersonationCredentialProvider::new(finder, grant);
    Signer::new(context.clone(), other, signer)
}
