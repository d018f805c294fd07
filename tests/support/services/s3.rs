//! A double of S3: objects in one bucket, by path, with tags, conditions and lists. Signatures are not looked at.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::http::{Reply, Request, serve};

/// The bucket that there is.
pub const BUCKET: &str = "states";

/// An object, and how often it was put: that is its tag.
#[derive(Clone, Default)]
pub struct Object {
    pub bytes: Vec<u8>,
    pub number: u64,
}

/// All that a bucket keeps.
#[derive(Default)]
pub struct Bucket {
    pub objects: BTreeMap<String, Object>,
    /// How often an object was put, by its key.
    pub puts: BTreeMap<String, u64>,
    last: u64,
}

/// What is shared with whoever looks into it.
pub type Shared = Arc<Mutex<Bucket>>;

/// Starts a service. Returns its port and what it keeps.
pub fn start() -> (u16, Shared) {
    let shared = Shared::default();
    let kept = shared.clone();
    (serve(move |request| kept.lock().expect("nobody panics with it").answer(&request)), shared)
}

fn denied(status: u16, code: &str) -> Reply {
    let body = format!("<Error><Code>{code}</Code><Message>{code}</Message></Error>");
    Reply {
        status,
        headers: vec![("Content-Type", "application/xml".to_owned())],
        body: body.into_bytes(),
    }
}

fn tag(object: &Object) -> String {
    format!("\"{:032x}\"", object.number)
}

impl Bucket {
    fn answer(&mut self, request: &Request) -> Reply {
        let path = request.path.trim_start_matches('/');
        let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
        match (request.method.as_str(), key) {
            _ if bucket != BUCKET => denied(404, "NoSuchBucket"),
            ("GET", "") => self.list(request.asked("prefix").unwrap_or_default()),
            ("GET", key) => match self.objects.get(key) {
                Some(it) => with_tag(it, it.bytes.clone()),
                None => denied(404, "NoSuchKey"),
            },
            ("HEAD", key) => match self.objects.get(key) {
                Some(it) => with_tag(it, Vec::new()),
                None => Reply::new(404, ""),
            },
            ("PUT", key) => self.put(key, request),
            ("DELETE", key) => {
                self.objects.remove(key);
                Reply::new(204, "")
            }
            _ => denied(405, "MethodNotAllowed"),
        }
    }

    fn put(&mut self, key: &str, request: &Request) -> Reply {
        let there = self.objects.get(key);
        let absent = request.header("if-none-match") == "*";
        let wanted = request.header("if-match");
        match there {
            Some(_) if absent => return denied(412, "PreconditionFailed"),
            Some(it) if !wanted.is_empty() && tag(it) != wanted => {
                return denied(412, "PreconditionFailed");
            }
            None if !wanted.is_empty() => return denied(404, "NoSuchKey"),
            _ => {}
        }
        self.last += 1;
        let object = Object { bytes: request.body.clone(), number: self.last };
        let reply = with_tag(&object, Vec::new());
        self.objects.insert(key.to_owned(), object);
        *self.puts.entry(key.to_owned()).or_default() += 1;
        reply
    }

    fn list(&self, prefix: &str) -> Reply {
        let keys = self.objects.keys().filter(|it| it.starts_with(prefix));
        let keys: String = keys.map(|it| format!("<Contents><Key>{it}</Key></Contents>")).collect();
        let body = format!("<ListBucketResult>{keys}</ListBucketResult>");
        Reply {
            status: 200,
            headers: vec![("Content-Type", "application/xml".to_owned())],
            body: body.into_bytes(),
        }
    }
}

fn with_tag(object: &Object, body: Vec<u8>) -> Reply {
    Reply { status: 200, headers: vec![("ETag", tag(object))], body }
}
