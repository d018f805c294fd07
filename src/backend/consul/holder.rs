//! Who holds the lock of a state: the session of its key, and the record beside it.

use std::io;

use super::Consul;
use crate::backend::lock::LockInfo;

impl Consul {
    /// Reads the record beside the lock; `None` if there is none that can be read.
    pub(super) async fn record(&self, workspace: &str) -> io::Result<Option<LockInfo>> {
        let found = self.agent.get(&self.lock_keys(workspace).1).await?;
        Ok(found.and_then(|it| serde_json::from_slice(&it.value).ok()))
    }

    /// Returns the session that holds the lock, and its record; `None` if it is free.
    pub(super) async fn holder(
        &self,
        workspace: &str,
    ) -> io::Result<Option<(String, Option<LockInfo>)>> {
        let lock = self.agent.get(&self.lock_keys(workspace).0).await?;
        let Some(session) = lock.and_then(|it| it.session) else { return Ok(None) };
        let record = self.record(workspace).await?.filter(|it| it.id == session);
        Ok(Some((session, record)))
    }
}
