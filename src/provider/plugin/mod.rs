//! Plugins, which are programs of their own: a process, a socket, versions 5 and 6 of the plugin protocol.
//!
//! [`ProvisionerPlugin`] is a provisioner. [`Plugin`] is a provider in the terms of [`Provider`](super::Provider). Its process is started when it is said
//! that it will be needed, and awaited by the first call; it ends when the last one who holds it lets go.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::JoinHandle;

use super::{ProviderDiagnostic, Response};
use crate::address;
use crate::error::Error;
use crate::schema::ProviderSchema;
use crate::value::Value;
use crate::world::World;

mod cache;
mod calls;
mod client;
mod examine;
mod handshake;
mod launch;
mod log;
mod machine;
mod opened;
mod process;
mod provisioner;
mod runtime;
mod schema;
#[cfg(feature = "entail-plugin")]
pub mod serve;
mod sockets;
mod tail;
mod tls;
mod values;
mod wire;

use cache::{Cache, WORTH_USING};
pub use examine::examine;
pub use handshake::Socket;
pub use opened::Opened;
use process::Process;
pub use provisioner::ProvisionerPlugin;
pub use runtime::wait_for_plugins;
use schema::Announced;
use values::{diagnostics, encode};
use wire::entail::plugin as msg;

/// The summary of problems with plugins of which nothing is known.
pub const NOT_LOADED: &str = "Failed to load plugin schemas";

/// A plugin, and what is known of it whatever its processes do.
#[derive(Debug)]
pub struct Program {
    /// Whom it serves.
    pub provider: address::Provider,
    /// Where it is.
    pub place: Place,
    /// Its version; of one under development nothing is known, and nothing remembered.
    pub version: Option<String>,
    /// The file that was checked, which is the one to be started; `None` where nothing was to be checked.
    opened: Option<Arc<Opened>>,
    announced: OnceCell<Announced>,
    digest: OnceCell<Option<String>>,
    checked: Mutex<FxHashMap<Vec<u8>, Vec<ProviderDiagnostic>>>,
}

/// Where a plugin is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file to be started.
    Executable(PathBuf),
    /// Somebody else has started it.
    Running {
        /// Where it listens.
        socket: Socket,
        /// The major version that it speaks.
        version: u32,
    },
}

/// Returns the checksum of the package in a folder whose program was opened; `take` reads it whole, where that was not done before.
///
/// # Errors
///
/// If the package cannot be read.
pub fn remembered_sum(
    world: &World,
    folder: &Path,
    program: &Opened,
    take: impl FnOnce() -> io::Result<String>,
) -> io::Result<String> {
    match Cache::of(world) {
        Some(cache) => cache.package_sum(folder, program, take),
        None => take(),
    }
}

impl Program {
    /// Returns a plugin that is started from a file.
    pub fn executable(
        provider: address::Provider,
        path: PathBuf,
        version: Option<String>,
        opened: Option<Arc<Opened>>,
    ) -> Arc<Program> {
        Program::at(provider, Place::Executable(path), version, opened)
    }

    /// Returns a plugin that runs already: its network and address, and the version of the protocol (0 means 5).
    ///
    /// # Errors
    ///
    /// If the network is not known.
    pub fn running(
        provider: address::Provider,
        network: &str,
        address: &str,
        version: u32,
    ) -> Result<Arc<Program>, Error> {
        Ok(Program::at(provider, process::place_of(network, address, version)?, None, None))
    }

    fn at(
        provider: address::Provider,
        place: Place,
        version: Option<String>,
        opened: Option<Arc<Opened>>,
    ) -> Arc<Program> {
        Arc::new(Program {
            provider,
            place,
            version,
            opened,
            announced: OnceCell::new(),
            digest: OnceCell::new(),
            checked: Mutex::default(),
        })
    }

    /// Returns the cache and the name under which this plugin stands there, if nothing long must be done for it.
    fn remembered(&self, world: &World) -> Option<(Cache, String)> {
        let (cache, path) = self.cache(world)?;
        let digest = cache.known_digest(path)?;
        Some((cache, self.name(&digest)))
    }

    /// Like [`Program::remembered`], and reads the whole program where that was not done before.
    async fn to_remember(&self, world: &World) -> Option<(Cache, String)> {
        let (cache, path) = self.cache(world)?;
        let take = {
            let (cache, path) = (cache.clone(), path.to_owned());
            move || cache.digest(&path)
        };
        let taken = self
            .digest
            .get_or_init(|| async { tokio::task::spawn_blocking(take).await.ok().flatten() });
        let name = self.name(taken.await.as_ref()?);
        Some((cache, name))
    }

    fn cache(&self, world: &World) -> Option<(Cache, &PathBuf)> {
        match &self.place {
            Place::Executable(path) if self.version.is_some() => Some((Cache::of(world)?, path)),
            _ => None,
        }
    }

    fn checked(&self, key: &[u8]) -> Option<Vec<ProviderDiagnostic>> {
        self.checked.lock().get(key).cloned()
    }

    fn keep_checked(&self, key: Vec<u8>, found: Vec<ProviderDiagnostic>) {
        self.checked.lock().insert(key, found);
    }

    fn name(&self, digest: &str) -> String {
        let version = self.version.as_deref().unwrap_or_default();
        cache::name_of(&self.provider.to_string(), version, digest)
    }
}

/// A provider that is a process. A copy is the same process.
#[derive(Clone)]
pub struct Plugin {
    program: Arc<Program>,
    world: Arc<World>,
    /// How many more plugins may start now.
    starts: Arc<Semaphore>,
    process: Arc<OnceCell<Result<Arc<Process>, ProviderDiagnostic>>>,
    starting: Arc<Starting>,
    /// Whether this process was asked for its schema, where it insists.
    introduced: Arc<OnceCell<()>>,
    /// What the module whose objects calls are about says to the provider.
    meta: Option<Value>,
}

/// The start of a process for which nobody waits. It is given up with the plugin.
#[derive(Debug, Default)]
struct Starting(Mutex<Vec<JoinHandle<()>>>);

impl Starting {
    fn keep(&self, start: JoinHandle<()>) {
        self.0.lock().push(start);
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        for start in self.0.get_mut().drain(..) {
            start.abort();
            // What it has made so far goes with it, before the program does.
            runtime::finally(async move { drop(start.await) });
        }
    }
}

impl Plugin {
    /// Returns a plugin whose process is started by the first call that needs it.
    pub fn new(program: Arc<Program>, world: Arc<World>, starts: Arc<Semaphore>) -> Plugin {
        Plugin {
            program,
            world,
            starts,
            process: Arc::default(),
            starting: Arc::default(),
            introduced: Arc::default(),
            meta: None,
        }
    }

    /// Starts the process, and waits for nothing.
    fn start(&self) {
        let Ok(handle) = runtime::handle() else { return };
        let (program, world) = (self.program.clone(), self.world.clone());
        let (process, starts) = (self.process.clone(), self.starts.clone());
        self.starting.keep(handle.spawn(async move {
            process.get_or_init(|| started(&program, &world, &starts)).await;
        }));
        let (program, world) = (self.program.clone(), self.world.clone());
        handle.spawn(async move { program.to_remember(&world).await });
    }

    /// Returns the process, once it is ready.
    async fn process(&self) -> Result<Arc<Process>, ProviderDiagnostic> {
        // Every call comes by here: once there is an answer, the other thread is left in peace.
        if let Some(ready) = self.process.get() {
            return ready.clone();
        }
        let handle = runtime::handle().map_err(|it| not_loaded(&self.program.provider, &it))?;
        let (program, world) = (self.program.clone(), self.world.clone());
        let (process, starts) = (self.process.clone(), self.starts.clone());
        let ready = handle.spawn(async move {
            process.get_or_init(|| started(&program, &world, &starts)).await.clone()
        });
        ready.await.unwrap_or_else(|it| Err(not_loaded(&self.program.provider, &Error::of(it))))
    }

    /// Returns what the plugin announces: asked once for all its processes.
    async fn announced(&self) -> Result<&Announced, Vec<ProviderDiagnostic>> {
        self.program.announced.get_or_try_init(|| self.ask()).await
    }

    async fn ask(&self) -> Result<Announced, Vec<ProviderDiagnostic>> {
        let (kept, least) = match self.world.is_trusted {
            true => (self.program.remembered(&self.world), WORTH_USING),
            // Nothing else will say what it announces.
            false => (self.program.to_remember(&self.world).await, 0),
        };
        if let Some((version, answer)) = kept.and_then(|(cache, name)| cache.schema(&name, least))
            && let Ok((announced, _)) = schema::announced(version, answer)
        {
            return Ok(announced);
        }
        let process = self.process().await.map_err(|it| vec![it])?;
        let version = process.client.version();
        let mut answer = process
            .call("GetProviderSchema", |it| it.schema(Default::default()))
            .await
            .map_err(|it| vec![it])?;
        let identities = process
            .call("GetResourceIdentitySchemas", |it| it.identity_schemas(Default::default()))
            .await;
        // Many plugins have no such call, and all can do without.
        answer.identity_schemas = identities.map(|it| it.identity_schemas).unwrap_or_default();
        // This process need not be asked again.
        let _ = self.introduced.set(());
        schema::check(version, &answer)?;
        let (announced, found) = schema::announced(version, answer.clone())?;
        if found.is_empty() {
            let (program, world) = (self.program.clone(), self.world.clone());
            runtime::finally(async move {
                if let Some((cache, name)) = program.to_remember(&world).await {
                    let keep = move || cache.keep_schema(&name, version, &answer);
                    // Where it is not kept, it is asked again.
                    let _ = tokio::task::spawn_blocking(keep).await;
                }
            });
        }
        Ok(announced)
    }

    /// Checks a provider configuration, unless the same plugin found no fault with the same one before.
    async fn checked_config(
        &self,
        config: &Value,
    ) -> Result<Vec<ProviderDiagnostic>, Vec<ProviderDiagnostic>> {
        let ty = self.announced().await?.schema.provider.block.ty();
        let encoded = encode(config, ty);
        let key = self.config_key(&encoded);
        if let Some(found) = self.program.checked(&key) {
            return Ok(found);
        }
        let is_memorable = config.is_wholly_known();
        if is_memorable
            && let Some((cache, name)) = self.program.remembered(&self.world)
            && cache.is_sound(&name, &key)
        {
            return Ok(Vec::new());
        }
        let (process, _) = self.ready().await?;
        let request = msg::validate_provider_config::Request { config: encoded };
        let answer = process
            .call("ValidateProviderConfig", |it| it.validate_provider(request))
            .await
            .map_err(|it| vec![it])?;
        let found = diagnostics(answer.diagnostics);
        self.program.keep_checked(key.clone(), found.clone());
        if found.is_empty() && is_memorable {
            let (program, world) = (self.program.clone(), self.world.clone());
            runtime::finally(async move {
                if let Some((cache, name)) = program.to_remember(&world).await {
                    cache.keep_sound(&name, &key);
                }
            });
        }
        Ok(found)
    }

    /// What the judgement of a configuration rests on: itself, and the environment variables named after the provider.
    fn config_key(&self, encoded: &Option<msg::DynamicValue>) -> Vec<u8> {
        let mut key = encoded.as_ref().map(|it| it.msgpack.to_vec()).unwrap_or_default();
        let prefix = format!("{}_", self.program.provider.kind.to_uppercase().replace('-', "_"));
        for (name, value) in self.world.environment.iter().filter(|it| it.0.starts_with(&prefix)) {
            key.extend(format!("\0{name}={value}").into_bytes());
        }
        key
    }

    /// Returns the process and what it announces, ready for a call about something.
    async fn ready(&self) -> Result<(Arc<Process>, &Announced), Vec<ProviderDiagnostic>> {
        let announced = self.announced().await?;
        let process = self.process().await.map_err(|it| vec![it])?;
        if !announced.schema_optional {
            let ask = || async {
                let asked = process.call("GetProviderSchema", |it| it.schema(Default::default()));
                asked.await.map(|_| ()).map_err(|it| vec![it])
            };
            self.introduced.get_or_try_init(ask).await?;
        }
        Ok((process, announced))
    }

    async fn provider_schema(&self) -> Response<Arc<ProviderSchema>> {
        match self.announced().await {
            Ok(it) => Response::ok(it.schema.clone()),
            Err(diagnostics) => Response { value: Arc::default(), diagnostics },
        }
    }
}

async fn started(
    program: &Program,
    world: &World,
    starts: &Semaphore,
) -> Result<Arc<Process>, ProviderDiagnostic> {
    // Nobody closes it; and if somebody did, starting is better than not starting.
    let _turn = starts.acquire().await;
    let started = Process::start(program, world).await;
    started.map(Arc::new).map_err(|it| not_loaded(&program.provider, &it))
}

/// The plugin cannot be started, or nobody can speak with it.
fn not_loaded(provider: &address::Provider, why: &Error) -> ProviderDiagnostic {
    let detail = format!("failed to instantiate provider \"{provider}\" to obtain schema: {why}");
    ProviderDiagnostic::error(NOT_LOADED, detail)
}
