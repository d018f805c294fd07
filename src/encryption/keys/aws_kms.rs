//! `aws_kms`: keys that AWS KMS makes, and opens again.

use std::fmt;
use std::sync::Arc;

use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tokio::sync::OnceCell;

use crate::backend::cloud::Trouble;
use crate::backend::opening::Opening;
use crate::backend::s3::access::{Access, Connected, ROLE, WEB_IDENTITY};
use crate::backend::s3::checks::Checks;
use crate::backend::s3::service::Aws;
use crate::backend::s3::table::call;
use crate::backend::shape::{Setting, blocks, flag, number, object, text, texts};
use crate::diagnostic::Diagnostics;
use crate::error::Error;
use crate::world::World;

use super::sealed::kept;
use super::service::{Secret, Service, read, strange, wait};
use super::{Key, KeySource};

pub(super) const SERVICE: Service = Service { name: "aws_kms", settings: SETTINGS, open };

const SETTINGS: &[Setting] = &[
    text("access_key"),
    texts("allowed_account_ids"),
    object("assume_role", ROLE),
    object("assume_role_with_web_identity", WEB_IDENTITY),
    text("custom_ca_bundle").or(&["AWS_CA_BUNDLE"]),
    text("ec2_metadata_service_endpoint").or(&["AWS_EC2_METADATA_SERVICE_ENDPOINT"]),
    text("ec2_metadata_service_endpoint_mode").or(&["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"]),
    blocks("endpoints", &[text("iam"), text("sts")]),
    texts("forbidden_account_ids"),
    text("http_proxy"),
    text("https_proxy"),
    flag("insecure"),
    text("key_spec").required().filled("key_spec"),
    text("kms_key_id").required().filled("kms_key_id"),
    number("max_retries"),
    text("no_proxy"),
    text("profile"),
    text("region").required().or(&["AWS_REGION", "AWS_DEFAULT_REGION"]),
    text("retry_mode"),
    text("secret_key").sensitive(),
    texts("shared_config_files"),
    texts("shared_credentials_files"),
    flag("skip_credentials_validation"),
    flag("skip_metadata_api_check"),
    flag("skip_requesting_account_id"),
    text("sts_region"),
    text("token").sensitive(),
    flag("use_dualstack_endpoint").or(&["AWS_USE_DUALSTACK_ENDPOINT"]),
    flag("use_fips_endpoint").or(&["AWS_USE_FIPS_ENDPOINT"]),
];

/// What messages call the service.
const NAME: &str = "AWS KMS";

struct AwsKms {
    world: Arc<World>,
    access: Access,
    key: String,
    /// How long its keys are: as KMS says it, and in bytes.
    spec: (&'static str, usize),
    connected: OnceCell<Connected>,
}

impl fmt::Debug for AwsKms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "aws_kms with the key {:?}", self.key)
    }
}

/// What an envelope keeps.
#[derive(Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    ciphertext_blob: Option<String>,
}

/// A key that was made.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Made {
    ciphertext_blob: String,
    plaintext: Secret,
}

/// A key that was opened.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Opened {
    plaintext: Secret,
}

fn open(it: &Opening) -> Result<Box<dyn KeySource>, Diagnostics> {
    let mut checks = Checks { owner: it.owner, found: Diagnostics::new() };
    checks.access(it);
    let spec = match it.text("key_spec").unwrap_or_default().as_str() {
        "AES_128" => ("AES_128", 16),
        "AES_256" => ("AES_256", 32),
        other => {
            let why = format!("{other:?} is neither \"AES_256\" nor \"AES_128\"");
            checks.found.push(it.invalid("key_spec", &why));
            ("", 0)
        }
    };
    let access = Access::read(it);
    if checks.found.has_errors() {
        return Err(checks.found);
    }
    Ok(Box::new(AwsKms {
        world: it.world.clone(),
        access: access?,
        key: it.text("kms_key_id").unwrap_or_default(),
        spec,
        connected: OnceCell::new(),
    }))
}

impl AwsKms {
    async fn ask<T: DeserializeOwned>(&self, action: &str, body: Json) -> Result<T, Error> {
        let told = |it: Trouble| Error::from(it.to_string());
        let connected = self.connected.get_or_try_init(|| self.access.connect(&self.world)).await;
        let way = connected.map_err(told)?.way("kms", Aws::Keys(self.key.clone()));
        let body = Bytes::from(body.to_string());
        let target = format!("TrentService.{action}");
        let ask = call(&self.access.addresses.keys(), "1.1", &target, body);
        let answer = way.demand(&ask).await.map_err(told)?;
        read(answer.body.into(), NAME, ask.host())
    }
}

impl KeySource for AwsKms {
    fn length(&self) -> Option<usize> {
        Some(self.spec.1)
    }

    fn fresh(&self, _: &World, _: Option<&Key>) -> Result<(Key, Vec<u8>), Error> {
        let body = json!({ "KeyId": self.key, "KeySpec": self.spec.0 });
        let made: Made = wait(self.ask("GenerateDataKey", body))?;
        let key = made.plaintext.key(&STANDARD);
        let key = key.ok_or_else(|| strange(NAME, &self.access.addresses.keys()))?;
        let kept = Kept { ciphertext_blob: kept(Some(made.ciphertext_blob))? };
        Ok((key, serde_json::to_vec(&kept)?))
    }

    fn known(&self, _: &World, metadata: &[u8], _: Option<&Key>) -> Result<Option<Key>, Error> {
        let found: Kept = serde_json::from_slice(metadata)?;
        let Some(sealed) = kept(found.ciphertext_blob)? else { return Ok(None) };
        let body = json!({ "KeyId": self.key, "CiphertextBlob": sealed });
        let opened: Opened = wait(self.ask("Decrypt", body))?;
        let key = opened.plaintext.key(&STANDARD);
        key.map(Some).ok_or_else(|| strange(NAME, &self.access.addresses.keys()))
    }
}
