//! The place of a lake: a folder, or an object store; read and written as whole files.

use std::collections::BTreeSet;
use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::world::World;
use futures_util::TryStreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, PutPayload};
use tokio::runtime::Runtime;
use url::Url;

use super::catalogue::{Catalogue, VERSION};
use super::folder::{Folder, LOCK, Refusal};
use super::names::{CATALOGUE, EXCHANGE, FOLDER, is_own};

/// No question, and no index of an object store, takes as long as this.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

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
    /// The folder, where it is one of this machine.
    folder: Option<Folder>,
    /// Holds the lock that keeps other indexes out.
    lock: Option<Arc<File>>,
}

/// A file that was found in a lake.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its path in the lake.
    pub path: String,
    /// How many bytes it has.
    pub bytes: u64,
    /// When it was written last.
    pub changed: SystemTime,
}

impl Lake {
    /// Opens a lake that is to be asked.
    ///
    /// # Errors
    ///
    /// If there is no such place.
    pub fn open(world: &World, name: &str) -> Result<Lake, Diagnostics> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(crate::reading::threads())
            .enable_all()
            .build();
        let runtime = Arc::new(runtime.map_err(|why| trouble(name, "cannot be opened", &why))?);
        if name.contains("://") {
            return Lake::at_address(world, name, runtime);
        }
        let folder = world.root.join(name);
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
            folder: Some(Folder::new(&whole)),
            lock: None,
        })
    }

    /// Opens a lake that is to be written. A folder is made where there is none, and other indexes of it are kept out.
    ///
    /// - `wait`: called before this waits for another index.
    ///
    /// # Errors
    ///
    /// If there is no such place, or the folder holds something else.
    pub fn open_to_index(world: &World, name: &str, wait: &dyn Fn()) -> Result<Lake, Diagnostics> {
        if !name.contains("://") {
            Folder::make(&world.root.join(name))
                .map_err(|why| trouble(name, "cannot be made", &why))?;
        }
        let mut lake = Lake::open(world, name)?;
        let Some(folder) = &lake.folder else { return Ok(lake) };
        let refusal = folder.refusal().map_err(|why| lake.failed(CATALOGUE, "written", &why))?;
        if let Some(refusal) = refusal {
            return Err(lake.refused(&refusal).into());
        }
        let lock = folder.lock(wait).map_err(|why| lake.failed(LOCK, "written", &why))?;
        lake.lock = lock.map(Arc::new);
        Ok(lake)
    }

    /// Returns whether no other index writes this lake.
    pub fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    fn at_address(world: &World, name: &str, runtime: Arc<Runtime>) -> Result<Lake, Diagnostics> {
        let address = Url::parse(name).map_err(|why| trouble(name, "is no address", &why))?;
        let options = world.environment.iter().map(|it| (it.0.to_lowercase(), it.1.clone()));
        let (store, prefix) = object_store::parse_url_opts(&address, options)
            .map_err(|why| trouble(name, "cannot be opened", &why))?;
        let (name, address) = (name.to_owned(), name.to_owned());
        let store = Arc::from(store);
        Ok(Lake { name, store, address, prefix, runtime, folder: None, lock: None })
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
        if let Some(folder) = &self.folder {
            return folder.write(file, &bytes).map_err(|why| self.failed(file, "written", &why));
        }
        let path = self.path(file);
        let written = self.wait(self.store.put(&path, PutPayload::from(bytes)));
        written.map(drop).map_err(|why| self.failed(file, "written", &why))
    }

    /// Removes a file. One that is gone is no error.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn remove(&self, file: &str) -> Result<(), Diagnostics> {
        if let Some(folder) = &self.folder {
            return folder.remove(file).map_err(|why| self.failed(file, "removed", &why));
        }
        let path = self.path(file);
        match self.wait(self.store.delete(&path)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(why) => Err(self.failed(file, "removed", &why)),
        }
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

    /// Returns the files that have names of a lake.
    ///
    /// # Errors
    ///
    /// If they cannot be listed.
    pub fn list(&self) -> Result<Vec<Listed>, Diagnostics> {
        if let Some(folder) = &self.folder {
            return folder.list().map_err(|why| self.failed(FOLDER, "listed", &why));
        }
        let listed = async {
            let mut found = Vec::new();
            for folder in [FOLDER, EXCHANGE] {
                let folder = self.path(folder);
                found.extend(self.store.list(Some(&folder)).try_collect::<Vec<_>>().await?);
            }
            Ok::<_, object_store::Error>(found)
        };
        let listed = self.wait(listed).map_err(|why| self.failed(FOLDER, "listed", &why))?;
        let prefix: &str = self.prefix.as_ref();
        let file = |it: ObjectMeta| {
            let whole: &str = it.location.as_ref();
            let path = whole.strip_prefix(prefix)?.trim_start_matches('/').to_owned();
            Some(Listed { path, bytes: it.size, changed: it.last_modified.into() })
        };
        Ok(listed.into_iter().filter_map(file).filter(|it| is_own(&it.path)).collect())
    }

    /// Returns when the catalogue was written last; nothing where nothing was ever indexed here.
    ///
    /// # Errors
    ///
    /// If it cannot be looked at.
    pub fn catalogue_time(&self) -> Result<Option<SystemTime>, Diagnostics> {
        let path = self.path(CATALOGUE);
        match self.wait(self.store.head(&path)) {
            Ok(it) => Ok(Some(it.last_modified.into())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(why) => Err(self.failed(CATALOGUE, "read", &why)),
        }
    }

    /// Removes files that no catalogue names any more: those of earlier indexes, or of one that was killed. Where no lock keeps other
    /// indexes out, files of the last day stay, for another index may be writing them.
    ///
    /// - `listed`: the files of the lake, as they were before this index.
    ///
    /// # Errors
    ///
    /// If they cannot be removed.
    pub fn tidy(&self, catalogue: &Catalogue, listed: &[Listed]) -> Result<(), Diagnostics> {
        let files = catalogue.files.values().flat_map(|it| it.values());
        let named: BTreeSet<&str> = files.map(|it| it.path.as_str()).collect();
        let now = SystemTime::now();
        for file in listed.iter().filter(|it| !named.contains(&*it.path)) {
            let is_old = now.duration_since(file.changed).is_ok_and(|age| age > DAY);
            // A question may be using the exchange: it takes no lock.
            let is_free = self.is_locked() && !file.path.starts_with(EXCHANGE);
            if is_old || is_free {
                self.remove(&file.path)?;
            }
        }
        Ok(())
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

    fn refused(&self, refusal: &Refusal) -> Diagnostic {
        let name = &self.name;
        let detail = match refusal {
            Refusal::Foreign(part) => format!(
                "{name} is no lake: it holds `{part}`, but no catalogue of a lake. Name another folder with -out=FOLDER: one that is empty, or that is not there yet."
            ),
            Refusal::Link(part) => format!(
                "`{part}` in {name} is a link. An index writes only into folders of the lake itself: remove the link, or name another folder with -out=FOLDER."
            ),
        };
        Diagnostic::error("Cannot use the lake").detail(detail)
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
