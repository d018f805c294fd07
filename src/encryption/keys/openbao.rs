//! `openbao`: keys that the transit engine of OpenBao makes, and opens again; Vault speaks the same.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use zeroize::Zeroizing;

use crate::backend::opening::Opening;
use crate::backend::shape::{Setting, number, text};
use crate::backend::web::{Answer, Reach, Retries, Trust, again, client_with_token, send_within};
use crate::diagnostic::Diagnostics;
use crate::error::{Error, ErrorContext};
use crate::world::World;

use super::service::{Secret, Service, read, strange, wait};
use super::{Key, KeySource};

pub(super) const SERVICE: Service = Service { name: "openbao", settings: SETTINGS, open };

const SETTINGS: &[Setting] = &[
    text("address"),
    number("key_length"),
    text("key_name").required().filled("key_name"),
    text("token").sensitive(),
    text("transit_engine_path"),
];

/// What messages call the service.
const NAME: &str = "OpenBao";

struct OpenBao {
    world: Arc<World>,
    way: Way,
    /// The path of the engine, without slashes at its ends.
    engine: String,
    key: String,
    length: usize,
}

/// How the service is reached, and as whom.
struct Way {
    /// Without a slash at its end.
    address: String,
    token: Option<Zeroizing<String>>,
    namespace: Option<String>,
    trust: Trust,
    timeout: Duration,
    retries: u64,
    proxy: Option<String>,
    follows: bool,
}

impl fmt::Debug for OpenBao {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "openbao with the key {:?} of {}", self.key, self.engine)
    }
}

/// What an envelope keeps: the sealed key as bytes.
#[derive(Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    ciphertext: Option<String>,
}

#[derive(Deserialize)]
struct Answered<T> {
    data: T,
}

/// A key that was made.
#[derive(Deserialize)]
struct Made {
    ciphertext: String,
    plaintext: Secret,
}

/// A key that was opened.
#[derive(Deserialize)]
struct Opened {
    plaintext: Secret,
}

fn open(it: &Opening) -> Result<Box<dyn KeySource>, Diagnostics> {
    let length = match it.whole("key_length")? {
        None | Some(0) => 32,
        Some(known @ (16 | 32 | 64)) => usize::try_from(known).unwrap_or_default(),
        Some(_) => return Err(it.invalid("key_length", "it must be 16, 32 or 64 bytes").into()),
    };
    let engine = it.text("transit_engine_path").unwrap_or_else(|| "transit".to_owned());
    let engine: Vec<&str> = engine.split('/').filter(|it| !it.is_empty()).collect();
    let key = it.text("key_name").unwrap_or_default();
    if engine.iter().chain([&&*key]).any(|it| matches!(*it, "." | "..")) {
        return Err(it.invalid("transit_engine_path", "\".\" and \"..\" are no names").into());
    }
    let engine: Vec<String> = engine.into_iter().map(escaped).collect();
    let way = Way::read(it.world, it.text("address"), it.text("token"));
    Ok(Box::new(OpenBao {
        world: it.world.clone(),
        way: way.map_err(|why| it.owner.wrong(format!("{why}.")))?,
        engine: engine.join("/"),
        key,
        length,
    }))
}

/// Returns what the environment says: the name of OpenBao counts, even where it is empty, before that of Vault.
fn variable(world: &World, name: &str) -> Option<String> {
    let of = |prefix: &str| world.environment.get(&format!("{prefix}_{name}"));
    of("BAO").or_else(|| of("VAULT")).filter(|it| !it.is_empty()).cloned()
}

fn flag(world: &World, name: &str) -> Result<bool, Error> {
    match variable(world, name).as_deref() {
        None | Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
        Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
        Some(_) => Err(format!("the environment variable BAO_{name} must be true or false").into()),
    }
}

impl Way {
    fn read(world: &World, address: Option<String>, token: Option<String>) -> Result<Way, Error> {
        let given = |name: &str| variable(world, name);
        let address = given("AGENT_ADDR").or(address).or_else(|| given("ADDR"));
        let address = address.unwrap_or_else(|| "https://127.0.0.1:8200".to_owned());
        let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
        if rest
            .is_none_or(|it| it.is_empty() || it.starts_with('/') || it.contains(['@', '?', '#']))
        {
            return Err("the address of OpenBao (\"address\", BAO_ADDR, BAO_AGENT_ADDR) must be one as \"https://HOST:8200\" is, without a user".into());
        }
        for name in ["TLS_SERVER_NAME", "SRV_LOOKUP"] {
            if given(name).is_some_and(|it| !matches!(&*it, "0" | "false")) {
                return Err(format!(
                    "the environment variable BAO_{name} is not supported: name the host itself in \"address\" or BAO_ADDR"
                )
                .into());
            }
        }
        let token = token.or_else(|| given("TOKEN"));
        if token.as_ref().is_some_and(|it| !it.bytes().all(|it| it.is_ascii_graphic())) {
            return Err("the token of OpenBao (\"token\", BAO_TOKEN) holds characters that no token has: a line break at its end, maybe".into());
        }
        let retries = match given("MAX_RETRIES").map(|it| it.parse()) {
            None => 2,
            Some(Ok(it)) => it,
            Some(Err(_)) => {
                return Err(
                    "the environment variable BAO_MAX_RETRIES must be a whole number".into()
                );
            }
        };
        let timeout = given("CLIENT_TIMEOUT").map(|it| seconds(&it));
        let timeout = timeout.map_or(Some(60), |it| it.filter(|it| *it > 0));
        let timeout = timeout.ok_or("the environment variable BAO_CLIENT_TIMEOUT must be a number of seconds, as \"60\" or \"60s\"")?;
        Ok(Way {
            address: address.trim_end_matches('/').to_owned(),
            token: token.map(Zeroizing::new),
            namespace: given("NAMESPACE"),
            trust: trust(world)?,
            timeout: Duration::from_secs(timeout),
            retries: Ord::min(retries, 100),
            proxy: given("PROXY_ADDR").or_else(|| given("HTTP_PROXY")),
            follows: !flag(world, "DISABLE_REDIRECTS")?,
        })
    }
}

/// Reads `60`, `60s`, `2m`.
fn seconds(text: &str) -> Option<u64> {
    let (number, size) = match text.strip_suffix('m') {
        Some(minutes) => (minutes, 60),
        None => (text.strip_suffix('s').unwrap_or(text), 1),
    };
    number.parse::<u64>().ok()?.checked_mul(size)
}

fn trust(world: &World) -> Result<Trust, Error> {
    let file = |name: &str| -> Result<Option<String>, Error> {
        let Some(path) = variable(world, name) else { return Ok(None) };
        let text = world.files.read_regular(&world.root.join(&path));
        let text =
            text.context(format_args!("the file {path} that BAO_{name} names cannot be read"))?;
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    };
    let folder = || -> Result<Option<String>, Error> {
        let Some(path) = variable(world, "CAPATH") else { return Ok(None) };
        let words = format!("the folder {path} that BAO_CAPATH names cannot be read");
        let mut all = String::new();
        for entry in world.files.entries(&world.root.join(&path)).context(&words)? {
            let place = world.root.join(&path).join(&entry.name);
            if world.files.is_folder(&place) {
                continue;
            }
            let text = world.files.read_regular(&place).context(&words)?;
            all.push_str(&String::from_utf8_lossy(&text));
            all.push('\n');
        }
        Ok(Some(all))
    };
    let authorities = match (file("CACERT")?, variable(world, "CACERT_BYTES")) {
        (Some(it), _) | (None, Some(it)) => Some(it),
        (None, None) => folder()?,
    };
    let identity = match (file("CLIENT_CERT")?, file("CLIENT_KEY")?) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => return Err("BAO_CLIENT_CERT and BAO_CLIENT_KEY are set together or not at all".into()),
    };
    Ok(Trust { authorities, identity, is_blind: flag(world, "SKIP_VERIFY")?, is_nameless: false })
}

/// Escapes what may not stand in a part of a path as it is.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                escaped.push(char::from(byte));
            }
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

impl OpenBao {
    async fn ask<T: DeserializeOwned>(&self, action: &str, body: Json) -> Result<T, Error> {
        let way = &self.way;
        let client = client_with_token(&self.world, &way.trust, way.timeout, way.proxy.as_deref())?;
        let body = Zeroizing::new(serde_json::to_vec(&body)?);
        let mut url = format!("{}/v1/{}/{action}/{}", way.address, self.engine, escaped(&self.key));
        let mut may_follow = way.follows;
        let retries = Retries {
            max: way.retries,
            wait_min: Duration::from_secs(1),
            wait_max: Duration::from_millis(1500),
        };
        loop {
            let host = host(&url);
            // The active node of a cluster is another host than the one that names it; `onward` says which may be gone to.
            let answer = again(retries, || {
                let mut request = client.put(&url).header("x-vault-request", "true");
                let token = way.token.as_ref().map(|it| ("x-vault-token", it.as_str()));
                let namespace = way.namespace.as_ref().map(|it| ("x-vault-namespace", &**it));
                for (name, value) in token.into_iter().chain(namespace) {
                    request = request.header(name, value);
                }
                let request =
                    request.header("content-type", "application/json").body(body.to_vec());
                send_within(request, Reach::Nowhere)
            });
            let answer = answer.await.map_err(|it| {
                it.why.context(format_args!(
                    "{NAME} at {host} does not answer; check \"address\" or BAO_ADDR, the network and certificates"
                ))
            })?;
            let moved = answer.header("location");
            match answer.status {
                301 | 302 | 307 if may_follow && !moved.is_empty() => {
                    url = onward(&url, moved)?;
                    may_follow = false;
                }
                200..=299 => {
                    let host = host.to_owned();
                    return Ok(read::<Answered<T>>(answer.body, NAME, &host)?.data);
                }
                _ => return Err(self.denial(host, &answer)),
            }
        }
    }

    fn denial(&self, host: &str, answer: &Answer) -> Error {
        let Ok(body) = serde_json::from_slice::<Json>(&answer.body) else {
            return strange(NAME, host).context(format_args!("status {}", answer.status));
        };
        let said = body["errors"].as_array().into_iter().flatten().filter_map(Json::as_str);
        let said: Vec<&str> = said.map(str::trim).collect();
        let said = match said.is_empty() {
            true => format!("status {}", answer.status),
            false => answer.hide(&said.join("; ")),
        };
        let (key, engine) = (&self.key, &self.engine);
        let hint = match answer.status {
            400 if said.contains("not found") => {
                format!("the key {key:?} must be made in the engine {engine:?} first")
            }
            400 => format!(
                "what was sealed, was sealed with another key than {key:?}, or it was changed since: name the key that has sealed it"
            ),
            403 => format!(
                "the token (\"token\", BAO_TOKEN) must be valid, and a policy of it must let it update {engine}/datakey/plaintext/{key} and \
                 {engine}/decrypt/{key}; check BAO_NAMESPACE as well"
            ),
            404 => format!(
                "there is no transit engine at {engine:?}: check \"transit_engine_path\" and BAO_NAMESPACE"
            ),
            503 => "it is sealed or not ready: unseal it".to_owned(),
            _ => return format!("{NAME} at {host} says: {said}").into(),
        };
        format!("{NAME} at {host} says: {said}. Most likely {hint}").into()
    }
}

/// Returns the host with its port, for messages.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |it| it.1);
    rest.split(['/', '?']).next().unwrap_or_default()
}

/// Returns where a server sends requests on to: a node that stands by names the one that is active.
fn onward(url: &str, to: &str) -> Result<String, Error> {
    let to = match to.starts_with('/') {
        true => {
            let scheme = url.split("://").next().unwrap_or_default();
            format!("{scheme}://{}{to}", host(url))
        }
        false => to.to_owned(),
    };
    let is_as_safe =
        to.starts_with("https://") || (to.starts_with("http://") && url.starts_with("http://"));
    match is_as_safe {
        true => Ok(to),
        false => Err(format!(
            "{NAME} at {} sends requests on to an address that is not secured, where the token must not go",
            host(url)
        )
        .into()),
    }
}

impl KeySource for OpenBao {
    fn length(&self) -> Option<usize> {
        Some(self.length)
    }

    fn fresh(&self, _: &World, _: Option<&Key>) -> Result<(Key, Vec<u8>), Error> {
        let made: Made = wait(self.ask("datakey/plaintext", json!({ "bits": self.length * 8 })))?;
        let key = made.plaintext.key(&STANDARD);
        let key = key.ok_or_else(|| strange(NAME, host(&self.way.address)))?;
        let kept = Kept { ciphertext: Some(STANDARD.encode(made.ciphertext)) };
        Ok((key, serde_json::to_vec(&kept)?))
    }

    fn known(&self, _: &World, metadata: &[u8], _: Option<&Key>) -> Result<Option<Key>, Error> {
        const BROKEN: &str = "the sealed key in the envelope is broken";
        let kept: Kept = serde_json::from_slice(metadata)?;
        let sealed = STANDARD.decode(kept.ciphertext.unwrap_or_default()).context(BROKEN)?;
        if sealed.is_empty() {
            return Ok(None);
        }
        let sealed = String::from_utf8(sealed).context(BROKEN)?;
        let opened: Opened = wait(self.ask("decrypt", json!({ "ciphertext": sealed })))?;
        let key = opened.plaintext.key(&STANDARD);
        key.map(Some).ok_or_else(|| strange(NAME, host(&self.way.address)))
    }
}
