//! Programs of the system that fetch packages: git, Mercurial.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorContext};
use crate::world::Stop;

/// How often it is looked whether a program has ended.
const PAUSE: Duration = Duration::from_millis(5);
/// How long a program that is asked to end has to clean up.
const GRACE: Duration = Duration::from_secs(1);

/// A program, and what keeps it from asking questions.
pub(super) struct Program {
    /// What it is called.
    pub name: &'static str,
    /// Variables of its environment.
    pub variables: &'static [(&'static str, &'static str)],
}

impl Program {
    /// Runs it, in a folder where one is named. A request to stop ends it.
    ///
    /// It stays in the group of this process, so that it can ask for a password at the terminal.
    ///
    /// # Errors
    ///
    /// If it is not there, what it says of its failure, or if the run is asked to stop.
    pub fn run(&self, arguments: &[&str], folder: Option<&Path>, stop: &Stop) -> Result<(), Error> {
        let name = self.name;
        let mut command = Command::new(name);
        command.args(arguments).stdin(Stdio::null()).envs(self.variables.iter().copied());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let mut child = command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                format!("{name} must be installed and on the search path to fetch this module")
            }
            _ => format!("{name} cannot be started: {error}"),
        })?;
        let stderr = child.stderr.take();
        let saying = std::thread::Builder::new().spawn(move || {
            let mut said = Vec::new();
            // What cannot be read is not repeated.
            let _ = stderr.map(|mut it| it.read_to_end(&mut said));
            said
        });
        let status = ended(&mut child, stop).context(format_args!("{name} is lost"))?;
        let Some(status) = status else {
            return Err(format!("{name} {} was interrupted", arguments[0]).into());
        };
        if status.success() {
            return Ok(());
        }
        let said = saying.ok().and_then(|it| it.join().ok()).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let said: Vec<&str> = said.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        Err(format!("{name} {} failed: {}", arguments[0], said.join("; ")).into())
    }
}

/// Waits for the end of a program. Returns `None` where the run is asked to stop: then the program is asked to end, which lets it remove
/// what it has begun, and killed where it does not.
fn ended(child: &mut Child, stop: &Stop) -> std::io::Result<Option<ExitStatus>> {
    let mut asked = None;
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Some(status).filter(|_| asked.is_none())),
            None if asked.is_none() && stop.asked() > 0 => {
                asked = Some(Instant::now());
                terminate(child);
            }
            None if asked.is_some_and(|it: Instant| it.elapsed() > GRACE) => child.kill()?,
            None => {}
        }
        std::thread::sleep(PAUSE);
    }
}

fn terminate(child: &Child) {
    let id = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(id) = id {
        // It may have ended by itself in between.
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
    }
}

/// Removes what a program keeps of a repository in its copy, where that is the address with its credentials. The files stay.
///
/// # Errors
///
/// If it cannot be removed.
pub(super) fn forget(kept: &Path) -> Result<(), Error> {
    std::fs::remove_dir_all(kept).context(format_args!(
        "the credentials of the address cannot be removed from {}",
        kept.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_to_stop_ends_a_program() {
        let shell = Program { name: "sh", variables: &[] };
        let stop = Stop::default();
        assert!(shell.run(&["-c", "true"], None, &stop).is_ok());
        let failed = shell.run(&["-c", "echo why >&2; exit 1"], None, &stop);
        assert_eq!(failed.expect_err("it fails").words(), "sh -c failed: why");
        // One that ends when it is asked to, and one that does not.
        for script in ["exec sleep 60", "trap \"\" TERM; while :; do :; done"] {
            let (stop, began) = (Stop::default(), Instant::now());
            let copy = stop.clone();
            let asking = std::thread::spawn(move || copy.ask());
            let ended = shell.run(&["-c", script], None, &stop);
            assert_eq!(ended.expect_err("it is stopped").words(), "sh -c was interrupted");
            assert!(began.elapsed() < Duration::from_secs(30));
            asking.join().expect("it is asked");
        }
    }
}
