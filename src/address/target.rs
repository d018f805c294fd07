//! What `-target` and `-exclude` name, and what that contains.
//!
//! A module step without a key stands for every instance of that call, at every step and for both flags. (OpenTofu reads
//! it so only at the last step, and differently while destroying.) An address is read by [`str::parse`].

use super::{ConfigResource, Instance, InstanceKey, ModuleInstance, Resource, Str};
use crate::diagnostic::Diagnostic;
use crate::value::text::shown;

/// An address that a flag names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A module call (every instance where a step has no key) and everything in it.
    Module(ModuleInstance),
    /// A resource with all its instances.
    Resource(Resource),
    /// One instance.
    Instance(Instance),
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Module(it) => it.fmt(f),
            Target::Resource(it) => it.fmt(f),
            Target::Instance(it) => it.fmt(f),
        }
    }
}

impl Target {
    /// Returns the module path that the address begins with.
    pub fn module(&self) -> &ModuleInstance {
        match self {
            Target::Module(it) => it,
            Target::Resource(it) => &it.module,
            Target::Instance(it) => &it.module,
        }
    }

    /// Returns whether an instance is named, or lies in what is named.
    pub fn contains(&self, instance: &Instance) -> bool {
        match self {
            Target::Module(it) => leads_to(it, &instance.module),
            Target::Resource(it) => {
                is_at(&it.module, &instance.module) && it.resource == instance.resource
            }
            Target::Instance(it) => {
                is_at(&it.module, &instance.module)
                    && it.resource == instance.resource
                    && it.key == instance.key
            }
        }
    }

    /// Returns whether a whole resource of one module instance is named, or lies in what is named.
    pub fn contains_resource(&self, resource: &Resource) -> bool {
        match self {
            Target::Module(it) => leads_to(it, &resource.module),
            Target::Resource(it) => {
                is_at(&it.module, &resource.module) && it.resource == resource.resource
            }
            Target::Instance(_) => false,
        }
    }

    /// Returns whether a module instance is named, or lies in what is named.
    pub fn contains_module(&self, module: &ModuleInstance) -> bool {
        matches!(self, Target::Module(it) if leads_to(it, module))
    }

    /// Returns whether any instance of a resource block could be contained: keys aside, the block is named.
    pub fn concerns(&self, block: &ConfigResource) -> bool {
        let module = self.module();
        let same = module.0.iter().zip(block.module.0.iter()).all(|(step, name)| step.0 == *name);
        same && match self {
            Target::Module(it) => it.0.len() <= block.module.0.len(),
            Target::Resource(Resource { resource, .. })
            | Target::Instance(Instance { resource, .. }) => {
                module.0.len() == block.module.0.len() && *resource == block.resource
            }
        }
    }
}

fn is_step(pattern: &(Str, InstanceKey), step: &(Str, InstanceKey)) -> bool {
    pattern.0 == step.0 && (pattern.1 == InstanceKey::None || pattern.1 == step.1)
}

/// Returns whether `module` is an instance that `pattern` names.
fn is_at(pattern: &ModuleInstance, module: &ModuleInstance) -> bool {
    pattern.0.len() == module.0.len() && leads_to(pattern, module)
}

/// Returns whether `module` is an instance that `pattern` names, or lies in one.
fn leads_to(pattern: &ModuleInstance, module: &ModuleInstance) -> bool {
    pattern.0.len() <= module.0.len()
        && pattern.0.iter().zip(module.0.iter()).all(|(a, b)| is_step(a, b))
}

/// Reads a file of addresses, one a line: line number, from 1, and address or problem.
///
/// Blank lines and lines of a `#` or `//` comment name nothing. A byte-order mark and CRLF are fine.
pub fn parse_target_lines(text: &str) -> Vec<(usize, Result<Target, Diagnostic>)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let named = lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#') && !line.starts_with("//"));
    named.map(|(number, line)| (number, line.parse())).collect()
}

/// Returns the problem of an address given with a flag, such as `Invalid target "a.b["`. `flag` is `target` or `exclude`.
pub fn invalid_flag(flag: &str, text: &str, problem: &Diagnostic) -> Diagnostic {
    let text = shown(text);
    Diagnostic::error(format!("Invalid {flag} {text}")).detail(&problem.detail)
}

#[cfg(test)]
mod tests;
