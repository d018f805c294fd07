//! `oci_credentials` and `oci_default_credentials`: how registries of container images know the user.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::hcl::{Item, Object, Setting};
use super::installation::find;
use super::{Token, labelled, problem};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::error::Error;

/// What opens a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// A user's name and password.
    Password(String, Token),
    /// A token that is shown as it is.
    Access(Token),
    /// The program `docker-credential-…` of this name is asked.
    Helper(String),
}

/// What the CLI configuration says of registries of images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logins {
    /// `oci_credentials "host/path"`: what opens the repositories under a prefix.
    pub prefixes: BTreeMap<String, Login>,
    /// `discover_ambient_credentials`: whether the files of other tools are read.
    pub discovers: bool,
    /// `docker_style_config_files`: these files and no others.
    pub files: Option<Vec<PathBuf>>,
    /// `docker_credentials_helper`: who is asked of registries for which nothing else is said.
    pub helper: Option<String>,
    /// How many `oci_default_credentials` there are.
    defaults: usize,
}

impl Default for Logins {
    fn default() -> Logins {
        let prefixes = BTreeMap::new();
        Logins { prefixes, discovers: true, files: None, helper: None, defaults: 0 }
    }
}

impl Logins {
    /// Adds an `oci_credentials` block, for each of its labels.
    pub(super) fn add(&mut self, item: &Item, problems: &mut Diagnostics) {
        let all = labelled(item);
        if all.is_empty() {
            problems.push(invalid(
                item,
                "must have one label, giving an OCI repository address prefix.",
            ));
        }
        for (prefix, body) in all {
            match login(&prefix, body) {
                Err(why) => problems.push(invalid(item, &why)),
                Ok(login) if !self.prefixes.contains_key(&prefix) => {
                    self.prefixes.insert(prefix, login);
                }
                Ok(_) => problems
                    .push(problem(format!("Duplicate oci_credentials block for {prefix:?}"))),
            }
        }
    }

    /// Takes over an `oci_default_credentials` block of a file.
    pub(super) fn add_default(&mut self, file: &Path, item: &Item, problems: &mut Diagnostics) {
        let Setting::Object(body) = &item.value else {
            return problems.push(invalid(item, "must be represented by a JSON object."));
        };
        self.defaults += 1;
        if self.defaults == 2 {
            problems
                .push(problem("No more than one oci_default_credentials block may be specified"));
        }
        let folder = file.parent().unwrap_or(Path::new(""));
        if let Some(Setting::List(files)) = find(body, "docker_style_config_files") {
            let paths = files.iter().filter_map(text).map(|it| folder.join(it));
            self.files = Some(paths.collect());
        }
        if find(body, "discover_ambient_credentials") == Some(&Setting::Bool(false)) {
            self.discovers = false;
            if self.files.is_some() {
                problems.push(invalid(item, "disables discovery of ambient credentials, but also sets docker_style_config_files which is relevant only when ambient credentials discovery is enabled."));
            }
        }
        match find(body, "docker_credentials_helper").and_then(text).map(helper_name) {
            Some(Ok(name)) => self.helper = Some(name),
            Some(Err(why)) => problems.push(invalid(item, why)),
            None => {}
        }
    }
}

/// Reads what opens the repositories under a prefix. The error ends the sentence about the block.
fn login(prefix: &str, body: &Object) -> Result<Login, Error> {
    let get = |name: &str| find(body, name).and_then(text).map(str::to_owned);
    let (user, password) = (get("username"), get("password"));
    let (access, refresh) = (get("access_token"), get("refresh_token"));
    let helper = get("docker_credentials_helper");
    let groups = "username+password, access_token+refresh_token, or docker_credentials_helper";
    let ways = [
        user.is_some() || password.is_some(),
        access.is_some() || refresh.is_some(),
        helper.is_some(),
    ];
    match ways.into_iter().filter(|it| *it).count() {
        0 => return Err(format!("must set either {groups}.").into()),
        1 => {}
        _ => return Err(format!("must set only one group out of {groups}.").into()),
    }
    match (user, password, access, refresh, helper) {
        (Some(user), Some(password), ..) => Ok(Login::Password(user, Token::new(password))),
        (_, _, Some(access), Some(_), _) => Ok(Login::Access(Token::new(access))),
        (.., Some(_)) if prefix.contains('/') => Err("cannot set docker_credentials_helper with a repository path: credential helpers only support credentials for whole domains.".into()),
        (.., Some(helper)) => helper_name(&helper).map(Login::Helper),
        (None, None, ..) => Err("must set both access_token and refresh_token together when using OAuth-style credentials.".into()),
        _ => Err("must set both username and password together when using static credentials.".into()),
    }
}

/// Whether a text can be the name of a helper, which becomes a part of a file's name.
pub(in crate::install) fn is_helper_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\'])
}

fn helper_name(name: &str) -> Result<String, Error> {
    match is_helper_name(name) {
        true => Ok(name.to_owned()),
        false => Err(format!(
            "specifies the invalid Docker credential helper name {name:?}. Must be a non-empty string that could be used as part of an executable filename."
        ).into()),
    }
}

fn text(setting: &Setting) -> Option<&str> {
    match setting {
        Setting::Text(text) => Some(text),
        _ => None,
    }
}

fn invalid(item: &Item, why: impl std::fmt::Display) -> Diagnostic {
    let kind = &item.keys[0];
    problem(format!("Invalid {kind} block"))
        .detail(format!("The {kind} block at {} {why}", item.place()))
}
