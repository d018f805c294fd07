//! Whether the parts of a configuration fit together, as far as no provider and no value is needed to tell.

pub(super) mod alike;
mod calls;
mod configured;
pub mod cycles;
pub mod keyless;
mod moves;
mod problems;
pub mod providers;
mod references;
pub mod repeating;
mod suspects;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::address::Module as ModuleAddr;
use crate::diagnostic::{Diagnostics, Sources};

use super::serving::BlocksServed;
use super::{Config, Module, ProviderBlock, Variant};

pub use problems::unknown_function_provider;
pub use references::{Sound, may_be_named, references_problems};
pub use suspects::Suspects;

/// Gives what is known to be right in a module, of which the path is given as well.
pub type SoundIn<'a> = &'a dyn Fn(&ModuleAddr, &Arc<Module>) -> Sound<'a>;

/// Compares what module calls give with what their modules want, and what they pass of providers with what there is to
/// pass. OpenTofu looks at nothing else where these differ.
pub fn check_calls(config: &Config) -> Diagnostics {
    let mut problems = Diagnostics::new();
    for (variant, module) in distinct_variants(config) {
        calls::check_inputs(config, &variant, module, &mut problems);
    }
    if !problems.has_errors() {
        configured::check_given(config, &mut problems);
    }
    problems.0.sort_by_key(|it| it.subject);
    problems.once()
}

/// Checks every reference and provider name of a configuration, and that nothing depends on itself: what `validate`
/// tells.
///
/// A module that is called several times is checked once. How providers are passed is checked when a configuration is
/// loaded.
///
/// - `served`: who serves the resource blocks.
/// - `sound`: what is known to be right.
/// - `suspects`: what may depend on itself.
pub fn check(
    config: &Config,
    served: &BlocksServed,
    sound: SoundIn<'_>,
    suspects: &Suspects,
    sources: &Sources,
) -> Diagnostics {
    let mut problems = check_names(config, served, sound);
    problems.extend(keyless::check_resources(config, served, sources));
    problems.extend(check_circles(config, served, suspects, sources));
    problems
}

fn check_circles(
    config: &Config,
    served: &BlocksServed,
    suspects: &Suspects,
    sources: &Sources,
) -> Diagnostics {
    let cycles = match suspects.may_be_circular(config) {
        true => cycles::find(config, served),
        false => Vec::new(),
    };
    Diagnostics(cycles.iter().map(|it| it.to_diagnostic(sources)).collect())
}

/// Checks every reference and provider name.
pub(crate) fn check_names(
    config: &Config,
    served: &BlocksServed,
    sound: SoundIn<'_>,
) -> Diagnostics {
    let mut problems = Diagnostics::new();
    let used = configured::UsedProviders::of(config, served);
    for (address, module) in distinct(config) {
        let is_used = |it: &ProviderBlock| used.has(module, it);
        let sound = sound(address, module);
        references::check_module((config, address), module, (sound, &is_used), &mut problems);
    }
    problems.0.sort_by_key(|it| it.subject);
    configured::check_presence(config, served, &mut problems);
    problems
}

/// Checks that no block reads itself.
pub fn check_selves(config: &Config, suspects: &Suspects) -> Diagnostics {
    let mut problems = Diagnostics::new();
    if suspects.selves.is_empty() {
        return problems;
    }
    for (variant, module) in distinct_variants(config) {
        references::check_selves(&variant, module, suspects, &mut problems);
    }
    problems.once()
}

/// Checks what is told only when a plan is made: blocks that read themselves, and `moved` and `removed` blocks.
pub fn check_for_plan(config: &Config, suspects: &Suspects, sources: &Sources) -> Diagnostics {
    let mut problems = check_selves(config, suspects);
    for (variant, module) in distinct_variants(config) {
        moves::check_removed(config, &variant, module, &mut problems);
    }
    problems = problems.once();
    moves::check_moved(config, sources, &mut problems);
    problems
}

/// Returns each module once, under the first of its addresses.
pub fn distinct(config: &Config) -> impl Iterator<Item = (&ModuleAddr, &Arc<Module>)> {
    let mut seen = BTreeSet::new();
    config.all().filter(move |(_, module)| seen.insert(Arc::as_ptr(module).addr()))
}

/// Returns each module once; of those that share their path every one, because what each calls is its own.
fn distinct_variants(config: &Config) -> impl Iterator<Item = (Variant, &Arc<Module>)> {
    let mut seen = BTreeSet::new();
    config.all_variants().filter(move |(variant, module)| {
        seen.insert(Arc::as_ptr(module).addr()) || config.kinds.contains_key(&variant.path)
    })
}

/// Returns how messages name a module.
pub(super) fn module_text(address: &ModuleAddr) -> String {
    if address.is_root() { "the root module".to_owned() } else { address.to_string() }
}
