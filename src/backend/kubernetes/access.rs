//! Which cluster is spoken to, and with which credentials: arguments, configuration files, or what a pod is given.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;

use super::exec::Program;
use crate::backend::opening::{Opening, invalid, table_of};
use crate::backend::web::Trust;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorContext};
use crate::expression::functions::yaml;
use crate::install::secure::is_secure;
use crate::value::Value;
use crate::world::World;
use crate::world::secrets::Secrets;

/// Where a pod finds its credentials.
const POD: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// What requests show.
#[derive(Clone)]
pub(super) enum Shown {
    Nothing,
    Token(String),
    Login(String, String),
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shown")
    }
}

/// A cluster and credentials for it.
pub(super) struct Access {
    pub server: Url,
    trust: Trust,
    shown: Shown,
    program: Option<Program>,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("server", &self.server.host_str()).finish_non_exhaustive()
    }
}

/// What is known before it is put together.
#[derive(Default)]
struct Known {
    server: Option<String>,
    authorities: Option<String>,
    is_blind: bool,
    chain: Option<String>,
    key: Option<String>,
    token: Option<String>,
    name: Option<String>,
    password: Option<String>,
    program: Option<Program>,
}

impl Access {
    pub fn new(it: &Opening) -> Result<Access, Diagnostic> {
        let in_cluster = it.flag("in_cluster_config")?.unwrap_or(false);
        let files = files(it);
        let wrong =
            |name: &'static str| move |why: Error| invalid("kubernetes", name, &why.to_string());
        let mut known = match in_cluster {
            true => pod(it).map_err(wrong("in_cluster_config"))?,
            false if files.is_empty() && it.text("host").is_none() => pod(it).unwrap_or_default(),
            false => from_files(it, &files).map_err(wrong("config_path"))?,
        };
        let set = |place: &mut Option<String>, name: &str| {
            if let Some(text) = it.text(name) {
                *place = Some(text);
            }
        };
        set(&mut known.server, "host");
        set(&mut known.name, "username");
        set(&mut known.password, "password");
        set(&mut known.authorities, "cluster_ca_certificate");
        set(&mut known.chain, "client_certificate");
        set(&mut known.key, "client_key");
        set(&mut known.token, "token");
        known.is_blind = it.flag("insecure")?.unwrap_or(known.is_blind);
        if let Some(block) = it.value("exec")?.children().next() {
            known.program = Some(program_of_block(block));
        }
        known.access().map_err(wrong("host"))
    }

    /// Returns whom connections trust and what requests show; asks the program for credentials where there is one.
    pub async fn prepared(&self, world: &World) -> Result<(Trust, Shown), Error> {
        let (mut trust, mut shown) = (self.trust.clone(), self.shown.clone());
        if let Some(program) = &self.program {
            let given = program.ask(world, self.secrets(world)).await?;
            trust.identity = given.identity.or(trust.identity);
            shown = given.token.map_or(shown, Shown::Token);
        }
        Ok((trust, shown))
    }
}

impl Access {
    /// Returns the secrets that a program for credentials may know: of the environment, of the configuration and of its files.
    fn secrets(&self, world: &World) -> Secrets {
        let shown = match &self.shown {
            Shown::Token(secret) | Shown::Login(_, secret) => Some(&**secret),
            Shown::Nothing => None,
        };
        let key = self.trust.identity.as_ref().map(|(_, key)| &**key);
        Secrets::of_environment(world).with(shown.into_iter().chain(key))
    }
}

impl Known {
    fn access(self) -> Result<Access, Error> {
        let server = self.server.filter(|it| !it.is_empty()).unwrap_or_else(|| "localhost".into());
        let has_secrets = self.authorities.is_some() || self.chain.is_some() || self.is_blind;
        let server = match server.contains("://") {
            true => server,
            false if has_secrets => format!("https://{server}"),
            false => format!("http://{server}"),
        };
        let identity = match (self.chain, self.key) {
            (Some(chain), Some(key)) => Some((chain, key)),
            (None, None) => None,
            _ => return Err("a client certificate and its key go together".into()),
        };
        let shown = match (self.token, self.name) {
            (Some(token), _) => Shown::Token(token),
            (None, Some(name)) => Shown::Login(name, self.password.unwrap_or_default()),
            (None, None) => Shown::Nothing,
        };
        let server = Url::parse(&server).context("the cluster's address")?;
        if !matches!(shown, Shown::Nothing) && !is_secure(&server) {
            let why = "a token or a password is shown to a cluster over https only: name its address with https://";
            return Err(why.into());
        }
        Ok(Access {
            server,
            trust: Trust {
                authorities: self.authorities,
                identity,
                is_blind: self.is_blind,
                ..Trust::default()
            },
            shown,
            program: self.program,
        })
    }
}

/// Returns the configuration files that are named, in order. None is read where none is named.
fn files(it: &Opening) -> Vec<PathBuf> {
    let split = |text: &str| std::env::split_paths(text).collect::<Vec<_>>();
    let named = match (it.text("config_path"), it.texts("config_paths")) {
        (Some(path), _) => vec![PathBuf::from(path)],
        (None, paths) if !paths.is_empty() => paths.into_iter().map(PathBuf::from).collect(),
        _ => it.world.variable("KUBE_CONFIG_PATHS").map(split).unwrap_or_default(),
    };
    let home = it.world.variable("HOME").unwrap_or_default();
    let full = |path: PathBuf| match path.strip_prefix("~") {
        Ok(rest) => Path::new(home).join(rest),
        Err(_) => it.world.root.join(path),
    };
    named.into_iter().map(full).collect()
}

/// Returns what a pod is given.
fn pod(it: &Opening) -> Result<Known, Error> {
    let variable = |name: &str| it.world.variable(name).filter(|it| !it.is_empty());
    let (Some(host), Some(port)) =
        (variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT"))
    else {
        return Err(
            "this is no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set"
                .into(),
        );
    };
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let token = read(&Path::new(POD).join("token"))?;
    Ok(Known {
        server: Some(format!("https://{host}:{port}")),
        authorities: Some(read(&Path::new(POD).join("ca.crt"))?),
        token: Some(token.trim().to_owned()),
        ..Known::default()
    })
}

fn read(path: &Path) -> Result<String, Error> {
    let bytes = crate::world::read_regular(path).context(path.display())?;
    String::from_utf8(bytes).context(path.display())
}

/// Returns what the files say of the chosen context. Of several entries with one name the first counts.
fn from_files(it: &Opening, files: &[PathBuf]) -> Result<Known, Error> {
    let mut documents = Vec::new();
    for path in files {
        // One that is missing among several is done without.
        match read(path) {
            Ok(text) => {
                let document = yaml::decode(&text).context(path.display())?;
                documents.push((document, path.parent().unwrap_or(Path::new("")).to_owned()));
            }
            Err(_) if files.len() > 1 && !path.exists() => {}
            Err(why) => return Err(why),
        }
    }
    let entry = |list: &str, kind: &str, name: &str| {
        documents.iter().find_map(|(document, folder)| {
            let all = document.get(list)?.children();
            let found = all.into_iter().find(|it| member(it, "name") == Some(name))?;
            Some((found.get(kind)?.clone(), folder.clone()))
        })
    };
    let current =
        || documents.iter().find_map(|it| member(&it.0, "current-context").map(str::to_owned));
    let context = it.text("config_context").or_else(current).filter(|it| !it.is_empty());
    let context = match &context {
        Some(name) => {
            let found = entry("contexts", "context", name);
            found.ok_or_else(|| format!("no file has a context {name:?}"))?.0
        }
        None => Value::NULL,
    };
    let chosen = |setting: &str, kind: &str| {
        it.text(setting).or_else(|| member(&context, kind).map(str::to_owned))
    };
    let mut known = Known { server: it.text("host"), ..Known::default() };
    if let Some(name) = chosen("config_context_cluster", "cluster") {
        let (cluster, folder) = entry("clusters", "cluster", &name)
            .ok_or_else(|| format!("no file has a cluster {name:?}"))?;
        known.server = known.server.or_else(|| member(&cluster, "server").map(str::to_owned));
        known.authorities = data_or_file(&cluster, "certificate-authority", &folder)?;
        known.is_blind =
            cluster.get("insecure-skip-tls-verify").and_then(Value::as_bool) == Some(true);
        check_supported(&cluster, "cluster", &name, &["proxy-url", "tls-server-name"])?;
    }
    // What files know of users is shown over secured connections only, as other programs do.
    let is_secured = known.server.as_ref().is_some_and(|it| it.starts_with("https:"));
    if let Some(name) = chosen("config_context_auth_info", "user").filter(|_| is_secured) {
        let (user, folder) =
            entry("users", "user", &name).ok_or_else(|| format!("no file has a user {name:?}"))?;
        check_supported(&user, "user", &name, &["as", "as-uid", "as-groups", "as-user-extra"])?;
        // A token in the block takes the place of what the provider would give.
        if it.text("token").is_none() {
            check_supported(&user, "user", &name, &["auth-provider"])?;
        }
        add_user(&mut known, &user, &folder)?;
    }
    Ok(known)
}

/// Checks that an entry of a file sets nothing that would have to be ignored: the request would go elsewhere or with other rights.
fn check_supported(entry: &Value, kind: &str, name: &str, others: &[&str]) -> Result<(), Error> {
    let is_set = |it: &Value| match it.as_str() {
        Some(text) => !text.is_empty(),
        None => it.children().next().is_some(),
    };
    match others.iter().find(|it| entry.get(it).is_some_and(is_set)) {
        Some(other) => Err(format!(
            "the {kind} {name:?} sets {other:?}, which is not supported: choose a {kind} without it"
        )
        .into()),
        None => Ok(()),
    }
}

fn add_user(known: &mut Known, user: &Value, folder: &Path) -> Result<(), Error> {
    let text = |name| member(user, name).map(str::to_owned);
    known.token = match text("tokenFile") {
        Some(path) => Some(read(&folder.join(path))?.trim().to_owned()),
        None => text("token"),
    };
    (known.name, known.password) = (text("username"), text("password"));
    known.chain = data_or_file(user, "client-certificate", folder)?;
    known.key = data_or_file(user, "client-key", folder)?;
    if let Some(exec) = user.get("exec").filter(|it| !it.is_null()) {
        let entries = exec.get("env").into_iter().flat_map(Value::children);
        let variable =
            |it: &Value| Some((member(it, "name")?.to_owned(), member(it, "value")?.to_owned()));
        known.program = Some(Program {
            version: member(exec, "apiVersion").unwrap_or_default().to_owned(),
            command: command_beside(folder, member(exec, "command").unwrap_or_default()),
            arguments: exec.get("args").map(strings).unwrap_or_default(),
            variables: entries.filter_map(variable).collect(),
        });
    }
    Ok(())
}

/// Returns a command as it is run: one with a relative path lies beside the file that names it.
fn command_beside(folder: &Path, command: &str) -> String {
    match command.contains('/') && !Path::new(command).is_absolute() {
        true => folder.join(command).to_string_lossy().into_owned(),
        false => command.to_owned(),
    }
}

fn program_of_block(block: &Value) -> Program {
    Program {
        version: member(block, "api_version").unwrap_or_default().to_owned(),
        command: member(block, "command").unwrap_or_default().to_owned(),
        arguments: block.get("args").map(strings).unwrap_or_default(),
        variables: block.get("env").map(table_of).unwrap_or_default(),
    }
}

fn member<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

fn strings(value: &Value) -> Vec<String> {
    value.children().filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

/// Returns what stands under `NAME-data` in Base64, or in the file that `NAME` says.
fn data_or_file(value: &Value, name: &str, folder: &Path) -> Result<Option<String>, Error> {
    if let Some(data) = member(value, &format!("{name}-data")).filter(|it| !it.is_empty()) {
        let bytes = STANDARD.decode(data).context(format_args!("{name}-data"))?;
        return String::from_utf8(bytes).map(Some).context(format_args!("{name}-data"));
    }
    member(value, name).filter(|it| !it.is_empty()).map(|it| read(&folder.join(it))).transpose()
}
