//! The providers of a run: one process or value per provider for its schema, one per configuration in use.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::sync::OnceCell;

use crate::address::{Provider as ProviderAddr, ProviderInstance};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::install::{Place, Plugins};
use crate::provider::{self, Provider};
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
    provider: Arc<dyn Provider>,
    schema: Arc<ProviderSchema>,
}

impl Pool {
    /// Starts every provider that is needed, unconfigured, and asks it for its schema.
    pub async fn start(
        world: Arc<World>,
        needed: impl IntoIterator<Item = ProviderAddr>,
    ) -> (Pool, Diagnostics) {
        let mut problems = Diagnostics::new();
        let plugins = problems.take(Plugins::open(&world, &Sources::default()));
        let mut pool = Pool { world, known: BTreeMap::new(), configured: Mutex::default() };
        let Some(plugins) = plugins else { return (pool, problems) };
        for address in needed {
            if pool.known.contains_key(&address) {
                continue;
            }
            let located = match plugins.locate(&address) {
                Ok(located) => located,
                Err(why) => {
                    problems.push(not_available(&address, &why));
                    continue;
                }
            };
            let started = match located.place {
                Place::Embedded => provider::embedded(&address, &pool.world),
                Place::Plugin(_) | Place::Running(_) => None,
            };
            let Some(provider) = started else {
                problems.push(not_startable(&address));
                continue;
            };
            let response = provider.schema().await;
            if response.failed() {
                problems.extend(response.diagnostics.iter().map(|it| {
                    Diagnostic::error(it.summary.clone())
                        .detail(format!("{address}: {}", it.detail))
                }));
                continue;
            }
            pool.known.insert(address, Known { provider, schema: response.value });
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
                let provider = provider::embedded(&instance.config.provider, &self.world)?;
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

fn not_startable(address: &ProviderAddr) -> Diagnostic {
    Diagnostic::error("Failed to load plugin schemas").detail(format!(
        "The plugin of the provider {address} is installed, but this version of the program starts no plugins."
    ))
}
