//! Files and folders handed to another machine, with the `scp` that it has.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use russh::client::Msg;
use russh::{ChannelMsg, ChannelReadHalf, ChannelWriteHalf};

use super::connection::Platform;
use super::ssh::{Ending, Session, ending};
use crate::error::Error;

/// How much is sent at once.
const CHUNK: usize = 32 * 1024;

/// Writes a file of the other machine.
///
/// # Errors
///
/// What the other side says.
pub(super) async fn upload(
    session: &Session,
    to: &str,
    size: u64,
    content: impl Read,
) -> Result<(), Error> {
    let (folder, name) = split(to);
    let mut copy = Copy::start(session, "-t", folder).await?;
    let sent = copy.file(name, size, content).await;
    copy.finish(sent).await
}

/// Copies a folder into a folder of the other machine: itself or, where its path ends with a slash, what is in it.
///
/// # Errors
///
/// What the other side says, or why a file cannot be read.
pub(super) async fn upload_folder(
    session: &Session,
    to: &str,
    from: &Path,
    shown: &str,
) -> Result<(), Error> {
    let mut copy = Copy::start(session, "-rt", to).await?;
    let sent = match shown.ends_with('/') {
        true => copy.members(from).await,
        false => copy.folder(split(shown).1, from).await,
    };
    copy.finish(sent).await
}

/// Splits a path of the other machine into folder and name.
pub(super) fn split(path: &str) -> (&str, &str) {
    let trimmed = path.trim_end_matches('/');
    let name = trimmed.rsplit('/').next().filter(|it| !it.is_empty()).unwrap_or("/");
    let folder = match path.rfind('/') {
        None => ".",
        Some(end) => {
            Some(path[..end].trim_end_matches('/')).filter(|it| !it.is_empty()).unwrap_or("/")
        }
    };
    (folder, name)
}

/// Why a copy ended early.
enum Broken {
    /// The other side has hung up: how its command ended says more.
    Closed,
    Said(String),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Broken {
        Broken::Said(error.to_string())
    }
}

impl From<russh::Error> for Broken {
    fn from(_: russh::Error) -> Broken {
        Broken::Closed
    }
}

/// A copy under way: what is sent, and what is answered.
struct Copy {
    answers: ChannelReadHalf,
    sends: ChannelWriteHalf<Msg>,
    inbox: VecDeque<u8>,
    ended: Option<Result<(), Ending>>,
}

impl Copy {
    async fn start(session: &Session, flags: &str, to: &str) -> Result<Copy, Error> {
        let channel = session.channel().await?;
        let command = format!("scp {flags} {}", quoted(to, session.platform()));
        channel.exec(true, command).await.map_err(Error::of)?;
        let (answers, sends) = channel.split();
        Ok(Copy { answers, sends, inbox: VecDeque::new(), ended: None })
    }

    async fn file(&mut self, name: &str, size: u64, content: impl Read) -> Result<(), Broken> {
        self.say(format!("C0644 {size} {name}\n")).await?;
        self.answer().await?;
        let mut content = content.take(size);
        let mut left = size;
        while left > 0 {
            let mut chunk = vec![0; CHUNK.min(usize::try_from(left).unwrap_or(CHUNK))];
            match content.read(&mut chunk)? {
                0 => return Err(Broken::Said(format!("{name} has become shorter"))),
                length => chunk.truncate(length),
            }
            left -= chunk.len() as u64;
            self.sends.data_bytes(chunk).await?;
        }
        self.say("\0".into()).await?;
        self.answer().await
    }

    async fn folder(&mut self, name: &str, from: &Path) -> Result<(), Broken> {
        self.say(format!("D0755 0 {name}\n")).await?;
        self.answer().await?;
        Box::pin(self.members(from)).await?;
        self.say("E\n".into()).await?;
        self.answer().await
    }

    /// Sends what is in a folder. What links lead to is sent as if it were there.
    async fn members(&mut self, from: &Path) -> Result<(), Broken> {
        let mut entries = std::fs::read_dir(from)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            let about = std::fs::metadata(&path)?;
            match about.is_dir() {
                true => self.folder(&name, &path).await?,
                false => self.file(&name, about.len(), File::open(&path)?).await?,
            }
        }
        Ok(())
    }

    async fn say(&mut self, text: String) -> Result<(), Broken> {
        Ok(self.sends.data_bytes(text.into_bytes()).await?)
    }

    /// Waits for the answer to what was sent.
    async fn answer(&mut self) -> Result<(), Broken> {
        if self.byte().await? == 0 {
            return Ok(());
        }
        let mut text = Vec::new();
        loop {
            match self.byte().await {
                Ok(b'\n') | Err(_) => break,
                Ok(byte) => text.push(byte),
            }
        }
        Err(Broken::Said(String::from_utf8_lossy(&text).into_owned()))
    }

    async fn byte(&mut self) -> Result<u8, Broken> {
        loop {
            if let Some(byte) = self.inbox.pop_front() {
                return Ok(byte);
            }
            self.listen().await?;
        }
    }

    async fn listen(&mut self) -> Result<(), Broken> {
        match self.answers.wait().await.ok_or(Broken::Closed)? {
            ChannelMsg::Data { data } => self.inbox.extend(data),
            other => self.ended = ending(&other).or(self.ended.take()),
        }
        Ok(())
    }

    /// Waits for the end of the other side's command.
    async fn finish(mut self, sent: Result<(), Broken>) -> Result<(), Error> {
        if let Err(Broken::Said(why)) = sent {
            return Err(why.into());
        }
        // It may have closed the way by itself.
        let _ = self.sends.eof().await;
        while self.listen().await.is_ok() {}
        judged(self.ended)
    }
}

/// Words how the other side's command ended.
fn judged(ended: Option<Result<(), Ending>>) -> Result<(), Error> {
    match ended {
        // What a shell says that does not know the command.
        Some(Err(Ending::Status(127))) => Err(
            "SCP failed to start. This usually means that SCP is not\nproperly installed on the remote system.".into(),
        ),
        Some(ended) => Ok(ended?),
        None => Err("EOF".into()),
    }
}

/// Writes a word so that the shell of the other machine reads it as one.
fn quoted(word: &str, platform: Platform) -> String {
    match platform {
        Platform::Unix => format!("'{}'", word.replace('\'', r"'\''")),
        Platform::Windows => format!("\"{word}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_the_command_is_told_apart_from_one_whose_command_fails() {
        let told = |ending| judged(Some(Err(ending))).expect_err("an error").to_string();
        assert!(told(Ending::Status(127)).starts_with("SCP failed to start."));
        assert_eq!(told(Ending::Status(1)), "Process exited with status 1");
        assert_eq!(told(Ending::Signal(russh::Sig::TERM)), "Process exited from signal TERM");
        assert!(judged(Some(Ok(()))).is_ok());
    }
}
