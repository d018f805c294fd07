//! Servers that show a trusted certificate of an authority as their own, and that end answers with the connection.

use crate::folder::{Folder, Service};
use crate::services::abrupt::Abrupt;

fn folder(server: &Abrupt) -> Folder {
    let arguments = format!("address = \"https://127.0.0.1:{}/state\"\nretry_max = 0", server.port);
    let folder = Folder::new(&Service::new("http", arguments).block(""));
    let authority = folder.path().join("authority.pem");
    std::fs::write(&authority, &server.certificate).expect("the folder takes files");
    folder.with("SSL_CERT_FILE", authority.display().to_string())
}

#[test]
fn a_trusted_authority_may_be_the_server_and_end_answers_with_the_connection() {
    let server = Abrupt::start();
    folder(&server).init().apply("first");
    let other = folder(&server);
    other.init();
    assert_eq!(other.output(), "first");
}

#[test]
fn an_answer_that_was_cut_is_no_state() {
    let server = Abrupt::start();
    folder(&server).init().apply("first");
    let other = folder(&server);
    other.init();
    for most in [1, 40, 200] {
        server.cut(most);
        other.run("plan -input=false").refuses("Error");
    }
    server.cut(usize::MAX);
    assert_eq!(other.output(), "first");
}

#[test]
fn an_authority_that_is_not_trusted_is_no_server() {
    let (server, another) = (Abrupt::start(), Abrupt::start());
    let folder = folder(&server);
    std::fs::write(folder.path().join("authority.pem"), another.certificate)
        .expect("the folder takes files");
    folder.run("init -input=false").refuses("certificate");
}
