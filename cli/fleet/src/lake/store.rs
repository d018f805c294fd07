//! Where a lake lies: a folder, or an object store; read and written as whole files.

use std::sync::Arc;

use bytes::Bytes;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::world::World;
use futures_util::TryStreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use tokio::runtime::Runtime;
use url::Url;

use super::catalogue::{Catalogue, VERSION};

/// The file that says which others are whole.
const CATALOGUE: &str = "catalogue.json";

/// The folder by which rounds on a cluster hand rows to each other.
pub const EXCHANGE: &str = "exchange";

/// As long as no question is under way.
const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);

/// A lake.
#[derive(Clone, Debug)]
pub struct Lake {
    /// How it is named in messages.
    pub name: String,
    /// The store.
    pub store: Arc<dyn ObjectStore>,
    /// By which address others find it.
    pub address: String,
    prefix: Path,
    runtime: Arc<Runtime>,
}

impl Lake {
    /// Opens the place of a lake; a folder is made where `is_new` says that it may be.
    ///
    /// # Errors
    ///
    /// If there is no such place.
    pub fn open(world: &World, name: &str, is_new: bool) -> Result<Lake, Diagnostics> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(crate::reading::threads())
            .enable_all()
            .build();
        let runtime = Arc::new(runtime.map_err(|why| trouble(name, "cannot be opened", &why))?);
        if name.contains("://") {
            return Lake::at_address(world, name, runtime);
        }
        let folder = world.root.join(name);
        if is_new {
            std::fs::create_dir_all(&folder)
                .map_err(|why| trouble(name, "cannot be made", &why))?;
        }
        let store = LocalFileSystem::new_with_prefix(&folder)
            .map_err(|why| trouble(name, "cannot be opened", &why))?;
        let whole = folder.canonicalize().map_err(|why| trouble(name, "cannot be opened", &why))?;
        let address = Url::from_directory_path(&whole)
            .map_err(|()| trouble(name, "has no address", &"it is no whole path"))?;
        Ok(Lake {
            name: name.to_owned(),
            store: Arc::new(store),
            address: address.to_string(),
            prefix: Path::default(),
            runtime,
        })
    }

    fn at_address(world: &World, name: &str, runtime: Arc<Runtime>) -> Result<Lake, Diagnostics> {
        let address = Url::parse(name).map_err(|why| trouble(name, "is no address", &why))?;
        let options = world.environment.iter().map(|it| (it.0.to_lowercase(), it.1.clone()));
        let (store, prefix) = object_store::parse_url_opts(&address, options)
            .map_err(|why| trouble(name, "cannot be opened", &why))?;
        let (name, address) = (name.to_owned(), name.to_owned());
        Ok(Lake { name, store: Arc::from(store), address, prefix, runtime })
    }

    /// Waits for something of the store.
    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Returns where a file is in the store.
    pub fn path(&self, file: &str) -> Path {
        file.split('/').fold(self.prefix.clone(), |path, it| path.join(it.to_owned()))
    }

    /// Reads a file; nothing where there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read(&self, file: &str) -> Result<Option<Bytes>, Diagnostics> {
        let path = self.path(file);
        let read = async { self.store.get(&path).await?.bytes().await };
        match self.wait(read) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(why) => Err(self.failed(file, "read", &why)),
        }
    }

    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, file: &str, bytes: Bytes) -> Result<(), Diagnostics> {
        let path = self.path(file);
        let written = self.wait(self.store.put(&path, PutPayload::from(bytes)));
        written.map(drop).map_err(|why| self.failed(file, "written", &why))
    }

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn remove(&self, file: &str) -> Result<(), Diagnostics> {
        let path = self.path(file);
        self.wait(self.store.delete(&path)).map_err(|why| self.failed(file, "removed", &why))
    }

    /// Reads the catalogue; nothing where nothing was ever indexed here.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is of another version.
    pub fn catalogue(&self) -> Result<Option<Catalogue>, Diagnostics> {
        let Some(bytes) = self.read(CATALOGUE)? else { return Ok(None) };
        let version: Versioned =
            serde_json::from_slice(&bytes).map_err(|why| self.failed(CATALOGUE, "read", &why))?;
        if version.version != VERSION {
            return Err(self.of_version(version.version).into());
        }
        let catalogue: Catalogue =
            serde_json::from_slice(&bytes).map_err(|why| self.failed(CATALOGUE, "read", &why))?;
        Ok(Some(catalogue))
    }

    /// Reads the catalogue of a lake that is to be asked.
    ///
    /// # Errors
    ///
    /// As for [`Lake::catalogue`], and if there is none.
    pub fn indexed(&self) -> Result<Catalogue, Diagnostics> {
        self.catalogue()?.ok_or_else(|| {
            Diagnostic::error("No lake")
                .detail(format!(
                    "There is no index in {}. Make one with: entail fleet index -out={}",
                    self.name, self.name
                ))
                .into()
        })
    }

    /// Puts a catalogue in the place of the last one. From then on, the files that it names are the lake.
    ///
    /// # Errors
    ///
    /// If it cannot be written: the last one stays.
    pub fn put(&self, catalogue: &Catalogue) -> Result<(), Diagnostics> {
        let text = serde_json::to_vec_pretty(catalogue)
            .map_err(|why| self.failed(CATALOGUE, "written", &why))?;
        self.write(CATALOGUE, text.into())
    }

    /// Removes files that no catalogue names any more: what earlier indexes have left, or one that was killed.
    ///
    /// # Errors
    ///
    /// If they cannot be listed or removed.
    pub fn tidy(&self, catalogue: &Catalogue) -> Result<(), Diagnostics> {
        let named: std::collections::BTreeSet<Path> = catalogue
            .files
            .values()
            .flat_map(|it| it.values())
            .map(|it| self.path(&it.path))
            .collect();
        let (tables, exchange) = (self.path("tables"), self.path(EXCHANGE));
        let removed = async {
            let all: Vec<_> = self.store.list(Some(&tables)).try_collect().await?;
            let mut gone: Vec<_> =
                all.into_iter().filter(|it| !named.contains(&it.location)).collect();
            // What a question to a cluster has left that was killed; one that is under way is younger.
            let all: Vec<_> = self.store.list(Some(&exchange)).try_collect().await?;
            let is_old = |it: &object_store::ObjectMeta| {
                let age = std::time::SystemTime::now().duration_since(it.last_modified.into());
                age.is_ok_and(|it| it > DAY)
            };
            gone.extend(all.into_iter().filter(is_old));
            for it in gone {
                self.store.delete(&it.location).await?;
            }
            Ok::<_, object_store::Error>(())
        };
        self.wait(removed).map_err(|why| self.failed("tables", "tidied", &why))
    }

    /// Says what went wrong with a file.
    pub fn failed(&self, file: &str, what: &str, why: &dyn std::fmt::Display) -> Diagnostics {
        let then = match what {
            "written" => " Make room there or see to the rights, and index again.",
            _ => "",
        };
        Diagnostic::error("Trouble with the lake")
            .detail(format!(
                "The file {file} of {} cannot be {what}: {why}. What was indexed before stays as it is.{then}",
                self.name
            ))
            .into()
    }

    fn of_version(&self, found: u32) -> Diagnostic {
        Diagnostic::error("Lake of another version").detail(format!(
            "{} is of version {found}, and this program reads version {VERSION}. Index into another folder, or use the program that has made it.",
            self.name
        ))
    }
}

#[derive(serde::Deserialize)]
struct Versioned {
    version: u32,
}

fn trouble(name: &str, what: &str, why: &dyn std::fmt::Display) -> Diagnostics {
    Diagnostic::error("Cannot use the lake").detail(format!("{name} {what}: {why}.")).into()
}
