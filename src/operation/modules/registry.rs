//! The module registry protocol: which versions there are, and where one is.

use serde::Deserialize;

use super::web::{Web, resolve};
use crate::config::source::{RegistryAddress, RemoteAddress};
use crate::config::version::Version;
use crate::error::Error;
use crate::install::web::HttpResponse;

/// Why a registry gives no answer.
pub(super) enum Trouble {
    /// It has no such module.
    NotFound,
    /// It cannot be asked, or its answer makes no sense.
    Failed(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Failed(error)
    }
}

#[derive(Deserialize)]
struct Listing {
    #[serde(default)]
    modules: Vec<ListedModule>,
}

#[derive(Deserialize)]
struct ListedModule {
    #[serde(default)]
    versions: Vec<ListedVersion>,
}

#[derive(Deserialize)]
struct ListedVersion {
    version: String,
}

#[derive(Deserialize)]
struct Located {
    location: String,
}

/// Returns the versions of a module, in rising order.
pub(super) fn versions(web: &Web, registry: &RegistryAddress) -> Result<Vec<Version>, Trouble> {
    let path = format!("{}/versions", registry.path());
    let answer = web.ask_registry(&registry.host, &path)?;
    match answer.status {
        200 => {}
        404 => return Err(Trouble::NotFound),
        _ => return Err(refused(&answer).into()),
    }
    let listing: Listing = answer.json()?;
    let Some(module) = listing.modules.first() else {
        return Err(Trouble::Failed("the answer names no module".into()));
    };
    let mut versions: Vec<Version> =
        module.versions.iter().filter_map(|it| Version::parse(&it.version)).collect();
    versions.sort();
    Ok(versions)
}

/// Returns the address of a version's package.
pub(super) fn located(
    web: &Web,
    registry: &RegistryAddress,
    version: &str,
) -> Result<RemoteAddress, Error> {
    let path = format!("{}/{version}/download", registry.path());
    let answer = web.ask_registry(&registry.host, &path)?;
    let location = match (answer.status, &answer.package) {
        (200..=299, Some(location)) => Some(location.clone()),
        (200, None) => answer.json::<Located>().ok().map(|it| it.location),
        (204, None) => None,
        _ => return Err(refused(&answer)),
    };
    let location =
        location.ok_or_else(|| format!("the answer of {} names no location", registry.host))?;
    RemoteAddress::parse(&resolve(&answer.url, location)?)
}

fn refused(answer: &HttpResponse) -> Error {
    format!("the registry answers with status {}", answer.status_text()).into()
}
