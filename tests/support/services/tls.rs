//! A proxy that speaks TLS in the names of hosts that do not exist: `HTTPS_PROXY` and `SSL_CERT_FILE` lead a client to it.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::http::{Reply, Request, converse};

/// Hosts behind one proxy, which runs until the process ends.
pub struct Hosts {
    /// The port of the proxy.
    pub port: u16,
    /// The certificate for all of their names, PEM.
    pub certificate: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Hosts {
    /// Starts a proxy with a certificate for these names. `answer` gets the name of the host with each request.
    pub fn start(
        names: &[&str],
        answer: impl Fn(&str, Request) -> Reply + Send + Sync + 'static,
    ) -> Hosts {
        let names: Vec<String> = names.iter().map(|it| (*it).to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let key = rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key.into())
            .expect("a certificate and its key");
        let (config, answer) = (Arc::new(config), Arc::new(answer));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, answer, log) = (config.clone(), answer.clone(), log.clone());
                std::thread::spawn(move || -> Option<()> {
                    let host = connected(&stream)?;
                    log.lock().expect("no thread panics while it holds this").push(host.clone());
                    let session = rustls::ServerConnection::new(config).ok()?;
                    let stream = rustls::StreamOwned::new(session, stream);
                    converse(stream, &|request: Request| answer(&host, request))
                });
            }
        });
        Hosts { port, certificate: made.cert.pem(), asked }
    }

    /// Returns the hosts that connections were asked for since the last call.
    pub fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("no thread panics while it holds this"))
    }
}

/// Agrees to what a client asks a proxy for first. Returns the host that it wants to reach.
fn connected(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let target = line.strip_prefix("CONNECT ")?.split(' ').next()?.to_owned();
    while !line.trim().is_empty() {
        line.clear();
        reader.read_line(&mut line).ok().filter(|it| *it > 0)?;
    }
    let mut stream = stream;
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok()?;
    Some(target.rsplit_once(':')?.0.to_owned())
}
