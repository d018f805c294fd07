//! `gcp_kms`: keys that are made here, and sealed and opened by Cloud KMS.

use std::fmt;
use std::sync::{Arc, LazyLock};

use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Method;
use regex::Regex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use zeroize::Zeroizing;

use crate::backend::cloud::web::{Answer, Service as Asked};
use crate::backend::cloud::{Ask, Route, Trouble, Way, context};
use crate::backend::gcs::identity::{Impersonated, KEYS, Source, signer};
use crate::backend::gcs::service::reason;
use crate::backend::opening::Opening;
use crate::backend::shape::{Setting, number, text, texts};
use crate::diagnostic::Diagnostics;
use crate::error::Error;
use crate::world::World;

use super::sealed::{encoded, kept, random};
use super::service::{Secret, Service, read, strange, wait};
use super::{Key, KeySource};

pub(super) const SERVICE: Service = Service { name: "gcp_kms", settings: SETTINGS, open };

const SETTINGS: &[Setting] = &[
    text("access_token").sensitive().or(&["GOOGLE_OAUTH_ACCESS_TOKEN"]),
    text("credentials").sensitive(),
    text("impersonate_service_account")
        .or(&["GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT", "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT"]),
    texts("impersonate_service_account_delegates"),
    number("key_length").required(),
    text("kms_encryption_key").required().filled("kms_encryption_key"),
];

/// What messages call the service.
const NAME: &str = "Cloud KMS";
/// How often a request is repeated.
const RETRIES: u32 = 5;
/// The longest key that is sealed.
const LONGEST: u64 = 1024;

struct GcpKms {
    world: Arc<World>,
    /// Where the service is, with a slash at its end.
    address: String,
    source: Source,
    act_as: Option<Impersonated>,
    key: String,
    length: usize,
}

impl fmt::Debug for GcpKms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gcp_kms with the key {:?}", self.key)
    }
}

/// What an envelope keeps, and what the service answers that has sealed a key.
#[derive(Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    ciphertext: Option<String>,
}

/// A key that was opened.
#[derive(Deserialize)]
struct Opened {
    plaintext: Secret,
}

fn open(it: &Opening) -> Result<Box<dyn KeySource>, Diagnostics> {
    let mut found = Diagnostics::new();
    let key = it.text("kms_encryption_key").unwrap_or_default();
    if !is_key(&key) {
        let why = format!(
            "{key:?} is no name of a key, as \"projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/KEY\" is one"
        );
        found.push(it.invalid("kms_encryption_key", &why));
    }
    let length = found.take(it.whole("key_length")).flatten().unwrap_or_default();
    if !(1..=LONGEST).contains(&length) {
        found.push(it.invalid("key_length", &format!("it must be from 1 to {LONGEST} bytes")));
    }
    let source = found.take(Source::read(it, &["GOOGLE_CREDENTIALS"]));
    match source {
        Some(source) if !found.has_errors() => Ok(Box::new(GcpKms {
            world: it.world.clone(),
            address: address(it.world),
            source,
            act_as: Impersonated::read(it),
            key,
            length: usize::try_from(length).unwrap_or_default(),
        })),
        _ => Err(found),
    }
}

fn is_key(name: &str) -> bool {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        let form = r"^projects/[\w.:-]+/locations/[\w-]+/keyRings/[\w-]+/cryptoKeys/[\w-]+(/cryptoKeyVersions/\d+)?$";
        Regex::new(form).expect("the form of names is an expression")
    });
    name.is_ascii() && FORM.is_match(name)
}

fn address(world: &World) -> String {
    let named = world.variable("GOOGLE_KMS_CUSTOM_ENDPOINT").map(str::to_owned);
    let universe = world.variable("GOOGLE_CLOUD_UNIVERSE_DOMAIN").unwrap_or("googleapis.com");
    let address = named.unwrap_or_else(|| format!("https://cloudkms.{universe}/v1/"));
    if address.ends_with('/') { address } else { address + "/" }
}

impl GcpKms {
    async fn ask<T: DeserializeOwned>(
        &self,
        action: &str,
        body: Zeroizing<Vec<u8>>,
    ) -> Result<T, Error> {
        let told = |it: Trouble| Error::from(it.to_string());
        let client = Route::default().client(&self.world)?;
        let seen = context::context(&self.world, &client, Default::default());
        let signer = Some(signer(&seen, &self.source, self.act_as.as_ref(), KEYS));
        let service = Arc::new(Cloud(self.key.clone()));
        let way = Way { client, signer, retries: RETRIES, service };
        let ask = Ask::new(Method::POST, format!("{}{}:{action}", self.address, self.key))
            .header("content-type", "application/json")
            .body(Bytes::from_owner(body));
        let answer = way.demand(&ask).await.map_err(told)?;
        read(answer.body.into(), NAME, ask.host())
    }
}

impl KeySource for GcpKms {
    fn length(&self) -> Option<usize> {
        Some(self.length)
    }

    fn fresh(&self, world: &World, _: Option<&Key>) -> Result<(Key, Vec<u8>), Error> {
        let key = random(world, self.length);
        let plain = encoded(&key, &STANDARD);
        let body = serde_json::to_vec(&json!({ "plaintext": &*plain }))?;
        let sealed: Kept = wait(self.ask("encrypt", body.into()))?;
        let sealed = kept(sealed.ciphertext)?.ok_or_else(|| strange(NAME, &self.address))?;
        Ok((key, serde_json::to_vec(&Kept { ciphertext: Some(sealed) })?))
    }

    fn known(&self, _: &World, metadata: &[u8], _: Option<&Key>) -> Result<Option<Key>, Error> {
        let found: Kept = serde_json::from_slice(metadata)?;
        let Some(sealed) = kept(found.ciphertext)? else { return Ok(None) };
        let body = serde_json::to_vec(&json!({ "ciphertext": sealed }))?;
        let opened: Opened = wait(self.ask("decrypt", body.into()))?;
        let key = opened.plaintext.key(&STANDARD);
        key.map(Some).ok_or_else(|| strange(NAME, &self.address))
    }
}

/// Cloud KMS, with the key for its messages.
#[derive(Debug)]
struct Cloud(String);

impl Asked for Cloud {
    fn name(&self) -> &'static str {
        NAME
    }

    fn is_transient(&self, answer: &Answer) -> bool {
        answer.is_overloaded()
    }

    fn denial(&self, host: &str, answer: &Answer) -> Trouble {
        let (code, said) = reason(answer);
        let key = &self.0;
        let hint = match answer.status {
            400 if code == "FAILED_PRECONDITION" || said.contains("not enabled") => format!(
                " The version of the key {key:?} must be enabled: enable or restore it. Nothing sealed with it can be read without it."
            ),
            400 => format!(
                " What was sealed, was sealed with another key than {key:?}, or it was changed since: name the key that has sealed it. The \
                 key must be a symmetric one that encrypts and decrypts."
            ),
            401 => " The credentials are not valid (any more): log in again, or get a new token or key.".to_owned(),
            403 => format!(
                " The credentials need the rights cloudkms.cryptoKeyVersions.useToEncrypt and .useToDecrypt on the key {key:?} (the role Cloud \
                 KMS CryptoKey Encrypter/Decrypter has them), and the API of Cloud KMS must be enabled in the project; or there is no such key."
            ),
            404 => format!(" The key {key:?} does not exist: check project, location, key ring and key."),
            _ => String::new(),
        };
        Trouble::denied(answer.status, &code, format!("{NAME} at {host} says: {said}.{hint}"))
    }
}
