//! AWS STS: roles that are assumed, and whom credentials belong to.

use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use reqsign_aws_v4::{Credential, RequestSigner};
use reqsign_core::{Context, ProvideCredential, Result, Signer};
use reqwest::Client;
use serde::Deserialize;

use super::service::Aws;
use crate::backend::cloud::{Ask, Trouble, Way};

/// The way to STS.
#[derive(Clone, Debug)]
pub struct Tokens {
    /// Its address.
    pub address: String,
    /// The region that requests are signed for.
    pub region: String,
    /// What requests go through.
    pub client: Client,
    /// How often an attempt is repeated.
    pub retries: u32,
}

/// A role, and what its session shall be like.
#[derive(Clone, Debug, Default)]
pub struct Role {
    /// The role.
    pub arn: String,
    /// The session's name.
    pub session: Option<String>,
    /// What the role's owner wants to hear.
    pub external_id: Option<String>,
    /// How long the session lasts.
    pub seconds: Option<u64>,
    /// A policy that narrows the session down.
    pub policy: Option<String>,
    /// Policies that narrow the session down.
    pub policy_arns: Vec<String>,
    /// Tags of the session.
    pub tags: Vec<(String, String)>,
    /// The keys of tags that pass on to further sessions.
    pub transitive_tags: Vec<String>,
}

#[derive(Deserialize)]
struct Assumed {
    #[serde(alias = "AssumeRoleResult", alias = "AssumeRoleWithWebIdentityResult")]
    result: Session,
}

#[derive(Deserialize)]
struct Session {
    #[serde(rename = "Credentials")]
    credentials: Keys,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Keys {
    access_key_id: String,
    secret_access_key: String,
    session_token: String,
    expiration: String,
}

#[derive(Deserialize)]
struct Identified {
    #[serde(rename = "GetCallerIdentityResult")]
    result: Caller,
}

#[derive(Deserialize)]
struct Caller {
    #[serde(rename = "Account")]
    account: String,
}

/// Gives credentials that are known already.
#[derive(Clone, Debug)]
pub struct Known(pub Credential);

impl ProvideCredential for Known {
    type Credential = Credential;

    async fn provide_credential(&self, _: &Context) -> Result<Option<Credential>> {
        Ok(Some(self.0.clone()))
    }
}

impl Tokens {
    async fn ask(
        &self,
        form: &[(String, String)],
        signer: Option<Signer<Credential>>,
    ) -> std::result::Result<Bytes, Trouble> {
        let mut body = url_encoded(form);
        body.push_str("&Version=2011-06-15");
        let way = Way {
            client: self.client.clone(),
            signer,
            retries: self.retries,
            service: Arc::new(Aws::Tokens),
        };
        let body = Bytes::from(body);
        let ask = Ask::new(Method::POST, self.address.clone())
            .header("content-type", "application/x-www-form-urlencoded; charset=utf-8")
            .header("x-amz-content-sha256", super::objects::sha256_hex(&body))
            .body(body);
        Ok(way.demand(&ask).await?.body)
    }

    fn signer(
        &self,
        context: &Context,
        with: impl ProvideCredential<Credential = Credential>,
    ) -> Signer<Credential> {
        let signer = RequestSigner::new("sts", &self.region).with_standard_session_token();
        Signer::new(context.clone(), with, signer)
    }

    /// Assumes a role with other credentials.
    ///
    /// # Errors
    ///
    /// If STS does not give it.
    pub async fn assume(
        &self,
        context: &Context,
        role: &Role,
        with: Credential,
    ) -> std::result::Result<Credential, Trouble> {
        let mut form = vec![("Action".to_owned(), "AssumeRole".to_owned())];
        form.extend(role.form());
        let body = self.ask(&form, Some(self.signer(context, Known(with)))).await;
        keys(&body.map_err(|it| it.context(format!("the role {} cannot be assumed", role.arn)))?)
    }

    /// Assumes a role with a token of somebody whom AWS trusts.
    ///
    /// # Errors
    ///
    /// If STS does not give it.
    pub async fn exchange(
        &self,
        role: &Role,
        token: &str,
    ) -> std::result::Result<Credential, Trouble> {
        let mut form = vec![("Action".to_owned(), "AssumeRoleWithWebIdentity".to_owned())];
        form.extend(role.form());
        form.push(("WebIdentityToken".to_owned(), token.trim().to_owned()));
        let body = self.ask(&form, None).await;
        keys(&body.map_err(|it| {
            it.context(format!("the role {} cannot be assumed with the token", role.arn))
        })?)
    }

    /// Returns the account that credentials belong to.
    ///
    /// # Errors
    ///
    /// If STS does not know them.
    pub async fn account(
        &self,
        context: &Context,
        with: impl ProvideCredential<Credential = Credential>,
    ) -> std::result::Result<String, Trouble> {
        let form = [("Action".to_owned(), "GetCallerIdentity".to_owned())];
        let body = self.ask(&form, Some(self.signer(context, with))).await?;
        let read: Identified = quick_xml::de::from_reader(&*body).map_err(|_| strange())?;
        Ok(read.result.account)
    }
}

impl Role {
    fn form(&self) -> Vec<(String, String)> {
        let session = || format!("entail-{}", std::process::id());
        let mut form = vec![
            ("RoleArn".to_owned(), self.arn.clone()),
            ("RoleSessionName".to_owned(), self.session.clone().unwrap_or_else(session)),
        ];
        let mut add = |name: String, value: &str| form.push((name, value.to_owned()));
        if let Some(seconds) = self.seconds {
            add("DurationSeconds".into(), &seconds.to_string());
        }
        if let Some(id) = &self.external_id {
            add("ExternalId".into(), id);
        }
        if let Some(policy) = &self.policy {
            add("Policy".into(), policy.trim());
        }
        for (at, arn) in self.policy_arns.iter().enumerate() {
            add(format!("PolicyArns.member.{}.arn", at + 1), arn);
        }
        for (at, (key, value)) in self.tags.iter().enumerate() {
            add(format!("Tags.member.{}.Key", at + 1), key);
            add(format!("Tags.member.{}.Value", at + 1), value);
        }
        for (at, key) in self.transitive_tags.iter().enumerate() {
            add(format!("TransitiveTagKeys.member.{}", at + 1), key);
        }
        form
    }
}

/// Writes a form as the body of a request.
pub fn url_encoded(form: &[(String, String)]) -> String {
    let escaped = |it: &str| super::address::escaped(it, false);
    let pairs: Vec<String> =
        form.iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(value))).collect();
    pairs.join("&")
}

fn keys(body: &[u8]) -> std::result::Result<Credential, Trouble> {
    let read: Assumed = quick_xml::de::from_reader(body).map_err(|_| strange())?;
    let keys = read.result.credentials;
    let until = keys.expiration.parse().map_err(|_| strange())?;
    Ok(Credential {
        access_key_id: keys.access_key_id,
        secret_access_key: keys.secret_access_key,
        session_token: Some(keys.session_token),
        expires_in: Some(until),
    })
}

/// STS answers with something that is none of its answers.
fn strange() -> Trouble {
    let text = "AWS STS answers with something that cannot be read: check the endpoint for STS.";
    Trouble::denied(200, "", text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_sts_are_read() {
        let body = "<AssumeRoleResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleResult><AssumedRoleUser><Arn>a</Arn>\
                    </AssumedRoleUser><Credentials><AccessKeyId>A</AccessKeyId><SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken>\
                    <Expiration>2035-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>";
        let credential = keys(body.as_bytes()).expect("credentials");
        assert_eq!(
            (&*credential.access_key_id, credential.session_token.as_deref()),
            ("A", Some("T"))
        );
        assert!(keys(b"<html/>").is_err());
    }

    #[test]
    fn a_role_is_asked_for_with_all_that_is_set() {
        let role = Role {
            arn: "arn".into(),
            session: Some("s".into()),
            seconds: Some(900),
            policy_arns: vec!["p".into()],
            tags: vec![("k".into(), "a b&c".into())],
            transitive_tags: vec!["k".into()],
            ..Role::default()
        };
        assert_eq!(
            url_encoded(&role.form()),
            "RoleArn=arn&RoleSessionName=s&DurationSeconds=900&PolicyArns.member.1.arn=p&Tags.member.1.Key=k&Tags.member.1.Value=a%20b%26c&\
             TransitiveTagKeys.member.1=k"
        );
    }
}
