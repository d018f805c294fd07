//! `TF_REATTACH_PROVIDERS`: plugins that somebody else has started.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::address::Provider;
use crate::diagnostic::Diagnostic;
use crate::world::World;

/// Where a plugin that runs already listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reattach {
    /// `unix` or `tcp`.
    pub network: String,
    /// The socket's path, or host and port.
    pub address: String,
    /// The plugin protocol's version; 0, where not said, means 5.
    pub protocol_version: u32,
    /// The process.
    pub process: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[derive(Default)]
struct Entry {
    protocol: String,
    protocol_version: u32,
    pid: u32,
    addr: Address,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Address {
    network: String,
    string: String,
}

/// Reads the environment variable; nothing where it is unset.
pub fn read(world: &World) -> Result<BTreeMap<Provider, Reattach>, Diagnostic> {
    let Some(text) = world.variable("TF_REATTACH_PROVIDERS") else { return Ok(BTreeMap::new()) };
    let entries: BTreeMap<String, Entry> =
        serde_json::from_str(text).map_err(|it| invalid(&it.to_string()))?;
    entries.into_iter().map(|(name, entry)| accept(&name, entry)).collect()
}

fn accept(name: &str, entry: Entry) -> Result<(Provider, Reattach), Diagnostic> {
    let provider: Provider = name.parse().map_err(|problem: Diagnostic| {
        let why = problem.detail.trim_end_matches('.');
        invalid(&format!("{name:?} is not a provider address: {why}"))
    })?;
    if !["unix", "tcp"].contains(&entry.addr.network.as_str()) {
        return Err(invalid(&format!(
            "unknown address type {:?} for {name:?}; only \"unix\" and \"tcp\" are known",
            entry.addr.network
        )));
    }
    if !["", "grpc"].contains(&entry.protocol.as_str()) {
        return Err(invalid(&format!(
            "{name:?} speaks {:?}, and only \"grpc\" is known",
            entry.protocol
        )));
    }
    if ![0, 5, 6].contains(&entry.protocol_version) {
        return Err(invalid(&format!(
            "{name:?} speaks version {} of the provider protocol, and only 5 and 6 are known",
            entry.protocol_version
        )));
    }
    if entry.addr.string.is_empty() {
        return Err(invalid(&format!("no address for {name:?}")));
    }
    let place = Reattach {
        network: entry.addr.network,
        address: entry.addr.string,
        protocol_version: entry.protocol_version,
        process: entry.pid,
    };
    Ok((provider, place))
}

fn invalid(why: &str) -> Diagnostic {
    Diagnostic::error("Invalid format for TF_REATTACH_PROVIDERS").detail(format!(
        "The environment variable TF_REATTACH_PROVIDERS cannot be used: {why}. Set it to the text that the started provider prints, or unset it."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(entry: &str) -> String {
        let mut world = World::of_this_process();
        world.environment.insert("TF_REATTACH_PROVIDERS".into(), entry.into());
        match read(&world) {
            Ok(places) => format!("{:?}", places.into_values().collect::<Vec<_>>()),
            Err(problem) => problem.detail,
        }
    }

    #[test]
    fn only_a_plugin_whose_protocol_is_known_is_spoken_with() {
        let entry = |protocol: &str, version: u32| {
            format!(
                r#"{{"acme/thing":{{"Protocol":"{protocol}","ProtocolVersion":{version},"Pid":1,"Addr":{{"Network":"unix","String":"/s"}}}}}}"#
            )
        };
        let version = check(&entry("grpc", 9));
        assert!(version.contains("speaks version 9 of the provider protocol"), "{version}");
        let protocol = check(&entry("netrpc", 5));
        assert!(protocol.contains("speaks \"netrpc\""), "{protocol}");
        let known = check(&entry("grpc", 6));
        assert!(known.contains("protocol_version: 6"), "{known}");
        let address = check(r#"{"a/b/c/d":{}}"#);
        assert!(!address.contains(".."), "{address}");
    }
}
