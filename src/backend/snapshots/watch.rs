//! A lock that is held is looked after: whether it still is, is asked now and then, so that a run that has lost it begins nothing more.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::task::AbortHandle;

use crate::backend::store::{Store, beside, wait};

/// How often it is asked. Steps take longer than that where asking is worth it, and a service is not asked for each of many short ones.
const INTERVAL: Duration = Duration::from_secs(5);
/// After how long it is asked again what was answered that the lock is lost: a service may be behind for a moment.
const AGAIN: Duration = Duration::from_secs(1);

/// Looks after one lock until it is dropped.
#[derive(Debug)]
pub(super) struct Watch {
    store: Arc<dyn Store>,
    workspace: String,
    /// Why it is not held any more, and whose it is: whatever was found out first, so that all that is said of it is the same.
    lost: Arc<OnceLock<String>>,
    asking: Option<AbortHandle>,
}

impl Watch {
    /// Begins to look after a lock that was just taken.
    ///
    /// - `asks`: whether it is asked for by itself.
    pub(super) fn begin(store: &Arc<dyn Store>, workspace: &str, asks: bool) -> Watch {
        let lost = Arc::new(OnceLock::new());
        let asking = match asks && !store.is_at_hand() {
            true => beside(ask(store.clone(), workspace.to_owned(), lost.clone())),
            false => None,
        };
        Watch { store: store.clone(), workspace: workspace.to_owned(), lost, asking }
    }

    /// Whether the lock is known to be lost. Nobody is asked.
    pub(super) fn has_lost(&self) -> bool {
        self.lost.get().is_some() || self.store.lost_lock(&self.workspace).is_some()
    }

    /// Returns why the lock is lost, where it is known to be, and whose it is now, where that can be found out.
    pub(super) fn loss(&self) -> Option<&str> {
        if self.lost.get().is_none() {
            let known = self.store.lost_lock(&self.workspace)?;
            let asked = wait(&*self.store, self.store.ask_lock(&self.workspace));
            self.note(asked.ok().flatten().unwrap_or(known));
        }
        self.lost.get().map(String::as_str)
    }

    /// Takes down that the lock is lost. Returns what is said of it, which is what was found out first.
    pub(super) fn note(&self, why: String) -> &str {
        self.lost.get_or_init(|| why)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(asking) = &self.asking {
            asking.abort();
        }
    }
}

/// Asks until the lock is lost.
async fn ask(store: Arc<dyn Store>, workspace: String, lost: Arc<OnceLock<String>>) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        let first = store.ask_lock(&workspace).await;
        if !matches!(first, Ok(Some(_))) {
            continue;
        }
        tokio::time::sleep(AGAIN).await;
        if let Ok(Some(why)) = store.ask_lock(&workspace).await {
            tracing::warn!(workspace, why, "lock lost");
            // Whoever was first has found out the same.
            let _ = lost.set(why);
            return;
        }
    }
}
