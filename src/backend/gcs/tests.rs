//! A store in Google Cloud Storage against a double of it that loses answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::backend::cloud::double::{Asked, Double, Fault, Reply};
use crate::backend::local::Choice;
use crate::backend::lock::{LockInfo, LockProblem};
use crate::backend::registry;
use crate::backend::store::{Refused, Store, Version, wait};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::value::Value;
use crate::world::World;

/// Objects with their generations.
#[derive(Default)]
struct Kept {
    objects: BTreeMap<String, (u64, Vec<u8>)>,
    latest: u64,
    tells_generation: bool,
}

type Shared = Arc<Mutex<Kept>>;

fn json_of(status: u16, body: serde_json::Value) -> Reply {
    Reply::text(status, "application/json", body.to_string())
}

fn answer(kept: &Shared, asked: &Asked) -> Reply {
    let mut kept = kept.lock();
    let wanted = asked.argument("ifGenerationMatch").and_then(|it| it.parse::<u64>().ok());
    if asked.path == "/upload/storage/v1/b/states/o" {
        let name = asked.argument("name").unwrap_or_default();
        let there = kept.objects.get(&name).map_or(0, |it| it.0);
        if wanted.is_some_and(|it| it != there) {
            return json_of(412, json!({ "error": { "message": "conditionNotMet" } }));
        }
        kept.latest += 1;
        let generation = kept.latest;
        kept.objects.insert(name, (generation, asked.body.clone()));
        return json_of(200, json!({ "generation": generation.to_string() }));
    }
    let Some(name) = asked.path.strip_prefix("/storage/v1/b/states/o") else {
        return json_of(
            404,
            json!({ "error": { "message": "The specified bucket does not exist." } }),
        );
    };
    let name = name.trim_start_matches('/').to_owned();
    if name.is_empty() {
        let prefix = asked.argument("prefix").unwrap_or_default();
        let names = kept.objects.keys().filter(|it| it.starts_with(&prefix));
        let items: Vec<_> = names.map(|it| json!({ "name": it })).collect();
        // As the service itself has it.
        let list = match items.is_empty() {
            true => json!({ "kind": "storage#objects" }),
            false => json!({ "kind": "storage#objects", "items": items }),
        };
        return json_of(200, list);
    }
    let Some((generation, bytes)) = kept.objects.get(&name).cloned() else {
        return json_of(404, json!({ "error": { "message": "No such object" } }));
    };
    match (&*asked.method, asked.argument("alt").as_deref()) {
        ("DELETE", _) if wanted.is_some_and(|it| it != generation) => Reply::status(412),
        ("DELETE", _) => {
            kept.objects.remove(&name);
            Reply::status(204)
        }
        (_, Some("media")) if kept.tells_generation => {
            Reply::text(200, "text/plain", bytes).with("x-goog-generation", &generation.to_string())
        }
        (_, Some("media")) => Reply::text(200, "text/plain", bytes),
        _ => json_of(200, json!({ "generation": generation.to_string() })),
    }
}

struct Scene {
    store: Arc<dyn Store>,
    double: Double,
    kept: Shared,
}

fn open(url: &str, settings: &[(&str, &str)]) -> Result<Arc<dyn Store>, Error> {
    let kind = registry::kind("gcs").expect("the kind is there");
    let endpoint = format!("{url}/storage/v1/");
    let usual = [
        ("bucket", "states"),
        ("prefix", "/net/"),
        ("access_token", "very-secret"),
        ("storage_custom_endpoint", &endpoint),
    ];
    let mut given = kind.unset();
    for (name, value) in usual.iter().chain(settings) {
        let value = kind.setting(name, &Value::string(value)).expect("a value that fits");
        given.insert((*name).to_owned(), value);
    }
    let mut world = World::of_this_process();
    world.environment.retain(|name, _| !name.starts_with("GOOGLE_"));
    let opened = kind.open(&Arc::new(world), &given, &Choice::default());
    let detail = |it: &Diagnostic| it.detail.clone();
    opened.map_err(|it| it.iter().map(detail).collect::<Vec<_>>().join("\n").into())
}

fn scene(settings: &[(&str, &str)]) -> Scene {
    let kept: Shared = Arc::default();
    kept.lock().tells_generation = true;
    let shared = kept.clone();
    let double = Double::start(move |asked| answer(&shared, asked));
    let store = open(&double.url(), settings).expect("a store");
    Scene { store, double, kept }
}

impl Scene {
    fn read(&self) -> (Vec<u8>, Version) {
        let content = wait(&*self.store, self.store.read("default")).expect("a state");
        (content.bytes, content.version)
    }

    fn write(&self, text: &str, seen: &Version) -> Result<Version, Refused> {
        wait(
            &*self.store,
            self.store.write("default", &bytes::Bytes::copy_from_slice(text.as_bytes()), seen),
        )
    }

    fn lock(&self, id: &str) -> Result<String, LockProblem> {
        let info = LockInfo { id: id.into(), who: "somebody@here".into(), ..LockInfo::default() };
        wait(&*self.store, self.store.lock("default", &info))
    }

    fn names(&self) -> Vec<String> {
        self.kept.lock().objects.keys().cloned().collect()
    }
}

#[track_caller]
fn overtaken(refused: Result<Version, Refused>, by: &str) {
    match refused {
        Err(Refused::Overtaken(there)) => assert_eq!(String::from_utf8_lossy(&there), by),
        other => panic!("expected to be overtaken: {other:?}"),
    }
}

#[test]
fn a_state_is_written_only_over_the_generation_that_was_read() {
    for tells in [true, false] {
        let it = scene(&[]);
        it.kept.lock().tells_generation = tells;
        let (bytes, nothing) = it.read();
        assert!(bytes.is_empty());
        let first = it.write("one", &nothing).expect("written");
        assert_eq!(it.read(), (b"one".to_vec(), first.clone()));
        overtaken(it.write("zero", &nothing), "one");
        it.write("two", &first).expect("written");
        overtaken(it.write("late", &first), "two");
        assert_eq!(it.names(), ["net/default.tfstate"]);
    }
}

#[test]
fn what_became_of_a_write_without_an_answer_is_read_back() {
    let it = scene(&[]);
    let (_, nothing) = it.read();
    it.double.fault("POST", "/upload", Fault::AnswerLost);
    let first = it.write("one", &nothing).expect("written");
    assert_eq!(it.read(), (b"one".to_vec(), first.clone()));
    it.double.fault("POST", "/upload", Fault::Busy);
    it.double.fault("POST", "/upload", Fault::Lost);
    it.write("two", &first).expect("written");
}

#[test]
fn a_lock_goes_by_its_generation() {
    let it = scene(&[]);
    it.double.fault("POST", "/upload", Fault::AnswerLost);
    let id = it.lock("mine").expect("the lock, although the answer was lost");
    assert_eq!(it.names(), ["net/default.tflock"]);
    let Err(LockProblem::Locked(holder)) = it.lock("other") else { panic!("locked twice") };
    assert_eq!((holder.id, &*holder.path), (id.clone(), "gs://states/net/default.tflock"));
    let unlock = |id: &str| wait(&*it.store, it.store.force_unlock("default", id));
    assert!(unlock("mine").is_err() && unlock("77").is_err());
    unlock(&id).expect("removed");
    assert!(it.names().is_empty() && unlock(&id).is_err());
}

#[test]
fn a_lost_lock_stops_the_next_write() {
    for is_stolen in [false, true] {
        let it = scene(&[]);
        it.lock("mine").expect("the lock");
        let (_, nothing) = it.read();
        let seen = it.write("one", &nothing).expect("written");
        match is_stolen {
            false => it.kept.lock().objects.remove("net/default.tflock"),
            true => {
                it.kept.lock().objects.insert("net/default.tflock".into(), (99, b"{}".to_vec()))
            }
        };
        let asked = wait(&*it.store, it.store.ask_lock("default")).expect("an answer");
        let told = if is_stolen { "belongs to somebody else now" } else { "is gone" };
        assert!(asked.is_some_and(|why| why.contains(told)));
        assert!(matches!(it.write("two", &seen), Err(Refused::LockLost(_))));
        assert_eq!(it.read().0, b"one");
    }
}

#[test]
fn workspaces_are_the_states_below_the_prefix() {
    let it = scene(&[]);
    for name in
        ["net/b.tfstate", "net/default.tfstate", "net/a.tflock", "net/deep/c.tfstate", "d.tfstate"]
    {
        it.kept.lock().objects.insert(name.into(), (1, Vec::new()));
    }
    let list = || wait(&*it.store, it.store.list()).expect("a list");
    assert_eq!(list(), ["default", "b"]);
    wait(&*it.store, it.store.delete("b")).expect("deleted");
    assert_eq!(list(), ["default"]);
    it.kept.lock().objects.clear();
    assert_eq!(list(), ["default"]);
}

#[test]
fn a_key_goes_with_states_and_not_with_locks() {
    let key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    let it = scene(&[("encryption_key", key)]);
    it.lock("mine").expect("the lock");
    let (_, nothing) = it.read();
    it.write("one", &nothing).expect("written");
    let log = it.double.log.lock();
    let puts: Vec<_> = log.iter().filter(|it| it.method == "POST").collect();
    let keys: Vec<_> = puts.iter().map(|it| it.header("x-goog-encryption-key")).collect();
    assert_eq!(keys, [None, Some(key)]);
    assert_eq!(puts[1].header("authorization"), Some("Bearer very-secret"));
    assert_eq!(puts[1].header("content-type"), Some("text/plain; charset=utf-8"));
}

#[test]
fn what_is_wrong_is_told_and_no_secret_with_it() {
    let it = scene(&[("bucket", "other")]);
    let told = wait(&*it.store, it.store.read("default")).expect_err("no bucket").to_string();
    assert!(told.contains("\"other\" must be made") && !told.contains("very-secret"), "{told}");
    for (setting, part) in [
        (("encryption_key", "hush"), "32 bytes in base64"),
        (("kms_encryption_key", "k"), ""),
        (("storage_custom_endpoint", "http://"), "no address"),
    ] {
        let told = open("http://127.0.0.1:1", &[setting]);
        assert!(told.is_err() != part.is_empty(), "{setting:?}");
        assert!(told.err().is_none_or(|it| it.words().contains(part)), "{setting:?}");
    }
    let both = [
        ("encryption_key", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="),
        ("kms_encryption_key", "k"),
    ];
    assert!(
        open("http://127.0.0.1:1", &both)
            .expect_err("both")
            .words()
            .contains("only one of the two")
    );
}

#[test]
fn credentials_that_are_none_are_told_and_not_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    };
    let text = file("text.json", "hush, no JSON");
    for (credentials, part) in [
        (text.as_str(), "holds no JSON of credentials"),
        ("/no/such/file.json", "neither the path of a file that is there nor the JSON"),
    ] {
        // Tokens come before credentials, and an empty one is none.
        let settings = [("credentials", credentials), ("access_token", "")];
        let told = open("http://127.0.0.1:1", &settings).expect_err("no credentials");
        assert!(told.words().contains(part) && !told.words().contains("hush"), "{told}");
    }
}
