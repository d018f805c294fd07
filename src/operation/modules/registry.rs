//! The module registry protocol: which versions there are, and where one is.

use serde::Deserialize;

use super::web::Web;
use crate::config::source::{RegistryAddress, RemoteAddress};
use crate::config::version::Version;

/// Why a registry gives no answer.
pub(super) enum Trouble {
    /// It has no such module.
    NotFound,
    /// It cannot be asked, or its answer makes no sense.
    Failed(String),
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
    let base = web.registry(&registry.host).map_err(Trouble::Failed)?;
    let url = format!("{base}{}/versions", registry.path());
    let answer = web.get(&url).map_err(Trouble::Failed)?;
    match answer.status {
        200 => {}
        404 => return Err(Trouble::NotFound),
        status => {
            return Err(Trouble::Failed(format!("the registry answers with status {status}")));
        }
    }
    let listing: Listing = serde_json::from_slice(&answer.body)
        .map_err(|it| Trouble::Failed(format!("the answer is not as expected: {it}")))?;
    let Some(module) = listing.modules.first() else {
        return Err(Trouble::Failed("the answer names no module".to_owned()));
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
) -> Result<RemoteAddress, String> {
    let base = web.registry(&registry.host)?;
    let url = format!("{base}{}/{version}/download", registry.path());
    let answer = web.get(&url)?;
    let location = match (answer.status, answer.package) {
        (200..=299, Some(location)) => location,
        (200, None) => serde_json::from_slice::<Located>(&answer.body)
            .map(|it| it.location)
            .map_err(|_| format!("the answer of {} names no location", registry.host))?,
        (204, None) => return Err(format!("the answer of {} names no location", registry.host)),
        (status, _) => return Err(format!("the registry answers with status {status}")),
    };
    let is_relative = ["/", "./", "../"].iter().any(|it| location.starts_with(it));
    let location = if is_relative { super::web::join(&answer.url, &location)? } else { location };
    RemoteAddress::parse(&location)
}
