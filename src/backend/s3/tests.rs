//! A store in S3 against a double of S3 and DynamoDB that loses answers, forgets conditions and tells lies.

use std::sync::Arc;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::objects::md5_hex;
use crate::backend::cloud::double::{Asked, Double, Fault, Reply};
use crate::backend::local::Choice;
use crate::backend::lock::{LockInfo, LockProblem, NotUnlocked};
use crate::backend::registry;
use crate::backend::store::{Refused, Store, Version, wait};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::value::Value;
use crate::world::World;

mod roles;
mod served;

use served::{Shared, answer};

/// A store, the double that it speaks to, and what that keeps.
struct Scene {
    store: Arc<dyn Store>,
    double: Double,
    kept: Shared,
}

fn scene(settings: &[(&str, Value)]) -> Scene {
    let kept: Shared = Arc::default();
    kept.lock().keeps_conditions = true;
    let shared = kept.clone();
    let double = Double::start(move |asked| answer(&shared, asked));
    let store = open(&double.url(), settings).expect("a store");
    Scene { store, double, kept }
}

fn open(url: &str, settings: &[(&str, Value)]) -> Result<Arc<dyn Store>, Error> {
    open_in(url, settings, &[])
}

fn open_in(
    url: &str,
    settings: &[(&str, Value)],
    variables: &[(&str, &str)],
) -> Result<Arc<dyn Store>, Error> {
    let kind = registry::kind("s3").expect("the kind is there");
    let text = |it: &str| Value::string(it);
    let usual = [
        ("bucket", text("states")),
        ("key", text("net/a.tfstate")),
        ("region", text("eu-west-1")),
        ("access_key", text("AKIAOPEN")),
        ("secret_key", text("very-secret")),
        ("endpoint", text(url)),
        ("dynamodb_endpoint", text(url)),
        ("use_path_style", Value::Bool(true)),
        ("skip_credentials_validation", Value::Bool(true)),
        ("max_retries", Value::int(1)),
    ];
    let mut given = kind.unset();
    for (name, value) in usual.iter().chain(settings) {
        given.insert((*name).to_owned(), kind.setting(name, value).expect("a value that fits"));
    }
    let mut world = World::of_this_process();
    world.environment.retain(|name, _| !name.starts_with("AWS_"));
    let variables = variables.iter().map(|(name, it)| ((*name).to_owned(), (*it).to_owned()));
    world.environment.extend(variables);
    let opened = kind.open(&Arc::new(world), &given, &Choice::default());
    let detail = |it: &Diagnostic| it.detail.clone();
    opened.map_err(|it| it.iter().map(detail).collect::<Vec<_>>().join("\n").into())
}

const LOCKFILE: (&str, Value) = ("use_lockfile", Value::Bool(true));

fn with_table() -> (&'static str, Value) {
    ("dynamodb_table", Value::string("locks"))
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

    fn unlock(&self, id: &str) -> Result<(), NotUnlocked> {
        wait(&*self.store, self.store.unlock("default", id))
    }

    fn stored(&self) -> Vec<String> {
        let kept = self.kept.lock();
        kept.objects
            .keys()
            .cloned()
            .chain(kept.items.keys().map(|it| format!("item {it}")))
            .collect()
    }

    fn state(&self) -> String {
        let kept = self.kept.lock();
        let bytes = kept.objects.get("net/a.tfstate").cloned().unwrap_or_default();
        String::from_utf8(bytes).expect("text")
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
fn a_state_is_written_only_over_the_one_that_was_read() {
    let it = scene(&[]);
    let (bytes, nothing) = it.read();
    assert!(bytes.is_empty());
    let first = it.write("one", &nothing).expect("written");
    overtaken(it.write("zero", &nothing), "one");
    let second = it.write("two", &first).expect("written");
    overtaken(it.write("late", &first), "two");
    it.kept.lock().objects.clear();
    overtaken(it.write("late", &second), "");
    assert_eq!(it.state(), "");
}

#[test]
fn a_server_that_forgets_or_denies_conditions_is_asked_first() {
    for denies in [false, true] {
        let it = scene(&[]);
        (it.kept.lock().keeps_conditions, it.kept.lock().denies_conditions) = (false, denies);
        let (_, nothing) = it.read();
        let first = it.write("one", &nothing).expect("written");
        it.write("two", &first).expect("written");
        overtaken(it.write("late", &first), "two");
        assert_eq!(it.state(), "two");
    }
}

#[test]
fn what_became_of_a_write_without_an_answer_is_read_back() {
    let it = scene(&[]);
    let (_, nothing) = it.read();
    // Done, and told by nobody: the repetition meets its own work.
    it.double.fault("PUT", "a.tfstate", Fault::AnswerLost);
    let first = it.write("one", &nothing).expect("written");
    assert_eq!(it.read(), (b"one".to_vec(), first.clone()));
    // Lost both times: what was there still is.
    it.double.fault("PUT", "a.tfstate", Fault::Lost);
    it.double.fault("PUT", "a.tfstate", Fault::Lost);
    assert!(matches!(it.write("two", &first), Err(Refused::Failed(_))));
    assert_eq!(it.state(), "one");
    // Nobody can tell, for reading back has no answer either.
    it.double.fault("PUT", "a.tfstate", Fault::AnswerLost);
    it.double.fault("PUT", "a.tfstate", Fault::Lost);
    it.double.fault("GET", "a.tfstate", Fault::Lost);
    it.double.fault("GET", "a.tfstate", Fault::Lost);
    assert!(matches!(it.write("two", &first), Err(Refused::Unsettled(_))));
    assert_eq!(it.state(), "two");
    // Busy is asked again.
    let (_, seen) = it.read();
    it.double.fault("PUT", "a.tfstate", Fault::Busy);
    it.write("three", &seen).expect("written");
}

#[test]
fn a_lock_is_an_object_an_item_or_both_and_taken_whole() {
    for (settings, names) in [
        (vec![LOCKFILE], vec!["net/a.tfstate.tflock"]),
        (vec![with_table()], vec!["item states/net/a.tfstate"]),
        (vec![LOCKFILE, with_table()], vec!["net/a.tfstate.tflock", "item states/net/a.tfstate"]),
    ] {
        let it = scene(&settings);
        assert_eq!(it.lock("1").expect("the lock"), "1");
        assert_eq!(it.stored(), names);
        let Err(LockProblem::Locked(holder)) = it.lock("2") else { panic!("locked twice") };
        assert_eq!((&*holder.id, &*holder.path), ("1", "states/net/a.tfstate"));
        assert!(it.unlock("2").is_err());
        it.unlock("1").expect("given back");
        assert_eq!(it.stored(), Vec::<String>::new());
    }
    let it = scene(&[LOCKFILE, with_table()]);
    let item =
        json!({ "LockID": { "S": "states/net/a.tfstate" }, "Info": { "S": "{\"ID\":\"9\"}" } });
    it.kept.lock().items.insert("states/net/a.tfstate".into(), item);
    assert!(matches!(it.lock("1"), Err(LockProblem::Locked(_))));
    assert_eq!(
        it.stored(),
        ["item states/net/a.tfstate"],
        "the object that was taken first remains"
    );
}

#[test]
fn a_lock_whose_answer_was_lost_is_ours() {
    for settings in [LOCKFILE, with_table()] {
        let it = scene(std::slice::from_ref(&settings));
        let method = if settings.0 == "use_lockfile" { "PUT" } else { "POST" };
        it.double.fault(method, "", Fault::AnswerLost);
        assert_eq!(it.lock("1").expect("the lock"), "1");
        let method = if settings.0 == "use_lockfile" { "DELETE" } else { "POST" };
        it.double.fault(method, "", Fault::AnswerLost);
        it.unlock("1").expect("given back");
        assert_eq!(it.stored(), Vec::<String>::new());
    }
}

#[test]
fn a_lost_lock_stops_the_next_write() {
    for (change, told) in [
        (None, "net/a.tfstate.tflock is gone"),
        (Some("{\"ID\":\"2\",\"Who\":\"thief@there\"}"), "belongs to thief@there now (ID 2)"),
        (Some("{"), "cannot be read"),
    ] {
        let it = scene(&[LOCKFILE]);
        it.lock("1").expect("the lock");
        let (_, nothing) = it.read();
        let seen = it.write("one", &nothing).expect("written");
        let held = wait(&*it.store, it.store.ask_lock("default")).expect("an answer");
        assert_eq!(held, None);
        let lock = "net/a.tfstate.tflock".to_owned();
        match change {
            None => it.kept.lock().objects.remove(&lock),
            Some(text) => it.kept.lock().objects.insert(lock, text.into()),
        };
        let asked = wait(&*it.store, it.store.ask_lock("default")).expect("an answer");
        assert!(asked.is_some_and(|why| why.contains(told)), "{told}");
        match it.write("two", &seen) {
            Err(Refused::LockLost(why)) => assert!(why.contains(told), "{why}"),
            other => panic!("expected the lock to be lost: {other:?}"),
        }
        assert_eq!(it.state(), "one");
    }
}

#[test]
fn a_digest_that_does_not_fit_is_told_and_mended_with_the_lock() {
    let it = scene(&[with_table()]);
    it.lock("1").expect("the lock");
    let (_, nothing) = it.read();
    it.write("one", &nothing).expect("written");
    let item = "states/net/a.tfstate-md5".to_owned();
    let digest = || it.kept.lock().items[&item]["Digest"]["S"].clone();
    assert_eq!(digest(), json!(md5_hex(b"one")));
    // A run was killed between the two writes.
    it.kept.lock().objects.insert("net/a.tfstate".into(), b"two".to_vec());
    let told = wait(&*it.store, it.store.read("default")).expect_err("a mismatch").to_string();
    assert!(told.contains(&md5_hex(b"two")) && told.contains("net/a.tfstate-md5"), "{told}");
    wait(&*it.store, it.store.force_unlock("default", "1")).expect("removed");
    assert_eq!((digest(), it.read().0), (json!(md5_hex(b"two")), b"two".to_vec()));
}

#[test]
fn workspaces_are_what_has_a_state() {
    let it = scene(&[]);
    for key in [
        "env:/b/net/a.tfstate",
        "env:/a/net/a.tfstate",
        "env:/c/other",
        "env:/a/net/a.tfstate.tflock",
        "net/a.tfstate",
    ] {
        it.kept.lock().objects.insert(key.into(), b"x".to_vec());
    }
    let listed = || wait(&*it.store, it.store.list()).expect("a list");
    assert_eq!(listed(), ["default", "a", "b"]);
    wait(&*it.store, it.store.delete("a")).expect("deleted");
    assert_eq!(listed(), ["default", "b"]);
    assert!(wait(&*it.store, it.store.delete("default")).is_err());
    let bare =
        open(&it.double.url(), &[("workspace_key_prefix", Value::string(""))]).expect("a store");
    it.kept.lock().objects.insert("z/net/a.tfstate".into(), b"x".to_vec());
    assert_eq!(wait(&*bare, bare.list()).expect("a list"), ["default", "z"]);
}

#[test]
fn what_is_put_says_how_it_is_to_be_kept() {
    let key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    let tags = Value::map(crate::value::Type::STRING, [("a b".into(), Value::string("c&d"))]);
    let it = scene(&[
        ("encrypt", Value::Bool(true)),
        ("sse_customer_key", Value::string(key)),
        ("acl", Value::string("private")),
        ("state_tags", tags),
    ]);
    let (_, nothing) = it.read();
    it.write("one", &nothing).expect("written");
    let log = it.double.log.lock();
    let put = log.iter().find(|it| it.method == "PUT").expect("a put");
    let header = |name: &str| put.header(name).unwrap_or_default().to_owned();
    assert_eq!(header("x-amz-server-side-encryption-customer-key"), key);
    assert_eq!(header("x-amz-server-side-encryption-customer-key-md5"), "KYvwGXoFFJ42a2u2GDWhwQ==");
    assert_eq!(header("x-amz-acl"), "private");
    assert_eq!(header("x-amz-tagging"), "a%20b=c%26d");
    assert_eq!(header("x-amz-checksum-sha256"), "dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=");
    assert!(header("authorization").starts_with("AWS4-HMAC-SHA256 Credential=AKIAOPEN/"));
    let get = log.iter().find(|it| it.method == "GET").expect("a get");
    assert_eq!(get.header("x-amz-server-side-encryption-customer-algorithm"), Some("AES256"));
}

#[test]
fn what_is_no_s3_is_told_and_no_secret_with_it() {
    let page = |_: &Asked| Reply::text(200, "text/html", "<!DOCTYPE html><p>Welcome");
    let moved =
        |_: &Asked| Reply::status(302).with("location", "http://127.0.0.1/loop?token=secret");
    let bare = |_: &Asked| Reply::text(200, "application/json", "{}");
    for (double, part) in [
        (Double::start(page), "a page for people (HTML, status 200)"),
        (Double::start(moved), "sends requests on to http://127.0.0.1/loop (status 302)"),
        (Double::start(bare), "does not speak S3"),
    ] {
        let store = open(&double.url(), &[]).expect("a store");
        let told = wait(&*store, store.read("default")).expect_err("no S3").to_string();
        assert!(told.contains(part) && !told.contains("secret"), "{told}");
    }
    let nobody = open("http://127.0.0.1:1", &[("max_retries", Value::int(0))]).expect("a store");
    let told = wait(&*nobody, nobody.read("default")).expect_err("nobody").to_string();
    assert!(told.contains("127.0.0.1:1 does not answer") && !told.contains("secret"), "{told}");
}

#[test]
fn settings_that_make_no_sense_are_told() {
    let told =
        |settings: &[(&str, Value)]| open("http://127.0.0.1:1", settings).expect_err("no store");
    let text = |it: &str| Value::string(it);
    for (settings, part) in [
        (vec![("key", text("/a"))], "must not start or end"),
        (vec![("region", text("nowhere"))], "\"nowhere\" is no region"),
        (vec![("retry_mode", text("often"))], "neither \"standard\" nor"),
        (vec![("kms_key_id", text("k"))], "of a KMS key"),
        (vec![("sse_customer_key", text("hush-hush"))], "32 bytes in base64"),
        (vec![("force_path_style", Value::Bool(true))], "only one can be set"),
        (vec![("max_retries", Value::int(-1))], "not negative"),
        (
            vec![("assume_role_policy_arns", Value::tuple(vec![text("x")]))],
            "not the ARN of an IAM policy",
        ),
    ] {
        let text = told(&settings);
        let words = text.words();
        assert!(words.contains(part) && !words.contains("hush"), "{text}");
    }
}
