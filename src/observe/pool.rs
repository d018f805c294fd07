//! The providers of a run: one process or value per provider for its schema, one per configuration in use.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::OnceCell;

use super::origin::Origin;
use crate::address::{Provider as ProviderAddr, ProviderInstance};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::install::Plugins;
use crate::provider::{Provider, plugin};
use crate::schema::{ProviderSchema, Schema};
use crate::world::World;

/// The providers of a run.
pub struct Pool {
    world: Arc<World>,
    known: BTreeMap<ProviderAddr, Known>,
    configured: Mutex<BTreeMap<ProviderInstance, Configured>>,
}

/// A provider once it is configured; `None` where that failed.
type Configured = Arc<OnceCell<Option<Arc<dyn Provider>>>>;

struct Known {
    origin: Origin,
    /// The first process: it tells the schema, checks configurations, and becomes the first configured instance.
    provider: Arc<dyn Provider>,
    is_taken: AtomicBool,
    schema: Arc<ProviderSchema>,
}

impl Known {
    /// Returns a process that nobody has configured: the first one, once, and new ones after.
    fn fresh(&self, world: &Arc<World>) -> Option<Arc<dyn Provider>> {
        match self.is_taken.swap(true, Ordering::Relaxed) {
            false => Some(self.provider.clone()),
            true => {
                let provider = self.origin.start(world)?;
                provider.begin();
                Some(provider)
            }
        }
    }
}

impl Pool {
    /// Starts every provider that is needed, unconfigured, and asks it for its schema.
    pub async fn start(
        world: Arc<World>,
        needed: impl IntoIterator<Item = ProviderAddr>,
    ) -> (Pool, Diagnostics) {
        Pool::of(world, needed, |it| it.begin()).await
    }

    /// Finds out what the providers announce, for those who call none of them: no process is started for what is known.
    pub async fn schemas_only(
        world: Arc<World>,
        needed: impl IntoIterator<Item = ProviderAddr>,
    ) -> (Pool, Diagnostics) {
        Pool::of(world, needed, |_| {}).await
    }

    async fn of(
        world: Arc<World>,
        needed: impl IntoIterator<Item = ProviderAddr>,
        begin: impl Fn(&Arc<dyn Provider>),
    ) -> (Pool, Diagnostics) {
        let mut pool = Pool { world, known: BTreeMap::new(), configured: Mutex::default() };
        let mut problems = Diagnostics::new();
        let plugins = problems.take(Plugins::open(&pool.world, &Sources::default()));
        let Some(plugins) = plugins else { return (pool, problems) };
        let mut started = Vec::new();
        for address in needed.into_iter().collect::<BTreeSet<_>>() {
            let located = plugins.locate(&address);
            let origin = located.and_then(|it| Origin::of(it, &address, &pool.world));
            match origin.map(|it| (it.start(&pool.world), it)) {
                Ok((Some(provider), origin)) => {
                    begin(&provider);
                    started.push((address, origin, provider));
                }
                Ok((None, _)) => problems.push(not_available(&address, "nothing is known of it")),
                Err(why) => problems.push(not_available(&address, &why)),
            }
        }
        for (address, origin, provider) in started {
            let response = provider.schema().await;
            if response.failed() {
                problems.extend(
                    response
                        .diagnostics
                        .iter()
                        .map(|it| Diagnostic::error(it.summary.clone()).detail(it.detail.clone())),
                );
                continue;
            }
            let is_taken = AtomicBool::new(false);
            pool.known
                .insert(address, Known { origin, provider, is_taken, schema: response.value });
        }
        (pool, problems)
    }

    /// Returns what a provider announces.
    pub fn schema(&self, provider: &ProviderAddr) -> Option<&Arc<ProviderSchema>> {
        self.known.get(provider).map(|it| &it.schema)
    }

    /// Iterates over every provider and what it announces.
    pub fn schemas(&self) -> impl Iterator<Item = (&ProviderAddr, &Arc<ProviderSchema>)> {
        self.known.iter().map(|(address, it)| (address, &it.schema))
    }

    /// Returns the schema of a resource type.
    pub fn resource_schema(
        &self,
        provider: &ProviderAddr,
        mode: crate::address::Mode,
        kind: &str,
    ) -> Option<&Arc<Schema>> {
        let schema = self.schema(provider)?;
        match mode {
            crate::address::Mode::Managed => schema.resources.get(kind),
            crate::address::Mode::Data => schema.data_sources.get(kind),
            crate::address::Mode::Ephemeral => schema.ephemeral.get(kind),
        }
    }

    /// Returns a provider that has no configuration, for calls that need none.
    pub fn unconfigured(&self, provider: &ProviderAddr) -> Option<Arc<dyn Provider>> {
        self.known.get(provider).map(|it| it.provider.clone())
    }

    /// Returns a configured provider instance; `configure` is run by whoever asks first, and gives `None` on failure.
    pub async fn configured<F>(
        &self,
        instance: &ProviderInstance,
        configure: F,
    ) -> Option<Arc<dyn Provider>>
    where
        F: AsyncFnOnce(Arc<dyn Provider>) -> bool,
    {
        let cell = {
            let mut configured = self.configured.lock().unwrap_or_else(|it| it.into_inner());
            configured.entry(instance.clone()).or_default().clone()
        };
        let made = cell
            .get_or_init(|| async {
                let provider = self.known.get(&instance.config.provider)?.fresh(&self.world)?;
                configure(provider.clone()).await.then_some(provider)
            })
            .await;
        made.clone()
    }

    /// Asks every running provider to end soon.
    pub async fn stop(&self) {
        let cells: Vec<_> = {
            let configured = self.configured.lock().unwrap_or_else(|it| it.into_inner());
            configured.values().cloned().collect()
        };
        for cell in cells {
            if let Some(Some(provider)) = cell.get() {
                provider.stop().await;
            }
        }
    }
}

/// The last who holds the providers waits until their processes have ended.
impl Drop for Pool {
    fn drop(&mut self) {
        self.known.clear();
        self.configured.lock().unwrap_or_else(|it| it.into_inner()).clear();
        plugin::settle();
    }
}

fn not_available(address: &ProviderAddr, why: &str) -> Diagnostic {
    let way_out = match address.is_builtin() {
        true => format!(
            "This configuration requires built-in provider {address}, but that provider isn't available in this program."
        ),
        false => format!(
            "This configuration requires provider {address}, but that provider isn't available: {why}. You may be able to install it automatically by running:\n  tofu init"
        ),
    };
    Diagnostic::error("Missing required provider").detail(way_out)
}
