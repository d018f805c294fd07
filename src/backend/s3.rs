//! States in Amazon S3, or in what speaks like it: `backend "s3"`.
//!
//! A state is the object `KEY`, that of another workspace `env:/WORKSPACE/KEY`. Its version is the object's entity tag, and every write
//! is conditional on the one that was read. Layout, lock records and digests are OpenTofu's, so that both can take turns.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::cloud::Trouble;
use super::kind::Kind;
use super::lock::{LockInfo, LockProblem, LockState, NotUnlocked};
use super::store::{Content, Refused, Store, Version};
use super::workspace;
use crate::backend::store::check_filled;
use crate::world::World;

pub(crate) mod access;
mod address;
pub(crate) mod checks;
mod identity;
mod locks;
mod objects;
pub(crate) mod packages;
mod profile;
pub(crate) mod service;
mod settings;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod tokens;

use objects::{Bucket, Condition, NOTHING, Object, Placed, md5_hex};
use settings::Settings;
use table::Table;

/// The backend of this name.
pub const KIND: Kind = Kind {
    name: "s3",
    settings: settings::SETTINGS,
    open: |opening| {
        let settings = settings::read(opening)?;
        let world = opening.world.clone();
        Ok(Arc::new(S3 { world, settings, parts: OnceCell::new(), held: Mutex::default() }))
    },
};

/// How long a state is waited for that is not yet what its digest says.
const PATIENCE: Duration = Duration::from_secs(10);

/// The store.
#[derive(Debug)]
struct S3 {
    world: Arc<World>,
    settings: Settings,
    /// What speaks to the services, once it is needed.
    parts: OnceCell<Parts>,
    /// The IDs of the locks that are held, by workspace.
    held: Mutex<BTreeMap<String, String>>,
}

/// What speaks to the services.
#[derive(Debug)]
struct Parts {
    bucket: Bucket,
    table: Option<Table>,
    uses_lockfile: bool,
    state_tags: String,
    lock_tags: String,
}

impl Parts {
    /// Returns the name of a state that locks and digests go by.
    fn id(&self, key: &str) -> String {
        format!("{}/{key}", self.bucket.name)
    }

    /// Reads a state that is what its digest says, and waits for it where it is not yet.
    async fn state(&self, key: &str) -> Result<Option<Object>, Trouble> {
        let since = tokio::time::Instant::now();
        loop {
            let object = self.bucket.get(key).await?;
            let Some(digest) = self.digest(key).await? else { return Ok(object) };
            let bytes = object.as_ref().map(|it| &*it.bytes).unwrap_or_default();
            let found = if bytes.is_empty() { String::new() } else { md5_hex(bytes) };
            if digest.eq_ignore_ascii_case(&found) {
                return Ok(object);
            }
            if since.elapsed() >= PATIENCE {
                return Err(self.mismatched(key, &digest, &found));
            }
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    }

    /// Returns the digest that a state must have, where that is known.
    async fn digest(&self, key: &str) -> Result<Option<String>, Trouble> {
        let Some(table) = &self.table else { return Ok(None) };
        match table.digest(&self.id(key)).await {
            Ok(it) => {
                Ok(it.filter(|it| it.len() == 32 && it.bytes().all(|it| it.is_ascii_hexdigit())))
            }
            // Who may not look into the table, or has none yet, has no digest either; the lock tells of it.
            Err(Trouble::Denied(it)) if it.status < 500 => Ok(None),
            Err(it) => Err(it),
        }
    }

    fn mismatched(&self, key: &str, expected: &str, found: &str) -> Trouble {
        let table = self.table.as_ref().map(|it| &*it.name).unwrap_or_default();
        let there = match found {
            "" => "there is no state there".to_owned(),
            found => format!("the state there has {found}"),
        };
        let id = self.id(key);
        Trouble::denied(
            409,
            "DigestMismatch",
            format!(
                "the state s3://{id} is not the one that was written last: its digest must be {expected}, and {there}. A run may have been killed \
                 between the two writes, or an older version was put back. Look at what is there (and at older versions of the object); if it \
                 is right, write {found:?} as \"Digest\" into the item {id}-md5 of the DynamoDB table {table:?}, or delete that item; \
                 \"force-unlock\" of the lock of a killed run does so by itself."
            ),
        )
    }

    /// Writes the digest of what is there now.
    async fn put_digest(&self, key: &str, bytes: &[u8]) -> Result<(), Trouble> {
        match &self.table {
            Some(table) => table.put_digest(&self.id(key), &md5_hex(bytes)).await,
            None => Ok(()),
        }
    }

    /// Puts a state in the place of the one that `expected` stands for.
    async fn replace(&self, key: &str, bytes: Bytes, expected: &str) -> Result<String, Refused> {
        // Others than AWS may take a condition and not keep it: there it is looked first, so that little time remains.
        if !self.bucket.addresses.is_of_aws() && self.bucket.tag_of(key).await? != expected {
            return Err(self.overtaken(key).await);
        }
        let condition = match expected {
            NOTHING => Condition::Absent,
            tag => Condition::Is(tag),
        };
        let mut put = self.bucket.put(key, bytes.clone(), condition, &self.state_tags).await;
        if let Err(Trouble::Denied(it)) = &put
            && it.status == 501
            && !self.bucket.addresses.is_of_aws()
        {
            put = self.bucket.put(key, bytes.clone(), Condition::Any, &self.state_tags).await;
        }
        match put {
            Ok(Placed::There(tag)) => Ok(tag),
            Ok(Placed::NotMet) => self.settle(key, &bytes, expected, None).await,
            Err(it) if it.is_undecided() => self.settle(key, &bytes, expected, Some(it)).await,
            Err(it) => Err(it.into()),
        }
    }

    /// Finds out by reading what became of a write.
    ///
    /// - `trouble`: why no answer tells; nothing where the condition did not hold.
    async fn settle(
        &self,
        key: &str,
        bytes: &[u8],
        expected: &str,
        trouble: Option<Trouble>,
    ) -> Result<String, Refused> {
        let there = match self.bucket.get(key).await {
            Ok(it) => it,
            Err(again) => {
                let first = trouble.map(|it| format!("{it} ")).unwrap_or_default();
                return Err(Refused::Unsettled(io::Error::other(format!("{first}Then: {again}"))));
            }
        };
        let tag = there.as_ref().map_or(NOTHING, |it| &*it.tag);
        match (&there, trouble) {
            (Some(it), _) if &*it.bytes == bytes => Ok(it.tag.clone()),
            (_, Some(trouble)) if tag == expected => Err(trouble.into()),
            _ => Err(Refused::Overtaken(there.map(|it| it.bytes.to_vec()).unwrap_or_default())),
        }
    }

    async fn overtaken(&self, key: &str) -> Refused {
        match self.bucket.get(key).await {
            Ok(it) => Refused::Overtaken(it.map(|it| it.bytes.to_vec()).unwrap_or_default()),
            Err(it) => it.into(),
        }
    }
}

impl S3 {
    async fn parts(&self) -> Result<&Parts, Trouble> {
        self.parts.get_or_try_init(|| self.settings.connect(&self.world)).await
    }

    fn key(&self, name: &str) -> String {
        if name == workspace::DEFAULT {
            return self.settings.key.clone();
        }
        let prefix = &self.settings.workspace_key_prefix;
        let parts = [&**prefix, name, &*self.settings.key];
        parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("/")
    }

    /// Returns the workspace whose state is under this key.
    fn workspace_of<'k>(&self, key: &'k str) -> Option<&'k str> {
        let prefix = &self.settings.workspace_key_prefix;
        let rest = match prefix.is_empty() {
            true => key,
            false => key.strip_prefix(&**prefix)?.strip_prefix('/')?,
        };
        let (name, rest) = rest.split_once('/')?;
        (rest == self.settings.key && !name.is_empty()).then_some(name)
    }
}

#[async_trait]
impl Store for S3 {
    fn name(&self, workspace: &str) -> String {
        format!("s3://{}/{}", self.settings.bucket, self.key(workspace))
    }

    async fn read(&self, workspace: &str) -> io::Result<Content> {
        let found = self.parts().await?.state(&self.key(workspace)).await?;
        if let Some(object) = &found {
            check_filled(&self.name(workspace), &object.bytes)?;
        }
        let (bytes, tag) = found.map(|it| (it.bytes.into(), it.tag)).unwrap_or_default();
        Ok(Content { bytes, version: Version(tag), is_elsewhere: false })
    }

    async fn write(
        &self,
        workspace: &str,
        bytes: &Bytes,
        expected: &Version,
    ) -> Result<Version, Refused> {
        let (parts, key) = (self.parts().await?, self.key(workspace));
        let held = self.held.lock().get(workspace).cloned();
        if let Some(id) = held
            && let Some(why) = parts.loss(&key, &id).await?
        {
            return Err(Refused::LockLost(why));
        }
        let tag = parts.replace(&key, bytes.clone(), &expected.0).await?;
        parts.put_digest(&key, bytes).await.map_err(|it| {
            let digest = md5_hex(bytes);
            let id = parts.id(&key);
            let text = format!(
                "the state itself is stored, and its digest is not, so that nobody can read it until {digest} is written as \"Digest\" into the \
                 item {id}-md5 of the DynamoDB table: {it}"
            );
            Refused::Failed(io::Error::other(text))
        })?;
        Ok(Version(tag))
    }

    async fn list(&self) -> io::Result<Vec<String>> {
        let prefix = match &*self.settings.workspace_key_prefix {
            "" => String::new(),
            prefix => format!("{prefix}/"),
        };
        let keys = match self.parts().await?.bucket.list(&prefix).await {
            // Who may not list has the default workspace all the same.
            Err(it) if it.code() == "AccessDenied" => Vec::new(),
            keys => keys?,
        };
        let names = keys.iter().filter_map(|it| self.workspace_of(it));
        Ok(workspace::listed(names.map(str::to_owned)))
    }

    async fn create(&self, _: &str) -> io::Result<()> {
        // A workspace is there once its state is.
        Ok(())
    }

    async fn delete(&self, workspace: &str) -> io::Result<()> {
        workspace::check_deletable(workspace)?;
        let (parts, key) = (self.parts().await?, self.key(workspace));
        parts.bucket.delete(&key).await?;
        if let Some(table) = &parts.table {
            table.delete_digest(&parts.id(&key)).await?;
        }
        Ok(())
    }

    async fn lock(&self, workspace: &str, info: &LockInfo) -> Result<String, LockProblem> {
        let parts = self.parts().await?;
        let id = parts.lock(&self.key(workspace), info).await?;
        self.held.lock().insert(workspace.to_owned(), id.clone());
        Ok(id)
    }

    async fn lock_state(&self, workspace: &str) -> io::Result<LockState> {
        Ok(self.parts().await?.lock_state(&self.key(workspace)).await?)
    }

    async fn ask_lock(&self, workspace: &str) -> io::Result<Option<String>> {
        let Some(id) = self.held.lock().get(workspace).cloned() else { return Ok(None) };
        Ok(self.parts().await?.loss(&self.key(workspace), &id).await?)
    }

    async fn unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        self.held.lock().remove(workspace);
        self.parts().await?.unlock(&self.key(workspace), id, false).await
    }

    async fn force_unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        let (parts, key) = (self.parts().await?, self.key(workspace));
        if parts.table.is_some() {
            parts.mend_digest(&key, id).await?;
        }
        parts.unlock(&key, id, true).await
    }
}
