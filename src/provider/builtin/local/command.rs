//! `local_command`, data source and ephemeral resource: runs a program and returns what it prints.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::provider::builtin::attribute::{Attribute, flag, text, text_list, whole};
use crate::provider::builtin::fields::{Fields, Read, at};
use crate::provider::builtin::resource::Problem;
use crate::provider::builtin::table::Source;
use crate::value::{Value, text_of};
use crate::world::World;

pub(super) struct LocalCommand;

#[async_trait]
impl Source for LocalCommand {
    fn name(&self) -> &'static str {
        "local_command"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                flag("allow_non_zero_exit_code").optional(),
                text_list("arguments").optional(),
                text("command").required(),
                whole("exit_code").computed(),
                text("stderr").computed(),
                text("stdin").optional(),
                text("stdout").computed(),
                text("working_directory").optional(),
            ]
        }
    }

    async fn read(
        &self,
        world: &Arc<World>,
        config: &Value,
        result: &mut Fields,
    ) -> Result<(), Problem> {
        let name = config.text("command").unwrap_or_default();
        let program = find(world, name)?;
        let folder = working_folder(world, config)?;
        let output = run(world, (name, &program), &folder, config)
            .await
            .map_err(|why| not_run(name, &why))?;
        // A process that a signal ended has no exit code.
        result.set("exit_code", Value::int(output.status.code().map_or(-1, i64::from)));
        for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            if !bytes.is_empty() {
                result.set_text(name, text_of(bytes));
            }
        }
        if output.status.success() || config.flag("allow_non_zero_exit_code") == Some(true) {
            return Ok(());
        }
        Err(failed(name, &output))
    }
}

/// Runs a program to its end. It is killed, with all that it started, when nobody waits for it any more.
///
/// - `name`: what it is called, which it may look at.
async fn run(
    world: &World,
    (name, program): (&str, &Path),
    folder: &Path,
    config: &Value,
) -> std::io::Result<Output> {
    world.may_start(name).map_err(std::io::Error::other)?;
    let arguments = config.member("arguments");
    let mut command = Command::new(program);
    #[cfg(unix)]
    command.arg0(name);
    let mut child = command
        .args(arguments.children().filter_map(Value::as_str))
        .env_clear()
        .envs(&world.environment)
        .current_dir(folder)
        .stdin(if config.text("stdin").is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    let group = Group::of(&child);
    let stdin = child.stdin.take();
    let feed = async {
        if let (Some(mut stdin), Some(text)) = (stdin, config.text("stdin")) {
            // A program need not read its input to the end.
            let _ = stdin.write_all(text.as_bytes()).await;
        }
    };
    let (output, ()) = tokio::join!(child.wait_with_output(), feed);
    group.has_ended();
    output
}

/// The processes that a program has started, which end with the wait for them.
struct Group(Option<rustix::process::Pid>);

impl Group {
    /// Returns the group of a child that leads it.
    fn of(child: &tokio::process::Child) -> Group {
        let id = child.id().and_then(|it| i32::try_from(it).ok());
        Group(id.and_then(rustix::process::Pid::from_raw))
    }

    /// The child has ended, and what it left running is meant to go on.
    fn has_ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(id) = self.0 {
            // All of them may have ended in between.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

fn working_folder(world: &World, config: &Value) -> Result<PathBuf, Problem> {
    let name = config.text("working_directory").unwrap_or_default();
    let folder = world.root.join(name);
    if folder.is_dir() {
        return Ok(folder);
    }
    let why = if folder.exists() { "is no folder" } else { "does not exist" };
    let detail = format!("The working directory {name:?} {why}, so that nothing was run.");
    Err(Problem::error("Command Execution Failed", detail).at(at("working_directory")))
}

/// Finds a program as a shell does: a name without a slash stands for one in a folder of `PATH`.
fn find(world: &World, name: &str) -> Result<PathBuf, Problem> {
    if name.contains('/') {
        let path = world.root.join(name);
        return match is_executable(&path) {
            true => Ok(PathBuf::from(name)),
            false => Err(not_found(name, path.exists())),
        };
    }
    let path = world.variable("PATH").unwrap_or_default();
    let folders = std::env::split_paths(path).filter(|it| it.is_absolute());
    let found = folders.map(|it| it.join(name)).find(|it| !name.is_empty() && is_executable(it));
    found.ok_or_else(|| not_found(name, false))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

fn not_found(name: &str, is_there: bool) -> Problem {
    let detail = match is_there {
        true => format!("{name:?} is there, but is no file that may be executed."),
        false => format!(
            "There is no program {name:?}: it must be a path, or the name of one in a folder of PATH."
        ),
    };
    Problem::error("Command Lookup Failed", detail).at(at("command"))
}

fn not_run(name: &str, why: &std::io::Error) -> Problem {
    Problem::error("Command Execution Failed", format!("{name}: {why}")).at(at("command"))
}

/// A program that ended as if it had failed.
fn failed(name: &str, output: &Output) -> Problem {
    let told = String::from_utf8_lossy(&output.stderr);
    let told =
        if told.trim().is_empty() { "nothing".into() } else { format!("\n{}", told.trim_end()) };
    let detail = format!(
        "The command ended with {}. Where that is to be expected, set \"allow_non_zero_exit_code\" to true.\n\n{name} wrote to stderr: {told}",
        output.status
    );
    Problem::error("Command Execution Failed", detail).at(at("command"))
}
