//! How far the checksums of a package can be relied on.

use std::collections::{BTreeMap, BTreeSet};

use super::hash::Hash;

/// What is known of a checksum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// The registry reports it.
    pub is_reported: bool,
    /// A mirror whose word the user takes reports it.
    pub is_trusted: bool,
    /// The package at hand has it.
    pub is_verified: bool,
    /// Keys that signed it.
    pub keys: BTreeSet<String>,
}

/// What was found out about a package: its checksums and how far each can be relied on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Authentication {
    /// The checksums.
    pub hashes: BTreeMap<Hash, Standing>,
}

impl Authentication {
    /// Adds what another check found.
    pub fn merge(&mut self, other: Authentication) {
        for (hash, standing) in other.hashes {
            let own = self.hashes.entry(hash).or_default();
            own.is_reported |= standing.is_reported;
            own.is_trusted |= standing.is_trusted;
            own.is_verified |= standing.is_verified;
            own.keys.extend(standing.keys);
        }
    }

    fn any(&self, is: impl Fn(&Standing) -> bool) -> bool {
        self.hashes.values().any(is)
    }

    /// Returns whether a key signed any of it.
    pub fn is_signed(&self) -> bool {
        self.any(|it| !it.keys.is_empty())
    }

    /// Returns whether the registry's or mirror's word was taken without a signature.
    pub fn is_unsigned_report(&self) -> bool {
        !self.is_signed() && self.any(|it| it.is_reported || it.is_trusted)
    }

    /// Returns the ids of the keys that signed, with commas between.
    pub fn keys(&self) -> String {
        let keys: BTreeSet<&str> =
            self.hashes.values().flat_map(|it| &it.keys).map(String::as_str).collect();
        keys.into_iter().collect::<Vec<_>>().join(", ")
    }

    /// Returns the checksums that the package at hand has.
    pub fn verified(&self) -> impl Iterator<Item = Hash> + '_ {
        self.hashes.iter().filter(|it| it.1.is_verified).map(|it| it.0.clone())
    }

    /// Returns the result in a word or two.
    pub fn summary(&self) -> &'static str {
        if self.is_signed() {
            "signed"
        } else if self.any(|it| it.is_reported) {
            "signing skipped"
        } else if self.any(|it| it.is_verified) {
            "verified checksum"
        } else if self.any(|it| it.is_trusted) {
            "signing skipped"
        } else {
            "unauthenticated"
        }
    }
}
