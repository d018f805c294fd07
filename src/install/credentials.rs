//! Where the token of a host is kept, and how it comes there and goes: a file of the user's own, or a helper.
//!
//! What stands in other files of the CLI configuration is theirs who wrote it, and is never changed.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};

use super::Settings;
use super::helper::{self, Helper};
use super::hostname::Hostname;
use super::settings::{self, Token};
use crate::backend::files::{self, Fresh};
use crate::error::{Error, ErrorContext};
use crate::world::secrets::Secrets;
use crate::world::{Stop, World};

/// The file, in the folder of the CLI configuration.
const FILE: &str = "credentials.tfrc.json";

/// Who keeps the tokens of hosts.
#[derive(Clone)]
pub struct Credentials {
    file: PathBuf,
    /// What stands in the file.
    stored: Map<String, Json>,
    settings: Settings,
    /// The helper and its name.
    helper: Option<(String, Helper)>,
    stop: Stop,
}

/// Who keeps the token of one host, or would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// A file of the CLI configuration that its author alone changes.
    Author,
    /// The user's own file.
    File {
        /// Its path.
        path: PathBuf,
        /// Whether it has one now.
        has_one: bool,
    },
    /// The helper of this name.
    Helper(String),
}

impl Credentials {
    /// Returns who keeps the tokens of a user.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or understood, there is no place for one, or there is more than one helper.
    pub fn of(settings: &Settings, world: &World) -> Result<Credentials, Error> {
        let folder = settings::config_folder(world)
            .ok_or("the variable HOME names no folder for the file with tokens")?;
        let file = folder.join(FILE);
        if settings.helpers.len() > 1 {
            return Err("the CLI configuration has more than one credentials_helper block; keep the one that is meant".into());
        }
        let named = settings.helpers.first_key_value();
        let helper = named.and_then(|(name, arguments)| {
            let program = helper::find(world, name)?;
            let secrets = Secrets::of_environment(world);
            Some((name.clone(), Helper { program, arguments: arguments.clone(), secrets }))
        });
        let (stored, stop) = (read(&file)?, world.stop.clone());
        Ok(Credentials { file, stored, settings: settings.clone(), helper, stop })
    }

    /// Returns who keeps the token of a host, or would.
    pub fn keeper(&self, host: &Hostname) -> Keeper {
        let stored = self.stored.get("credentials").and_then(Json::as_object);
        let has_one = stored.is_some_and(|it| it.keys().any(|it| host.is(it)));
        let is_written = self.settings.credentials.keys().any(|it| host.is(it));
        match &self.helper {
            _ if is_written && !has_one => Keeper::Author,
            // What lies there lies there on purpose, whatever the helper keeps.
            Some((name, _)) if !has_one => Keeper::Helper(name.clone()),
            _ => Keeper::File { path: self.file.clone(), has_one },
        }
    }

    /// Keeps a token, in the place of the one that is there.
    ///
    /// # Errors
    ///
    /// If it cannot be kept, or no request can hold it; what was there is there still.
    pub async fn store(&self, host: &Hostname, token: &Token) -> Result<(), Error> {
        token.check_sendable()?;
        match (self.keeper(host), &self.helper) {
            (Keeper::Author, _) => Err(by_hand(host)),
            (Keeper::Helper(_), Some((_, helper))) => {
                helper.store(host.name(), token, &self.stop).await
            }
            _ => change(&self.file, host, Some(token)),
        }
    }

    /// Forgets a token.
    ///
    /// # Errors
    ///
    /// If it is still there.
    pub async fn forget(&self, host: &Hostname) -> Result<(), Error> {
        match (self.keeper(host), &self.helper) {
            (Keeper::Author, _) => Err(by_hand(host)),
            (Keeper::Helper(_), Some((_, helper))) => helper.forget(host.name(), &self.stop).await,
            _ => change(&self.file, host, None),
        }
    }
}

fn by_hand(host: &Hostname) -> Error {
    format!("the token of {} was written into the CLI configuration by hand", host.shown()).into()
}

fn read(path: &Path) -> Result<Map<String, Json>, Error> {
    let shown = path.display();
    let bytes = files::read(path).context(format_args!("{shown} cannot be read"))?;
    let bytes = bytes.unwrap_or_default();
    if bytes.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    // What is wrong is told by its place: the text beside it may be a token.
    let read: Json = serde_json::from_slice(&bytes).map_err(|it| {
        format!(
            "{shown} is no JSON (line {}, column {}): mend it, or put it aside",
            it.line(),
            it.column()
        )
    })?;
    let Json::Object(all) = read else {
        return Err(format!("{shown} is no JSON object: mend it, or put it aside").into());
    };
    match all.get("credentials") {
        None | Some(Json::Object(_)) => Ok(all),
        Some(_) => {
            Err(format!("in {shown}, \"credentials\" must be an object with hosts as members")
                .into())
        }
    }
}

/// Changes the entry of one host; everything else in the file stays.
fn change(path: &Path, host: &Hostname, token: Option<&Token>) -> Result<(), Error> {
    // Others may have written it since it was looked at first.
    let mut all = read(path)?;
    let entry = all.entry("credentials").or_insert_with(|| json!({}));
    let Some(hosts) = entry.as_object_mut() else { return Err(by_hand(host)) };
    let before = hosts.len();
    hosts.retain(|name, _| !host.is(name));
    match token {
        Some(token) => {
            hosts.insert(host.shown().to_owned(), json!({ "token": token.reveal() }));
        }
        None if hosts.len() == before => return Ok(()),
        None => {}
    }
    let text = serde_json::to_string_pretty(&all)? + "\n";
    let shown = path.display();
    close(path).context(format_args!("nobody else may be kept from reading {shown}"))?;
    files::replace(path, text.as_bytes(), Fresh::Private)
        .context(format_args!("{shown} cannot be written"))
}

/// Keeps others from reading a file that may be open to them; what takes its place has the same mode.
fn close(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
