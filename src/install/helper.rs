//! `credentials_helper`: a program of the user's that gives out the token for a host.

use std::path::PathBuf;
use std::process::Stdio;

use serde::Deserialize;

use super::Platform;
use super::settings::{Token, data_folders};
use crate::error::{Error, ErrorContext};
use crate::world::World;

/// What a helper's file name begins with.
const PREFIX: &str = "terraform-credentials-";

/// What a helper answers; where it knows nothing of a host, nothing.
#[derive(Deserialize)]
struct Credentials {
    token: Option<String>,
}

/// Returns the program of a helper: of several versions the newest by name. One that is not there is done without.
pub(super) fn find(world: &World, name: &str) -> Option<PathBuf> {
    let (exact, versioned) = (format!("{PREFIX}{name}"), format!("{PREFIX}{name}_v"));
    let platform = Platform::current().to_string();
    let folders = data_folders(world).into_iter().map(|it| it.join("plugins"));
    let folders = folders.flat_map(|it| [it.clone(), it.join(&platform)]);
    let mut found: Vec<(String, PathBuf)> = folders
        .flat_map(|folder| {
            let entries = world.files.entries(&folder).unwrap_or_default();
            entries
                .into_iter()
                .map(move |it| (it.name.to_string_lossy().into_owned(), folder.join(&it.name)))
        })
        .filter(|(name, path)| {
            (*name == exact || name.starts_with(&versioned)) && world.files.is_file(path)
        })
        .collect();
    found.sort();
    found.pop().map(|it| it.1)
}

/// Asks a helper for the token of a host.
///
/// # Errors
///
/// What went wrong, with what the helper says of it.
pub(super) async fn ask(
    program: &PathBuf,
    arguments: &[String],
    host: &str,
) -> Result<Option<Token>, Error> {
    let shown = program.display();
    let run = tokio::process::Command::new(program)
        .args(arguments)
        .args(["get", host])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = run.await.context(format_args!("failed to run {shown}"))?;
    if !output.status.success() {
        return Err(match String::from_utf8_lossy(&output.stderr).trim() {
            "" => format!("error in {shown}, but it produced no error message").into(),
            said => format!("error in {shown}: {said}").into(),
        });
    }
    // What it printed may hold a secret: the error says nothing of it.
    let answer: Credentials = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("malformed output from {shown}: it is not an object with a token"))?;
    Ok(answer.token.map(Token::new))
}
