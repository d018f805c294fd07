//! The providers of a run: one process or value per provider for its schema, one per configuration in use.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

use futures_util::future::join_all;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{OnceCell, Semaphore};

use super::provider_source::ProviderSource;
use super::provider_sources::{ProviderSources, Unusable};
use super::provisioners::Provisioners;
use crate::address::{Provider as ProviderAddr, ProviderInstance};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::lower::structure::ResourceNode;
use crate::provider::mock::Mocks;
use crate::provider::{Provider, plugin};
use crate::schema::{ProviderSchema, Schema};
use crate::world::{PROGRAM, World};

/// The providers of a run.
pub struct Pool {
    world: Arc<World>,
    starts: Arc<Semaphore>,
    known: BTreeMap<ProviderAddr, Known>,
    configured: Mutex<BTreeMap<Held, Configured>>,
    /// Those that were configured in this walk, released or not: each with whether its arguments were wholly known.
    called: Mutex<BTreeMap<ProviderInstance, bool>>,
    /// Those that were handed out to be configured.
    handed_out: Mutex<Vec<Weak<dyn Provider>>>,
    /// What is mocked.
    pub mocks: Arc<Mocks>,
    /// The provisioners that are plugins.
    pub provisioners: Provisioners,
}

/// The provider instances that hold a process: each with the values that its arguments have or, for what is destroyed, had.
type Held = (ProviderInstance, Era);

/// Which values the arguments of a provider instance are evaluated with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Era {
    /// Those of this run.
    #[default]
    Current,
    /// Those from before the plan is carried out: objects are destroyed where they exist.
    Former,
}

/// A provider once it is configured; `None` where that failed.
type Configured = Arc<OnceCell<Option<Ready>>>;

/// A configured provider, and whether its arguments are the same whenever they are evaluated.
#[derive(Clone)]
struct Ready {
    provider: Arc<dyn Provider>,
    configured: Configuring,
}

/// What became of configuring a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Configuring {
    /// It refused, or its arguments cannot be evaluated.
    Failed,
    /// It is configured with arguments that are not wholly known.
    Half,
    /// It is configured with arguments that may be others when they are evaluated later.
    Passing,
    /// It is configured for good.
    Lasting,
}

struct Known {
    source: ProviderSource,
    first: Mutex<First>,
    schema: Arc<ProviderSchema>,
}

/// The process that tells the schema, checks configurations, and becomes the first configured instance.
struct First {
    provider: Arc<dyn Provider>,
    is_taken: bool,
}

impl Known {
    fn first(&self) -> MutexGuard<'_, First> {
        self.first.lock()
    }
}

impl Pool {
    /// Starts every provider that is needed, unconfigured, and asks it for its schema.
    pub async fn start(
        provider_sources: &ProviderSources,
        needed: impl IntoIterator<Item = ProviderAddr>,
    ) -> (Pool, Diagnostics) {
        Pool::of(provider_sources, needed, |it| it.begin()).await
    }

    /// Finds out what the providers announce, for those who call none of them: no process is started for what is known.
    pub async fn schemas_only(
        provider_sources: &ProviderSources,
        needed: impl IntoIterator<Item = ProviderAddr>,
    ) -> (Pool, Diagnostics) {
        Pool::of(provider_sources, needed, |_| {}).await
    }

    async fn of(
        provider_sources: &ProviderSources,
        needed: impl IntoIterator<Item = ProviderAddr>,
        begin: impl Fn(&Arc<dyn Provider>),
    ) -> (Pool, Diagnostics) {
        let mut pool = Pool {
            world: provider_sources.world().clone(),
            starts: provider_sources.starts().clone(),
            known: BTreeMap::new(),
            configured: Mutex::default(),
            called: Mutex::default(),
            handed_out: Mutex::default(),
            mocks: Arc::default(),
            provisioners: Provisioners::of(provider_sources.world()),
        };
        let mut problems = Diagnostics::new();
        let plugins = match provider_sources.plugins() {
            Ok(plugins) => plugins,
            Err(unreadable) => return (pool, unreadable),
        };
        let mut early = provider_sources.take_early();
        let (mut started, mut broken) = (Vec::new(), Vec::new());
        for address in needed.into_iter().collect::<BTreeSet<_>>() {
            let spare = provider_sources.take_spare(&address).or_else(|| early.remove(&address));
            let it = spare.map_or_else(|| provider_sources.start(&address), Ok);
            match it {
                Ok((source, provider)) => {
                    begin(&provider);
                    started.push((address, source, provider));
                }
                Err(Unusable::Missing(why)) => problems.push(plugins.unavailable(&address, &why)),
                Err(Unusable::Refused(why)) => broken.push(not_started(&address, &why)),
            }
        }
        drop(early);
        for (address, source, provider) in started {
            let response = provider.schema().await;
            if response.failed() && !provider_sources.world().is_trusted {
                problems.push(not_asked(&address));
                continue;
            }
            if response.failed() {
                broken.extend(response.diagnostics.into_iter().map(|it| match &*it.summary {
                    plugin::NOT_LOADED => it.detail,
                    summary => format!(
                        "failed to retrieve schema from provider \"{address}\": {summary}: {}",
                        it.detail
                    ),
                }));
                continue;
            }
            let first = Mutex::new(First { provider, is_taken: false });
            pool.known.insert(address, Known { source, first, schema: response.value });
        }
        problems.extend(not_loaded(&broken));
        (pool, problems)
    }

    /// Says which of some providers cannot be asked for their schemas, each by itself. Those that are missing are told elsewhere.
    pub async fn unusable(
        provider_sources: &ProviderSources,
        idle: impl IntoIterator<Item = ProviderAddr>,
    ) -> Diagnostics {
        let mut problems = Diagnostics::new();
        for address in idle {
            let why = match provider_sources.start(&address) {
                Ok((_, provider)) => {
                    let response = provider.schema().await;
                    let mut found = response.diagnostics.into_iter();
                    found.find(|it| it.severity == Severity::Error).map(|it| it.detail)
                }
                Err(Unusable::Refused(why)) => Some(not_started(&address, &why)),
                Err(Unusable::Missing(_)) => None,
            };
            problems.extend(why.map(|why| {
                let what = "failed to read provider configuration schema for";
                Diagnostic::error(format!("{what} {address}: {why}"))
            }));
        }
        problems
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
        self.schema(provider)?.of(mode, kind)
    }

    /// Returns the schema of a resource's objects.
    pub fn schema_of(&self, resource: &ResourceNode) -> Option<&Arc<Schema>> {
        let name = &resource.address.resource;
        self.resource_schema(&resource.provider.as_ref()?.provider, name.mode, &name.kind)
    }

    /// Returns a provider for calls that need no configuration.
    pub fn unconfigured(&self, provider: &ProviderAddr) -> Option<Arc<dyn Provider>> {
        self.known.get(provider).map(|it| it.first().provider.clone())
    }

    fn configured_now(&self) -> MutexGuard<'_, BTreeMap<Held, Configured>> {
        self.configured.lock()
    }

    /// Returns a configured provider instance; `configure` is run by whoever asks first, and gives `None` on failure.
    pub async fn configured<F>(
        &self,
        (instance, era): (&ProviderInstance, Era),
        configure: F,
    ) -> Option<Arc<dyn Provider>>
    where
        F: AsyncFnOnce(Arc<dyn Provider>) -> Configuring,
    {
        let held = (instance.clone(), era);
        let known = self.configured_now().get(&held).cloned();
        let fresh = || self.configured_now().entry(held.clone()).or_default().clone();
        let cell = known.unwrap_or_else(fresh);
        let made = cell
            .get_or_init(|| async {
                let provider = self.fresh(&instance.config.provider)?;
                let configured = configure(provider.clone()).await;
                self.called.lock().insert(instance.clone(), configured != Configuring::Half);
                (configured != Configuring::Failed).then_some(Ready { provider, configured })
            })
            .await;
        made.as_ref().map(|it| it.provider.clone())
    }

    /// Returns a process that nobody has configured: the first one, once, and new ones after.
    fn fresh(&self, provider: &ProviderAddr) -> Option<Arc<dyn Provider>> {
        let known = self.known.get(provider)?;
        let mut first = known.first();
        let provider = match std::mem::replace(&mut first.is_taken, true) {
            false => first.provider.clone(),
            true => {
                let provider = known.source.start(&self.world, &self.starts)?;
                provider.begin();
                provider
            }
        };
        let mut handed_out = self.handed_out.lock();
        handed_out.retain(|it| it.strong_count() > 0);
        handed_out.push(Arc::downgrade(&provider));
        Some(provider)
    }

    /// Lets a configured instance go: its process ends with the last call to it. Whoever asks again gets a new one.
    pub fn release(&self, instance: &ProviderInstance) {
        [Era::Current, Era::Former].into_iter().for_each(|it| self.release_one(instance, it));
    }

    fn release_one(&self, instance: &ProviderInstance, era: Era) {
        let Some(cell) = self.configured_now().remove(&(instance.clone(), era)) else { return };
        let Some(known) = self.known.get(&instance.config.provider) else { return };
        let mut first = known.first();
        let is_first = |it: &Ready| Arc::ptr_eq(&it.provider, &first.provider);
        let was_first = cell.get().and_then(Option::as_ref).is_some_and(is_first);
        if was_first {
            self.renew(known, &mut first);
        }
    }

    /// Returns the instances that were configured in this walk, each with whether its arguments were wholly known.
    pub fn called(&self) -> Vec<(ProviderInstance, bool)> {
        self.called.lock().iter().map(|it| (it.0.clone(), *it.1)).collect()
    }

    /// Returns whether any provider is a process of its own.
    pub fn has_processes(&self) -> bool {
        self.known.values().any(|it| matches!(it.source, ProviderSource::Plugin(_)))
    }

    /// Returns whether a provider is a process of its own.
    pub fn is_process(&self, provider: &ProviderAddr) -> bool {
        self.known.get(provider).is_some_and(|it| matches!(it.source, ProviderSource::Plugin(_)))
    }

    /// Ends the processes that nobody has configured, of providers that are not needed. Whoever asks one of these
    /// something gets a new one.
    pub fn rest(&self, is_needed: impl Fn(&ProviderAddr) -> bool) {
        for (_, known) in self.known.iter().filter(|it| !is_needed(it.0)) {
            let mut first = known.first();
            if !first.is_taken {
                self.renew(known, &mut first);
            }
        }
    }

    /// Puts a process that nothing has started in the place of the first one.
    fn renew(&self, known: &Known, first: &mut First) {
        if let Some(provider) = known.source.start(&self.world, &self.starts) {
            *first = First { provider, is_taken: false };
        }
    }

    /// Prepares another walk: what it does not need is let go, and what was configured with passing arguments too.
    pub fn turn(&self, needs: impl Fn(&ProviderInstance) -> bool) {
        self.called.lock().clear();
        let is_kept = |it: &(&Held, &Configured)| {
            let is_lasting =
                it.1.get()
                    .and_then(Option::as_ref)
                    .is_some_and(|it| it.configured == Configuring::Lasting);
            is_lasting && needs(&it.0.0)
        };
        let gone: Vec<ProviderInstance> = {
            let configured = self.configured_now();
            configured.iter().filter(|it| !is_kept(it)).map(|it| it.0.0.clone()).collect()
        };
        gone.iter().for_each(|it| self.release(it));
    }

    /// Gives back what nobody has configured, to whom asks these sources next.
    pub fn give_back(&self, provider_sources: &ProviderSources) {
        for (address, known) in &self.known {
            let first = known.first();
            if !first.is_taken {
                let started = (known.source.clone(), first.provider.clone());
                provider_sources.keep_spare(address.clone(), started);
            }
        }
    }

    /// Asks every running provider to end what it does, all at once, those that are being configured among them.
    pub async fn stop(&self) {
        let running: Vec<_> = self.handed_out.lock().iter().filter_map(Weak::upgrade).collect();
        join_all(running.iter().map(|it| it.stop())).await;
    }
}

/// The last who holds the providers waits until their processes have ended.
impl Drop for Pool {
    fn drop(&mut self) {
        self.known.clear();
        self.configured_now().clear();
        self.provisioners.end();
        plugin::wait_for_plugins();
    }
}

/// A plugin of a folder that is not trusted, of which nothing is remembered.
fn not_asked(address: &ProviderAddr) -> Diagnostic {
    Diagnostic::warning("Provider not started").detail(format!(
        "Nothing is known here of what {address} accepts, so that its blocks are not checked: the editor does not say that this folder is trusted, and a folder may hold any program.\n\nhint: if you trust it, run \"{PROGRAM} validate\" in it once, or set the initialization option \"trusted\" of the editor"
    ))
}

/// Says that a provider refused to start when its schema was wanted.
fn not_started(provider: &ProviderAddr, why: &dyn std::fmt::Display) -> String {
    format!("failed to instantiate provider \"{provider}\" to obtain schema: {why}")
}

/// Plugins that cannot be asked what they accept.
fn not_loaded(broken: &[String]) -> Option<Diagnostic> {
    let list = match broken {
        [] => return None,
        [one] => one.clone(),
        many => format!("{} problems:\n\n- {}", many.len(), many.join("\n- ")),
    };
    let detail = format!("Error while loading schemas for plugin components: {list}.");
    Some(Diagnostic::error(plugin::NOT_LOADED).detail(detail))
}
