//! What speaks for a downloaded archive: checksums, and signatures of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Platform;
use super::hash::{Hash, archive_matches, hash_zip, hex, read_sum};
use super::signature;
use super::standing::{Authentication, Standing};
use super::web::Web;
use crate::address::{DEFAULT_HOST, Provider};
use crate::error::{Error, ErrorContext};

/// The checks that a package must pass.
#[derive(Clone, Debug)]
pub enum Checks {
    /// Checksums of which it must have one.
    Hashes {
        /// The checksums.
        hashes: Vec<Hash>,
        /// Whether all are believed once one fits.
        trusts: bool,
    },
    /// Everything that a registry says.
    Registry(Box<RegistryChecks>),
}

/// What a registry says of a package.
#[derive(Clone, Debug)]
pub struct RegistryChecks {
    /// The provider.
    pub provider: Provider,
    /// The platform.
    pub platform: Platform,
    /// The archive's name in the list of checksums.
    pub file: String,
    /// The archive's checksum.
    pub sum: [u8; 32],
    /// The list of checksums.
    pub document: Vec<u8>,
    /// Its signature.
    pub signature: Vec<u8>,
    /// The keys that may have signed it, in their text form.
    pub keys: Vec<String>,
    /// Checksums and size by platform, where the registry knows them.
    pub packages: BTreeMap<Platform, (Vec<Hash>, i64)>,
}

/// Returns whether a signature must be there: everywhere but in the registry whose providers are not all signed yet.
pub fn must_be_signed(web: &Web, provider: &Provider) -> bool {
    &*provider.host != DEFAULT_HOST || web.demands("OPENTOFU_ENFORCE_GPG_VALIDATION")
}

impl Checks {
    /// Checks an archive. The error says why it must not be used.
    pub fn run(&self, archive: &Path, web: &Web) -> Result<Authentication, Error> {
        match self {
            Checks::Hashes { hashes, trusts } => by_hashes(archive, hashes, *trusts),
            Checks::Registry(checks) => checks.run(archive, web),
        }
    }
}

fn by_hashes(archive: &Path, hashes: &[Hash], trusts: bool) -> Result<Authentication, Error> {
    let usable: Vec<Hash> = hashes.iter().filter(|it| it.is_usable()).cloned().collect();
    if usable.is_empty() {
        return Err("none of the checksum formats given for this provider is supported".into());
    }
    let own =
        archive_matches(archive, &usable).context("failed to verify provider package checksums")?;
    if own.is_empty() {
        return Err(match &usable[..] {
            [one] => format!(
                "provider package doesn't match the expected checksum {:?}",
                one.to_string()
            )
            .into(),
            _ => "provider package doesn't match the any of the expected checksums".into(),
        });
    }
    let mut result = Authentication::default();
    for hash in own {
        result.hashes.insert(hash, Standing { is_verified: true, ..Standing::default() });
    }
    for hash in usable.into_iter().filter(|_| trusts) {
        let trusted = Standing { is_trusted: true, ..Standing::default() };
        result.hashes.entry(hash).or_insert(trusted);
    }
    Ok(result)
}

impl RegistryChecks {
    fn run(&self, archive: &Path, web: &Web) -> Result<Authentication, Error> {
        let mut result = self.by_platform(archive)?;
        self.check_list()?;
        let own = hash_zip(archive)
            .context(format_args!("failed to compute checksum for {}", archive.display()))?;
        let wanted = Hash::of_archive_sum(&self.sum);
        if own != wanted {
            return Err(format!("archive has incorrect checksum {own} (expected {wanted})").into());
        }
        let mut verified = Authentication::default();
        verified.hashes.insert(own, Standing { is_verified: true, ..Standing::default() });
        result.merge(verified);
        result.merge(self.by_signature(web)?);
        Ok(result)
    }

    /// Sizes and checksums of all platforms, where the registry gives them.
    fn by_platform(&self, archive: &Path) -> Result<Authentication, Error> {
        let mut result = Authentication::default();
        if self.packages.is_empty() {
            return Ok(result);
        }
        let Some((hashes, size)) = self.packages.get(&self.platform) else {
            return Err(format!(
                "registry response missing package with platform {:?}",
                self.platform.to_string()
            )
            .into());
        };
        if *size <= 0 {
            return Err(format!("registry response has invalid package size {size}").into());
        }
        let own = std::fs::metadata(archive)?.len();
        if u64::try_from(*size) != Ok(own) {
            return Err(format!(
                "registry response indicates a package of size {size}, but received a package of size {own}"
            ).into());
        }
        let zips: Vec<&Hash> = hashes.iter().filter(|it| it.is_zip()).collect();
        if zips.is_empty() {
            return Err("registry response does not contain matching sha256sum package entry and is invalid".into());
        }
        let sum = hex(&self.sum);
        if let Some(other) = zips.iter().find(|it| it.value() != sum) {
            return Err(format!(
                "registry response expected sha256sum is {sum:?}, which does not match the platform's value of {:?}",
                other.value()
            ).into());
        }
        for hash in self.packages.values().flat_map(|it| &it.0).filter(|it| it.is_usable()) {
            let reported = Standing { is_reported: true, ..Standing::default() };
            result.hashes.insert(hash.clone(), reported);
        }
        Ok(result)
    }

    /// The list of checksums must have the archive, with the checksum that the registry says.
    fn check_list(&self) -> Result<(), Error> {
        let text = String::from_utf8_lossy(&self.document);
        let line = text.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            let sum = words.next()?;
            (words.next() == Some(self.file.as_str())).then_some(sum)
        });
        let Some(sum) = line else {
            return Err(format!("checksum list has no SHA-256 hash for {:?}", self.file).into());
        };
        match read_sum(sum) {
            None => Err(format!("checksum list has invalid SHA256 hash {sum:?}").into()),
            Some(own) if own != self.sum => Err(format!(
                "checksum list has unexpected SHA-256 hash {sum} (expected {})",
                hex(&self.sum)
            )
            .into()),
            Some(_) => Ok(()),
        }
    }

    fn by_signature(&self, web: &Web) -> Result<Authentication, Error> {
        let mut keys = BTreeSet::new();
        if !self.keys.is_empty() || must_be_signed(web, &self.provider) {
            let allows_expired = !web.demands("OPENTOFU_ENFORCE_GPG_EXPIRATION");
            let key = signature::check(&self.document, &self.signature, &self.keys, web.now(), allows_expired)
                .map_err(|it| format!("the provider is not signed with a valid signing key; please contact the provider author ({it})"))?;
            keys.insert(key);
        }
        let mut result = Authentication::default();
        for hash in self.listed() {
            let standing =
                Standing { is_reported: true, keys: keys.clone(), ..Standing::default() };
            result.hashes.insert(hash, standing);
        }
        Ok(result)
    }

    /// Every checksum of the list; none where it is no such list.
    fn listed(&self) -> Vec<Hash> {
        let text = String::from_utf8_lossy(&self.document);
        let lines = text.lines().map(|line| {
            let mut words = line.split_whitespace();
            let sum = read_sum(words.next()?)?;
            words.next().map(|_| Hash::of_archive_sum(&sum))
        });
        lines.collect::<Option<Vec<Hash>>>().unwrap_or_default()
    }
}
