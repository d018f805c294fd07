//! A double of a Kubernetes cluster: objects with resource versions under the addresses of secrets and leases.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};

use super::http::{Reply, Request, serve};
use super::protobuf;

/// All that a cluster keeps: its objects by their addresses.
#[derive(Default)]
pub struct Cluster {
    pub objects: BTreeMap<String, Json>,
    version: u64,
}

/// What is shared with whoever looks into it.
pub type Shared = Arc<Mutex<Cluster>>;

/// Starts a cluster that wants this token, or none where it is empty. Returns its port and what it keeps.
pub fn start(token: &'static str) -> (u16, Shared) {
    start_behind(token, |_| None)
}

/// Starts a cluster that is asked only what `first` has no answer for.
pub fn start_behind(
    token: &'static str,
    first: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
) -> (u16, Shared) {
    let shared = Shared::default();
    let kept = shared.clone();
    let answer = move |request: Request| {
        if let Some(reply) = first(&request) {
            return reply;
        }
        if !token.is_empty() && request.header("authorization") != format!("Bearer {token}") {
            return status(401, "Unauthorized", "Unauthorized");
        }
        kept.lock().expect("nobody panics with it").answer(&request)
    };
    (serve(answer), shared)
}

fn status(code: u16, reason: &str, message: &str) -> Reply {
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    });
    Reply::json(code, &body)
}

impl Cluster {
    fn answer(&mut self, request: &Request) -> Reply {
        let path = request.path.clone();
        let is_list = path.ends_with("/secrets") || path.ends_with("/leases");
        let sent = match request.header("content-type").contains("protobuf") {
            true => protobuf::lease(&request.body),
            false => serde_json::from_slice(&request.body).ok(),
        };
        let sent: Json = sent.unwrap_or_default();
        match (request.method.as_str(), is_list) {
            ("GET", true) => self.list(&path, request.asked("labelSelector").unwrap_or_default()),
            ("GET", false) => match self.objects.get(&path) {
                Some(object) => Reply::json(200, object),
                None => status(404, "NotFound", &format!("{path} not found")),
            },
            ("POST", true) => {
                let name = sent["metadata"]["name"].as_str().unwrap_or_default();
                let path = format!("{path}/{name}");
                match self.objects.contains_key(&path) {
                    true => status(409, "AlreadyExists", &format!("{path} already exists")),
                    false => self.keep(&path, sent, 201),
                }
            }
            ("PUT", false) => {
                let Some(known) = self.objects.get(&path) else {
                    return status(404, "NotFound", &format!("{path} not found"));
                };
                let named = sent["metadata"]["resourceVersion"].as_str().unwrap_or_default();
                match named.is_empty() || known["metadata"]["resourceVersion"] == named {
                    true => self.keep(&path, sent, 200),
                    false => status(409, "Conflict", "the object has been modified"),
                }
            }
            ("DELETE", false) => match self.objects.remove(&path) {
                Some(_) => Reply::json(
                    200,
                    &json!({"kind": "Status", "apiVersion": "v1", "status": "Success"}),
                ),
                None => status(404, "NotFound", &format!("{path} not found")),
            },
            _ => status(405, "MethodNotAllowed", "not known here"),
        }
    }

    fn keep(&mut self, path: &str, mut object: Json, code: u16) -> Reply {
        self.version += 1;
        object["metadata"]["resourceVersion"] = self.version.to_string().into();
        let data = object["data"]["tfstate"].as_str().map_or(0, str::len);
        if data > (1 << 20) {
            return status(
                422,
                "Invalid",
                "Secret is invalid: data: Too long: must have at most 1048576 bytes",
            );
        }
        let is_lease = path.contains("/leases/");
        object["kind"] = if is_lease { "Lease" } else { "Secret" }.into();
        object["apiVersion"] = if is_lease { "coordination.k8s.io/v1" } else { "v1" }.into();
        self.objects.insert(path.to_owned(), object.clone());
        Reply::json(code, &object)
    }

    fn list(&self, path: &str, label: &str) -> Reply {
        let (name, value) = label.split_once('=').unwrap_or((label, ""));
        let prefix = format!("{path}/");
        let items: Vec<&Json> = self
            .objects
            .iter()
            .filter(|it| it.0.starts_with(&prefix) && it.1["metadata"]["labels"][name] == value)
            .map(|it| it.1)
            .collect();
        Reply::json(
            200,
            &json!({"kind": "SecretList", "apiVersion": "v1", "metadata": {}, "items": items}),
        )
    }
}
