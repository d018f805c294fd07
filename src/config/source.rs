//! Where a module call says its module is.

use std::fmt;

use super::masking;
pub use super::remote::{Getter, RemoteAddress};

/// A module's source address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleSource {
    /// `./net`, `../net`: a folder relative to the calling module's. Normalised.
    Local(String),
    /// `[host/]namespace/name/target[//folder]`: a module of a registry. As written.
    Registry(String),
    /// Anything else: fetched from elsewhere. As written.
    Remote(String),
}

impl fmt::Display for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModuleSource::Local(it) | ModuleSource::Registry(it) | ModuleSource::Remote(it) => {
                f.write_str(it)
            }
        }
    }
}

/// A module of a registry: `[host/]namespace/name/target[//folder]`, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryAddress {
    /// The registry's host.
    pub host: String,
    /// Namespace, name and target.
    parts: String,
    /// The folder within the package; empty for the package itself.
    pub folder: String,
}

/// The registry that addresses without a host mean.
const USUAL_REGISTRY: &str = "registry.opentofu.org";

impl RegistryAddress {
    /// Takes an address apart that is known to be one.
    pub fn parse(text: &str) -> RegistryAddress {
        let (address, folder) = text.split_once("//").unwrap_or((text, ""));
        let (host, parts) = match address.matches('/').count() {
            3 => address.split_once('/').unwrap_or((USUAL_REGISTRY, address)),
            _ => (USUAL_REGISTRY, address),
        };
        RegistryAddress {
            host: host.to_lowercase(),
            parts: parts.to_owned(),
            folder: folder.to_owned(),
        }
    }

    /// Returns `namespace/name/target`.
    pub fn path(&self) -> &str {
        &self.parts
    }

    /// Returns the address of the package, with its host.
    pub fn package(&self) -> String {
        format!("{}/{}", self.host, self.parts)
    }
}

/// Why a text is no source address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    /// A bare relative path, which needs `./` in front.
    MaybeRelative,
    /// A local path where `version` asks for a registry address.
    LocalWithVersion,
    /// No registry address, though `version` asks for one.
    NotRegistry,
}

impl ModuleSource {
    /// Returns the address as the list of installed modules has it: complete, shorthands written out, without credentials.
    pub fn recorded(&self) -> String {
        match self {
            ModuleSource::Local(it) => it.clone(),
            ModuleSource::Registry(it) => {
                let address = RegistryAddress::parse(it);
                match address.folder.as_str() {
                    "" => address.package(),
                    folder => format!("{}//{folder}", address.package()),
                }
            }
            ModuleSource::Remote(it) => {
                let whole =
                    RemoteAddress::parse(it).map_or_else(|_| it.clone(), |it| it.recorded());
                masking::recorded(&whole).into_owned()
            }
        }
    }

    /// Reads a source address; with a `version` only registry addresses count.
    pub fn parse(text: &str, has_version: bool) -> Result<ModuleSource, SourceError> {
        let is_local = ["./", "../", ".\\", "..\\"].into_iter().any(|it| text.starts_with(it));
        match (is_local, has_version) {
            (true, true) => return Err(SourceError::LocalWithVersion),
            (true, false) => return Ok(ModuleSource::Local(clean_local(text))),
            (false, _) => {}
        }
        if is_registry_address(text) {
            return Ok(ModuleSource::Registry(text.to_owned()));
        }
        match has_version {
            true => Err(SourceError::NotRegistry),
            false if looks_remote(text) => Ok(ModuleSource::Remote(text.to_owned())),
            false => Err(SourceError::MaybeRelative),
        }
    }
}

/// Normalises a local path and keeps its leading `./`.
fn clean_local(text: &str) -> String {
    let clean = clean_path(&text.replace('\\', "/"));
    if clean == ".." || clean.starts_with("../") { clean } else { format!("./{clean}") }
}

/// Removes `.`, doubled slashes and `x/..` from a path with forward slashes. The empty path is `.`.
pub fn clean_path(path: &str) -> String {
    let is_rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|it| *it != "..") => {
                parts.pop();
            }
            ".." if is_rooted => {}
            part => parts.push(part),
        }
    }
    match (is_rooted, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

/// Joins two paths with forward slashes, normalised.
pub fn join_path(base: &str, relative: &str) -> String {
    clean_path(&format!("{base}/{relative}"))
}

/// `[host/]namespace/name/target[//folder]`, with a host that has a dot.
fn is_registry_address(text: &str) -> bool {
    let address = text.split_once("//").map_or(text, |it| it.0);
    let mut parts: Vec<&str> = address.split('/').collect();
    if parts.len() == 4 {
        let host = parts.remove(0);
        let is_host =
            host.contains('.') && host.chars().all(|it| it.is_alphanumeric() || ".-:".contains(it));
        // These hosts have shorthands of their own and are fetched directly.
        if !is_host || ["github.com", "bitbucket.org", "gitlab.com"].contains(&host) {
            return false;
        }
    }
    let is_word = |it: &&str| {
        !it.is_empty()
            && it.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
            && it.starts_with(|c: char| c.is_ascii_alphanumeric())
    };
    let is_target = |it: &str| it.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(is_word) && is_target(parts[2])
}

/// Whether something other than a bare relative path can be meant.
fn looks_remote(text: &str) -> bool {
    let known_hosts = ["github.com/", "bitbucket.org/", "gitlab.com/", "git@"];
    text.contains("::")
        || text.contains("://")
        || text.starts_with('/')
        || text.contains(".amazonaws.com/")
        || text.contains(".googleapis.com/")
        || known_hosts.into_iter().any(|it| text.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, source: ModuleSource) {
        assert_eq!(ModuleSource::parse(text, false), Ok(source));
    }

    #[test]
    fn local_paths_are_normalised() {
        check("./net", ModuleSource::Local("./net".into()));
        check("./a/../b//c/", ModuleSource::Local("./b/c".into()));
        check("../x/../../y", ModuleSource::Local("../../y".into()));
        check("./", ModuleSource::Local("./.".into()));
        check(".\\a", ModuleSource::Local("./a".into()));
    }

    #[test]
    fn registry_addresses_have_three_or_four_parts() {
        check("hashicorp/consul/aws", ModuleSource::Registry("hashicorp/consul/aws".into()));
        check("example.com/a/b/c//sub", ModuleSource::Registry("example.com/a/b/c//sub".into()));
    }

    #[test]
    fn other_addresses_are_remote() {
        check("github.com/a/b/c", ModuleSource::Remote("github.com/a/b/c".into()));
        check(
            "git::https://example.com/x.git",
            ModuleSource::Remote("git::https://example.com/x.git".into()),
        );
        for text in ["bucket.s3.amazonaws.com/a.zip", "www.googleapis.com/storage/v1/b/a.zip"] {
            check(text, ModuleSource::Remote(text.into()));
        }
    }

    #[test]
    fn what_is_recorded_is_complete() {
        let registry = |it: &str| ModuleSource::Registry(it.into()).recorded();
        assert_eq!(registry("a/b/c//d"), "registry.opentofu.org/a/b/c//d");
        assert_eq!(registry("Example.com/a/b/c"), "example.com/a/b/c");
        let remote = |it: &str| ModuleSource::Remote(it.into()).recorded();
        assert_eq!(
            remote("s3::https://e.com/b/k.zip?region=x&aws_profile=p&aws_access_key_secret=hush"),
            "s3::https://e.com/b/k.zip?region=x&aws_profile=p&aws_access_key_secret=REDACTED-dc8331bc"
        );
    }

    #[test]
    fn a_bare_name_is_refused() {
        assert_eq!(ModuleSource::parse("net", false), Err(SourceError::MaybeRelative));
        assert_eq!(ModuleSource::parse("./net", true), Err(SourceError::LocalWithVersion));
        assert_eq!(ModuleSource::parse("net", true), Err(SourceError::NotRegistry));
    }
}
