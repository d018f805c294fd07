//! A store in Azure against a double of Blob Storage that keeps leases and loses answers.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use parking_lot::Mutex;
use pretty_assertions::assert_eq;
use reqsign_azure_storage::{RequestSigner, StaticCredentialProvider};
use reqsign_core::{Context, Signer};
use tokio::sync::OnceCell;

use super::blobs::Container;
use super::environment::{Cloud, Environment};
use super::identity::Identity;
use super::service::Azure;
use super::settings::{Access, Settings};
use super::{Azurerm, RECORD};
use crate::backend::cloud::double::{Asked, Double, Fault, Reply};
use crate::backend::cloud::{Route, Way};
use crate::backend::local::Choice;
use crate::backend::lock::{LockInfo, LockProblem};
use crate::backend::registry;
use crate::backend::store::{Refused, Store, Version, wait};
use crate::value::Value;
use crate::world::World;

/// A blob of the double.
#[derive(Clone, Default)]
struct Kept {
    bytes: Vec<u8>,
    tag: u64,
    lease: Option<String>,
    metadata: BTreeMap<String, String>,
}

type Shared = Arc<Mutex<BTreeMap<String, Kept>>>;

fn error(status: u16, code: &str) -> Reply {
    Reply::status(status).with("x-ms-error-code", code)
}

fn answer(kept: &Shared, asked: &Asked) -> Reply {
    let mut kept = kept.lock();
    let Some(name) = asked.path.strip_prefix("/states/") else {
        return error(404, "ContainerNotFound");
    };
    let latest = kept.values().map(|it| it.tag).max().unwrap_or_default() + 1;
    let there = kept.get(name).cloned();
    let metadata = asked.headers.iter().filter_map(|(name, value)| {
        Some((name.strip_prefix("x-ms-meta-")?.to_owned(), value.clone()))
    });
    let metadata: BTreeMap<_, _> = metadata.collect();
    let shown = asked.header("x-ms-lease-id");
    match (&*asked.method, asked.argument("comp").as_deref(), there) {
        ("PUT", None, there) => {
            let held = there.as_ref().and_then(|it| it.lease.clone());
            let tag = there.as_ref().map(|it| format!("\"{}\"", it.tag));
            if asked.header("if-none-match").is_some() && there.is_some() {
                return error(409, "BlobAlreadyExists");
            }
            match (held.as_deref(), shown) {
                (Some(_), None) => return error(412, "LeaseIdMissing"),
                (Some(held), Some(shown)) if held != shown => {
                    return error(412, "LeaseIdMismatchWithBlobOperation");
                }
                (None, Some(_)) => return error(412, "LeaseNotPresentWithBlobOperation"),
                _ => (),
            }
            if asked.header("if-match").is_some_and(|it| tag.as_deref() != Some(it)) {
                return error(412, "ConditionNotMet");
            }
            let (bytes, lease) = (asked.body.clone(), held);
            kept.insert(name.to_owned(), Kept { bytes, tag: latest, lease, metadata });
            Reply::status(201).with("etag", &format!("\"{latest}\""))
        }
        (_, _, None) => error(404, "BlobNotFound"),
        ("PUT", Some("lease"), Some(it)) => {
            let is_taken = asked.header("x-ms-lease-action") == Some("acquire");
            let proposed = asked.header("x-ms-proposed-lease-id").map(str::to_owned);
            if is_taken && it.lease.is_some() && it.lease != proposed {
                return error(409, "LeaseAlreadyPresent");
            }
            if !is_taken && it.lease.as_deref() != shown {
                return error(409, "LeaseIdMismatchWithLeaseOperation");
            }
            kept.insert(name.to_owned(), Kept { lease: proposed.filter(|_| is_taken), ..it });
            Reply::status(if is_taken { 201 } else { 200 })
        }
        ("PUT", Some(_), Some(it)) => {
            kept.insert(name.to_owned(), Kept { metadata, tag: latest, ..it });
            Reply::status(200)
        }
        (_, _, Some(it)) => {
            let reply = Reply::text(200, "application/json", it.bytes);
            let reply = reply.with("etag", &format!("\"{}\"", it.tag));
            let status = if it.lease.is_some() { "locked" } else { "unlocked" };
            let reply = reply.with("x-ms-lease-status", status);
            it.metadata
                .iter()
                .fold(reply, |reply, (name, value)| reply.with(&format!("x-ms-meta-{name}"), value))
        }
    }
}

struct Scene {
    store: Azurerm,
    double: Double,
    kept: Shared,
}

/// Returns a store that speaks to the double: only that way can be had without the names and certificates of Azure.
fn scene() -> Scene {
    let kept: Shared = Arc::default();
    let shared = kept.clone();
    scene_before(Double::start(move |asked| answer(&shared, asked)), kept)
}

/// Returns a store that speaks to this double.
fn scene_before(double: Double, kept: Shared) -> Scene {
    let (account, container) = ("acc".to_owned(), "states".to_owned());
    let key = "dmVyeS1zZWNyZXQ=";
    let known = StaticCredentialProvider::new_shared_key(&account, key);
    let settings = Settings {
        account: account.clone(),
        container: container.clone(),
        blob: "net.tfstate".into(),
        makes_snapshots: false,
        environment: Cloud::Known(Environment::named("").expect("the public cloud")),
        access: Access::Key(key.into()),
        tenant: None,
        key: None,
        scope: None,
        timeout: std::time::Duration::from_secs(10),
    };
    let asked = Container {
        way: Way {
            client: Route::default().client(&World::of_this_process()).expect("a client"),
            signer: Some(Signer::new(Context::new(), known, RequestSigner::new())),
            retries: 1,
            service: Arc::new(Azure { account, container }),
        },
        address: format!("{}/states", double.url()),
        key: None,
        scope: None,
    };
    let store = Azurerm {
        world: Arc::new(World::of_this_process()),
        settings,
        container: OnceCell::new_with(Some(asked)),
        held: Mutex::default(),
    };
    Scene { store, double, kept }
}

impl Scene {
    fn read(&self) -> (Vec<u8>, Version) {
        let content = wait(&self.store, self.store.read("default")).expect("a state");
        (content.bytes, content.version)
    }

    fn write(&self, text: &str, seen: &Version) -> Result<Version, Refused> {
        wait(
            &self.store,
            self.store.write("default", &bytes::Bytes::copy_from_slice(text.as_bytes()), seen),
        )
    }

    fn lock(&self, id: &str) -> Result<String, LockProblem> {
        let info = LockInfo { id: id.into(), who: "somebody@here".into(), ..LockInfo::default() };
        wait(&self.store, self.store.lock("default", &info))
    }

    fn blob(&self) -> Kept {
        self.kept.lock().get("net.tfstate").cloned().unwrap_or_default()
    }
}

#[test]
fn a_state_is_written_only_over_the_one_that_was_read() {
    let it = scene();
    let (bytes, nothing) = it.read();
    assert!(bytes.is_empty());
    let first = it.write("one", &nothing).expect("written");
    assert!(
        matches!(it.write("zero", &nothing), Err(Refused::Overtaken(there)) if there == b"one")
    );
    it.write("two", &first).expect("written");
    assert!(matches!(it.write("late", &first), Err(Refused::Overtaken(there)) if there == b"two"));
    let (_, seen) = it.read();
    it.double.fault("PUT", "net", Fault::AnswerLost);
    it.write("three", &seen).expect("written, and told by reading back");
    assert_eq!(it.blob().bytes, b"three");
    let (_, seen) = it.read();
    it.double.fault("PUT", "net", Fault::Busy);
    it.write("four", &seen).expect("written the second time");
    let (_, seen) = it.read();
    it.double.fault("PUT", "net", Fault::Lost);
    it.write("five", &seen).expect("written the second time");
    assert_eq!(it.blob().bytes, b"five");
}

#[test]
fn a_request_whose_answer_stops_is_not_repeated() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let log: Arc<Mutex<Vec<Asked>>> = Arc::default();
    let double = Double { port, log: log.clone(), faults: Arc::default() };
    std::thread::spawn(move || {
        // They stay open.
        let mut streams = Vec::new();
        for mut stream in listener.incoming().flatten() {
            log.lock().push(Asked::default());
            let _ = stream.read(&mut [0; 4096]);
            let head = "HTTP/1.1 200 OK\r\netag: \"1\"\r\ncontent-length: 100\r\n\r\n{";
            let _ = stream.write_all(head.as_bytes());
            streams.push(stream);
        }
    });
    let it = scene_before(double, Shared::default());
    let told = wait(&it.store, it.store.read("default")).expect_err("no answer").to_string();
    assert!(told.contains("stopped sending"), "{told}");
    assert_eq!(it.double.log.lock().len(), 1);
}

#[test]
fn a_secret_that_the_service_repeats_is_not_shown() {
    let double = Double::start(|asked| {
        let shown = asked.header("authorization").unwrap_or_default();
        let signature = shown.rsplit(':').next().unwrap_or_default();
        let body = format!(
            "<Error><Code>AuthenticationFailed</Code><Message>No: {shown}, {signature}.</Message></Error>"
        );
        Reply::text(403, "application/xml", body)
    });
    let it = scene_before(double, Shared::default());
    let told = wait(&it.store, it.store.read("default")).expect_err("it is denied").to_string();
    assert!(told.contains("AuthenticationFailed: No: (sensitive), (sensitive)."), "{told}");
}

#[test]
fn a_lock_is_a_lease_and_its_record_stays_with_each_write() {
    let it = scene();
    it.double.fault("PUT", "net", Fault::AnswerLost);
    assert_eq!(it.lock("1").expect("the lock"), "1");
    let Err(LockProblem::Locked(holder)) = it.lock("2") else { panic!("locked twice") };
    assert!(holder.id == "1" && holder.path.ends_with("/states/net.tfstate"), "{holder:?}");
    let (_, seen) = it.read();
    it.write("one", &seen).expect("written");
    assert!(it.blob().metadata.contains_key(RECORD) && it.blob().lease.as_deref() == Some("1"));
    let unlock = |id: &str| wait(&it.store, it.store.force_unlock("default", id));
    assert!(unlock("2").is_err());
    unlock("1").expect("removed");
    assert!(!it.blob().metadata.contains_key(RECORD) && it.blob().lease.is_none());
    assert!(unlock("1").is_err());
}

#[test]
fn a_lost_lease_stops_the_next_write() {
    for lease in [None, Some("2".to_owned())] {
        let it = scene();
        it.lock("1").expect("the lock");
        let (_, seen) = it.read();
        let seen = it.write("one", &seen).expect("written");
        // Who has it then stands in the metadata; the service alone knows whose it is where that was not changed.
        let is_known = lease.is_none();
        it.kept.lock().get_mut("net.tfstate").expect("a blob").lease = lease;
        let asked = wait(&it.store, it.store.ask_lock("default")).expect("an answer");
        assert_eq!(asked.is_some(), is_known, "{asked:?}");
        assert!(matches!(it.write("two", &seen), Err(Refused::LockLost(_))));
        assert_eq!(it.blob().bytes, b"one");
    }
}

#[test]
fn a_lease_without_a_record_can_be_ended_by_its_id() {
    let it = scene();
    it.lock("1").expect("the lock");
    it.kept.lock().get_mut("net.tfstate").expect("a blob").metadata.clear();
    let Err(LockProblem::Held(Err(why))) = it.lock("2") else { panic!("locked twice") };
    assert!(why.words().contains("does not say who holds it"), "{why}");
    let unlock = |id: &str| wait(&it.store, it.store.force_unlock("default", id));
    assert!(unlock("2").is_err());
    unlock("1").expect("ended");
    assert_eq!(it.blob().lease, None);
}

/// Returns a store that asks the double for the key of its account, as an identity with a secret.
fn store_of_identity(double: &Double) -> Azurerm {
    let cloud = Environment {
        suffix: "blob.test".into(),
        login: double.url(),
        manager: double.url(),
        audience: "https://manager.test/".into(),
    };
    let secret = Identity::Secret { client: "c".into(), secret: "hush".into() };
    let mut settings = scene().store.settings;
    settings.environment = Cloud::Known(cloud);
    settings.tenant = Some("t".into());
    settings.access = Access::KeyOf {
        identity: Arc::new(secret),
        subscription: Some("sub".into()),
        group: "group".into(),
    };
    Azurerm {
        world: Arc::new(World::of_this_process()),
        settings,
        container: OnceCell::new(),
        held: Mutex::default(),
    }
}

#[test]
fn a_token_that_the_resource_manager_repeats_is_not_shown() {
    let double = Double::start(|asked| match asked.header("authorization") {
        Some(shown) => {
            let body = format!(r#"{{"error": {{"message": "no rights: {shown}"}}}}"#);
            Reply::text(403, "application/json", body)
        }
        None => {
            Reply::text(200, "application/json", r#"{"access_token":"proof","expires_in":3600}"#)
        }
    });
    let store = store_of_identity(&double);
    let told = wait(&store, store.read("default")).expect_err("it is denied").to_string();
    assert!(told.contains("no rights: (sensitive)") && !told.contains("proof"), "{told}");
}

#[test]
fn the_key_of_the_account_is_asked_for_as_an_identity() {
    let double = Double::start(|asked| match asked.path.ends_with("/listKeys") {
        true => Reply::text(200, "application/json", r#"{"keys":[{"value":"dmVyeS1zZWNyZXQ="}]}"#),
        false => {
            Reply::text(200, "application/json", r#"{"access_token":"proof","expires_in":3600}"#)
        }
    });
    let store = store_of_identity(&double);
    let address =
        wait(&store, async { Ok::<_, std::io::Error>(store.container().await?.address.clone()) });
    assert_eq!(address.expect("a container"), "https://acc.blob.blob.test/states");
    let log = double.log.lock();
    let body = String::from_utf8_lossy(&log[0].body);
    assert_eq!(log[0].path, "/t/oauth2/v2.0/token");
    assert!(body.contains("scope=https%3A%2F%2Fmanager.test%2F.default"), "{body}");
    assert_eq!(
        log[1].path,
        "/subscriptions/sub/resourceGroups/group/providers/Microsoft.Storage/storageAccounts/acc/listKeys"
    );
    assert_eq!(log[1].header("authorization"), Some("Bearer proof"));
}

#[track_caller]
fn check(settings: &[(&str, Value)], part: &str) {
    let kind = registry::kind("azurerm").expect("the kind is there");
    let text = |it: &str| Value::string(it);
    let usual = [
        ("storage_account_name", text("acc")),
        ("container_name", text("states")),
        ("key", text("net.tfstate")),
        ("use_cli", Value::Bool(false)),
    ];
    let mut given = kind.unset();
    for (name, value) in usual.iter().chain(settings) {
        given.insert((*name).to_owned(), kind.setting(name, value).expect("a value that fits"));
    }
    let mut world = World::of_this_process();
    world.environment.retain(|name, _| !name.starts_with("ARM_"));
    let opened = kind.open(&Arc::new(world), &given, &Choice::default());
    let told =
        opened.err().map(|it| it.iter().map(|it| it.detail.clone()).collect::<Vec<_>>().join("\n"));
    let told = told.unwrap_or_default();
    assert!(told.contains(part) && told.is_empty() == part.is_empty(), "{told:?}");
    assert!(!told.contains("hush"), "{told}");
}

#[test]
fn settings_lead_to_an_identity_or_are_told() {
    let text = |it: &str| Value::string(it);
    let (client, tenant) = (("client_id", text("c")), ("tenant_id", text("t")));
    let azuread = ("use_azuread_auth", Value::Bool(true));
    check(&[("access_key", text("aHVzaA=="))], "");
    check(&[("sas_token", text("?sv=1"))], "");
    check(&[("access_key", text("hush!"))], "base64");
    check(&[], "nothing says as whom");
    check(&[client.clone(), tenant.clone(), ("client_secret", text("hush")), azuread.clone()], "");
    check(
        &[client.clone(), tenant.clone(), ("client_secret", text("hush"))],
        "\"resource_group_name\"",
    );
    check(
        &[("use_msi", Value::Bool(true)), ("resource_group_name", text("g"))],
        "\"subscription_id\"",
    );
    check(
        &[("use_oidc", Value::Bool(true)), client.clone(), tenant.clone(), azuread.clone()],
        "\"oidc_token\"",
    );
    check(&[("client_certificate", text("MTIz")), client, tenant, azuread], "openssl pkcs12");
    check(
        &[("storage_account_name", text("A_b")), ("container_name", text("a--b"))],
        "single hyphens",
    );
    check(&[("environment", text("moon"))], "no cloud \"moon\"");
    check(&[("customer_provided_key", text("hush"))], "32 bytes in base64");
}
