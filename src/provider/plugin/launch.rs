//! Starts a plugin: its environment, its first line, its output, its end.
//!
//! A plugin does not notice that its parent is gone. On Linux the system is asked to end it then; the only `unsafe` of
//! the program stands here, in the child between fork and exec.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::sync::{Notify, watch};

use super::handshake::{self, COOKIE, Handshake, PluginKind};
use super::log::Log;
use super::machine;
use super::opened::Opened;
use super::sockets::SocketFolder;
use super::tail::Tail;
use super::tls;
use crate::error::Error;
use crate::install::Platform;
use crate::world::World;

/// How long a plugin may take to print its first line.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long the end of a child may stay unnoticed once its output has ended.
const GRACE: Duration = Duration::from_secs(1);
/// Longer lines are taken in parts.
const LINE: usize = 1 << 16;

/// A file to be started as a plugin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start<'a> {
    /// The path.
    pub executable: &'a Path,
    /// The file that was checked, which is the one to be started; `None` where nothing was to be checked.
    pub opened: Option<&'a Arc<Opened>>,
    /// What kind of plugin it is.
    pub kind: PluginKind,
    /// The provider's or the provisioner's name.
    pub name: &'a str,
}

/// A child that runs, or ran.
#[derive(Debug)]
pub(super) struct Running {
    /// What it said first.
    pub handshake: Handshake,
    /// Its last lines.
    pub tail: Arc<Tail>,
    exit: watch::Receiver<Option<ExitStatus>>,
    leash: Leash,
    /// Where its socket is; removed with it.
    _folder: SocketFolder,
}

impl Running {
    /// Waits until it has ended, at most so long.
    pub async fn ended_within(&self, patience: Duration) -> Option<ExitStatus> {
        let mut exit = self.exit.clone();
        let ended = tokio::time::timeout(patience, exit.wait_for(Option::is_some)).await;
        ended.ok()?.ok().and_then(|it| *it)
    }

    /// Returns how it ended, if it has.
    pub fn ended(&self) -> Option<ExitStatus> {
        *self.exit.borrow()
    }

    /// Ends it at once.
    pub fn kill(&self) {
        self.leash.0.notify_one();
    }
}

/// What a child is held by: let go, it ends at once.
#[derive(Debug)]
struct Leash(Arc<Notify>);

impl Drop for Leash {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// Starts a program and reads its first line. Runs on the thread of plugins, which lives as long as this process.
///
/// # Errors
///
/// Says why the file does not start, as the end of a sentence about it.
pub(super) async fn launch(start: &Start<'_>, world: &World) -> Result<Running, Error> {
    let name = start.executable.file_name().unwrap_or_default().to_string_lossy();
    let log = Arc::new(Log::of(world, &name));
    let folder = SocketFolder::new()?;
    let path = match start.opened {
        Some(it) => it.start_path().map_err(|it| not_started(&it))?,
        None => start.executable.to_owned(),
    };
    if let Some(why) = machine::obstacle(&path, &Platform::current().to_string()) {
        return Err(why.into());
    }
    let mut child = command(start, &path, world, &log, folder.path())?
        .spawn()
        .map_err(|it| not_started(&it))?;
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err("has no output that could be read".into());
    };
    let tail = Arc::new(Tail::default());
    let drained = tokio::spawn(drain(stderr, tail.clone(), log));
    let (send, exit) = watch::channel(None);
    let leash = Leash(Arc::default());
    tokio::spawn(attend(child, leash.0.clone(), send));
    match introduction(stdout, &exit, start.kind).await {
        Ok(handshake) => Ok(Running { handshake, tail, exit, leash, _folder: folder }),
        Err(why) => {
            drop(leash);
            let _ = tokio::time::timeout(Duration::from_secs(1), drained).await;
            let said = tail.plain();
            Err(if said.is_empty() { why } else { format!("{why}. It said:\n{said}").into() })
        }
    }
}

/// Waits for the first line of a child, and reads it.
async fn introduction(
    stdout: ChildStdout,
    exit: &watch::Receiver<Option<ExitStatus>>,
    kind: PluginKind,
) -> Result<Handshake, Error> {
    match tokio::time::timeout(PATIENCE, first_line(stdout)).await {
        Err(_) => Err("did not say within a minute where it listens".into()),
        Ok(Ok(line)) if !line.is_empty() => handshake::read(&line, kind),
        Ok(_) => {
            let mut exit = exit.clone();
            let ended = tokio::time::timeout(GRACE, exit.wait_for(Option::is_some)).await;
            let status = ended.ok().and_then(Result::ok).and_then(|it| *it);
            let how = status.map(|it| format!(" ({it})")).unwrap_or_default();
            Err(format!("ended before it said where it listens{how}").into())
        }
    }
}

/// Variables that are read by a plugin of this program, which tests use.
const FOR_TESTS: [&str; 5] = [
    "ENTAIL_PLUGIN_CALLS",
    "ENTAIL_PLUGIN_FAULTS",
    "ENTAIL_PLUGIN_IDENTITIES",
    "ENTAIL_PLUGIN_PROTOCOL",
    "ENTAIL_PLUGIN_WORLD",
];

/// Returns whether a variable is none of a plugin's business: credentials for registries, the passphrase of states, and what
/// steers this program.
fn is_withheld(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("TF_TOKEN_")
        || name == "TF_ENCRYPTION"
        || (name.starts_with("ENTAIL_") && !FOR_TESTS.contains(&&*name))
}

fn command(
    start: &Start<'_>,
    path: &Path,
    world: &World,
    log: &Log,
    folder: &Path,
) -> Result<Command, Error> {
    let mut command = std::process::Command::new(path);
    for name in std::env::vars_os().map(|it| it.0).filter(|it| is_withheld(it)) {
        command.env_remove(name);
    }
    let versions: Vec<String> = start.kind.versions().iter().map(u32::to_string).collect();
    command
        .arg0(start.executable)
        .env(COOKIE.0, COOKIE.1)
        .env("PLUGIN_PROTOCOL_VERSIONS", versions.join(","))
        .env("PLUGIN_MIN_PORT", "10000")
        .env("PLUGIN_MAX_PORT", "25000")
        .env("PLUGIN_UNIX_SOCKET_DIR", folder)
        .env_remove("PLUGIN_MULTIPLEX_GRPC")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    match world.variable("TF_DISABLE_PLUGIN_TLS") {
        Some(_) => command.env_remove("PLUGIN_CLIENT_CERT"),
        None => command.env("PLUGIN_CLIENT_CERT", &tls::own()?.certificate),
    };
    // Plugins are built to collect garbage early, which costs a third of their speed.
    if world.variable("GOGC").is_none() && world.variable("GOMEMLIMIT").is_none() {
        command.env("GOGC", "400");
    }
    // They log everything and leave it to us to choose.
    let name = format!("{}_{}", start.kind.name(), start.name);
    let own = format!("TF_LOG_{}", name.to_uppercase().replace('-', "_"));
    for name in ["TF_LOG_SDK", &own] {
        if log.is_off() && world.variable(name).is_none() {
            command.env(name, "OFF");
        }
    }
    tie(&mut command, start.opened.cloned());
    let mut command = Command::from(command);
    command.kill_on_drop(true);
    Ok(command)
}

/// Lets the child end with this process, and keeps the terminal's interrupts from it.
#[cfg(target_os = "linux")]
fn tie(command: &mut std::process::Command, opened: Option<Arc<Opened>>) {
    command.process_group(0);
    let parent = rustix::process::getpid();
    let is_script = opened.as_ref().is_some_and(|it| it.is_script());
    let tied = move || {
        if let Some(opened) = &opened {
            // Whoever wrote to the file after it was checked wrote what nobody has checked.
            if !opened.is_unchanged()? {
                return Err(rustix::io::Errno::STALE.into());
            }
            if is_script {
                rustix::io::fcntl_setfd(opened, rustix::io::FdFlags::empty())?;
            }
        }
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        // The parent may have gone before.
        match rustix::process::getppid() {
            Some(now) if now == parent => Ok(()),
            _ => Err(std::io::ErrorKind::Other.into()),
        }
    };
    #[expect(unsafe_code, reason = "only calls of the system are made between fork and exec")]
    // SAFETY: the closure makes a few calls of the system, allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(tied);
    }
}

#[cfg(not(target_os = "linux"))]
fn tie(command: &mut std::process::Command, _: Option<Arc<Opened>>) {
    command.process_group(0);
}

fn not_started(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => {
            "is not there, or the interpreter or a library that it needs is not".into()
        }
        ErrorKind::PermissionDenied => {
            "is not executable: its permissions do not allow it, until \"chmod +x\" does".into()
        }
        ErrorKind::StaleNetworkFileHandle => {
            "was written to after its checksum was compared with the lock file".into()
        }
        _ => format!("cannot be started: {error}"),
    }
}

/// Waits for the end of the child, or brings it about.
async fn attend(mut child: Child, kill: Arc<Notify>, ended: watch::Sender<Option<ExitStatus>>) {
    let status = tokio::select! {
        status = child.wait() => status,
        () = kill.notified() => {
            end_group(&child);
            // Only a child that is gone already cannot be killed.
            let _ = child.kill().await;
            child.wait().await
        }
    };
    let _ = ended.send(status.ok());
}

/// Ends what the child has started in its turn. The child is not waited for yet, so the number is still its own.
fn end_group(child: &Child) {
    let id = child.id().and_then(|it| i32::try_from(it).ok());
    if let Some(group) = id.and_then(rustix::process::Pid::from_raw) {
        // There may be nobody left.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

/// Reads the first line; whatever comes later is taken and dropped, for a full pipe would stop the plugin.
async fn first_line(stdout: ChildStdout) -> std::io::Result<String> {
    let mut reader = BufReader::new(stdout).take(LINE as u64);
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).await?;
    let mut rest = reader.into_inner();
    tokio::spawn(async move { tokio::io::copy(&mut rest, &mut tokio::io::sink()).await });
    Ok(String::from_utf8_lossy(&line).into_owned())
}

async fn drain(stderr: ChildStderr, tail: Arc<Tail>, log: Arc<Log>) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader).take(LINE as u64).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line);
                tail.push(text.trim_end());
                log.line(text.trim_end());
            }
        }
    }
}
