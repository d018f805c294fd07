//! Commands that are programs of their own: `entail-NAME`, beside this program or on the path, as cargo has them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use entail::diagnostic::{Diagnostic, Diagnostics};

/// What the file names of such programs begin with.
const PREFIX: &str = "entail-";

/// What lies beside this program and is no command: it speaks to other programs.
const NO_COMMANDS: &[&str] = &["plugin"];

/// Returns the program of a command; nothing where there is none.
pub fn find(name: &str, environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let is_name = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '-' || it == '_');
    if !is_name || NO_COMMANDS.contains(&name) {
        return None;
    }
    let file = format!("{PREFIX}{name}{}", std::env::consts::EXE_SUFFIX);
    folders(environment).map(|it| it.join(&file)).find(|it| is_program(it))
}

/// Returns the names of the commands that are there, sorted.
pub fn all(environment: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    for folder in folders(environment) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        found.extend(entries.filter_map(|it| {
            let file = it.file_name().into_string().ok()?;
            let name = file.strip_prefix(PREFIX)?.strip_suffix(std::env::consts::EXE_SUFFIX)?;
            let is_command = !NO_COMMANDS.contains(&name) && !name.contains('.');
            (is_command && is_program(&it.path())).then(|| name.to_owned())
        }));
    }
    found.sort();
    found.dedup();
    found
}

/// Where programs are looked for: beside this one first, so that what was installed together runs together.
fn folders(environment: &BTreeMap<String, String>) -> impl Iterator<Item = PathBuf> {
    let own = std::env::current_exe().ok().and_then(|it| it.canonicalize().ok());
    // Beside anything else, such as a test, what begins so need not be meant.
    let own = own.filter(|it| it.file_stem().is_some_and(|it| it == "entail"));
    let own = own.and_then(|it| it.parent().map(Path::to_owned));
    let path = environment.get("PATH").map_or("", String::as_str);
    let listed: Vec<PathBuf> =
        std::env::split_paths(path).filter(|it| !it.as_os_str().is_empty()).collect();
    own.into_iter().chain(listed)
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Runs such a program in the place of this one.
///
/// # Errors
///
/// If it cannot be started.
pub fn run(program: &Path, arguments: &[String]) -> Result<ExitCode, Diagnostics> {
    let mut command = Command::new(program);
    command.args(arguments);
    #[cfg(unix)]
    let started: std::io::Result<ExitCode> = {
        use std::os::unix::process::CommandExt;
        Err(command.exec())
    };
    #[cfg(not(unix))]
    let started = command.status().map(|it| {
        let code = it.code().and_then(|it| u8::try_from(it).ok());
        code.map_or(ExitCode::FAILURE, ExitCode::from)
    });
    started.map_err(|why| {
        Diagnostic::error("Cannot start the command")
            .detail(format!("{} cannot be started: {why}.", program.display()))
            .into()
    })
}
