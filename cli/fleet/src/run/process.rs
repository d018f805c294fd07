//! One stack in a process of its own: the program `entail` plans it, and carries the plan out.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::error::Error;
use entail::world::{World, private_folder};

use super::Doing;
use super::report::{Ran, Status};
use crate::stacks::{Place, Stack};

/// The program that plans and applies.
#[derive(Clone, Debug)]
pub struct Program(PathBuf);

/// What a plan exits with that changes something, where it is asked to say so.
const CHANGES: i32 = 2;

impl Program {
    /// Finds the program: beside this one, or on the path.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn find(world: &World) -> Result<Program, Diagnostics> {
        let name = format!("entail{}", std::env::consts::EXE_SUFFIX);
        let own = std::env::current_exe().ok().and_then(|it| it.parent().map(Path::to_owned));
        let path = world.variable("PATH").unwrap_or_default();
        let folders = own.into_iter().chain(std::env::split_paths(path));
        let found = folders.map(|it| it.join(&name)).find(|it| it.is_file());
        found.map(Program).ok_or_else(|| {
            Diagnostic::error("No program to plan with")
                .detail("The program `entail` is neither beside entail-fleet nor on the path. Install both in one place.")
                .into()
        })
    }

    /// Plans a stack, or applies it.
    pub fn run(&self, world: &Arc<World>, stack: &Stack, doing: Doing) -> Ran {
        match self.planned(world, stack, doing) {
            Ok(ran) => ran,
            Err(why) => {
                Ran { because: Some(why.to_string()), ..Ran::of(&stack.name, Status::Failed) }
            }
        }
    }

    fn planned(&self, world: &World, stack: &Stack, doing: Doing) -> Result<Ran, Error> {
        let Place::Module { folder, variables, var_files, .. } = &stack.place else {
            return Err("it has no configuration".into());
        };
        let room = private_folder(&std::env::temp_dir())?;
        let file = room.path().join("plan");
        let mut words = vec!["plan".to_owned(), "-detailed-exitcode".to_owned()];
        if doing == Doing::Apply {
            words.push(format!("-out={}", file.display()));
        }
        words.extend(var_files.iter().map(|it| format!("-var-file={it}")));
        words.extend(variables.iter().map(|(name, it)| format!("-var={name}={it}")));
        let output = self.call(world, folder, &words)?;
        let says = summary(&output);
        match (output.status.code(), doing) {
            (Some(0), _) => Ok(Ran { says, ..Ran::of(&stack.name, Status::Unchanged) }),
            (Some(CHANGES), Doing::Plan) => {
                Ok(Ran { says, ..Ran::of(&stack.name, Status::Changed) })
            }
            (Some(CHANGES), Doing::Apply) => {
                let words = ["apply".to_owned(), file.display().to_string()];
                let output = self.call(world, folder, &words)?;
                match output.status.success() {
                    true => {
                        let says = summary(&output);
                        Ok(Ran { says, ..Ran::of(&stack.name, Status::Changed) })
                    }
                    false => Err(complaint(&output).into()),
                }
            }
            _ => Err(complaint(&output).into()),
        }
    }

    fn call(&self, world: &World, folder: &Path, words: &[String]) -> Result<Output, Error> {
        let (name, rest) = words.split_first().ok_or_else(|| Error::from("nothing is asked"))?;
        let mut command = Command::new(&self.0);
        command
            .arg(name)
            .args(["-input=false", "-no-color"])
            .args(rest)
            .current_dir(folder)
            .env_clear()
            .envs(&world.environment)
            .env("TF_IN_AUTOMATION", "1")
            .stdin(Stdio::null());
        command
            .output()
            .map_err(|why| format!("{} cannot be started: {why}", self.0.display()).into())
    }
}

/// The line that says what was planned or done.
fn summary(output: &Output) -> Option<String> {
    const STARTS: &[&str] = &["Plan:", "Apply complete!", "No changes."];
    let text = String::from_utf8_lossy(&output.stdout);
    let is_summary = |it: &&str| STARTS.iter().any(|start| it.starts_with(start));
    text.lines().rev().find(is_summary).map(str::to_owned)
}

/// What the program complains of, in a line.
fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let words: Vec<&str> =
        text.split_whitespace().filter(|it| it.chars().any(|it| !"│╷╵─".contains(it))).collect();
    let text = words.join(" ");
    match (text.is_empty(), output.status.code()) {
        (true, Some(code)) => format!("it ended with {code}"),
        (true, None) => "it was killed".to_owned(),
        (false, _) => text.chars().take(MOST).collect(),
    }
}

/// As much of a complaint as a report has room for.
const MOST: usize = 600;
