//! States in the memory of this process, which end with it: `backend "inmem"`.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

use super::kind::Kind;
use super::lock::{LockInfo, LockProblem, LockState, NotUnlocked};
use super::shape::text;
use super::store::{Content, Refused, Store, Version};
use super::workspace;
use crate::world::World;

/// `backend "inmem"`
pub const KIND: Kind = Kind {
    name: "inmem",
    settings: &[text("lock_id")],
    open: |it| Ok(Arc::new(InMemory::open(it.world, it.text("lock_id").as_deref()))),
};

/// All that one world keeps in memory.
#[derive(Debug, Default)]
struct Memory(Mutex<BTreeMap<String, Slot>>);

/// What is kept of one workspace.
#[derive(Debug, Default)]
struct Slot {
    bytes: Vec<u8>,
    generation: u64,
    locked: Option<LockInfo>,
}

/// The store in memory. All stores of one world share what they keep.
#[derive(Debug)]
pub struct InMemory(Arc<Memory>);

impl InMemory {
    /// Opens the store.
    ///
    /// - `lock_id`: whoever opens it first finds the default workspace locked under this ID.
    pub fn open(world: &World, lock_id: Option<&str>) -> InMemory {
        let store = InMemory(world.once(|_| Memory::default()));
        if let Some(id) = lock_id
            && store.slots().is_empty()
        {
            let info = LockInfo {
                id: id.into(),
                info: "test config".into(),
                ..LockInfo::new(world, "test")
            };
            let slot = Slot { locked: Some(info), ..Slot::default() };
            store.slots().insert(workspace::DEFAULT.into(), slot);
        }
        store
    }

    fn slots(&self) -> MutexGuard<'_, BTreeMap<String, Slot>> {
        self.0.0.lock()
    }

    fn release(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        let mut slots = self.slots();
        let locked = slots.get_mut(workspace).map(|it| &mut it.locked);
        let Some(Some(holder)) = locked.as_deref() else { return Err(NotUnlocked::not_locked()) };
        if holder.id != id {
            return Err(NotUnlocked::other_id(id, holder.clone()));
        }
        locked.map(Option::take);
        Ok(())
    }
}

impl Slot {
    fn version(&self) -> Version {
        Version(self.generation.to_string())
    }
}

#[async_trait]
impl Store for InMemory {
    fn name(&self, workspace: &str) -> String {
        format!("the workspace {workspace:?} in memory")
    }

    fn is_at_hand(&self) -> bool {
        true
    }

    async fn read(&self, workspace: &str) -> io::Result<Content> {
        let slots = self.slots();
        let nothing = Slot::default();
        let slot = slots.get(workspace).unwrap_or(&nothing);
        Ok(Content { bytes: slot.bytes.clone(), version: slot.version(), is_elsewhere: false })
    }

    async fn write(
        &self,
        workspace: &str,
        bytes: &Bytes,
        expected: &Version,
    ) -> Result<Version, Refused> {
        let mut slots = self.slots();
        let slot = slots.entry(workspace.to_owned()).or_default();
        if slot.version() != *expected {
            return Err(Refused::Overtaken(slot.bytes.clone()));
        }
        (slot.bytes, slot.generation) = (bytes.to_vec(), slot.generation + 1);
        Ok(slot.version())
    }

    async fn list(&self) -> io::Result<Vec<String>> {
        let slots = self.slots();
        Ok(workspace::listed(slots.keys().cloned()))
    }

    async fn create(&self, workspace: &str) -> io::Result<()> {
        self.slots().entry(workspace.to_owned()).or_default();
        Ok(())
    }

    async fn delete(&self, workspace: &str) -> io::Result<()> {
        workspace::check_deletable(workspace)?;
        self.slots().remove(workspace);
        Ok(())
    }

    async fn lock(&self, workspace: &str, info: &LockInfo) -> Result<String, LockProblem> {
        let mut slots = self.slots();
        let slot = slots.entry(workspace.to_owned()).or_default();
        match &slot.locked {
            Some(holder) => Err(LockProblem::Locked(holder.clone())),
            None => Ok(slot.locked.insert(info.clone()).id.clone()),
        }
    }

    async fn lock_state(&self, workspace: &str) -> io::Result<LockState> {
        let slots = self.slots();
        let locked = slots.get(workspace).and_then(|it| it.locked.as_ref());
        Ok(locked.map_or(LockState::Free, |it| LockState::Held(Some(it.clone()))))
    }

    async fn unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        self.release(workspace, id)
    }

    async fn force_unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        self.release(workspace, id)
    }
}
