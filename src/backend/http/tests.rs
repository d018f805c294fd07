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
