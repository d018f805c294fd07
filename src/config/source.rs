//! Where a module call says its module is.

use std::fmt;

use super::masking;
use crate::error::Error;

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

/// How a package is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Getter {
    /// From a git repository.
    Git,
    /// From a server of archives.
    Http,
    /// From this machine.
    File,
}

/// The address of a package that lies elsewhere, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteAddress {
    /// How it is fetched.
    pub getter: Getter,
    /// From where, without arguments.
    pub url: String,
    /// The arguments behind `?`.
    pub query: Vec<(String, String)>,
    /// The folder within the package; empty for the package itself.
    pub folder: String,
}

impl RemoteAddress {
    /// Takes an address apart; shorthands are written out.
    pub fn parse(text: &str) -> Result<RemoteAddress, Error> {
        let (forced, rest) = match text.split_once("::") {
            Some((forced, rest)) if forced.chars().all(char::is_alphanumeric) => (forced, rest),
            _ => ("", text),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let start = rest.find("://").map_or(0, |it| it + 3);
        let (address, folder) = match rest[start..].find("//") {
            Some(at) => (&rest[..start + at], rest[start + at + 2..].trim_matches('/')),
            None => (rest, ""),
        };
        let (getter, url, inner) = match address.contains("://") {
            true => (forced, address.to_owned(), String::new()),
            false => shorthand(forced, address)?,
        };
        let scheme = url.split_once("://").map_or("", |it| it.0);
        let getter = match (getter, scheme) {
            ("git", _) | ("", "git") => Getter::Git,
            ("http" | "https", _) | ("", "http" | "https") => Getter::Http,
            ("file", _) | ("", "file") => Getter::File,
            ("", scheme) => {
                return Err(format!("download not supported for scheme {scheme:?}").into());
            }
            (other, _) => {
                return Err(format!("packages of kind {other:?} are not supported yet").into());
            }
        };
        let folder = match (inner.as_str(), folder) {
            (inner, "") => inner.to_owned(),
            ("", folder) => folder.to_owned(),
            (inner, folder) => format!("{inner}/{folder}"),
        };
        let folder = if folder.is_empty() { folder } else { clean_path(&folder) };
        if folder == ".." || folder.starts_with("../") || folder.starts_with('/') {
            return Err(format!("the folder {folder:?} lies outside of the package").into());
        }
        let pair = |it: &str| {
            let (name, value) = it.split_once('=').unwrap_or((it, ""));
            (name.to_owned(), value.to_owned())
        };
        let query = query.split('&').filter(|it| !it.is_empty()).map(pair).collect();
        Ok(RemoteAddress { getter, url, query, folder })
    }

    /// Returns an argument behind `?`.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    /// Returns the address to ask, without arguments that are meant for whoever asks.
    pub fn without(&self, names: &[&str]) -> String {
        let kept = self.query.iter().filter(|it| !names.contains(&it.0.as_str()));
        let kept: Vec<String> = kept.map(|(name, value)| format!("{name}={value}")).collect();
        match kept.is_empty() {
            true => self.url.clone(),
            false => format!("{}?{}", self.url, kept.join("&")),
        }
    }

    /// Returns the address of the package.
    pub fn package(&self) -> String {
        let forced = if self.getter == Getter::Git { "git::" } else { "" };
        format!("{forced}{}", self.without(&[]))
    }

    /// Returns the whole address, as the list of installed modules has it.
    pub fn recorded(&self) -> String {
        let package = self.package();
        match (self.folder.as_str(), package.split_once('?')) {
            ("", _) => package,
            (folder, None) => format!("{package}//{folder}"),
            (folder, Some((package, query))) => format!("{package}//{folder}?{query}"),
        }
    }
}

/// Writes a shorthand out: getter, address, folder within the package.
fn shorthand<'a>(forced: &'a str, text: &str) -> Result<(&'a str, String, String), Error> {
    for host in ["github.com", "bitbucket.org"] {
        if let Some(rest) = text.strip_prefix(&format!("{host}/")) {
            let parts: Vec<&str> = rest.splitn(3, '/').collect();
            let [owner, name, inner @ ..] = &parts[..] else {
                return Err(format!("an address on {host} is {host}/OWNER/NAME").into());
            };
            let name = name.strip_suffix(".git").unwrap_or(name);
            let inner = inner.first().copied().unwrap_or_default().to_owned();
            return Ok(("git", format!("https://{host}/{owner}/{name}.git"), inner));
        }
    }
    if let Some((host, path)) = text.split_once(':')
        && (host.contains('@') || forced == "git")
        && !path.starts_with("//")
    {
        return Ok((
            "git",
            format!("ssh://{host}/{}", path.trim_start_matches('/')),
            String::new(),
        ));
    }
    if text.starts_with('/') {
        return Ok((
            if forced.is_empty() { "file" } else { forced },
            format!("file://{text}"),
            String::new(),
        ));
    }
    Err(format!("it is not clear how {text:?} is fetched").into())
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
    }

    #[test]
    fn addresses_of_packages_are_taken_apart_and_written_out() {
        let check = |text: &str, recorded: &str| {
            let address = RemoteAddress::parse(text).map(|it| it.recorded());
            assert_eq!(address.unwrap_or_else(String::from), recorded);
        };
        check("github.com/a/b", "git::https://github.com/a/b.git");
        check("github.com/a/b/c/d?ref=v1", "git::https://github.com/a/b.git//c/d?ref=v1");
        check("bitbucket.org/a/b.git//c", "git::https://bitbucket.org/a/b.git//c");
        check("git@example.com:a/b.git//c?ref=x", "git::ssh://git@example.com/a/b.git//c?ref=x");
        check("git::ssh://git@example.com/a.git", "git::ssh://git@example.com/a.git");
        check("git::https://e.com/a.git//x?depth=1", "git::https://e.com/a.git//x?depth=1");
        check("https://e.com/a.zip//x", "https://e.com/a.zip//x");
        check("/opt/modules/x", "file:///opt/modules/x");
        check("s3::https://e.com/a", "packages of kind \"s3\" are not supported yet");
        check("ssh://e.com/a", "download not supported for scheme \"ssh\"");
        check("https://e.com/a.zip//../x", "the folder \"../x\" lies outside of the package");
        let registry = |it: &str| ModuleSource::Registry(it.into()).recorded();
        assert_eq!(registry("a/b/c//d"), "registry.opentofu.org/a/b/c//d");
        assert_eq!(registry("Example.com/a/b/c"), "example.com/a/b/c");
    }

    #[test]
    fn a_bare_name_is_refused() {
        assert_eq!(ModuleSource::parse("net", false), Err(SourceError::MaybeRelative));
        assert_eq!(ModuleSource::parse("./net", true), Err(SourceError::LocalWithVersion));
        assert_eq!(ModuleSource::parse("net", true), Err(SourceError::NotRegistry));
    }
}
