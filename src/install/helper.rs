//! `credentials_helper`: a program of the user's that keeps the tokens of hosts, and gives them out.

use std::path::PathBuf;

use serde::Deserialize;
use tokio::process::Command;

use super::Platform;
use super::settings::{Token, data_folders};
use crate::error::Error;
use crate::world::secrets::Secrets;
use crate::world::subprocess::{self, printable};
use crate::world::{Stop, World};

/// What a helper's file name begins with.
const PREFIX: &str = "terraform-credentials-";

/// A helper: its program, and the arguments that the CLI configuration gives it.
#[derive(Clone)]
pub(super) struct Helper {
    /// The program.
    pub program: PathBuf,
    /// Its first arguments.
    pub arguments: Vec<String>,
    /// The secrets that its errors are shown without.
    pub secrets: Secrets,
}

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

impl Helper {
    /// Asks for the token of a host.
    ///
    /// # Errors
    ///
    /// What went wrong, with what the helper says of it.
    pub async fn ask(&self, host: &str, stop: &Stop) -> Result<Option<Token>, Error> {
        let said = self.run(["get", host], None, stop).await?;
        // What it printed may hold a secret: the error says nothing of it.
        let answer: Credentials = serde_json::from_slice(&said).map_err(|_| {
            let shown = self.program.display();
            format!("malformed output from {shown}: it is not an object with a token")
        })?;
        Ok(answer.token.map(Token::new))
    }

    /// Gives the helper the token of a host, to keep it.
    ///
    /// # Errors
    ///
    /// As for [`Helper::ask`]; never with the token.
    pub async fn store(&self, host: &str, token: &Token, stop: &Stop) -> Result<(), Error> {
        self.run(["store", host], Some(token), stop).await.map(drop)
    }

    /// Lets the helper forget the token of a host.
    ///
    /// # Errors
    ///
    /// As for [`Helper::ask`].
    pub async fn forget(&self, host: &str, stop: &Stop) -> Result<(), Error> {
        self.run(["forget", host], None, stop).await.map(drop)
    }

    /// Runs the helper, and returns what it prints.
    ///
    /// - `given`: the token that it is to keep.
    async fn run(
        &self,
        words: [&str; 2],
        given: Option<&Token>,
        stop: &Stop,
    ) -> Result<Vec<u8>, Error> {
        let shown = self.program.display();
        let input = given.map(|it| serde_json::json!({ "token": it.reveal() }).to_string());
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(words);
        let input = input.as_deref().map(str::as_bytes);
        let finished = subprocess::run(&mut command, input, stop).await;
        let finished = finished.map_err(|it| it.context(format_args!("failed to run {shown}")))?;
        if finished.status.success() {
            return Ok(finished.output);
        }
        let secrets = self.secrets.clone().with(given.map(Token::reveal));
        Err(match printable(&finished.errors, &secrets).as_str() {
            "" => format!("error in {shown}, but it produced no error message").into(),
            said => format!("error in {shown}: {said}").into(),
        })
    }
}
