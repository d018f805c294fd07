//! `provider_installation`: where plugins come from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::hcl::{Item, Object, Setting};
use crate::address::{DEFAULT_HOST, Provider};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::error::Error;

/// One `provider_installation` block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Installation {
    /// Where to look, in order.
    pub methods: Vec<Method>,
    /// `dev_overrides`: folders whose plugins are used as they are.
    pub overrides: BTreeMap<Provider, PathBuf>,
}

/// One place to look in.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// The place.
    pub location: Location,
    /// `include`, as written.
    pub include: Vec<String>,
    /// `exclude`, as written.
    pub exclude: Vec<String>,
    /// `download_retry_count`
    pub retries: Option<u32>,
    /// `trust_all_hashes`
    pub trusts_hashes: bool,
}

/// Where plugins lie.
#[derive(Clone, Debug, PartialEq)]
pub enum Location {
    /// The registry that the provider's address names.
    Direct,
    /// A folder.
    Filesystem(PathBuf),
    /// A server that speaks the mirror protocol.
    Network(String),
    /// A registry of container images.
    Images(String),
}

/// A pattern of `include` and `exclude`: `None` is `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    host: Option<String>,
    namespace: Option<String>,
    kind: Option<String>,
}

impl Pattern {
    /// Reads `[host/]namespace/name`, where `*` may stand for the last parts. The error says what is wrong.
    pub fn parse(text: &str) -> Result<Pattern, Error> {
        let parts: Vec<&str> = text.split('/').collect();
        let (host, namespace, kind) = match parts[..] {
            [namespace, kind] => (DEFAULT_HOST, namespace, kind),
            [host, namespace, kind] => (host, namespace, kind),
            _ => {
                return Err(format!(
                    "invalid provider matching pattern {text:?}: must have either two or three slash-separated segments"
                ).into());
            }
        };
        // What is no wildcard must be a valid part of an address.
        let plain =
            |it: &str, other: &str| if it == "*" { other.to_owned() } else { it.to_owned() };
        let address =
            format!("{}/{}/{}", plain(host, "a.b"), plain(namespace, "a"), plain(kind, "a"));
        let address: Provider = address.parse().map_err(|problem: Diagnostic| {
            format!("invalid provider matching pattern {text:?}: {}", problem.detail)
        })?;
        let part = |given: &str, it: &str| (given != "*").then(|| it.to_owned());
        let pattern = Pattern {
            host: part(host, &address.host),
            namespace: part(namespace, &address.namespace),
            kind: part(kind, &address.kind),
        };
        if pattern.host.is_none() && (pattern.namespace.is_some() || pattern.kind.is_some()) {
            return Err(format!(
                "invalid provider matching pattern {text:?}: hostname can be a wildcard only if both namespace and provider type are also wildcards"
            ).into());
        }
        if pattern.namespace.is_none() && pattern.kind.is_some() {
            return Err(format!(
                "invalid provider matching pattern {text:?}: namespace can be a wildcard only if the provider type is also a wildcard"
            ).into());
        }
        Ok(pattern)
    }

    /// Returns the hosts, namespaces and names that patterns choose.
    pub fn parts(all: &[Pattern]) -> [BTreeSet<&str>; 3] {
        let part = |of: fn(&Pattern) -> &Option<String>| -> BTreeSet<&str> {
            all.iter().filter_map(|it| of(it).as_deref()).collect()
        };
        [part(|it| &it.host), part(|it| &it.namespace), part(|it| &it.kind)]
    }

    /// Returns the pattern that only one address matches.
    pub fn exactly(provider: &Provider) -> Pattern {
        Pattern {
            host: Some(provider.host.to_string()),
            namespace: Some(provider.namespace.to_string()),
            kind: Some(provider.kind.to_string()),
        }
    }

    /// Returns whether an address matches.
    pub fn matches(&self, provider: &Provider) -> bool {
        let fits = |part: &Option<String>, text: &str| part.as_ref().is_none_or(|it| it == text);
        fits(&self.host, &provider.host)
            && fits(&self.namespace, &provider.namespace)
            && fits(&self.kind, &provider.kind)
    }
}

/// Reads one `provider_installation` item.
pub(super) fn read(item: &Item, is_json: bool, problems: &mut Diagnostics) -> Option<Installation> {
    let place = item.place();
    let refuse =
        |detail: String| Diagnostic::error("Invalid provider_installation block").detail(detail);
    let Setting::Object(body) = &item.value else {
        problems.push(refuse(format!(
            "The provider_installation block at {place} must not be introduced with an equals sign."
        )));
        return None;
    };
    if item.is_assigned && !is_json {
        problems.push(refuse(format!(
            "The provider_installation block at {place} must not be introduced with an equals sign."
        )));
        return None;
    }
    if item.keys.len() > 1 {
        problems.push(refuse(format!(
            "The provider_installation block at {place} must not have any labels."
        )));
    }
    let mut installation = Installation::default();
    for method in &body.0 {
        problems.extend(read_method(method, &place, is_json, &mut installation).err());
    }
    Some(installation)
}

fn invalid_method(detail: String) -> Diagnostic {
    Diagnostic::error("Invalid provider_installation method block").detail(detail)
}

fn read_method(
    item: &Item,
    place: &str,
    is_json: bool,
    into: &mut Installation,
) -> Result<(), Diagnostic> {
    let body = match &item.value {
        Setting::Object(body) if is_json || !item.is_assigned => body,
        _ => {
            return Err(invalid_method(format!(
                "The items inside the provider_installation block at {place} must all be blocks."
            )));
        }
    };
    if item.keys.len() > 1 {
        return Err(invalid_method(format!(
            "The blocks inside the provider_installation block at {place} may not have any labels."
        )));
    }
    let kind = item.keys[0].as_str();
    let needed = |name: &str| -> Result<String, Diagnostic> {
        let text = text(body, name, kind, place)?.filter(|it| !it.is_empty());
        text.ok_or_else(|| {
            invalid_method(format!(
                "Invalid {kind} block at {place}: \"{name}\" argument is required."
            ))
        })
    };
    let location = match kind {
        "direct" => Location::Direct,
        "filesystem_mirror" => Location::Filesystem(needed("path")?.into()),
        "network_mirror" => Location::Network(needed("url")?),
        "oci_mirror" => Location::Images(needed("repository_template")?),
        "dev_overrides" => return read_overrides(body, item, place, into),
        _ => {
            return Err(invalid_method(format!(
                "Unknown provider installation method {kind:?} at {}.",
                item.place()
            )));
        }
    };
    into.methods.push(Method {
        location,
        include: texts(body, "include", kind, place)?,
        exclude: texts(body, "exclude", kind, place)?,
        retries: number(body, "download_retry_count", kind, place)?,
        trusts_hashes: matches!(find(body, "trust_all_hashes"), Some(Setting::Bool(true))),
    });
    Ok(())
}

fn read_overrides(
    body: &Object,
    item: &Item,
    place: &str,
    into: &mut Installation,
) -> Result<(), Diagnostic> {
    if !into.methods.is_empty() {
        return Err(invalid_method(format!(
            "The dev_overrides block at at {} must appear before all other installation methods, because development overrides always have the highest priority.",
            item.place()
        )));
    }
    for entry in &body.0 {
        let Setting::Text(path) = &entry.value else {
            return Err(invalid_method(format!(
                "Invalid dev_overrides block at {place}: the value of {:?} must be a path in quotes.",
                entry.keys[0]
            )));
        };
        let provider: Provider = entry.keys[0].parse().map_err(|problem: Diagnostic| {
            Diagnostic::error("Invalid provider installation dev overrides").detail(format!(
                "The entry {:?} in {place} is not a valid provider source string.\n\n{}",
                entry.keys[0], problem.detail
            ))
        })?;
        into.overrides.insert(provider, PathBuf::from(path).components().collect());
    }
    Ok(())
}

/// Returns the value of a setting; the last one counts.
pub(super) fn find<'a>(body: &'a Object, name: &str) -> Option<&'a Setting> {
    let own = |it: &&Item| it.keys.len() == 1 && it.keys[0] == name;
    body.0.iter().rfind(own).map(|it| &it.value)
}

fn wrong(kind: &str, place: &str, name: &str, wanted: &str) -> Diagnostic {
    invalid_method(format!("Invalid {kind} block at {place}: {name} must be {wanted}."))
}

fn text(body: &Object, name: &str, kind: &str, place: &str) -> Result<Option<String>, Diagnostic> {
    match find(body, name) {
        None | Some(Setting::Null) => Ok(None),
        Some(Setting::Text(it) | Setting::Number(it)) => Ok(Some(it.clone())),
        Some(_) => Err(wrong(kind, place, name, "a string")),
    }
}

fn texts(body: &Object, name: &str, kind: &str, place: &str) -> Result<Vec<String>, Diagnostic> {
    let Some(value) = find(body, name) else { return Ok(Vec::new()) };
    let one = |it: &Setting| match it {
        Setting::Text(it) => Some(it.clone()),
        _ => None,
    };
    let all = match value {
        Setting::List(items) => items.iter().map(one).collect(),
        Setting::Null => Some(Vec::new()),
        value => one(value).map(|it| vec![it]),
    };
    all.ok_or_else(|| wrong(kind, place, name, "a list of strings"))
}

fn number(body: &Object, name: &str, kind: &str, place: &str) -> Result<Option<u32>, Diagnostic> {
    match find(body, name) {
        None | Some(Setting::Null) => Ok(None),
        Some(Setting::Number(it) | Setting::Text(it)) if it.parse::<u32>().is_ok() => {
            Ok(it.parse().ok())
        }
        Some(_) => Err(wrong(kind, place, name, "a whole number from 0 on")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_from_the_left() {
        let provider: Provider = "example.com/acme/thing".parse().expect("an address");
        let matches = |it: &str| Pattern::parse(it).map(|it| it.matches(&provider));
        assert_eq!(matches("example.com/*/*"), Ok(true));
        assert_eq!(matches("example.com/acme/*"), Ok(true));
        assert_eq!(matches("*/*/*"), Ok(true));
        assert_eq!(matches("acme/thing"), Ok(false), "the usual registry is meant");
        for it in ["a", "*/a/*", "example.com/*/thing", "a/b/c/d", "a_b/c"] {
            assert!(Pattern::parse(it).is_err(), "{it}");
        }
    }
}
