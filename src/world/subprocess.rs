//! Programs that the user names and that give out credentials or keys: they have a time limit, and a limit of what they print.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};

use crate::error::Error;
use crate::world::Stop;
use crate::world::secrets::Secrets;

/// How long a program may take.
const LIMIT: Duration = Duration::from_secs(if cfg!(test) { 5 } else { 60 });
/// How long its output is waited for once it has ended: another program that it has started may hold it open.
const REST: Duration = Duration::from_secs(1);
/// The most bytes that it may print, on its standard output and on its standard error.
pub(crate) const LARGEST: usize = 1 << 20;
/// The most characters of its standard error that are shown.
const LONGEST: usize = 1000;

/// What a program that has ended leaves behind.
pub(crate) struct Finished {
    /// How it has ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub output: Vec<u8>,
    /// Its standard error.
    pub errors: Vec<u8>,
}

/// As [`run_to_end`], with output up to [`LARGEST`]. The program is also killed when the run is stopped.
///
/// # Errors
///
/// As for [`run_to_end`], and if the run is stopped.
pub(crate) async fn run(
    command: &mut Command,
    input: Option<&[u8]>,
    stop: &Stop,
) -> Result<Finished, Error> {
    let ended = stop.unless_asked(run_to_end(command, input, LARGEST)).await;
    ended.unwrap_or_else(|| Err("the run was interrupted".into()))
}

/// Runs a program that is given an input, and waits for its end. It is killed after [`LIMIT`].
///
/// - `largest`: the most bytes of its standard output.
///
/// # Errors
///
/// If it cannot be started, takes too long, or prints too much.
pub(crate) async fn run_to_end(
    command: &mut Command,
    input: Option<&[u8]>,
    largest: usize,
) -> Result<Finished, Error> {
    match tokio::time::timeout(LIMIT, attempt(command, input, largest)).await {
        Ok(finished) => finished.map_err(Error::of),
        Err(_) => {
            Err(format!("it did not end within {} seconds, and was killed", LIMIT.as_secs()).into())
        }
    }
}

/// Runs a program. It is killed where this future is dropped.
async fn attempt(
    command: &mut Command,
    input: Option<&[u8]>,
    largest: usize,
) -> io::Result<Finished> {
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let (mut child, mut group) = start(command)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let status = {
        let mut streams = std::pin::pin!(async {
            tokio::try_join!(
                write(stdin, input),
                read(stdout, &mut output, largest),
                read(stderr, &mut errors, LARGEST)
            )
        });
        tokio::select! {
            done = &mut streams => {
                done?;
                child.wait().await?
            }
            status = child.wait() => {
                group.has_ended();
                // What has come until then is all that the program itself has printed.
                if let Ok(done) = tokio::time::timeout(REST, &mut streams).await {
                    done?;
                }
                status?
            }
        }
    };
    group.has_ended();
    Ok(Finished { status, output, errors })
}

/// Starts a program. It leads a group of its own, unless this process has a terminal: the program may ask for a passphrase there, and
/// only processes of the foreground group may read from a terminal.
fn start(command: &mut Command) -> io::Result<(Child, Group)> {
    let is_leader = std::fs::File::open("/dev/tty").is_err();
    if is_leader {
        command.process_group(0);
    }
    let child = command.spawn()?;
    let id = child.id().filter(|_| is_leader).and_then(|it| i32::try_from(it).ok());
    Ok((child, Group(id.and_then(Pid::from_raw))))
}

/// The group that a program leads. Dropping it kills the program with all that it has started.
struct Group(Option<Pid>);

impl Group {
    /// The program has ended by itself. What it has left running may go on.
    fn has_ended(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(id) = self.0 {
            // All of them may have ended in between.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

async fn write(into: Option<ChildStdin>, input: Option<&[u8]>) -> io::Result<()> {
    if let (Some(mut into), Some(input)) = (into, input) {
        // One that ends without reading says so itself.
        let _ = into.write_all(input).await;
    }
    Ok(())
}

async fn read(
    from: Option<impl AsyncRead + Unpin>,
    into: &mut Vec<u8>,
    largest: usize,
) -> io::Result<()> {
    let Some(mut from) = from else { return Ok(()) };
    let mut part = vec![0; 8 << 10];
    loop {
        let count = from.read(&mut part).await?;
        if count == 0 {
            return Ok(());
        }
        into.extend_from_slice(&part[..count]);
        if into.len() > largest {
            return Err(io::Error::other(format!("it prints more than {} MiB", largest >> 20)));
        }
    }
}

/// Returns what a program says as messages can show it: in one line, without control characters, no longer than [`LONGEST`],
/// and without the secrets that the program was given.
pub(crate) fn printable(said: &[u8], secrets: &Secrets) -> String {
    let said = String::from_utf8_lossy(said);
    let clean: String =
        secrets.hide(&said).chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    // A secret may have stood there with control characters in between.
    let clean = secrets.hide(clean.trim());
    match clean.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &clean[..end]),
        None => clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_says_is_shown_in_one_line_without_the_secret() {
        let said = b"  the vault\x1b[31m\nsays hush and \x9b7m hush\r\n";
        let hush = Secrets::default().with(["hush"]);
        let shown = printable(said, &hush);
        assert_eq!(shown, "the vault [31m says (sensitive) and \u{fffd}7m (sensitive)");
        assert_eq!(printable("\u{9b}7m".as_bytes(), &Secrets::default()), "7m");
        let said = r#"{"token":"a\"b\\c"} a"b\c"#;
        assert_eq!(
            printable(said.as_bytes(), &Secrets::default().with([r#"a"b\c"#])),
            r#"{"token":"(sensitive)"} (sensitive)"#
        );
    }

    #[test]
    fn what_a_program_says_is_cut() {
        let none = Secrets::default();
        let shown = printable("é".repeat(LONGEST + 1).as_bytes(), &none);
        assert_eq!(shown, format!("{}…", "é".repeat(LONGEST)));
        assert_eq!(printable(&[b'a'; LONGEST], &none), "a".repeat(LONGEST));
        // Cut off in its middle, the secret would be a part of it.
        let said = format!("{}hush", "a".repeat(LONGEST - 2));
        let secrets = none.with(["", "quiet", "hush"]);
        assert!(printable(said.as_bytes(), &secrets).ends_with("a(s…"));
    }
}
