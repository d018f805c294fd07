//! Packages in registries of container images: `oci://HOST/REPOSITORY?tag=…`, a manifest whose only archive is the package.

use std::path::Path;

use super::web::Web;
use crate::config::source::RemoteAddress;
use crate::error::Error;

/// Fetches a package into a folder that does not exist yet.
///
/// # Errors
///
/// If it is not there, cannot be had, or is not what its digest says.
#[cfg(feature = "oci")]
pub(super) fn fetch(
    web: &Web,
    address: &RemoteAddress,
    into: &Path,
    beside: &Path,
) -> Result<(), Error> {
    use super::archive::{self, Kind};
    use super::fetch::check_sum;
    use crate::install::artifact::Artifact;

    let artifact = Artifact::of(address)?;
    let path = beside.join("artifact");
    let mut file = std::fs::File::create(&path)?;
    let digest = web.wait(artifact.load(web.transport(), &mut file))?;
    drop(file);
    check_sum(&path, &digest)
        .map_err(|it| it.context("the registry gave something else than the manifest names"))?;
    archive::unpack(&path, Kind::Zip, into)
}

/// # Errors
///
/// Always: the feature that it needs.
#[cfg(not(feature = "oci"))]
pub(super) fn fetch(_: &Web, _: &RemoteAddress, _: &Path, _: &Path) -> Result<(), Error> {
    Err(crate::diagnostic::left_out("oci").into())
}
