//! Which credentials are used, in the order in which AWS's own tools look for them.

use std::sync::Arc;

use reqsign_aws_v4::{
    Credential, ECSCredentialProvider, EnvCredentialProvider, IMDSv2CredentialProvider,
    ProcessCredentialProvider, RequestSigner, SSOCredentialProvider,
};
use reqsign_core::{Context, Error, ProvideCredential, Result, Signer, SigningCredential};
use tokio::sync::Mutex;

use super::profile::{Profiles, Source};
use super::tokens::{Role, Tokens};
use crate::backend::cloud::Trouble;

/// What the configuration says of credentials.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// Access key and secret key.
    pub keys: Option<(String, String)>,
    /// The token of a session.
    pub token: Option<String>,
    /// The profile.
    pub profile: Option<String>,
    /// The files with profiles, where they are not the usual ones.
    pub config_files: Vec<String>,
    /// The files with credentials, where they are not the usual ones.
    pub credentials_files: Vec<String>,
    /// Whether the machine's own service is never asked, or asked even where the environment says no.
    pub skips_machine: Option<bool>,
    /// The address of the machine's own service.
    pub machine: Option<String>,
    /// A role that is assumed with a token, in the place of what else is found.
    pub web: Option<(Role, WebToken)>,
    /// A role that is assumed in the end.
    pub role: Option<Role>,
}

/// The token of somebody whom AWS trusts.
#[derive(Clone)]
pub enum WebToken {
    /// It stands in the configuration.
    Text(String),
    /// It stands in a file, which is read anew each time.
    File(String),
}

impl std::fmt::Debug for WebToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WebToken::Text(_) => f.write_str("Text"),
            WebToken::File(path) => write!(f, "File({path:?})"),
        }
    }
}

/// Finds the credentials, each time they are needed anew.
#[derive(Clone, Debug)]
pub struct Finder {
    /// What the configuration says.
    pub identity: Arc<Identity>,
    /// The way to STS.
    pub tokens: Tokens,
    /// What was found last, for all services.
    pub found: Arc<Mutex<Option<Credential>>>,
}

impl ProvideCredential for Finder {
    type Credential = Credential;

    async fn provide_credential(&self, context: &Context) -> Result<Option<Credential>> {
        let mut known = self.found.lock().await;
        if let Some(it) = known.as_ref().filter(|it| it.is_valid()) {
            return Ok(Some(it.clone()));
        }
        Ok(Some(known.insert(self.find(context).await?).clone()))
    }
}

impl Finder {
    /// Returns who signs requests to a service.
    pub fn signer(&self, context: &Context, service: &str, region: &str) -> Signer<Credential> {
        let signer = RequestSigner::new(service, region).with_standard_session_token();
        Signer::new(context.clone(), self.clone(), signer)
    }

    async fn find(&self, context: &Context) -> Result<Credential> {
        let found = match &self.identity.web {
            Some((role, token)) => self.exchange(context, role, token).await?,
            None => match self.base(context).await? {
                Some(it) => it,
                None => return Err(none()),
            },
        };
        match &self.identity.role {
            Some(role) => self.tokens.assume(context, role, found).await.map_err(told),
            None => Ok(found),
        }
    }

    async fn base(&self, context: &Context) -> Result<Option<Credential>> {
        let identity = &*self.identity;
        if let Some((access, secret)) = &identity.keys {
            return Ok(Some(key(access, secret, identity.token.as_deref())));
        }
        if let Some(profile) = &identity.profile {
            let profiles = self.profiles(context).await?;
            let source = profiles.source(profile)?;
            let source = source.ok_or_else(|| {
                Error::config_invalid(format!("the profile {profile:?} names no credentials"))
            })?;
            return self.follow(context, &source, profile).await.map(Some);
        }
        if let Some(found) = EnvCredentialProvider::new().provide_credential(context).await? {
            return Ok(Some(found));
        }
        let filled = |name: &str| context.env_var(name).filter(|it| !it.is_empty());
        if let (Some(file), Some(arn)) =
            (filled("AWS_WEB_IDENTITY_TOKEN_FILE"), filled("AWS_ROLE_ARN"))
        {
            let role = Role { arn, session: filled("AWS_ROLE_SESSION_NAME"), ..Role::default() };
            return self.exchange(context, &role, &WebToken::File(file)).await.map(Some);
        }
        let named = filled("AWS_PROFILE").or_else(|| filled("AWS_DEFAULT_PROFILE"));
        let profile = named.clone().unwrap_or_else(|| "default".to_owned());
        let profiles = self.profiles(context).await?;
        if (named.is_some() || profiles.has(&profile))
            && let Some(source) = profiles.source(&profile)?
        {
            return self.follow(context, &source, &profile).await.map(Some);
        }
        if let Some(found) = ECSCredentialProvider::new().provide_credential(context).await? {
            return Ok(Some(found));
        }
        self.machine(context).await
    }

    async fn profiles(&self, context: &Context) -> Result<Profiles> {
        let files = |set: &[String], variables: &[&str], usual: &str| match set {
            [] => {
                let named = variables.iter().find_map(|it| context.env_var(it));
                (vec![named.unwrap_or_else(|| usual.to_owned())], false)
            }
            set => (set.to_vec(), true),
        };
        let identity = &*self.identity;
        let config = files(
            &identity.config_files,
            &["AWS_SHARED_CONFIG_FILE", "AWS_CONFIG_FILE"],
            "~/.aws/config",
        );
        let credentials = files(
            &identity.credentials_files,
            &["AWS_SHARED_CREDENTIALS_FILE"],
            "~/.aws/credentials",
        );
        Profiles::read(context, (&config.0, config.1), (&credentials.0, credentials.1)).await
    }

    async fn follow(
        &self,
        context: &Context,
        source: &Source,
        profile: &str,
    ) -> Result<Credential> {
        match source {
            Source::Keys(access, secret, token) => Ok(key(access, secret, token.as_deref())),
            Source::SignOn { account, region, role, cached } => {
                let portal = SSOCredentialProvider::new()
                    .with_account_id(account)
                    .with_region(region)
                    .with_role_name(role)
                    // The token's file is named for the session, or for the portal where there is none.
                    .with_start_url(cached);
                let found = portal.provide_credential(context).await;
                let again = format!("log in with \"aws sso login --profile {profile}\"");
                let found =
                    found.map_err(|it| Error::credential_invalid(format!("{it}: {again}")))?;
                found.ok_or_else(|| {
                    let text =
                        format!("the session of the profile {profile:?} has expired: {again}");
                    Error::credential_invalid(text)
                })
            }
            Source::Program(command) => {
                let program = ProcessCredentialProvider::new().with_command(command);
                program.provide_credential(context).await?.ok_or_else(none)
            }
            Source::Token { role, session, file } => {
                let role = Role { arn: role.clone(), session: session.clone(), ..Role::default() };
                self.exchange(context, &role, &WebToken::File(file.clone())).await
            }
            Source::Machine(machine) => {
                let found = match &**machine {
                    "Environment" => {
                        EnvCredentialProvider::new().provide_credential(context).await?
                    }
                    "EcsContainer" => {
                        ECSCredentialProvider::new().provide_credential(context).await?
                    }
                    _ => self.machine(context).await?,
                };
                found.ok_or_else(none)
            }
            Source::Role { role, with } => {
                let with = Box::pin(self.follow(context, with, profile)).await?;
                let role = Role {
                    arn: role.arn.clone(),
                    session: role.session.clone(),
                    external_id: role.external_id.clone(),
                    seconds: role.seconds.map(u64::from),
                    ..Role::default()
                };
                self.tokens.assume(context, &role, with).await.map_err(told)
            }
        }
    }

    async fn exchange(
        &self,
        context: &Context,
        role: &Role,
        token: &WebToken,
    ) -> Result<Credential> {
        let token = match token {
            WebToken::Text(text) => text.clone(),
            WebToken::File(path) => context.file_read_as_string(path).await?,
        };
        self.tokens.exchange(role, &token).await.map_err(told)
    }

    /// Asks the machine's own service, which is not there on most machines.
    async fn machine(&self, context: &Context) -> Result<Option<Credential>> {
        let disabled = context.env_var("AWS_EC2_METADATA_DISABLED");
        let is_disabled = disabled.is_some_and(|it| it.eq_ignore_ascii_case("true"));
        if self.identity.skips_machine.unwrap_or(is_disabled) {
            return Ok(None);
        }
        let mut machine = IMDSv2CredentialProvider::new();
        if let Some(address) = &self.identity.machine {
            machine = machine.with_endpoint(address.trim_end_matches('/'));
        }
        Ok(machine.provide_credential(context).await.unwrap_or(None))
    }
}

fn key(access: &str, secret: &str, token: Option<&str>) -> Credential {
    Credential {
        access_key_id: access.to_owned(),
        secret_access_key: secret.to_owned(),
        session_token: token.map(str::to_owned),
        expires_in: None,
    }
}

/// Nobody has said which credentials to use.
fn none() -> Error {
    Error::credential_invalid(
        "none were found. Set \"profile\", or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or log in with AWS's own tools; on a machine of \
         AWS give it a role",
    )
}

fn told(it: Trouble) -> Error {
    Error::credential_invalid(it.to_string()).set_retryable(it.is_transient())
}
