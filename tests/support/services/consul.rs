//! A double of Consul: keys with versions, transactions, sessions that end where they are not renewed, questions that wait for a change.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::http::{Reply, Request, serve};

/// The most that Consul takes in one key, or in one transaction.
const LARGEST: usize = 512 * 1024;

/// A key.
#[derive(Clone, Default)]
pub struct Key {
    pub value: Vec<u8>,
    pub created: u64,
    pub modified: u64,
    pub flags: u64,
    pub session: Option<String>,
}

/// All that a cluster keeps.
#[derive(Default)]
pub struct Cluster {
    pub keys: BTreeMap<String, Key>,
    /// When each session ends if it is not renewed.
    pub sessions: BTreeMap<String, Instant>,
    /// Keys whose lock is kept back for a while after its session was lost.
    delays: BTreeMap<String, Instant>,
    index: u64,
    names: u64,
}

/// What is shared with whoever looks into it.
pub type Shared = Arc<Mutex<Cluster>>;

/// Starts an agent. Returns its port and what it keeps.
pub fn start() -> (u16, Shared) {
    start_behind(|_| None)
}

/// Starts an agent that is asked only what `first` has no answer for.
pub fn start_behind(
    first: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
) -> (u16, Shared) {
    let shared = Shared::default();
    let kept = shared.clone();
    (serve(move |it| first(&it).unwrap_or_else(|| answer(&kept, &it))), shared)
}

impl Cluster {
    fn next(&mut self) -> u64 {
        self.index += 1;
        self.index
    }

    /// Ends sessions that were not renewed. What they held is free, but for a while nobody gets it.
    fn expire(&mut self) {
        let now = Instant::now();
        let over: Vec<String> =
            self.sessions.iter().filter(|it| *it.1 < now).map(|it| it.0.clone()).collect();
        for session in over {
            self.end(&session);
        }
    }

    /// Ends a session, as an operator can.
    pub fn end(&mut self, session: &str) {
        self.sessions.remove(session);
        let index = self.next();
        for (name, key) in &mut self.keys {
            if key.session.as_deref() == Some(session) {
                (key.session, key.modified) = (None, index);
                self.delays.insert(name.clone(), Instant::now() + Duration::from_secs(5));
            }
        }
    }

    fn set(&mut self, name: &str, value: Vec<u8>, flags: Option<u64>) -> u64 {
        let index = self.next();
        let key = self.keys.entry(name.to_owned()).or_default();
        if key.created == 0 {
            key.created = index;
        }
        (key.value, key.modified) = (value, index);
        key.flags = flags.unwrap_or(0);
        index
    }

    fn pair(&self, name: &str) -> Option<Json> {
        let key = self.keys.get(name)?;
        let mut pair = json!({
            "LockIndex": 0, "Key": name, "Flags": key.flags, "Value": STANDARD.encode(&key.value),
            "CreateIndex": key.created, "ModifyIndex": key.modified,
        });
        if let Some(session) = &key.session {
            pair["Session"] = session.as_str().into();
        }
        Some(pair)
    }

    fn acquire(&mut self, name: &str, session: &str, value: Vec<u8>, flags: Option<u64>) -> bool {
        let is_held = self.keys.get(name).and_then(|it| it.session.clone());
        let is_delayed = self.delays.get(name).is_some_and(|it| *it > Instant::now());
        let is_free = is_held.as_deref().map_or(!is_delayed, |it| it == session);
        if !is_free || !self.sessions.contains_key(session) {
            return false;
        }
        self.set(name, value, flags);
        self.keys.get_mut(name).expect("it was set").session = Some(session.to_owned());
        true
    }

    fn release(&mut self, name: &str, session: &str) -> bool {
        let index = self.next();
        let key = self.keys.get_mut(name).filter(|it| it.session.as_deref() == Some(session));
        key.map(|key| (key.session, key.modified) = (None, index)).is_some()
    }

    /// Does the steps of a transaction, or says which one cannot be done.
    fn transact(&mut self, steps: &[Json]) -> Result<Vec<Json>, Vec<Json>> {
        let step = |it: &Json| {
            let kv = &it["KV"];
            let text = |name: &str| kv[name].as_str().unwrap_or_default().to_owned();
            (
                text("Verb"),
                text("Key"),
                kv["Index"].as_u64().unwrap_or(0),
                text("Session"),
                text("Value"),
            )
        };
        let mut errors = Vec::new();
        for (number, it) in steps.iter().enumerate() {
            let (verb, name, index, session, _) = step(it);
            let key = self.keys.get(&name);
            let is_met = match verb.as_str() {
                "cas" => key.map_or(0, |it| it.modified) == index,
                "delete-cas" => key.is_some_and(|it| it.modified == index),
                "check-session" => {
                    key.is_some_and(|it| it.session.as_deref() == Some(session.as_str()))
                }
                _ => true,
            };
            if !is_met {
                let what = format!("failed to do {verb} on key {name:?}: it is not as was said");
                errors.push(json!({"OpIndex": number, "What": what}));
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut results = Vec::new();
        for it in steps {
            let (verb, name, _, _, value) = step(it);
            match verb.as_str() {
                "cas" | "set" => {
                    self.set(&name, STANDARD.decode(value).unwrap_or_default(), None);
                }
                "delete" | "delete-cas" => drop(self.keys.remove(&name)),
                _ => {}
            }
            if let Some(mut pair) = self.pair(&name) {
                pair["Value"] = Json::Null;
                results.push(json!({"KV": pair}));
            }
        }
        Ok(results)
    }
}

fn answer(shared: &Shared, request: &Request) -> Reply {
    let deadline = waits(request).map(|it| Instant::now() + it);
    loop {
        let mut cluster = shared.lock().expect("nobody panics with it");
        cluster.expire();
        let known: u64 = request.asked("index").and_then(|it| it.parse().ok()).unwrap_or(0);
        let name = request.path.trim_start_matches("/v1/kv/");
        let now = cluster.keys.get(name).map_or(cluster.index, |it| it.modified).max(1);
        if now <= known && deadline.is_some_and(|it| Instant::now() < it) {
            drop(cluster);
            std::thread::sleep(Duration::from_millis(20));
            continue;
        }
        let mut reply = act(&mut cluster, request);
        reply.headers.push(("X-Consul-Index", now.to_string()));
        reply.headers.push(("X-Consul-Knownleader", "true".into()));
        reply.headers.push(("X-Consul-Lastcontact", "0".into()));
        return reply;
    }
}

/// How long a question waits for a change.
fn waits(request: &Request) -> Option<Duration> {
    let known: u64 = request.asked("index")?.parse().ok()?;
    let text = request.asked("wait").unwrap_or("5m");
    let digits: u64 = text.trim_end_matches(|it: char| it.is_alphabetic()).parse().ok()?;
    let wait = match text.trim_start_matches(|it: char| it.is_ascii_digit()) {
        "ms" => Duration::from_millis(digits),
        "m" => Duration::from_secs(digits * 60),
        _ => Duration::from_secs(digits),
    };
    (known > 0).then_some(wait.min(Duration::from_secs(30)))
}

fn act(cluster: &mut Cluster, request: &Request) -> Reply {
    let too_large = || {
        let text = format!(
            "Request body({} bytes) too large, max size: {LARGEST} bytes",
            request.body.len()
        );
        Reply::new(413, text)
    };
    let body = || serde_json::from_slice::<Json>(&request.body).unwrap_or_default();
    match (request.method.as_str(), request.path.split('/').skip(2).collect::<Vec<_>>().as_slice())
    {
        ("PUT", ["txn"]) if request.body.len() > LARGEST => too_large(),
        ("PUT", ["txn"]) => match cluster.transact(body().as_array().unwrap_or(&Vec::new())) {
            Ok(results) => Reply::json(200, &json!({"Results": results, "Errors": null})),
            Err(errors) => Reply::json(409, &json!({"Results": null, "Errors": errors})),
        },
        ("PUT", ["session", "create"]) => {
            cluster.names += 1;
            let id = format!("5e551010-0000-4000-8000-{:012}", cluster.names);
            let ttl = body()["TTL"].as_str().unwrap_or("15s").trim_end_matches('s').parse();
            let life = Duration::from_secs(ttl.unwrap_or(15));
            cluster.sessions.insert(id.clone(), Instant::now() + life);
            Reply::json(200, &json!({"ID": id}))
        }
        ("PUT", ["session", "renew", id]) => match cluster.sessions.get_mut(*id) {
            Some(until) => {
                *until = Instant::now() + Duration::from_secs(15);
                Reply::json(200, &json!([{"ID": id, "TTL": "15s"}]))
            }
            None => Reply::new(404, format!("Session id '{id}' not found")),
        },
        ("PUT", ["session", "destroy", id]) => {
            cluster.end(id);
            Reply::new(200, "true")
        }
        (method, ["kv", ..]) => {
            let name = request.path.trim_start_matches("/v1/kv/").to_owned();
            match method {
                "PUT" if request.body.len() > LARGEST => too_large(),
                "PUT" => put(cluster, request, &name),
                "DELETE" => {
                    let is_gone = |it: &str| match request.asked("recurse") {
                        Some(_) => it.starts_with(&name),
                        None => it == name,
                    };
                    cluster.keys.retain(|it, _| !is_gone(it));
                    cluster.next();
                    Reply::new(200, "true")
                }
                _ => get(cluster, request, &name),
            }
        }
        _ => Reply::new(404, "no such endpoint"),
    }
}

fn put(cluster: &mut Cluster, request: &Request, name: &str) -> Reply {
    let flags = request.asked("flags").and_then(|it| it.parse().ok());
    let done = match (request.asked("acquire"), request.asked("release"), request.asked("cas")) {
        (Some(session), _, _) => cluster.acquire(name, session, request.body.clone(), flags),
        (_, Some(session), _) => cluster.release(name, session),
        (_, _, Some(index))
            if cluster.keys.get(name).map_or(0, |it| it.modified).to_string() != index =>
        {
            false
        }
        _ => cluster.set(name, request.body.clone(), flags) > 0,
    };
    Reply::new(200, done.to_string())
}

fn get(cluster: &Cluster, request: &Request, name: &str) -> Reply {
    if request.asked("keys").is_none() {
        return match cluster.pair(name) {
            Some(pair) => Reply::json(200, &json!([pair])),
            None => Reply::new(404, ""),
        };
    }
    let mut names: Vec<String> = Vec::new();
    for key in cluster.keys.keys().filter(|it| it.starts_with(name)) {
        let rest = &key[name.len()..];
        let cut = request.asked("separator").and_then(|it| rest.find(it).map(|at| at + it.len()));
        names.push(format!("{name}{}", &rest[..cut.unwrap_or(rest.len())]));
    }
    names.dedup();
    if names.is_empty() { Reply::new(404, "") } else { Reply::json(200, &json!(names)) }
}
