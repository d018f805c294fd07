//! Phrases that other tools look for in errors of a network before they try again, as Terragrunt and Terratest do. They are those of the
//! language that OpenTofu is written in.

use std::error::Error;
use std::io::{self, ErrorKind};

/// A service did not answer in time.
pub(super) const UNANSWERED: &str = "Client.Timeout exceeded while awaiting headers";

/// Returns an error with what caused it, and with the phrase for it.
pub(crate) fn with_causes(error: &(dyn Error + 'static)) -> crate::error::Error {
    let told = crate::error::Error::with_causes(error);
    match phrase(error).filter(|it| !told.words().contains(it)) {
        Some(phrase) => format!("{told} ({phrase})").into(),
        None => told,
    }
}

/// Returns the phrase for an error, if there is one for it or for what caused it.
fn phrase(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let causes =
        std::iter::successors(Some(error), |it: &&(dyn Error + 'static)| Error::source(*it));
    causes.filter_map(own_phrase).last()
}

fn own_phrase(error: &(dyn Error + 'static)) -> Option<&'static str> {
    if let Some(error) = error.downcast_ref::<reqwest::Error>() {
        return match (error.is_timeout(), error.is_connect()) {
            (true, true) => Some("i/o timeout"),
            (true, false) => Some(UNANSWERED),
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        match error.kind() {
            ErrorKind::ConnectionRefused => return Some("connect: connection refused"),
            ErrorKind::ConnectionReset => return Some("connection reset by peer"),
            ErrorKind::TimedOut => return Some("i/o timeout"),
            _ => {}
        }
    }
    // The resolver has no kind of its own.
    error.to_string().starts_with("failed to lookup address").then_some("no such host")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the message of a request that fails.
    fn told(url: &str) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let world = crate::world::World::of_this_process();
        let tls = crate::backend::web::tls(&world, &Default::default()).expect("certificates");
        let client = reqwest::Client::builder().tls_backend_preconfigured(tls).no_proxy();
        let client = client.build().expect("a client");
        let request = client.get(url).timeout(std::time::Duration::from_millis(300));
        let error = runtime.expect("a runtime").block_on(async { request.send().await });
        let error = error.expect_err("no answer");
        super::super::onward::describe(error).to_string()
    }

    #[test]
    fn errors_of_a_network_are_found_by_who_tries_again() {
        let has = |told: String, phrase: &str| assert!(told.contains(phrase), "{told}");
        has(told("http://127.0.0.1:1/"), "connect: connection refused");
        has(told("http://nowhere.invalid/"), "no such host");
        let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = silent.local_addr().expect("its address").port();
        has(told(&format!("http://127.0.0.1:{port}/")), UNANSWERED);
        let reset = io::Error::from(ErrorKind::ConnectionReset);
        assert_eq!(phrase(&reset), Some("connection reset by peer"));
        assert_eq!(phrase(&io::Error::from(ErrorKind::NotFound)), None);
    }
}
