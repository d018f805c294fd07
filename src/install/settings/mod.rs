//! The CLI configuration: `.tofurc`, `.terraformrc`, `TF_CLI_CONFIG_FILE`, and what the environment adds.
//!
//! A problem here never ends a command: what could be read is used, and the problems are told.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::error::Error;
use crate::install::secure::is_secure;
use crate::world::{Files, World};

mod hcl;
pub mod installation;
pub mod logins;
mod places;
pub mod policies;
#[cfg(test)]
mod tests;

use hcl::{Item, Object, Setting};
use installation::{Installation, find};
use logins::Logins;
pub use places::{config_folder, data_folders, only_file, user_folders};
use policies::PolicyBlocks;

/// What the user set for this computer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// `plugin_cache_dir`: a folder of packages that all configurations share.
    pub cache: Option<PathBuf>,
    /// `plugin_cache_may_break_dependency_lock_file`
    pub cache_may_break_lock: bool,
    /// `host "name" { services = { … } }`: services that are not asked for, by host; what a host would say of each.
    pub hosts: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
    /// `credentials "host" { token = … }`
    pub credentials: BTreeMap<String, Token>,
    /// `credentials_helper "name" { args = […] }`
    pub helpers: BTreeMap<String, Vec<String>>,
    /// `provider_installation`; more than one is an error, and the first counts.
    pub installations: Vec<Installation>,
    /// `registry_protocols { retry_count = … }`
    pub retries: Option<u32>,
    /// `registry_protocols { request_timeout_seconds = … }`
    pub timeout: Option<u64>,
    /// `oci_credentials` and `oci_default_credentials`
    pub logins: Logins,
    /// `policies "name" { source = … }`
    pub policies: PolicyBlocks,
    /// What is wrong with the files.
    pub problems: Diagnostics,
}

/// A secret that opens a host. It prints as nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    scheme: &'static str,
    secret: String,
    /// The one origin that may see it; any where there is none.
    origin: Option<String>,
}

impl Token {
    /// Wraps a secret.
    pub fn new(text: impl Into<String>) -> Token {
        Token { scheme: "Bearer", secret: text.into(), origin: None }
    }

    /// Returns a user's name and password as one secret.
    pub fn login(user: &str, password: &str) -> Token {
        let secret = STANDARD.encode(format!("{user}:{password}"));
        Token { scheme: "Basic", secret, origin: None }
    }

    /// Returns the secret.
    pub fn reveal(&self) -> &str {
        &self.secret
    }

    /// Returns the same secret for requests to the origin of this address alone.
    pub fn only_for(self, address: &Url) -> Token {
        Token { origin: Some(origin(address)), ..self }
    }

    /// Returns why a request to this address must not show the secret, if it must not.
    pub fn withheld_from(&self, address: &Url) -> Option<&'static str> {
        if !is_secure(address) {
            return Some("the address is not secure: it must be of https");
        }
        let is_elsewhere = self.origin.as_ref().is_some_and(|it| *it != origin(address));
        is_elsewhere.then_some("its service discovery was redirected to another origin")
    }

    /// Checks that a request can hold the secret.
    ///
    /// # Errors
    ///
    /// If it contains a control character, or has more than 64 KiB.
    pub fn check_sendable(&self) -> Result<(), Error> {
        /// The most bytes of a secret: servers accept headers of 8 to 64 KiB.
        const LARGEST: usize = 64 << 10;
        if self.secret.contains(char::is_control) {
            return Err(
                "it holds a control character, such as a line end, which no request can hold"
                    .into(),
            );
        }
        if self.secret.len() > LARGEST {
            return Err("it has more than 64 KiB, which no server accepts".into());
        }
        Ok(())
    }

    /// Returns what a request says to be let in.
    pub fn authorization(&self) -> String {
        format!("{} {}", self.scheme, self.secret)
    }
}

fn origin(address: &Url) -> String {
    address.origin().ascii_serialization()
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(a token)")
    }
}

impl Settings {
    /// Returns the settings of a world, which are read once.
    pub fn of(world: &World) -> Arc<Settings> {
        world.once(Settings::read)
    }

    /// Reads the files and the environment.
    fn read(world: &World) -> Settings {
        let mut problems = Diagnostics::new();
        let mut settings = Settings::default();
        for file in places::files(world, &mut problems) {
            let read =
                world.files.read_text(&file).map_err(|it| unreadable(&file, &it.to_string()));
            let Some(text) = problems.take(read) else { continue };
            settings.add(&file, &text, world, &mut problems);
        }
        settings.add_environment(world);
        settings.check(&world.files, &mut problems);
        Settings { problems, ..settings }
    }

    /// Returns the folder whose plugin is used for a provider as it is.
    pub fn overrides(&self) -> BTreeMap<crate::address::Provider, PathBuf> {
        self.installations.first().map(|it| it.overrides.clone()).unwrap_or_default()
    }

    /// How often a request to a registry is tried again.
    pub fn request_retries(&self) -> u32 {
        self.retries.unwrap_or(1)
    }

    /// How long a registry may take to answer.
    pub fn request_timeout(&self) -> Duration {
        Duration::from_secs(self.timeout.unwrap_or(10))
    }

    /// Returns the token for a host: the environment's, else the files'.
    pub fn token(&self, world: &World, host: &str) -> Option<Token> {
        token_variable(world, host)
            .map(|it| Token::new(it.1))
            .or_else(|| self.credentials.get(&host.to_lowercase()).cloned())
    }

    fn add(&mut self, file: &Path, text: &str, world: &World, problems: &mut Diagnostics) {
        let is_json = text.trim_start().starts_with('{');
        let object = match hcl::parse(text) {
            Ok(object) => object,
            Err(why) => {
                self.policies.note_unparsable(file, text);
                return problems.push(unparsable(file, &why));
            }
        };
        for item in &object.0 {
            match item.keys[0].as_str() {
                "plugin_cache_dir" => match &item.value {
                    Setting::Text(text) if !text.is_empty() => {
                        self.cache = Some(expand(text, world).into());
                    }
                    Setting::Text(_) => {}
                    _ => {
                        problems.push(unparsable(file, &"plugin_cache_dir must be a string".into()))
                    }
                },
                "plugin_cache_may_break_dependency_lock_file" => {
                    self.cache_may_break_lock |= item.value == Setting::Bool(true);
                }
                "host" => self.add_host(item),
                "credentials" => self.add_credentials(item),
                "credentials_helper" => self.add_helper(item),
                "provider_installation" => {
                    self.installations.extend(installation::read(item, is_json, problems));
                }
                "registry_protocols" => self.add_protocols(item, problems),
                "policies" => self.policies.add(file, item),
                "oci_credentials" => self.logins.add(item, problems),
                "oci_default_credentials" => self.logins.add_default(file, item, problems),
                // Settings of other programs and of other times are let be.
                _ => {}
            }
        }
    }

    fn add_host(&mut self, item: &Item) {
        for (name, body) in labelled(item) {
            let Some(Setting::Object(services)) = find(body, "services") else { continue };
            let named = services.0.iter().map(|it| (it.keys[0].clone(), it.value.json()));
            self.hosts.insert(name.to_lowercase(), named.collect());
        }
    }

    fn add_credentials(&mut self, item: &Item) {
        for (name, body) in labelled(item) {
            if let Some(Setting::Text(token)) = find(body, "token") {
                self.credentials.insert(name.to_lowercase(), Token::new(token));
            }
        }
    }

    fn add_helper(&mut self, item: &Item) {
        for (name, body) in labelled(item) {
            let arguments = match find(body, "args") {
                Some(Setting::List(items)) => items
                    .iter()
                    .filter_map(|it| match it {
                        Setting::Text(it) => Some(it.clone()),
                        _ => None,
                    })
                    .collect(),
                _ => Vec::new(),
            };
            self.helpers.insert(name, arguments);
        }
    }

    fn add_protocols(&mut self, item: &Item, problems: &mut Diagnostics) {
        let Setting::Object(body) = &item.value else {
            problems.push(Diagnostic::error("Invalid registry_protocols block").detail(format!(
                "The registry_protocols item at {} must have an open brace after the block type.",
                item.place()
            )));
            return;
        };
        let number = |name: &str| match find(body, name) {
            Some(Setting::Number(it)) => it.parse().ok(),
            _ => None,
        };
        self.retries = number("retry_count").map(|it: u64| it.min(1000) as u32).or(self.retries);
        self.timeout = number("request_timeout_seconds").or(self.timeout);
    }

    fn add_environment(&mut self, world: &World) {
        if let Some(folder) = world.variable("TF_PLUGIN_CACHE_DIR") {
            self.cache = Some(folder.into());
        }
        let breaks = world.variable("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE");
        self.cache_may_break_lock |= breaks.is_some_and(|it| it != "0");
        let number = |name: &str| world.variable(name)?.parse::<u32>().ok().filter(|it| *it > 0);
        self.retries = number("TF_REGISTRY_DISCOVERY_RETRY").or(self.retries);
        self.timeout = number("TF_REGISTRY_CLIENT_TIMEOUT").map(u64::from).or(self.timeout);
    }

    fn check(&self, files: &Files, problems: &mut Diagnostics) {
        for (kind, hosts) in [
            ("host", self.hosts.keys().collect::<Vec<_>>()),
            ("credentials", self.credentials.keys().collect()),
        ] {
            for host in hosts.into_iter().filter(|it| !is_host(it)) {
                problems
                    .push(problem(format!("The {kind} {host:?} block has an invalid hostname.")));
            }
        }
        if self.helpers.len() > 1 {
            problems.push(problem("No more than one credentials_helper block may be specified"));
        }
        if self.installations.len() > 1 {
            problems.push(problem("No more than one provider_installation block may be specified"));
        }
        if let Some(folder) = &self.cache
            && let Err(error) = files.kind(folder)
        {
            problems.push(problem(format!(
                "The specified plugin cache dir {} cannot be opened: {error}",
                folder.display()
            )));
        }
    }
}

/// Returns the variable of the environment that holds a token for a host, with the token.
pub fn token_variable<'w>(world: &'w World, host: &str) -> Option<(&'w str, &'w str)> {
    // A dot may be an underscore in a variable's name, and a dash two of them; names of other scripts are in punycode.
    let fits = |name: &str| {
        let Some(rest) = name.strip_prefix("TF_TOKEN_") else { return false };
        let spelled = rest.replace("__", "-").replace('_', ".");
        spelled.eq_ignore_ascii_case(host) || rest.eq_ignore_ascii_case(host)
    };
    let given = world.environment.iter().find(|it| fits(it.0) && !it.1.is_empty());
    given.map(|it| (it.0.as_str(), it.1.as_str()))
}

/// The bodies of blocks with a label; in JSON the label is a level of its own.
fn labelled(item: &Item) -> Vec<(String, &Object)> {
    let Setting::Object(body) = &item.value else { return Vec::new() };
    match &item.keys[..] {
        [_, label] => vec![(label.clone(), body)],
        [_] => body
            .0
            .iter()
            .filter_map(|it| match &it.value {
                Setting::Object(inner) => Some((it.keys[0].clone(), inner)),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn is_host(text: &str) -> bool {
    let (name, port) = text.split_once(':').map_or((text, None), |it| (it.0, Some(it.1)));
    let is_label = |it: &str| {
        !it.is_empty()
            && it.chars().all(|it| it.is_alphanumeric() || it == '-')
            && !it.starts_with('-')
            && !it.ends_with('-')
    };
    name.split('.').all(is_label) && port.is_none_or(|it| it.parse::<u16>().is_ok())
}

/// Replaces `$NAME` and `${NAME}` by the environment's values, nothing where unset.
fn expand(text: &str, world: &World) -> String {
    let value = |name: &str| world.variable(name).unwrap_or_default().to_owned();
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some((name, after)) = rest.strip_prefix('{').and_then(|it| it.split_once('}')) {
            out.push_str(&value(name));
            rest = after;
            continue;
        }
        let end =
            rest.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).unwrap_or(rest.len());
        if end == 0 {
            out.push('$');
        }
        out.push_str(&value(&rest[..end]));
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

fn problem(summary: impl Into<String>) -> Diagnostic {
    Diagnostic::error(summary)
}

fn unreadable(file: &Path, why: &str) -> Diagnostic {
    Diagnostic::error(format!("Error reading {}: {why}", file.display()))
}

fn unparsable(file: &Path, why: &Error) -> Diagnostic {
    Diagnostic::error(format!("Error parsing {}: {why}", file.display()))
}
