//! Programs of the system that fetch packages: git, Mercurial.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::Error;

/// A program, and what keeps it from asking questions.
pub(super) struct Program {
    /// What it is called.
    pub name: &'static str,
    /// Variables of its environment.
    pub variables: &'static [(&'static str, &'static str)],
}

impl Program {
    /// Runs it, in a folder where one is named.
    ///
    /// # Errors
    ///
    /// If it is not there, or what it says of its failure.
    pub fn run(&self, arguments: &[&str], folder: Option<&Path>) -> Result<(), Error> {
        let name = self.name;
        let mut command = Command::new(name);
        command.args(arguments).stdin(Stdio::null()).envs(self.variables.iter().copied());
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let output = command.output().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                format!("{name} must be installed and on the search path to fetch this module")
            }
            _ => format!("{name} cannot be started: {error}"),
        })?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = said.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        Err(format!("{name} {} failed: {}", arguments[0], said.join("; ")).into())
    }
}

/// Removes what a program keeps of a repository in its copy, where that is the address with its credentials. The files stay.
///
/// # Errors
///
/// If it cannot be removed.
pub(super) fn forget(kept: &Path) -> Result<(), Error> {
    use crate::error::ErrorContext;
    std::fs::remove_dir_all(kept).context(format_args!(
        "the credentials of the address cannot be removed from {}",
        kept.display()
    ))
}
