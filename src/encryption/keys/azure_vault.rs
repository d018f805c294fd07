//! `azure_vault`: keys that are made here, and sealed and opened by Azure Key Vault.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::Method;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use zeroize::Zeroizing;

use crate::backend::azurerm::environment::Cloud;
use crate::backend::azurerm::identity::{Finder, Identity};
use crate::backend::azurerm::principal::identity;
use crate::backend::cloud::web::{Answer, Service as Asked};
use crate::backend::cloud::{Ask, Route, Trouble, Way};
use crate::backend::opening::Opening;
use crate::backend::shape::{Setting, flag, number, text};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::error::Error;
use crate::world::World;

use super::sealed::{encoded, random};
use super::service::{Secret, Service, read, strange, wait};
use super::{Key, KeySource};

pub(super) const SERVICE: Service = Service { name: "azure_vault", settings: SETTINGS, open };

const SETTINGS: &[Setting] = &[
    text("client_certificate").sensitive().or(&["ARM_CLIENT_CERTIFICATE"]),
    text("client_certificate_password").sensitive().or(&["ARM_CLIENT_CERTIFICATE_PASSWORD"]),
    text("client_certificate_path").or(&["ARM_CLIENT_CERTIFICATE_PATH"]),
    text("client_id").or(&["ARM_CLIENT_ID"]),
    text("client_id_file_path").or(&["ARM_CLIENT_ID_FILE_PATH"]),
    text("client_secret").sensitive().or(&["ARM_CLIENT_SECRET"]),
    text("client_secret_file_path").or(&["ARM_CLIENT_SECRET_FILE_PATH"]),
    text("environment").or(&["ARM_ENVIRONMENT"]),
    number("key_length").required(),
    text("metadata_host").or(&["ARM_METADATA_HOST"]),
    text("msi_endpoint"),
    text("oidc_request_token")
        .sensitive()
        .or(&["ARM_OIDC_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"]),
    text("oidc_request_url").or(&["ARM_OIDC_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_URL"]),
    text("oidc_token").sensitive().or(&["ARM_OIDC_TOKEN"]),
    text("oidc_token_file_path").or(&["ARM_OIDC_TOKEN_FILE_PATH"]),
    text("subscription_id").or(&["ARM_SUBSCRIPTION_ID"]),
    flag("symmetric"),
    number("symmetric_key_size"),
    text("tenant_id").or(&["ARM_TENANT_ID"]),
    flag("use_aks_workload_identity"),
    flag("use_cli"),
    flag("use_msi"),
    flag("use_oidc"),
    text("vault_key_name").required().filled("vault_key_name"),
    text("vault_uri").required().filled("vault_uri"),
];

/// What messages call the service.
const NAME: &str = "Azure Key Vault";
/// The version of the service that is spoken to.
const VERSION: &str = "7.6";
/// How often a request is repeated.
const RETRIES: u32 = 5;

struct Vault {
    world: Arc<World>,
    cloud: Cloud,
    identity: Arc<Identity>,
    tenant: Option<String>,
    /// Where the vault is, without a slash at its end.
    address: String,
    /// Whom tokens are for.
    audience: String,
    key: String,
    algorithm: &'static str,
    length: usize,
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "azure_vault with the key {:?} of {}", self.key, self.address)
    }
}

/// What an envelope keeps. The fields stand in this order in files.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    ciphertext: Option<String>,
    iv: Option<String>,
    authentication_tag: Option<String>,
    additional_authenticated_data: Option<String>,
    key_version: String,
    algo: String,
}

/// A key that was sealed.
#[derive(Deserialize)]
struct Sealed {
    kid: String,
    value: String,
    #[serde(default)]
    iv: Option<String>,
    #[serde(default)]
    tag: Option<String>,
    #[serde(default)]
    aad: Option<String>,
}

/// A key that was opened.
#[derive(Deserialize)]
struct Opened {
    value: Secret,
}

fn open(it: &Opening) -> Result<Box<dyn KeySource>, Diagnostics> {
    let mut found = Diagnostics::new();
    let algorithm = found.take(algorithm(it)).unwrap_or_default();
    let place = found.take(place(it));
    let key = it.text("vault_key_name").unwrap_or_default();
    let is_plain = key.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
    if !(1..=127).contains(&key.len()) || !is_plain {
        found.push(it.invalid(
            "vault_key_name",
            "a name of 1 to 127 letters, digits and hyphens is required",
        ));
    }
    let length = found.take(it.whole("key_length")).flatten().unwrap_or_default();
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if !(1..=1024).contains(&length) {
        found.push(it.invalid("key_length", "it must be from 1 to 1024 bytes"));
    }
    let cloud = found.take(Cloud::read(it));
    let identity = found.take(identity(it));
    match (place, cloud, identity) {
        (Some((address, audience)), Some(cloud), Some(identity)) if !found.has_errors() => {
            Ok(Box::new(Vault {
                world: it.world.clone(),
                cloud,
                identity: Arc::new(identity),
                tenant: it.text("tenant_id"),
                address,
                audience,
                key,
                algorithm,
                length,
            }))
        }
        _ => Err(found),
    }
}

fn algorithm(it: &Opening) -> Result<&'static str, Diagnostic> {
    if it.flag("symmetric")? != Some(true) {
        return Ok("RSA-OAEP-256");
    }
    match it.whole("symmetric_key_size")? {
        Some(128) => Ok("A128GCM"),
        Some(192) => Ok("A192GCM"),
        Some(256) => Ok("A256GCM"),
        _ => {
            let why = "with \"symmetric\" it must be 128, 192 or 256";
            Err(it.invalid("symmetric_key_size", why))
        }
    }
}

/// Returns where the vault is, and whom tokens for it are for.
fn place(it: &Opening) -> Result<(String, String), Diagnostic> {
    let address = it.text("vault_uri").unwrap_or_default();
    let wrong = |why: &str| it.invalid("vault_uri", &format!("{address:?} {why}"));
    let (scheme, rest) = address.split_once("://").unwrap_or(("", &address));
    let rest = rest.trim_end_matches('/');
    let (host, port) = rest.split_once(':').unwrap_or((rest, ""));
    let is_near = host == "localhost";
    if scheme != "https" && !(is_near && scheme == "http") {
        return Err(wrong("is no address as \"https://VAULT.vault.azure.net\" is one"));
    }
    let (name, domain) = host.split_once('.').unwrap_or((host, "vault.azure.net"));
    let is_plain = |it: &str| it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
    let is_name = (3..=24).contains(&name.len())
        && is_plain(name)
        && name.starts_with(|it: char| it.is_ascii_alphabetic())
        && !name.ends_with('-')
        && !name.contains("--");
    let is_host = domain.split('.').all(|it| !it.is_empty() && is_plain(it))
        && port.bytes().all(|it| it.is_ascii_digit());
    if !is_name || !is_host {
        return Err(wrong(
            "names no vault: 3 to 24 letters, digits and single hyphens, a letter first and no hyphen last, and then the host's domain",
        ));
    }
    Ok((format!("{scheme}://{rest}"), format!("https://{domain}/")))
}

impl Vault {
    /// - `version`: that of the key; empty for the latest.
    async fn ask<T: DeserializeOwned>(
        &self,
        (action, version): (&str, &str),
        body: Zeroizing<Vec<u8>>,
    ) -> Result<T, Error> {
        let told = |it: Trouble| Error::from(it.to_string());
        let client = Route::default().client(&self.world)?;
        let environment = self.cloud.environment(&client).await.map_err(told)?;
        let (identity, tenant) = (self.identity.clone(), self.tenant.clone());
        let finder = Finder { identity, tenant, environment };
        let signer = Some(finder.signer(&self.world, &client, Some(&self.audience)));
        let service = Arc::new(KeyVault(self.key.clone()));
        let way = Way { client, signer, retries: RETRIES, service };
        let Vault { address, key, .. } = self;
        let url = format!("{address}/keys/{key}/{version}/{action}?api-version={VERSION}");
        let ask = Ask::new(Method::POST, url)
            .header("content-type", "application/json")
            .body(Bytes::from_owner(body));
        let answer = way.demand(&ask).await.map_err(told)?;
        read(answer.body.into(), NAME, ask.host())
    }
}

/// The service writes base64 for addresses, envelopes hold the usual one.
fn usual(text: &str) -> Result<String, Error> {
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('='));
    bytes.map(|it| STANDARD.encode(it)).map_err(|_| strange(NAME, "the vault"))
}

fn for_address(text: &str) -> Result<String, Error> {
    let bytes = STANDARD.decode(text);
    let bytes =
        bytes.map_err(|why| Error::of(why).context("the sealed key in the envelope is broken"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

impl KeySource for Vault {
    fn length(&self) -> Option<usize> {
        Some(self.length)
    }

    fn fresh(&self, world: &World, _: Option<&Key>) -> Result<(Key, Vec<u8>), Error> {
        let key = random(world, self.length);
        let plain = encoded(&key, &URL_SAFE_NO_PAD);
        let body = serde_json::to_vec(&json!({ "alg": self.algorithm, "value": &*plain }))?;
        let sealed: Sealed = wait(self.ask(("encrypt", ""), body.into()))?;
        let part = |it: Option<String>| it.as_deref().map(usual).transpose();
        let version = sealed.kid.split("/keys/").nth(1).and_then(|it| it.split('/').nth(1));
        let kept = Kept {
            ciphertext: Some(usual(&sealed.value)?),
            iv: part(sealed.iv)?,
            authentication_tag: part(sealed.tag)?,
            additional_authenticated_data: part(sealed.aad)?,
            key_version: version.unwrap_or_default().to_owned(),
            algo: self.algorithm.to_owned(),
        };
        Ok((key, serde_json::to_vec(&kept)?))
    }

    fn known(&self, _: &World, metadata: &[u8], _: Option<&Key>) -> Result<Option<Key>, Error> {
        let kept: Kept = serde_json::from_slice(metadata)?;
        let Some(sealed) = kept.ciphertext.filter(|it| !it.is_empty()) else { return Ok(None) };
        let version = &*kept.key_version;
        if !version.bytes().all(|it| it.is_ascii_alphanumeric()) {
            return Err("the version of the key in the envelope is broken".into());
        }
        let algorithm = if kept.algo.is_empty() { self.algorithm } else { &kept.algo };
        let mut body = json!({ "alg": algorithm, "value": for_address(&sealed)? });
        let parts = [
            ("iv", kept.iv),
            ("tag", kept.authentication_tag),
            ("aad", kept.additional_authenticated_data),
        ];
        for (name, part) in parts {
            if let Some(part) = part.filter(|it| !it.is_empty()) {
                body[name] = json!(for_address(&part)?);
            }
        }
        let body = serde_json::to_vec(&body)?;
        let opened: Opened = wait(self.ask(("decrypt", version), body.into()))?;
        let key = opened.value.key(&URL_SAFE_NO_PAD);
        key.map(Some).ok_or_else(|| strange(NAME, &self.address))
    }
}

/// Azure Key Vault, with the key for its messages.
#[derive(Debug)]
struct KeyVault(String);

impl Asked for KeyVault {
    fn name(&self) -> &'static str {
        NAME
    }

    fn is_transient(&self, answer: &Answer) -> bool {
        answer.is_overloaded()
    }

    fn denial(&self, host: &str, answer: &Answer) -> Trouble {
        let body: Json = serde_json::from_slice(&answer.body).unwrap_or_default();
        let error = &body["error"];
        let code = error["code"].as_str().unwrap_or_default();
        let said = match error["message"].as_str().and_then(|it| it.lines().next()) {
            Some(message) => format!("{code}: {}", message.trim_end_matches('.')),
            None => format!("status {}", answer.status),
        };
        let key = &self.0;
        let hint = match answer.status {
            400 => format!(
                " What was sealed, was sealed with another key than {key:?}, or it was changed since: name the key that has sealed it. RSA keys \
                 are for \"symmetric = false\", AES keys for \"symmetric = true\"; an RSA key of 2048 bits seals at most 190 bytes."
            ),
            401 => " The token is not for this vault, or the identity's tenant is not the vault's: check \"tenant_id\" and \"vault_uri\"."
                .to_owned(),
            403 => format!(
                " The identity needs the rights to encrypt and decrypt with the key {key:?} (the role Key Vault Crypto User has them; in an \
                 access policy: encrypt, decrypt), the key must be enabled, and the vault's network rules must let this machine in."
            ),
            404 => format!(" The key {key:?}, or the version that has sealed, does not exist in the vault: recover it where it was deleted."),
            _ => String::new(),
        };
        Trouble::denied(answer.status, code, format!("{NAME} at {host} says {said}.{hint}"))
    }
}
