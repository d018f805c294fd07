//! States in Consul's store of keys: `backend "consul"`. Locks are keys that a session holds, which is renewed while it is needed.
//!
//! A write is one transaction: it holds only where the session still has the lock and the key is as it was read.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::{Value as Json, json};

use super::kind::Kind;
use super::lock::{LockInfo, LockProblem, LockState, NotUnlocked};
use super::opening::Opening;
use super::shape::{flag, text};
use super::store::{Content, Refused, Store, Version, check_filled, unpacked};
use super::workspace;
use crate::diagnostic::Diagnostics;
use crate::state::write::WRITTEN_VERSION;

mod agent;
mod holder;
mod packing;

use agent::{Agent, Pair, Reply};
use packing::{compressed, digest, parts_of};

/// `backend "consul"`
pub const KIND: Kind = Kind {
    name: "consul",
    settings: &[
        text("access_token").sensitive(),
        text("address"),
        text("ca_file").or(&["CONSUL_CACERT"]),
        text("cert_file").or(&["CONSUL_CLIENT_CERT"]),
        text("datacenter"),
        flag("gzip"),
        text("http_auth").sensitive(),
        text("key_file").or(&["CONSUL_CLIENT_KEY"]),
        flag("lock"),
        text("path").required(),
        text("scheme"),
    ],
    open: |it| Ok(Arc::new(Consul::open(it)?)),
};

/// What a value of a key may have, as Consul is shipped.
const LARGEST_VALUE: usize = 512 * 1024;
/// What the client of other programs marks keys with that are locks.
const LOCK_FLAGS: u64 = 0x2ddc_cbc0_58a5_0c18;

/// A lock that is held.
#[derive(Clone, Debug)]
struct Held {
    session: String,
    /// Why it is not held any more.
    lost: Arc<OnceLock<String>>,
    renewing: Arc<tokio::task::AbortHandle>,
}

/// The store in Consul.
#[derive(Debug)]
struct Consul {
    agent: Agent,
    path: String,
    compresses: bool,
    locks: bool,
    held: Mutex<BTreeMap<String, Held>>,
}

/// What a key holds: the state itself, or where its parts are.
struct Found {
    pair: Pair,
    chunks: Option<(String, Vec<String>)>,
}

impl Consul {
    fn open(it: &Opening) -> Result<Consul, Diagnostics> {
        Ok(Consul {
            agent: Agent::new(it)?,
            path: it.text("path").unwrap_or_default(),
            compresses: it.flag("gzip")?.unwrap_or(false),
            locks: it.flag("lock")?.unwrap_or(true),
            held: Mutex::default(),
        })
    }

    fn key(&self, workspace: &str) -> String {
        match workspace {
            workspace::DEFAULT => self.path.clone(),
            other => format!("{}-env:{other}", self.path),
        }
    }

    /// Returns the key that stands for a lock, and that of its record.
    fn lock_keys(&self, workspace: &str) -> (String, String) {
        let key = self.key(workspace);
        let path = key.trim_end_matches('/');
        (format!("{path}/.lock"), format!("{path}/.lockinfo"))
    }

    /// Reads a key, and whether it says where the parts of a larger value are.
    async fn find(&self, key: &str) -> io::Result<Option<Found>> {
        let Some(pair) = self.agent.get(key).await? else { return Ok(None) };
        let chunks = parts_of(key, &pair.value)?;
        Ok(Some(Found { pair, chunks }))
    }

    async fn load(&self, key: &str) -> io::Result<Content> {
        let nothing =
            || Content { bytes: Vec::new(), version: Version("0".into()), is_elsewhere: false };
        let Some(found) = self.find(key).await? else { return Ok(nothing()) };
        let stored = match &found.chunks {
            None => found.pair.value,
            Some((_, chunks)) => {
                let mut all = Vec::with_capacity(chunks.len() * LARGEST_VALUE);
                for chunk in chunks {
                    let part = self.agent.get(chunk).await?;
                    let missing = || {
                        io::Error::other(format!(
                            "the key {chunk:?}, a part of {key:?}, is not there"
                        ))
                    };
                    all.extend(part.ok_or_else(missing)?.value);
                }
                all
            }
        };
        let bytes = match stored.first() {
            Some(0x1f) => unpacked(&stored)?,
            _ => stored,
        };
        check_filled(&format!("the key {key:?}"), &bytes)?;
        if let Some((hash, _)) = &found.chunks
            && *hash != digest(&bytes)
        {
            let why = format!(
                "the parts of the key {key:?} are not what its hash says: somebody else may be writing them"
            );
            return Err(io::Error::other(why));
        }
        Ok(Content { bytes, version: Version(found.pair.index.to_string()), is_elsewhere: false })
    }

    /// Stores a value under a key, if it is as it was and the lock is held.
    async fn replace(
        &self,
        workspace: &str,
        value: &[u8],
        expected: &Version,
    ) -> Result<Version, Replaced> {
        let key = self.key(workspace);
        let index: u64 = expected.0.parse().unwrap_or_default();
        let store = json!({"KV": {"Verb": "cas", "Key": key, "Value": STANDARD.encode(value), "Index": index}});
        let held = self.held.lock().get(workspace).cloned();
        let mut steps = vec![store];
        if let Some(held) = &held {
            let lock = self.lock_keys(workspace).0;
            steps.push(
                json!({"KV": {"Verb": "check-session", "Key": lock, "Session": held.session}}),
            );
        }
        let reply = match self.agent.transaction(&Json::Array(steps)).await {
            Ok(reply) => reply,
            Err(no_answer) if no_answer.may_have_arrived => {
                return self.settle(&key, value, expected, no_answer.into()).await;
            }
            Err(no_answer) => return Err(Replaced::Failed(no_answer.into())),
        };
        match reply {
            Reply::Done(document) => match document["Results"][0]["KV"]["ModifyIndex"].as_u64() {
                Some(index) => Ok(Version(index.to_string())),
                None => {
                    let why =
                        format!("Consul does not say what the transaction has stored: {document}");
                    self.settle(&key, value, expected, io::Error::other(why)).await
                }
            },
            Reply::Refused(document) => {
                let errors = document["Errors"].as_array().into_iter().flatten();
                let has =
                    |index: u64| errors.clone().any(|it| it["OpIndex"].as_u64() == Some(index));
                let what = errors.clone().find_map(|it| it["What"].as_str()).unwrap_or_default();
                match (has(1), has(0)) {
                    (true, _) => Err(Replaced::LockLost(format!("Consul says: {what}"))),
                    (false, true) if is_too_large(what) => Err(Replaced::TooLarge),
                    (false, true) => Err(Replaced::Overtaken),
                    (false, false) => Err(Replaced::Failed(io::Error::other(format!(
                        "Consul has refused the transaction: {document}"
                    )))),
                }
            }
            Reply::TooLarge => Err(Replaced::TooLarge),
            Reply::Failed(why) => self.settle(&key, value, expected, why).await,
        }
    }

    /// Reads back what a write without an answer has done.
    async fn settle(
        &self,
        key: &str,
        value: &[u8],
        expected: &Version,
        why: io::Error,
    ) -> Result<Version, Replaced> {
        let there = self.agent.get(key).await.map_err(Replaced::Unsettled)?;
        let index = there.as_ref().map_or(0, |it| it.index).to_string();
        match there {
            Some(pair) if pair.value == value && index != expected.0 => Ok(Version(index)),
            _ if index == expected.0 => Err(Replaced::Failed(why)),
            _ => Err(Replaced::Overtaken),
        }
    }

    /// Stores a value that is too large for one key in parts, and under the key where they are.
    async fn replace_in_parts(
        &self,
        workspace: &str,
        (value, hash): (&[u8], &str),
        expected: &Version,
    ) -> Result<Version, Replaced> {
        let folder = self.chunk_folder(workspace, hash);
        let mut chunks = Vec::new();
        for (number, part) in value.chunks(LARGEST_VALUE).enumerate() {
            let chunk = format!("{folder}{number}");
            self.agent.put(&chunk, part, &[]).await.map_err(Replaced::Failed)?;
            chunks.push(chunk);
        }
        let links = json!({"chunks": chunks, "current-hash": hash}).to_string();
        self.replace(workspace, links.as_bytes(), expected).await
    }

    fn chunk_folder(&self, workspace: &str, hash: &str) -> String {
        format!("{}/tfstate.{hash}/", self.key(workspace).trim_end_matches('/'))
    }

    async fn take_lock(
        &self,
        workspace: &str,
        session: &str,
        info: &LockInfo,
    ) -> Result<(), LockProblem> {
        let (lock, record) = self.lock_keys(workspace);
        let flags = LOCK_FLAGS.to_string();
        let there = self.agent.get(&lock).await?;
        if there.as_ref().is_some_and(|it| it.flags != LOCK_FLAGS) {
            let why = format!("Existing key does not match lock use: {lock:?} is none of a lock");
            return Err(LockProblem::Failed(why));
        }
        if self.agent.put(&lock, b"", &[("acquire", session), ("flags", &flags)]).await? {
            let text = serde_json::to_vec(info).map_err(io::Error::other)?;
            self.agent.put(&record, &text, &[]).await?;
            return Ok(());
        }
        let is_held = self.agent.get(&lock).await?.is_some_and(|it| it.session.is_some());
        if !is_held {
            let why =
                "Consul keeps the lock for some seconds after the session that held it was lost";
            return Err(LockProblem::Busy(why.into(), None));
        }
        let holder = self.record(workspace).await?;
        Err(LockProblem::Busy("the lock is held by another session".into(), holder))
    }

    async fn end(&self, workspace: &str, session: &str) -> io::Result<()> {
        let (lock, record) = self.lock_keys(workspace);
        self.agent.delete(&record, false).await?;
        self.agent
            .put(&lock, b"", &[("release", session), ("flags", &LOCK_FLAGS.to_string())])
            .await?;
        self.agent.destroy(session).await?;
        // Whoever was waiting may hold it by now: then it stays.
        if let Ok(Some(pair)) = self.agent.get(&lock).await
            && pair.session.is_none()
        {
            let step = json!([{"KV": {"Verb": "delete-cas", "Key": lock, "Index": pair.index}}]);
            let _ = self.agent.transaction(&step).await;
        }
        Ok(())
    }
}

/// Why a key was not replaced.
enum Replaced {
    TooLarge,
    Overtaken,
    LockLost(String),
    Unsettled(io::Error),
    Failed(io::Error),
}

fn is_too_large(what: &str) -> bool {
    what.contains("too large") || what.contains("exceeds")
}

#[async_trait]
impl Store for Consul {
    fn name(&self, workspace: &str) -> String {
        format!("the key {:?} in Consul at {}", self.key(workspace), self.agent.shown())
    }

    async fn read(&self, workspace: &str) -> io::Result<Content> {
        self.load(&self.key(workspace)).await
    }

    async fn write(
        &self,
        workspace: &str,
        bytes: &Bytes,
        expected: &Version,
    ) -> Result<Version, Refused> {
        if let Some(why) = self.lost_lock(workspace) {
            return Err(Refused::LockLost(why));
        }
        let key = self.key(workspace);
        let before = self.find(&key).await?.and_then(|it| it.chunks);
        let value = if self.compresses { compressed(bytes)? } else { bytes.to_vec() };
        let hash = digest(bytes);
        let mut done = match value.len() > LARGEST_VALUE {
            true => Err(Replaced::TooLarge),
            false => self.replace(workspace, &value, expected).await,
        };
        if matches!(done, Err(Replaced::TooLarge)) {
            done = self.replace_in_parts(workspace, (&value, &hash), expected).await;
        }
        let why = match done {
            Ok(version) => {
                // What is left there is found by nobody any more; it costs space, and nothing else.
                if let Some((old, _)) = before.filter(|it| it.0 != hash) {
                    let _ = self.agent.delete(&self.chunk_folder(workspace, &old), true).await;
                }
                return Ok(version);
            }
            Err(why) => why,
        };
        Err(match why {
            Replaced::Overtaken => Refused::Overtaken(self.load(&key).await?.bytes),
            Replaced::LockLost(why) => Refused::LockLost(why),
            Replaced::Unsettled(why) => Refused::Unsettled(why),
            Replaced::Failed(why) => Refused::Failed(why),
            Replaced::TooLarge => Refused::Failed(io::Error::other(
                "Consul takes no values of 512 KiB: `kv_max_value_size` and `txn_max_req_len` of its agents are smaller",
            )),
        })
    }

    async fn list(&self) -> io::Result<Vec<String>> {
        let prefix = format!("{}-env:", self.path);
        let keys = self.agent.keys(&prefix).await?;
        let names = keys.iter().filter_map(|it| it.strip_prefix(&prefix));
        Ok(workspace::listed(names.filter(|it| !it.contains('/')).map(str::to_owned)))
    }

    async fn create(&self, _workspace: &str) -> io::Result<()> {
        // Its first state makes the key.
        Ok(())
    }

    async fn delete(&self, workspace: &str) -> io::Result<()> {
        workspace::check_deletable(workspace)?;
        let key = self.key(workspace);
        let parts = self.find(&key).await?.and_then(|it| it.chunks);
        self.agent.delete(&key, false).await?;
        if let Some((hash, _)) = parts {
            self.agent.delete(&self.chunk_folder(workspace, &hash), true).await?;
        }
        Ok(())
    }

    async fn lock(&self, workspace: &str, info: &LockInfo) -> Result<String, LockProblem> {
        if !self.locks {
            return Ok(String::new());
        }
        let session = self.agent.session().await?;
        let record = LockInfo {
            id: session.clone(),
            info: format!("consul session: {session}"),
            path: self.key(workspace),
            version: WRITTEN_VERSION.into(),
            ..info.clone()
        };
        if let Err(problem) = self.take_lock(workspace, &session, &record).await {
            // It would end by itself, a little later.
            let _ = self.agent.destroy(&session).await;
            return Err(problem);
        }
        let lost = Arc::new(OnceLock::new());
        let renewing = tokio::spawn(self.agent.clone().renew(session.clone(), lost.clone()));
        let held =
            Held { session: session.clone(), lost, renewing: Arc::new(renewing.abort_handle()) };
        self.held.lock().insert(workspace.to_owned(), held);
        Ok(session)
    }

    async fn lock_state(&self, workspace: &str) -> io::Result<LockState> {
        if !self.locks {
            return Ok(LockState::Unknown);
        }
        Ok(self.holder(workspace).await?.map_or(LockState::Free, |it| LockState::Held(it.1)))
    }

    fn lost_lock(&self, workspace: &str) -> Option<String> {
        self.held.lock().get(workspace)?.lost.get().cloned()
    }

    async fn ask_lock(&self, workspace: &str) -> io::Result<Option<String>> {
        match self.lost_lock(workspace) {
            Some(why) => self.loss(workspace, why).await.map(Some),
            None => Ok(None),
        }
    }

    async fn unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        if !self.locks {
            return Ok(());
        }
        let held = self.held.lock().remove(workspace).filter(|it| it.session == id);
        let held = held.ok_or_else(NotUnlocked::not_locked)?;
        held.renewing.abort();
        if let Some(why) = held.lost.get() {
            return Err(io::Error::other(format!("consul lock was lost: {why}")).into());
        }
        Ok(self.end(workspace, id).await?)
    }

    async fn force_unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        if !self.locks {
            return Err(NotUnlocked::Disabled("`lock` is false"));
        }
        let holder = self.agent.get(&self.lock_keys(workspace).0).await?.and_then(|it| it.session);
        match (holder, self.record(workspace).await?) {
            (None, None) => Err(NotUnlocked::not_locked()),
            (Some(session), record) if session != id => {
                let holder = LockInfo { id: session, ..record.unwrap_or_default() };
                Err(NotUnlocked::other_id(id, holder))
            }
            (None, Some(record)) if record.id != id => Err(NotUnlocked::other_id(id, record)),
            _ => Ok(self.end(workspace, id).await?),
        }
    }
}
