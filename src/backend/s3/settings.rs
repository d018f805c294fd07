//! What can be set in `backend "s3"`, as OpenTofu has it, and what is made of it.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::access::{Access, ROLE, WEB_IDENTITY};
use super::address::is_region;
use super::checks::Checks;
use super::objects::{Bucket, Protection};
use super::service::Aws;
use super::table::Table;
use super::tokens::url_encoded;
use super::{KIND, Parts};
use crate::backend::cloud::Trouble;
use crate::backend::opening::{Opening, invalid};
use crate::backend::shape::{Setting, flag, number, object, text, text_map, text_set};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::world::World;

/// Every argument.
pub const SETTINGS: &[Setting] = &[
    text("access_key"),
    text("acl"),
    text_set("allowed_account_ids"),
    object("assume_role", ROLE),
    number("assume_role_duration_seconds"),
    text("assume_role_policy"),
    text_set("assume_role_policy_arns"),
    text_map("assume_role_tags"),
    text_set("assume_role_transitive_tag_keys"),
    object("assume_role_with_web_identity", WEB_IDENTITY),
    text("bucket").required().filled("bucket"),
    text("custom_ca_bundle").or(&["AWS_CA_BUNDLE"]),
    text("dynamodb_endpoint"),
    text("dynamodb_table"),
    text("ec2_metadata_service_endpoint").or(&["AWS_EC2_METADATA_SERVICE_ENDPOINT"]),
    text("ec2_metadata_service_endpoint_mode").or(&["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"]),
    flag("encrypt"),
    text("endpoint"),
    object("endpoints", &[text("dynamodb"), text("iam"), text("s3"), text("sts")]),
    text("external_id"),
    text_set("forbidden_account_ids"),
    flag("force_path_style"),
    text("http_proxy"),
    text("https_proxy"),
    text("iam_endpoint"),
    flag("insecure"),
    text("key").required().filled("key"),
    text("kms_key_id"),
    text_map("lock_tags"),
    number("max_retries"),
    text("no_proxy"),
    text("profile"),
    text("region").required().filled("region").or(&["AWS_REGION", "AWS_DEFAULT_REGION"]),
    text("retry_mode"),
    text("role_arn"),
    text("secret_key").sensitive(),
    text("session_name"),
    text_set("shared_config_files"),
    text("shared_credentials_file"),
    text_set("shared_credentials_files"),
    flag("skip_credentials_validation"),
    flag("skip_metadata_api_check"),
    flag("skip_region_validation"),
    flag("skip_requesting_account_id"),
    flag("skip_s3_checksum"),
    text("sse_customer_key").sensitive().or(&["AWS_SSE_CUSTOMER_KEY"]),
    text_map("state_tags"),
    text("sts_endpoint"),
    text("sts_region"),
    text("token").sensitive(),
    flag("use_dualstack_endpoint").or(&["AWS_USE_DUALSTACK_ENDPOINT"]),
    flag("use_fips_endpoint").or(&["AWS_USE_FIPS_ENDPOINT"]),
    flag("use_lockfile"),
    flag("use_path_style"),
    text("workspace_key_prefix"),
];

/// What a store in S3 is made of.
#[derive(Debug)]
pub struct Settings {
    /// The bucket.
    pub bucket: String,
    /// The default workspace's object.
    pub key: String,
    /// What the keys of other workspaces begin with.
    pub workspace_key_prefix: String,
    protection: Protection,
    access_list: Option<String>,
    has_checksums: bool,
    table: Option<String>,
    uses_lockfile: bool,
    state_tags: String,
    lock_tags: String,
    access: Access,
}

/// Reads the settings.
///
/// # Errors
///
/// If one of them makes no sense, or two contradict each other.
pub fn read(it: &Opening) -> Result<Settings, Diagnostics> {
    let mut checks = Checks { owner: it.owner, found: Diagnostics::new() };
    checks.all(it);
    let settings = build(it, &mut checks);
    match settings {
        _ if checks.found.has_errors() => Err(checks.found),
        settings => Ok(settings?),
    }
}

fn build(it: &Opening, checks: &mut Checks) -> Result<Settings, Diagnostic> {
    let given = |name: &str| it.text(name);
    let is_on = |name: &str| it.flag(name).map(|it| it == Some(true));
    let tags = |name: &str| url_encoded(&it.table(name).into_iter().collect::<Vec<_>>());
    let region = given("region").unwrap_or_default();
    if !is_on("skip_region_validation")? && !is_region(&region) {
        let why = format!(
            "{region:?} is no region of AWS. For another provider's storage set \"skip_region_validation\""
        );
        checks.found.push(invalid(KIND.name, "region", &why));
    }
    let access = Access::read(it)?;
    Ok(Settings {
        bucket: given("bucket").unwrap_or_default(),
        key: given("key").unwrap_or_default(),
        // Unset and empty differ: without a prefix the workspace's name comes first.
        workspace_key_prefix: it
            .value("workspace_key_prefix")?
            .as_str()
            .unwrap_or("env:")
            .to_owned(),
        protection: protection(it, checks)?,
        access_list: given("acl"),
        has_checksums: !is_on("skip_s3_checksum")?,
        table: given("dynamodb_table"),
        uses_lockfile: is_on("use_lockfile")?,
        state_tags: tags("state_tags"),
        lock_tags: tags("lock_tags"),
        access,
    })
}

fn protection(it: &Opening, checks: &mut Checks) -> Result<Protection, Diagnostic> {
    let is_encrypted = it.flag("encrypt")? == Some(true);
    let (kms, customer) = (it.text("kms_key_id"), it.text("sse_customer_key"));
    let customer = match customer.map(|it| BASE64.decode(it)) {
        Some(Ok(key)) if key.len() == 32 => Some(key),
        Some(_) => {
            let why = "a key of 32 bytes in base64 (44 characters) is required, here or in AWS_SSE_CUSTOMER_KEY";
            checks.found.push(invalid(KIND.name, "sse_customer_key", why));
            None
        }
        None => None,
    };
    Ok(match (is_encrypted, kms, customer) {
        (false, ..) => Protection::Usual,
        (true, Some(key), _) => Protection::Kms(key),
        (true, None, Some(key)) => Protection::Customer(key),
        (true, None, None) => Protection::Managed,
    })
}

impl Settings {
    /// Connects to the services: finds the credentials, and asks whose they are unless that is switched off.
    ///
    /// # Errors
    ///
    /// If there are no credentials, or not the right ones.
    pub(super) async fn connect(&self, world: &Arc<World>) -> Result<Parts, Trouble> {
        let there = self.access.connect(world).await?;
        let addresses = &self.access.addresses;
        Ok(Parts {
            bucket: Bucket {
                way: there.way("s3", Aws::Objects(self.bucket.clone())),
                addresses: addresses.clone(),
                name: self.bucket.clone(),
                protection: self.protection.clone(),
                access_list: self.access_list.clone(),
                has_checksums: self.has_checksums,
            },
            table: self.table.as_ref().map(|name| Table {
                way: there.way("dynamodb", Aws::Table(name.clone())),
                address: addresses.table(),
                name: name.clone(),
            }),
            uses_lockfile: self.uses_lockfile,
            state_tags: self.state_tags.clone(),
            lock_tags: self.lock_tags.clone(),
        })
    }
}
