//! A server on the loopback device for tests: answers from a table, remembers what it was asked, plain or with TLS.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use parking_lot::Mutex;

/// What was asked for: a path, and the authorization that came with it, without `Bearer`.
type Asked = (String, Option<String>);

/// One answer.
#[derive(Clone)]
pub struct Reply {
    pub status: u16,
    pub kind: &'static str,
    pub body: Vec<u8>,
    /// `WWW-Authenticate`
    pub challenge: String,
    /// `Location`
    pub location: String,
    /// Whether `Content-Length` is sent.
    pub has_length: bool,
}

impl Reply {
    pub fn json(body: impl Into<String>) -> Reply {
        let body = body.into().into_bytes();
        Reply { kind: "application/json", body, ..Reply::status(200) }
    }

    pub fn bytes(body: impl Into<Vec<u8>>) -> Reply {
        let (kind, body) = ("application/octet-stream", body.into());
        Reply { kind, body, ..Reply::status(200) }
    }

    pub fn status(status: u16) -> Reply {
        let (challenge, location) = (String::new(), String::new());
        let body = Vec::new();
        Reply { status, kind: "text/plain", body, challenge, location, has_length: true }
    }

    /// Wants to see something first.
    pub fn challenge(text: impl Into<String>) -> Reply {
        Reply { challenge: text.into(), ..Reply::status(401) }
    }

    /// Sends the request on to another address.
    pub fn redirect(to: impl Into<String>) -> Reply {
        Reply { location: to.into(), ..Reply::status(302) }
    }

    /// Nothing, until who asked has given up.
    pub fn silence() -> Reply {
        Reply::status(0)
    }
}

type Table = Arc<Mutex<BTreeMap<String, Vec<Reply>>>>;

/// A server that runs until the test ends.
pub struct Server {
    pub port: u16,
    table: Table,
    /// Path and token of each request.
    pub asked: Arc<Mutex<Vec<Asked>>>,
    /// The certificate, where it speaks TLS.
    pub certificate: Option<String>,
}

impl Server {
    pub fn plain() -> Server {
        Server::start(None)
    }

    pub fn secure() -> Server {
        let made =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let key = rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key.into())
            .expect("a certificate and its key");
        let mut server = Server::start(Some(Arc::new(config)));
        server.certificate = Some(made.cert.pem());
        server
    }

    fn start(tls: Option<Arc<rustls::ServerConfig>>) -> Server {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (table, asked) = (Table::default(), Arc::new(Mutex::new(Vec::new())));
        let (answers, log) = (table.clone(), asked.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, log, tls) = (answers.clone(), log.clone(), tls.clone());
                std::thread::spawn(move || match tls {
                    None => serve(stream, &answers, &log),
                    Some(config) => {
                        let session = rustls::ServerConnection::new(config).expect("a session");
                        serve(rustls::StreamOwned::new(session, stream), &answers, &log);
                    }
                });
            }
        });
        Server { port, table, asked, certificate: None }
    }

    /// Answers a path so from now on.
    pub fn at(&self, path: &str, reply: Reply) -> &Server {
        self.in_turn(path, vec![reply])
    }

    /// Answers a path with one reply after the other; the last one stays.
    pub fn in_turn(&self, path: &str, replies: Vec<Reply>) -> &Server {
        self.table.lock().insert(path.to_owned(), replies);
        self
    }

    pub fn paths(&self) -> Vec<String> {
        self.asked.lock().iter().map(|it| it.0.clone()).collect()
    }
}

fn serve(mut stream: impl Read + Write, table: &Table, log: &Mutex<Vec<(String, Option<String>)>>) {
    let mut path = String::new();
    let mut token = None;
    {
        let mut reader = BufReader::new(&mut stream);
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|it| it > 0) && line.trim() != "" {
            let text = line.trim();
            if path.is_empty() {
                path = text.split(' ').nth(1).unwrap_or_default().to_owned();
            }
            if let Some((name, it)) = text.split_once(": ")
                && name.eq_ignore_ascii_case("authorization")
            {
                token = Some(it.strip_prefix("Bearer ").unwrap_or(it).to_owned());
            }
            line.clear();
        }
    }
    if path.is_empty() {
        return;
    }
    log.lock().push((path.clone(), token));
    let reply = {
        let mut table = table.lock();
        match table.get_mut(&path) {
            Some(replies) if replies.len() > 1 => replies.remove(0),
            Some(replies) => replies[0].clone(),
            None => Reply::status(404),
        }
    };
    if reply.status == 0 {
        let _ = stream.read(&mut [0]);
        return;
    }
    let challenge = match reply.challenge.as_str() {
        "" => String::new(),
        text => format!("www-authenticate: {text}\r\n"),
    };
    let location = match reply.location.as_str() {
        "" => String::new(),
        to => format!("location: {to}\r\n"),
    };
    let length = match reply.has_length {
        true => format!("content-length: {}\r\n", reply.body.len()),
        false => String::new(),
    };
    let head = format!(
        "HTTP/1.1 {} X\r\ncontent-type: {}\r\n{challenge}{location}{length}connection: close\r\n\r\n",
        reply.status, reply.kind
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&reply.body));
    let _ = stream.flush();
}
