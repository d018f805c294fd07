//! States in Google Cloud Storage: `backend "gcs"`.
//!
//! The state of a workspace is the object `PREFIX/WORKSPACE.tfstate`, its lock `PREFIX/WORKSPACE.tflock`. Versions are generations, and
//! a lock's ID is the generation of its object. Layout and records are OpenTofu's, so that both can take turns.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::cloud::{Trouble, record};
use super::kind::Kind;
use super::lock::{LockInfo, LockProblem, LockState, NotUnlocked};
use super::store::{Content, Refused, Store, Version};
use super::workspace;
use crate::backend::store::check_filled;
use crate::error::Error;
use crate::world::World;

pub(crate) mod identity;
mod objects;
pub(crate) mod packages;
pub(crate) mod service;
mod settings;
#[cfg(test)]
mod tests;

use objects::{Bucket, NOTHING, Part, Placed};
use settings::Settings;

/// The backend of this name.
pub const KIND: Kind = Kind {
    name: "gcs",
    settings: settings::SETTINGS,
    open: |opening| {
        let settings = settings::read(opening)?;
        let world = opening.world.clone();
        Ok(Arc::new(Gcs { world, settings, bucket: OnceCell::new(), held: Mutex::default() }))
    },
};

/// The store.
#[derive(Debug)]
struct Gcs {
    world: Arc<World>,
    settings: Settings,
    /// What speaks to the service, once it is needed.
    bucket: OnceCell<Bucket>,
    /// The generations of the locks that are held, by workspace.
    held: Mutex<BTreeMap<String, String>>,
}

impl Gcs {
    async fn bucket(&self) -> Result<&Bucket, Trouble> {
        self.bucket.get_or_try_init(|| async { self.settings.connect(&self.world) }).await
    }

    fn state(&self, workspace: &str) -> String {
        format!("{}{workspace}.tfstate", self.settings.prefix)
    }

    fn lock_object(&self, workspace: &str) -> String {
        format!("{}{workspace}.tflock", self.settings.prefix)
    }

    fn lock_name(&self, workspace: &str) -> String {
        format!("gs://{}/{}", self.settings.bucket, self.lock_object(workspace))
    }

    /// Returns who holds a lock, with the generation as its ID, and the ID that the record has itself.
    async fn holder(
        &self,
        workspace: &str,
    ) -> Result<Option<Result<(LockInfo, String), Error>>, Trouble> {
        let found = self.bucket().await?.get(&self.lock_object(workspace), Part::Lock).await?;
        Ok(found.map(|it| match record::read(&it.bytes) {
            Ok(info) => {
                let own = info.id.clone();
                Ok((LockInfo { id: it.generation, ..info }, own))
            }
            Err(why) => Err(format!(
                "{why} ({}, generation {}). If nobody works on this state any more, \"force-unlock\" takes that number as the lock's ID",
                self.lock_name(workspace),
                it.generation
            )
            .into()),
        }))
    }

    /// Finds out by reading what became of a write.
    ///
    /// - `trouble`: why no answer tells; nothing where another generation was there.
    async fn settle(
        &self,
        workspace: &str,
        bytes: &[u8],
        expected: &str,
        trouble: Option<Trouble>,
    ) -> Result<Version, Refused> {
        let there = match self.bucket().await?.get(&self.state(workspace), Part::State).await {
            Ok(it) => it,
            Err(again) => {
                let first = trouble.map(|it| format!("{it} ")).unwrap_or_default();
                return Err(Refused::Unsettled(io::Error::other(format!("{first}Then: {again}"))));
            }
        };
        let generation = there.as_ref().map_or(NOTHING, |it| &*it.generation);
        match (&there, trouble) {
            (Some(it), _) if &*it.bytes == bytes => Ok(Version(it.generation.clone())),
            (_, Some(trouble)) if generation == expected => Err(trouble.into()),
            _ => Err(Refused::Overtaken(there.map(|it| it.bytes.to_vec()).unwrap_or_default())),
        }
    }

    async fn loss(&self, workspace: &str, id: &str) -> Result<Option<String>, Trouble> {
        let name = self.lock_name(workspace);
        let found =
            self.bucket().await?.generation(&self.lock_object(workspace), Part::Lock).await?;
        Ok(match found {
            Some(now) if now == id => None,
            Some(now) => Some(match self.holder(workspace).await? {
                Some(Ok((it, _))) => format!("{name} belongs to {} now (ID {})", it.who, it.id),
                _ => format!("{name} belongs to somebody else now (ID {now})"),
            }),
            None => Some(format!("{name} is gone")),
        })
    }

    async fn release(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        let name = self.lock_name(workspace);
        if id.is_empty() || !id.bytes().all(|it| it.is_ascii_digit()) {
            let why = format!(
                "the ID of this lock is the generation of {name}, a number, and not {id:?}"
            );
            return Err(NotUnlocked::Failed(why, None));
        }
        let (bucket, object) = (self.bucket().await?, self.lock_object(workspace));
        // Not everything that speaks like the service keeps the condition, so that it is looked first.
        match bucket.generation(&object, Part::Lock).await? {
            None => {
                let why = format!(
                    "nobody holds {name}: it was taken away by another program, or given back already"
                );
                Err(NotUnlocked::Failed(why, None))
            }
            Some(now) if now != id => match self.holder(workspace).await? {
                Some(Ok((holder, _))) => Err(NotUnlocked::other_id(id, holder)),
                _ => Err(NotUnlocked::Failed(
                    format!("invalid lock id: {id:?}. current id: {now:?}"),
                    None,
                )),
            },
            Some(_) => Ok(bucket.delete(&object, Some(id)).await.map(drop)?),
        }
    }
}

#[async_trait]
impl Store for Gcs {
    fn name(&self, workspace: &str) -> String {
        format!("gs://{}/{}", self.settings.bucket, self.state(workspace))
    }

    fn begins_with_state(&self) -> bool {
        true
    }

    async fn read(&self, workspace: &str) -> io::Result<Content> {
        let found = self.bucket().await?.get(&self.state(workspace), Part::State).await?;
        if let Some(object) = &found {
            check_filled(&self.name(workspace), &object.bytes)?;
        }
        let nothing = || (Vec::new(), NOTHING.to_owned());
        let (bytes, generation) = found.map_or_else(nothing, |it| (it.bytes.into(), it.generation));
        Ok(Content { bytes, version: Version(generation), is_elsewhere: false })
    }

    async fn write(
        &self,
        workspace: &str,
        bytes: &Bytes,
        expected: &Version,
    ) -> Result<Version, Refused> {
        let (bucket, name) = (self.bucket().await?, self.state(workspace));
        let held = self.held.lock().get(workspace).cloned();
        if let Some(id) = held
            && let Some(why) = self.loss(workspace, &id).await?
        {
            return Err(Refused::LockLost(why));
        }
        let sent = bytes.clone();
        match bucket.put(&name, sent, &expected.0, Part::State).await {
            Ok(Placed::There(generation)) => Ok(Version(generation)),
            Ok(Placed::NotMet) => self.settle(workspace, bytes, &expected.0, None).await,
            Err(it) if it.is_undecided() => {
                self.settle(workspace, bytes, &expected.0, Some(it)).await
            }
            Err(it) => Err(it.into()),
        }
    }

    async fn list(&self) -> io::Result<Vec<String>> {
        let names = self.bucket().await?.list(&self.settings.prefix).await?;
        let own = names.iter().filter_map(|it| it.strip_prefix(&*self.settings.prefix));
        let own = own.filter_map(|it| it.strip_suffix(".tfstate"));
        Ok(workspace::listed(own.filter(|it| !it.contains('/')).map(str::to_owned)))
    }

    async fn create(&self, _: &str) -> io::Result<()> {
        // A workspace is there once its state is.
        Ok(())
    }

    async fn delete(&self, workspace: &str) -> io::Result<()> {
        workspace::check_deletable(workspace)?;
        Ok(self.bucket().await?.delete(&self.state(workspace), None).await.map(drop)?)
    }

    async fn lock(&self, workspace: &str, info: &LockInfo) -> Result<String, LockProblem> {
        let info = LockInfo { path: self.lock_name(workspace), ..info.clone() };
        let (bucket, object) = (self.bucket().await?, self.lock_object(workspace));
        let text = Bytes::from(record::write(&info));
        let id = match bucket.put(&object, text, NOTHING, Part::Lock).await {
            Ok(Placed::There(generation)) => generation,
            Err(it) if !it.is_undecided() => return Err(it.into()),
            // Somebody holds it, and that may be us: an attempt whose answer was lost.
            asked => match (self.holder(workspace).await, asked) {
                (Ok(Some(Ok((holder, own)))), _) if own == info.id => holder.id,
                (Ok(Some(Ok((holder, _)))), _) => return Err(LockProblem::Locked(holder)),
                (Ok(Some(Err(why))), _) => return Err(LockProblem::Held(Err(why))),
                (_, Err(it)) => return Err(it.into()),
                (Ok(None), Ok(_)) => {
                    return Err(LockProblem::Held(Err("its holder has just given it back".into())));
                }
                (Err(it), Ok(_)) => return Err(LockProblem::Held(Err(Error::of(it)))),
            },
        };
        self.held.lock().insert(workspace.to_owned(), id.clone());
        Ok(id)
    }

    async fn lock_state(&self, workspace: &str) -> io::Result<LockState> {
        let holder = self.holder(workspace).await?;
        Ok(holder.map_or(LockState::Free, |it| LockState::Held(it.ok().map(|it| it.0))))
    }

    async fn ask_lock(&self, workspace: &str) -> io::Result<Option<String>> {
        let Some(id) = self.held.lock().get(workspace).cloned() else { return Ok(None) };
        Ok(self.loss(workspace, &id).await?)
    }

    async fn unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        self.held.lock().remove(workspace);
        self.release(workspace, id).await
    }

    async fn force_unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        self.release(workspace, id).await
    }
}
