//! States in secrets of a cluster: `backend "kubernetes"`. Locks are leases, which name their holder.
//!
//! A secret is replaced only as it was read: the cluster compares its resource version. Requests are written by hand: there are six
//! of them, and a client of the whole interface (`kube` with `k8s-openapi`) has types for hundreds, which all have to be built.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use parking_lot::Mutex;
use reqwest::Method;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::kind::Kind;
use super::lock::{LockInfo, LockProblem, LockState, NotUnlocked};
use super::opening::Opening;
use super::shape::{blocks, flag, text, text_map, texts};
use super::store::{self, Content, Refused, Store, Version, check_filled};
use super::workspace;
use crate::diagnostic::Diagnostics;

mod access;
mod api;
mod exec;
#[cfg(test)]
mod tests;

use access::Access;
use api::{Api, Failure};

/// `backend "kubernetes"`
pub const KIND: Kind = Kind {
    name: "kubernetes",
    settings: &[
        text("client_certificate").or(&["KUBE_CLIENT_CERT_DATA"]),
        text("client_key").or(&["KUBE_CLIENT_KEY_DATA"]).sensitive(),
        text("cluster_ca_certificate").or(&["KUBE_CLUSTER_CA_CERT_DATA"]),
        text("config_context").or(&["KUBE_CTX"]),
        text("config_context_auth_info").or(&["KUBE_CTX_AUTH_INFO"]),
        text("config_context_cluster").or(&["KUBE_CTX_CLUSTER"]),
        text("config_path").or(&["KUBE_CONFIG_PATH"]),
        texts("config_paths"),
        blocks(
            "exec",
            &[
                text("api_version").required(),
                texts("args"),
                text("command").required(),
                text_map("env"),
            ],
        ),
        text("host").or(&["KUBE_HOST"]),
        flag("in_cluster_config").or(&["KUBE_IN_CLUSTER_CONFIG"]),
        flag("insecure").or(&["KUBE_INSECURE"]),
        text_map("labels"),
        flag("load_config_file").or(&["KUBE_LOAD_CONFIG_FILE"]),
        text("namespace").or(&["KUBE_NAMESPACE"]),
        text("password").or(&["KUBE_PASSWORD"]).sensitive(),
        text("secret_suffix").required(),
        text("token").or(&["KUBE_TOKEN"]).sensitive(),
        text("username").or(&["KUBE_USER"]),
    ],
    open: |it| Ok(Arc::new(Kubernetes::open(it)?)),
};

/// Where a lease keeps the record of its lock.
const RECORD: &str = "app.terraform.io/lock-info";

/// The store in a cluster.
#[derive(Debug)]
struct Kubernetes {
    api: Api,
    suffix: String,
    labels: BTreeMap<String, String>,
    /// The locks that are held, by workspace.
    held: Mutex<BTreeMap<String, LockInfo>>,
}

impl Kubernetes {
    fn open(it: &Opening) -> Result<Kubernetes, Diagnostics> {
        let namespace = it.text("namespace").unwrap_or_else(|| "default".into());
        Ok(Kubernetes {
            api: Api::new(it.world, Access::new(it)?, &namespace),
            suffix: it.text("secret_suffix").unwrap_or_default(),
            labels: it.table("labels"),
            held: Mutex::default(),
        })
    }

    /// Returns the name of a workspace's secret, if it may be one.
    fn secret(&self, workspace: &str) -> io::Result<String> {
        let name = format!("tfstate-{workspace}-{}", self.suffix);
        let is_plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit();
        let is_label = |it: &str| {
            it.starts_with(is_plain)
                && it.ends_with(is_plain)
                && it.chars().all(|it| is_plain(it) || it == '-')
        };
        if name.len() <= 253 && name.split('.').all(is_label) {
            return Ok(name);
        }
        let why = "it must have at most 253 characters, lower case letters, digits, \"-\" and \".\", and begin and end each part with a letter or a digit. It is made of the workspace's name and `secret_suffix`";
        Err(io::Error::other(format!("the secret name {name} is invalid: {why}")))
    }

    fn lease(&self, workspace: &str) -> io::Result<String> {
        Ok(format!("lock-{}", self.secret(workspace)?))
    }

    fn labels_of(&self, workspace: &str) -> Json {
        let mut all = BTreeMap::from([
            ("tfstate".to_owned(), "true".to_owned()),
            ("tfstateSecretSuffix".to_owned(), self.suffix.clone()),
            ("tfstateWorkspace".to_owned(), workspace.to_owned()),
            ("app.kubernetes.io/managed-by".to_owned(), "terraform".to_owned()),
        ]);
        all.extend(self.labels.clone());
        json!(all)
    }

    /// Puts data in the place of what a secret holds.
    async fn replace(
        &self,
        workspace: &str,
        data: &str,
        expected: &Version,
    ) -> Result<(), Replaced> {
        let name = self.secret(workspace)?;
        let Some(mut secret) = self.api.get("secrets", &name).await? else {
            if !expected.0.is_empty() {
                return Err(Replaced::Overtaken);
            }
            let secret = json!({
                "apiVersion": "v1", "kind": "Secret",
                "metadata": {
                    "name": name, "labels": self.labels_of(workspace), "annotations": {"encoding": "gzip"},
                },
                "data": {"tfstate": data},
            });
            return Ok(self.api.send(Method::POST, "secrets", &name, &secret).await?);
        };
        if version(&secret) != *expected {
            return Err(Replaced::Overtaken);
        }
        // The resource version that was read goes back with it, so that nobody else's change is lost.
        if !secret["data"].is_object() {
            secret["data"] = json!({});
        }
        secret["data"]["tfstate"] = data.into();
        Ok(self.api.send(Method::PUT, "secrets", &name, &secret).await?)
    }

    async fn set_holder(&self, lease: &mut Json, record: Option<&LockInfo>) -> Result<(), Failure> {
        let name = lease["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        if !lease["metadata"]["annotations"].is_object() {
            lease["metadata"]["annotations"] = json!({});
        }
        match record {
            Some(record) => {
                lease["spec"]["holderIdentity"] = record.id.as_str().into();
                lease["metadata"]["annotations"][RECORD] = json!(record).to_string().into();
            }
            None => {
                for (part, member) in
                    [(&["spec"][..], "holderIdentity"), (&["metadata", "annotations"][..], RECORD)]
                {
                    let found = part.iter().try_fold(&mut *lease, |it, name| it.get_mut(*name));
                    found.and_then(Json::as_object_mut).map(|it| it.remove(member));
                }
            }
        }
        self.api.send(Method::PUT, "leases", &name, lease).await
    }

    async fn remove_holder(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        for _ in 0..5 {
            let lease = self.api.get("leases", &self.lease(workspace)?).await?;
            let Some(mut lease) = lease else { return Err(NotUnlocked::not_locked()) };
            match holder(&lease) {
                None => return Err(NotUnlocked::not_locked()),
                Some(other) if other != id => {
                    let known = LockInfo { id: other.into(), ..record(&lease).unwrap_or_default() };
                    return Err(NotUnlocked::other_id(id, known));
                }
                Some(_) => {}
            }
            match self.set_holder(&mut lease, None).await {
                Err(Failure::Conflict) => {}
                done => return Ok(done.map_err(io::Error::from)?),
            }
        }
        Err(io::Error::other("others change the lease all the time").into())
    }
}

/// Why a secret was not replaced.
enum Replaced {
    Overtaken,
    Failed(Failure),
}

impl From<io::Error> for Replaced {
    fn from(it: io::Error) -> Replaced {
        Replaced::Failed(Failure::Failed(it))
    }
}

impl From<Failure> for Replaced {
    fn from(it: Failure) -> Replaced {
        Replaced::Failed(it)
    }
}

fn holder(lease: &Json) -> Option<&str> {
    lease["spec"]["holderIdentity"].as_str().filter(|it| !it.is_empty())
}

fn record(lease: &Json) -> Option<LockInfo> {
    serde_json::from_str(lease["metadata"]["annotations"][RECORD].as_str()?).ok()
}

/// Stands for what a secret holds; nothing where it holds no state.
fn version(secret: &Json) -> Version {
    Version(match secret["data"]["tfstate"].as_str() {
        None | Some("") => String::new(),
        Some(data) => Sha256::digest(data).iter().map(|it| format!("{it:02x}")).collect(),
    })
}

fn packed(bytes: &[u8]) -> io::Result<String> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes)?;
    Ok(STANDARD.encode(writer.finish()?))
}

fn unpacked(data: &str) -> io::Result<Vec<u8>> {
    if data.is_empty() {
        return Ok(Vec::new());
    }
    store::unpacked(&STANDARD.decode(data).map_err(io::Error::other)?)
}

#[async_trait]
impl Store for Kubernetes {
    fn name(&self, workspace: &str) -> String {
        let name = format!("tfstate-{workspace}-{}", self.suffix);
        format!("the secret {name:?} in {}", self.api.shown())
    }

    async fn read(&self, workspace: &str) -> io::Result<Content> {
        let secret = self.api.get("secrets", &self.secret(workspace)?).await?.unwrap_or_default();
        let bytes = unpacked(secret["data"]["tfstate"].as_str().unwrap_or_default());
        let bytes = bytes.map_err(|why| {
            io::Error::other(format!("{} holds no compressed state: {why}", self.name(workspace)))
        })?;
        // A secret that a user has prepared has no such entry yet.
        if secret["data"].get("tfstate").is_some() {
            check_filled(&self.name(workspace), &bytes)?;
        }
        Ok(Content { bytes, version: version(&secret), is_elsewhere: false })
    }

    async fn write(
        &self,
        workspace: &str,
        bytes: &Bytes,
        expected: &Version,
    ) -> Result<Version, Refused> {
        if let Some(why) = self.ask_lock(workspace).await? {
            return Err(Refused::LockLost(why));
        }
        let data = packed(bytes)?;
        let written = version(&json!({"data": {"tfstate": data}}));
        for _ in 0..5 {
            let why = match self.replace(workspace, &data, expected).await {
                Ok(()) => return Ok(written),
                Err(Replaced::Overtaken) => None,
                // Labels may have changed, and nothing else.
                Err(Replaced::Failed(Failure::Conflict)) => continue,
                Err(Replaced::Failed(Failure::Failed(why))) => return Err(Refused::Failed(why)),
                Err(Replaced::Failed(Failure::NoAnswer(why))) => Some(why),
            };
            let there = self.api.get("secrets", &self.secret(workspace)?).await;
            let there = there.map_err(Refused::Unsettled)?.unwrap_or_default();
            match (version(&there), why) {
                (now, Some(_)) if now == written => return Ok(written),
                (now, Some(why)) if now == *expected => return Err(Refused::Failed(why)),
                _ => {
                    let data = there["data"]["tfstate"].as_str().unwrap_or_default();
                    return Err(Refused::Overtaken(unpacked(data)?));
                }
            }
        }
        Err(Refused::Failed(io::Error::other("others change the secret all the time")))
    }

    async fn list(&self) -> io::Result<Vec<String>> {
        let secrets = self.api.list("secrets", "tfstate=true").await?;
        let others = secrets
            .iter()
            .map(|it| &it["metadata"]["labels"])
            .filter(|it| it["tfstateSecretSuffix"].as_str() == Some(&self.suffix))
            .filter_map(|it| it["tfstateWorkspace"].as_str())
            .map(str::to_owned);
        Ok(workspace::listed(others))
    }

    async fn create(&self, workspace: &str) -> io::Result<()> {
        // Its first state makes the secret, if that can have the name.
        self.secret(workspace).map(drop)
    }

    async fn delete(&self, workspace: &str) -> io::Result<()> {
        workspace::check_deletable(workspace)?;
        for (kind, name) in
            [("secrets", self.secret(workspace)?), ("leases", self.lease(workspace)?)]
        {
            let Some(found) = self.api.get(kind, &name).await? else { continue };
            if found["metadata"]["labels"]["tfstate"].as_str() != Some("true") {
                let why = format!(
                    "{name:?} has no label tfstate=true, so that it is no state's and stays"
                );
                return Err(io::Error::other(why));
            }
            self.api.delete(kind, &name).await?;
        }
        self.held.lock().remove(workspace);
        Ok(())
    }

    async fn lock(&self, workspace: &str, info: &LockInfo) -> Result<String, LockProblem> {
        let name = self.lease(workspace)?;
        for _ in 0..5 {
            let taken = match self.api.get("leases", &name).await? {
                None => {
                    let lease = json!({
                        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                        "metadata": {
                            "name": name, "labels": self.labels_of(workspace),
                            "annotations": {RECORD: json!(info).to_string()},
                        },
                        "spec": {"holderIdentity": info.id},
                    });
                    self.api.send(Method::POST, "leases", &name, &lease).await
                }
                Some(lease) if holder(&lease).is_some_and(|it| it != info.id) => {
                    let why = "the state is already locked by another tofu client";
                    return Err(LockProblem::Busy(why.into(), record(&lease)));
                }
                // An attempt before this one had no answer, and was heard.
                Some(lease) if holder(&lease).is_some() => Ok(()),
                Some(mut lease) => self.set_holder(&mut lease, Some(info)).await,
            };
            match taken {
                Ok(()) => {
                    self.held.lock().insert(workspace.to_owned(), info.clone());
                    return Ok(info.id.clone());
                }
                // Somebody else was faster, or it is ours: the lease says which.
                Err(Failure::Conflict | Failure::NoAnswer(_)) => {}
                Err(Failure::Failed(why)) => return Err(why.into()),
            }
        }
        Err(LockProblem::Busy("others take and give back the lease all the time".into(), None))
    }

    async fn lock_state(&self, workspace: &str) -> io::Result<LockState> {
        let lease = self.api.get("leases", &self.lease(workspace)?).await?;
        let held = lease.filter(|it| holder(it).is_some());
        Ok(held.map_or(LockState::Free, |it| LockState::Held(record(&it))))
    }

    async fn ask_lock(&self, workspace: &str) -> io::Result<Option<String>> {
        let Some(held) = self.held.lock().get(workspace).cloned() else { return Ok(None) };
        let lease = self.api.get("leases", &self.lease(workspace)?).await?.unwrap_or_default();
        Ok(match (holder(&lease), record(&lease)) {
            (Some(holder), _) if holder == held.id => None,
            (Some(id), Some(it)) => Some(format!("the lease belongs to {} now (ID {id})", it.who)),
            (Some(id), None) => Some(format!("the lease names {id} as its holder now")),
            (None, _) => Some("the lease has no holder any more".into()),
        })
    }

    async fn unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        // What was deleted takes its lease along.
        if self.held.lock().remove(workspace).is_none() {
            return Ok(());
        }
        self.remove_holder(workspace, id).await
    }

    async fn force_unlock(&self, workspace: &str, id: &str) -> Result<(), NotUnlocked> {
        self.remove_holder(workspace, id).await
    }
}
