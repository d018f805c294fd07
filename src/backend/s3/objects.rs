//! Objects of a bucket: read, put under a condition, deleted, listed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::Method;
use md5::{Digest as _, Md5};
use reqsign_aws_v4::Credential;
use serde::Deserialize;
use sha2::Sha256;

use super::address::{Addresses, escaped};
use crate::backend::cloud::{Ask, Markers, Trouble, Way};

/// A bucket, and how objects are kept in it.
#[derive(Debug)]
pub struct Bucket {
    /// The way to S3.
    pub way: Way<Credential>,
    /// Where S3 is.
    pub addresses: Addresses,
    /// The bucket's name.
    pub name: String,
    /// How objects are encrypted.
    pub protection: Protection,
    /// The canned access list of what is put.
    pub access_list: Option<String>,
    /// Whether what is put carries its checksum.
    pub has_checksums: bool,
}

/// How S3 encrypts what it keeps.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Protection {
    /// As the bucket says.
    #[default]
    Usual,
    /// With keys of S3.
    Managed,
    /// With a key of KMS.
    Kms(String),
    /// With a key that each request brings along.
    Customer(Vec<u8>),
}

impl std::fmt::Debug for Protection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Protection::Usual => "Usual",
            Protection::Managed => "Managed",
            Protection::Kms(_) => "Kms",
            Protection::Customer(_) => "Customer",
        })
    }
}

/// An object.
#[derive(Clone, Debug)]
pub struct Object {
    /// What it holds.
    pub bytes: Bytes,
    /// What stands for this very content.
    pub tag: String,
}

/// Under which condition an object is put.
#[derive(Clone, Copy, Debug)]
pub enum Condition<'a> {
    /// Under none.
    Any,
    /// Nothing is there.
    Absent,
    /// What is there has this tag.
    Is(&'a str),
}

/// What became of a put.
#[derive(Debug)]
pub enum Placed {
    /// It is there, under this tag.
    There(String),
    /// The condition does not hold; or it does not hold any more, because an attempt without an answer has done it.
    NotMet,
}

/// What stands for nothing.
pub const NOTHING: &str = "";

#[derive(Deserialize)]
struct Listing {
    #[serde(rename = "Contents", default)]
    contents: Vec<Listed>,
    #[serde(rename = "NextContinuationToken")]
    next: Option<String>,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(rename = "Key")]
    key: String,
}

impl Bucket {
    fn ask(&self, method: Method, key: &str) -> Ask {
        Ask::new(method, self.addresses.object(&self.name, key))
    }

    async fn send(&self, ask: Ask) -> Result<crate::backend::cloud::Answer, Trouble> {
        let hash = sha256_hex(&ask.body);
        self.way.send(&ask.header("x-amz-content-sha256", hash)).await
    }

    fn denial(&self, key: &str, answer: &crate::backend::cloud::Answer) -> Trouble {
        let url = self.addresses.object(&self.name, key);
        self.way.service.refusal(Ask::new(Method::GET, url).host(), answer)
    }

    /// Returns an object; nothing where there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be known.
    pub async fn get(&self, key: &str) -> Result<Option<Object>, Trouble> {
        self.get_version(key, None).await
    }

    /// Returns an object, in a version that is not the newest where one is named; nothing where there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be known.
    pub async fn get_version(
        &self,
        key: &str,
        version: Option<&str>,
    ) -> Result<Option<Object>, Trouble> {
        let mut ask = self.unlocked(self.ask(Method::GET, key));
        if let Some(version) = version {
            ask.url.push_str(&format!("?versionId={}", escaped(version, false)));
        }
        let answer = self.send(ask).await?;
        if !answer.is_success() {
            let trouble = self.denial(key, &answer);
            let is_missing = trouble.is_absent() && trouble.code() != "NoSuchBucket";
            return if is_missing { Ok(None) } else { Err(trouble) };
        }
        let tag = self.tag(key, &answer)?;
        Ok(Some(Object { bytes: answer.body, tag }))
    }

    /// Returns what stands for an object's content; [`NOTHING`] where there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be known.
    pub async fn tag_of(&self, key: &str) -> Result<String, Trouble> {
        let answer = self.send(self.unlocked(self.ask(Method::HEAD, key))).await?;
        match answer.status {
            404 => Ok(NOTHING.to_owned()),
            _ if answer.is_success() => self.tag(key, &answer),
            _ => Err(self.denial(key, &answer)),
        }
    }

    fn tag(&self, key: &str, answer: &crate::backend::cloud::Answer) -> Result<String, Trouble> {
        answer.header("etag").map(str::to_owned).ok_or_else(|| {
            let text = format!(
                "what answers for s3://{}/{key} does not speak S3 (an answer without ETag, status {}): check the endpoint's address",
                self.name, answer.status
            );
            Trouble::denied(answer.status, "", text)
        })
    }

    /// Puts an object.
    ///
    /// # Errors
    ///
    /// If it is not there then, or nobody knows.
    pub async fn put(
        &self,
        key: &str,
        bytes: Bytes,
        condition: Condition<'_>,
        tags: &str,
    ) -> Result<Placed, Trouble> {
        let mut ask = self.ask(Method::PUT, key).header("content-type", "application/json");
        ask = match condition {
            Condition::Any => ask,
            Condition::Absent => ask.header("if-none-match", "*"),
            Condition::Is(tag) => ask.header("if-match", tag),
        };
        if self.has_checksums {
            let sum = BASE64.encode(Sha256::digest(&bytes));
            ask = ask
                .header("x-amz-sdk-checksum-algorithm", "SHA256")
                .header("x-amz-checksum-sha256", sum);
        }
        if let Some(list) = &self.access_list {
            ask = ask.header("x-amz-acl", list);
        }
        if !tags.is_empty() {
            ask = ask.header("x-amz-tagging", tags);
        }
        let answer = self.send(self.protected(ask).body(bytes)).await?;
        if answer.is_success() {
            return Ok(Placed::There(self.tag(key, &answer)?));
        }
        let trouble = self.denial(key, &answer);
        let is_gone = matches!(condition, Condition::Is(_)) && trouble.code() == "NoSuchKey";
        if answer.status == 412 || is_gone {
            return Ok(Placed::NotMet);
        }
        // What an earlier attempt has done is not undone by the denial of a later one.
        match answer.may_be_done {
            true => Err(Trouble::Unanswered(trouble.to_string())),
            false => Err(trouble),
        }
    }

    /// Deletes an object. One that is not there is no error.
    ///
    /// # Errors
    ///
    /// If it may still be there.
    pub async fn delete(&self, key: &str) -> Result<(), Trouble> {
        let answer = self.send(self.ask(Method::DELETE, key)).await?;
        match answer.is_success() || answer.status == 404 {
            true => Ok(()),
            false => Err(self.denial(key, &answer)),
        }
    }

    /// Lists the keys that begin with `prefix`.
    ///
    /// # Errors
    ///
    /// If they cannot be known.
    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, Trouble> {
        let (mut keys, mut markers) = (Vec::new(), Markers::default());
        loop {
            let mut url = self.addresses.object(&self.name, "");
            url.push_str("?list-type=2&max-keys=1000");
            if let Some(marker) = &markers.next {
                url.push_str(&format!("&continuation-token={}", escaped(marker, false)));
            }
            url.push_str(&format!("&prefix={}", escaped(prefix, false)));
            let answer = self.send(Ask::new(Method::GET, url)).await?;
            if !answer.is_success() {
                return Err(self.denial("", &answer));
            }
            let listing: Listing = quick_xml::de::from_reader(&*answer.body).map_err(|_| {
                let text = format!("what answers for s3://{} gives a list that is none of S3's: check the endpoint's address", self.name);
                Trouble::denied(answer.status, "", text)
            })?;
            keys.extend(listing.contents.into_iter().map(|it| it.key));
            if !markers.follow(listing.next, "S3", &format!("s3://{}", self.name))? {
                return Ok(keys);
            }
        }
    }

    /// Says how what is put is to be encrypted.
    fn protected(&self, ask: Ask) -> Ask {
        const HOW: &str = "x-amz-server-side-encryption";
        match &self.protection {
            Protection::Usual => ask,
            Protection::Managed => ask.header(HOW, "AES256"),
            Protection::Kms(key) => ask
                .header(HOW, "aws:kms")
                .header("x-amz-server-side-encryption-aws-kms-key-id", key),
            Protection::Customer(_) => self.unlocked(ask),
        }
    }

    /// Brings the key along that an object can be read with.
    fn unlocked(&self, ask: Ask) -> Ask {
        let Protection::Customer(key) = &self.protection else { return ask };
        ask.header("x-amz-server-side-encryption-customer-algorithm", "AES256")
            .header("x-amz-server-side-encryption-customer-key", BASE64.encode(key))
            .header(
                "x-amz-server-side-encryption-customer-key-md5",
                BASE64.encode(Md5::digest(key)),
            )
    }
}

/// Returns the hash of a body as signatures have it.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns the hash that OpenTofu keeps of a state in DynamoDB.
pub fn md5_hex(bytes: &[u8]) -> String {
    hex(&Md5::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}
