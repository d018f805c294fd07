//! Everything that can be wrong when a module is installed, one function each.

use std::path::Path;

use super::Wanted;
use crate::config::masked;
use crate::config::source::RegistryAddress;
use crate::diagnostic::{Diagnostic, Span};
use crate::error::Error;

fn error(summary: &str, detail: String, at: Span) -> Diagnostic {
    Diagnostic::error(summary).detail(detail).at(at)
}

/// Where it is said where the module lies.
fn source_span(wanted: &Wanted) -> Span {
    wanted.call.source.as_ref().map_or(wanted.call.declared, |it| it.span)
}

/// The list of modules cannot be written.
pub(super) fn not_written(path: &Path, why: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Failed to update module manifest")
        .detail(format!("Unable to write the module manifest file {}: {why}.", path.display()))
}

/// The folder of a module is not there.
pub(super) fn unreadable(directory: &str, name: &str, wanted: &Wanted) -> Diagnostic {
    let detail = format!(
        "The directory {directory} could not be read for module {name:?}. It does not exist, or its permissions forbid it."
    );
    error("Unreadable module directory", detail, source_span(wanted))
}

/// A module leads back to itself.
pub(super) fn calls_itself(name: &str, directory: &str, at: Span) -> Diagnostic {
    crate::config::calls_itself(name, directory, at)
}

/// A local path leads out of the package that was fetched.
pub(super) fn escapes(wanted: &Wanted, path: &str, package: &str) -> Diagnostic {
    let detail = format!(
        "The source {path:?} of module {:?} leads out of the package that its caller belongs to, {package}. A local source must stay inside the package.",
        wanted.key
    );
    error("Local module path escapes module package", detail, source_span(wanted))
}

/// A package cannot be fetched.
pub(super) fn not_fetched(wanted: &Wanted, from: &str, why: &Error) -> Diagnostic {
    let detail = format!(
        "Could not download module {:?} source code from {:?}: {}. What was installed before is still there.",
        wanted.key,
        masked(from),
        masked(why.words().trim_end_matches('.'))
    );
    error("Failed to download module", detail, wanted.call.declared)
}

/// The package has not the folder that is asked for.
pub(super) fn no_subdirectory(wanted: &Wanted, folder: &str) -> Diagnostic {
    let detail = format!("The package of module {:?} has no directory {folder:?}.", wanted.key);
    error("Module subdirectory not found", detail, wanted.call.declared)
}

/// The registry has no such module.
pub(super) fn not_in_registry(registry: &RegistryAddress, wanted: &Wanted) -> Diagnostic {
    let detail = format!(
        "Module {} ({:?}) cannot be found in the module registry at {}.",
        registry.path(),
        wanted.call.name.text,
        registry.host
    );
    error("Module not found", detail, wanted.call.declared)
}

/// The registry cannot be asked.
pub(super) fn registry_failed(
    registry: &RegistryAddress,
    version: Option<&str>,
    why: &Error,
    wanted: &Wanted,
) -> Diagnostic {
    let what = match version {
        Some(version) => format!("a download URL for {} {version}", registry.package()),
        None => format!("available versions for module {:?}", wanted.call.name.text),
    };
    let detail = format!(
        "Failed to retrieve {what} from {}: {}.",
        registry.host,
        why.words().trim_end_matches('.')
    );
    error("Error accessing remote module registry", detail, wanted.call.declared)
}

/// The registry knows the module, and no version of it.
pub(super) fn no_versions(registry: &RegistryAddress, wanted: &Wanted) -> Diagnostic {
    let detail =
        format!("Module {:?} has no versions available on {}.", registry.path(), registry.host);
    error("Module has no versions", detail, wanted.call.declared)
}

/// No version is what the call wants.
pub(super) fn no_matching_version(
    registry: &RegistryAddress,
    newest: &str,
    wanted: &Wanted,
) -> Diagnostic {
    let detail = format!(
        "There is no available version of module {:?} which matches the given version constraint. The newest available version is {newest}.",
        registry.package()
    );
    error("Unresolvable module version constraint", detail, wanted.call.declared)
}
