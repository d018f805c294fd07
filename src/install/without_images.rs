//! What stands in for registries of container images in a program that was built without the feature `oci`.

use super::Platform;
use super::offer::Package;
use super::settings::installation::Pattern;
use super::trouble::Trouble;
use super::web::Web;
use crate::address::Provider;
use crate::config::version::Version;
use crate::diagnostic::left_out;
use crate::error::Error;

/// A registry of images that holds providers. There is none.
pub enum ImageMirror {}

impl ImageMirror {
    /// # Errors
    ///
    /// Always: the feature that it needs.
    pub fn parse(_: &str, _: &[Pattern], _: u32) -> Result<ImageMirror, Error> {
        Err(left_out("oci").into())
    }

    pub fn shown(&self) -> String {
        match *self {}
    }

    pub async fn versions(&self, _: &Web, _: &Provider) -> Result<Vec<Version>, Trouble> {
        match *self {}
    }

    pub async fn package(
        &self,
        _: &Web,
        _: &Provider,
        _: &Version,
        _: &Platform,
    ) -> Result<Package, Trouble> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::ImageMirror;

    #[test]
    fn without_the_feature_a_mirror_names_it() {
        let why = ImageMirror::parse("example.com/${namespace}", &[], 1).err();
        let why = why.expect("an error").to_string();
        assert!(why.contains("built without the feature \"oci\""), "{why}");
    }
}
