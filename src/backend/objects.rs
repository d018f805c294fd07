//! Objects of a bucket, for whoever reads packages there and keeps no state.

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::Error;

/// A bucket that is only read.
#[async_trait]
pub trait Objects: Send + Sync {
    /// Returns what an object holds, in this version where one is named; nothing where there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be known.
    async fn get(&self, name: &str, version: Option<&str>) -> Result<Option<Bytes>, Error>;

    /// Lists the names of all objects that begin with `prefix`.
    ///
    /// # Errors
    ///
    /// If they cannot be known.
    async fn list(&self, prefix: &str) -> Result<Vec<String>, Error>;
}

/// Where a package is: in a bucket, under a name.
pub struct Placed {
    /// The bucket.
    pub objects: Box<dyn Objects>,
    /// How messages call it: `s3://states`.
    pub bucket: String,
    /// The name of an object, or what the names of several begin with before a slash.
    pub name: String,
    /// Which version of the object, where that is not the newest.
    pub version: Option<String>,
}
