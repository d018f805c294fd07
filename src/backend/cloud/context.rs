//! How credentials look at the world: its environment, its files, its programs, and services that give tokens.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqsign_core::{
    CommandExecute, CommandOutput, Context, Env, Error, FileRead, HttpSend, Result,
};
use reqwest::Client;

use super::trouble::foreign;
use super::web::Answer;
use crate::backend::web::onward::describe;
use crate::backend::web::sent::{add_form, secrets_of};
use crate::world::secrets::Secrets;
use crate::world::{World, read_regular, subprocess};

/// Returns what credentials see of the world.
///
/// - `set`: variables that the configuration sets in the place of the environment's.
pub fn context(world: &Arc<World>, client: &Client, set: BTreeMap<String, String>) -> Context {
    Context::new()
        .with_env(Variables { world: world.clone(), set })
        .with_file_read(Reader { world: world.clone(), files: BTreeMap::new() })
        .with_http_send(Sender(client.clone()))
        .with_command_execute(Programs { world: world.clone(), shell: None })
}

/// As [`context`], where programs are started by the shell, as they stand in the files of AWS.
#[cfg(feature = "backend-s3")]
pub fn with_shell(context: Context, world: &Arc<World>) -> Context {
    context.with_command_execute(Programs { world: world.clone(), shell: Some("sh") })
}

/// As [`context`], where some files stand in the configuration.
#[cfg(feature = "backend-azurerm")]
pub fn with_files(
    context: Context,
    world: &Arc<World>,
    files: BTreeMap<String, Vec<u8>>,
) -> Context {
    context.with_file_read(Reader { world: world.clone(), files })
}

struct Variables {
    world: Arc<World>,
    set: BTreeMap<String, String>,
}

/// Prints no variable: one may hold a key.
impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Variables")
    }
}

impl Env for Variables {
    fn var(&self, key: &str) -> Option<String> {
        let set = self.set.get(key).map(String::as_str);
        set.or_else(|| self.world.variable(key)).map(str::to_owned)
    }

    fn vars(&self) -> HashMap<String, String> {
        let all = self.world.environment.iter().chain(&self.set);
        let filled = all.filter(|(_, value)| !value.is_empty());
        filled.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        self.world.variable("HOME").map(PathBuf::from)
    }
}

struct Reader {
    world: Arc<World>,
    files: BTreeMap<String, Vec<u8>>,
}

/// Prints no file: one may hold a key.
impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reader")
    }
}

impl FileRead for Reader {
    async fn file_read(&self, path: &str) -> Result<Vec<u8>> {
        if let Some(bytes) = self.files.get(path) {
            return Ok(bytes.clone());
        }
        let path = self.world.root.join(path);
        let read = read_regular(&path);
        Ok(read.map_err(|it| std::io::Error::new(it.kind(), format!("{}: {it}", path.display())))?)
    }
}

#[derive(Debug)]
struct Sender(Client);

impl HttpSend for Sender {
    async fn http_send(&self, request: http::Request<Bytes>) -> Result<http::Response<Bytes>> {
        // Services of the machine itself answer at once or are not there.
        let host = request.uri().host().unwrap_or_default().to_owned();
        let is_near = host.starts_with("169.254.") || host == "metadata.google.internal";
        let patience = Duration::from_secs(if is_near { 2 } else { 30 });
        let failed = |it: reqwest::Error| {
            let is_near = it.is_connect() || it.is_timeout();
            Error::unexpected(format!("{host}: {}", describe(it))).set_retryable(is_near)
        };
        let mut request = reqwest::Request::try_from(request).map_err(failed)?;
        *request.timeout_mut() = Some(patience);
        let mut secrets = secrets_of(request.headers(), request.url());
        add_form(&mut secrets, request.body().and_then(|it| it.as_bytes()).unwrap_or_default());
        let answer = self.0.execute(request).await.map_err(failed)?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let mut body = answer.bytes().await.map_err(failed)?;
        // Messages repeat what a service says that gives no credentials.
        if let (false, Ok(text)) = (status.is_success(), std::str::from_utf8(&body)) {
            body = secrets.hide(text).into();
        }
        let answer = Answer { status: status.as_u16(), headers, body, may_be_done: false, secrets };
        if let Some(text) = foreign("a service that gives credentials", &host, &answer) {
            return Err(Error::unexpected(answer.secrets.hide(&text)));
        }
        let mut response = http::Response::new(answer.body);
        (*response.status_mut(), *response.headers_mut()) = (status, answer.headers);
        Ok(response)
    }
}

#[derive(Debug)]
struct Programs {
    world: Arc<World>,
    shell: Option<&'static str>,
}

impl CommandExecute for Programs {
    async fn command_execute<'a>(
        &'a self,
        program: &'a str,
        arguments: &'a [&'a str],
    ) -> Result<CommandOutput> {
        let mut command = tokio::process::Command::new(self.shell.unwrap_or(program));
        match self.shell {
            None => command.args(arguments),
            Some(_) => command.arg("-c").arg([&[program], arguments].concat().join(" ")),
        };
        command.current_dir(&self.world.root).env_clear().envs(&self.world.environment);
        // A run that was asked to stop still writes its state, and may need new credentials for that.
        let run = subprocess::run_to_end(&mut command, None, subprocess::LARGEST).await;
        let run =
            run.map_err(|it| Error::config_invalid(format!("failed to run {program:?}: {it}")))?;
        let status = run.status.code().unwrap_or(-1);
        // Messages repeat the errors.
        let stderr =
            subprocess::printable(&run.errors, &Secrets::of_environment(&self.world)).into_bytes();
        Ok(CommandOutput { status, stdout: run.output, stderr })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cloud::Route;
    use crate::backend::cloud::double::{Double, Reply};
    use crate::backend::store::wait_for;

    #[test]
    fn a_service_for_credentials_that_repeats_a_secret_is_shown_without_it() {
        let double = Double::start(|asked| {
            let body = String::from_utf8_lossy(&asked.body);
            Reply::text(400, "text/plain", format!("refused: {body}, hu/sh"))
        });
        let world = World::of_this_process();
        let client = Route::default().client(&world).expect("a client");
        let seen = context(&Arc::new(world), &client, BTreeMap::new());
        let request = http::Request::post(double.url())
            .body(Bytes::from("client_id=c&client_secret=hu%2Fsh"))
            .expect("a request");
        let answer = wait_for(seen.http_send(request)).expect("an answer");
        let body = String::from_utf8_lossy(answer.body());
        assert_eq!(body, "refused: client_id=c&client_secret=(sensitive), (sensitive)");
    }
}
