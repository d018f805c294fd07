//! `remote-exec` and `file`: scripts run on another machine, and files put there.

use std::fs::File;
use std::io::{Cursor, Read};
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use super::connection::{Connection, Platform};
use super::ssh::{Plan, Session};
use super::{scp, text};
use crate::diagnostic::system_words;
use crate::error::{Error, ErrorContext};
use crate::execute::Context;
use crate::provider::ProviderDiagnostic;
use crate::value::Value;
use crate::world::World;

/// The longest pause between two attempts to connect.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);
const SHEBANG: &str = "#!/bin/sh\n";

/// Runs scripts on another machine, and tells of what they print.
pub(super) async fn remote_exec(
    ctx: &Context<'_>,
    config: &Value,
    connection: Option<&Value>,
    tell: impl Fn(&str),
) -> Result<(), ProviderDiagnostic> {
    let done = async {
        let connection = read(ctx, connection)?;
        let scripts = scripts(ctx.world, config)?;
        let session = connect(ctx, &connection, &tell).await?;
        for script in scripts {
            let path = connection.script_path.replace("%RAND%", &number(ctx.world));
            run_script(&session, &path, script, &tell).await?;
        }
        Ok(())
    };
    unless_abandoned(ctx, done).await.map_err(|why| failure("remote-exec", why))
}

/// Puts a file, a folder or a text on another machine.
pub(super) async fn file(
    ctx: &Context<'_>,
    config: &Value,
    connection: Option<&Value>,
) -> Result<(), ProviderDiagnostic> {
    let to = text(config, "destination");
    if to.is_empty() {
        return Err(ProviderDiagnostic::error(
            "Invalid file provisioner configuration",
            "The destination must be a non-empty string.",
        ));
    }
    let done = async {
        let connection = read(ctx, connection)?;
        let session = connect(ctx, &connection, |_| {}).await?;
        match config.get("content").and_then(Value::as_str) {
            Some(content) => {
                let size = content.len() as u64;
                scp::upload(&session, &to, size, content.as_bytes()).await.context(NOT_UPLOADED)
            }
            None => send(ctx.world, &session, &text(config, "source"), &to).await,
        }
    };
    unless_abandoned(ctx, done).await.map_err(|why| failure("file", why))
}

fn failure(kind: &str, why: Error) -> ProviderDiagnostic {
    ProviderDiagnostic::error(format!("{kind} provisioner error"), why)
}

const NOT_UPLOADED: &str = "Upload failed";

/// Like a command of this machine, what is under way ends when the run is asked to stop.
async fn unless_abandoned(
    ctx: &Context<'_>,
    work: impl Future<Output = Result<(), Error>>,
) -> Result<(), Error> {
    tokio::select! {
        // It says more of how far it came.
        biased;
        done = work => done,
        () = ctx.stop.wait_for(1) => Err("interrupted".into()),
    }
}

fn read(ctx: &Context<'_>, block: Option<&Value>) -> Result<Connection, Error> {
    let block = block.ok_or("Missing connection configuration for provisioner.")?;
    Connection::of(block, ctx.world)
}

/// Tries to connect until it works, the time is over, or the user wishes to stop.
async fn connect(
    ctx: &Context<'_>,
    connection: &Connection,
    tell: impl Fn(&str),
) -> Result<Session, Error> {
    let plan = Plan::of(connection)?;
    let deadline = Instant::now() + connection.timeout;
    let mut pause = Duration::ZERO;
    let mut last = Error::from("no answer yet");
    loop {
        connection.describe().iter().for_each(|it| tell(it));
        tokio::select! {
            opened = timeout_at(deadline, plan.open()) => match opened {
                Ok(Ok(session)) => {
                    tell("Connected!");
                    return Ok(session);
                }
                Ok(Err(why)) => last = why,
                Err(_) => return Err(last.context("timeout - last error")),
            },
            () = ctx.stop.wait_for(1) => return Err(last.context("interrupted - last error")),
        }
        pause = (pause * 2).clamp(Duration::from_secs(1), LONGEST_PAUSE);
        tokio::select! {
            () = sleep(pause) => {}
            () = ctx.stop.wait_for(1) => return Err(last.context("interrupted - last error")),
            () = tokio::time::sleep_until(deadline) => {
                return Err(last.context("timeout - last error"));
            }
        }
    }
}

/// A script, and the beginning that it lacks.
type Script = Box<dyn Read>;

/// Returns the scripts: one of the lines of `inline`, or the files.
fn scripts(world: &World, config: &Value) -> Result<Vec<Script>, Error> {
    let given = |name: &str| config.get(name).filter(|it| !it.is_null());
    let texts = |value: &Value, name: &str| -> Result<Vec<String>, Error> {
        let one = |it: &Value| match it.as_str() {
            None => Err(format!("invalid null string in '{name}'").into()),
            Some("") => Err(format!("invalid empty string in '{name}'").into()),
            Some(text) => Ok(text.to_owned()),
        };
        if value.as_str().is_some() {
            Ok(vec![one(value)?])
        } else {
            value.children().map(one).collect()
        }
    };
    if let Some(lines) = given("inline") {
        let script =
            texts(lines, "scripts")?.iter().map(|it| format!("{it}\n")).collect::<String>();
        return Ok(vec![Box::new(Cursor::new(script))]);
    }
    let mut paths = Vec::new();
    for value in [given("script"), given("scripts")].into_iter().flatten() {
        paths.extend(texts(value, "script")?);
    }
    let open = |path: String| -> Result<Script, Error> {
        let opened = File::open(world.root.join(&path));
        let file = opened.map_err(|it| {
            format!("Failed to open script '{path}': open {path}: {}", system_words(&it))
        })?;
        Ok(Box::new(file))
    };
    paths.into_iter().map(open).collect()
}

async fn run_script(
    session: &Session,
    path: &str,
    mut script: Script,
    tell: &impl Fn(&str),
) -> Result<(), Error> {
    let mut content = Vec::new();
    script.read_to_end(&mut content)?;
    const NOT_THERE: &str = "Failed to upload script";
    if content.len() < 2 {
        return Err(Error::from("Error reading script: EOF").context(NOT_THERE));
    }
    if session.platform() == Platform::Unix {
        if !content.starts_with(b"#!") {
            content.splice(..0, SHEBANG.bytes());
        }
        put(session, path, &content).await.context(NOT_THERE)?;
        let allowed = session.run(&format!("chmod 0777 {path}"), |_| {}).await;
        allowed
            .context("Error chmodding script file to 0777 in remote machine")
            .context(NOT_THERE)?;
    } else {
        put(session, path, &content).await.context(NOT_THERE)?;
    }
    let ended = session.run(path, tell).await;
    ended.context(format_args!("error executing {path:?}"))?;
    // The script may hold secrets: nothing of it is left, if that can be had.
    let _ = put(session, path, b"").await;
    Ok(())
}

async fn put(session: &Session, path: &str, content: &[u8]) -> Result<(), Error> {
    scp::upload(session, path, content.len() as u64, content).await
}

/// Sends a file or a folder of this machine.
async fn send(world: &World, session: &Session, from: &str, to: &str) -> Result<(), Error> {
    let path = match (from.strip_prefix('~'), world.variable("HOME")) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            std::path::PathBuf::from(format!("{home}{rest}"))
        }
        _ => world.root.join(from),
    };
    let about =
        std::fs::metadata(&path).map_err(|it| format!("stat {from}: {}", system_words(&it)))?;
    let sent = match about.is_dir() {
        true => scp::upload_folder(session, to, &path, from).await,
        false => match File::open(&path) {
            Ok(file) => scp::upload(session, to, about.len(), file).await,
            Err(error) => return Err(format!("open {from}: {}", system_words(&error)).into()),
        },
    };
    sent.context(NOT_UPLOADED)
}

/// Returns a number for the name of a script.
fn number(world: &World) -> String {
    let mut bytes = [0; 4];
    world.random(&mut bytes);
    (u32::from_le_bytes(bytes) >> 1).to_string()
}
