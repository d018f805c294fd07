//! Locks of states in S3: an object beside the state, an item in DynamoDB, or both under one ID.

use bytes::Bytes;

use super::Parts;
use super::objects::{Condition, Placed, md5_hex};
use crate::backend::cloud::{Trouble, record};
use crate::backend::lock::{LockInfo, LockProblem, LockState, NotUnlocked};
use crate::error::Error;

/// One of the places where a lock is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeper {
    Object,
    Item,
}

impl Parts {
    fn keepers(&self) -> Vec<Keeper> {
        let object = self.uses_lockfile.then_some(Keeper::Object);
        object.into_iter().chain(self.table.is_some().then_some(Keeper::Item)).collect()
    }

    /// Returns how messages call a lock.
    fn lock_name(&self, keeper: Keeper, key: &str) -> String {
        match (keeper, &self.table) {
            (Keeper::Item, Some(table)) => {
                format!("the item {:?} of the DynamoDB table {:?}", self.id(key), table.name)
            }
            _ => format!("s3://{}/{key}.tflock", self.bucket.name),
        }
    }

    /// Returns the record of a lock as it is written; nothing where nobody holds it.
    async fn record(&self, keeper: Keeper, key: &str) -> Result<Option<String>, Trouble> {
        match (keeper, &self.table) {
            (Keeper::Item, Some(table)) => table.record(&self.id(key)).await,
            _ => {
                let found = self.bucket.get(&format!("{key}.tflock")).await?;
                Ok(found.map(|it| String::from_utf8_lossy(&it.bytes).into_owned()))
            }
        }
    }

    async fn put(&self, keeper: Keeper, key: &str, text: &str) -> Result<bool, Trouble> {
        match (keeper, &self.table) {
            (Keeper::Item, Some(table)) => table.put_record(&self.id(key), text).await,
            _ => {
                let (name, bytes) = (format!("{key}.tflock"), Bytes::from(text.to_owned()));
                let put = self.bucket.put(&name, bytes, Condition::Absent, &self.lock_tags).await?;
                Ok(matches!(put, Placed::There(_)))
            }
        }
    }

    async fn remove(&self, keeper: Keeper, key: &str, text: &str) -> Result<bool, Trouble> {
        match (keeper, &self.table) {
            (Keeper::Item, Some(table)) => table.delete_record(&self.id(key), text).await,
            _ => self.bucket.delete(&format!("{key}.tflock")).await.map(|()| true),
        }
    }

    /// Returns whether one of the locks of a state is held, and by whom.
    pub async fn lock_state(&self, key: &str) -> Result<LockState, Trouble> {
        let keepers = self.keepers();
        if keepers.is_empty() {
            return Ok(LockState::Unknown);
        }
        for keeper in keepers {
            if let Some(text) = self.record(keeper, key).await? {
                return Ok(LockState::Held(record::read(text.as_bytes()).ok()));
            }
        }
        Ok(LockState::Free)
    }

    /// Takes all locks of a state, or none.
    pub async fn lock(&self, key: &str, info: &LockInfo) -> Result<String, LockProblem> {
        let info = LockInfo { path: self.id(key), ..info.clone() };
        let text = record::write(&info);
        let mut taken = Vec::new();
        for keeper in self.keepers() {
            if let Err(problem) = self.take(keeper, key, &text, &info.id).await {
                for keeper in taken {
                    // Whoever waits tries again; what cannot be given back is told as held by us then.
                    let _ = self.remove(keeper, key, &text).await;
                }
                return Err(problem);
            }
            taken.push(keeper);
        }
        Ok(info.id)
    }

    async fn take(
        &self,
        keeper: Keeper,
        key: &str,
        text: &str,
        id: &str,
    ) -> Result<(), LockProblem> {
        let asked = self.put(keeper, key, text).await;
        match asked {
            Ok(true) => return Ok(()),
            Err(trouble) if !trouble.is_undecided() => return Err(trouble.into()),
            Ok(false) | Err(_) => (),
        }
        // Somebody holds it, and that may be us: an attempt whose answer was lost.
        let holder = self.record(keeper, key).await;
        match (holder, asked) {
            (Ok(Some(held)), _) => match record::read(held.as_bytes()) {
                Ok(holder) if holder.id == id => Ok(()),
                Ok(holder) => Err(LockProblem::Locked(holder)),
                Err(why) => Err(LockProblem::Held(Err(self.unreadable(keeper, key, &why)))),
            },
            (_, Err(trouble)) => Err(trouble.into()),
            // It was given back in between.
            (Ok(None), Ok(_)) => {
                Err(LockProblem::Held(Err("its holder has just given it back".into())))
            }
            (Err(trouble), Ok(_)) => Err(LockProblem::Held(Err(Error::of(trouble)))),
        }
    }

    fn unreadable(&self, keeper: Keeper, key: &str, why: &Error) -> Error {
        let name = self.lock_name(keeper, key);
        format!(
            "{why} ({name}). If nobody works on this state any more, remove that with a tool for {}.",
            if keeper == Keeper::Item { "DynamoDB" } else { "S3" }
        )
        .into()
    }

    /// Gives back all locks of a state, as far as they have this ID.
    ///
    /// - `is_forced`: they are another's, who is gone.
    pub async fn unlock(&self, key: &str, id: &str, is_forced: bool) -> Result<(), NotUnlocked> {
        let keepers = self.keepers();
        if keepers.is_empty() {
            return if is_forced { Err(disabled()) } else { Ok(()) };
        }
        let mut problems = Vec::new();
        for keeper in &keepers {
            if let Err(problem) = self.give_back(*keeper, key, id).await {
                problems.push((*keeper, problem));
            }
        }
        let released = keepers.len() - problems.len();
        let mut problems = problems.into_iter();
        let Some((keeper, first)) = problems.next() else { return Ok(()) };
        let (why, holder) = match first {
            NotUnlocked::InUse | NotUnlocked::Disabled(_) => return Err(first),
            NotUnlocked::Failed(why, holder) => (why, holder),
        };
        let name = self.lock_name(keeper, key);
        let mut text = match released {
            0 => why,
            _ => format!("only one of the two locks is gone; {name} remains: {why}"),
        };
        if let Some((_, NotUnlocked::Failed(more, _))) = problems.next() {
            text = format!("{text}; {more}");
        }
        Err(NotUnlocked::Failed(text, holder))
    }

    async fn give_back(&self, keeper: Keeper, key: &str, id: &str) -> Result<(), NotUnlocked> {
        let name = self.lock_name(keeper, key);
        let Some(text) = self.record(keeper, key).await? else {
            let why = format!(
                "nobody holds {name}: it was taken away by another program, or given back already"
            );
            return Err(NotUnlocked::Failed(why, None));
        };
        let holder = record::read(text.as_bytes()).map_err(|why| {
            NotUnlocked::Failed(self.unreadable(keeper, key, &why).to_string(), None)
        })?;
        if holder.id != id {
            return Err(NotUnlocked::other_id(id, holder));
        }
        match self.remove(keeper, key, &text).await? {
            true => Ok(()),
            // An attempt whose answer was lost has done it, or somebody else.
            false => match self.record(keeper, key).await? {
                Some(now) if now == text => {
                    Err(NotUnlocked::Failed(format!("{name} cannot be removed"), Some(holder)))
                }
                _ => Ok(()),
            },
        }
    }

    /// Makes the digest of a state right again before the lock of a run is removed that was killed between state and digest.
    ///
    /// # Errors
    ///
    /// If what is there cannot be known, or the digest cannot be written.
    pub async fn mend_digest(&self, key: &str, id: &str) -> Result<(), Trouble> {
        let (Some(digest), Some(held)) =
            (self.digest(key).await?, self.record(Keeper::Item, key).await?)
        else {
            return Ok(());
        };
        // Only under the lock nobody else writes.
        if record::read(held.as_bytes()).is_ok_and(|it| it.id == id)
            && let Some(object) = self.bucket.get(key).await?
            && !md5_hex(&object.bytes).eq_ignore_ascii_case(&digest)
        {
            self.put_digest(key, &object.bytes).await?;
        }
        Ok(())
    }

    /// Says why a lock is not held any more that was taken under this ID; nothing where it is.
    ///
    /// # Errors
    ///
    /// If it cannot be known.
    pub async fn loss(&self, key: &str, id: &str) -> Result<Option<String>, Trouble> {
        for keeper in self.keepers() {
            let name = self.lock_name(keeper, key);
            let held = match self.record(keeper, key).await? {
                None => return Ok(Some(format!("{name} is gone"))),
                Some(text) => record::read(text.as_bytes()),
            };
            match held {
                Ok(holder) if holder.id == id => (),
                Ok(holder) => {
                    return Ok(Some(format!(
                        "{name} belongs to {} now (ID {})",
                        holder.who, holder.id
                    )));
                }
                Err(why) => return Ok(Some(format!("{name}: {why}"))),
            }
        }
        Ok(None)
    }
}

/// No lock is configured, so that none can be removed.
fn disabled() -> NotUnlocked {
    let why = "Locking is disabled for this backend: neither \"use_lockfile\" nor \"dynamodb_table\" is set";
    NotUnlocked::Failed(why.to_owned(), None)
}
