//! What a run overrides: whole modules, and the values of single objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::problems;
use crate::address::{ConfigResource, Mode, Module as ModuleAddr, ResourceName};
use crate::config::Config;
use crate::config::testing::{Override, OverrideTarget, TestFile, TestRun};
use crate::diagnostic::Diagnostics;
use crate::provider::mock::Values;

/// Returns the overrides that count for a run: its own before those of the file.
pub fn merged<'a>(file: &'a TestFile, run: &'a TestRun) -> (Vec<&'a Override>, Diagnostics) {
    let mut problems = Diagnostics::new();
    let mut all: BTreeMap<String, &Override> = BTreeMap::new();
    for it in &file.overrides {
        all.insert(it.target.to_string(), it);
    }
    for it in &run.overrides {
        if let Some(of_file) = all.insert(it.target.to_string(), it) {
            problems.push(problems::overridden_in_run(of_file));
        }
    }
    (all.into_values().collect(), problems)
}

/// Puts overridden modules into a configuration; returns the values of overridden objects.
pub fn apply(
    config: &mut Config,
    overrides: &[&Override],
    problems: &mut Diagnostics,
) -> BTreeMap<ConfigResource, Arc<Values>> {
    let mut objects = BTreeMap::new();
    for it in overrides {
        if let OverrideTarget::Object(mode, target) = &it.target
            && let Some(found) = object(config, it, (*mode, target), problems)
        {
            objects.insert(found, Arc::new(it.values.clone()));
        }
    }
    for it in overrides {
        if let OverrideTarget::Module(path) = &it.target {
            module(config, it, path, problems);
        }
    }
    objects
}

/// Returns the resource that is overridden, whichever mode it has.
fn object(
    config: &Config,
    it: &Override,
    (mode, target): (Mode, &ConfigResource),
    problems: &mut Diagnostics,
) -> Option<ConfigResource> {
    let Some(module) = config.module(&target.module) else {
        problems.push(problems::no_module_of_resource(&target.module, it.target_span));
        return None;
    };
    let name = ResourceName { ..target.resource.clone() };
    if !module.resources.contains_key(&name) {
        problems.push(problems::no_resource(&it.target, it.target_span));
        return None;
    }
    if name.mode != mode {
        problems.push(problems::wrong_mode(it));
        return None;
    }
    Some(target.clone())
}

fn module(config: &mut Config, it: &Override, path: &ModuleAddr, problems: &mut Diagnostics) {
    let Some(module) = config.module(path).filter(|_| !path.is_root()) else {
        problems.push(problems::no_module(path, it.target_span));
        return;
    };
    for name in it.values.keys().filter(|it| !module.outputs.contains_key(*it)) {
        problems.push(problems::no_output(name, it.target_span));
    }
    config.stub_module(path, &it.values);
}

/// Returns what is wrong with overrides that stand together.
pub fn check(overrides: &[Override]) -> Diagnostics {
    let mut seen = std::collections::BTreeSet::new();
    let twice = overrides.iter().filter(|it| !seen.insert(it.target.to_string()));
    twice.map(problems::twice_overridden).collect::<Vec<_>>().into()
}
