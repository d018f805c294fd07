//! Blobs of a container: read, put under a condition and a lease, leased, listed.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::Method;
use reqsign_azure_storage::Credential;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::backend::cloud::{Answer, Ask, Markers, Trouble, Way};

/// A container, and how blobs are kept in it.
#[derive(Debug)]
pub struct Container {
    /// The way to the service.
    pub way: Way<Credential>,
    /// The container's address, without a slash at its end.
    pub address: String,
    /// The key that blobs are encrypted with, which each request brings along.
    pub key: Option<Vec<u8>>,
    /// The encryption scope of what is put.
    pub scope: Option<String>,
}

/// A blob.
#[derive(Clone, Debug)]
pub struct Blob {
    /// What it holds.
    pub bytes: Bytes,
    /// What stands for this very content.
    pub tag: String,
}

/// What is known of a blob without reading it.
#[derive(Clone, Debug, Default)]
pub struct Properties {
    /// Whether somebody has a lease of it.
    pub is_leased: bool,
    /// Its metadata, the names in lower case.
    pub metadata: BTreeMap<String, String>,
}

/// What a blob is put in the place of.
#[derive(Clone, Copy, Debug)]
pub enum Condition<'a> {
    /// Nothing.
    Absent,
    /// What has this tag.
    Is(&'a str),
}

/// The version of the service's interface that is spoken.
const VERSION: &str = "2023-11-03";
/// What the headers with metadata begin with.
const METADATA: &str = "x-ms-meta-";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Listing {
    blobs: Blobs,
    #[serde(default)]
    next_marker: String,
}

#[derive(Default, Deserialize)]
struct Blobs {
    #[serde(rename = "Blob", default)]
    blobs: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(rename = "Name")]
    name: String,
}

impl Container {
    /// Returns the address of a blob.
    pub fn url(&self, blob: &str) -> String {
        let mut escaped = String::new();
        for byte in blob.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => escaped.push(char::from(byte)),
                b'-' | b'.' | b'_' | b'~' | b':' | b'$' | b'&' | b'+' | b'=' | b'@' => {
                    escaped.push(char::from(byte));
                }
                _ => escaped.push_str(&format!("%{byte:02X}")),
            }
        }
        format!("{}/{escaped}", self.address)
    }

    fn ask(&self, method: Method, blob: &str, query: &str) -> Ask {
        Ask::new(method, format!("{}{query}", self.url(blob))).header("x-ms-version", VERSION)
    }

    /// Brings the key along that a blob is encrypted with.
    fn keyed(&self, ask: Ask) -> Ask {
        let Some(key) = &self.key else { return ask };
        ask.header("x-ms-encryption-algorithm", "AES256")
            .header("x-ms-encryption-key", BASE64.encode(key))
            .header("x-ms-encryption-key-sha256", BASE64.encode(Sha256::digest(key)))
    }

    fn scoped(&self, ask: Ask) -> Ask {
        match &self.scope {
            Some(scope) => ask.header("x-ms-encryption-scope", scope),
            None => ask,
        }
    }

    async fn demand(&self, ask: &Ask) -> Result<Answer, Trouble> {
        let changes = ask.method != Method::GET && ask.method != Method::HEAD;
        match self.way.demand(ask).await {
            // What an earlier attempt has done is not undone by the denial of a later one.
            Err(Trouble::Denied(it)) if it.may_be_done && changes => {
                Err(Trouble::Unanswered(it.text))
            }
            answer => answer,
        }
    }

    /// Returns a blob; nothing where there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be known.
    pub async fn get(&self, blob: &str) -> Result<Option<Blob>, Trouble> {
        let answer = self.demand(&self.keyed(self.ask(Method::GET, blob, ""))).await;
        let answer = match answer {
            Err(it) if is_missing(&it) => return Ok(None),
            answer => answer?,
        };
        let Some(tag) = answer.header("etag").map(str::to_owned) else {
            let text = unlike_azure(&self.address, "no ETag");
            return Err(Trouble::denied(answer.status, "", text));
        };
        Ok(Some(Blob { bytes: answer.body, tag }))
    }

    /// Returns what is known of a blob; nothing where there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be known.
    pub async fn properties(&self, blob: &str) -> Result<Option<Properties>, Trouble> {
        let answer = self.demand(&self.keyed(self.ask(Method::HEAD, blob, ""))).await;
        let answer = match answer {
            Err(it) if is_missing(&it) => return Ok(None),
            answer => answer?,
        };
        let headers = answer.headers.iter();
        let metadata = headers.filter_map(|(name, value)| {
            let name = name.as_str().strip_prefix(METADATA)?;
            Some((name.to_lowercase(), value.to_str().ok()?.to_owned()))
        });
        let is_leased = answer.header("x-ms-lease-status") == Some("locked");
        Ok(Some(Properties { is_leased, metadata: metadata.collect() }))
    }

    /// Puts a blob. Returns its tag.
    ///
    /// # Errors
    ///
    /// If it is not there then, or nobody knows; a condition that does not hold is a denial.
    pub async fn put(
        &self,
        blob: &str,
        bytes: Bytes,
        condition: Condition<'_>,
        lease: Option<&str>,
        metadata: &BTreeMap<String, String>,
    ) -> Result<String, Trouble> {
        let ask = self.ask(Method::PUT, blob, "").header("x-ms-blob-type", "BlockBlob");
        let ask = match condition {
            Condition::Absent => ask.header("if-none-match", "*"),
            Condition::Is(tag) => ask.header("if-match", tag),
        };
        let ask = ask.header("x-ms-blob-content-type", "application/json");
        let ask = with_metadata(with_lease(ask, lease), metadata).body(bytes);
        let answer = self.demand(&self.scoped(self.keyed(ask))).await?;
        // Azure says what stands for the blob it has made. Any other answer does not say that there is one.
        let why = match answer.header("etag").filter(|it| !it.is_empty()) {
            Some(tag) if answer.status == 201 => return Ok(tag.to_owned()),
            None if answer.status == 201 => "no ETag".to_owned(),
            _ => in_place_of(&answer, 201),
        };
        Err(Trouble::Unanswered(unlike_azure(&self.address, &why)))
    }

    /// Keeps what a blob holds now as a snapshot.
    ///
    /// # Errors
    ///
    /// If there is none then.
    pub async fn snapshot(&self, blob: &str, lease: Option<&str>) -> Result<(), Trouble> {
        let ask = with_lease(self.ask(Method::PUT, blob, "?comp=snapshot"), lease);
        self.demand(&self.scoped(self.keyed(ask))).await.map(drop)
    }

    /// Sets the metadata of a blob.
    ///
    /// # Errors
    ///
    /// If it is not set.
    pub async fn set_metadata(
        &self,
        blob: &str,
        lease: &str,
        metadata: &BTreeMap<String, String>,
    ) -> Result<(), Trouble> {
        let ask = with_lease(self.ask(Method::PUT, blob, "?comp=metadata"), Some(lease));
        self.demand(&self.scoped(self.keyed(with_metadata(ask, metadata)))).await.map(drop)
    }

    /// Takes a lease of a blob that does not end.
    ///
    /// # Errors
    ///
    /// If it is not taken.
    pub async fn lease(&self, blob: &str, id: &str) -> Result<(), Trouble> {
        let ask = self.ask(Method::PUT, blob, "?comp=lease");
        let ask = ask.header("x-ms-lease-action", "acquire").header("x-ms-lease-duration", "-1");
        self.demand(&ask.header("x-ms-proposed-lease-id", id)).await.map(drop)
    }

    /// Gives a lease back.
    ///
    /// # Errors
    ///
    /// If it is not given back, or is another's.
    pub async fn release(&self, blob: &str, id: &str) -> Result<(), Trouble> {
        let ask = self.ask(Method::PUT, blob, "?comp=lease").header("x-ms-lease-action", "release");
        self.demand(&with_lease(ask, Some(id))).await.map(drop)
    }

    /// Deletes a blob. One that is not there is no error.
    ///
    /// # Errors
    ///
    /// If it may still be there.
    pub async fn delete(&self, blob: &str, lease: Option<&str>) -> Result<(), Trouble> {
        match self.demand(&with_lease(self.ask(Method::DELETE, blob, ""), lease)).await {
            Err(it) if is_missing(&it) => Ok(()),
            Ok(answer) if answer.status != 202 => {
                let why = in_place_of(&answer, 202);
                Err(Trouble::Unanswered(unlike_azure(&self.address, &why)))
            }
            deleted => deleted.map(drop),
        }
    }

    /// Lists the names that begin with `prefix`.
    ///
    /// # Errors
    ///
    /// If they cannot be known.
    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, Trouble> {
        let (mut names, mut markers) = (Vec::new(), Markers::default());
        loop {
            let mut query =
                reqwest::Url::parse(&self.address).map_err(|_| strange(&self.address))?;
            query.query_pairs_mut().extend_pairs([
                ("restype", "container"),
                ("comp", "list"),
                ("prefix", prefix),
            ]);
            if let Some(marker) = &markers.next {
                query.query_pairs_mut().append_pair("marker", marker);
            }
            let url = query.as_str().replace('+', "%20");
            let ask = Ask::new(Method::GET, url).header("x-ms-version", VERSION);
            let answer = self.demand(&ask).await?;
            let listing: Listing =
                quick_xml::de::from_reader(&*answer.body).map_err(|_| strange(&self.address))?;
            names.extend(listing.blobs.blobs.into_iter().map(|it| it.name));
            let marker = Some(listing.next_marker);
            if !markers.follow(marker, "Azure Blob Storage", &self.address)? {
                return Ok(names);
            }
        }
    }
}

/// Whether the service says that there is no such blob. Status 404 without its reason may come from anything on the way.
fn is_missing(trouble: &Trouble) -> bool {
    trouble.is_absent() && trouble.code() == "BlobNotFound"
}

fn with_lease(ask: Ask, lease: Option<&str>) -> Ask {
    match lease {
        Some(id) => ask.header("x-ms-lease-id", id),
        None => ask,
    }
}

fn with_metadata(ask: Ask, metadata: &BTreeMap<String, String>) -> Ask {
    metadata.iter().fold(ask, |ask, (name, value)| ask.header(&format!("{METADATA}{name}"), value))
}

/// Says that what answers is not Azure, and why its answer shows that.
fn unlike_azure(address: &str, why: &str) -> String {
    format!(
        "what answers at {address} does not speak as Azure Blob Storage does ({why}): check the names and the endpoint"
    )
}

/// Says which status came instead of the only one that Azure gives.
fn in_place_of(answer: &Answer, status: u16) -> String {
    format!("status {} in place of {status}", answer.status)
}

/// The service answers with something that is none of its answers.
fn strange(address: &str) -> Trouble {
    let text = format!(
        "what answers at {address} gives a list that is none of Azure's: check the names and the endpoint"
    );
    Trouble::denied(200, "", text)
}
