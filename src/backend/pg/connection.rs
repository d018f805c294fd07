//! How a PostgreSQL server is reached: the connection string, `PG*` variables, the password file, TLS.

use std::collections::BTreeMap;
use std::future::Future;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use tokio_postgres::{Config, NoTls, Socket};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::trouble::{told, way_in};
use crate::backend::lock_info::user;
use crate::backend::web::{self, Trust};
use crate::error::{Error, ErrorContext};
use crate::world::World;

/// Parameters of a connection, by the names that connection strings use.
type Parameters = BTreeMap<String, String>;

/// Variables that stand in for parameters.
const VARIABLES: &[(&str, &str)] = &[
    ("application_name", "PGAPPNAME"),
    ("client_encoding", "PGCLIENTENCODING"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("dbname", "PGDATABASE"),
    ("host", "PGHOST"),
    ("options", "PGOPTIONS"),
    ("passfile", "PGPASSFILE"),
    ("password", "PGPASSWORD"),
    ("port", "PGPORT"),
    ("sslcert", "PGSSLCERT"),
    ("sslkey", "PGSSLKEY"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("user", "PGUSER"),
];

/// What other programs read in connection strings and nothing here depends on.
const IGNORED: &[&str] = &[
    "binary_parameters",
    "client_encoding",
    "disable_prepared_binary_result",
    "fallback_application_name",
    "krbspn",
    "krbsrvname",
    "sslinline",
    "sslnegotiation",
    "sslsni",
];

/// How much longer than a connection itself its greetings may take.
const GREETING: Duration = Duration::from_secs(5);

/// A client, and what carries its messages.
type Opened = (tokio_postgres::Client, Pin<Box<dyn Future<Output = String> + Send>>);

/// A way to a server, settled.
#[derive(Clone)]
pub(super) struct Way {
    config: Config,
    tls: Option<Arc<rustls::ClientConfig>>,
    /// Whether the user has chosen a name for the sessions.
    pub is_named: bool,
}

impl std::fmt::Debug for Way {
    /// Says nothing that could hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown())
    }
}

impl Way {
    /// Settles how the server is reached; nothing is opened yet.
    ///
    /// # Errors
    ///
    /// If the connection string, a variable or a certificate cannot be used. No part of the string is told.
    pub fn new(text: &str, world: &World) -> Result<Way, Error> {
        let given = parameters(text)?;
        let from = |(name, variable): &(&str, &str)| {
            Some((
                (*name).to_owned(),
                world.variable(variable).filter(|it| !it.is_empty())?.to_owned(),
            ))
        };
        let mut all: Parameters = VARIABLES.iter().filter_map(from).collect();
        all.extend(given);
        let config = configured(&all, world)?;
        let is_local = config.get_hosts().iter().all(|it| matches!(it, Host::Unix(_)));
        let mode = match all.get("sslmode").map_or("require", String::as_str) {
            _ if is_local => "disable",
            mode => mode,
        };
        let mut way = Way { config, tls: None, is_named: all.contains_key("application_name") };
        way.config.ssl_mode(match mode {
            "disable" => SslMode::Disable,
            "allow" | "prefer" => SslMode::Prefer,
            "require" | "verify-ca" | "verify-full" => SslMode::Require,
            _ => {
                return Err(
                    "sslmode is none of disable, prefer, require, verify-ca and verify-full".into(),
                );
            }
        });
        if mode != "disable" {
            way.tls = Some(Arc::new(web::tls(world, &trust(&all, mode, world)?)?));
        }
        Ok(way)
    }

    /// Returns host and database, for messages.
    pub fn shown(&self) -> String {
        let hosts = self.config.get_hosts().iter().map(|it| match it {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        });
        let hosts: Vec<String> = hosts.collect();
        let port = self.config.get_ports().first().copied().unwrap_or(5432);
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        format!("the database {database:?} on {}:{port}", hosts.join(","))
    }

    /// Returns the time limit of a connection with its greetings.
    pub fn patience(&self) -> Duration {
        self.config.get_connect_timeout().copied().unwrap_or_default() + GREETING
    }

    /// Opens a connection. What is returned beside the client carries its messages until it ends, and then says why.
    pub async fn open(&self) -> Result<Opened, Error> {
        let whole = self.patience();
        let opened = tokio::time::timeout(whole, self.connected()).await;
        let why = match opened {
            Ok(Ok(it)) => return Ok(it),
            Ok(Err(it)) => told(&it) + way_in(&it),
            Err(_) => format!(
                "something listens there, and does not answer as PostgreSQL does within {} seconds (i/o timeout): check host and port",
                whole.as_secs()
            ),
        };
        Err(Error::from(why).context(format_args!("cannot connect to {}", self.shown())))
    }

    async fn connected(&self) -> Result<Opened, tokio_postgres::Error> {
        match &self.tls {
            None => {
                let (client, connection) = self.config.connect(NoTls).await?;
                Ok((client, Box::pin(async move { ended(connection.await) })))
            }
            Some(tls) => {
                let (client, connection) = self.config.connect(Connector(tls.clone())).await?;
                Ok((client, Box::pin(async move { ended(connection.await) })))
            }
        }
    }
}

fn ended(outcome: Result<(), tokio_postgres::Error>) -> String {
    match outcome {
        Ok(()) => "the connection was closed".into(),
        Err(why) => told(&why),
    }
}

/// Reads a connection string: an address, or words like `host=localhost`.
fn parameters(text: &str) -> Result<Parameters, Error> {
    let text = text.trim();
    if !(text.starts_with("postgres://") || text.starts_with("postgresql://")) {
        return words(text).ok_or_else(|| {
            "it is neither an address (postgres://USER:PASSWORD@HOST/DATABASE) nor words of the form KEY=VALUE".into()
        });
    }
    let mut url = Url::parse(text).context("it is no valid address")?;
    let mut found: Parameters =
        url.query_pairs().map(|(key, value)| (key.into_owned(), value.into_owned())).collect();
    url.set_query(None);
    url.set_fragment(None);
    // Percent signs are read as PostgreSQL reads them.
    let plain: Config =
        url.as_str().parse().map_err(|_| Error::from("it is no valid address".to_owned()))?;
    let mut set = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|it| !it.is_empty()) {
            found.entry(name.into()).or_insert(value);
        }
    };
    set("user", plain.get_user().map(str::to_owned));
    set("dbname", plain.get_dbname().map(str::to_owned));
    set("password", plain.get_password().map(|it| String::from_utf8_lossy(it).into_owned()));
    set("port", url.port().map(|it| it.to_string()));
    set(
        "host",
        plain.get_hosts().first().map(|it| match it {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        }),
    );
    Ok(found)
}

/// Reads `key=value` words; a value may stand in single quotes, and a backslash takes the next character as it is.
fn words(text: &str) -> Option<Parameters> {
    let mut found = Parameters::new();
    let mut rest = text.chars().peekable();
    loop {
        while rest.next_if(|it| it.is_whitespace()).is_some() {}
        if rest.peek().is_none() {
            return Some(found);
        }
        let mut key = String::new();
        while let Some(it) = rest.next_if(|it| *it != '=') {
            key.push(it);
        }
        rest.next_if_eq(&'=')?;
        while rest.next_if(|it| it.is_whitespace()).is_some() {}
        let is_quoted = rest.next_if_eq(&'\'').is_some();
        let mut value = String::new();
        loop {
            match rest.next() {
                None if is_quoted => return None,
                None => break,
                Some('\'') if is_quoted => break,
                Some('\\') => value.push(rest.next()?),
                Some(it) if it.is_whitespace() && !is_quoted => break,
                Some(it) => value.push(it),
            }
        }
        found.insert(key.trim().to_owned(), value);
    }
}

/// Words of other clients that are no settings of a session: a secret among them must not be sent as one.
const UNSUPPORTED: [&str; 5] = ["passwd", "pwd", "service", "servicefile", "sslpassword"];

fn configured(all: &Parameters, world: &World) -> Result<Config, Error> {
    let get = |name: &str| all.get(name).filter(|it| !it.is_empty());
    let mut config = Config::new();
    let host = get("host").map_or("localhost", String::as_str);
    let port: u16 = get("port").map_or("5432", String::as_str).parse().context("the port")?;
    let name = get("user").cloned().unwrap_or_else(user);
    let database = get("dbname").unwrap_or(&name);
    config.host(host).port(port).user(&name).dbname(database);
    let password = get("password").cloned();
    let password =
        password.or_else(|| saved_password(all, world, [host, &port.to_string(), database, &name]));
    if let Some(password) = password {
        config.password(password);
    }
    let seconds = match get("connect_timeout") {
        Some(text) => text.parse().context("connect_timeout")?,
        None => 0,
    };
    config.connect_timeout(Duration::from_secs(if seconds == 0 { 30 } else { seconds }));
    // A lock lives as long as its connection: a server that is gone must be noticed.
    config.keepalives_idle(Duration::from_secs(30)).keepalives_interval(Duration::from_secs(10));
    config.keepalives_retries(3).tcp_user_timeout(Duration::from_secs(60));
    let named = get("application_name").or(get("fallback_application_name"));
    config.application_name(named.map_or("entail", String::as_str));
    let mut options = get("options").cloned().unwrap_or_default();
    let known = |name: &str| VARIABLES.iter().any(|it| it.0 == name) || IGNORED.contains(&name);
    // Everything else is a setting of the session.
    for (name, value) in all.iter().filter(|it| !known(it.0)) {
        if UNSUPPORTED.contains(&name.as_str()) {
            return Err(
                format!("{name:?} is not supported here, and would be sent to the server").into()
            );
        }
        let value = value.replace('\\', "\\\\").replace(' ', "\\ ");
        options = format!("{options} -c {name}={value}");
    }
    if !options.trim().is_empty() {
        config.options(options.trim());
    }
    Ok(config)
}

/// Looks the password up in the file that `psql` reads: HOST:PORT:DATABASE:USER:PASSWORD, `*` for any.
fn saved_password(all: &Parameters, world: &World, wanted: [&str; 4]) -> Option<String> {
    let usual = || Some(PathBuf::from(world.variable("HOME")?).join(".pgpass"));
    let path = all.get("passfile").map(PathBuf::from).or_else(usual)?;
    // As other programs do: what everybody may read or write is no secret.
    if std::fs::metadata(&path).ok()?.permissions().mode() & 0o077 != 0 {
        return None;
    }
    let text = crate::world::read_regular(&path).ok()?;
    let text = String::from_utf8(text).ok()?;
    text.lines().filter(|it| !it.starts_with('#')).find_map(|line| {
        let mut fields = vec![String::new()];
        let mut rest = line.chars();
        while let Some(it) = rest.next() {
            match it {
                ':' if fields.len() < 5 => fields.push(String::new()),
                '\\' => fields.last_mut()?.extend(rest.next()),
                it => fields.last_mut()?.push(it),
            }
        }
        let (password, place) = fields.split_last()?;
        let fits =
            place.len() == 4 && place.iter().zip(wanted).all(|(it, want)| it == "*" || it == want);
        fits.then(|| password.clone())
    })
}

/// Says whom TLS trusts in a mode, and as whom it shows itself.
fn trust(all: &Parameters, mode: &str, world: &World) -> Result<Trust, Error> {
    let is_inline = all.get("sslinline").is_some_and(|it| it == "true");
    let read = |name: &str, path: &Path| {
        let bytes =
            crate::world::read_regular(path).context(format_args!("{name} {}", path.display()))?;
        String::from_utf8(bytes).context(name)
    };
    let given = |name: &str, usual: &str| match all.get(name).filter(|it| !it.is_empty()) {
        Some(text) if is_inline => Ok(Some(text.clone())),
        Some(path) => read(name, Path::new(path)).map(Some),
        None => {
            let usual =
                world.variable("HOME").map(|it| Path::new(it).join(".postgresql").join(usual));
            match usual.filter(|it| !is_inline && it.exists()) {
                Some(path) => read(name, &path).map(Some),
                None => Ok(None),
            }
        }
    };
    let chooses_root = all.contains_key("sslrootcert");
    let authorities = match all.get("sslrootcert").map(String::as_str) {
        Some("system") => None,
        _ => given("sslrootcert", "root.crt")?,
    };
    let identity = match (given("sslcert", "postgresql.crt")?, given("sslkey", "postgresql.key")?) {
        (Some(chain), Some(key)) => Some((chain, key)),
        (None, None) => None,
        _ => return Err("a client certificate and its key go together: sslcert and sslkey".into()),
    };
    Ok(Trust {
        authorities,
        identity,
        // `require` alone only hides what is said; with an authority it also asks who answers.
        is_blind: !(mode.starts_with("verify") || (mode == "require" && chooses_root)),
        is_nameless: mode != "verify-full",
    })
}

/// TLS over the connections of the client.
#[derive(Clone)]
struct Connector(Arc<rustls::ClientConfig>);

impl MakeTlsConnect<Socket> for Connector {
    type Stream = Stream;
    type TlsConnect = Named;
    type Error = std::io::Error;

    fn make_tls_connect(&mut self, host: &str) -> std::io::Result<Named> {
        let name = rustls::pki_types::ServerName::try_from(host.to_owned());
        Ok(Named(self.0.clone().into(), name.map_err(std::io::Error::other)?))
    }
}

/// TLS to one host.
struct Named(TlsConnector, rustls::pki_types::ServerName<'static>);

impl TlsConnect<Socket> for Named {
    type Stream = Stream;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = std::io::Result<Stream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move { Ok(Stream(self.0.connect(self.1, socket).await?)) })
    }
}

/// A connection over TLS.
struct Stream(TlsStream<Socket>);

impl tokio_postgres::tls::TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl tokio::io::AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
        into: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl tokio::io::AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
        bytes: &[u8],
    ) -> std::task::Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
