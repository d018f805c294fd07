//! The provisioner plugins of a run: found once, each with one process for all blocks that use it.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::install::find_provisioners;
use crate::provider::plugin::ProvisionerPlugin;
use crate::world::World;

/// The provisioner plugins of a run. The folders are searched when the first one is asked for.
pub struct Provisioners {
    world: Arc<World>,
    found: OnceLock<BTreeMap<String, ProvisionerPlugin>>,
}

impl Provisioners {
    /// Returns the plugins of the world's folders. Nothing is searched or started yet.
    pub fn of(world: &Arc<World>) -> Provisioners {
        Provisioners { world: world.clone(), found: OnceLock::new() }
    }

    /// Returns the world whose folders are searched.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Returns the plugin of a provisioner. One that has the name of a built-in provisioner takes its place.
    pub fn plugin(&self, kind: &str) -> Option<&ProvisionerPlugin> {
        let find = || {
            let found = find_provisioners(&self.world).into_iter();
            let plugin = |(name, path): (String, _)| {
                let plugin = ProvisionerPlugin::new(&name, path, self.world.clone());
                (name, plugin)
            };
            found.map(plugin).collect()
        };
        self.found.get_or_init(find).get(kind)
    }

    /// Ends every process.
    pub fn end(&mut self) {
        self.found = OnceLock::new();
    }
}
