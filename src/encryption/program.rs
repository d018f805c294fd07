//! Programs of the user that give keys or seal: a line that says which protocol they speak, then JSON in and JSON out.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::error::{Error, ErrorContext};
use crate::world::World;

/// How long a program may take.
const LIMIT: Duration = Duration::from_secs(60);
/// How often it is looked whether a program has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// A program and its arguments.
#[derive(Clone, Debug)]
pub(super) struct Program {
    command: Vec<String>,
    magic: &'static str,
}

#[derive(Deserialize)]
struct Header {
    #[serde(default)]
    magic: String,
    #[serde(default)]
    version: u32,
}

impl Program {
    /// Returns a program; nothing where none is named.
    ///
    /// - `magic`: how it names the protocol.
    pub fn new(command: Vec<String>, magic: &'static str) -> Option<Program> {
        let is_there = command.first().is_some_and(|it| !it.is_empty());
        is_there.then_some(Program { command, magic })
    }

    /// Runs the program in the folder of the configuration, and returns what it answers.
    ///
    /// # Errors
    ///
    /// If it cannot be started, speaks another protocol, fails or does not end; with what it says on its standard error.
    pub fn ask(&self, world: &World, input: &[u8]) -> Result<Vec<u8>, Error> {
        let name = &self.command[0];
        world.may_start(name)?;
        let mut command = Command::new(name);
        command.args(&self.command[1..]).current_dir(&world.root).envs(&world.environment);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .context(format_args!("the external command {name} cannot be started"))?;
        let (mut stdin, stdout, mut stderr) =
            match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
                (Some(stdin), Some(stdout), Some(stderr)) => (stdin, stdout, stderr),
                _ => return Err("the external command has no standard streams".into()),
            };
        let (answer, status, said) = std::thread::scope(|scope| {
            let writing = scope.spawn(move || {
                // Who does not read all of it answers, or fails, for its own reasons.
                let _ = stdin.write_all(input);
            });
            let saying = scope.spawn(move || {
                let mut said = String::new();
                let _ = stderr.read_to_string(&mut said);
                said
            });
            let reading = scope.spawn(move || self.read(BufReader::new(stdout)));
            let status = ended(&mut child);
            let answer = reading.join().unwrap_or_else(|_| Err("it cannot be read".into()));
            let said = saying.join().unwrap_or_default();
            let _ = writing.join();
            (answer, status, said)
        });
        let with = |why: Error| match said.trim() {
            "" => why,
            said => Error::from(format!("{why}\n\nStderr:\n-------\n{said}")),
        };
        let status = status.map_err(with)?;
        match (answer, status.success()) {
            (Err(why), _) => Err(with(why)),
            (Ok(_), false) => Err(with(
                format!("the external command exited with a non-zero exit code ({status})").into(),
            )),
            (Ok(answer), true) => Ok(answer),
        }
    }

    /// Reads the header and what follows it.
    fn read(&self, mut stdout: impl BufRead) -> Result<Vec<u8>, Error> {
        let mut line = Vec::new();
        stdout.read_until(b'\n', &mut line).context("the external command cannot be heard")?;
        let header: Header = serde_json::from_slice(&line).map_err(|why| {
            Error::from(format!("the header of the external command cannot be read ({why})"))
        })?;
        if header.magic != self.magic {
            return Err(format!(
                "invalid magic received from the external command: {}",
                header.magic
            )
            .into());
        }
        if header.version != 1 {
            return Err(format!(
                "invalid version number received from the external command: {}",
                header.version
            )
            .into());
        }
        let mut answer = Vec::new();
        stdout.read_to_end(&mut answer).context("the external command cannot be heard")?;
        Ok(answer)
    }
}

/// Waits for the end of a program, for some time.
fn ended(child: &mut Child) -> Result<std::process::ExitStatus, Error> {
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if begun.elapsed() < LIMIT => std::thread::sleep(PAUSE),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("the external command has not ended within {LIMIT:?}").into());
            }
            Err(why) => return Err(Error::of(why).context("the external command is lost")),
        }
    }
}
