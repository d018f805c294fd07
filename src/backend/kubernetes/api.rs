//! Requests to a cluster: secrets and leases of one name space.

use std::io;
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder, Url};
use serde_json::Value as Json;
use tokio::sync::OnceCell;

use super::access::{Access, Shown};
use crate::backend::web::{self, Answer, Retries};
use crate::world::World;

/// Questions may be repeated. So may changes: they say which version they are made to.
const RETRIES: Retries =
    Retries { max: 3, wait_min: Duration::from_millis(300), wait_max: Duration::from_secs(3) };

/// The way to a cluster.
#[derive(Debug)]
pub(super) struct Api {
    world: World,
    access: Access,
    namespace: String,
    /// Made with the first request: a program may have to be asked for credentials.
    ready: OnceCell<(Client, Shown)>,
}

/// Why an object is not as it was to be.
#[derive(Debug)]
pub(super) enum Failure {
    /// Another version of it is there.
    Conflict,
    /// It may be as it was to be.
    NoAnswer(io::Error),
    /// It is not.
    Failed(io::Error),
}

impl From<io::Error> for Failure {
    fn from(it: io::Error) -> Failure {
        Failure::Failed(it)
    }
}

impl From<Failure> for io::Error {
    fn from(it: Failure) -> io::Error {
        match it {
            Failure::Conflict => io::Error::other("somebody else has changed it at the same time"),
            Failure::NoAnswer(why) | Failure::Failed(why) => why,
        }
    }
}

impl Api {
    pub fn new(world: &World, access: Access, namespace: &str) -> Api {
        let namespace = namespace.to_owned();
        Api { world: world.clone(), access, namespace, ready: OnceCell::new() }
    }

    pub fn shown(&self) -> String {
        format!("the name space {:?} of {}", self.namespace, web::shown(&self.access.server))
    }

    async fn ready(&self) -> io::Result<&(Client, Shown)> {
        let make = || async {
            let (trust, shown) =
                self.access.prepared(&self.world).await.map_err(io::Error::other)?;
            let client = web::client(&self.world, &trust).map_err(io::Error::other)?;
            Ok((client, shown))
        };
        self.ready.get_or_try_init(make).await
    }

    fn url(&self, kind: &str, name: Option<&str>) -> Url {
        let mut url = self.access.server.clone();
        let group: &[&str] = match kind {
            "leases" => &["apis", "coordination.k8s.io", "v1"],
            _ => &["api", "v1"],
        };
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty()
                .extend(group)
                .extend(["namespaces", &self.namespace, kind])
                .extend(name);
        }
        url
    }

    fn request((client, shown): &(Client, Shown), method: &Method, url: &Url) -> RequestBuilder {
        let request = client.request(method.clone(), url.clone());
        match shown {
            Shown::Nothing => request,
            Shown::Token(token) => request.bearer_auth(token),
            Shown::Login(name, password) => request.basic_auth(name, Some(password)),
        }
    }

    async fn ask(&self, method: Method, url: Url, body: Option<&Json>) -> Result<Answer, Failure> {
        let ready = self.ready().await?;
        let request = || {
            let request = Api::request(ready, &method, &url);
            match body {
                Some(body) => {
                    request.header("Content-Type", "application/json").body(body.to_string())
                }
                None => request,
            }
        };
        web::send_again(RETRIES, request).await.map_err(|it| {
            let why = it.why.context(format_args!(
                "the cluster at {} does not answer",
                web::shown(&self.access.server)
            ));
            let why = io::Error::other(why);
            if it.may_have_arrived { Failure::NoAnswer(why) } else { Failure::Failed(why) }
        })
    }

    fn failed(&self, what: &str, answer: &Answer) -> io::Error {
        if let Some(page) = answer.page("a cluster", &web::shown(&self.access.server)) {
            return io::Error::other(format!("failed to {what}: {page}"));
        }
        let status: Json = serde_json::from_slice(&answer.body).unwrap_or_default();
        let said = status["message"]
            .as_str()
            .unwrap_or("it gives no reason, so that it may be no cluster");
        let said = answer.hide(said);
        let hint = match answer.status {
            401 => ". The credentials are not accepted",
            403 => {
                ". The role needs get, list, create, update and delete for secrets, and for leases of coordination.k8s.io"
            }
            413 | 422
                if said.contains("too long")
                    || said.contains("Too long")
                    || answer.status == 413 =>
            {
                ". A secret holds 1 MiB at most, compressed: larger states need another backend"
            }
            _ => "",
        };
        let status = answer.status;
        io::Error::other(format!(
            "failed to {what} in {}: status {status}: {said}{hint}",
            self.shown()
        ))
    }

    /// Reads an object; nothing where it is not there.
    pub async fn get(&self, kind: &str, name: &str) -> io::Result<Option<Json>> {
        let answer = self.ask(Method::GET, self.url(kind, Some(name)), None).await?;
        let what = format!("read {name:?} of {kind}");
        match answer.status {
            200 => match object_of(&answer, kind, name) {
                Some(found) => Ok(Some(found)),
                None => Err(self.failed(&what, &answer)),
            },
            // A server that knows no such address has no name for what is not there.
            404 if is_of_a_cluster(&answer) => Ok(None),
            _ => Err(self.failed(&what, &answer)),
        }
    }

    /// Lists the objects with a label.
    pub async fn list(&self, kind: &str, label: &str) -> io::Result<Vec<Json>> {
        let mut url = self.url(kind, None);
        url.query_pairs_mut().append_pair("labelSelector", label);
        let answer = self.ask(Method::GET, url, None).await?;
        let failed = || self.failed(&format!("list {kind}"), &answer);
        if answer.status != 200 {
            return Err(failed());
        }
        let mut found: Json = serde_json::from_slice(&answer.body).map_err(|_| failed())?;
        let is_list = found["kind"].as_str().is_some_and(|it| it.ends_with("List"));
        match (found["items"].take(), &found["metadata"]["continue"]) {
            // The whole is asked for, so that what is left over is no answer to that.
            (_, Json::String(more)) if !more.is_empty() => Err(failed()),
            (Json::Array(items), _) if is_list => Ok(items),
            (Json::Null, _) if is_list && found.get("items").is_some() => Ok(Vec::new()),
            _ => Err(failed()),
        }
    }

    /// Makes an object with POST, or replaces it with PUT if it still has the version that it names.
    pub async fn send(
        &self,
        method: Method,
        kind: &str,
        name: &str,
        object: &Json,
    ) -> Result<(), Failure> {
        let url = self.url(kind, Some(name).filter(|_| method == Method::PUT));
        let answer = self.ask(method, url, Some(object)).await?;
        let failed = || self.failed(&format!("write {name:?} of {kind}"), &answer);
        let is_stored = || {
            let stored = object_of(&answer, kind, name);
            stored.is_some_and(|it| it["data"]["tfstate"] == object["data"]["tfstate"])
        };
        match answer.status {
            200 | 201 if is_stored() => Ok(()),
            409 => Err(Failure::Conflict),
            // What has another answer than a cluster gives may have been stored all the same.
            200 | 201 | 500.. => Err(Failure::NoAnswer(failed())),
            _ => Err(Failure::Failed(failed())),
        }
    }

    pub async fn delete(&self, kind: &str, name: &str) -> io::Result<()> {
        let mut url = self.url(kind, Some(name));
        url.query_pairs_mut().append_pair("propagationPolicy", "Background");
        let answer = self.ask(Method::DELETE, url, None).await?;
        match answer.status {
            200 | 202 if is_of_a_cluster(&answer) || object_of(&answer, kind, name).is_some() => {
                Ok(())
            }
            404 if is_of_a_cluster(&answer) => Ok(()),
            _ => Err(self.failed(&format!("delete {name:?} of {kind}"), &answer)),
        }
    }
}

/// Returns the object that an answer holds, if it is of this kind and has this name.
fn object_of(answer: &Answer, kind: &str, name: &str) -> Option<Json> {
    let found: Json = serde_json::from_slice(&answer.body).ok()?;
    let wanted = if kind == "leases" { "Lease" } else { "Secret" };
    (found["kind"] == wanted && found["metadata"]["name"] == name).then_some(found)
}

fn is_of_a_cluster(answer: &Answer) -> bool {
    let status: Json = serde_json::from_slice(&answer.body).unwrap_or_default();
    status["kind"].as_str() == Some("Status")
}
