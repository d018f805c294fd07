//! Which credentials Google Cloud Storage is asked with.

use std::sync::Arc;

use reqsign_core::{Context, Error, ProvideCredential, ProvideCredentialDyn, Result, Signer};
use reqsign_google::{
    Credential, DefaultCredentialProvider, RequestSigner,
    ServiceAccountImpersonationCredentialProvider, ServiceAccountImpersonationGrant,
    ServiceAccountTokenCredentialProvider, StaticCredentialProvider, TokenCredentialProvider,
};

/// What may be done with storage.
const STORAGE: &str = "https://www.googleapis.com/auth/devstorage.read_write";
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

/// Finds credentials, and exchanges a key for a token.
#[derive(Debug)]
struct Finder {
    source: Arc<dyn ProvideCredentialDyn<Credential = Credential>>,
    scope: &'static str,
}

impl ProvideCredential for Finder {
    type Credential = Credential;

    async fn provide_credential(&self, context: &Context) -> Result<Option<Credential>> {
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
pub fn signer(
    context: &Context,
    source: &Source,
    act_as: Option<&Impersonated>,
) -> Signer<Credential> {
    let scope = if act_as.is_some() { PLATFORM } else { STORAGE };
    let source: Arc<dyn ProvideCredentialDyn<Credential = Credential>> = match source {
        Source::Token(token) => Arc::new(TokenCredentialProvider::new(token)),
        Source::Text(text) => Arc::new(StaticCredentialProvider::new(text).with_scope(scope)),
        Source::Usual => Arc::new(DefaultCredentialProvider::new()),
    };
    let finder = Finder { source, scope };
    let signer = RequestSigner::new("storage").with_scope(scope);
    let Some(act_as) = act_as else { return Signer::new(context.clone(), finder, signer) };
    let grant = ServiceAccountImpersonationGrant::new(&act_as.account, [STORAGE]);
    let grant = grant.with_delegates(act_as.delegates.iter().cloned());
    let other = ServiceAccountImpersonationCredentialProvider::new(finder, grant);
    Signer::new(context.clone(), other, signer)
}
