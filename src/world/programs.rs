//! Programs that are asked for credentials: they answer within a time, and with so many bytes at most.

use std::io;
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

/// How long a program may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long what it has started may keep its output open once it has ended.
const REST: Duration = Duration::from_secs(1);
/// How many bytes of each of its streams are read.
const LONGEST: u64 = 1 << 20;
/// How many characters of what it says are shown.
const SHOWN: usize = 1000;

/// Runs a program that reads nothing, and returns what it prints. It is ended when this future is dropped.
///
/// # Errors
///
/// If it cannot be started, takes more than 60 seconds, or prints more than 1 MiB.
pub async fn answer_of(command: &mut Command) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(io::Error::other("it has no standard streams"));
    };
    let (mut printed, mut said) = (Vec::new(), Vec::new());
    let ended = {
        let mut reading = std::pin::pin!(async {
            tokio::join!(read(stdout, &mut printed), read(stderr, &mut said))
        });
        let waiting = async {
            let mut read = None;
            let status = tokio::select! {
                status = child.wait() => status?,
                done = &mut reading => {
                    read = Some(done);
                    child.wait().await?
                }
            };
            // What it has started may have its output, and need not end.
            if read.is_none() {
                read = tokio::time::timeout(REST, &mut reading).await.ok();
            }
            if let Some((first, second)) = read {
                first.and(second)?;
            }
            io::Result::Ok(status)
        };
        tokio::time::timeout(PATIENCE, waiting).await
    };
    let status = ended.map_err(|_| {
        io::Error::other(format!("it did not answer within {} seconds", PATIENCE.as_secs()))
    })??;
    if [&printed, &said].iter().any(|it| it.len() as u64 > LONGEST) {
        return Err(io::Error::other("it printed more than 1 MiB"));
    }
    Ok(Output { status, stdout: printed, stderr: said })
}

/// Reads one byte more than may be there, so that more is noticed.
async fn read(from: impl AsyncRead + Unpin, into: &mut Vec<u8>) -> io::Result<()> {
    from.take(LONGEST + 1).read_to_end(into).await.map(drop)
}

/// Returns what a program said on its standard error, as messages show it: without the values of what it was given, and not too long.
///
/// - `secrets`: the values.
pub fn said<'a>(stderr: &[u8], secrets: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::from_utf8_lossy(stderr).trim().to_owned();
    for secret in secrets.into_iter().filter(|it| !it.is_empty()) {
        text = text.replace(secret, "(sensitive value)");
    }
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> io::Result<Output> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut command = Command::new("sh");
        runtime.block_on(answer_of(command.args(["-c", script])))
    }

    #[test]
    fn a_program_answers_though_what_it_started_lives_on() {
        let output = sh("sleep 30 & echo here").expect("it answers");
        assert_eq!(output.stdout, b"here\n");
    }

    #[test]
    fn output_without_end_is_an_error() {
        let problem = sh("yes").expect_err("it prints too much");
        assert!(problem.to_string().contains("1 MiB"), "{problem}");
    }

    #[test]
    fn what_a_program_says_holds_no_secret_and_is_short() {
        assert_eq!(said(b" no: t0ken\n", ["t0ken", ""]), "no: (sensitive value)");
        assert_eq!(said(&[b'a'; 5000], []).chars().count(), SHOWN + 1);
    }
}
