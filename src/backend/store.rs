//! A store keeps the bytes of states under the names of workspaces: versions, conditional writes, locks, listing.
//!
//! A store knows nothing of states: what it is given is sealed, and what it gives back is not opened yet ([`super::seal`]). What
//! the bytes mean, and which state may follow which, is [`super::snapshots`]'.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::FutureExt;

use super::lock::{LockInfo, LockProblem, LockState, NotUnlocked};
use crate::state::read::Backwards;
use crate::world::Stop;

/// Stands for what a store holds under one name, nothing included: an entity tag, a generation, a fingerprint.
///
/// Only the store that gave it knows what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version(pub String);

/// What a store holds of one workspace.
#[derive(Clone, Debug)]
pub struct Content {
    /// The bytes; none where nothing was ever stored.
    pub bytes: Vec<u8>,
    /// What a write must name to take their place.
    pub version: Version,
    /// Whether they come from another place than the one that is written: `-state-out`.
    pub is_elsewhere: bool,
}

/// Checks that what is stored under a name holds something. An empty one is no state, and does not say that there is none.
///
/// # Errors
///
/// If it is empty.
#[cfg(any(
    feature = "backend-s3",
    feature = "backend-gcs",
    feature = "backend-consul",
    feature = "backend-kubernetes",
    feature = "backend-pg"
))]
pub fn check_filled(name: &str, bytes: &[u8]) -> io::Result<()> {
    if !bytes.trim_ascii().is_empty() {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "{name} is there and empty, which is no state: the state may be lost, or cut off. Look for an older version or a copy of it. If \
         there was never a state, delete it"
    )))
}

/// How many bytes a compressed state may unpack to.
#[cfg(any(feature = "backend-consul", feature = "backend-kubernetes"))]
const LARGEST_UNPACKED: u64 = 2 << 30;

/// Unpacks a state that is compressed with gzip.
///
/// # Errors
///
/// If it is not wholly there, or unpacks to more than 2 GiB.
#[cfg(any(feature = "backend-consul", feature = "backend-kubernetes"))]
pub fn unpacked(stored: &[u8]) -> io::Result<Vec<u8>> {
    use std::io::Read;
    let mut plain = Vec::new();
    let mut unpacking = flate2::read::MultiGzDecoder::new(stored).take(LARGEST_UNPACKED + 1);
    unpacking.read_to_end(&mut plain)?;
    match plain.len() as u64 > LARGEST_UNPACKED {
        true => Err(io::Error::other("it unpacks to more than 2 GiB")),
        false => Ok(plain),
    }
}

/// Much that is stored, to be read from its end.
pub trait Large: Backwards {
    /// Returns what a write must name to take its place; nothing where it has changed while it was read.
    fn version(&self) -> Option<Version>;
}

/// Why a store has not taken what it was to keep.
#[derive(Debug)]
pub enum Refused {
    /// Somebody else has written there since. What is there now.
    Overtaken(Vec<u8>),
    /// Nothing that is written there could be read again.
    KeepsNothing(io::Error),
    /// What is there could not be copied to this file first.
    NoBackup(PathBuf, io::Error),
    /// The lock that this run held is gone; nothing was written. What is known of it.
    LockLost(String),
    /// It may or may not have been written: no answer came, and reading back did not tell.
    Unsettled(io::Error),
    /// It could not be written, and what was there is as it was.
    Failed(io::Error),
}

impl From<io::Error> for Refused {
    fn from(it: io::Error) -> Refused {
        Refused::Failed(it)
    }
}

/// The name of a state file where none is chosen.
pub const FILE_NAME: &str = "terraform.tfstate";

/// A place for the states of one configuration, by workspace.
///
/// Methods of one workspace are never called at the same time on one store, but for [`Store::lost_lock`] and [`Store::ask_lock`]; other
/// processes may use the place at any time.
#[async_trait]
pub trait Store: Debug + Send + Sync {
    /// Returns how messages call the place of a workspace's state.
    fn name(&self, workspace: &str) -> String;

    /// Returns the file of a workspace's state, as the user writes it, where that is one of this machine. The journal lies beside it
    /// then.
    fn file(&self, _workspace: &str) -> Option<PathBuf> {
        None
    }

    /// Returns the files of all states that this store, or the usual one before it, may have written on this machine.
    fn files(&self) -> Vec<PathBuf> {
        vec![FILE_NAME.into()]
    }

    /// Returns the backups of states that have names of their own.
    fn backups(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether every answer is there at once: then nothing is started to wait for it.
    fn is_at_hand(&self) -> bool {
        false
    }

    /// Whether others reach the place over a network, so that each answer takes time and any may be lost.
    fn is_remote(&self) -> bool {
        !self.is_at_hand()
    }

    /// Whether it has other workspaces than the default one.
    fn has_workspaces(&self) -> bool {
        true
    }

    /// Whether a lock keeps others from making a workspace at the same time.
    fn guards_creation(&self) -> bool {
        false
    }

    /// Whether other programs store a state in the default workspace as soon as the place is set up, and so expect one there.
    fn begins_with_state(&self) -> bool {
        false
    }

    /// Reads what is stored.
    ///
    /// # Errors
    ///
    /// If it cannot be known. Nothing is no error.
    async fn read(&self, workspace: &str) -> io::Result<Content>;

    /// Returns what is stored to be read from its end, where there are so many bytes and they can be read so.
    fn large(&self, _workspace: &str, _least: usize) -> Option<Box<dyn Large>> {
        None
    }

    /// Replaces what is stored, at once and only if it still is what `expected` stands for. Returns the new version.
    ///
    /// # Errors
    ///
    /// If it was not replaced; then what was there still is.
    async fn write(
        &self,
        workspace: &str,
        bytes: &Bytes,
        expected: &Version,
    ) -> Result<Version, Refused>;

    /// Checks, before anything is begun, that what is written could be read again.
    ///
    /// # Errors
    ///
    /// If it could not.
    async fn check(&self, _workspace: &str) -> io::Result<()> {
        Ok(())
    }

    /// Lists the workspaces, the default one first and the others sorted.
    ///
    /// # Errors
    ///
    /// If they cannot be known.
    async fn list(&self) -> io::Result<Vec<String>>;

    /// Makes a workspace; nothing where it is there.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    async fn create(&self, workspace: &str) -> io::Result<()>;

    /// Removes a workspace with all that is stored of it.
    ///
    /// # Errors
    ///
    /// If it cannot be removed; the default one never is.
    async fn delete(&self, workspace: &str) -> io::Result<()>;

    /// Takes the lock of a workspace, in one attempt. Returns the ID that gives it back, which some stores choose themselves.
    ///
    /// # Errors
    ///
    /// If somebody holds it, or it cannot be taken at all.
    async fn lock(&self, workspace: &str, info: &LockInfo) -> Result<String, LockProblem>;

    /// Returns whether the lock of a workspace is held, and by whom. Takes nothing.
    ///
    /// [`LockState::Unknown`] if only an attempt to take the lock would tell.
    ///
    /// # Errors
    ///
    /// If the store cannot be asked.
    async fn lock_state(&self, _workspace: &str) -> io::Result<LockState> {
        Ok(LockState::Unknown)
    }

    /// Returns what is known of a lock that this store has taken and that was lost since. Nobody is asked: whoever notices
    /// a loss, when a connection breaks or a session is not renewed, keeps it for this answer.
    fn lost_lock(&self, _workspace: &str) -> Option<String> {
        None
    }

    /// Asks whether a lock that this store has taken was lost since: why, and whose it is now, where that is known. A service that
    /// cannot be asked says nothing here, and the loss shows when the state is written.
    ///
    /// # Errors
    ///
    /// If it cannot be known, which is no loss yet.
    async fn ask_lock(&self, workspace: &str) -> io::Result<Option<String>> {
        Ok(self.lost_lock(workspace))
    }

    /// Gives a lock back that this store has taken.
    ///
    /// # Errors
    ///
    /// If it is not held under this ID.
    async fn unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked>;

    /// Removes a lock that nobody uses any more.
    ///
    /// # Errors
    ///
    /// If it has another ID, or somebody uses it.
    async fn force_unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked>;

    /// Clears away what a process has left that died while it held the lock, where that can be known.
    async fn tidy(&self, _workspace: &str) {}
}

/// Waits for the answer of a store, in whatever thread this is.
///
/// # Errors
///
/// Those of the answer, and that of a system that has no thread left.
pub fn wait<T, E>(
    store: &dyn Store,
    answer: impl Future<Output = Result<T, E>> + Send,
) -> Result<T, E>
where
    T: Send,
    E: Send + From<io::Error>,
{
    match store.is_at_hand() {
        true => answer.now_or_never().expect("a store at hand answers at once"),
        false => wait_for(answer),
    }
}

/// As [`wait`], unless the run is asked to stop: then the question is dropped.
///
/// # Errors
///
/// As for [`wait`], and if the run is asked to stop.
pub fn wait_unless_stopped<T, E>(
    store: &dyn Store,
    stop: &Stop,
    answer: impl Future<Output = Result<T, E>> + Send,
) -> Result<T, E>
where
    T: Send,
    E: Send + From<io::Error>,
{
    wait(store, async {
        stop.unless_asked(answer).await.unwrap_or_else(|| Err(interrupted().into()))
    })
}

/// How long a run that is asked to stop waits for an answer that may have changed something.
const PATIENCE: Duration = Duration::from_secs(2);

/// Asks for something that is taken back later, such as a lock. A run that is asked to stop does not begin, and waits a moment for the
/// answer to what it has begun.
///
/// # Errors
///
/// Those of the answer, and if the run is asked to stop and no answer comes.
pub async fn answer_soon<T, E: From<io::Error>>(
    stop: &Stop,
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    if stop.asked() > 0 {
        return Err(interrupted().into());
    }
    tokio::pin!(answer);
    tokio::select! {
        biased;
        done = &mut answer => done,
        () = stop.wait_for(1) => {
            tokio::time::timeout(PATIENCE, answer).await.unwrap_or_else(|_| Err(interrupted().into()))
        }
    }
}

fn interrupted() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "the run was interrupted")
}

/// Reads what a store holds, and blocks no thread that other work needs.
///
/// # Errors
///
/// As for [`Store::read`], and that of a system that has no thread left.
pub async fn read_beside(store: Arc<dyn Store>, workspace: &str) -> io::Result<Content> {
    if store.is_at_hand() {
        return store.read(workspace).await;
    }
    let workspace = workspace.to_owned();
    let read = runtime()?.spawn(async move { store.read(&workspace).await });
    read.await.unwrap_or_else(|why| Err(io::Error::other(why)))
}

/// Waits for the answer of a service, in whatever thread this is.
///
/// # Errors
///
/// Those of the answer, and that of a system that has no thread left.
pub fn wait_for<T, E>(answer: impl Future<Output = Result<T, E>> + Send) -> Result<T, E>
where
    T: Send,
    E: Send + From<io::Error>,
{
    // A thread that runs a runtime must not wait in another, so the store's own runtime is asked from a thread of its own.
    std::thread::scope(|scope| {
        let asked = std::thread::Builder::new().spawn_scoped(scope, || runtime()?.block_on(answer));
        asked?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Lets work go on beside everything else, until it ends or the handle stops it. Nothing where the system has no thread left for it.
pub fn beside(work: impl Future<Output = ()> + Send + 'static) -> Option<tokio::task::AbortHandle> {
    runtime().ok().map(|it| it.spawn(work).abort_handle())
}

/// Returns the runtime that connections of stores live on, which outlives every single question.
fn runtime() -> io::Result<&'static tokio::runtime::Runtime> {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    if let Some(it) = RUNTIME.get() {
        return Ok(it);
    }
    let made =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    Ok(RUNTIME.get_or_init(|| made))
}
