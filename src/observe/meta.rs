//! What a module says to a provider in its `provider_meta` block: it goes along with every call about the module's objects.

use std::sync::Arc;

use super::Observer;
use super::pool::Era;
use crate::address::{Instance, ModuleInstance, Provider as ProviderAddr, ProviderInstance};
use crate::config::{Module, ProviderMeta};
use crate::diagnostic::Diagnostic;
use crate::expression::body::decode_body;
use crate::lower::Structure;
use crate::provider::Provider;

impl Observer<'_> {
    /// Returns a configured provider instance as it serves one object. `None` where that failed; the problem has been
    /// reported.
    pub async fn provider_for(
        &self,
        instance: &ProviderInstance,
        address: &Instance,
    ) -> Option<Arc<dyn Provider>> {
        self.provider_in(instance, address, Era::Current).await
    }

    /// Like [`Observer::provider_for`], to destroy an object: with the arguments from before the plan is carried out, where
    /// these change in it.
    pub async fn provider_to_destroy(
        &self,
        instance: &ProviderInstance,
        address: &Instance,
    ) -> Option<Arc<dyn Provider>> {
        let era = self.era_to_destroy(instance).await;
        self.provider_in(instance, address, era).await
    }

    pub(super) async fn provider_in(
        &self,
        instance: &ProviderInstance,
        address: &Instance,
        era: Era,
    ) -> Option<Arc<dyn Provider>> {
        if let Some(mock) = self.mock_of(instance, address) {
            return Some(mock);
        }
        let provider = self.provider(instance, era).await?;
        if !self.values.has_provider_meta {
            return Some(provider);
        }
        let kind = &instance.config.provider;
        let module = self.values.config.module_of(&address.module);
        let Some(block) = module.and_then(|it| said(it, kind)) else { return Some(provider) };
        let Some(schema) = self.pool.schema(kind).and_then(|it| it.meta.clone()) else {
            self.values.report([not_supported(kind, address, block)]);
            return None;
        };
        // The arguments are constant: no scope gives them anything.
        let scope = self.values.scope(Structure::ROOT);
        let (value, found) = decode_body(&block.body, &schema.block, &scope, &[]);
        let failed = found.has_errors();
        self.values.report(found);
        if failed {
            return None;
        }
        Some(provider.for_module(&value).unwrap_or(provider))
    }
}

impl Observer<'_> {
    /// Returns what answers for an object in the place of its provider, where it is mocked.
    fn mock_of(
        &self,
        instance: &ProviderInstance,
        address: &Instance,
    ) -> Option<Arc<dyn Provider>> {
        let mocks = &self.pool.mocks;
        if mocks.is_empty() {
            return None;
        }
        let real = self.pool.unconfigured(&instance.config.provider)?;
        mocks.of(address, &instance.config, &real)
    }
}

fn said<'m>(module: &'m Module, provider: &ProviderAddr) -> Option<&'m ProviderMeta> {
    module.provider_metas.iter().find(|it| module.provider_of(&it.name.text) == *provider)
}

fn not_supported(provider: &ProviderAddr, address: &Instance, block: &ProviderMeta) -> Diagnostic {
    Diagnostic::error(format!("Provider {provider} doesn't support provider_meta"))
        .detail(format!(
            "The resource {} belongs to a provider that doesn't support provider_meta blocks",
            Instance { module: ModuleInstance::default(), ..address.clone() }
        ))
        .at(block.name.span)
}
