//! A session with another machine over SSH: opened, asked to run commands, and handed files.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use russh::client::{self, AuthResult, Handle, KeyboardInteractiveAuthResponse};
use russh::keys::agent::AgentIdentity;
use russh::keys::{PrivateKeyWithHashAlg, PublicKeyOrCertificate};
use russh::{Channel, ChannelMsg, ChannelOpenFailure, MethodKind, MethodSet, Preferred, Pty, Sig};

use super::connection::{Connection, Machine, Platform};
use super::dial::dial;
use super::keys::{Credential, HostKey};
use crate::error::{Error, ErrorContext};

/// How often a silent machine is asked whether it is still there, and how often it may owe the answer.
const KEEP_ALIVE: (Duration, usize) = (Duration::from_secs(2), 60);
/// How many questions a machine may ask before it lets one in.
const QUESTIONS: usize = 10;

/// What was read of a connection before it is first tried: keys do not get better by trying again.
pub(super) struct Plan<'c> {
    connection: &'c Connection,
    machine: Login<'c>,
    bastion: Option<Login<'c>>,
}

/// A machine, with its keys read.
struct Login<'c> {
    machine: &'c Machine,
    credential: Option<Credential>,
    host_key: Option<HostKey>,
}

impl<'c> Login<'c> {
    fn of(machine: &'c Machine) -> Result<Login<'c>, Error> {
        let credential = match &*machine.private_key {
            "" => None,
            key => Some(Credential::of(key, &machine.certificate)?),
        };
        Ok(Login { machine, credential, host_key: HostKey::of(&machine.host_key)? })
    }
}

impl<'c> Plan<'c> {
    /// Reads the keys of a connection.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    pub(super) fn of(connection: &'c Connection) -> Result<Plan<'c>, Error> {
        let bastion = connection.bastion.as_ref().map(Login::of).transpose()?;
        Ok(Plan { connection, machine: Login::of(&connection.machine)?, bastion })
    }

    /// Tries once to open a session.
    ///
    /// # Errors
    ///
    /// Why not. It may be different a little later.
    pub(super) async fn open(&self) -> Result<Session, Error> {
        let proxy = self.connection.proxy.as_ref();
        let Some(first) = &self.bastion else {
            let stream = dial(self.machine.machine, proxy).await?;
            let handle = self.enter(stream, &self.machine).await?;
            return Ok(self.session(handle, None));
        };
        const BASTION: &str = "Error connecting to bastion";
        let stream = dial(first.machine, proxy).await.context(BASTION)?;
        let bastion = self.enter(stream, first).await.context(BASTION)?;
        let machine = self.machine.machine;
        let host = machine.host.trim_matches(['[', ']']);
        let opened =
            bastion.channel_open_direct_tcpip(host, machine.port.into(), "127.0.0.1", 0).await;
        let stream = opened.map_err(reason).context("ssh: rejected")?.into_stream();
        let handle = self.enter(stream, &self.machine).await?;
        Ok(self.session(handle, Some(bastion)))
    }

    fn session(&self, handle: Handle<Client>, bastion: Option<Handle<Client>>) -> Session {
        let lends_agent = self.connection.agent.is_some();
        Session { handle, _bastion: bastion, lends_agent, platform: self.connection.platform }
    }

    /// Shakes hands over a stream and says who one is.
    async fn enter(
        &self,
        stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
        login: &Login<'_>,
    ) -> Result<Handle<Client>, Error> {
        let mut preferred = Preferred::default();
        if login.host_key.is_some() {
            // The key may be that of an authority: the machine is to show what it has signed.
            preferred.host_key_certificates = preferred.key.clone();
        }
        let config = client::Config {
            preferred,
            keepalive_interval: Some(KEEP_ALIVE.0),
            keepalive_max: KEEP_ALIVE.1,
            ..client::Config::default()
        };
        let client = Client {
            host: login.machine.host.clone(),
            host_key: login.host_key.clone(),
            agent: self.connection.agent.as_ref().map(|it| it.socket.clone()),
        };
        let shake = async {
            let connected = client::connect_stream(Arc::new(config), stream, client).await;
            let mut handle = connected.map_err(reason)?;
            self.authenticate(&mut handle, login).await?;
            Ok::<_, Error>(handle)
        };
        shake.await.context(format_args!(
            "SSH authentication failed ({}): ssh: handshake failed",
            login.machine.login()
        ))
    }

    async fn authenticate(
        &self,
        handle: &mut Handle<Client>,
        login: &Login<'_>,
    ) -> Result<(), Error> {
        let user = &*login.machine.user;
        let mut tried = vec!["none"];
        let Some(allowed) = refused(handle.authenticate_none(user).await)? else { return Ok(()) };
        if allowed.contains(&MethodKind::PublicKey) {
            let is_let_in = match &login.credential {
                Some(credential) => Some(offer_key(handle, user, credential).await?),
                None => self.offer_agent(handle, user).await?,
            };
            match is_let_in {
                Some(true) => return Ok(()),
                Some(false) => tried.push("publickey"),
                None => {}
            }
        }
        let password = &*login.machine.password;
        if !password.is_empty() && allowed.contains(&MethodKind::Password) {
            tried.push("password");
            if refused(handle.authenticate_password(user, password).await)?.is_none() {
                return Ok(());
            }
        }
        if !password.is_empty() && allowed.contains(&MethodKind::KeyboardInteractive) {
            tried.push("keyboard-interactive");
            if answer_questions(handle, user, password).await? {
                return Ok(());
            }
        }
        Err(format!(
            "ssh: unable to authenticate, attempted methods [{}], no supported methods remain",
            tried.join(" ")
        )
        .into())
    }

    /// Offers the agent's keys. Returns whether one was taken; nothing where there was none to offer.
    async fn offer_agent(
        &self,
        handle: &mut Handle<Client>,
        user: &str,
    ) -> Result<Option<bool>, Error> {
        let Some(agent) = &self.connection.agent else { return Ok(None) };
        let mut client = agent.connect().await?;
        let identities = client.request_identities().await.map_err(Error::of)?;
        let mut is_tried = None;
        for identity in agent.sort(identities) {
            let hash = rsa_hash(handle).await?;
            // A key that the agent does not sign with is as good as none.
            let taken = match identity {
                AgentIdentity::PublicKey { key, .. } => {
                    handle.authenticate_publickey_with(user, key, hash, &mut client).await
                }
                AgentIdentity::Certificate { certificate, .. } => {
                    handle.authenticate_certificate_with(user, certificate, hash, &mut client).await
                }
            };
            is_tried = Some(false);
            if taken.is_ok_and(|it| it.success()) {
                return Ok(Some(true));
            }
        }
        Ok(is_tried)
    }
}

async fn offer_key(
    handle: &mut Handle<Client>,
    user: &str,
    credential: &Credential,
) -> Result<bool, Error> {
    let key = credential.key.clone();
    let result = match &credential.certificate {
        Some(certificate) => handle.authenticate_openssh_cert(user, key, certificate.clone()).await,
        None => {
            let hash = rsa_hash(handle).await?;
            handle.authenticate_publickey(user, PrivateKeyWithHashAlg::new(key, hash)).await
        }
    };
    Ok(refused(result)?.is_none())
}

async fn rsa_hash(handle: &Handle<Client>) -> Result<Option<russh::keys::HashAlg>, Error> {
    let best = handle.best_supported_rsa_hash().await.map_err(reason)?;
    // A machine that does not say speaks what every one has spoken for years.
    Ok(best.unwrap_or(Some(russh::keys::HashAlg::Sha256)))
}

/// Answers every question with the password.
async fn answer_questions(
    handle: &mut Handle<Client>,
    user: &str,
    password: &str,
) -> Result<bool, Error> {
    let mut answer = handle.authenticate_keyboard_interactive_start(user, None).await;
    for _ in 0..QUESTIONS {
        let prompts = match answer.map_err(reason)? {
            KeyboardInteractiveAuthResponse::Success => return Ok(true),
            KeyboardInteractiveAuthResponse::Failure { .. } => return Ok(false),
            KeyboardInteractiveAuthResponse::InfoRequest { prompts, .. } => prompts,
        };
        let words = prompts.iter().map(|_| password.to_owned()).collect();
        answer = handle.authenticate_keyboard_interactive_respond(words).await;
    }
    Ok(false)
}

/// Returns what else may be tried where one is not let in.
fn refused(result: Result<AuthResult, russh::Error>) -> Result<Option<MethodSet>, Error> {
    match result.map_err(reason)? {
        AuthResult::Success => Ok(None),
        AuthResult::Failure { remaining_methods, .. } => Ok(Some(remaining_methods)),
    }
}

/// Says what went wrong.
fn reason(error: russh::Error) -> Error {
    match error {
        russh::Error::UnknownKey => "knownhosts: key mismatch".into(),
        russh::Error::HUP | russh::Error::Disconnect => "EOF".into(),
        russh::Error::ChannelOpenFailure(ChannelOpenFailure::ConnectFailed) => {
            "connect failed".into()
        }
        other => Error::of(other),
    }
}

/// What the machine may ask of us.
struct Client {
    host: String,
    host_key: Option<HostKey>,
    agent: Option<PathBuf>,
}

impl client::Handler for Client {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        key: &PublicKeyOrCertificate,
    ) -> Result<bool, russh::Error> {
        // Without a key to compare with any machine is the right one, as everywhere with provisioners.
        Ok(self.host_key.as_ref().is_none_or(|it| it.trusts(&self.host, key)))
    }

    async fn server_channel_open_agent_forward(
        &mut self,
        channel: Channel<client::Msg>,
        reply: client::ChannelOpenHandle,
        _: &mut client::Session,
    ) -> Result<(), russh::Error> {
        let Some(path) = &self.agent else { return Ok(()) };
        let Ok(mut agent) = tokio::net::UnixStream::connect(path).await else { return Ok(()) };
        reply.accept().await;
        tokio::spawn(async move {
            let mut asking = channel.into_stream();
            // It ends when either side does.
            let _ = tokio::io::copy_bidirectional(&mut asking, &mut agent).await;
        });
        Ok(())
    }
}

/// An open session.
pub(super) struct Session {
    handle: Handle<Client>,
    /// The way leads over it as long as it is open.
    _bastion: Option<Handle<Client>>,
    lends_agent: bool,
    platform: Platform,
}

impl Session {
    /// Returns what kind of shell the machine has.
    pub(super) fn platform(&self) -> Platform {
        self.platform
    }

    /// Opens a channel for one command.
    pub(super) async fn channel(&self) -> Result<Channel<client::Msg>, Error> {
        let channel = self.handle.channel_open_session().await.map_err(reason)?;
        if self.lends_agent {
            channel.agent_forward(false).await.map_err(reason)?;
        }
        Ok(channel)
    }

    /// Runs a command in a terminal to its end, and hands on what it prints line by line.
    ///
    /// # Errors
    ///
    /// How it ended, if not well.
    pub(super) async fn run(&self, command: &str, line: impl Fn(&str)) -> Result<(), Error> {
        let mut channel = self.channel().await?;
        if self.platform == Platform::Unix {
            let modes = [(Pty::ECHO, 0), (Pty::TTY_OP_ISPEED, 14400), (Pty::TTY_OP_OSPEED, 14400)];
            let asked = channel.request_pty(true, "xterm", 40, 80, 0, 0, &modes).await;
            asked.map_err(reason)?;
        }
        let command = format!("{}\n", command.trim());
        channel.exec(true, command).await.map_err(reason)?;
        let (mut lines, mut errors, mut ended) = (Lines::default(), Lines::default(), None);
        while let Some(message) = channel.wait().await {
            match message {
                ChannelMsg::Data { data } => lines.push(&data, &line),
                ChannelMsg::ExtendedData { data, .. } => errors.push(&data, &line),
                other => ended = ending(&other).or(ended),
            }
        }
        lines.finish(&line);
        errors.finish(&line);
        let ended =
            ended.ok_or("wait: remote command exited without exit status or exit signal")?;
        Ok(ended?)
    }
}

/// How a command ended that did not end well.
#[derive(Debug)]
pub(super) enum Ending {
    /// It said that it failed.
    Status(u32),
    /// It was ended.
    Signal(Sig),
    /// It was not begun.
    Refused,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Status(status) => write!(f, "Process exited with status {status}"),
            Ending::Signal(signal) => write!(f, "Process exited from signal {signal:?}"),
            Ending::Refused => f.write_str("ssh: command failed"),
        }
    }
}

impl std::error::Error for Ending {}

impl From<Ending> for Error {
    fn from(ending: Ending) -> Error {
        Error::of(ending)
    }
}

/// Returns how a command ended, where a message says so.
pub(super) fn ending(message: &ChannelMsg) -> Option<Result<(), Ending>> {
    match message {
        ChannelMsg::ExitStatus { exit_status: 0 } => Some(Ok(())),
        ChannelMsg::ExitStatus { exit_status } => Some(Err(Ending::Status(*exit_status))),
        ChannelMsg::ExitSignal { signal_name, .. } => {
            Some(Err(Ending::Signal(signal_name.clone())))
        }
        ChannelMsg::Failure => Some(Err(Ending::Refused)),
        _ => None,
    }
}

/// Bytes on their way to be lines.
#[derive(Default)]
struct Lines(Vec<u8>);

impl Lines {
    fn push(&mut self, bytes: &[u8], line: &impl Fn(&str)) {
        for byte in bytes {
            match byte {
                b'\n' => line(
                    String::from_utf8_lossy(&std::mem::take(&mut self.0)).trim_end_matches('\r'),
                ),
                other => self.0.push(*other),
            }
        }
    }

    fn finish(&mut self, line: &impl Fn(&str)) {
        if !self.0.is_empty() {
            self.push(b"\n", line);
        }
    }
}
