//! A command of this machine, run for a provisioner: its output line by line, its end as a sentence.

use std::io::{BufRead, BufReader, PipeReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use tokio::sync::mpsc;

use crate::error::{Error, ErrorContext};
use crate::execute::Stop;

/// The most of a command's output that a message about its failure repeats, in bytes.
const TAIL: usize = 8 * 1024;

/// A command to run.
#[derive(Clone, Debug, Default)]
pub(in crate::execute) struct Command {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// What is added to the environment.
    pub environment: Vec<(String, String)>,
    /// Where it runs.
    pub folder: PathBuf,
    /// The folder as written, for messages.
    pub folder_shown: String,
}

impl Command {
    /// Runs the command to its end and hands on its output, standard and error output in one, line by line.
    ///
    /// It is a process group of its own: an interrupt meant for this program does not reach it. Asked to stop, the whole
    /// group is killed.
    ///
    /// # Errors
    ///
    /// How it failed, and the end of its output.
    pub async fn run(
        &self,
        stop: &Stop,
        mut line: impl FnMut(&str),
    ) -> Result<(), (Error, String)> {
        let plain = |why: Error| (why, String::new());
        let (reader, writer) = std::io::pipe().context("no pipe for its output").map_err(plain)?;
        let mut lines = read_lines(reader).context("no thread for its output").map_err(plain)?;
        let mut child = self.spawn(writer).map_err(plain)?;
        let mut output = Tail::default();
        let mut ended = None;
        let mut is_killed = false;
        loop {
            tokio::select! {
                text = lines.recv() => match text {
                    Some(bytes) => {
                        output.push(&bytes);
                        line(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']));
                    }
                    None => break,
                },
                status = child.wait(), if ended.is_none() => ended = Some(status),
                () = stop.wait_for(1), if !is_killed => {
                    is_killed = true;
                    kill_group(&child);
                    // What left the group may hold the output open for ever.
                    if ended.is_some() {
                        break;
                    }
                }
            }
            if is_killed && ended.is_some() {
                break;
            }
        }
        let status = match ended {
            Some(status) => status,
            None => child.wait().await,
        };
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err((sentence(status).into(), output.text())),
            Err(error) => Err((error.into(), output.text())),
        }
    }

    fn spawn(&self, writer: std::io::PipeWriter) -> Result<tokio::process::Child, Error> {
        let Some((program, arguments)) = self.words.split_first() else {
            return Err("exec: no command".into());
        };
        if !self.folder.is_dir() {
            return Err(format!("chdir {}: no such file or directory", self.folder_shown).into());
        }
        let also = writer.try_clone()?;
        let mut command = std::process::Command::new(program);
        command
            .args(arguments)
            .envs(self.environment.iter().map(|it| (&it.0, &it.1)))
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(writer)
            .stderr(also)
            .process_group(0);
        let mut command = tokio::process::Command::from(command);
        Ok(command.kill_on_drop(true).spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound if !program.contains('/') => {
                format!("exec: {program:?}: executable file not found in $PATH")
            }
            std::io::ErrorKind::NotFound => {
                format!("fork/exec {program}: no such file or directory")
            }
            std::io::ErrorKind::PermissionDenied => {
                format!("fork/exec {program}: permission denied")
            }
            _ => format!("fork/exec {program}: {error}"),
        })?)
    }
}

fn kill_group(child: &tokio::process::Child) {
    let id =
        child.id().and_then(|it| i32::try_from(it).ok()).and_then(rustix::process::Pid::from_raw);
    if let Some(id) = id {
        // It may have ended by itself in between.
        let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
    }
}

/// Reads lines in a thread of their own, so that a silent command holds up nothing. No code waits for the thread: a process that
/// has left the command's group may hold the output open long after the run.
fn read_lines(reader: PipeReader) -> std::io::Result<mpsc::Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel(64);
    std::thread::Builder::new().spawn(move || {
        let mut reader = BufReader::new(reader);
        loop {
            let mut bytes = Vec::new();
            match reader.read_until(b'\n', &mut bytes) {
                Ok(1..) if sender.blocking_send(bytes).is_ok() => {}
                _ => return,
            }
        }
    })?;
    Ok(receiver)
}

/// Says how a process ended.
fn sentence(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal: {}", signal_name(signal)),
        (None, None) => status.to_string(),
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "hangup",
        2 => "interrupt",
        3 => "quit",
        4 => "illegal instruction",
        5 => "trace/breakpoint trap",
        6 => "aborted",
        7 => "bus error",
        8 => "floating point exception",
        9 => "killed",
        10 => "user defined signal 1",
        11 => "segmentation fault",
        12 => "user defined signal 2",
        13 => "broken pipe",
        14 => "alarm clock",
        15 => "terminated",
        other => return format!("signal {other}"),
    };
    name.into()
}

/// The end of an output.
#[derive(Default)]
struct Tail(Vec<u8>);

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        if self.0.len() > 2 * TAIL {
            self.0.drain(..self.0.len() - TAIL);
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0[self.0.len().saturating_sub(TAIL)..]).into_owned()
    }
}
