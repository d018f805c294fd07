//! Which services there are that give keys.

use super::service::Service;

/// Every such kind.
const SERVICES: &[&Service] = &[
    #[cfg(feature = "backend-s3")]
    &super::aws_kms::SERVICE,
    #[cfg(feature = "backend-azurerm")]
    &super::azure_vault::SERVICE,
    #[cfg(feature = "backend-gcs")]
    &super::gcp_kms::SERVICE,
    &super::openbao::SERVICE,
];

/// Kinds that are part of a feature, so that a program without one can name it.
const FEATURES: &[(&str, &str)] =
    &[("aws_kms", "backend-s3"), ("azure_vault", "backend-azurerm"), ("gcp_kms", "backend-gcs")];

/// Returns the kind of this name.
pub(super) fn named(name: &str) -> Option<&'static Service> {
    SERVICES.iter().find(|it| it.name == name).copied()
}

/// Returns the feature that a kind of this name is part of.
pub(super) fn feature(name: &str) -> Option<&'static str> {
    FEATURES.iter().find(|it| it.0 == name).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_feature_its_kind_is_known_by_name() {
        for (kind, is_there) in [
            ("aws_kms", cfg!(feature = "backend-s3")),
            ("azure_vault", cfg!(feature = "backend-azurerm")),
            ("gcp_kms", cfg!(feature = "backend-gcs")),
        ] {
            assert_eq!(named(kind).is_some(), is_there, "{kind}");
            let feature = feature(kind).expect("it is part of a feature");
            let told = crate::encryption::problems::left_out(kind, feature, Default::default());
            assert!(told.detail.contains(&format!("the feature `{feature}`")), "{}", told.detail);
        }
        assert!(named("openbao").is_some() && feature("nope").is_none());
    }
}
