//! Who opens a repository of container images: what the CLI configuration says, else what other tools have written down.
//!
//! The most specific answer counts: of a repository before that of a host, of a host before that of all. Of equal ones the
//! CLI configuration's is first.

use std::collections::BTreeMap;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use tokio::process::Command;

use super::settings::Token;
use super::settings::logins::{Login, Logins, is_helper_name};
use crate::error::{Error, ErrorContext};
use crate::world::World;
use crate::world::secrets::Secrets;
use crate::world::subprocess::{self, printable};

/// What a registry is shown.
#[derive(Clone, Debug)]
pub(super) enum Shown {
    /// For this, the registry's authorization server gives a token.
    Password(Token),
    /// This is the token.
    Access(Token),
}

/// How closely something fits a repository. The steps of a path count, too.
type Closeness = usize;

const ANYWHERE: Closeness = 1;
const HOST: Closeness = 2;

/// A file of other tools.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(default)]
    auths: BTreeMap<String, Option<Entry>>,
    #[serde(default)]
    cred_helpers: BTreeMap<String, String>,
    #[serde(default)]
    creds_store: String,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    auth: String,
}

/// What a helper answers.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct UserAndSecret {
    username: String,
    secret: String,
}

/// Returns what opens a repository, where anybody knows.
///
/// # Errors
///
/// What is wrong with a file that the CLI configuration names, or with a helper.
pub(super) async fn find(
    logins: &Logins,
    world: &World,
    host: &str,
    name: &str,
) -> Result<Option<Shown>, Error> {
    let mut all: Vec<(Closeness, Login)> = Vec::new();
    for (prefix, login) in &logins.prefixes {
        all.extend(closeness(prefix, host, name).map(|it| (it, login.clone())));
    }
    all.extend(logins.helper.iter().map(|it| (ANYWHERE, Login::Helper(it.clone()))));
    for file in files(logins, world)? {
        add(file, host, name, &mut all);
    }
    // The last of equals would be taken; the first is to be.
    all.reverse();
    let Some((_, login)) = all.into_iter().max_by_key(|it| it.0) else { return Ok(None) };
    match login {
        Login::Access(token) => Ok(Some(Shown::Access(token))),
        Login::Password(user, password) => {
            Ok(Some(Shown::Password(Token::login(&user, password.reveal()))))
        }
        Login::Helper(helper) => {
            let asked = ask(world, &helper, host).await;
            asked.context(format_args!("from {helper:?} credential helper"))
        }
    }
}

/// Returns how closely `host`, `host/part` or `host/part/of/name` fits a repository.
fn closeness(prefix: &str, host: &str, name: &str) -> Option<Closeness> {
    let (domain, path) = prefix.split_once('/').unwrap_or((prefix, ""));
    if domain != host {
        return None;
    }
    if path.is_empty() {
        return Some(HOST);
    }
    let rest = name.strip_prefix(path)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| HOST + path.split('/').count())
}

fn add(file: File, host: &str, name: &str, all: &mut Vec<(Closeness, Login)>) {
    for (prefix, entry) in &file.auths {
        let pair = entry.as_ref().and_then(|it| STANDARD.decode(&it.auth).ok());
        let pair = pair.and_then(|it| String::from_utf8(it).ok());
        if let Some((user, password)) = pair.as_deref().and_then(|it| it.split_once(':'))
            && let Some(fits) = closeness(prefix, host, name)
        {
            all.push((fits, Login::Password(user.to_owned(), Token::new(password))));
        }
    }
    if let Some(helper) = file.cred_helpers.get(host).filter(|it| !it.is_empty()) {
        all.push((HOST, Login::Helper(helper.clone())));
    }
    if !file.creds_store.is_empty() {
        all.push((ANYWHERE, Login::Helper(file.creds_store)));
    }
}

/// Reads the files of other tools. What is wrong with one that nobody named is none of our business.
fn files(logins: &Logins, world: &World) -> Result<Vec<File>, Error> {
    if !logins.discovers {
        return Ok(Vec::new());
    }
    let read = |path: &PathBuf| {
        let text =
            world.files.read_regular(path).context(format_args!("reading {}", path.display()))?;
        serde_json::from_slice(&text).context(format_args!("parsing {}", path.display()))
    };
    match &logins.files {
        Some(named) => named
            .iter()
            .map(read)
            .collect::<Result<_, _>>()
            .context("failed to read Docker-style config files"),
        None => Ok(places(world).iter().filter_map(|it| read(it).ok()).collect()),
    }
}

/// Where other tools keep what opens registries.
fn places(world: &World) -> Vec<PathBuf> {
    let variable = |name: &str| world.variable(name).map(PathBuf::from);
    let home = variable("HOME");
    let settings = variable("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    let shared = [variable("XDG_RUNTIME_DIR"), settings];
    let mut all: Vec<PathBuf> =
        shared.into_iter().flatten().map(|it| it.join("containers/auth.json")).collect();
    all.extend(home.iter().flat_map(|it| [it.join(".docker/config.json"), it.join(".dockercfg")]));
    all
}

/// Asks a helper for a host's user and password.
///
/// # Errors
///
/// If the name would lead out of the folders of `PATH`, or the helper cannot be run or fails.
async fn ask(world: &World, helper: &str, host: &str) -> Result<Option<Shown>, Error> {
    if !is_helper_name(helper) {
        return Err("the name of a credential helper must not contain a path separator".into());
    }
    let name = format!("docker-credential-{helper}");
    let folders = std::env::split_paths(world.variable("PATH").unwrap_or_default());
    let file = folders.map(|it| it.join(&name)).find(|it| world.files.is_file(it));
    let file = file.ok_or_else(|| format!("there is no program {name} on PATH"))?;
    let mut command = Command::new(file);
    let address = format!("https://{host}");
    let finished = subprocess::run(command.arg("get"), Some(address.as_bytes()), &world.stop).await;
    let finished = finished.map_err(|it| it.context(format_args!("failed to run {name}")))?;
    if !finished.status.success() {
        // Helpers tell their errors where others tell their answer.
        let said = printable(&finished.output, &Secrets::of_environment(world));
        return match said.contains("credentials not found") {
            true => Ok(None),
            false => Err(format!("error in {name}: {said}").into()),
        };
    }
    // What it printed may hold a secret: the error says nothing of it.
    let answer: UserAndSecret = serde_json::from_slice(&finished.output)
        .map_err(|_| format!("malformed output from {name}: it names no user and secret"))?;
    Ok(Some(Shown::Password(Token::login(&answer.username, &answer.secret))))
}
