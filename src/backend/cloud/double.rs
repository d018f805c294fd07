//! A server on the loopback device for tests of stores: a closure answers, and connections break where it says so.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use parking_lot::Mutex;

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub method: String,
    /// Without the query, and unescaped.
    pub path: String,
    pub query: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// What comes back.
#[derive(Clone, Debug)]
pub enum Reply {
    /// An answer.
    Answer(u16, Vec<(String, String)>, Vec<u8>),
    /// The connection breaks before the answer.
    Cut,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is carried out, and the answer is lost.
    AnswerLost,
    /// It is lost itself.
    Lost,
    /// The service is too busy.
    Busy,
}

/// Methods and parts of paths, and what becomes of the next request that has them.
type Faults = Mutex<Vec<(&'static str, &'static str, Fault)>>;

type Handler = dyn Fn(&Asked) -> Reply + Send + Sync;

/// A server that runs until the tests end.
pub struct Double {
    pub port: u16,
    /// The methods and paths of all requests, with their queries.
    pub log: Arc<Mutex<Vec<Asked>>>,
    /// What becomes of the next requests with this method whose path holds the text.
    pub faults: Arc<Faults>,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|it| it.0.eq_ignore_ascii_case(name));
        found.map(|it| it.1.as_str())
    }

    pub fn argument(&self, name: &str) -> Option<String> {
        let pairs = self.query.split('&').filter_map(|it| it.split_once('='));
        pairs.filter(|it| it.0 == name).map(|it| unescaped(it.1)).next()
    }
}

impl Reply {
    pub fn status(status: u16) -> Reply {
        Reply::Answer(status, Vec::new(), Vec::new())
    }

    pub fn text(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Reply {
        Reply::Answer(status, vec![("content-type".into(), kind.into())], body.into())
    }

    pub fn with(self, name: &str, value: &str) -> Reply {
        let Reply::Answer(status, mut headers, body) = self else { return self };
        headers.push((name.into(), value.into()));
        Reply::Answer(status, headers, body)
    }
}

impl Double {
    pub fn start(handler: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Double {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (log, faults) = (Arc::default(), Arc::default());
        let double = Double { port, log, faults };
        let handler: Arc<Handler> = Arc::new(handler);
        let (log, faults) = (double.log.clone(), double.faults.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (handler, log, faults) = (handler.clone(), log.clone(), faults.clone());
                std::thread::spawn(move || {
                    while let Some(asked) = read(&stream) {
                        log.lock().push(asked.clone());
                        let reply = answer(&*handler, &faults, &asked);
                        if !write(&stream, &asked, reply) {
                            return;
                        }
                    }
                });
            }
        });
        double
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn fault(&self, method: &'static str, part: &'static str, fault: Fault) {
        self.faults.lock().push((method, part, fault));
    }
}

fn answer(handler: &Handler, faults: &Faults, asked: &Asked) -> Reply {
    let mut faults = faults.lock();
    let at = faults.iter().position(|it| asked.method == it.0 && asked.path.contains(it.1));
    let fault = at.map(|at| faults.remove(at).2);
    drop(faults);
    match fault {
        None => handler(asked),
        Some(Fault::Lost) => Reply::Cut,
        Some(Fault::Busy) => Reply::status(503),
        Some(Fault::AnswerLost) => {
            handler(asked);
            Reply::Cut
        }
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut asked = Asked::default();
    let mut line = String::new();
    while reader.read_line(&mut line).ok()? > 0 && !line.trim().is_empty() {
        let text = line.trim();
        if asked.method.is_empty() {
            let mut words = text.split(' ');
            asked.method = words.next()?.to_owned();
            let (path, query) = words.next().map(|it| it.split_once('?').unwrap_or((it, "")))?;
            (asked.path, asked.query) = (unescaped(path), query.to_owned());
        } else if let Some((name, value)) = text.split_once(':') {
            asked.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        line.clear();
    }
    let length = asked.header("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
    asked.body = vec![0; length];
    reader.read_exact(&mut asked.body).ok()?;
    (!asked.method.is_empty()).then_some(asked)
}

fn write(mut stream: &TcpStream, asked: &Asked, reply: Reply) -> bool {
    let Reply::Answer(status, headers, body) = reply else { return false };
    let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let body = if asked.method == "HEAD" { Vec::new() } else { body };
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).is_ok()
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let escaped = text_of(more).filter(|_| *first == b'%');
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &more[2..] } else { more };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn text_of(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits.get(..2)?).ok()?;
    u8::from_str_radix(digits, 16).ok()
}
