//! Provider sources: `null`, `hashicorp/null`, `registry.opentofu.org/hashicorp/null`.

use std::str::FromStr;

use super::{DEFAULT_HOST, Provider};
use crate::diagnostic::Diagnostic;

impl FromStr for Provider {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Provider, Diagnostic> {
        let parts: Vec<&str> = text.split('/').collect();
        if parts.len() > 3 || parts.iter().any(|it| it.is_empty()) {
            let detail =
                "The \"source\" attribute must be in the format \"[hostname/][namespace/]name\".";
            return Err(Diagnostic::error("Invalid provider source string").detail(detail));
        }
        let wrong = |what: &str, part: &str, why: &str| {
            Diagnostic::error(format!("Invalid provider {what}"))
                .detail(format!("Invalid provider {what} \"{part}\" in source \"{text}\": {why}."))
        };
        let (given, before) = parts.split_last().expect("a split has a last part");
        let kind = normal_part(given).map_err(|why| wrong("type", given, why))?;
        let namespace = match before.last() {
            None => "hashicorp".to_owned(),
            // What providers before version 0.13 of the language have.
            Some(&"-") => "-".to_owned(),
            Some(it) => normal_part(it).map_err(|why| wrong("namespace", it, why))?,
        };
        let host = match before {
            [host, _] => host_name(host).map_err(|why| wrong("source hostname", host, why))?,
            _ => DEFAULT_HOST.to_owned(),
        };
        match ["terraform-", "opentofu-"].into_iter().find(|it| kind.starts_with(it)) {
            Some(prefix) => Err(repository_name(text, given, &kind, prefix)),
            None => {
                Ok(Provider { host: host.into(), namespace: namespace.into(), kind: kind.into() })
            }
        }
    }
}

/// The type is the name that a provider's repository has.
fn repository_name(text: &str, given: &str, kind: &str, prefix: &str) -> Diagnostic {
    let rest = &kind[prefix.len()..];
    let kind = rest.strip_prefix("provider-").filter(|it| !it.is_empty()).unwrap_or(rest);
    Diagnostic::error("Invalid provider type").detail(format!(
        "Provider source \"{text}\" has a type with the prefix \"{prefix}\", which belongs to names of repositories, not of \
         providers. Did you mean \"{}{kind}\"?",
        &text[..text.len() - given.len()],
    ))
}

/// Normalises a namespace, a type or a local name: letters, digits and single dashes inside, in lower case. The error is a
/// phrase that says what is wrong.
pub fn normal_part(text: &str) -> Result<String, &'static str> {
    check_part(text).map(|()| text.to_lowercase())
}

/// Returns whether [`normal_part`] has a normal form for it.
pub fn check_part(text: &str) -> Result<(), &'static str> {
    match text {
        _ if text.contains('.') => Err("dots are not allowed"),
        _ if text.contains("--") => Err("cannot use multiple consecutive dashes"),
        _ if !is_label(text) => Err(
            "must contain only letters, digits, and dashes, and may not use leading or trailing dashes",
        ),
        _ => Ok(()),
    }
}

fn is_label(text: &str) -> bool {
    let is_allowed = |it: char| it == '-' || it.is_alphanumeric();
    !text.is_empty()
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text.chars().all(is_allowed)
}

/// Normalises a host with an optional port: lower case, without `:443`.
fn host_name(text: &str) -> Result<String, &'static str> {
    let (name, port) = text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
    if name.split('.').any(str::is_empty) {
        return Err("it has an empty label");
    }
    if !name.split('.').all(is_label) {
        return Err("it is not a host name");
    }
    let name = name.to_lowercase();
    match port {
        None | Some("443") => Ok(name),
        Some(port) if port.is_empty() || !port.bytes().all(|it| it.is_ascii_digit()) => {
            Err("its port has other characters than digits")
        }
        Some(port) => match port.parse::<u16>() {
            Ok(port) => Ok(format!("{name}:{port}")),
            Err(_) => Err("its port is greater than 65535"),
        },
    }
}
