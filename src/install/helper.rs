//! `credentials_helper`: a program of the user's that keeps the tokens of hosts, and gives them out.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::Deserialize;
use tokio::io::AsyncWriteExt;

use super::Platform;
use super::settings::{Token, data_folders};
use crate::error::Error;
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
    program: &Path,
    arguments: &[String],
    host: &str,
) -> Result<Option<Token>, Error> {
    let said = run(program, arguments, ["get", host], None).await?;
    // What it printed may hold a secret: the error says nothing of it.
    let answer: Credentials = serde_json::from_slice(&said).map_err(|_| {
        let shown = program.display();
        format!("malformed output from {shown}: it is not an object with a token")
    })?;
    Ok(answer.token.map(Token::new))
}

/// Gives a helper the token of a host, to keep it.
///
/// # Errors
///
/// As for [`ask`].
pub(super) async fn store(
    program: &Path,
    arguments: &[String],
    host: &str,
    token: &Token,
) -> Result<(), Error> {
    let kept = serde_json::json!({ "token": token.reveal() }).to_string();
    let stored = run(program, arguments, ["store", host], Some(kept)).await;
    match stored {
        Ok(_) => Ok(()),
        // It may repeat what it was given.
        Err(why) if !token.reveal().is_empty() && why.words().contains(token.reveal()) => {
            Err(why.words().replace(token.reveal(), "(the token)").into())
        }
        Err(why) => Err(why),
    }
}

/// Lets a helper forget the token of a host.
///
/// # Errors
///
/// As for [`ask`].
pub(super) async fn forget(program: &Path, arguments: &[String], host: &str) -> Result<(), Error> {
    run(program, arguments, ["forget", host], None).await.map(drop)
}

/// Runs a helper, and returns what it prints.
async fn run(
    program: &Path,
    arguments: &[String],
    words: [&str; 2],
    input: Option<String>,
) -> Result<Vec<u8>, Error> {
    let shown = program.display();
    let failed = |it: std::io::Error| Error::of(it).context(format_args!("failed to run {shown}"));
    let mut child = tokio::process::Command::new(program)
        .args(arguments)
        .args(words)
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    if let (Some(mut to), Some(input)) = (child.stdin.take(), input) {
        // One that ends without reading says so itself.
        let _ = to.write_all(input.as_bytes()).await;
    }
    let output = child.wait_with_output().await.map_err(failed)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(match String::from_utf8_lossy(&output.stderr).trim() {
        "" => format!("error in {shown}, but it produced no error message").into(),
        said => format!("error in {shown}: {said}").into(),
    })
}
