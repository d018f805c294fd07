//! Profiles in the files that all tools of AWS share: which credentials one names, directly or through another one.

use std::collections::BTreeMap;

use reqsign_core::{Context, Error, Result};

/// The settings of all profiles, by name.
#[derive(Debug, Default)]
pub struct Profiles {
    profiles: BTreeMap<String, Section>,
    sessions: BTreeMap<String, Section>,
}

type Section = BTreeMap<String, String>;

/// Where a profile says credentials are.
#[derive(Debug, PartialEq, Eq)]
pub enum Source {
    /// Access key, secret key, session token.
    Keys(String, String, Option<String>),
    /// A portal for single sign-on: account, region, role, and what its token is cached under.
    SignOn { account: String, region: String, role: String, cached: String },
    /// A program that prints them.
    Program(String),
    /// A token in a file, exchanged for a role's credentials.
    Token { role: String, session: Option<String>, file: String },
    /// `Environment`, `EcsContainer` or `Ec2InstanceMetadata`.
    Machine(String),
    /// A role that is assumed with other credentials.
    Role { role: AssumedRole, with: Box<Source> },
}

/// What a profile says of a role.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AssumedRole {
    /// The role.
    pub arn: String,
    /// The session's name.
    pub session: Option<String>,
    /// What the role's owner wants to hear.
    pub external_id: Option<String>,
    /// How long the session lasts.
    pub seconds: Option<u32>,
}

impl Profiles {
    /// Reads the files, of which later ones win. Files that are not there say nothing.
    ///
    /// # Errors
    ///
    /// If a file that the configuration names is not there.
    pub async fn read(
        context: &Context,
        (config, is_config_named): (&[String], bool),
        (credentials, is_credentials_named): (&[String], bool),
    ) -> Result<Profiles> {
        let mut all = Profiles::default();
        let files = config.iter().map(|it| (it, is_config_named, false));
        let files = files.chain(credentials.iter().map(|it| (it, is_credentials_named, true)));
        for (path, is_named, is_of_credentials) in files {
            let Some(path) = context.expand_home_dir(path) else { continue };
            match context.file_read(&path).await {
                Ok(text) => all.add(&String::from_utf8_lossy(&text), is_of_credentials),
                Err(_) if !is_named => (),
                Err(why) => {
                    return Err(Error::config_invalid(format!("{path} cannot be read: {why}")));
                }
            }
        }
        Ok(all)
    }

    fn add(&mut self, text: &str, is_of_credentials: bool) {
        let mut section: Option<&mut Section> = None;
        for line in text.lines() {
            let plain = line.trim_end();
            let is_nested = plain.starts_with([' ', '\t']);
            if plain.is_empty() || is_nested || plain.starts_with(['#', ';']) {
                continue;
            }
            if let Some(header) = plain.strip_prefix('[').and_then(|it| it.split(']').next()) {
                section = self.section(header.trim(), is_of_credentials);
            } else if let Some((name, value)) = plain.split_once('=')
                && let Some(section) = &mut section
            {
                let value = value.split(" #").next().unwrap_or_default();
                let value = value.split(" ;").next().unwrap_or_default().trim();
                section.insert(name.trim().to_ascii_lowercase(), value.to_owned());
            }
        }
    }

    fn section(&mut self, header: &str, is_of_credentials: bool) -> Option<&mut Section> {
        let (kind, name) = header.split_once(char::is_whitespace).unwrap_or(("", header));
        let name = name.trim().trim_matches(['"', '\'']).to_owned();
        match kind {
            "profile" if !is_of_credentials => Some(self.profiles.entry(name).or_default()),
            "sso-session" => Some(self.sessions.entry(name).or_default()),
            "" if is_of_credentials || name == "default" => {
                Some(self.profiles.entry(name).or_default())
            }
            _ => None,
        }
    }

    /// Whether there is a profile of this name.
    pub fn has(&self, name: &str) -> bool {
        self.profiles.contains_key(name)
    }

    /// Returns where a profile says credentials are; nothing where it says nothing of that.
    ///
    /// # Errors
    ///
    /// If it says so in a way that leads nowhere.
    pub fn source(&self, name: &str) -> Result<Option<Source>> {
        self.follow(name, &mut Vec::new())
    }

    fn follow<'a>(&'a self, name: &'a str, passed: &mut Vec<&'a str>) -> Result<Option<Source>> {
        let Some(profile) = self.profiles.get(name) else {
            return Err(wrong(name, "there is no such profile in the files of AWS"));
        };
        let text = |key: &str| profile.get(key).filter(|it| !it.is_empty());
        let Some(role) = text("role_arn") else { return self.direct(name, profile) };
        if let Some(file) = text("web_identity_token_file") {
            let session = text("role_session_name").cloned();
            return Ok(Some(Source::Token { role: role.clone(), session, file: file.clone() }));
        }
        if text("mfa_serial").is_some() {
            let why = "its role asks for a code of a device (mfa_serial), which nobody can be asked for here: log in with another tool, and \
                       use the session's credentials";
            return Err(wrong(name, why));
        }
        let with = match (text("source_profile"), text("credential_source")) {
            // A profile that names itself means its own keys.
            (Some(other), _) if other == name => self.direct(name, profile)?,
            (Some(other), _) if passed.contains(&&**other) => {
                return Err(wrong(name, "its source_profile leads back to itself"));
            }
            (Some(other), _) => {
                passed.push(name);
                self.follow(other, passed)?
            }
            (None, Some(machine)) => Some(Source::Machine(machine.clone())),
            (None, None) => {
                return Err(wrong(
                    name,
                    "its role_arn has neither source_profile nor credential_source",
                ));
            }
        };
        let with = with.ok_or_else(|| {
            wrong(name, "the profile that its role is assumed with has no credentials")
        })?;
        let role = AssumedRole {
            arn: role.clone(),
            session: text("role_session_name").cloned(),
            external_id: text("external_id").cloned(),
            seconds: text("duration_seconds").and_then(|it| it.parse().ok()),
        };
        Ok(Some(Source::Role { role, with: Box::new(with) }))
    }

    /// What a profile says without another one.
    fn direct(&self, name: &str, profile: &Section) -> Result<Option<Source>> {
        let text = |key: &str| profile.get(key).filter(|it| !it.is_empty()).cloned();
        if let (Some(access), Some(secret)) =
            (text("aws_access_key_id"), text("aws_secret_access_key"))
        {
            return Ok(Some(Source::Keys(access, secret, text("aws_session_token"))));
        }
        if let (Some(account), Some(role)) = (text("sso_account_id"), text("sso_role_name")) {
            let session = text("sso_session");
            let shared = session.as_ref().and_then(|it| self.sessions.get(it));
            let common = |key: &str| text(key).or_else(|| shared?.get(key).cloned());
            let cached = session.clone().or_else(|| text("sso_start_url"));
            return match (common("sso_region"), cached) {
                (Some(region), Some(cached)) => {
                    Ok(Some(Source::SignOn { account, region, role, cached }))
                }
                _ => Err(wrong(
                    name,
                    "its single sign-on has no sso_region, or neither sso_session nor sso_start_url",
                )),
            };
        }
        Ok(text("credential_process").map(Source::Program))
    }
}

fn wrong(profile: &str, why: &str) -> Error {
    Error::config_invalid(format!("the profile {profile:?} cannot be used: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profiles(config: &str, credentials: &str) -> Profiles {
        let mut all = Profiles::default();
        all.add(config, false);
        all.add(credentials, true);
        all
    }

    #[test]
    fn a_role_is_assumed_with_what_another_profile_says() {
        let all = profiles(
            "[default]\nregion = x\ns3 =\n  max_concurrent_requests = 20\n[profile prod]\nrole_arn = arn:role\nsource_profile=base # here\n\
             external_id = e\nduration_seconds = 900\n",
            "[base]\naws_access_key_id = A\naws_secret_access_key = S\n",
        );
        let role = AssumedRole {
            arn: "arn:role".into(),
            external_id: Some("e".into()),
            seconds: Some(900),
            ..AssumedRole::default()
        };
        let with = Box::new(Source::Keys("A".into(), "S".into(), None));
        assert_eq!(all.source("prod").expect("a profile"), Some(Source::Role { role, with }));
        assert_eq!(all.source("default").expect("a profile"), None);
    }

    #[test]
    fn single_sign_on_has_a_session_of_its_own_or_not() {
        let all = profiles(
            "[sso-session corp]\nsso_region = eu-west-1\nsso_start_url = https://corp\n[profile a]\nsso_session = corp\nsso_account_id = 1\n\
             sso_role_name = R\n[profile b]\nsso_start_url = https://old\nsso_region = us-east-1\nsso_account_id = 1\nsso_role_name = R\n",
            "",
        );
        let expected = |region: &str, cached: &str| {
            let (account, role) = ("1".to_owned(), "R".to_owned());
            Some(Source::SignOn { account, region: region.into(), role, cached: cached.into() })
        };
        assert_eq!(all.source("a").expect("a profile"), expected("eu-west-1", "corp"));
        assert_eq!(all.source("b").expect("a profile"), expected("us-east-1", "https://old"));
    }

    #[test]
    fn what_leads_nowhere_is_told() {
        let all = profiles(
            "[profile a]\nrole_arn = r\nsource_profile = b\n[profile b]\nrole_arn = r\nsource_profile = a\n[profile c]\nrole_arn = r\n\
             [profile d]\nrole_arn = r\nsource_profile = a\nmfa_serial = m\n[profile e]\nsso_account_id = 1\nsso_role_name = R\n",
            "",
        );
        for (name, why) in [
            ("a", "leads back"),
            ("c", "neither source_profile"),
            ("d", "mfa_serial"),
            ("e", "no sso_region"),
            ("f", "no such profile"),
        ] {
            let error = all.source(name).expect_err(name).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
