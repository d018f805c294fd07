//! Which provider each name of a test file stands for: its runs decide, and must agree.

use std::collections::BTreeMap;

use super::problems;
use crate::address::Provider;
use crate::config::check::providers::passed_type;
use crate::config::testing::{TestFile, TestRun};
use crate::config::{Config, Module, ProviderBlock};
use crate::diagnostic::Diagnostics;

/// Complains where the module under test wants another provider under a name than the test file has there.
///
/// - `modules`: for each run the module that it works on where that is not the one under test.
pub(super) fn check(file: &TestFile, config: &Config, modules: &[Option<&Config>]) -> Diagnostics {
    let meant = meant(file, config, modules);
    let mut problems = Diagnostics::new();
    let runs = file.runs.iter().zip(modules).filter(|it| it.1.is_none());
    for (run, _) in runs {
        match run.providers.is_empty() {
            true => check_all(file, config.root(), &meant, &mut problems),
            false => check_named(file, run, config.root(), &meant, &mut problems),
        }
    }
    problems
}

/// Returns the provider of each name: that of the first run that uses it.
fn meant<'a>(
    file: &'a TestFile,
    config: &Config,
    modules: &[Option<&Config>],
) -> BTreeMap<&'a str, Provider> {
    let mut meant = BTreeMap::new();
    let mut means = |name: &str, provider: Provider| {
        let block = file.providers.iter().find(|it| *it.name.text == *name);
        if let Some(block) = block {
            meant.entry(&*block.name.text).or_insert(provider);
        }
    };
    for (run, module) in file.runs.iter().zip(modules) {
        let root = module.unwrap_or(config).root();
        for (inner, outer) in &run.providers {
            means(&outer.name.text, passed_type(root, &inner.name.text));
        }
        if run.providers.is_empty() {
            let blocks = root.providers.iter().map(|it| &it.name.text);
            for name in root.required_providers.keys().chain(blocks) {
                means(name, passed_type(root, name));
            }
        }
    }
    meant
}

/// What a run names must be what its module wants there.
fn check_named(
    file: &TestFile,
    run: &TestRun,
    root: &Module,
    meant: &BTreeMap<&str, Provider>,
    problems: &mut Diagnostics,
) {
    for (inner, outer) in &run.providers {
        let wanted = passed_type(root, &inner.name.text);
        let given = meant.get(&*outer.name.text).filter(|it| **it != wanted);
        problems.extend(given.map(|given| {
            let names = (&*outer.name.text, &*inner.name.text);
            problems::wrong_provider(&file.path, names, (given, &wanted), outer.name.span)
        }));
    }
}

/// Without names, each block must be what the module wants under its name.
fn check_all(
    file: &TestFile,
    root: &Module,
    meant: &BTreeMap<&str, Provider>,
    problems: &mut Diagnostics,
) {
    let of_name = |name: &str| file.providers.iter().find(|it| it.local_name() == name);
    let mut compared = Vec::new();
    let mut compare = |block: &ProviderBlock, wanted: &Provider| {
        if compared.contains(&block.declared) {
            return;
        }
        compared.push(block.declared);
        let given = meant.get(&*block.name.text).filter(|it| *it != wanted);
        problems.extend(given.map(|given| {
            let name = block.local_name();
            problems::wrong_provider(&file.path, (&name, &name), (given, wanted), block.declared)
        }));
    };
    for required in root.required_providers.values() {
        let aliases = &required.configuration_aliases;
        let aliases = aliases.iter().map(|it| format!("{}.{}", it.0, it.1));
        for name in std::iter::once(required.name.text.to_string()).chain(aliases) {
            if let Some(block) = of_name(&name) {
                compare(block, &required.source);
            }
        }
    }
    for own in &root.providers {
        if let Some(block) = of_name(&own.local_name()) {
            compare(block, &passed_type(root, &own.name.text));
        }
    }
}
