//! Where the processes of one provider come from: what was located, as something that can be started.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::address::Provider as ProviderAddr;
use crate::error::Error;
use crate::install::{Located, Place};
use crate::provider::plugin::{Plugin, Program};
use crate::provider::{Provider, builtin};
use crate::world::World;

/// Where the processes of one provider come from.
#[derive(Clone)]
pub enum ProviderSource {
    /// It is part of this program.
    Embedded(ProviderAddr),
    /// It is a program of its own.
    Plugin(Arc<Program>),
}

impl ProviderSource {
    /// Takes what was located. The package of a plugin is checked against the lock file first.
    ///
    /// # Errors
    ///
    /// Says why it must not be started.
    pub fn of(
        located: Located,
        address: &ProviderAddr,
        world: &World,
    ) -> Result<ProviderSource, Error> {
        match located.place {
            Place::Embedded => Ok(match outside(address, world) {
                Some(path) => {
                    let version = located.version.map(|it| it.to_string());
                    ProviderSource::Plugin(Program::executable(
                        address.clone(),
                        path,
                        version,
                        None,
                    ))
                }
                None => ProviderSource::Embedded(address.clone()),
            }),
            Place::Plugin(plugin) => {
                let opened = plugin.verify(world)?;
                let version = located.version.map(|it| it.to_string());
                let path = plugin.executable;
                Ok(ProviderSource::Plugin(Program::executable(
                    address.clone(),
                    path,
                    version,
                    opened,
                )))
            }
            Place::Running(it) => {
                let (network, place) = (&it.network, &it.address);
                Program::running(address.clone(), network, place, it.protocol_version)
                    .map(ProviderSource::Plugin)
            }
        }
    }

    /// Returns one that nobody has configured. A process is not started before it is needed.
    ///
    /// - `starts`: how many more may start now.
    pub fn start(&self, world: &Arc<World>, starts: &Arc<Semaphore>) -> Option<Arc<dyn Provider>> {
        match self {
            ProviderSource::Embedded(address) => builtin::start(address, world),
            ProviderSource::Plugin(program) => {
                Some(Arc::new(Plugin::new(program.clone(), world.clone(), starts.clone())))
            }
        }
    }
}

/// Returns the program that serves an embedded provider from outside, for tests of that way: `ENTAIL_EMBEDDED_PLUGINS`
/// names the folder where such programs lie.
fn outside(address: &ProviderAddr, world: &World) -> Option<PathBuf> {
    let folder = world.cwd.join(world.variable("ENTAIL_EMBEDDED_PLUGINS")?);
    let path = folder.join(format!("terraform-provider-{}", address.kind));
    world.files.is_file(&path).then_some(path)
}
