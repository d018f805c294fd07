//! The providers that are part of the program: no download, no process, the same behaviour as the plugins.
//!
//! Each provider is a table of kinds (`resource::Kind`, `table::Source`) over a table of attributes; `host::Host`
//! answers the protocol's calls from them.

use std::sync::Arc;

use super::Provider;
use crate::address;
use crate::world::World;

mod attribute;
mod fields;
mod host;
mod local;
mod null;
mod random;
mod remote_state;
mod resource;
mod rules;
mod terraform;
#[cfg(test)]
mod tests;
mod text;
mod time;

mod table;

/// Starts the provider at an address; `None` where it is not embedded.
pub fn start(address: &address::Provider, world: &Arc<World>) -> Option<Arc<dyn Provider>> {
    let (table, _) = find(address)?;
    Some(Arc::new(host::Host::new(table, world.clone())))
}

/// Returns the version of the embedded provider at an address: that of the plugin whose behaviour it has. The builtin
/// one has none of its own and is given an empty text; `None` where the provider is not embedded.
pub fn version(address: &address::Provider) -> Option<&'static str> {
    find(address).map(|it| it.1)
}

fn find(address: &address::Provider) -> Option<(&'static table::Table, &'static str)> {
    if address.is_builtin() {
        return (&*address.kind == "terraform").then(|| (&*terraform::TABLE, ""));
    }
    let is_registry = ["registry.opentofu.org", "registry.terraform.io"].contains(&&*address.host);
    if !is_registry || &*address.namespace != "hashicorp" {
        return None;
    }
    match &*address.kind {
        "local" => Some((&*local::TABLE, "2.9.0")),
        "null" => Some((&*null::TABLE, "3.3.1")),
        "random" => Some((&*random::TABLE, "3.9.0")),
        "time" => Some((&*time::TABLE, "0.14.0")),
        _ => None,
    }
}
