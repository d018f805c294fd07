//! Programs of the user that give keys or seal: a line that says which protocol they speak, then JSON in and JSON out.

use serde::Deserialize;
use tokio::process::Command;

use crate::backend::store::wait_for;
use crate::error::Error;
use crate::world::secrets::Secrets;
use crate::world::{World, subprocess};

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

    /// Runs the program in the folder of the configuration, and returns what it answers. A run that was asked to stop waits for it, too:
    /// what the run has done must be sealed.
    ///
    /// - `largest`: the most bytes that it may print.
    ///
    /// # Errors
    ///
    /// If it cannot be started, speaks another protocol, fails, prints too much or does not end; with what it says on its standard error.
    pub fn ask(&self, world: &World, input: &[u8], largest: usize) -> Result<Vec<u8>, Error> {
        let name = &self.command[0];
        world.may_start(name)?;
        let mut command = Command::new(name);
        command.args(&self.command[1..]).current_dir(&world.root).envs(&world.environment);
        let finished = wait_for(subprocess::run_to_end(&mut command, Some(input), largest));
        let finished = finished
            .map_err(|it| it.context(format_args!("failed to run the external command {name}")))?;
        let said = String::from_utf8_lossy(&finished.errors);
        let said = Secrets::of_environment(world).hide(&said);
        let with = |why: Error| match said.trim() {
            "" => why,
            said => Error::from(format!("{why}\n\nStderr:\n-------\n{said}")),
        };
        let answer = self.read(&finished.output).map_err(with)?;
        if finished.status.success() {
            return Ok(answer.to_vec());
        }
        let status = finished.status;
        let why = format!("the external command exited with a non-zero exit code ({status})");
        Err(with(why.into()))
    }

    /// Reads the header, and returns what follows it.
    fn read<'o>(&self, output: &'o [u8]) -> Result<&'o [u8], Error> {
        let end = memchr::memchr(b'\n', output).map_or(output.len(), |it| it + 1);
        let (line, answer) = output.split_at(end);
        let header: Header = serde_json::from_slice(line).map_err(|why| {
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
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn ask(world: &World, script: &str) -> Result<Vec<u8>, Error> {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let begun = Instant::now();
        let program = Program::new(command, "magic").expect("a program is named");
        let answer = program.ask(world, b"asked", subprocess::LARGEST);
        assert!(begun.elapsed() < Duration::from_secs(20), "it is not waited for");
        answer
    }

    #[test]
    fn a_program_that_hangs_or_prints_without_end_is_killed() {
        let world = World::of_this_process();
        for (script, expected) in [
            ("exec sleep 30", "it did not end within 5 seconds, and was killed"),
            ("exec yes", "it prints more than 1 MiB"),
            ("exec yes >&2", "it prints more than 1 MiB"),
        ] {
            let told = ask(&world, script).expect_err("it is refused").to_string();
            assert_eq!(told, format!("failed to run the external command sh: {expected}"));
        }
    }

    #[test]
    fn a_program_answers_although_another_holds_its_output_or_the_run_is_to_stop() {
        let world = World::of_this_process();
        world.stop.ask();
        let script = "echo '{\"magic\": \"magic\", \"version\": 1}'; cat; sleep 30 &";
        assert_eq!(ask(&world, script), Ok(b"asked".to_vec()));
    }

    #[test]
    fn what_is_wrong_with_an_answer_is_told_with_the_errors() {
        let world = World::of_this_process();
        for (script, expected) in [
            ("echo no >&2", "the header of the external command cannot be read"),
            (
                "echo '{\"magic\": \"other\"}'; echo no >&2",
                "invalid magic received from the external command: other",
            ),
            (
                "echo '{\"magic\": \"magic\", \"version\": 1}'; echo no >&2; exit 3",
                "exited with a non-zero exit code (exit status: 3)",
            ),
        ] {
            let told = ask(&world, script).expect_err("it is refused").to_string();
            assert!(told.contains(expected), "{told}");
            assert!(told.ends_with("Stderr:\n-------\nno"), "{told}");
        }
    }
}
