//! HTTP/1.1 as far as the doubles need it: whole requests in, whole answers out, connections that stay open.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

/// What was asked.
pub struct Request {
    pub method: String,
    /// The path, with its percent signs taken away.
    pub path: String,
    /// What follows the question mark, likewise, in order.
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// What is answered.
#[derive(Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// Returns what the query says under a name.
    pub fn asked(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    /// Returns a header, by its name in lower case.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|it| it.0 == name).map_or("", |it| it.1.as_str())
    }
}

impl Reply {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Reply {
        Reply { status, headers: Vec::new(), body: body.into() }
    }

    pub fn json(status: u16, body: &serde_json::Value) -> Reply {
        let headers = vec![("Content-Type", "application/json".to_owned())];
        Reply { status, headers, body: body.to_string().into_bytes() }
    }
}

/// Serves on a free port, which is returned, until the process ends.
pub fn serve(answer: impl Fn(Request) -> Reply + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it has an address").port();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            std::thread::spawn(move || converse(stream, &*answer));
        }
    });
    port
}

/// Answers the requests of one connection until it ends.
pub fn converse(stream: impl Read + Write, answer: &dyn Fn(Request) -> Reply) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let request = read(&mut reader)?;
        let has_body = request.method != "HEAD";
        let reply = answer(request);
        let mut text =
            format!("HTTP/1.1 {} -\r\nContent-Length: {}\r\n", reply.status, reply.body.len());
        for (name, value) in &reply.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        if has_body {
            bytes.extend(reply.body);
        }
        let stream = reader.get_mut();
        stream.write_all(&bytes).and_then(|()| stream.flush()).ok()?;
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|it| *it > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|it| *it > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let has = |name: &str| headers.iter().find(|it| it.0 == name).map(|it| it.1.as_str());
    let mut body = Vec::new();
    if has("transfer-encoding").is_some() {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk).ok()?;
            body.extend(&chunk[..size]);
            if size == 0 {
                break;
            }
        }
    } else {
        body = vec![0; has("content-length").and_then(|it| it.parse().ok()).unwrap_or(0)];
        reader.read_exact(&mut body).ok()?;
    }
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pairs = query.split('&').filter(|it| !it.is_empty());
    let query = pairs.map(|it| {
        let (name, value) = it.split_once('=').unwrap_or((it, ""));
        (plain(&name.replace('+', " ")), plain(&value.replace('+', " ")))
    });
    Some(Request { method, path: plain(path), query: query.collect(), headers, body })
}

fn plain(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(it) = rest.next() {
        let mut hex = || Some(char::from(rest.next()?).to_digit(16)? as u8);
        match it {
            b'%' => bytes.push(hex().unwrap_or(0) * 16 + hex().unwrap_or(0)),
            it => bytes.push(it),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
