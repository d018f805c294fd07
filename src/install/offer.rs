//! Packages that can be had: where each is, and what it must pass.

use std::path::PathBuf;

use super::authenticate::Checks;
use super::web::Remote;

/// A package that can be had.
#[derive(Clone, Debug)]
pub struct Package {
    /// Where it is.
    pub place: PackagePlace,
    /// What an archive from elsewhere must pass.
    pub checks: Option<Checks>,
}

/// Where a package is.
#[derive(Clone, Debug)]
pub enum PackagePlace {
    /// Unpacked in a folder.
    Folder(PathBuf),
    /// In an archive at hand.
    Archive(PathBuf),
    /// In an archive elsewhere.
    Download(Remote),
}
