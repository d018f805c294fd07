//! The configuration of a run: provider blocks and mocks of the file in their places, overrides put in.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::variables::FileScope;
use super::{Manner, overriding, problems};
use crate::address::{ConfigResource, Module as ModuleAddr, Provider, ProviderConfig};
use crate::config::testing::{MockProvider, OverrideTarget, TestFile, TestRun};
use crate::config::{Config, ProviderBlock, ProviderRef, Repetition};
use crate::diagnostic::Diagnostics;
use crate::provider::mock::{Fill, MockedProvider, Mocks};
use crate::syntax::{Body, Expression};

/// A configuration as a run has it.
pub struct Prepared {
    /// The configuration.
    pub config: Config,
    /// What stands for providers and objects.
    pub mocks: Mocks,
    /// Warnings.
    pub warnings: Diagnostics,
}

/// What of a test file serves a run under a name: a block, and what it is mocked with.
struct Chosen<'a> {
    block: ProviderBlock,
    mock: Option<&'a MockProvider>,
}

/// Makes the configuration of a run.
///
/// - `scope`: what provider blocks of the file refer to.
///
/// # Errors
///
/// If a provider is not there, or what is overridden is not.
pub fn prepare(
    base: &Config,
    (file, run): (&TestFile, &TestRun),
    scope: &FileScope<'_>,
    manner: Manner,
) -> Result<Prepared, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut config = base.clone();
    let chosen = chosen(file, run, &mut problems);
    let fill = if manner.fills_dynamic { Fill::MadeUp } else { Fill::Plain };
    let mut mocks = Mocks::default();
    let mut blocks = Vec::new();
    for Chosen { mut block, mock } in chosen {
        if let Some(mock) = mock {
            let provider = config.root().provider_of(&block.name.text);
            let alias = block.alias.as_ref().map(|it| it.text.clone());
            if manner != Manner::OPENTOFU && !is_required(&config, &provider) {
                // Nothing asks for it, so it need not be there.
                continue;
            }
            let at = ProviderConfig { module: ModuleAddr::default(), provider, alias };
            mocks.providers.insert(at, mocked(mock, fill));
        }
        evaluate_runs(&mut block.body, scope);
        blocks.push(block);
    }
    config.with_providers(blocks);
    let (overrides, warnings) = overriding::merged(file, run);
    problems.extend(warnings);
    mocks.objects = overriding::apply(&mut config, &overrides, &mut problems);
    if problems.has_errors() {
        return Err(problems);
    }
    Ok(Prepared { config, mocks, warnings: problems })
}

/// Returns whether any module asks for a provider.
fn is_required(config: &Config, provider: &Provider) -> bool {
    config.all().any(|(_, module)| {
        let named = module.required_providers.values().any(|it| it.source == *provider);
        let blocks = module.providers.iter().any(|it| it.source == *provider);
        named || blocks || module.resource_providers().any(|it| it == provider)
    })
}

/// Chooses among the providers of a file: those that the run names, else all of them.
fn chosen<'a>(file: &'a TestFile, run: &TestRun, problems: &mut Diagnostics) -> Vec<Chosen<'a>> {
    let real = |it: &'a ProviderBlock| Chosen { block: it.clone(), mock: None };
    let mocked = |it: &'a MockProvider| Chosen { block: it.block(), mock: Some(it) };
    if run.providers.is_empty() {
        let all = file.providers.iter().map(real);
        return all.chain(file.mocks.iter().map(mocked)).collect();
    }
    let mut found = Vec::new();
    for (inner, outer) in &run.providers {
        let name = outer.local_name();
        let block = file.providers.iter().find(|it| it.local_name() == name).map(real);
        let mock = || file.mocks.iter().find(|it| it.local_name() == name).map(mocked);
        match block.or_else(mock) {
            Some(it) => found.push(renamed(it, inner)),
            None => problems.push(problems::missing_provider(&name, outer.name.span)),
        }
    }
    found
}

fn renamed<'a>(it: Chosen<'a>, inner: &ProviderRef) -> Chosen<'a> {
    let (name, alias) = (inner.name.clone(), inner.alias.clone());
    // A configuration without an alias has no instances.
    let repetition = match &alias {
        Some(_) => it.block.repetition.clone(),
        None => Repetition::Single,
    };
    let block = ProviderBlock { name, alias, repetition, ..it.block };
    Chosen { block, ..it }
}

fn mocked(mock: &MockProvider, fill: Fill) -> MockedProvider {
    let overrides = mock.overrides.iter().filter_map(|it| match &it.target {
        // A block for the other mode does not match any object.
        OverrideTarget::Object(mode, at) if at.resource.mode == *mode => {
            Some((at.clone(), Arc::new(it.values.clone())))
        }
        OverrideTarget::Object(..) | OverrideTarget::Module(_) => None,
    });
    let defaults = mock.defaults.iter();
    MockedProvider {
        defaults: defaults.map(|(kind, it)| (kind.clone(), Arc::new(it.clone()))).collect(),
        overrides: overrides.collect::<BTreeMap<ConfigResource, _>>(),
        fill,
    }
}

/// Replaces each argument that refers to `run.NAME` by its value, because modules do not know runs.
///
/// An argument that cannot be evaluated stays. It is an error only if the run uses the provider.
fn evaluate_runs(body: &mut Body, scope: &FileScope<'_>) {
    for attribute in &mut body.attributes {
        if !names_runs(&attribute.value) {
            continue;
        }
        let Ok(value) = scope.evaluate(&attribute.value) else { continue };
        attribute.value = crate::config::testing::literal(&value, attribute.value.span);
    }
    for block in body.blocks.iter_mut() {
        evaluate_runs(&mut block.body, scope);
    }
}

fn names_runs(expression: &Expression) -> bool {
    let mut found = false;
    crate::syntax::references(expression, &mut |root, _, _| found |= &*root.text == "run");
    found
}
