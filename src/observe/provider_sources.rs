//! What stands behind the providers of a run: plugins as the lock file selects them, and processes that were started
//! before it was known what the configuration needs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::provider_source::ProviderSource;
use crate::address::Provider as ProviderAddr;
use crate::diagnostic::{Diagnostics, Sources};
use crate::error::Error;
use crate::install::Plugins;
use crate::provider::{Provider, plugin};
use crate::world::World;

/// How many plugins start at the same time, where nobody says.
const STARTS: usize = 10;

/// A provider that nobody has configured, and where more of its kind come from.
pub(super) type Started = (ProviderSource, Arc<dyn Provider>);

/// Why a provider cannot be used.
pub(super) enum Unusable {
    /// There is none.
    Missing(Error),
    /// There is one that must not be started.
    Refused(Error),
}

/// Where providers come from.
pub struct ProviderSources {
    world: Arc<World>,
    plugins: Result<Arc<Plugins>, Diagnostics>,
    /// What is being started, though nobody has asked for it yet.
    early: Mutex<Option<JoinHandle<BTreeMap<ProviderAddr, Started>>>>,
    /// What an earlier run has started and nobody has configured.
    spare: Mutex<BTreeMap<ProviderAddr, Started>>,
    starts: Arc<Semaphore>,
}

impl ProviderSources {
    /// Reads lock file, CLI configuration and environment.
    pub fn of(world: &Arc<World>, sources: &Sources) -> ProviderSources {
        ProviderSources::with(world, sources, STARTS)
    }

    /// Like [`ProviderSources::of`], and starts what the lock file names, in the background: the configuration, which says what is
    /// needed, is still to be read. At most `starts` plugins start at the same time.
    pub fn begin(world: &Arc<World>, sources: &Sources, starts: usize) -> ProviderSources {
        let provider_sources = ProviderSources::with(world, sources, starts.max(1));
        let Ok(plugins) = provider_sources.plugins.clone() else { return provider_sources };
        if plugins.locks.0.is_empty() {
            return provider_sources;
        }
        let (world, starts) = (world.clone(), provider_sources.starts.clone());
        let start = move || {
            let locked = plugins.locks.0.keys().filter_map(|it| {
                // What cannot be started is told of once it is needed.
                let (source, provider) = start(&plugins, it, &world, &starts).ok()?;
                provider.begin();
                Some((it.clone(), (source, provider)))
            });
            locked.collect()
        };
        // Without a thread to give, everything is started when it is asked for.
        *provider_sources.early.lock() = std::thread::Builder::new().spawn(start).ok();
        provider_sources
    }

    fn with(world: &Arc<World>, sources: &Sources, starts: usize) -> ProviderSources {
        ProviderSources {
            world: world.clone(),
            plugins: Plugins::open(world, sources).map(Arc::new),
            early: Mutex::default(),
            spare: Mutex::default(),
            starts: Arc::new(Semaphore::new(starts)),
        }
    }

    /// Returns what is installed and locked.
    ///
    /// # Errors
    ///
    /// If the lock file or the environment cannot be read.
    pub fn plugins(&self) -> Result<&Plugins, Diagnostics> {
        self.plugins.as_deref().map_err(Clone::clone)
    }

    pub(super) fn world(&self) -> &Arc<World> {
        &self.world
    }

    pub(super) fn starts(&self) -> &Arc<Semaphore> {
        &self.starts
    }

    /// Takes what was started early.
    pub(super) fn take_early(&self) -> BTreeMap<ProviderAddr, Started> {
        let coming = self.early.lock().take();
        coming.and_then(|it| it.join().ok()).unwrap_or_default()
    }

    /// Takes what an earlier run has left.
    pub(super) fn take_spare(&self, address: &ProviderAddr) -> Option<Started> {
        self.spare.lock().remove(address)
    }

    /// Keeps what the next run can use.
    pub(super) fn keep_spare(&self, address: ProviderAddr, started: Started) {
        self.spare.lock().insert(address, started);
    }

    /// Returns a provider whose process is started by the first call that needs it.
    ///
    /// # Errors
    ///
    /// Says why there is none.
    pub(super) fn start(&self, address: &ProviderAddr) -> Result<Started, Unusable> {
        let unreadable = |_| Unusable::Missing("the lock file cannot be read".into());
        let plugins = self.plugins.as_ref().map_err(unreadable)?;
        start(plugins, address, &self.world, &self.starts)
    }
}

/// What was started for nothing is ended.
impl Drop for ProviderSources {
    fn drop(&mut self) {
        let spare = std::mem::take(&mut *self.spare.lock());
        let has_spare = !spare.is_empty();
        drop(spare);
        if !self.take_early().is_empty() || has_spare {
            plugin::wait_for_plugins();
        }
    }
}

fn start(
    plugins: &Plugins,
    address: &ProviderAddr,
    world: &Arc<World>,
    starts: &Arc<Semaphore>,
) -> Result<Started, Unusable> {
    let located =
        plugins.locate(address).map_err(|why| match plugins.overridden().contains(address) {
            // What somebody develops is not installed by us.
            true => Unusable::Refused(why),
            false => Unusable::Missing(why),
        })?;
    let source = ProviderSource::of(located, address, world).map_err(Unusable::Refused)?;
    let unknown = || Unusable::Missing("nothing is known of it".into());
    let provider = source.start(world, starts).ok_or_else(unknown)?;
    Ok((source, provider))
}
