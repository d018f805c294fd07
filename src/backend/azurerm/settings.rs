//! What can be set in `backend "azurerm"`, as OpenTofu has it, and what is made of it.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::KIND;
use super::environment::Cloud;
use super::identity::Identity;
use super::principal::identity;
use crate::backend::opening::{Opening, invalid};
use crate::backend::shape::{Setting, flag, number, text};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// Every argument.
pub const SETTINGS: &[Setting] = &[
    text("access_key").sensitive().or(&["ARM_ACCESS_KEY"]),
    text("ado_service_connection_id").or(&[
        "ARM_ADO_PIPELINE_SERVICE_CONNECTION_ID",
        "ARM_OIDC_AZURE_SERVICE_CONNECTION_ID",
        "AZURESUBSCRIPTION_SERVICE_CONNECTION_ID",
    ]),
    text("client_certificate").sensitive().or(&["ARM_CLIENT_CERTIFICATE"]),
    text("client_certificate_password").sensitive().or(&["ARM_CLIENT_CERTIFICATE_PASSWORD"]),
    text("client_certificate_path").or(&["ARM_CLIENT_CERTIFICATE_PATH"]),
    text("client_id").or(&["ARM_CLIENT_ID"]),
    text("client_id_file_path").or(&["ARM_CLIENT_ID_FILE_PATH"]),
    text("client_secret").sensitive().or(&["ARM_CLIENT_SECRET"]),
    text("client_secret_file_path").or(&["ARM_CLIENT_SECRET_FILE_PATH"]),
    text("container_name").required().filled("container name"),
    text("customer_provided_key").sensitive().or(&["ARM_CUSTOMER_PROVIDED_KEY"]),
    // Misspelled in the same way as in the real program, besides the right way.
    text("encryption_scope").or(&["ARM_ENCRYPTION_SCOPE", "ARM_ENCYRPTION_SCOPE"]),
    text("endpoint"),
    text("environment").or(&["ARM_ENVIRONMENT"]),
    text("key").required().filled("key"),
    text("metadata_host").or(&["ARM_METADATA_HOST"]),
    text("msi_endpoint").or(&["MSI_ENDPOINT", "ARM_MSI_ENDPOINT"]),
    text("oidc_request_token").sensitive().or(&[
        "ARM_OIDC_REQUEST_TOKEN",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
        "SYSTEM_ACCESSTOKEN",
    ]),
    text("oidc_request_url").or(&[
        "ARM_OIDC_REQUEST_URL",
        "ACTIONS_ID_TOKEN_REQUEST_URL",
        "SYSTEM_OIDCREQUESTURI",
    ]),
    text("oidc_token").sensitive().or(&["ARM_OIDC_TOKEN"]),
    text("oidc_token_file_path").or(&["ARM_OIDC_TOKEN_FILE_PATH", "AZURE_FEDERATED_TOKEN_FILE"]),
    text("resource_group_name"),
    text("sas_token").sensitive().or(&["ARM_SAS_TOKEN"]),
    flag("snapshot").or(&["ARM_SNAPSHOT"]),
    text("storage_account_name").required().filled("storage account name"),
    text("subscription_id").or(&["ARM_SUBSCRIPTION_ID"]),
    text("tenant_id").or(&["ARM_TENANT_ID"]),
    number("timeout_seconds").or(&["ARM_TIMEOUT_SECONDS"]),
    flag("use_aks_workload_identity").or(&["ARM_USE_AKS_WORKLOAD_IDENTITY"]),
    flag("use_azuread_auth").or(&["ARM_USE_AZUREAD"]),
    flag("use_cli").or(&["ARM_USE_CLI"]),
    flag("use_msi").or(&["ARM_USE_MSI"]),
    flag("use_oidc").or(&["ARM_USE_OIDC"]),
];

/// What a store in Azure is made of.
pub struct Settings {
    /// The storage account.
    pub account: String,
    /// The container.
    pub container: String,
    /// The default workspace's blob.
    pub blob: String,
    /// Whether each state is kept as a snapshot before it is replaced.
    pub makes_snapshots: bool,
    /// The cloud, or whom to ask for it.
    pub environment: Cloud,
    /// How the service is asked.
    pub access: Access,
    /// The directory of the identity.
    pub tenant: Option<String>,
    /// The key that blobs are encrypted with.
    pub key: Option<Vec<u8>>,
    /// The encryption scope of blobs.
    pub scope: Option<String>,
    /// How long one answer may take.
    pub timeout: Duration,
}

/// How the service is asked.
pub enum Access {
    /// With the account's key.
    Key(String),
    /// With a token that grants rights.
    Sas(String),
    /// As somebody.
    Identity(Arc<Identity>),
    /// With the account's key, which the resource manager gives to somebody.
    KeyOf { identity: Arc<Identity>, subscription: Option<String>, group: String },
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Settings { account, container, blob, .. } = self;
        write!(f, "Settings({account}/{container}/{blob})")
    }
}

/// Reads the settings.
///
/// # Errors
///
/// If one of them makes no sense, or two contradict each other.
pub fn read(it: &Opening) -> Result<Settings, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut wrong = |name: &str, why: &str| found.push(invalid(KIND.name, name, why));
    let given = |name: &str| it.text(name);
    let (account, container) = (
        given("storage_account_name").unwrap_or_default(),
        given("container_name").unwrap_or_default(),
    );
    let is_plain =
        |text: &str| text.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
    if !(3..=24).contains(&account.len()) || !is_plain(&account) {
        wrong(
            "storage_account_name",
            "a name of 3 to 24 lower-case letters and digits is required",
        );
    }
    let is_container = (3..=63).contains(&container.len())
        && container.split('-').all(|it| !it.is_empty() && is_plain(it));
    if !is_container {
        let why = "a name of 3 to 63 lower-case letters, digits and single hyphens between them is required";
        wrong("container_name", why);
    }
    if given("customer_provided_key").is_some() && given("encryption_scope").is_some() {
        let why = "\"encryption_scope\" is set too, and only one of the two can be";
        wrong("customer_provided_key", why);
    }
    let key = given("customer_provided_key").map(|it| BASE64.decode(it));
    let key = match key {
        Some(Ok(key)) if key.len() == 32 => Some(key),
        Some(_) => {
            wrong("customer_provided_key", "a key of 32 bytes in base64 is required");
            None
        }
        None => None,
    };
    let cloud = found.take(Cloud::read(it));
    let parts = (|| {
        Ok::<_, Diagnostic>((access(it)?, it.whole("timeout_seconds")?, it.flag("snapshot")?))
    })();
    match (parts, cloud) {
        (Ok((access, timeout, snapshot)), Some(environment)) if !found.has_errors() => {
            Ok(Settings {
                account,
                container,
                blob: given("key").unwrap_or_default(),
                makes_snapshots: snapshot == Some(true),
                environment,
                access,
                tenant: given("tenant_id"),
                key,
                scope: given("encryption_scope"),
                timeout: Duration::from_secs(timeout.unwrap_or(300)),
            })
        }
        (parts, _) => {
            found.extend(parts.err());
            Err(found)
        }
    }
}

fn access(it: &Opening) -> Result<Access, Diagnostic> {
    if let Some(key) = it.text("access_key") {
        return match BASE64.decode(&key) {
            Ok(_) => Ok(Access::Key(key)),
            Err(_) => Err(invalid(
                KIND.name,
                "access_key",
                "keys of storage accounts are base64, and it is none",
            )),
        };
    }
    if let Some(token) = it.text("sas_token") {
        return Ok(Access::Sas(token.trim_start_matches('?').to_owned()));
    }
    let identity = Arc::new(identity(it)?);
    if it.flag("use_azuread_auth")? == Some(true) {
        return Ok(Access::Identity(identity));
    }
    let subscription = it.text("subscription_id");
    let group = it.text("resource_group_name").ok_or_else(|| {
        let why = "it is needed to ask for the account's key. Set it, or \"use_azuread_auth\", which needs no key, or \"access_key\" or \"sas_token\"";
        invalid(KIND.name, "resource_group_name", why)
    })?;
    if subscription.is_none() && !matches!(*identity, Identity::Cli { .. }) {
        let why = "it is needed to ask for the account's key, here or in ARM_SUBSCRIPTION_ID. \"use_azuread_auth\" needs no key";
        return Err(invalid(KIND.name, "subscription_id", why));
    }
    Ok(Access::KeyOf { identity, subscription, group })
}
