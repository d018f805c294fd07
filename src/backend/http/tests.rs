//! What users are told of a server of states that is none, or that nobody vouches for.

use std::sync::Arc;

#[cfg(feature = "cloud")]
use crate::backend::cloud::double::{Asked, Double, Reply};
use crate::backend::local::Choice;
use crate::backend::registry;
use crate::backend::store::{Store, wait};
use crate::install::tests::server::{Reply as Answer, Server};
use crate::value::Value;
use crate::world::World;

fn open(address: &str, more: &[(&str, Value)]) -> Arc<dyn Store> {
    let kind = registry::kind("http").expect("the kind is there");
    let mut given = kind.unset();
    let address = [("address", Value::string(address)), ("retry_max", Value::int(0))];
    for (name, value) in address.iter().chain(more) {
        let value = kind.setting(name, value).expect("a value that fits");
        given.insert((*name).to_owned(), value);
    }
    let mut world = World::of_this_process();
    world.environment.retain(|name, _| !name.starts_with("TF_") && !name.starts_with("SSL_"));
    kind.open(&Arc::new(world), &given, &Choice::default()).expect("a store")
}

fn told(store: &dyn Store) -> String {
    wait(store, store.read("default")).expect_err("it is no state").to_string()
}

#[cfg(feature = "cloud")]
#[test]
fn a_page_is_no_state_and_a_redirection_ends() {
    let page = Double::start(|_: &Asked| {
        Reply::text(200, "text/html; charset=utf-8", "<!doctype html><p>Log in")
    });
    let text = told(&*open(&format!("{}/s?token=hush", page.url()), &[]));
    assert!(
        text.contains("a page for people (HTML, status 200)") && !text.contains("hush"),
        "{text}"
    );
    let moved = Double::start(|_: &Asked| Reply::status(302).with("location", "/again?token=hush"));
    let text = told(&*open(&moved.url(), &[]));
    assert!(text.contains("redirect") && !text.contains("hush"), "{text}");
    assert_eq!(moved.log.lock().len(), 11);
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_told_with_what_can_be_done() {
    let server = Server::secure();
    server.at("/s", Answer::bytes("{}"));
    let address = format!("https://localhost:{}/s", server.port);
    let text = told(&*open(&address, &[]));
    assert!(text.contains("client_ca_certificate_pem or SSL_CERT_FILE"), "{text}");
    assert!(server.paths().is_empty(), "nothing is sent to who is not known");
    // Named, or with any certificate taken, it is read.
    let authority = Value::string(server.certificate.as_deref().expect("it has one"));
    for more in
        [("client_ca_certificate_pem", authority), ("skip_cert_verification", Value::Bool(true))]
    {
        let store = open(&address, &[more]);
        assert_eq!(wait(&*store, store.read("default")).expect("it is read").bytes, b"{}");
    }
}

#[cfg(feature = "cloud")]
mod untrue {
    //! Answers that are none: nothing is taken for a state, for stored or for locked because a status says so.

    use bytes::Bytes;

    use super::*;
    use crate::backend::lock::LockInfo;
    use crate::backend::store::{Refused, Version};

    const STATE: &str = "{\"version\": 4}";

    /// A server that has a state, and answers to one method in its own way.
    fn server(method: &'static str, reply: Reply) -> Double {
        Double::start(move |asked: &Asked| match asked.method.as_str() {
            it if it == method => reply.clone(),
            "GET" => Reply::text(200, "application/json", STATE),
            _ => Reply::status(200),
        })
    }

    fn secret() -> (&'static str, Value) {
        let headers = [("Private-Token".into(), Value::string("hush"))];
        ("headers", Value::map(crate::value::Type::STRING, headers))
    }

    fn written(store: &dyn Store, expected: &Version) -> String {
        let bytes = Bytes::from_static(b"{\"version\": 4, \"serial\": 2}");
        match wait(store, store.write("default", &bytes, expected)) {
            Ok(_) => "stored".into(),
            Err(Refused::Failed(why)) => why.to_string(),
            Err(other) => format!("{other:?}"),
        }
    }

    #[test]
    fn nothing_is_no_state_and_does_not_say_that_there_is_none() {
        for body in ["", " \n"] {
            let store = open(&server("GET", Reply::text(200, "application/json", body)).url(), &[]);
            assert!(told(&*store).contains("status 200 and an empty body"), "{body:?}");
            let text = written(&*store, &super::super::version(b""));
            assert!(text != "stored" && !text.contains("Unsettled"), "{body:?}: {text}");
        }
        for status in [204, 404] {
            let store = open(&server("GET", Reply::status(status)).url(), &[]);
            assert!(wait(&*store, store.read("default")).expect("it is none").bytes.is_empty());
        }
    }

    #[test]
    fn a_page_is_no_sign_of_success() {
        for kind in ["text/html", "text/plain", "application/octet-stream"] {
            let page = || Reply::text(200, kind, "\n<!DOCTYPE html><title>Log in</title>");
            let store = open(&server("POST", page()).url(), &[]);
            let before = wait(&*store, store.read("default")).expect("it is read").version;
            assert!(written(&*store, &before).contains("a page for people"), "{kind}");
            for method in ["LOCK", "UNLOCK"] {
                let server = server(method, page());
                let more =
                    ["lock_address", "unlock_address"].map(|it| (it, Value::string(server.url())));
                let store = open(&server.url(), &more);
                let locked = wait(&*store, store.lock("default", &LockInfo::default()));
                let unlocked = wait(&*store, store.unlock("default", ""));
                assert_eq!(
                    (locked.is_err(), unlocked.is_err()),
                    (method == "LOCK", method == "UNLOCK")
                );
            }
        }
        // Simple servers call everything HTML.
        let store = open(&server("POST", Reply::text(200, "text/html", "ok")).url(), &[]);
        let before = wait(&*store, store.read("default")).expect("it is read").version;
        assert_eq!(written(&*store, &before), "stored");
    }

    #[test]
    fn what_is_written_is_sent_on_within_its_origin_alone() {
        let other = Double::start(|_: &Asked| Reply::status(200));
        for status in [301, 302, 303, 307, 308] {
            let away = Reply::status(status).with("location", &format!("{}/s", other.url()));
            for method in ["POST", "GET"] {
                let server = server(method, away.clone());
                let store = open(&server.url(), &[secret()]);
                let text = match method {
                    "GET" => told(&*store),
                    _ => {
                        let before = wait(&*store, store.read("default")).expect("it is read");
                        written(&*store, &before.version)
                    }
                };
                assert!(text.contains("sends the request on"), "{status} {method}: {text}");
                assert!(!text.contains("hush"), "{status} {method}: {text}");
            }
        }
        assert_eq!(other.log.lock().len(), 0, "no other origin hears of anything");
        // Within the origin everything goes along, and the method stays.
        for (status, is_followed) in
            [(301, false), (302, false), (303, false), (307, true), (308, true)]
        {
            let server = Double::start(move |asked: &Asked| match (&*asked.method, &*asked.path) {
                ("POST", "/s") => Reply::status(status).with("location", "/moved?a=b"),
                ("GET", _) => Reply::text(200, "application/json", STATE),
                _ => Reply::status(200),
            });
            let store = open(&format!("{}/s", server.url()), &[secret()]);
            let before = wait(&*store, store.read("default")).expect("it is read").version;
            assert_eq!(written(&*store, &before) == "stored", is_followed, "{status}");
            let log = server.log.lock();
            let moved = log.iter().find(|it| it.path == "/moved");
            assert_eq!(moved.is_some(), is_followed, "{status}");
            if let Some(moved) = moved {
                assert_eq!((&*moved.method, moved.header("private-token")), ("POST", Some("hush")));
                assert!(moved.body.ends_with(b"\"serial\": 2}"));
            }
        }
    }

    #[test]
    fn a_server_that_says_nothing_is_not_waited_for_without_end() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}/s", listener.local_addr().expect("an address"));
        let silent = std::thread::spawn(move || listener.incoming().take(1).collect::<Vec<_>>());
        let store = open(&address, &[("retry_max", Value::int(5))]);
        let since = std::time::Instant::now();
        assert!(told(&*store).contains("said nothing for"));
        assert!(since.elapsed() < std::time::Duration::from_secs(20), "it is tried once");
        drop(silent.join());
    }

    #[test]
    fn an_answer_that_drips_is_given_up() {
        use std::io::{Read as _, Write as _};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}/s", listener.local_addr().expect("an address"));
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("it is asked");
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
            while stream.write_all(b" ").is_ok() {
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        });
        let told = told(&*open(&address, &[]));
        assert!(told.contains("stopped sending"), "{told}");
    }
}
