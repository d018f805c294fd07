//! From settings to a container that can be asked: cloud, identity, the account's key.

use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use reqsign_azure_storage::{Credential, RequestSigner, StaticCredentialProvider};
use reqsign_core::{Context, Signer};
use reqwest::Client;
use serde_json::Value as Json;

use super::blobs::Container;
use super::environment::Environment;
use super::identity::{Finder, Identity};
use super::service::Azure;
use super::settings::{Access, Settings};
use crate::backend::cloud::{Ask, Route, Trouble, Way, context};
use crate::world::World;

/// How often a request is repeated.
const RETRIES: u32 = 5;

impl Settings {
    /// Connects to the service: asks for the cloud and for the account's key, where that is not known.
    ///
    /// # Errors
    ///
    /// If one of them is not to be had.
    pub(super) async fn connect(&self, world: &Arc<World>) -> Result<Container, Trouble> {
        let route = Route { timeout: Some(self.timeout), ..Route::default() };
        let client = route.client(world).map_err(|it| Trouble::Unsent(it.to_string(), false))?;
        let environment = self.environment.environment(&client).await?;
        let address =
            format!("https://{}.blob.{}/{}", self.account, environment.suffix, self.container);
        let signer = match &self.access {
            Access::Key(key) => self.with_key(world, &client, key),
            Access::Sas(token) => {
                let seen = context::context(world, &client, Default::default());
                Signer::new(
                    seen,
                    StaticCredentialProvider::new_sas_token(token),
                    RequestSigner::new(),
                )
            }
            Access::Identity(identity) => {
                self.finder(identity, &environment).signer(world, &client, None)
            }
            Access::KeyOf { identity, subscription, group } => {
                let finder = self.finder(identity, &environment);
                let seen = finder.seen(world, &client, Some(&environment.audience));
                let subscription = match subscription {
                    Some(it) => it.clone(),
                    None => subscription_of_cli(&seen).await?,
                };
                let manager = Manager { client: &client, seen, finder, service: self.service() };
                let key =
                    manager.key(&environment.manager, &subscription, group, &self.account).await?;
                self.with_key(world, &client, &key)
            }
        };
        Ok(Container {
            way: Way {
                client,
                signer: Some(signer),
                retries: RETRIES,
                service: Arc::new(self.service()),
            },
            address,
            key: self.key.clone(),
            scope: self.scope.clone(),
        })
    }

    fn service(&self) -> Azure {
        Azure { account: self.account.clone(), container: self.container.clone() }
    }

    fn finder(&self, identity: &Arc<Identity>, environment: &Environment) -> Finder {
        let (identity, tenant) = (identity.clone(), self.tenant.clone());
        Finder { identity, tenant, environment: environment.clone() }
    }

    fn with_key(&self, world: &Arc<World>, client: &Client, key: &str) -> Signer<Credential> {
        let seen = context::context(world, client, Default::default());
        let known = StaticCredentialProvider::new_shared_key(&self.account, key);
        Signer::new(seen, known, RequestSigner::new())
    }
}

/// The resource manager, and who asks it.
struct Manager<'a> {
    client: &'a Client,
    seen: Context,
    finder: Finder,
    service: Azure,
}

impl Manager<'_> {
    /// Asks for the first key of a storage account.
    async fn key(
        &self,
        address: &str,
        subscription: &str,
        group: &str,
        account: &str,
    ) -> Result<String, Trouble> {
        let way = Way {
            client: self.client.clone(),
            signer: Some(Signer::new(self.seen.clone(), self.finder.clone(), RequestSigner::new())),
            retries: RETRIES,
            service: Arc::new(self.service.clone()),
        };
        let url = format!(
            "{address}/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Storage/storageAccounts/{account}/listKeys?api-version=2023-01-01"
        );
        let ask = Ask::new(Method::POST, url).body(Bytes::new());
        let answer = way.send(&ask).await?;
        let json: Json = serde_json::from_slice(&answer.body).unwrap_or_default();
        if let Some(key) = json["keys"][0]["value"].as_str() {
            return Ok(key.to_owned());
        }
        let said = json["error"]["message"].as_str().unwrap_or("it answers without a key");
        let said = answer.secrets.hide(said);
        let text = format!(
            "the resource manager at {} gives no key of the storage account {account:?} (status {}): {said}. Check \"subscription_id\" and \
             \"resource_group_name\", and that the identity may list keys (Microsoft.Storage/storageAccounts/listKeys/action); \
             \"use_azuread_auth\" goes without a key.",
            ask.host(),
            answer.status
        );
        Err(Trouble::denied(answer.status, "", text))
    }
}

/// Asks `az` for the subscription that is chosen there.
async fn subscription_of_cli(seen: &Context) -> Result<String, Trouble> {
    let wrong = |why: String| {
        let text = format!(
            "\"az\" does not tell which subscription is chosen: {why}. Log in with \"az login\", or set \"subscription_id\""
        );
        Trouble::Unsent(text, false)
    };
    let run = seen.command_execute("az", &["account", "show", "-o", "json"]).await;
    let run = run.map_err(|it| wrong(it.to_string()))?;
    if !run.success() {
        return Err(wrong(String::from_utf8_lossy(&run.stderr).trim().to_owned()));
    }
    let json: Json = serde_json::from_slice(&run.stdout).unwrap_or_default();
    json["id"].as_str().map(str::to_owned).ok_or_else(|| wrong("it prints none".to_owned()))
}
