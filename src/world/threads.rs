//! Whether the system gives the threads and descriptors that a workflow takes.

use std::io;
use std::os::unix::net::UnixStream;

/// The stack of the thread that does the work, in bytes, and as much again for what it works with.
const WORK: usize = 256 << 20;

/// The stack of a thread of the runtime, in bytes, with what else it takes.
const WORKER: usize = 4 << 20;

/// How many threads a workflow takes: workers of the runtime, those that wait for files, that of plugins, and a few more.
pub const THREADS: usize = 12;

/// Sees whether the system gives that many threads: the runtime takes a refusal for a fault of the program.
///
/// # Errors
///
/// What the system says where it refuses one.
pub fn probe() -> io::Result<()> {
    // Starting them only to see costs more than all else that a small plan does.
    if limits::leave(4 * THREADS as u64) { Ok(()) } else { start() }
}

/// Sees whether the system gives the descriptors that a runtime takes before it has anything to do: it, too, takes a refusal for
/// a fault of the program.
///
/// # Errors
///
/// What the system says where it refuses one.
pub fn probe_descriptors() -> io::Result<()> {
    (0..4).map(|_| UnixStream::pair()).collect::<io::Result<Vec<_>>>().map(drop)
}

fn start() -> io::Result<()> {
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    std::thread::scope(|scope| {
        // All wait until the last is there, or none more can be had.
        let hold = hold;
        let wait = || drop(held.lock().map(|it| it.recv()));
        let stacks = std::iter::once(WORK).chain([WORKER; THREADS]);
        let started: io::Result<Vec<_>> = stacks
            .map(|it| std::thread::Builder::new().stack_size(it).spawn_scoped(scope, wait))
            .collect();
        drop(hold);
        started.map(drop)
    })
}

#[cfg(target_os = "linux")]
mod limits {
    use std::fs::read_to_string;
    use std::path::Path;

    use rustix::process::{Resource, getrlimit};

    /// Whether no limit of user, system or group of processes is as near as that. `false` where that cannot be told.
    pub fn leave(threads: u64) -> bool {
        getrlimit(Resource::As).current.is_none()
            && of_system(getrlimit(Resource::Nproc).current.unwrap_or(u64::MAX), threads)
            && of_groups(threads)
    }

    /// What one user has started is no more than what all have.
    fn of_system(own: u64, threads: u64) -> bool {
        let most = number("/proc/sys/kernel/threads-max".as_ref()).map_or(own, |it| it.min(own));
        // The fourth word tells what runs and what there is, as `2/345`.
        let load = read_to_string("/proc/loadavg").unwrap_or_default();
        let all = load.split_whitespace().nth(3).and_then(|it| it.split_once('/'));
        all.and_then(|it| it.1.parse::<u64>().ok()).is_some_and(|all| all + threads < most)
    }

    /// A limit of a group counts for the groups within it.
    fn of_groups(threads: u64) -> bool {
        let Ok(groups) = read_to_string("/proc/self/cgroup") else { return true };
        groups.lines().all(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let root = match parts.next() {
                Some("") => Path::new("/sys/fs/cgroup").to_owned(),
                Some(it) if it.split(',').any(|it| it == "pids") => {
                    Path::new("/sys/fs/cgroup").join(it)
                }
                _ => return true,
            };
            let path = Path::new(parts.next().unwrap_or_default().trim_start_matches('/'));
            path.ancestors().all(|it| leaves(&root.join(it), threads))
        })
    }

    /// Where a group has no limit, its file says `max` or is not there.
    fn leaves(group: &Path, threads: u64) -> bool {
        let Some(most) = number(&group.join("pids.max")) else { return true };
        number(&group.join("pids.current")).is_some_and(|it| it + threads < most)
    }

    fn number(path: &Path) -> Option<u64> {
        read_to_string(path).ok()?.trim().parse().ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod limits {
    /// Only asking the system tells.
    pub fn leave(_: u64) -> bool {
        false
    }
}
