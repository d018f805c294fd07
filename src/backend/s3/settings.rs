//! What can be set in `backend "s3"`, as OpenTofu has it, and what is made of it.

use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tokio::sync::Mutex;

use super::address::{Addresses, is_region};
use super::checks::{Checks, duration};
use super::identity::{Finder, Identity, WebToken};
use super::objects::{Bucket, Protection};
use super::service::Aws;
use super::table::Table;
use super::tokens::{Role, Tokens, url_encoded};
use super::{KIND, Parts};
use crate::backend::cloud::{Route, Trouble, Way, context};
use crate::backend::opening::{Opening, invalid, table_of};
use crate::backend::shape::{Setting, flag, number, object, text, text_map, text_set};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::value::Value;
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

const ROLE: &[Setting] = &[
    text("duration"),
    text("external_id"),
    text("policy"),
    text_set("policy_arns"),
    text("role_arn").required(),
    text("session_name"),
    text_map("tags"),
    text_set("transitive_tag_keys"),
];

const WEB_IDENTITY: &[Setting] = &[
    text("duration"),
    text("policy"),
    text_set("policy_arns"),
    text("role_arn"),
    text("session_name"),
    text("web_identity_token").sensitive(),
    text("web_identity_token_file"),
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
    addresses: Addresses,
    protection: Protection,
    access_list: Option<String>,
    has_checksums: bool,
    table: Option<String>,
    uses_lockfile: bool,
    state_tags: String,
    lock_tags: String,
    identity: Arc<Identity>,
    accounts: Accounts,
    route: Route,
    retries: u32,
}

/// Which accounts the credentials may belong to.
#[derive(Debug)]
struct Accounts {
    is_validated: bool,
    allowed: Vec<String>,
    forbidden: Vec<String>,
}

/// Reads the settings.
///
/// # Errors
///
/// If one of them makes no sense, or two contradict each other.
pub fn read(it: &Opening) -> Result<Settings, Diagnostics> {
    let mut checks = Checks::default();
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
    let endpoint = |service: &str, old: &str, variables: &[&str]| {
        let new = it.value("endpoints").ok().and_then(|it| member(&it, service));
        let set = new.or_else(|| given(old));
        let variables = variables.iter().chain(&["AWS_ENDPOINT_URL"]);
        let named = variables.filter_map(|name| it.world.variable(name)).next();
        set.or_else(|| named.map(str::to_owned)).map(with_scheme)
    };
    let is_path_style = is_on("use_path_style")? || is_on("force_path_style")?;
    let addresses = Addresses {
        region,
        sts_region: given("sts_region"),
        s3: endpoint("s3", "endpoint", &["AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT"]),
        dynamodb: endpoint(
            "dynamodb",
            "dynamodb_endpoint",
            &["AWS_ENDPOINT_URL_DYNAMODB", "AWS_DYNAMODB_ENDPOINT"],
        ),
        sts: endpoint("sts", "sts_endpoint", &["AWS_ENDPOINT_URL_STS", "AWS_STS_ENDPOINT"]),
        is_path_style,
        is_fips: is_on("use_fips_endpoint")?,
        is_dual_stack: is_on("use_dualstack_endpoint")?,
    };
    Ok(Settings {
        bucket: given("bucket").unwrap_or_default(),
        key: given("key").unwrap_or_default(),
        // Unset and empty differ: without a prefix the workspace's name comes first.
        workspace_key_prefix: it
            .value("workspace_key_prefix")?
            .as_str()
            .unwrap_or("env:")
            .to_owned(),
        addresses,
        protection: protection(it, checks)?,
        access_list: given("acl"),
        has_checksums: !is_on("skip_s3_checksum")?,
        table: given("dynamodb_table"),
        uses_lockfile: is_on("use_lockfile")?,
        state_tags: tags("state_tags"),
        lock_tags: tags("lock_tags"),
        identity: Arc::new(identity(it)?),
        accounts: Accounts {
            is_validated: !is_on("skip_credentials_validation")?,
            allowed: it.texts("allowed_account_ids"),
            forbidden: it.texts("forbidden_account_ids"),
        },
        route: Route {
            authorities: given("custom_ca_bundle").map(PathBuf::from),
            is_insecure: is_on("insecure")?,
            http_proxy: given("http_proxy"),
            https_proxy: given("https_proxy"),
            no_proxy: given("no_proxy"),
            timeout: None,
        },
        retries: it.whole("max_retries")?.unwrap_or(5).min(100) as u32,
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

fn identity(it: &Opening) -> Result<Identity, Diagnostic> {
    let given = |name: &str| it.text(name);
    let single = given("shared_credentials_file").into_iter().collect::<Vec<_>>();
    let several = it.texts("shared_credentials_files");
    let mode = given("ec2_metadata_service_endpoint_mode");
    let six = mode.filter(|it| it.eq_ignore_ascii_case("ipv6"));
    Ok(Identity {
        keys: given("access_key").zip(given("secret_key")),
        token: given("token"),
        profile: given("profile"),
        config_files: it.texts("shared_config_files"),
        credentials_files: if several.is_empty() { single } else { several },
        skips_machine: it.flag("skip_metadata_api_check")?,
        machine: given("ec2_metadata_service_endpoint")
            .or_else(|| six.map(|_| "http://[fd00:ec2::254]".to_owned())),
        web: web(it)?,
        role: role(it)?,
    })
}

fn role(it: &Opening) -> Result<Option<Role>, Diagnostic> {
    let nested = it.value("assume_role")?;
    if !nested.is_null() {
        return Ok(Some(Role {
            transitive_tags: members(&nested, "transitive_tag_keys"),
            tags: child(&nested, "tags")
                .map(|it| table_of(&it))
                .unwrap_or_default()
                .into_iter()
                .collect(),
            external_id: member(&nested, "external_id"),
            ..common(&nested)
        }));
    }
    let Some(arn) = it.text("role_arn") else { return Ok(None) };
    Ok(Some(Role {
        arn,
        session: it.text("session_name"),
        external_id: it.text("external_id"),
        seconds: it.whole("assume_role_duration_seconds")?.filter(|it| *it > 0),
        policy: it.text("assume_role_policy"),
        policy_arns: it.texts("assume_role_policy_arns"),
        tags: it.table("assume_role_tags").into_iter().collect(),
        transitive_tags: it.texts("assume_role_transitive_tag_keys"),
    }))
}

fn web(it: &Opening) -> Result<Option<(Role, WebToken)>, Diagnostic> {
    let nested = it.value("assume_role_with_web_identity")?;
    if nested.is_null() {
        return Ok(None);
    }
    let found = |name: &str, variable: &str| {
        member(&nested, name).or_else(|| it.world.variable(variable).map(str::to_owned))
    };
    let needed = |name: &str, variable: &str| {
        let why = format!("{name:?} is required in it, or the environment variable {variable}");
        invalid(KIND.name, "assume_role_with_web_identity", &why)
    };
    let arn =
        found("role_arn", "AWS_ROLE_ARN").ok_or_else(|| needed("role_arn", "AWS_ROLE_ARN"))?;
    let token = found("web_identity_token", "AWS_WEB_IDENTITY_TOKEN").map(WebToken::Text);
    let file =
        || found("web_identity_token_file", "AWS_WEB_IDENTITY_TOKEN_FILE").map(WebToken::File);
    let token = token.or_else(file);
    let token =
        token.ok_or_else(|| needed("web_identity_token_file", "AWS_WEB_IDENTITY_TOKEN_FILE"))?;
    let session = found("session_name", "AWS_ROLE_SESSION_NAME");
    Ok(Some((Role { arn, session, ..common(&nested) }, token)))
}

/// What is set alike for both kinds of roles.
fn common(nested: &Value) -> Role {
    Role {
        arn: member(nested, "role_arn").unwrap_or_default(),
        session: member(nested, "session_name"),
        seconds: member(nested, "duration").and_then(|it| duration(&it)).map(|it| it.as_secs()),
        policy: member(nested, "policy"),
        policy_arns: members(nested, "policy_arns"),
        ..Role::default()
    }
}

/// Returns a member of an object, where it is set.
pub fn child(value: &Value, name: &str) -> Option<Value> {
    let entries = value.entries().into_iter();
    entries.filter(|(key, it)| &**key == name && !it.is_null()).map(|(_, it)| it.clone()).next()
}

/// Returns a member of an object that is a string and not empty.
pub fn member(value: &Value, name: &str) -> Option<String> {
    child(value, name)?.as_str().filter(|it| !it.is_empty()).map(str::to_owned)
}

fn members(value: &Value, name: &str) -> Vec<String> {
    let found = child(value, name).unwrap_or(Value::NULL);
    found.children().filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

fn with_scheme(address: String) -> String {
    match address.contains("://") {
        true => address,
        false => format!("https://{address}"),
    }
}

impl Settings {
    /// Connects to the services: finds the credentials, and asks whose they are unless that is switched off.
    ///
    /// # Errors
    ///
    /// If there are no credentials, or not the right ones.
    pub(super) async fn connect(&self, world: &Arc<World>) -> Result<Parts, Trouble> {
        let client =
            self.route.client(world).map_err(|it| Trouble::Unsent(it.to_string(), false))?;
        let seen = context::context(world, &client, std::collections::BTreeMap::new());
        let seen = context::with_shell(seen, world);
        let tokens = Tokens {
            address: self.addresses.tokens(),
            region: self.addresses.tokens_region().to_owned(),
            client: client.clone(),
            retries: self.retries,
        };
        let finder = Finder {
            identity: self.identity.clone(),
            tokens: tokens.clone(),
            found: Arc::new(Mutex::new(None)),
        };
        self.accounts.check(&tokens, &seen, &finder).await?;
        let way = |service: &str, kind: Aws| Way {
            client: client.clone(),
            signer: Some(finder.signer(&seen, service, &self.addresses.region)),
            retries: self.retries,
            service: Arc::new(kind),
        };
        Ok(Parts {
            bucket: Bucket {
                way: way("s3", Aws::Objects(self.bucket.clone())),
                addresses: self.addresses.clone(),
                name: self.bucket.clone(),
                protection: self.protection.clone(),
                access_list: self.access_list.clone(),
                has_checksums: self.has_checksums,
            },
            table: self.table.as_ref().map(|name| Table {
                way: way("dynamodb", Aws::Table(name.clone())),
                address: self.addresses.table(),
                name: name.clone(),
            }),
            uses_lockfile: self.uses_lockfile,
            state_tags: self.state_tags.clone(),
            lock_tags: self.lock_tags.clone(),
        })
    }
}

impl Accounts {
    async fn check(
        &self,
        tokens: &Tokens,
        seen: &reqsign_core::Context,
        finder: &Finder,
    ) -> Result<(), Trouble> {
        if !self.is_validated && self.allowed.is_empty() && self.forbidden.is_empty() {
            return Ok(());
        }
        let account = tokens.account(seen, finder.clone()).await.map_err(|it| {
            it.context("the credentials cannot be validated (\"skip_credentials_validation\" leaves that out)")
        })?;
        let is_allowed = self.allowed.is_empty() || self.allowed.contains(&account);
        if is_allowed && !self.forbidden.contains(&account) {
            return Ok(());
        }
        let text = format!(
            "the credentials belong to the AWS account {account}, which \"allowed_account_ids\" or \"forbidden_account_ids\" rules out: use \
             those of another account, or mend the list"
        );
        Err(Trouble::Unsent(text, false))
    }
}
