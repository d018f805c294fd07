//! Packages of modules in S3, and in what speaks like it: `s3::https://…`.
//!
//! Credentials are found as for states. An address names the bucket in its path or, with AWS, in its host.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use percent_encoding::percent_decode_str;
use reqwest::Url;

use super::KIND;
use super::access::Access;
use super::address::PARTITIONS;
use super::objects::{Bucket, Protection};
use super::service::Aws;
use crate::backend::local::Choice;
use crate::backend::objects::{Objects, Placed};
use crate::backend::opening::{Opening, Owner};
use crate::config::source::RemoteAddress;
use crate::error::{Error, ErrorContext};
use crate::value::Value;
use crate::world::World;

/// What an address says.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    bucket: String,
    key: String,
    region: String,
    /// Where S3 is, if it is not that of AWS.
    endpoint: Option<String>,
}

/// Returns where a package is, with the way to it.
///
/// # Errors
///
/// If the address leads to no object, or there are no credentials.
pub async fn open(world: &Arc<World>, address: &RemoteAddress) -> Result<Placed, Error> {
    let place = Place::read(&address.url, address.query("region").map(decoded).transpose()?)?;
    let mut given = KIND.unset();
    let mut set = |name: &str, value: Value| given.insert(name.to_owned(), value);
    let text = |it: &str| Value::string(it);
    set("bucket", text(&place.bucket));
    set("region", text(&place.region));
    set("use_path_style", Value::Bool(true));
    set("skip_credentials_validation", Value::Bool(true));
    if let Some(endpoint) = &place.endpoint {
        set("endpoint", text(endpoint));
    }
    if let Some(machine) = world.variable("AWS_METADATA_URL") {
        set("ec2_metadata_service_endpoint", text(machine));
    }
    for (name, argument) in [
        ("profile", "aws_profile"),
        ("access_key", "aws_access_key_id"),
        ("secret_key", "aws_access_key_secret"),
        ("token", "aws_access_token"),
    ] {
        if let Some(value) = address.query(argument) {
            set(name, text(&decoded(value)?));
        }
    }
    if address.query("aws_access_key_id").is_some()
        != address.query("aws_access_key_secret").is_some()
    {
        return Err(
            "of \"aws_access_key_id\" and \"aws_access_key_secret\" one is given without the other"
                .into(),
        );
    }
    let choice = Choice::default();
    let (owner, settings) = (Owner::Packages("s3"), KIND.settings);
    let opening = Opening { world, owner, settings, given: &given, choice: &choice };
    let access = Access::read(&opening).map_err(|it| Error::from(it.detail))?;
    let connected = access.connect(world).await.map_err(Error::of)?;
    let bucket = Bucket {
        way: connected.way("s3", Aws::Packages(place.bucket.clone())),
        addresses: access.addresses.clone(),
        name: place.bucket.clone(),
        protection: Protection::Usual,
        access_list: None,
        has_checksums: false,
    };
    Ok(Placed {
        objects: Box::new(bucket),
        bucket: format!("s3://{}", place.bucket),
        name: place.key,
        version: address.query("version").filter(|it| !it.is_empty()).map(decoded).transpose()?,
    })
}

#[async_trait]
impl Objects for Bucket {
    async fn get(&self, name: &str, version: Option<&str>) -> Result<Option<Bytes>, Error> {
        let found = self.get_version(name, version).await.map_err(Error::of)?;
        Ok(found.map(|it| it.bytes))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>, Error> {
        Bucket::list(self, prefix).await.map_err(Error::of)
    }
}

impl Place {
    fn read(address: &str, region: Option<String>) -> Result<Place, Error> {
        let url = Url::parse(address).context("the address is no URL")?;
        let host = url.host_str().unwrap_or_default();
        let wrong = || {
            Error::from(format!(
                "the address names no object: https://s3.REGION.amazonaws.com/BUCKET/KEY does, or https://{}/BUCKET/KEY for a service of others",
                if host.is_empty() { "HOST" } else { host }
            ))
        };
        if !["http", "https"].contains(&url.scheme()) || !url.username().is_empty() {
            return Err(wrong());
        }
        let path = decoded(url.path().trim_start_matches('/'))?;
        let in_path = || path.split_once('/').map(|it| (it.0.to_owned(), it.1.to_owned()));
        let of_aws = PARTITIONS.iter().find_map(|it| host.strip_suffix(it.1)?.strip_suffix('.'));
        let (bucket, key, region, endpoint) = match of_aws {
            None => {
                let (bucket, key) = in_path().ok_or_else(wrong)?;
                let port = url.port().map(|it| format!(":{it}")).unwrap_or_default();
                let endpoint = format!("{}://{host}{port}", url.scheme());
                (bucket, key, region, Some(endpoint))
            }
            Some(labels) => {
                let (bucket, region) = service(labels).ok_or_else(wrong)?;
                let (bucket, key) = match bucket {
                    Some(bucket) => (bucket, path),
                    None => in_path().ok_or_else(wrong)?,
                };
                (bucket, key, region, None)
            }
        };
        let key = key.trim_matches('/').to_owned();
        if bucket.is_empty() || key.is_empty() {
            return Err(wrong());
        }
        let region = region.filter(|it| !it.is_empty()).unwrap_or_else(|| "us-east-1".to_owned());
        Ok(Place { bucket, key, region, endpoint })
    }
}

/// Returns the bucket and the region of `s3`, `s3-REGION`, `s3.REGION` and `s3.dualstack.REGION`, each with a bucket before it or without.
fn service(labels: &str) -> Option<(Option<String>, Option<String>)> {
    let labels: Vec<&str> = labels.split('.').collect();
    let at = labels.iter().rposition(|it| *it == "s3" || it.starts_with("s3-"))?;
    let bucket = (at > 0).then(|| labels[..at].join("."));
    let region = match (labels[at].strip_prefix("s3-"), &labels[at + 1..]) {
        (Some(region), []) => Some(region.to_owned()),
        (None, []) => None,
        (None, [region] | ["dualstack", region]) => Some((*region).to_owned()),
        _ => return None,
    };
    Some((bucket, region))
}

fn decoded(text: &str) -> Result<String, Error> {
    let text = percent_decode_str(text).decode_utf8();
    text.map(String::from).context("what is escaped in the address is no text")
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn every_form_of_address_names_bucket_key_and_region() {
        for (address, expected) in [
            ("https://s3.amazonaws.com/b/k.zip", "b k.zip us-east-1"),
            ("https://s3-eu-west-1.amazonaws.com/b/a/k.zip", "b a/k.zip eu-west-1"),
            ("https://s3.eu-west-1.amazonaws.com/b/k", "b k eu-west-1"),
            ("https://s3.dualstack.eu-west-1.amazonaws.com/b/k", "b k eu-west-1"),
            ("https://b.s3.amazonaws.com/a/k", "b a/k us-east-1"),
            ("https://b.s3-eu-west-1.amazonaws.com/k", "b k eu-west-1"),
            ("https://b.s3.eu-west-1.amazonaws.com/k%20l", "b k l eu-west-1"),
            ("https://b.c.s3.eu-west-1.amazonaws.com/k", "b.c k eu-west-1"),
            ("https://s3.cn-north-1.amazonaws.com.cn/b/k", "b k cn-north-1"),
            ("http://localhost:9000/b/a/", "b a us-east-1 http://localhost:9000"),
            ("https://storage.example.com/b/k", "b k us-east-1 https://storage.example.com"),
        ] {
            let place = Place::read(address, None).expect(address);
            let endpoint = place.endpoint.map(|it| format!(" {it}")).unwrap_or_default();
            let found = format!("{} {} {}{endpoint}", place.bucket, place.key, place.region);
            assert_eq!(found, expected);
        }
        let place = Place::read("http://localhost/b/k", Some("here".into())).expect("a place");
        assert_eq!(place.region, "here");
    }

    #[test]
    fn an_address_without_an_object_is_refused() {
        for address in [
            "https://example.com/b",
            "https://example.com/b/",
            "https://s3.amazonaws.com/b",
            "https://b.s3.eu-west-1.amazonaws.com/",
            "https://ec2.amazonaws.com/b/k",
            "ftp://example.com/b/k",
            "https://user@example.com/b/k",
        ] {
            let why = Place::read(address, None).expect_err(address).to_string();
            assert!(why.contains("names no object"), "{why}");
        }
    }
}
