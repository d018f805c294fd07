//! A double of Azure Blob Storage: the blobs of one container with their leases, the host that describes the cloud, and the one that
//! gives out tokens.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use super::http::{Reply, Request};
use super::tls::Hosts;

/// The host that describes the cloud.
pub const METADATA: &str = "metadata.test";
/// The host that gives out tokens.
pub const LOGIN: &str = "login.test";
/// The host of the storage account `acc`.
pub const STORAGE: &str = "acc.blob.cloud.test";
/// What the hosts of storage accounts end with.
pub const SUFFIX: &str = "cloud.test";

/// The header that says who holds the lock.
const RECORD: &str = "x-ms-meta-terraformlockid";

/// How often a strange answer is given. A client that asks on and on gets true answers at last, so that its test ends.
const MOST: usize = 100;

/// A blob.
#[derive(Clone, Default)]
pub struct Blob {
    pub bytes: Vec<u8>,
    record: String,
    number: u64,
    /// The ID of its lease; empty without one.
    lease: String,
}

/// The answer that requests of one kind get in place of the true one.
#[derive(Clone, Copy, Default)]
pub struct Strange {
    pub method: &'static str,
    /// The argument `comp` of the query; empty for what is asked of a blob itself.
    pub comp: &'static str,
    /// Whether the request is carried out all the same.
    pub is_done: bool,
    pub status: u16,
    pub headers: &'static [(&'static str, &'static str)],
    /// `None` for the body of the true answer.
    pub body: Option<&'static str>,
}

/// All that a storage account keeps.
pub struct Account {
    pub blobs: BTreeMap<String, Blob>,
    /// How many names a page of a list has.
    pub page: usize,
    /// The markers that pages of lists name in turn, in place of the true ones, where there are any.
    pub markers: &'static [&'static str],
    /// The answer of the host that describes the cloud.
    pub cloud: Reply,
    strange: Option<Strange>,
    /// How often the strange answer was given.
    given: usize,
    /// How many pages of lists were asked for.
    pages: usize,
    last: u64,
}

/// A storage account and the hosts of its cloud.
pub struct Azure {
    pub hosts: Hosts,
    account: Arc<Mutex<Account>>,
}

/// Returns the answer that describes a cloud.
pub fn cloud(suffix: &str, login: impl Into<Value>, manager: &str) -> Reply {
    let login: Value = login.into();
    let document = json!({
        "suffixes": {"storage": suffix},
        "authentication": {"audiences": ["https://manager.test/"], "loginEndpoint": login},
        "resourceManager": manager,
    });
    Reply::json(200, &document)
}

impl Azure {
    /// Starts the hosts of a cloud.
    pub fn start() -> Azure {
        let account = Arc::new(Mutex::new(Account {
            blobs: BTreeMap::new(),
            page: 1000,
            markers: &[],
            cloud: cloud(SUFFIX, format!("https://{LOGIN}/"), "https://manager.test/"),
            strange: None,
            given: 0,
            pages: 0,
            last: 0,
        }));
        let kept = account.clone();
        let hosts = Hosts::start(&[METADATA, LOGIN, STORAGE], move |host, request| {
            let mut kept = kept.lock().expect("no thread panics while it holds this");
            match host {
                METADATA => kept.cloud.clone(),
                LOGIN => Reply::json(200, &json!({"access_token": "proof", "expires_in": 3600})),
                _ => kept.answer(&request),
            }
        });
        Azure { hosts, account }
    }

    /// Returns what is kept, and holds it.
    pub fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().expect("no thread panics while it holds this")
    }

    /// Gives this answer from now on, or the true ones.
    pub fn set(&self, strange: Option<Strange>) {
        let mut account = self.account();
        (account.strange, account.given) = (strange, 0);
    }

    /// Returns what a blob holds; nothing where there is none.
    pub fn text(&self, blob: &str) -> String {
        let bytes = self.account().blobs.get(blob).map(|it| it.bytes.clone());
        String::from_utf8(bytes.unwrap_or_default()).expect("a state is text")
    }
}

impl Account {
    fn answer(&mut self, request: &Request) -> Reply {
        let asked = (request.method.as_str(), request.asked("comp").unwrap_or_default());
        let is_meant = |it: &Strange| (it.method, it.comp) == asked && self.given < MOST;
        let Some(strange) = self.strange.filter(is_meant) else { return self.truly(request) };
        self.given += 1;
        let body = if strange.is_done { self.truly(request).body } else { Vec::new() };
        let body = strange.body.map_or(body, |it| it.as_bytes().to_vec());
        let headers = strange.headers.iter().map(|it| (it.0, it.1.to_owned())).collect();
        Reply { status: strange.status, headers, body }
    }

    fn truly(&mut self, request: &Request) -> Reply {
        let Some(name) = request.path.strip_prefix("/states") else {
            return denied(404, "ContainerNotFound");
        };
        let name = name.trim_start_matches('/');
        let shown = request.header("x-ms-lease-id");
        self.last += 1;
        match (request.method.as_str(), request.asked("comp").unwrap_or_default()) {
            ("GET", "list") => self.list(request),
            ("PUT", "") => self.put(name, request),
            (method, comp) => {
                let Some(blob) = self.blobs.get_mut(name) else {
                    return denied(404, "BlobNotFound");
                };
                match (method, comp) {
                    ("GET" | "HEAD", _) => blob.shown(),
                    ("PUT", "lease") => blob.leased(request),
                    _ if blob.lease != shown => denied(412, "LeaseIdMismatchWithBlobOperation"),
                    ("DELETE", _) => {
                        self.blobs.remove(name);
                        Reply::new(202, "")
                    }
                    _ => {
                        (blob.record, blob.number) = (request.header(RECORD).to_owned(), self.last);
                        Reply::new(200, "")
                    }
                }
            }
        }
    }

    fn put(&mut self, name: &str, request: &Request) -> Reply {
        let there = self.blobs.get(name);
        let held = there.map(|it| it.lease.clone()).unwrap_or_default();
        let (shown, wanted) = (request.header("x-ms-lease-id"), request.header("if-match"));
        if request.header("if-none-match") == "*" && there.is_some() {
            return denied(409, "BlobAlreadyExists");
        }
        match (held.as_str(), shown) {
            (held, shown) if held == shown => {}
            (_, "") => return denied(412, "LeaseIdMissing"),
            ("", _) => return denied(412, "LeaseNotPresentWithBlobOperation"),
            _ => return denied(412, "LeaseIdMismatchWithBlobOperation"),
        }
        if !wanted.is_empty() && there.is_none_or(|it| it.tag() != wanted) {
            return denied(412, "ConditionNotMet");
        }
        let (bytes, record) = (request.body.clone(), request.header(RECORD).to_owned());
        let blob = Blob { bytes, record, number: self.last, lease: held };
        let headers = vec![("ETag", blob.tag())];
        self.blobs.insert(name.to_owned(), blob);
        Reply { status: 201, headers, body: Vec::new() }
    }

    fn list(&mut self, request: &Request) -> Reply {
        self.pages += 1;
        let prefix = request.asked("prefix").unwrap_or_default();
        let start: usize = request.asked("marker").and_then(|it| it.parse().ok()).unwrap_or(0);
        let names: Vec<&String> = self.blobs.keys().filter(|it| it.starts_with(prefix)).collect();
        let next = match start + self.page {
            _ if !self.markers.is_empty() && self.pages < MOST => {
                self.markers[self.pages % self.markers.len()].to_owned()
            }
            next if next < names.len() => next.to_string(),
            _ => String::new(),
        };
        let page = names.iter().skip(start).take(self.page);
        // Readers of XML may change a newline that is no reference.
        let page = page.map(|it| it.replace('\n', "&#10;"));
        let blobs: String = page.map(|it| format!("<Blob><Name>{it}</Name></Blob>")).collect();
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults><Prefix>{prefix}</Prefix><Blobs>{blobs}</Blobs>\
             <NextMarker>{next}</NextMarker></EnumerationResults>"
        );
        let headers = vec![("Content-Type", "application/xml".to_owned())];
        Reply { status: 200, headers, body: body.into_bytes() }
    }
}

impl Blob {
    fn tag(&self) -> String {
        format!("\"0x{:X}\"", self.number)
    }

    fn shown(&self) -> Reply {
        let status = if self.lease.is_empty() { "unlocked" } else { "locked" };
        let mut headers = vec![
            ("Content-Type", "application/json".to_owned()),
            ("ETag", self.tag()),
            ("x-ms-lease-status", status.to_owned()),
        ];
        if !self.record.is_empty() {
            headers.push((RECORD, self.record.clone()));
        }
        Reply { status: 200, headers, body: self.bytes.clone() }
    }

    fn leased(&mut self, request: &Request) -> Reply {
        let proposed = request.header("x-ms-proposed-lease-id");
        if request.header("x-ms-lease-action") != "acquire" {
            if self.lease != request.header("x-ms-lease-id") {
                return denied(409, "LeaseIdMismatchWithLeaseOperation");
            }
            self.lease.clear();
            return Reply::new(200, "");
        }
        if !self.lease.is_empty() && self.lease != proposed {
            return denied(409, "LeaseAlreadyPresent");
        }
        self.lease = proposed.to_owned();
        Reply::new(201, "")
    }
}

fn denied(status: u16, code: &str) -> Reply {
    Reply { status, headers: vec![("x-ms-error-code", code.to_owned())], body: Vec::new() }
}
