//! What can be set in `backend "gcs"`, as OpenTofu has it, and what is made of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use reqwest::Url;

use super::KIND;
use super::identity::{Impersonated, STORAGE, Source, signer, text_or_file};
use super::objects::Bucket;
use super::service::Google;
use crate::backend::cloud::{Route, Trouble, Way, context};
use crate::backend::opening::{Opening, invalid};
use crate::backend::shape::{Setting, text, texts};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::world::World;

/// Every argument.
pub const SETTINGS: &[Setting] = &[
    text("access_token").sensitive().or(&["GOOGLE_OAUTH_ACCESS_TOKEN"]),
    text("bucket").required().filled("bucket"),
    text("credentials").sensitive(),
    text("encryption_key").sensitive().or(&["GOOGLE_ENCRYPTION_KEY"]),
    text("impersonate_service_account")
        .or(&["GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT", "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT"]),
    texts("impersonate_service_account_delegates"),
    text("kms_encryption_key").or(&["GOOGLE_KMS_ENCRYPTION_KEY"]),
    text("prefix"),
    text("storage_custom_endpoint")
        .or(&["GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT", "GOOGLE_STORAGE_CUSTOM_ENDPOINT"]),
    text("universe_domain").or(&["GOOGLE_BACKEND_UNIVERSE_DOMAIN"]),
];

/// How often a request is repeated.
const RETRIES: u32 = 5;

/// What a store in Google Cloud Storage is made of.
pub struct Settings {
    /// The bucket.
    pub bucket: String,
    /// What the names of all objects begin with: empty, or with a slash at its end.
    pub prefix: String,
    address: Url,
    /// Nothing where an emulator is asked, which wants no credentials.
    source: Option<Source>,
    act_as: Option<Impersonated>,
    key: Option<Vec<u8>>,
    kms: Option<String>,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("bucket", &self.bucket)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

/// Reads the settings.
///
/// # Errors
///
/// If one of them makes no sense, or two contradict each other.
pub fn read(it: &Opening) -> Result<Settings, Diagnostics> {
    let mut found = Diagnostics::new();
    let wrong = |name: &str, why: &str| invalid(KIND.name, name, why);
    let kms = it.text("kms_encryption_key");
    let key = it.text("encryption_key").map(|it_is| key(it, &it_is)).transpose();
    if kms.is_some() && it.text("encryption_key").is_some() {
        found.push(wrong(
            "encryption_key",
            "\"kms_encryption_key\" is set too, and only one of the two can be",
        ));
    }
    let source = source(it);
    let address = address(it);
    let act_as = Impersonated::read(it);
    let prefix = it.text("prefix").unwrap_or_default();
    let prefix = prefix.trim_start_matches('/').trim_end_matches('/');
    match (key, source, address) {
        (Ok(key), Ok(source), Ok(address)) if !found.has_errors() => Ok(Settings {
            bucket: it.text("bucket").unwrap_or_default(),
            prefix: if prefix.is_empty() { String::new() } else { format!("{prefix}/") },
            address,
            source,
            act_as,
            key,
            kms,
        }),
        (key, source, address) => {
            found.extend(key.err().into_iter().chain(source.err()).chain(address.err()));
            Err(found)
        }
    }
}

fn source(it: &Opening) -> Result<Option<Source>, Diagnostic> {
    if it.world.variable("STORAGE_EMULATOR_HOST").is_some() {
        return Ok(None);
    }
    Source::read(it, &["GOOGLE_BACKEND_CREDENTIALS", "GOOGLE_CREDENTIALS"]).map(Some)
}

fn key(it: &Opening, value: &str) -> Result<Vec<u8>, Diagnostic> {
    let text = text_or_file(it, "encryption_key", value)?;
    match BASE64.decode(text.trim()) {
        Ok(key) if key.len() == 32 => Ok(key),
        _ => {
            let why = "a key of 32 bytes in base64 is required, or the path of a file with one, here or in GOOGLE_ENCRYPTION_KEY";
            Err(invalid(KIND.name, "encryption_key", why))
        }
    }
}

/// Returns the address that names of buckets are put behind.
fn address(it: &Opening) -> Result<Url, Diagnostic> {
    let parse = |name: &str, text: &str| {
        let url = Url::parse(text).ok().filter(|it| it.has_host());
        url.ok_or_else(|| invalid(KIND.name, name, &format!("{text:?} is no address of a service")))
    };
    if let Some(custom) = it.text("storage_custom_endpoint") {
        let whole = match custom.contains("://") {
            true => custom,
            false => format!("https://{custom}/storage/v1/"),
        };
        return parse("storage_custom_endpoint", &whole);
    }
    if let Some(host) = it.world.variable("STORAGE_EMULATOR_HOST") {
        let whole = match host.split_once("://") {
            Some((scheme, rest)) => {
                let host = rest.split('/').next().unwrap_or_default();
                format!("{scheme}://{host}/storage/v1/")
            }
            None => format!("http://{host}/storage/v1/"),
        };
        return parse("STORAGE_EMULATOR_HOST", &whole);
    }
    let universe = it.text("universe_domain").unwrap_or_else(|| "googleapis.com".to_owned());
    parse("universe_domain", &format!("https://storage.{universe}/storage/v1/"))
}

impl Settings {
    /// Prepares what speaks to the service; nothing is asked yet.
    ///
    /// # Errors
    ///
    /// If no secure connection can be prepared.
    pub(super) fn connect(&self, world: &Arc<World>) -> Result<Bucket, Trouble> {
        self.way_to(world, Google::States(self.bucket.clone()))
    }

    /// As [`Settings::connect`], for packages.
    ///
    /// # Errors
    ///
    /// As there.
    pub(super) fn packages(&self, world: &Arc<World>) -> Result<Bucket, Trouble> {
        self.way_to(world, Google::Packages(self.bucket.clone()))
    }

    fn way_to(&self, world: &Arc<World>, service: Google) -> Result<Bucket, Trouble> {
        let client = Route::default().client(world);
        let client = client.map_err(|it| Trouble::Unsent(it.to_string(), false))?;
        let seen = context::context(world, &client, BTreeMap::new());
        let signer =
            self.source.as_ref().map(|it| signer(&seen, it, self.act_as.as_ref(), STORAGE));
        let service = Arc::new(service);
        Ok(Bucket {
            way: Way { client, signer, retries: RETRIES, service },
            address: self.address.clone(),
            name: self.bucket.clone(),
            key: self.key.clone(),
            kms: self.kms.clone(),
        })
    }
}
