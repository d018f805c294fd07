//! A server of one state that shows a certificate of an authority as its own, states no length of any answer, and ends each connection
//! without a word: `openssl req -x509` with a small server makes such ones.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The server, which runs until the process ends.
pub struct Abrupt {
    /// Where it listens, on 127.0.0.1.
    pub port: u16,
    /// Its certificate, PEM.
    pub certificate: String,
    kept: Arc<Kept>,
}

#[derive(Default)]
struct Kept {
    state: Mutex<Vec<u8>>,
    /// At most so many bytes of a state are answered.
    most: AtomicUsize,
}

impl Abrupt {
    /// Starts it without a state.
    pub fn start() -> Abrupt {
        let mut parameters =
            rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("an address");
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().expect("a key");
        let certificate = parameters.self_signed(&key).expect("a certificate");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let key = rustls::pki_types::PrivatePkcs8KeyDer::from(key.serialize_der());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key.into())
            .expect("a certificate and its key");
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        let kept = Arc::new(Kept { most: AtomicUsize::new(usize::MAX), ..Kept::default() });
        let served = kept.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let session = rustls::ServerConnection::new(config.clone());
                let Ok(session) = session else { continue };
                let served = served.clone();
                // Dropping the stream ends the connection below TLS.
                std::thread::spawn(move || {
                    served.answer(rustls::StreamOwned::new(session, stream))
                });
            }
        });
        Abrupt { port, certificate: certificate.pem(), kept }
    }

    /// Answers with at most so many bytes of the state from now on.
    pub fn cut(&self, most: usize) {
        self.kept.most.store(most, Ordering::SeqCst);
    }
}

impl Kept {
    fn answer(
        &self,
        stream: rustls::StreamOwned<rustls::ServerConnection, TcpStream>,
    ) -> Option<()> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let is_write = line.starts_with("POST ");
        let mut length = 0;
        while !line.trim().is_empty() {
            line.clear();
            reader.read_line(&mut line).ok().filter(|it| *it > 0)?;
            let (name, value) = line.split_once(':').unwrap_or_default();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let mut state = self.state.lock().expect("no thread panics while it holds this");
        let stream = reader.get_mut();
        if is_write {
            *state = body;
        }
        let status = if state.is_empty() { "404 Not Found" } else { "200 OK" };
        write!(stream, "HTTP/1.1 {status}\r\nConnection: close\r\n\r\n").ok()?;
        if !is_write {
            let most = state.len().min(self.most.load(Ordering::SeqCst));
            stream.write_all(&state[..most]).ok()?;
        }
        stream.flush().ok()
    }
}
