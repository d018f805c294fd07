//! How services of AWS are reached, and as whom: what S3, DynamoDB and KMS have in common.

use std::path::PathBuf;
use std::sync::Arc;

use reqsign_aws_v4::Credential;
use reqsign_core::Context;
use reqwest::Client;
use tokio::sync::Mutex;

use super::address::Addresses;
use super::checks::duration;
use super::identity::{Finder, Identity, WebToken};
use super::service::Aws;
use super::tokens::{Role, Tokens};
use crate::backend::cloud::{Route, Trouble, Way, context};
use crate::backend::opening::{Opening, table_of};
use crate::backend::shape::{Setting, text, text_map, text_set};
use crate::diagnostic::Diagnostic;
use crate::value::Value;
use crate::world::World;

/// The members of `assume_role`.
pub const ROLE: &[Setting] = &[
    text("duration"),
    text("external_id"),
    text("policy"),
    text_set("policy_arns"),
    text("role_arn").required(),
    text("session_name"),
    text_map("tags"),
    text_set("transitive_tag_keys"),
];

/// The members of `assume_role_with_web_identity`.
pub const WEB_IDENTITY: &[Setting] = &[
    text("duration"),
    text("policy"),
    text_set("policy_arns"),
    text("role_arn"),
    text("session_name"),
    text("web_identity_token").sensitive(),
    text("web_identity_token_file"),
];

/// What the configuration says of all services.
#[derive(Debug)]
pub struct Access {
    /// Where they are.
    pub addresses: Addresses,
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

/// The way to all services, with credentials.
#[derive(Debug)]
pub struct Connected {
    client: Client,
    seen: Context,
    finder: Finder,
    region: String,
    retries: u32,
}

impl Access {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// If an argument makes no sense.
    pub fn read(it: &Opening) -> Result<Access, Diagnostic> {
        let given = |name: &str| it.text(name);
        let is_on = |name: &str| it.flag(name).map(|it| it == Some(true));
        let is_path_style = ["use_path_style", "force_path_style"].into_iter();
        let is_path_style = is_path_style.filter(|name| it.has(name)).map(is_on);
        let is_path_style = is_path_style.collect::<Result<Vec<_>, _>>()?.contains(&true);
        let addresses = Addresses {
            region: given("region").unwrap_or_default(),
            sts_region: given("sts_region"),
            s3: endpoint(it, "s3", "endpoint", &["AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT"]),
            dynamodb: endpoint(
                it,
                "dynamodb",
                "dynamodb_endpoint",
                &["AWS_ENDPOINT_URL_DYNAMODB", "AWS_DYNAMODB_ENDPOINT"],
            ),
            sts: endpoint(it, "sts", "sts_endpoint", &["AWS_ENDPOINT_URL_STS", "AWS_STS_ENDPOINT"]),
            kms: endpoint(it, "kms", "kms_endpoint", &["AWS_ENDPOINT_URL_KMS"]),
            is_path_style,
            is_fips: is_on("use_fips_endpoint")?,
            is_dual_stack: is_on("use_dualstack_endpoint")?,
        };
        Ok(Access {
            addresses,
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

    /// Finds the credentials, and asks whose they are unless that is switched off.
    ///
    /// # Errors
    ///
    /// If there are no credentials, or not the right ones.
    pub async fn connect(&self, world: &Arc<World>) -> Result<Connected, Trouble> {
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
        let region = self.addresses.region.clone();
        Ok(Connected { client, seen, finder, region, retries: self.retries })
    }
}

impl Connected {
    /// Returns the way to one service.
    pub fn way(&self, service: &str, kind: Aws) -> Way<Credential> {
        Way {
            client: self.client.clone(),
            signer: Some(self.finder.signer(&self.seen, service, &self.region)),
            retries: self.retries,
            service: Arc::new(kind),
        }
    }
}

/// Returns the address of a service, where it is not the usual one.
fn endpoint(it: &Opening, service: &str, old: &str, variables: &[&str]) -> Option<String> {
    let new = it.value("endpoints").ok().and_then(|it| member(&it, service));
    let set = new.or_else(|| it.has(old).then(|| it.text(old)).flatten());
    let variables = variables.iter().chain(&["AWS_ENDPOINT_URL"]);
    let named = variables.filter_map(|name| it.world.variable(name)).next();
    set.or_else(|| named.map(str::to_owned)).map(with_scheme)
}

fn identity(it: &Opening) -> Result<Identity, Diagnostic> {
    let given = |name: &str| it.text(name);
    let has_single = it.has("shared_credentials_file");
    let single = has_single.then(|| given("shared_credentials_file")).flatten();
    let several = it.texts("shared_credentials_files");
    let mode = given("ec2_metadata_service_endpoint_mode");
    let six = mode.filter(|it| it.eq_ignore_ascii_case("ipv6"));
    Ok(Identity {
        keys: given("access_key").zip(given("secret_key")),
        token: given("token"),
        profile: given("profile"),
        config_files: it.texts("shared_config_files"),
        credentials_files: if several.is_empty() { single.into_iter().collect() } else { several },
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
    if !it.has("role_arn") {
        return Ok(None);
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
        it.invalid("assume_role_with_web_identity", &why)
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

impl Accounts {
    async fn check(&self, tokens: &Tokens, seen: &Context, finder: &Finder) -> Result<(), Trouble> {
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
