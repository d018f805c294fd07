//! Why a provider cannot be had, as a fact that those who tell of it can act on.

use std::fmt;

use super::Platform;
use crate::address::Provider;
use crate::config::version::Version;
use crate::world::PRODUCT;

/// Why a provider or a package of it cannot be had. It prints as the fact alone.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// No place that was asked has it.
    NotFound {
        /// The provider.
        provider: Provider,
        /// The places.
        tried: Vec<String>,
    },
    /// The registry does not know it.
    NotKnown(Provider),
    /// The host has no registry, or one of another protocol version.
    NoRegistry {
        /// The host.
        host: String,
        /// Whether another version of the protocol is offered.
        has_other: bool,
    },
    /// The host does not answer as it should.
    Unreachable {
        /// The host.
        host: String,
        /// Why.
        why: String,
    },
    /// The host wants other credentials, or any.
    Unauthorized {
        /// The host.
        host: String,
        /// Whether some were given.
        had_some: bool,
    },
    /// A registry or mirror answered with an error or with nonsense.
    Failed {
        /// The provider.
        provider: Provider,
        /// The mirror, where it is one.
        mirror: Option<String>,
        /// Why.
        why: String,
    },
    /// There is no package for this platform.
    NoPackage {
        /// The provider.
        provider: Provider,
        /// The version.
        version: Version,
        /// The platform.
        platform: Platform,
        /// The mirror that lacks it.
        mirror: Option<String>,
    },
    /// The plugin speaks another protocol.
    Protocol {
        /// The provider.
        provider: Provider,
        /// The version.
        version: Version,
        /// The newest version that would do.
        better: Option<Version>,
    },
    /// Anything else.
    Other(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::NotFound { provider, .. } => {
                write!(f, "provider {provider} was not found in any of the search locations")
            }
            Trouble::NotKnown(it) => {
                write!(f, "provider registry {} does not have a provider named {it}", it.host)
            }
            Trouble::NoRegistry { host, has_other: true } => write!(
                f,
                "host {host} does not support the provider registry protocol required by this {PRODUCT} version, but may be compatible with a different {PRODUCT} version"
            ),
            Trouble::NoRegistry { host, .. } => {
                write!(f, "host {host} does not offer {} provider registry", PRODUCT.with_article())
            }
            Trouble::Unreachable { host, why } => write!(f, "could not connect to {host}: {why}"),
            Trouble::Unauthorized { host, had_some: true } => {
                write!(f, "host {host} rejected the given authentication credentials")
            }
            Trouble::Unauthorized { host, .. } => {
                write!(f, "host {host} requires authentication credentials")
            }
            Trouble::Failed { provider, mirror: Some(mirror), why } => {
                write!(f, "failed to query provider mirror {mirror} for {provider}: {why}")
            }
            Trouble::Failed { provider, why, .. } => {
                write!(f, "could not query provider registry for {provider}: {why}")
            }
            Trouble::NoPackage { provider, version, platform, mirror: Some(mirror) } => write!(
                f,
                "provider mirror {mirror} does not have a package of {provider} {version} for {platform}"
            ),
            Trouble::NoPackage { provider, version, platform, .. } => {
                write!(f, "provider {provider} {version} is not available for {platform}")
            }
            Trouble::Protocol { provider, version, .. } => {
                write!(
                    f,
                    "provider {provider} {version} is not supported by this version of {PRODUCT}"
                )
            }
            Trouble::Other(why) => f.write_str(why),
        }
    }
}

impl Trouble {
    /// Returns whether the place is sure that it does not have it, so that the next one can be asked.
    pub(super) fn is_absence(&self) -> bool {
        matches!(self, Trouble::NotFound { .. } | Trouble::NotKnown(_) | Trouble::NoPackage { .. })
    }
}
