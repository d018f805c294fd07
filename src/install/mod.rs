//! Which program stands behind a provider address, and how it comes here: requirements, CLI configuration, lock file,
//! mirrors, registries.
//!
//! [`Installer`] is what `init` runs; [`Plugins`] answers afterwards which one is used, and why. Nothing here speaks the
//! plugin protocol. Provisioner plugins are not installed: [`find_provisioners`] finds them.

#[cfg(feature = "oci")]
pub(crate) mod artifact;
mod authenticate;
pub mod credentials;
mod discovery;
mod hash;
mod helper;
pub mod hostname;
#[cfg_attr(not(feature = "oci"), path = "without_images.rs")]
mod images;
mod installer;
pub mod lock;
#[cfg(feature = "oci")]
mod login;
mod network;
mod offer;
mod package_sources;
mod package;
mod platform;
mod plugins;
pub mod problems;
mod provisioners;
mod reattach;
mod registry;
#[cfg(feature = "oci")]
mod repository;
pub mod requirement;
mod search;
pub(crate) mod secure;
pub mod settings;
pub mod signin;
mod signature;
mod standing;
#[cfg(test)]
pub(crate) mod tests;
mod trouble;
pub(crate) mod unpacked;
pub(crate) mod web;

pub use hash::{Hash, hash_archive, hash_folder, hash_texts, hash_zip};
pub use installer::{Event, Failure, InstallResult, Installer, Mode};
pub use lock::{Lock, Locks};
pub use offer::PackagePlace;
pub use package::{archive_name, executable, installed_folder};
pub use package_sources::{PackageSources, Reach};
pub use platform::Platform;
pub use plugins::{Located, Place, Plugin, Plugins, providers_folder};
pub use provisioners::{find_provisioners, provisioner_places, record_folders};
pub use reattach::Reattach;
pub use requirement::Requirements;
pub use search::search;
pub use settings::Settings;
pub use standing::Authentication;
pub use trouble::Trouble;
pub use web::Remote;
