//! Packages in buckets of clouds: an archive, or all objects below a name.

use std::path::Path;
use std::sync::Arc;

use crate::config::source::RemoteAddress;
use crate::error::Error;
use crate::world::World;

/// Fetches a package into a folder that does not exist yet.
///
/// # Errors
///
/// If it is not there, cannot be had, or is not what the address says.
#[cfg(any(feature = "backend-s3", feature = "backend-gcs"))]
pub(super) async fn fetch(
    world: &Arc<World>,
    address: &RemoteAddress,
    into: &Path,
    beside: &Path,
) -> Result<(), Error> {
    let placed = with_cloud::open(world, address).await?;
    with_cloud::take(&placed, address, into, beside).await
}

/// # Errors
///
/// Always: the feature that it needs.
#[cfg(not(any(feature = "backend-s3", feature = "backend-gcs")))]
pub(super) async fn fetch(
    _: &Arc<World>,
    address: &RemoteAddress,
    _: &Path,
    _: &Path,
) -> Result<(), Error> {
    Err(left_out(address))
}

/// Names the feature that the program was built without.
#[cfg(not(all(feature = "backend-s3", feature = "backend-gcs")))]
fn left_out(address: &RemoteAddress) -> Error {
    use crate::config::source::Getter;
    let feature = if address.getter == Getter::Gcs { "backend-gcs" } else { "backend-s3" };
    crate::diagnostic::left_out(feature).into()
}

#[cfg(any(feature = "backend-s3", feature = "backend-gcs"))]
mod with_cloud {
    use bytes::Bytes;

    use super::super::archive::{self, Kind, Target};
    use super::super::fetch::{archive_kind, check_sum};
    use super::*;
    #[cfg(feature = "backend-gcs")]
    use crate::backend::gcs;
    use crate::backend::objects::Placed;
    #[cfg(feature = "backend-s3")]
    use crate::backend::s3;
    use crate::config::source::Getter;

    pub async fn open(world: &Arc<World>, address: &RemoteAddress) -> Result<Placed, Error> {
        match address.getter {
            #[cfg(feature = "backend-s3")]
            Getter::S3 => s3::packages::open(world, address).await,
            #[cfg(feature = "backend-gcs")]
            Getter::Gcs => gcs::packages::open(world, address).await,
            #[cfg(not(feature = "backend-s3"))]
            Getter::S3 => Err(left_out(address)),
            #[cfg(not(feature = "backend-gcs"))]
            Getter::Gcs => Err(left_out(address)),
            _ => Err("it is no address in a bucket".into()),
        }
    }

    pub async fn take(
        placed: &Placed,
        address: &RemoteAddress,
        into: &Path,
        beside: &Path,
    ) -> Result<(), Error> {
        match archive_kind(address) {
            Some(kind) => unpacked(placed, address, kind, (into, beside)).await,
            None if address.query("checksum").is_some() => {
                Err("\"checksum\" is for archives, and the address names a folder".into())
            }
            None => folder(placed, into).await,
        }
    }

    async fn unpacked(
        placed: &Placed,
        address: &RemoteAddress,
        kind: Kind,
        (into, beside): (&Path, &Path),
    ) -> Result<(), Error> {
        let content = object(placed, &placed.name).await?;
        let path = beside.join("archive");
        std::fs::write(&path, &content)?;
        drop(content);
        if let Some(checksum) = address.query("checksum") {
            check_sum(&path, checksum)?;
        }
        archive::unpack(&path, kind, into)
    }

    /// Writes all objects below the name as files. One that only stands for a folder has no content.
    async fn folder(placed: &Placed, into: &Path) -> Result<(), Error> {
        let below = format!("{}/", placed.name);
        let names = placed.objects.list(&below).await?;
        let files: Vec<&String> = names.iter().filter(|it| !it.ends_with('/')).collect();
        if files.is_empty() {
            return Err(nothing_below(placed).await);
        }
        std::fs::create_dir_all(into)?;
        let mut target = Target::new(into);
        for name in files {
            // What is listed besides is none of ours.
            let Some(path) = name.strip_prefix(&below) else { continue };
            target.place(path)?;
            let content = placed.objects.get(name, None).await?;
            let content = content.ok_or_else(|| missing(placed, name))?;
            target.file(path, &mut &*content, None)?;
        }
        Ok(())
    }

    async fn object(placed: &Placed, name: &str) -> Result<Bytes, Error> {
        let found = placed.objects.get(name, placed.version.as_deref()).await?;
        found.ok_or_else(|| missing(placed, name))
    }

    fn missing(placed: &Placed, name: &str) -> Error {
        let version = match &placed.version {
            Some(version) => format!(" in the version {version:?}"),
            None => String::new(),
        };
        let bucket = &placed.bucket;
        format!("there is no object {name:?} in {bucket}{version}: check its name in the address")
            .into()
    }

    /// Says why there is no folder: the name may be that of one object.
    async fn nothing_below(placed: &Placed) -> Error {
        let (bucket, name) = (&placed.bucket, &placed.name);
        match placed.objects.get(name, None).await {
            Ok(Some(_)) => format!(
                "{name:?} in {bucket} is one object, and its name does not say which kind of archive it is: add archive=zip, or tar.gz and the \
                 like, behind the \"?\""
            )
            .into(),
            _ => format!("there are no objects below {name:?} in {bucket}").into(),
        }
    }
}

#[cfg(test)]
mod tests {
    #[cfg(not(any(feature = "backend-s3", feature = "backend-gcs")))]
    #[test]
    fn without_the_feature_a_bucket_names_it() {
        use super::*;
        for (text, feature) in [
            ("s3::https://e.com/b/k.zip", "backend-s3"),
            ("www.googleapis.com/storage/v1/b/k.zip", "backend-gcs"),
        ] {
            let address = RemoteAddress::parse(text).expect("an address");
            let why = left_out(&address).to_string();
            assert!(why.contains(&format!("built without the feature {feature:?}")), "{why}");
        }
    }
}
