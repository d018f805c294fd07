//! `unused`: what a configuration declares and nothing reads. Asks no provider, reads no state.

use super::host::Host;
use super::open::open;
use super::options::StateOptions;
use super::with_room;
use crate::diagnostic::Diagnostics;
use crate::observe::provider_sources::ProviderSources;
use crate::operation::session::needs_configuration;
use crate::operation::unused::{Unused, unused as find};

/// Finds what nothing reads.
///
/// # Errors
///
/// If the configuration cannot be read.
pub fn unused(host: &Host<'_>) -> Result<Vec<Unused>, Diagnostics> {
    with_room(|_| {
        needs_configuration(host.world)?;
        let sources = ProviderSources::of(host.world, host.sources);
        Ok(find(&open(host, &StateOptions::default(), sources)?))
    })?
}
