//! The address on this machine that a host calls back once somebody has logged in: one page, on one of the ports that it allows.

use std::ops::RangeInclusive;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::install::web::Url;
use crate::value::text::shown;
use crate::world::World;

/// How long a browser may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest request.
const LONGEST: usize = 32 << 10;
/// How many connections are looked at together.
const MOST: usize = 64;
/// The path that is called.
const PATH: &str = "/login";

/// What listens.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    port: u16,
}

/// The host called back, and gives no code: what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotGranted(pub String);

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Call {
    /// It brings the code.
    Code(String),
    /// It says that there will be none.
    Denied(NotGranted),
    /// It is none that was waited for: which status it is answered with, and why.
    Strange(u16, &'static str),
}

impl Listener {
    /// Listens on one of the ports. `None` where none of them is free.
    pub async fn open(ports: &RangeInclusive<u16>, world: &World) -> Option<Listener> {
        let mut chance = [0; 2];
        world.random(&mut chance);
        let count = u32::from(ports.end() - ports.start()) + 1;
        let first = u32::from(u16::from_ne_bytes(chance)) % count;
        for step in 0..count {
            let offset = u16::try_from((first + step) % count).unwrap_or_default();
            let port = ports.start() + offset;
            if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)).await {
                return Some(Listener { listener, port });
            }
        }
        None
    }

    /// Returns the address that is to be called.
    pub fn address(&self) -> String {
        format!("http://localhost:{}{PATH}", self.port)
    }

    /// Waits for the call that repeats `state`, and returns the code that it brings. Others are turned away.
    ///
    /// # Errors
    ///
    /// If the host says that it gives none.
    pub async fn code(&self, state: &str) -> Result<String, NotGranted> {
        let mut calls = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if calls.len() < MOST => match accepted {
                    Ok((stream, _)) => {
                        calls.spawn(serve(stream, state.to_owned()));
                    }
                    // The system may have no descriptor left for a while.
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                },
                Some(call) = calls.join_next() => match call {
                    Ok(Some(Call::Code(code))) => return Ok(code),
                    Ok(Some(Call::Denied(why))) => return Err(why),
                    _ => {}
                },
            }
        }
    }
}

/// Answers one connection.
async fn serve(mut stream: TcpStream, state: String) -> Option<Call> {
    let call = match tokio::time::timeout(PATIENCE, head(&mut stream)).await {
        Ok(Some(head)) => read(&head, &state),
        Ok(None) => Call::Strange(400, "This is no request that can be read."),
        Err(_) => return None,
    };
    let (status, text) = match &call {
        Call::Code(_) => {
            ("200 OK", "You are logged in. Close this page, and go back to the terminal.")
        }
        Call::Denied(_) => {
            ("200 OK", "You are not logged in. Close this page; the terminal says why.")
        }
        Call::Strange(404, text) => ("404 Not Found", *text),
        Call::Strange(_, text) => ("400 Bad Request", *text),
    };
    let page =
        format!("<!DOCTYPE html>\n<html lang=\"en\"><title>Login</title><p>{text}</p></html>\n");
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\nreferrer-policy: no-referrer\r\n\
         cache-control: no-store\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    // Whoever called may have gone; what it brought is here.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
    Some(call)
}

/// Reads a request up to the end of its headers.
async fn head(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    while !bytes.windows(4).any(|it| it == b"\r\n\r\n") {
        let count = stream.read(&mut part).await.ok().filter(|it| *it > 0)?;
        bytes.extend_from_slice(&part[..count]);
        if bytes.len() > LONGEST {
            return None;
        }
    }
    Some(bytes)
}

/// Returns what a request means.
fn read(head: &[u8], state: &str) -> Call {
    let mut headers = [httparse::EMPTY_HEADER; 100];
    let mut request = httparse::Request::new(&mut headers);
    let target = match request.parse(head) {
        Ok(_) if request.method == Some("GET") => request.path,
        _ => None,
    };
    let target = target.filter(|it| it.starts_with('/'));
    let Some(url) = target.and_then(|it| Url::parse(&format!("http://localhost{it}")).ok()) else {
        return Call::Strange(400, "This is no request that can be answered.");
    };
    if url.path() != PATH {
        return Call::Strange(404, "There is nothing here.");
    }
    let argument = |name: &str| {
        url.query_pairs()
            .find(|it| it.0 == name)
            .map(|it| it.1.into_owned())
            .filter(|it| !it.is_empty())
    };
    // Other programs of this machine can call, too: they do not know it.
    if argument("state").as_deref() != Some(state) {
        return Call::Strange(
            400,
            "This login was not begun here, or is over: begin again in the terminal.",
        );
    }
    match (argument("error"), argument("code")) {
        (Some(error), _) => {
            let more =
                argument("error_description").map(|it| format!(": {it}")).unwrap_or_default();
            Call::Denied(NotGranted(shown(&format!("{error}{more}"))))
        }
        (None, Some(code)) => Call::Code(code),
        (None, None) => Call::Strange(400, "This call brings no code."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Call {
        read(format!("{line} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes(), "s")
    }

    #[test]
    fn only_the_call_that_was_waited_for_brings_the_code() {
        assert_eq!(call("GET /login?state=s&code=a%20b"), Call::Code("a b".into()));
        for (line, status) in [
            ("GET /login?state=t&code=a", 400),
            ("GET /login?code=a", 400),
            ("GET /login?state=s", 400),
            ("GET /login?state=s&code=", 400),
            ("POST /login?state=s&code=a", 400),
            ("GET http://elsewhere/login?state=s&code=a", 400),
            ("GET /favicon.ico", 404),
            ("nonsense", 400),
        ] {
            assert!(matches!(call(line), Call::Strange(it, _) if it == status), "{line}");
        }
    }

    #[test]
    fn a_denial_is_told_with_what_the_host_says() {
        let denied = call("GET /login?state=s&error=access_denied&error_description=Not+today%0a");
        assert_eq!(denied, Call::Denied(NotGranted("\"access_denied: Not today\\n\"".into())));
    }
}
