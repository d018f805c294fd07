//! The `connection` of a provisioner: how another machine is reached, with the defaults filled in.

use std::path::PathBuf;
use std::time::Duration;

use super::text;
use crate::error::Error;
use crate::expression::parse_duration;
use crate::value::Value;
use crate::world::World;

const SCRIPT_PATH: &str = "/tmp/terraform_%RAND%.sh";
const SCRIPT_PATH_WINDOWS: &str = "C:/windows/temp/terraform_%RAND%.cmd";
const TIMEOUT: Duration = Duration::from_secs(5 * 60);
const PORT: u16 = 22;
const USER: &str = "root";

/// How another machine is reached.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    /// The machine itself.
    pub(super) machine: Machine,
    /// The machine that leads there.
    pub(super) bastion: Option<Machine>,
    /// The proxy that leads to the first of them.
    pub(super) proxy: Option<Proxy>,
    /// The agent that holds keys.
    pub(super) agent: Option<Agent>,
    pub(super) platform: Platform,
    /// Where scripts are put; `%RAND%` stands for a number.
    pub(super) script_path: String,
    /// How long a connection is tried for.
    pub(super) timeout: Duration,
}

/// A machine, and who one is to it. What is not given is empty.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) password: String,
    pub(super) private_key: String,
    pub(super) certificate: String,
    /// The key that the machine must have, or that must have signed its key.
    pub(super) host_key: String,
}

/// A proxy for TCP connections.
#[derive(Clone, Debug)]
pub(super) struct Proxy {
    pub(super) scheme: String,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) password: String,
}

/// An agent that holds keys.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    /// Its socket.
    pub(super) socket: PathBuf,
    /// The key to offer first: its comment, the end of it, or the path of a file with it.
    pub(super) identity: String,
}

/// What kind of shell the machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Platform {
    Unix,
    Windows,
}

impl Machine {
    /// Returns host and port as one address; of IPv6 the host is in brackets.
    pub(super) fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Returns who connects to which machine.
    pub(super) fn login(&self) -> String {
        format!("{}@{}", self.user, self.address())
    }
}

impl Proxy {
    /// Returns host and port as one address.
    pub(super) fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

impl Platform {
    /// Returns the word of `target_platform`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Platform::Unix => "unix",
            Platform::Windows => "windows",
        }
    }
}

impl Connection {
    /// Reads the evaluated block.
    ///
    /// # Errors
    ///
    /// What is wrong with it, as one sentence.
    pub(super) fn of(block: &Value, world: &World) -> Result<Connection, Error> {
        match &*text(block, "type") {
            "" | "ssh" => {}
            "winrm" => {
                return Err("Provisioners no longer support WinRM".into());
            }
            other => return Err(format!("connection type '{other}' not supported").into()),
        }
        let agent = agent(block, world)?;
        let machine = machine(block)?;
        let platform = platform(block)?;
        let script_path = match (text(block, "script_path"), platform) {
            (path, _) if !path.is_empty() => path,
            (_, Platform::Unix) => SCRIPT_PATH.into(),
            (_, Platform::Windows) => SCRIPT_PATH_WINDOWS.into(),
        };
        Ok(Connection {
            bastion: bastion(block, &machine)?,
            proxy: proxy(block)?,
            machine,
            agent,
            platform,
            script_path,
            timeout: timeout(block),
        })
    }

    /// Says what is connected to, and with what.
    pub(super) fn describe(&self) -> Vec<String> {
        let machine = |head: &str, it: &Machine| {
            format!(
                "{head}\n  Host: {}\n  User: {}\n  Password: {}\n  Private key: {}\n  Certificate: {}\n  SSH Agent: {}\n  Checking Host Key: {}",
                it.host,
                it.user,
                !it.password.is_empty(),
                !it.private_key.is_empty(),
                !it.certificate.is_empty(),
                self.agent.is_some(),
                !it.host_key.is_empty(),
            )
        };
        let first = machine("Connecting to remote host via SSH...", &self.machine);
        let mut told = vec![format!("{first}\n  Target Platform: {}\n", self.platform.name())];
        told.extend(self.bastion.iter().map(|it| machine("Using configured bastion host...", it)));
        told.extend(self.proxy.iter().map(|it| {
            format!(
                "Using configured proxy host...\n  ProxyHost: {}\n  ProxyPort: {}\n  ProxyUserName: {}\n  ProxyUserPassword: {}",
                it.host,
                it.port,
                it.user,
                !it.password.is_empty(),
            )
        }));
        told
    }
}

/// Reads a port; 0 where it is not set.
fn port(block: &Value, name: &str) -> Result<u16, Error> {
    match block.get(name).filter(|it| it.as_number().is_some()) {
        None => Ok(0),
        Some(it) => it
            .as_int()
            .and_then(|it| u16::try_from(it).ok())
            .ok_or_else(|| "value must be a whole number, between 0 and 65535 inclusive".into()),
    }
}

fn machine(block: &Value) -> Result<Machine, Error> {
    let port = port(block, "port")?;
    let (host, user) = (text(block, "host"), text(block, "user"));
    if host.is_empty() {
        return Err("host for provisioner cannot be empty".into());
    }
    Ok(Machine {
        host: bracketed(host),
        port: if port == 0 { PORT } else { port },
        user: if user.is_empty() { USER.into() } else { user },
        password: text(block, "password"),
        private_key: text(block, "private_key"),
        certificate: text(block, "certificate"),
        host_key: text(block, "host_key"),
    })
}

/// The machine in between. What is not said of it is as with the machine itself, its own key aside.
fn bastion(block: &Value, machine: &Machine) -> Result<Option<Machine>, Error> {
    let (host, port) = (text(block, "bastion_host"), port(block, "bastion_port")?);
    if host.is_empty() {
        return Ok(None);
    }
    let or = |name: &str, other: &String| {
        Some(text(block, name)).filter(|it| !it.is_empty()).unwrap_or_else(|| other.clone())
    };
    Ok(Some(Machine {
        host: bracketed(host),
        port: if port == 0 { machine.port } else { port },
        user: or("bastion_user", &machine.user),
        password: or("bastion_password", &machine.password),
        private_key: or("bastion_private_key", &machine.private_key),
        certificate: or("bastion_certificate", &machine.certificate),
        host_key: text(block, "bastion_host_key"),
    }))
}

fn proxy(block: &Value) -> Result<Option<Proxy>, Error> {
    let (host, port) = (text(block, "proxy_host"), port(block, "proxy_port")?);
    let scheme = Some(text(block, "proxy_scheme")).filter(|it| !it.is_empty());
    Ok((!host.is_empty()).then(|| Proxy {
        scheme: scheme.unwrap_or_else(|| "http".into()),
        host,
        port,
        user: text(block, "proxy_user_name"),
        password: text(block, "proxy_user_password"),
    }))
}

/// The agent: the one there is, where `agent` is not set.
fn agent(block: &Value, world: &World) -> Result<Option<Agent>, Error> {
    let socket = world.variable("SSH_AUTH_SOCK").map(PathBuf::from);
    let identity = text(block, "agent_identity");
    match (block.get("agent").and_then(Value::as_bool), socket) {
        (Some(true), None) => Err("SSH agent requested but SSH_AUTH_SOCK not-specified".into()),
        (Some(false), _) | (None, None) => Ok(None),
        (_, Some(socket)) => Ok(Some(Agent { socket, identity })),
    }
}

fn platform(block: &Value) -> Result<Platform, Error> {
    match &*text(block, "target_platform") {
        "" | "unix" => Ok(Platform::Unix),
        "windows" => Ok(Platform::Windows),
        _ => Err("target_platform for provisioner has to be either unix or windows".into()),
    }
}

/// How long a connection is tried for. What cannot be read is as if it were not said.
fn timeout(block: &Value) -> Duration {
    let said = parse_duration(&text(block, "timeout")).ok();
    said.map_or(TIMEOUT, |it| Duration::from_nanos(u64::try_from(it).unwrap_or_default()))
}

fn bracketed(host: String) -> String {
    match host.parse::<std::net::Ipv6Addr>() {
        Ok(it) if it.to_ipv4_mapped().is_none() => format!("[{host}]"),
        _ => host,
    }
}
