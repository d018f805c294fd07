//! Objects of a bucket in Google Cloud Storage, by their generations.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::Method;
use reqsign_google::Credential;
use reqwest::Url;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::backend::cloud::{Answer, Ask, Markers, Trouble, Way};

/// A bucket, and how objects are kept in it.
#[derive(Debug)]
pub struct Bucket {
    /// The way to the service.
    pub way: Way<Credential>,
    /// The service's address, which ends with the name of its version or what comes after.
    pub address: Url,
    /// The bucket's name.
    pub name: String,
    /// The key that states are encrypted with, which each request brings along.
    pub key: Option<Vec<u8>>,
    /// The key of KMS that states are encrypted with.
    pub kms: Option<String>,
}

/// An object.
#[derive(Clone, Debug)]
pub struct Object {
    /// What it holds.
    pub bytes: Bytes,
    /// What stands for this very content.
    pub generation: String,
}

/// What became of a put.
#[derive(Debug)]
pub enum Placed {
    /// It is there, as this generation.
    There(String),
    /// Another generation is there than the one that was to be replaced; it may be what an attempt without an answer has put.
    NotMet,
}

/// Which objects are encrypted with the configuration's key: states are, locks are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A state.
    State,
    /// A lock.
    Lock,
}

/// The generation of what is not there.
pub const NOTHING: &str = "0";

impl Bucket {
    fn url(&self, path: &[&str], query: &[(&str, &str)]) -> String {
        let mut url = self.address.join("b").unwrap_or_else(|_| self.address.clone());
        extend(&mut url, path, query);
        url.into()
    }

    /// Uploads have a path of their own on the same host.
    fn upload_url(&self, query: &[(&str, &str)]) -> String {
        let mut url = self.address.clone();
        url.set_path("/upload/storage/v1/b");
        extend(&mut url, &[&self.name, "o"], query);
        url.into()
    }

    fn with_key(&self, ask: Ask, part: Part) -> Ask {
        let Some(key) = self.key.as_ref().filter(|_| part == Part::State) else { return ask };
        ask.header("x-goog-encryption-algorithm", "AES256")
            .header("x-goog-encryption-key", BASE64.encode(key))
            .header("x-goog-encryption-key-sha256", BASE64.encode(Sha256::digest(key)))
    }

    fn denial(&self, ask: &Ask, answer: &Answer) -> Trouble {
        self.way.service.refusal(ask.host(), answer)
    }

    /// Returns an object; nothing where there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be known.
    pub async fn get(&self, name: &str, part: Part) -> Result<Option<Object>, Trouble> {
        // What is replaced between the two questions is asked for again.
        for _ in 0..5 {
            let mut query = vec![("alt", "media")];
            let url = self.url(&[&self.name, "o", name], &query);
            let ask = self.with_key(Ask::new(Method::GET, url), part);
            let answer = self.way.send(&ask).await?;
            if !answer.is_success() {
                let trouble = self.denial(&ask, &answer);
                let is_missing = answer.status == 404 && !self.is_bucket_missing(&answer);
                return if is_missing { Ok(None) } else { Err(trouble) };
            }
            if let Some(generation) = answer.header("x-goog-generation").map(str::to_owned) {
                return Ok(Some(Object { bytes: answer.body, generation }));
            }
            // Not everything that speaks like the service tells the generation with the content.
            let Some(generation) = self.generation(name, part).await? else { return Ok(None) };
            query.push(("ifGenerationMatch", &generation));
            let url = self.url(&[&self.name, "o", name], &query);
            let again = self.way.send(&self.with_key(Ask::new(Method::GET, url), part)).await?;
            if again.is_success() {
                return Ok(Some(Object { bytes: again.body, generation }));
            }
        }
        let text = format!("gs://{}/{name} is written so often that it cannot be read", self.name);
        Err(Trouble::Unanswered(text))
    }

    /// Returns what an object holds that is no state, in this generation where one is named; nothing where there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be known.
    pub async fn content(
        &self,
        name: &str,
        generation: Option<&str>,
    ) -> Result<Option<Bytes>, Trouble> {
        let mut query = vec![("alt", "media")];
        query.extend(generation.map(|it| ("generation", it)));
        let ask = Ask::new(Method::GET, self.url(&[&self.name, "o", name], &query));
        let answer = self.way.send(&ask).await?;
        match answer.status {
            404 if !self.is_bucket_missing(&answer) => Ok(None),
            _ if answer.is_success() => Ok(Some(answer.body)),
            _ => Err(self.denial(&ask, &answer)),
        }
    }

    fn is_bucket_missing(&self, answer: &Answer) -> bool {
        String::from_utf8_lossy(&answer.body).contains("bucket does not exist")
    }

    /// Returns the generation of an object; nothing where there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be known.
    pub async fn generation(&self, name: &str, part: Part) -> Result<Option<String>, Trouble> {
        let url = self.url(&[&self.name, "o", name], &[("fields", "generation")]);
        let ask = self.with_key(Ask::new(Method::GET, url), part);
        let answer = self.way.send(&ask).await?;
        match answer.status {
            404 if !self.is_bucket_missing(&answer) => Ok(None),
            _ if answer.is_success() => self.told(&answer).map(Some),
            _ => Err(self.denial(&ask, &answer)),
        }
    }

    fn told(&self, answer: &Answer) -> Result<String, Trouble> {
        let body: Json = serde_json::from_slice(&answer.body).unwrap_or_default();
        let generation = body["generation"].as_str().map(str::to_owned);
        generation.or_else(|| body["generation"].as_u64().map(|it| it.to_string())).ok_or_else(|| {
            let text = format!(
                "what answers for gs://{} does not speak as Google Cloud Storage does (an object without generation): check the endpoint's address",
                self.name
            );
            Trouble::denied(answer.status, "", text)
        })
    }

    /// Puts an object in the place of a generation.
    ///
    /// # Errors
    ///
    /// If it is not there then, or nobody knows.
    pub async fn put(
        &self,
        name: &str,
        bytes: Bytes,
        replaced: &str,
        part: Part,
    ) -> Result<Placed, Trouble> {
        let mut query =
            vec![("uploadType", "media"), ("name", name), ("ifGenerationMatch", replaced)];
        if let Some(kms) = self.kms.as_deref().filter(|_| part == Part::State) {
            query.push(("kmsKeyName", kms));
        }
        let ask = Ask::new(Method::POST, self.upload_url(&query))
            // What Go takes text for, which the real program lets decide.
            .header("content-type", "text/plain; charset=utf-8")
            .body(bytes);
        let ask = self.with_key(ask, part);
        let answer = self.way.send(&ask).await?;
        match answer.status {
            412 => Ok(Placed::NotMet),
            _ if answer.is_success() => Ok(Placed::There(self.told(&answer)?)),
            _ => {
                let trouble = self.denial(&ask, &answer);
                match answer.may_be_done {
                    true => Err(Trouble::Unanswered(trouble.to_string())),
                    false => Err(trouble),
                }
            }
        }
    }

    /// Deletes an object, if it still is this generation where one is named. Returns whether it was there.
    ///
    /// # Errors
    ///
    /// If it may still be there, or is another generation.
    pub async fn delete(&self, name: &str, generation: Option<&str>) -> Result<bool, Trouble> {
        let query: Vec<(&str, &str)> =
            generation.into_iter().map(|it| ("ifGenerationMatch", it)).collect();
        let ask = Ask::new(Method::DELETE, self.url(&[&self.name, "o", name], &query));
        let answer = self.way.send(&ask).await?;
        match answer.status {
            404 if !self.is_bucket_missing(&answer) => Ok(answer.may_be_done),
            _ if answer.is_success() => Ok(true),
            _ => Err(self.denial(&ask, &answer)),
        }
    }

    /// Lists the names of the objects right below `prefix`.
    ///
    /// # Errors
    ///
    /// If they cannot be known.
    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, Trouble> {
        self.listed(&[("delimiter", "/"), ("prefix", prefix)]).await
    }

    /// Lists the names of all objects that begin with `prefix`.
    ///
    /// # Errors
    ///
    /// If they cannot be known.
    pub async fn list_all(&self, prefix: &str) -> Result<Vec<String>, Trouble> {
        self.listed(&[("prefix", prefix)]).await
    }

    async fn listed(&self, which: &[(&str, &str)]) -> Result<Vec<String>, Trouble> {
        let (mut names, mut markers) = (Vec::new(), Markers::default());
        loop {
            let mut query = which.to_vec();
            if let Some(marker) = &markers.next {
                query.push(("pageToken", marker));
            }
            let ask = Ask::new(Method::GET, self.url(&[&self.name, "o"], &query));
            let answer = self.way.demand(&ask).await?;
            let page = serde_json::from_slice::<Json>(&answer.body).ok().filter(is_list);
            let page = page.ok_or_else(|| {
                let text = format!("{} does not answer as Google Cloud Storage does: check the endpoint's address.", ask.host());
                Trouble::denied(answer.status, "", text)
            })?;
            let items = page["items"].as_array().into_iter().flatten();
            names.extend(items.filter_map(|it| it["name"].as_str().map(str::to_owned)));
            let marker = page["nextPageToken"].as_str().map(str::to_owned);
            let at = format!("gs://{}", self.name);
            if !markers.follow(marker, "Google Cloud Storage", &at)? {
                return Ok(names);
            }
        }
    }
}

/// Whether a document is a page of a list. Google says so also of one without objects; not all doubles of it do.
fn is_list(page: &Json) -> bool {
    page["kind"] == "storage#objects" || page["items"].is_array()
}

fn extend(url: &mut Url, path: &[&str], query: &[(&str, &str)]) {
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.extend(path);
    }
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
}
