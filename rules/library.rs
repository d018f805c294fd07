//! The library of policies that ships: each file by its name, `aws/s3`, with its text. They are read like those of anybody else.

/// Every file: name and text, by name.
pub const LIBRARY: &[(&str, &str)] = &[
    ("azure/compute", include_str!("library/azure/compute.rules")),
    ("azure/keyvault", include_str!("library/azure/keyvault.rules")),
    ("azure/kubernetes", include_str!("library/azure/kubernetes.rules")),
    ("azure/monitor", include_str!("library/azure/monitor.rules")),
    ("azure/network", include_str!("library/azure/network.rules")),
    ("azure/registry", include_str!("library/azure/registry.rules")),
    ("azure/services", include_str!("library/azure/services.rules")),
    ("azure/sql", include_str!("library/azure/sql.rules")),
    ("azure/storage", include_str!("library/azure/storage.rules")),
    ("azure/webapps", include_str!("library/azure/webapps.rules")),
    ("general/guard", include_str!("library/general/guard.rules")),
    ("general/limits", include_str!("library/general/limits.rules")),
    ("general/naming", include_str!("library/general/naming.rules")),
    ("general/places", include_str!("library/general/places.rules")),
    ("general/secrets", include_str!("library/general/secrets.rules")),
    ("general/tags", include_str!("library/general/tags.rules")),
    ("google/compute", include_str!("library/google/compute.rules")),
    ("google/data", include_str!("library/google/data.rules")),
    ("google/iam", include_str!("library/google/iam.rules")),
    ("google/kubernetes", include_str!("library/google/kubernetes.rules")),
    ("google/network", include_str!("library/google/network.rules")),
    ("google/sql", include_str!("library/google/sql.rules")),
    ("google/storage", include_str!("library/google/storage.rules")),
];
