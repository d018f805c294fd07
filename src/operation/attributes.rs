//! References to attributes that a resource type does not have, found before anything is evaluated.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::session::Session;
use crate::address::ResourceName;
use crate::config::{Module, uses};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::{Reference, Subject};
use crate::lower::structure::Style;
use crate::observe::pool::Pool;
use crate::schema::BlockSchema;
use crate::syntax::Step;

/// Returns the problems of every reference whose first attribute is not one of the resource type's.
pub fn unsupported(session: &Session, pool: &Pool) -> Diagnostics {
    let mut problems = Diagnostics::new();
    let mut seen = BTreeSet::new();
    for module in session.config.modules.values() {
        if seen.insert(Arc::as_ptr(module).addr()) {
            each_reference(module, &mut |reference| problems.extend(check(module, pool, reference)));
        }
    }
    problems
}

fn each_reference(module: &Module, visit: &mut dyn FnMut(&Reference<'_>)) {
    let mut all = Vec::new();
    module.resources.values().for_each(|it| all.extend(uses::of_resource(it)));
    module.locals.values().for_each(|it| all.push(uses::of_value(&it.value)));
    module.outputs.values().for_each(|it| all.extend(uses::of_output(it)));
    module.calls.values().for_each(|it| all.extend(uses::of_call(it)));
    module.providers.iter().for_each(|it| all.extend(uses::of_provider(it)));
    module.checks.values().for_each(|it| all.extend(uses::of_check(it)));
    for it in &all {
        it.references().0.iter().for_each(&mut *visit);
    }
}

fn check(module: &Module, pool: &Pool, reference: &Reference<'_>) -> Option<Diagnostic> {
    let Subject::Resource(mode, kind, name) = &reference.subject else { return None };
    let resource = module.resources.get(&ResourceName { mode: *mode, kind: kind.clone(), name: name.clone() })?;
    let schema = pool.resource_schema(&resource.provider_source, *mode, kind)?;
    let repeats = matches!(Style::of(&resource.repetition), Style::Count | Style::ForEach);
    let attribute = match (reference.rest, repeats) {
        ([Step::Attribute(name), ..], false) => name,
        ([Step::Index(..) | Step::LegacyIndex(..), Step::Attribute(name), ..], true) => name,
        _ => return None,
    };
    if schema.block.attributes.contains_key(&attribute.text) || schema.block.blocks.contains_key(&attribute.text) {
        return None;
    }
    Some(
        Diagnostic::error("Unsupported attribute")
            .detail(format!("This object has no argument, nested block, or exported attribute named \"{}\".{}", attribute.text, suggestion(&schema.block, &attribute.text)))
            .at(attribute.span),
    )
}

fn suggestion(schema: &BlockSchema, name: &str) -> String {
    let names = schema.attributes.keys().chain(schema.blocks.keys());
    let near = names.map(|it| (strsim::levenshtein(it, name), it)).filter(|it| it.0 <= 3).min();
    near.map_or_else(String::new, |it| format!(" Did you mean \"{}\"?", it.1))
}
