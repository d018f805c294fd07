//! Everything that can be wrong with finding and installing providers, one function each.

use crate::world::{PRODUCT, PROGRAM};
use std::path::PathBuf;

use super::Platform;
use super::installer::Failure;
use super::trouble::Trouble;
use crate::address::{DEFAULT_HOST, Provider};
use crate::config::version::{Constraint, Version, normal};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::provider::builtin;

fn list(lines: &[String]) -> String {
    lines.iter().map(|it| format!("\n  - {it}")).collect()
}

pub(super) fn not_installed(lines: &[String], in_automation: bool) -> Diagnostic {
    let way_out = match in_automation {
        true => "You must install the required plugins before running operations.".to_owned(),
        false => format!(
            "To download the plugins required for this configuration, run:\n  {PROGRAM} init"
        ),
    };
    Diagnostic::error("Required plugins are not installed").detail(format!(
        "The installed provider plugins are not consistent with the packages selected in the dependency lock file:{}\n\nPlugins do the work on each kind of infrastructure. {way_out}",
        list(lines)
    ))
}

/// A provider that cannot be had, and why, where that is not only that `init` has not installed it.
pub(super) fn not_available(provider: &Provider, why: Option<&Error>) -> Diagnostic {
    let why = why.map_or_else(String::new, |it| format!(": {it}"));
    let detail = match provider.is_builtin() {
        true => format!(
            "This configuration requires built-in provider {provider}, but that provider isn't available in this program."
        ),
        false => format!(
            "This configuration requires provider {provider}, but that provider isn't available{why}. You may be able to install it automatically by running:\n  {PROGRAM} init"
        ),
    };
    Diagnostic::error("Missing required provider").detail(detail)
}

/// Providers that are locked, and whose packages are not as `init` left them: each a line.
pub(super) fn not_cached(lines: &[String]) -> Diagnostic {
    let summary = match lines {
        [only] => only.clone(),
        _ => format!("missing or corrupted provider plugins:{}", list(lines)),
    };
    Diagnostic::error(summary).detail(format!(
        "The lock file selects what is missing. To install it, run:\n  {PROGRAM} init"
    ))
}

pub(super) fn embedded_does_not_fit(
    provider: &Provider,
    version: &Version,
    conditions: &str,
) -> Diagnostic {
    Diagnostic::error("Missing required provider").detail(format!(
        "This configuration requires provider {provider}, but that provider isn't available: version {version}, which is part of the program, does not match the constraints {conditions:?}. You may be able to install it automatically by running:\n  {PROGRAM} init"
    ))
}

pub(super) fn inconsistent(lines: &[String], is_first: bool) -> Diagnostic {
    let way_out = match is_first {
        true => {
            format!(
                "To make the initial dependency selections that will initialize the dependency lock file, run:\n  {PROGRAM} init"
            )
        }
        false => {
            format!(
                "To update the locked dependency selections to match a changed configuration, run:\n  {PROGRAM} init -upgrade"
            )
        }
    };
    Diagnostic::error("Inconsistent dependency lock file").detail(format!(
        "The following dependency selections recorded in the lock file are inconsistent with the current configuration:{}\n\n{way_out}",
        list(lines)
    ))
}

pub(super) fn inconsistent_with_plan(lines: &[String]) -> Diagnostic {
    Diagnostic::error("Inconsistent dependency lock file").detail(format!(
        "The following dependency selections recorded in the lock file are inconsistent with the configuration in the saved plan:{}\n\nA saved plan can be applied only to the same configuration it was created from. Create a new plan from the updated configuration.",
        list(lines)
    ))
}

/// A saved plan was made with other providers than are chosen now.
pub fn other_locks() -> Diagnostic {
    Diagnostic::error("Inconsistent dependency lock file").detail(
        "The given plan file was created with a different set of external dependency selections than the current configuration. A saved plan can be applied only to the same configuration it was created from.\n\nCreate a new plan from the updated configuration.",
    )
}

/// Why a provider could not be installed.
pub fn failed(provider: &Provider, failure: &Failure, conditions: &[Constraint]) -> Diagnostic {
    match failure {
        Failure::BuiltIn(why) => Diagnostic::error("Invalid dependency on built-in provider")
            .detail(format!("Cannot use {}: {why}.", provider.short())),
        Failure::Query(trouble) => query(provider, trouble, conditions),
        Failure::Fetch(version, trouble) => {
            fetch(provider, &version.to_string(), trouble, conditions)
        }
        Failure::Link(version, why) => {
            Diagnostic::error("Failed to install provider from shared cache").detail(format!(
                "Error while importing {} v{version} from the shared cache directory: {why}.",
                provider.short()
            ))
        }
    }
}

/// An embedded provider that was passed over is named, with the version that did not do.
fn embedded(provider: &Provider) -> String {
    match builtin::version(provider).filter(|it| !it.is_empty()) {
        Some(version) => format!(
            "\n\nVersion {version} of this provider is part of the program. It is used without a download where the constraints allow it, the lock file has no checksums for the provider, and no -plugin-dir is given."
        ),
        None => String::new(),
    }
}

fn query(provider: &Provider, trouble: &Trouble, conditions: &[Constraint]) -> Diagnostic {
    const QUERY: &str = "Failed to query available provider packages";
    const HOST: &str = "Invalid provider registry host";
    let short = provider.short();
    let problem = |summary: &str, detail: String| {
        Diagnostic::error(summary).detail(detail + &embedded(provider))
    };
    let list_failed = |more: &str| {
        format!(
            "Could not retrieve the list of available versions for provider {short}: {trouble}{more}"
        )
    };
    let product = PRODUCT.with_article();
    match trouble {
        Trouble::NotFound { tried, .. } if tried.is_empty() => problem(
            QUERY,
            list_failed(
                "\n\nThe CLI configuration names no place for it: add a filesystem_mirror, network_mirror or direct block that includes it.",
            ),
        ),
        Trouble::NotFound { tried, .. } => {
            let tried: Vec<String> = tried.iter().map(|it| format!("  - {it}")).collect();
            problem(QUERY, list_failed(&format!("\n\n{}", tried.join("\n"))))
        }
        Trouble::NotKnown(_) => {
            let mut more = format!(
                "\n\nAll modules should specify their required_providers so that external consumers will get the correct providers when using a module. To see which modules are currently depending on {short}, run the following command:\n    {PROGRAM} providers"
            );
            if &*provider.host == DEFAULT_HOST {
                more.push_str("\n\nIf you believe this provider is missing from the registry, please submit a issue on the OpenTofu Registry https://github.com/opentofu/registry/issues/new/choose");
            }
            problem(QUERY, list_failed(&more))
        }
        Trouble::NoRegistry { host, has_other: false } if host == "github.com" => problem(
            HOST,
            format!(
                "The given source address {:?} specifies a GitHub repository rather than {product} provider. Refer to the documentation of the provider to find the correct source address to use.",
                provider.to_string()
            ),
        ),
        Trouble::NoRegistry { host, has_other } => {
            let rest = match has_other {
                true => {
                    format!(
                        " that is compatible with this {PRODUCT} version, but it may be compatible with a different {PRODUCT} version."
                    )
                }
                false => ".".to_owned(),
            };
            problem(
                HOST,
                format!(
                    "The host {host:?} given in provider source address {:?} does not offer {product} provider registry{rest}",
                    provider.to_string()
                ),
            )
        }
        _ => {
            let known = match (trouble, conditions.is_empty()) {
                (Trouble::Unauthorized { host, .. }, _) => format!("\n\nSet a token for {host} in a credentials block of the CLI configuration, or in an environment variable TF_TOKEN_ and the host's name with underscores."),
                (Trouble::Unreachable { .. }, _) => "\n\nCheck the network and the address, or name a mirror that has the provider in the CLI configuration.".to_owned(),
                _ => String::new(),
            };
            problem(
                "Failed to resolve provider packages",
                format!("Could not resolve provider {short}: {trouble}{known}"),
            )
        }
    }
}

fn fetch(
    provider: &Provider,
    version: &str,
    trouble: &Trouble,
    conditions: &[Constraint],
) -> Diagnostic {
    const INCOMPATIBLE: &str = "Incompatible provider version";
    match trouble {
        Trouble::Protocol { better: None, .. } => Diagnostic::error(INCOMPATIBLE)
            .detail(format!("No compatible versions of provider {provider} were found.")),
        Trouble::Protocol { better: Some(better), .. } => {
            Diagnostic::error(INCOMPATIBLE).detail(format!(
                "Provider {:?} v{version} speaks a plugin protocol that this program does not. The newest version that it can use is {better}; select it with the following version constraint:\n\tversion = {:?}\n\nVersions that match this constraint were considered:\n\t{}",
                provider.short(),
                better.to_string(),
                normal(conditions)
            ))
        }
        Trouble::NoPackage { platform, mirror: Some(mirror), .. } => {
            Diagnostic::error(INCOMPATIBLE).detail(format!(
                "Your chosen provider mirror at {mirror} does not have a {provider} v{version} package available for your current platform, {platform}.\n\nThe provider may not support this platform, or the mirror may hold only some of the packages of its origin, {}.",
                provider.host
            ))
        }
        Trouble::NoPackage { platform, .. } => Diagnostic::error(INCOMPATIBLE).detail(format!(
            "Provider {provider} v{version} does not have a package available for your current platform, {platform}.\n\nNot all providers are available for all platforms. Other versions of this provider may have different platforms supported."
        )),
        _ => Diagnostic::error("Failed to install provider").detail(format!(
            "Error while installing {} v{version}: {trouble}",
            provider.short()
        )),
    }
}

/// What a registry or mirror says about a provider.
pub fn warned(provider: &Provider, warnings: &[String]) -> Diagnostic {
    let lines: Vec<String> = warnings.iter().map(|it| format!("- {it}")).collect();
    Diagnostic::warning("Additional provider information from registry").detail(format!(
        "The remote registry returned warnings for {provider}:\n{}",
        lines.join("\n")
    ))
}

/// Only checksums for this platform are known.
pub fn incomplete(providers: &[String], platform: &Platform) -> Diagnostic {
    Diagnostic::warning("Incomplete lock file information for providers").detail(format!(
        "Due to your customized provider installation methods, {PROGRAM} was forced to calculate lock file checksums locally for the following providers:\n  - {}\n\nThe current .terraform.lock.hcl file only includes checksums for {platform}, so {PROGRAM} running on another platform will fail to install these providers.\n\nTo calculate additional checksums for another platform, run:\n  {PROGRAM} providers lock -platform=linux_amd64\n(where linux_amd64 is the platform to generate)",
        providers.join("\n  - ")
    ))
}

/// `-lockfile=readonly`, and other providers are needed.
pub fn other_providers() -> Diagnostic {
    Diagnostic::error("Provider dependency changes detected").detail(format!("Changes to the required provider dependencies were detected, but the lock file is read-only. To use and record these requirements, run \"{PROGRAM} init\" without the \"-lockfile=readonly\" flag."))
}

/// `-lockfile=readonly`, and there is more to know.
pub fn not_updated() -> Diagnostic {
    Diagnostic::warning("Provider lock file not updated").detail(format!("Changes to the provider selections were detected, but not saved in the .terraform.lock.hcl file. To record these selections, run \"{PROGRAM} init\" without the \"-lockfile=readonly\" flag."))
}

/// Entries of another registry were taken over.
pub fn adopted(entries: &[(Provider, Provider)]) -> Diagnostic {
    let lines: String = entries.iter().map(|(old, new)| format!("  - {old} => {new}\n")).collect();
    Diagnostic::warning("Dependency lock file entries automatically updated").detail(format!(
        "Some entries in your dependency lock file were rewritten for the OpenTofu registry:\n{lines}\nThe version selections were preserved, but the hashes were not because the OpenTofu project's provider releases are not byte-for-byte identical."
    ))
}

/// Providers of one name under two owners that are easily mixed up.
pub fn mixed_up(kind: &str, providers: &[String]) -> Diagnostic {
    Diagnostic::warning("Potential provider misconfiguration").detail(format!(
        "{PRODUCT} has detected multiple providers of type {kind} ({}) which may be a misconfiguration.\n\nIf this is intentional you can ignore this warning",
        providers.join(", ")
    ))
}

/// An address of a time before addresses.
pub fn legacy(kind: &str) -> Diagnostic {
    Diagnostic::error("Invalid legacy provider address").detail(format!(
        "This configuration or its associated state refers to the unqualified provider {kind:?}.\n\nYou must complete the Terraform 0.13 upgrade process before upgrading to later versions."
    ))
}

/// Plugins are used that nobody released.
pub fn overridden(overrides: &[(Provider, PathBuf)], consequence: &str) -> Diagnostic {
    let lines: String = overrides
        .iter()
        .map(|(provider, path)| format!(" - {} in {}\n", provider.short(), path.display()))
        .collect();
    Diagnostic::warning("Provider development overrides are in effect").detail(format!(
        "The following provider development overrides are set in the CLI configuration:\n{lines}\n{consequence}"
    ))
}
