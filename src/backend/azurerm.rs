//! States in Azure Blob Storage: `backend "azurerm"`.
//!
//! A state is the blob `KEY`, that of another workspace `KEYenv:WORKSPACE`. Its version is the blob's entity tag. The lock is a lease
//! without end whose ID is the lock's, so that the service itself keeps everybody else from writing; who holds it stands in the
//! metadata. All of this is as OpenTofu has it, so that both can take turns.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::cloud::{Trouble, record};
use super::kind::Kind;
use super::lock::{LockInfo, LockProblem, LockState, NotUnlocked};
use super::store::{Content, Refused, Store, Version};
use super::workspace;
use crate::error::{Error, ErrorContext};
use crate::world::World;

mod blobs;
mod connect;
pub(crate) mod environment;
pub(crate) mod identity;
pub(crate) mod principal;
mod service;
mod settings;
#[cfg(test)]
mod tests;

use blobs::{Condition, Container, Properties};
use service::is_about_lease;
use settings::Settings;

/// The backend of this name.
pub const KIND: Kind = Kind {
    name: "azurerm",
    settings: settings::SETTINGS,
    open: |opening| {
        let settings = settings::read(opening)?;
        let world = opening.world.clone();
        Ok(Arc::new(Azurerm {
            world,
            settings,
            container: OnceCell::new(),
            held: Mutex::default(),
        }))
    },
};

/// The metadata that says who holds the lock.
const RECORD: &str = "terraformlockid";

/// What stands for nothing.
const NOTHING: &str = "";

/// The store.
#[derive(Debug)]
struct Azurerm {
    world: Arc<World>,
    settings: Settings,
    /// What speaks to the service, once it is needed.
    container: OnceCell<Container>,
    /// The leases that are held, by workspace.
    held: Mutex<BTreeMap<String, String>>,
}

impl Azurerm {
    async fn container(&self) -> Result<&Container, Trouble> {
        self.container.get_or_try_init(|| self.settings.connect(&self.world)).await
    }

    fn blob(&self, name: &str) -> String {
        match name {
            workspace::DEFAULT => self.settings.blob.clone(),
            name => format!("{}env:{name}", self.settings.blob),
        }
    }

    fn lease_of(&self, workspace: &str) -> Option<String> {
        self.held.lock().get(workspace).cloned()
    }

    /// Finds out by reading what became of a write.
    ///
    /// - `trouble`: why no answer tells, or why the write was denied.
    async fn settle(
        &self,
        workspace: &str,
        bytes: &[u8],
        expected: &str,
        trouble: Trouble,
    ) -> Result<Version, Refused> {
        let there = match self.container().await?.get(&self.blob(workspace)).await {
            Ok(it) => it,
            Err(again) if trouble.is_undecided() => {
                let text = format!("{trouble} Then: {again}");
                return Err(Refused::Unsettled(io::Error::other(text)));
            }
            Err(again) => return Err(again.into()),
        };
        let tag = there.as_ref().map_or(NOTHING, |it| &*it.tag);
        match &there {
            Some(it) if !bytes.is_empty() && &*it.bytes == bytes => Ok(Version(it.tag.clone())),
            _ if tag == expected => Err(trouble.into()),
            _ => Err(Refused::Overtaken(there.map(|it| it.bytes.to_vec()).unwrap_or_default())),
        }
    }

    /// Returns the blob's properties; makes an empty blob where there is none, since only what is there can be leased.
    async fn prepared(&self, blob: &str) -> Result<Properties, Trouble> {
        let container = self.container().await?;
        if let Some(found) = container.properties(blob).await? {
            return Ok(found);
        }
        let made =
            container.put(blob, Bytes::new(), Condition::Absent, None, &BTreeMap::new()).await;
        match made {
            Ok(_) => Ok(Properties::default()),
            // Somebody else has made it in between, or an attempt without an answer.
            Err(it)
                if it.is_undecided()
                    || it.code() == "BlobAlreadyExists"
                    || it.code() == "LeaseIdMissing" =>
            {
                Ok(container.properties(blob).await?.unwrap_or_default())
            }
            Err(it) => Err(it),
        }
    }

    fn holder(&self, properties: &Properties, blob: &str) -> Result<LockInfo, Error> {
        let name = format!("the metadata {RECORD} of the blob {blob:?}");
        let text = properties.metadata.get(RECORD).filter(|it| !it.is_empty());
        let text = text.ok_or_else(|| {
            Error::from(format!(
                "{name} does not say who holds it; a run may have been killed while it took the lock. If nobody works on this state any \
                 more, \"az storage blob lease break\" ends the lease"
            ))
        })?;
        let bytes = BASE64.decode(text).context(format_args!("{name} is not base64"))?;
        record::read(&bytes).map_err(|it| format!("{it} ({name})").into())
    }

    async fn held_by(&self, blob: &str) -> LockProblem {
        let found = match self.container().await {
            Ok(container) => container.properties(blob).await,
            Err(it) => Err(it),
        };
        match found {
            Ok(found) => match self.holder(&found.unwrap_or_default(), blob) {
                Ok(holder) => LockProblem::Locked(holder),
                Err(why) => LockProblem::Held(Err(why)),
            },
            Err(it) => LockProblem::Held(Err(Error::of(it))),
        }
    }

    async fn release(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        let (container, blob) = (self.container().await?, self.blob(workspace));
        let url = container.url(&blob);
        let found = container.properties(&blob).await?;
        let Some(mut found) = found.filter(|it| it.is_leased) else {
            let why = format!(
                "nobody holds the lock of {url}: it was taken away by another program, or given back already"
            );
            return Err(NotUnlocked::Failed(why, None));
        };
        match self.holder(&found, &blob) {
            Ok(holder) if holder.id != id => return Err(NotUnlocked::other_id(id, holder)),
            Ok(_) => {
                found.metadata.remove(RECORD);
                container.set_metadata(&blob, id, &found.metadata).await?;
            }
            // Without a record the lease alone tells whose it is.
            Err(why) => {
                return container.release(&blob, id).await.map_err(|it| {
                    match is_about_lease(it.code()) {
                        true => NotUnlocked::Failed(
                            format!("{why}; {id:?} is not the ID of its lease"),
                            None,
                        ),
                        false => it.into(),
                    }
                });
            }
        }
        match container.release(&blob, id).await {
            // An attempt whose answer was lost has done it.
            Err(it)
                if it.is_undecided()
                    && !container.properties(&blob).await?.is_some_and(|it| it.is_leased) =>
            {
                Ok(())
            }
            released => Ok(released?),
        }
    }
}

#[async_trait]
impl Store for Azurerm {
    fn name(&self, workspace: &str) -> String {
        let Settings { account, container, .. } = &self.settings;
        format!(
            "the blob {:?} of the container {container:?} in the storage account {account:?}",
            self.blob(workspace)
        )
    }

    fn begins_with_state(&self) -> bool {
        true
    }

    async fn read(&self, workspace: &str) -> io::Result<Content> {
        let found = self.container().await?.get(&self.blob(workspace)).await?;
        let (bytes, tag) = found.map(|it| (it.bytes.into(), it.tag)).unwrap_or_default();
        Ok(Content { bytes, version: Version(tag), is_elsewhere: false })
    }

    async fn write(
        &self,
        workspace: &str,
        bytes: &Bytes,
        expected: &Version,
    ) -> Result<Version, Refused> {
        let (container, blob) = (self.container().await?, self.blob(workspace));
        let lease = self.lease_of(workspace);
        let lost = |it: &Trouble| lease.is_some() && is_about_lease(it.code());
        let (condition, mut metadata) = match &*expected.0 {
            NOTHING => (Condition::Absent, BTreeMap::new()),
            // A put replaces the metadata too, and who holds the lock stands there.
            tag => (
                Condition::Is(tag),
                container.properties(&blob).await?.unwrap_or_default().metadata,
            ),
        };
        if lease.is_none() {
            metadata.remove(RECORD);
        }
        if self.settings.makes_snapshots && !matches!(condition, Condition::Absent) {
            match container.snapshot(&blob, lease.as_deref()).await {
                Err(it) if lost(&it) => return Err(Refused::LockLost(it.to_string())),
                made => made.map_err(|it| {
                    it.context("no snapshot of the state could be made, and so nothing was written")
                })?,
            }
        }
        let sent = bytes.clone();
        match container.put(&blob, sent, condition, lease.as_deref(), &metadata).await {
            Ok(tag) => Ok(Version(tag)),
            Err(it) if lost(&it) => Err(Refused::LockLost(it.to_string())),
            Err(it)
                if it.is_undecided()
                    || matches!(
                        it.code(),
                        "ConditionNotMet" | "BlobAlreadyExists" | "BlobNotFound"
                    ) =>
            {
                self.settle(workspace, bytes, &expected.0, it).await
            }
            Err(it) => Err(it.into()),
        }
    }

    async fn list(&self) -> io::Result<Vec<String>> {
        let prefix = format!("{}env:", self.settings.blob);
        let names = self.container().await?.list(&prefix).await?;
        let own = names.iter().filter_map(|it| it.strip_prefix(&*prefix));
        let own = own.filter(|it| !it.is_empty() && !it.contains('/'));
        Ok(workspace::listed(own.map(str::to_owned)))
    }

    async fn create(&self, _: &str) -> io::Result<()> {
        // A workspace is there once its state is.
        Ok(())
    }

    async fn delete(&self, workspace: &str) -> io::Result<()> {
        workspace::check_deletable(workspace)?;
        let lease = self.lease_of(workspace);
        self.container().await?.delete(&self.blob(workspace), lease.as_deref()).await?;
        // The lease goes with the blob.
        self.held.lock().remove(workspace);
        Ok(())
    }

    async fn lock(&self, workspace: &str, info: &LockInfo) -> Result<String, LockProblem> {
        let (container, blob) = (self.container().await?, self.blob(workspace));
        let mut found = self.prepared(&blob).await?;
        if found.is_leased {
            return Err(self.held_by(&blob).await);
        }
        match container.lease(&blob, &info.id).await {
            Ok(()) => (),
            Err(it) if it.code().starts_with("Lease") => return Err(self.held_by(&blob).await),
            // An attempt whose answer was lost may have taken it: taking it again under the same ID does no harm.
            Err(it) if it.is_undecided() => {
                container.lease(&blob, &info.id).await.map_err(|_| it)?
            }
            Err(it) => return Err(it.into()),
        }
        let info = LockInfo { path: container.url(&blob), ..info.clone() };
        found.metadata.insert(RECORD.to_owned(), BASE64.encode(record::write(&info)));
        if let Err(it) = container.set_metadata(&blob, &info.id, &found.metadata).await {
            let again = container.release(&blob, &info.id).await;
            let rest = again
                .err()
                .map(|it| format!(" The lease {} remains: {it}", info.id))
                .unwrap_or_default();
            return Err(LockProblem::Failed(format!("{it}{rest}")));
        }
        self.held.lock().insert(workspace.to_owned(), info.id.clone());
        Ok(info.id)
    }

    async fn lock_state(&self, workspace: &str) -> io::Result<LockState> {
        let blob = self.blob(workspace);
        let found = self.container().await?.properties(&blob).await?.filter(|it| it.is_leased);
        Ok(found.map_or(LockState::Free, |it| LockState::Held(self.holder(&it, &blob).ok())))
    }

    async fn ask_lock(&self, workspace: &str) -> io::Result<Option<String>> {
        let Some(id) = self.lease_of(workspace) else { return Ok(None) };
        let (container, blob) = (self.container().await?, self.blob(workspace));
        let found = container.properties(&blob).await?.filter(|it| it.is_leased);
        Ok(match found.map(|it| self.holder(&it, &blob)) {
            Some(Ok(holder)) if holder.id == id => None,
            Some(Ok(holder)) => {
                Some(format!("its lease belongs to {} now (ID {})", holder.who, holder.id))
            }
            // Whose it is the service alone knows, and says so when the state is written.
            Some(Err(_)) => None,
            None => Some("its lease was broken, or the blob is gone".into()),
        })
    }

    async fn unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        if self.held.lock().remove(workspace).is_none() {
            // The blob was deleted, and its lease with it.
            return Ok(());
        }
        self.release(workspace, id).await
    }

    async fn force_unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        self.release(workspace, id).await
    }
}
