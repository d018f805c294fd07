//! What the files of a module say of providers and of the backend, put together: each is said once.

use std::collections::BTreeSet;

use super::super::decode::Decoder;
use super::super::draft::Draft;
use super::super::terraform::RequiredProviders;
use super::super::{Backend, Module, ProviderBlock, ProviderMeta, ProviderRef, problems};
use super::complain;
use crate::diagnostic::Diagnostic;
use crate::syntax::{Expr, Expression, Name};
use crate::value::Str;

impl Draft {
    pub(super) fn add_provider(&mut self, decoder: &mut Decoder, it: ProviderBlock) {
        let first =
            self.module.providers.iter().find(|other| other.local_name() == it.local_name());
        if let Some(first) = first {
            let (name, place) = (&it.name.text, decoder.place(first.declared));
            let (what, rule) = match &it.alias {
                None => (
                    format!(
                        "A default (non-aliased) provider configuration for {name:?} was already given"
                    ),
                    "If multiple configurations are required, set the \"alias\" argument for alternative configurations.",
                ),
                Some(alias) if alias.text.is_empty() => (
                    format!(
                        "A provider configuration for {name:?} that repeats without an alias was already given"
                    ),
                    "Each further configuration that repeats must have an alias.",
                ),
                Some(alias) => (
                    format!(
                        "A provider configuration for {name:?} with alias {:?} was already given",
                        alias.text
                    ),
                    "Each configuration for the same provider must have a distinct alias.",
                ),
            };
            decoder.report(problems::duplicate(
                "Duplicate provider configuration",
                &what,
                rule,
                &place,
                it.declared,
            ));
            return;
        }
        self.module.providers.push(it);
    }

    pub(super) fn add_required_providers(
        &mut self,
        decoder: &mut Decoder,
        block: RequiredProviders,
    ) {
        let what = "A module may have only one required providers configuration. The required providers were previously configured";
        if complain(
            decoder,
            self.required,
            block.declared,
            ("Duplicate required providers configuration", what, ""),
        ) {
            return;
        }
        self.required = Some(block.declared);
        self.module.required_providers =
            block.entries.into_iter().map(|it| (it.name.text.clone(), it)).collect();
    }

    pub(super) fn add_backends(
        &mut self,
        decoder: &mut Decoder,
        backends: Vec<Backend>,
        clouds: Vec<Backend>,
    ) {
        for it in backends {
            let what = "A module may have only one backend configuration. The backend was previously configured";
            if !complain(
                decoder,
                self.module.backend.as_ref().map(|it| it.declared),
                it.declared,
                ("Duplicate backend configuration", what, ""),
            ) {
                self.module.backend = Some(it);
            }
        }
        for it in clouds {
            let what = "A module may have only one 'cloud' block configuring a cloud backend. A cloud backend was previously configured";
            if !complain(
                decoder,
                self.cloud.as_ref().map(|it| it.declared),
                it.declared,
                ("Duplicate cloud configurations", what, ""),
            ) {
                self.cloud = Some(it);
            }
        }
        if let (Some(backend), Some(cloud)) = (&self.module.backend, &self.cloud) {
            let detail = format!(
                "A module may declare either one 'cloud' block OR one 'backend' block. A cloud backend is configured at {}; a backend is configured at {}. Remove the backend block to configure a cloud backend.",
                decoder.place(cloud.declared),
                decoder.place(backend.declared)
            );
            let at = backend.declared;
            decoder.report(problems::invalid(
                "Both a backend and a cloud configuration are present",
                detail,
                at,
            ));
        }
    }

    pub(super) fn add_provider_meta(&mut self, decoder: &mut Decoder, meta: ProviderMeta) {
        let first = self
            .module
            .provider_metas
            .iter()
            .find(|it| it.name.text == meta.name.text)
            .map(|it| it.declared);
        let what =
            format!("A provider_meta block for provider {:?} was already declared", meta.name.text);
        if !complain(
            decoder,
            first,
            meta.declared,
            (
                "Duplicate provider_meta block",
                &what,
                "Providers may only have one provider_meta block per module.",
            ),
        ) {
            self.module.provider_metas.push(meta);
        }
    }
}

/// Complains of `local.x` and `var.x` where a provider configuration is to be named: no value holds one.
pub(super) fn held_in_a_value(module: &Module, reference: &ProviderRef) -> Option<Diagnostic> {
    let (root, name) = (&*reference.name.text, &reference.alias.as_ref()?.text);
    let is_value = match root {
        "local" => module.locals.contains_key(name),
        "var" => module.variables.contains_key(name),
        _ => false,
    };
    if !is_value
        || module.required_providers.contains_key(root)
        || module.provider_block(root, Some(name)).is_some()
    {
        return None;
    }
    let detail = format!(
        "{root}.{name} is a value, and no value holds a provider configuration. Name the configuration itself; the key of one that repeats may be computed, such as aws.by_region[{root}.{name}]."
    );
    Some(problems::invalid_provider_reference(detail, reference.span))
}

/// The provider names of a module whose configuration repeats without an alias, and the aliases that are written beside.
pub(super) struct KeyedNames {
    repeating: BTreeSet<Str>,
    written: BTreeSet<(Str, Str)>,
}

impl KeyedNames {
    pub(super) fn of(module: &Module) -> KeyedNames {
        let mut names = KeyedNames { repeating: BTreeSet::new(), written: BTreeSet::new() };
        for block in &module.providers {
            match &block.alias {
                Some(alias) if alias.text.is_empty() => {
                    names.repeating.insert(block.name.text.clone());
                }
                Some(alias) => {
                    names.written.insert((block.name.text.clone(), alias.text.clone()));
                }
                None => {}
            }
        }
        let given = module.required_providers.values().flat_map(|it| &it.configuration_aliases);
        names.written.extend(given.map(|it| (it.0.clone(), it.1.clone())));
        names
    }

    /// Where each key is an alias, `aws.us` is `aws["us"]`.
    pub(super) fn resolve(&self, reference: &mut ProviderRef) {
        let Some(alias) = reference.alias.clone().filter(|it| !it.text.is_empty()) else { return };
        let name = &reference.name.text;
        if reference.key.is_none()
            && self.repeating.contains(name)
            && !self.written.contains(&(name.clone(), alias.text.clone()))
        {
            let key = Expr::String(alias.text.clone());
            reference.key = Some(Expression { expr: key, span: alias.span });
            reference.alias = Some(Name::new("".into(), alias.span));
        }
    }
}
