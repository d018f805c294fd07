//! Packages of modules in Google Cloud Storage: `gcs::https://www.googleapis.com/storage/v1/BUCKET/OBJECT`.
//!
//! Credentials and the service's address are those of states: whatever host an address names, a token is shown to nobody else.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use percent_encoding::percent_decode_str;
use reqwest::Url;

use super::KIND;
use super::objects::Bucket;
use super::settings;
use crate::backend::local::Choice;
use crate::backend::objects::{Objects, Placed};
use crate::backend::opening::{Opening, Owner};
use crate::config::source::RemoteAddress;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorContext};
use crate::value::Value;
use crate::world::World;

/// Returns where a package is, with the way to it.
///
/// # Errors
///
/// If the address leads to no object, or there are no credentials.
pub async fn open(world: &Arc<World>, address: &RemoteAddress) -> Result<Placed, Error> {
    let (bucket, name) = place(&address.url)?;
    let version = generation(&address.fragment)?;
    let mut given = KIND.unset();
    given.insert("bucket".to_owned(), Value::string(&bucket));
    let choice = Choice::default();
    let (owner, settings) = (Owner::Packages("gcs"), KIND.settings);
    let opening = Opening { world, owner, settings, given: &given, choice: &choice };
    let settings = settings::read(&opening).map_err(|problems| {
        let details = problems.iter().map(|it: &Diagnostic| it.detail.clone());
        Error::from(details.collect::<Vec<_>>().join(" "))
    })?;
    let objects = settings.packages(world).map_err(Error::of)?;
    let bucket = format!("gs://{bucket}");
    Ok(Placed { objects: Box::new(objects), bucket, name, version })
}

#[async_trait]
impl Objects for Bucket {
    async fn get(&self, name: &str, version: Option<&str>) -> Result<Option<Bytes>, Error> {
        self.content(name, version).await.map_err(Error::of)
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>, Error> {
        self.list_all(prefix).await.map_err(Error::of)
    }
}

/// Returns the bucket and the object's name.
fn place(address: &str) -> Result<(String, String), Error> {
    let wrong = || {
        Error::from(
            "the address names no object: https://www.googleapis.com/storage/v1/BUCKET/OBJECT does",
        )
    };
    let url = Url::parse(address).context("the address is no URL")?;
    let host = url.host_str().unwrap_or_default();
    let is_there = host.strip_suffix(".googleapis.com").is_some_and(|it| !it.contains('.'));
    if !is_there || url.scheme() != "https" || !url.username().is_empty() {
        return Err(wrong());
    }
    let path = percent_decode_str(url.path()).decode_utf8();
    let path = path.context("what is escaped in the address is no text")?;
    let parts: Vec<&str> = path.splitn(5, '/').collect();
    match parts[..] {
        ["", _, _, bucket, name] if !bucket.is_empty() && !name.trim_matches('/').is_empty() => {
            Ok((bucket.to_owned(), name.trim_matches('/').to_owned()))
        }
        _ => Err(wrong()),
    }
}

/// Reads what stands behind `#`.
fn generation(text: &str) -> Result<Option<String>, Error> {
    match text {
        "" => Ok(None),
        digits if digits.bytes().all(|it| it.is_ascii_digit()) => Ok(Some(digits.to_owned())),
        other => {
            Err(format!("{other:?} behind \"#\" is no generation of an object: a number is one")
                .into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_bucket_and_object() {
        let found = place("https://www.googleapis.com/storage/v1/modules/net/a%20b.zip");
        assert_eq!(found.expect("a place"), ("modules".to_owned(), "net/a b.zip".to_owned()));
        for address in [
            "https://www.googleapis.com/storage/v1/modules",
            "https://www.googleapis.com/storage/v1/modules/",
            "https://www.googleapis.com/storage/v1//a",
            "https://evil.example.com/storage/v1/modules/a",
            "https://a.b.googleapis.com/storage/v1/modules/a",
            "http://www.googleapis.com/storage/v1/modules/a",
        ] {
            assert!(place(address).expect_err(address).to_string().contains("names no object"));
        }
    }

    #[test]
    fn a_generation_is_a_number() {
        assert_eq!(generation("").expect("none"), None);
        assert_eq!(generation("12").expect("one").as_deref(), Some("12"));
        assert!(generation("latest").is_err());
    }
}
